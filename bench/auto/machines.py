#!/usr/bin/env python3
"""Error asked against error got, on machines and balls that strike, roll off, lock, and are carried along.

usage: python3 bench/auto/machines.py PROGRAM [NAME ...], with the options of references.py

As references.py and further.py, whose helpers it takes: no scene of the repository is among them.
"""
import math

from further import double_masses, eliminate, hinge, smooth_balls, turned
from references import FLOOR, G, ball, block, by_states, main, scene, solve, solve_modes


def on_hinges(start, e, r, hits, until):
    """n balls on arms of 1 m, one after the other; `hits`: (gap, row) of the state's angles."""
    n = len(start)
    inertia = 0.4 * r * r

    def matrix(a):
        return [[(n - max(i, j)) * math.cos(a[i] - a[j]) + (inertia if i == j else 0.0) for j in range(n)] for i in range(n)]

    def rates(_, s):
        a, w = s[:n], s[n:]
        right = [-(n - i) * G * math.sin(a[i]) - sum((n - max(i, j)) * math.sin(a[i] - a[j]) * w[j] ** 2 for j in range(n))
                 for i in range(n)]
        return list(w) + eliminate(matrix(a), right)

    def hit(row):
        def after(s):
            j = row(s[:n])
            push = eliminate(matrix(s[:n]), j)
            speed = sum(x * y for x, y in zip(j, s[n:]))
            impulse = -(1 + e) * speed / sum(x * y for x, y in zip(j, push))
            return "swing", s[:n] + [w + impulse * p for w, p in zip(s[n:], push)]
        return after
    modes = {"swing": (rates, [(gap, hit(row)) for gap, row in hits])}
    return solve_modes(modes, "swing", list(start) + [0.0] * n, until, 0.01)


def places(n, s):
    x = z = 0.0
    found = []
    for a in s[:n]:
        x, z = x + math.sin(a), z - math.cos(a)
        found.append((x, 0, z))
    return found


def chain_wall():
    """Three balls on arms; the last one strikes a wall, which the others do not."""
    start, r, wall, e = [0.5, 0.8, 1.2], 0.1, -0.25, 0.7
    states = on_hinges(start, e, r, [(lambda s: sum(math.sin(a) for a in s[:3]) - wall - r,
                                      lambda a: [math.cos(x) for x in a])], 1.6)
    first = places(3, start)
    fixed = {"name": "wall", "kind": "fixed", "material": "m", "shapes": [{"type": "plane", "normal": [1, 0, 0], "offset": wall}]}
    bodies = [fixed] + [dict(ball("abc"[i], first[i]), **({} if i == 2 else {"shapes": []})) for i in range(3)]
    joints = [hinge("j0", [None, "a"], (0, 0, 0)), hinge("j1", ["a", "b"], first[0]), hinge("j2", ["b", "c"], first[1])]
    return scene(bodies, 1.6, joints=joints, restitution=e), \
        by_states(states, 0.01, lambda s: dict(zip("abc", places(3, s))))


def dead_pendulum():
    """A ball on an arm strikes a wall, which keeps all of its energy, and swings off again."""
    start, r, wall = [1.3], 0.1, -0.4
    states = on_hinges(start, 0.0, r, [(lambda s: math.sin(s[0]) - wall - r, lambda a: [math.cos(a[0])])], 2.0)
    fixed = {"name": "wall", "kind": "fixed", "material": "m", "shapes": [{"type": "plane", "normal": [1, 0, 0], "offset": wall}]}
    return scene([fixed, ball("a", places(1, start)[0])], 2.0, joints=[hinge("j", [None, "a"], (0, 0, 0))]), \
        by_states(states, 0.01, lambda s: {"a": places(1, s)[0]})


def knee():
    """A double pendulum whose knee does not bend backwards: it locks, is held, and lets go."""
    inertia = 0.004

    def free(_, s):
        return [s[2], s[3], *eliminate(*double_masses(s, inertia))]

    def hold(s):  # the torque of the knee while both go alike, and the acceleration
        m, f = double_masses(s, inertia)
        total = sum(m[0]) + sum(m[1])
        a = (f[0] + f[1]) / total
        return (m[1][0] + m[1][1]) * a - f[1], a

    def held(_, s):
        a = hold(s)[1]
        return [s[2], s[3], a, a]

    def lock(s):
        m = double_masses(s, inertia)[0]
        w = ((m[0][0] + m[1][0]) * s[2] + (m[0][1] + m[1][1]) * s[3]) / (sum(m[0]) + sum(m[1]))
        s = [s[0], s[0], w, w]
        return "held" if hold(s)[0] >= 0.0 else "free", s
    # q - p at least 0: the knee pushes the lower one up: a torque of at least 0.
    modes = {"free": (free, [(lambda s: s[1] - s[0], lock)]), "held": (held, [(lambda s: hold(s)[0], lambda s: ("free", s))])}
    start = [0.3, 1.4, 0.0, 0.0]
    states = solve_modes(modes, "free", start, 1.6, 0.01)
    first = places(2, start)
    bodies = [dict(ball("a", first[0]), shapes=[]), dict(ball("b", first[1]))]
    joints = [hinge("j", [None, "a"], (0, 0, 0)),
              hinge("k", ["a", "b"], first[0], zero=start[1] - start[0], limits=[0.0, 3.0])]
    return scene(bodies, 1.6, joints=joints), by_states(states, 0.01, lambda s: dict(zip("ab", places(2, s))))


def gimbal():
    """A top in two rings, heavy on one side."""
    outer, inner, m, out, about, along, spin, tilt = 0.02, 0.004, 1.0, 0.1, 0.006, 0.01, 60.0, 0.7
    total = about + m * out * out
    start = [tilt, 0.0, 0.0]  # tilt, its rate, turn
    push = along * spin
    kept = push * math.cos(tilt)

    def rates(_, s):
        c, d = math.cos(s[0]), math.sin(s[0])
        phi = (kept - push * c) / (outer + inner + total * d * d)
        return [s[1], (total * phi * phi * d * c - push * phi * d + m * G * out * d) / (total + inner), phi]
    states = solve(rates, start, 2.0, 0.01)

    def place(s):
        return {"rotor": (out * math.sin(s[0]) * math.sin(s[2]), -out * math.sin(s[0]) * math.cos(s[2]), out * math.cos(s[0]))}
    axis = [0.0, -math.sin(tilt), math.cos(tilt)]
    ring = {"mass": 1.0, "position": [0, 0, 0], "shapes": []}
    bodies = [dict(ring, name="outer", inertia=[outer] * 3), dict(ring, name="inner", inertia=[inner] * 3),
              {"name": "rotor", "mass": m, "inertia": [about, about, along], "position": [out * x for x in axis],
               "rotation": turned(math.degrees(tilt), (1, 0, 0)), "angular_velocity": [spin * x for x in axis], "shapes": []}]
    joints = [{"name": "a", "type": "revolute", "bodies": [None, "outer"], "anchor": [0, 0, 0], "axis": [0, 0, 1]},
              {"name": "b", "type": "revolute", "bodies": ["outer", "inner"], "anchor": [0, 0, 0], "axis": [1, 0, 0]},
              {"name": "c", "type": "revolute", "bodies": ["inner", "rotor"], "anchor": [0, 0, 0], "axis": axis}]
    return scene(bodies, 2.0, joints=joints), by_states(states, 0.01, place)


def table_bounce():
    """A ball rolls off a table at 2 m/s and bounces on the floor, with friction."""
    r, v, e, mu, high = 0.1, 2.0, 0.6, 0.4, 1.0
    edge = 0.5
    leave = edge / v
    legs, t, x, z, vx, w, vz = [], leave, edge, high + r, v, v / r, 0.0
    legs.append((t, x, z, vx, vz))
    while t < 3.0:
        dt = (vz + math.sqrt(vz * vz + 2 * G * (z - r))) / G
        x, z, vz = x + vx * dt, r, vz - G * dt
        impulse, slip = -(1 + e) * vz, vx - r * w
        change = -math.copysign(min(mu * impulse, abs(slip) / 3.5), slip)
        vx, w, vz = vx + change, w - 2.5 * change / r, -e * vz
        t += dt
        legs.append((t, x, z, vx, vz))
        if vz < 0.5:
            break

    def place(t):
        if t <= leave:
            return {"a": (v * t, 0, high + r)}
        t0, x0, z0, u, s = [leg for leg in legs if leg[0] <= t + 1e-12][-1]
        d = t - t0
        return {"a": (x0 + u * d, 0, z0 + s * d - 0.5 * G * d * d)}
    table = {"name": "table", "kind": "fixed", "material": "m", "position": [edge - 1.0, 0, high - 0.1],
             "shapes": [{"type": "box", "size": [2.0, 1.0, 0.2]}]}
    return scene([FLOOR, table, ball("a", (0, 0, high + r), (v, 0, 0), (0, v / r, 0))], 1.4, friction=mu, restitution=e), place


def slide_roll(t, x, v, w, mu, r):
    """A ball that slides in the plane until it rolls: place."""
    slip = [v[0] - r * w[1], v[1] + r * w[0]]
    size = math.hypot(*slip)
    stop = size / (3.5 * mu * G)
    s = min(t, stop)
    a = [-mu * G * q / size if size > 0 else 0.0 for q in slip]
    return [x[i] + v[i] * s + 0.5 * a[i] * s * s + (v[i] + a[i] * s) * max(t - stop, 0.0) for i in range(2)]


def oblique():
    """A ball that rolls strikes another one at 30 degrees off the line of its way; both slide, then roll."""
    mu, r, e, v, met, angle = 0.2, 0.1, 0.9, 2.0, 0.4, math.radians(30)
    n = [math.cos(angle), math.sin(angle)]
    at = [0.0, 0.0]
    other = [2 * r * x for x in n]
    push = 0.5 * (1 + e) * v * n[0]
    first = [v - push * n[0], -push * n[1]]
    second = [push * n[0], push * n[1]]

    def place(t):
        if t <= met:
            return {"a": (v * (t - met), 0, r), "b": (*other, r)}
        s = t - met
        return {"a": (*slide_roll(s, at, first, [0.0, v / r], mu, r), r), "b": (*slide_roll(s, other, second, [0, 0], mu, r), r)}
    found = scene([FLOOR, ball("a", (-v * met, 0, r), (v, 0, 0), (0, v / r, 0)), ball("b", (*other, r))], 1.5, friction=mu)
    return smooth_balls(found, e, mu), place


def wedge():
    """A block slides down a wedge that is free to slide, both without friction."""
    m, big, angle = 1.0, 3.0, math.radians(30)
    c, s = math.cos(angle), math.sin(angle)
    # The wedge goes by X, the block along it by d: x = X + d c, z = -d s.
    acc = G * s / (1.0 - m * c * c / (m + big))
    back = -m * c * acc / (m + big)
    start = (0.0, 1.0)
    high, long = 1.2, 1.2 / math.tan(angle)
    points = [[x, y, z] for y in (-0.3, 0.3) for x, z in ((0, 0), (long, 0), (0, high))]
    # Its centre of mass is a third of the way from the right angle.
    body = {"name": "wedge", "mass": big, "inertia": [0.3, 0.3, 0.3], "material": "m", "position": [long / 3, 0, high / 3],
            "shapes": [{"type": "hull", "points": [[x - long / 3, y, z - high / 3] for x, y, z in points]}]}
    half = 0.1
    at = [0.3 + half * s, 0, high - 0.3 * math.tan(angle) + half * c]
    box = block("a", at, size=(0.2, 0.2, 0.2), mass=m)
    box["rotation"] = turned(math.degrees(angle), (0, 1, 0))

    def place(t):
        d, X = 0.5 * acc * t * t, 0.5 * back * t * t
        return {"a": (at[0] + X + d * c, 0, at[2] - d * s), "wedge": (long / 3 + X, 0, high / 3)}
    return scene([FLOOR, body, box], 0.6), place


def four_bar_motor():
    """A crank at even speed moves a rocker by a rod."""
    w, a, b, c, d = 4.0, 0.2, 0.7, 0.5, 0.8

    def at(t):
        p = 0.5 * math.pi + w * t
        x, z = a * math.cos(p), a * math.sin(p)
        # The joint of rod and rocker: on circles about (x, z) and (d, 0).
        dx, dz = d - x, -z
        far = math.hypot(dx, dz)
        along = (far * far + b * b - c * c) / (2 * far)
        across = math.sqrt(b * b - along * along)
        px, pz = x + along * dx / far - across * dz / far, z + along * dz / far + across * dx / far
        return (x, z), (px, pz)

    def rate(f, k):
        eps = 1e-6
        p, q = f(eps), f(-eps)
        return [(u - v) / (2 * eps) for u, v in zip(p[k], q[k])]

    def place(t):
        (x, z), (p, q) = at(t)
        return {"rod": (0.5 * (x + p), 0, 0.5 * (z + q)), "rocker": (0.5 * (p + d), 0, 0.5 * q)}
    (x, z), (p, q) = at(0.0)
    (vx, vz), (vp, vq) = rate(at, 0), rate(at, 1)
    bar = {"inertia": [0.01, 0.01, 0.01], "shapes": []}
    bodies = [dict(bar, name="crank", mass=0.5, position=[0, 0, 0], angular_velocity=[0, -w, 0]),
              dict(bar, name="rod", mass=1.0, position=[0.5 * (x + p), 0, 0.5 * (z + q)],
                   velocity=[0.5 * (vx + vp), 0, 0.5 * (vz + vq)],
                   angular_velocity=[0, -((p - x) * (vq - vz) - (q - z) * (vp - vx)) / (b * b), 0]),
              dict(bar, name="rocker", mass=1.0, position=[0.5 * (p + d), 0, 0.5 * q], velocity=[0.5 * vp, 0, 0.5 * vq],
                   angular_velocity=[0, -((p - d) * vq - q * vp) / (c * c), 0])]
    joints = [hinge("j0", [None, "crank"], (0, 0, 0), motor={"speed": w, "effort": 1e4}),
              hinge("j1", ["crank", "rod"], (x, 0, z)), hinge("j2", ["rod", "rocker"], (p, 0, q)),
              hinge("j3", [None, "rocker"], (d, 0, 0))]
    return scene(bodies, 2.0, joints=joints), place


def two_link_servo():
    """Two servos lift an arm of two links with a load."""
    inertia, k, d = 0.004, (200.0, 80.0), (25.0, 8.0)
    goal = (1.2, 0.8)

    def rates(_, s):
        m, f = double_masses(s, inertia)
        p, q, u, v = s
        first = k[0] * (goal[0] - p) - d[0] * u
        second = k[1] * (goal[1] - (q - p)) - d[1] * (v - u)
        return [u, v, *eliminate(m, [f[0] + first - second, f[1] + second])]
    states = solve(rates, [0.0, 0.0, 0.0, 0.0], 2.0, 0.01)
    first = places(2, [0.0, 0.0])
    bodies = [dict(ball("a", first[0]), shapes=[]), ball("b", first[1])]
    joints = [hinge("j", [None, "a"], (0, 0, 0), servo={"target": goal[0], "stiffness": k[0], "damping": d[0]}),
              hinge("k", ["a", "b"], first[0], servo={"target": goal[1], "stiffness": k[1], "damping": d[1]})]
    return scene(bodies, 2.0, joints=joints), by_states(states, 0.01, lambda s: dict(zip("ab", places(2, s))))


def drop_on_belt():
    """A block falls flat on a belt, slides, and goes along."""
    v, mu, drop = 1.5, 0.3, 0.05
    fall = math.sqrt(2 * drop / G)
    gain = min(mu * G * fall, v)  # the impact of the fall gives its friction at once
    band = dict(FLOOR, kind="kinematic", velocity=[v, 0, 0])

    def place(t):
        if t < fall:
            return {"a": (0, 0, 0.1 + drop - 0.5 * G * t * t)}
        t -= fall
        s = min(t, (v - gain) / (mu * G))
        return {"a": (gain * s + 0.5 * mu * G * s * s + v * (t - s), 0, 0.1)}
    return scene([band, block("a", (0, 0, 0.1 + drop))], 1.5, friction=mu), place


def two_blocks():
    """A block slides on another one, which slides on the floor; both stop."""
    top, low, v = 0.5, 0.1, 3.0

    # Equal masses. Top: -mu1 g; low: mu1 g - 2 mu2 g, until both go alike; then both -mu2 g.
    meet = v / (2 * top * G - 2 * low * G)
    speed = v - top * G * meet
    stop = meet + speed / (low * G)

    def place(t):
        s, u = min(t, meet), min(max(t - meet, 0.0), stop - meet)
        rest = speed * u - 0.5 * low * G * u * u
        return {"b": (v * s - 0.5 * top * G * s * s + rest, 0, 0.3), "a": (0.5 * (top - 2 * low) * G * s * s + rest, 0, 0.1)}
    found = scene([dict(FLOOR, material="ice"), dict(block("a", (0, 0, 0.1), size=(3.0, 0.4, 0.2)), material="plank"),
                   block("b", (0, 0, 0.3), (v, 0, 0), size=(0.4, 0.4, 0.2))], 2.2)
    found["materials"].update({"ice": {"friction": 0.0}, "plank": {"friction": 0.0}})
    found["pairs"] = [{"between": ["ice", "plank"], "friction": low}, {"between": ["plank", "m"], "friction": top}]
    return found, place


def ball_door():
    """A ball strikes a door on its hinge, .6 m off it; without gravity both go on."""
    m, inertia, arm, e, r, v, met = 1.0, 2.0, 0.6, 0.8, 0.1, 1.5, 0.5
    impulse = (1 + e) * v / (1 / m + arm * arm / inertia)
    after, turn = v - impulse / m, impulse * arm / inertia
    thick, wide = 0.1, 1.0

    def place(t):
        s = max(t - met, 0.0)
        a = turn * s
        # The door's centre is at (0, wide / 2) of the hinge; it is struck along +x.
        return {"ball": (v * min(t, met) + after * s - v * met - 0.5 * thick - r, arm, 0),
                "door": (0.5 * wide * math.sin(a), 0.5 * wide * math.cos(a), 0)}
    inside = inertia - 2.0 * (0.5 * wide) ** 2
    door = {"name": "door", "mass": 2.0, "inertia": [inside] * 3, "material": "m", "position": [0, 0.5 * wide, 0],
            "shapes": [{"type": "box", "size": [thick, wide, 1.0]}]}
    joints = [{"name": "j", "type": "revolute", "bodies": [None, "door"], "anchor": [0, 0, 0], "axis": [0, 0, 1]}]
    return scene([door, ball("ball", (-v * met - 0.5 * thick - r, arm, 0), (v, 0, 0))], 1.5, joints=joints, restitution=e,
                 gravity=(0, 0, 0)), place


def pendulum_ball():
    """The ball of a pendulum strikes one that lies on the floor, without friction between them; that slides, then rolls."""
    r, own, e, mu, start, length = 0.1, 0.08, 0.7, 0.3, 1.0, 1.0
    inertia = length * length + 0.4 * own * own

    def rates(_, s):
        return [s[1], -G * length / inertia * math.sin(s[0]), s[2 + 1], 0.0]

    def hit(s):
        speed = length * s[1]  # towards -x: s[1] < 0
        impulse = (1 + e) * -speed / (length * length / inertia + 1.0)
        return "after", [s[0], s[1] + impulse * length / inertia, s[2], -impulse]
    done = {}

    def mark(s):
        mode, after = hit(s)
        done["speed"] = after[3]
        return mode, after
    swing = (rates, [(lambda s: s[0], mark)])
    after = (rates, [])
    states = solve_modes({"swing": swing, "after": after}, "swing", [start, 0.0, 0.0, 0.0], 1.2, 0.01)
    quarter = next(i for i, s in enumerate(states) if s[3] != 0.0)
    # When it struck: the ball has gone since then.
    met = 0.01 * quarter - states[quarter][2] / states[quarter][3]

    def place(t):
        s = states[round(t / 0.01)]
        b = slide_roll(t - met, [-r - own, 0.0], [done["speed"], 0.0], [0, 0], mu, r)[0] if t > met else -r - own
        return {"a": (length * math.sin(s[0]), 0, r + length - length * math.cos(s[0])), "b": (b, 0, r)}
    swung = ball("a", (length * math.sin(start), 0, r + length - length * math.cos(start)), radius=own)
    found = scene([FLOOR, swung, ball("b", (-r - own, 0, r))], 1.2, joints=[hinge("j", [None, "a"], (0, 0, r + length))], friction=mu)
    found["bodies"][1]["material"] = "arm"
    found["materials"]["arm"] = {"friction": 0.0}
    found["pairs"] = [{"between": ["arm", "m"], "restitution": e, "friction": 0.0}]
    return found, place


def ball_plank():
    """A ball bounces on a plank on a hinge and a spring, without friction."""
    m, inertia, k, r, e, thick, at = 0.5, 1.5, 60.0, 0.1, 0.8, 0.1, 0.7

    def gap(s):  # x, z of the ball and the angle of the plank, upwards at +x
        x, z, q = s[0], s[1], s[2]
        return -x * math.sin(q) + z * math.cos(q) - 0.5 * thick - r

    def rates(_, s):
        return [s[3], s[4], s[5], 0.0, -G, -k * s[2] / inertia]

    def hit(s):
        q = s[2]
        n = (-math.sin(q), math.cos(q))
        along = s[0] * math.cos(q) + s[1] * math.sin(q)
        speed = n[0] * s[3] + n[1] * s[4] - along * s[5]
        impulse = -(1 + e) * speed / (1 / m + along * along / inertia)
        return "fly", [s[0], s[1], q, s[3] + impulse * n[0] / m, s[4] + impulse * n[1] / m, s[5] - impulse * along / inertia]
    start = [at, 0.05 + r + 0.4, 0.0, 0.0, 0.0, 0.0]
    states = solve_modes({"fly": (rates, [(gap, hit)])}, "fly", start, 1.2, 0.01)
    plank = {"name": "plank", "mass": 2.0, "inertia": [inertia] * 3, "material": "m", "position": [0, 0, 0],
             "shapes": [{"type": "box", "size": [2.4, 0.4, thick]}]}
    joints = [hinge("j", [None, "plank"], (0, 0, 0), spring={"stiffness": k, "rest": 0.0})]

    def place(s):
        return {"a": (s[0], 0, s[1])}
    return scene([plank, ball("a", (start[0], 0, start[1]), mass=m)], 1.0, joints=joints, restitution=e), \
        by_states(states, 0.01, place)


def two_carts():
    """Two carts on a rail and on springs strike each other, face to face."""
    k, e, m, half = 80.0, 0.6, (1.0, 2.0), 0.15
    rest = (-0.3, 0.3)

    def rates(_, s):
        return [s[2], s[3], -k * (s[0] - rest[0]) / m[0], -k * (s[1] - rest[1]) / m[1]]

    def hit(s):
        impulse = (1 + e) * (s[2] - s[3]) / (1 / m[0] + 1 / m[1])
        return "go", [s[0], s[1], s[2] - impulse / m[0], s[3] + impulse / m[1]]
    start = [-0.8, 0.7, 0.0, 0.0]
    states = solve_modes({"go": (rates, [(lambda s: s[1] - s[0] - 2 * half, hit)])}, "go", start, 2.0, 0.01)
    bodies = [block("ab"[i], (start[i], 0, 0), size=(2 * half, 0.3, 0.3), mass=m[i]) for i in range(2)]
    joints = [{"name": "jk"[i], "type": "prismatic", "bodies": [None, "ab"[i]], "anchor": [start[i], 0, 0], "axis": [1, 0, 0],
               "zero": start[i], "spring": {"stiffness": k, "rest": rest[i]}} for i in range(2)]
    return scene(bodies, 2.0, joints=joints, restitution=e), \
        by_states(states, 0.01, lambda s: {"a": (s[0], 0, 0), "b": (s[1], 0, 0)})


def ball_on_belt():
    """A ball is put on a belt: it slides, then rolls on it."""
    v, mu, r = 1.4, 0.15, 0.1
    band = dict(FLOOR, kind="kinematic", velocity=[v, 0, 0])
    stop = v / (3.5 * mu * G)

    def place(t):
        s = min(t, stop)
        return {"a": (0.5 * mu * G * s * s + mu * G * s * max(t - stop, 0.0), 0, r)}
    return scene([band, ball("a", (0, 0, r))], 1.5, friction=mu), place


def kicked_box():
    """A box slides without friction into another one at rest, which a spring holds; face to face, again and again."""
    k, e, half = 50.0, 1.0, 0.2

    def rates(_, s):
        return [s[2], s[3], 0.0, -k * s[1]]

    def hit(s):
        mean, apart = 0.5 * (s[2] + s[3]), 0.5 * e * (s[2] - s[3])
        return "go", [s[0], s[1], mean - apart, mean + apart]
    start = [-1.0, 0.0, 2.0, 0.0]
    states = solve_modes({"go": (rates, [(lambda s: s[1] - s[0] - 2 * half, hit)])}, "go", start, 1.6, 0.01)
    bodies = [FLOOR] + [block("ab"[i], (start[i], 0, 0.1), (start[2 + i], 0, 0)) for i in range(2)]
    joints = [{"name": "s", "type": "spring", "bodies": [None, "b"], "anchors": [[1.0, 0, 0.1], [0, 0, 0.1]],
               "spring": {"stiffness": k, "rest": 1.0}}]
    found = scene(bodies, 1.6, joints=joints)
    found["materials"]["m"]["restitution"] = 0.0
    found["materials"]["box"] = {"friction": 0.0}
    found["pairs"] = [{"between": ["box", "box"], "restitution": e, "friction": 0.0}]
    for body in found["bodies"][1:]:
        body["material"] = "box"
    return found, by_states(states, 0.01, lambda s: {"a": (s[0], 0, 0.1), "b": (s[1], 0, 0.1)})


SCENES = {
    "chain and wall": chain_wall, "dead pendulum": dead_pendulum, "knee": knee, "gimbal": gimbal, "off a table": table_bounce,
    "oblique": oblique, "wedge": wedge, "four-bar motor": four_bar_motor, "two servos": two_link_servo,
    "dropped on a belt": drop_on_belt, "two blocks": two_blocks, "ball and door": ball_door, "pendulum and ball": pendulum_ball,
    "ball and plank": ball_plank, "two carts": two_carts, "ball on a belt": ball_on_belt, "kicked box": kicked_box,
}

if __name__ == "__main__":
    main(SCENES)
