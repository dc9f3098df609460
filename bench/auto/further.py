#!/usr/bin/env python3
"""Error asked against error got, on further motions that are known: machines, tops, stairs, rocking, bodies that roll.

usage: python3 bench/auto/further.py PROGRAM [NAME ...], with the options of references.py

As references.py, whose helpers it takes: no scene of the repository is among them.
"""
import math

from references import (FLOOR, G, ball, block, by_states, cross, main, scene, solve, solve_modes)


def eliminate(matrix, right):
    """The solution of a small system of linear equations."""
    n = len(right)
    rows = [list(row) + [value] for row, value in zip(matrix, right)]
    for k in range(n):
        best = max(range(k, n), key=lambda i: abs(rows[i][k]))
        rows[k], rows[best] = rows[best], rows[k]
        for i in range(k + 1, n):
            factor = rows[i][k] / rows[k][k]
            rows[i] = [x - factor * y for x, y in zip(rows[i], rows[k])]
    found = [0.0] * n
    for k in reversed(range(n)):
        found[k] = (rows[k][n] - sum(rows[k][j] * found[j] for j in range(k + 1, n))) / rows[k][k]
    return found


def hinge(name, bodies, anchor, **more):
    return {"name": name, "type": "revolute", "bodies": bodies, "anchor": list(anchor), "axis": [0, -1, 0], **more}


def turned(degrees, axis=(0, -1, 0)):
    return {"axis": list(axis), "degrees": degrees}


# Bounces ---------------------------------------------------------------------------------------------------------------------


def bounces(start, velocity, events, until, gravity=(0, 0, -G)):
    """A point that flies from event to event; `events(t, x, v)` gives the next time and what the velocity is after it."""
    legs, t, x, v = [(0.0, list(start), list(velocity))], 0.0, list(start), list(velocity)
    while t < until:
        found = events(x, v)
        if found is None:
            break
        dt, after = found
        x = [a + b * dt + 0.5 * g * dt * dt for a, b, g in zip(x, v, gravity)]
        v = after([b + g * dt for b, g in zip(v, gravity)])
        t += dt
        legs.append((t, list(x), list(v)))

    def place(t):
        t0, x0, v0 = [leg for leg in legs if leg[0] <= t + 1e-12][-1]
        s = t - t0
        return [a + b * s + 0.5 * g * s * s for a, b, g in zip(x0, v0, gravity)]
    return place


def stairs():
    """A ball bounces down stairs of 0.5 m by 0.3 m."""
    e, r, tread, rise = 0.8, 0.1, 0.5, 0.3
    steps = [{"name": f"step{i}", "kind": "fixed", "material": "m", "position": [(i + 0.5) * tread, 0, -i * rise - 1.0],
              "shapes": [{"type": "box", "size": [tread, 1.0, 2.0]}]} for i in range(8)]
    start, velocity = (0.05, 0, 0.5), (0.9, 0, 0)

    def events(x, v):
        for i in range(8):  # the first tread that is met from above
            drop = x[2] - (r - i * rise)
            if drop < -1e-9:
                continue
            dt = (v[2] + math.sqrt(v[2] ** 2 + 2 * G * max(drop, 0.0))) / G
            at = x[0] + v[0] * dt
            if i * tread <= at <= (i + 1) * tread and dt > 1e-9:
                return dt, lambda w: [w[0], w[1], -e * w[2]]
        return None
    place = bounces(start, velocity, events, 3.0)
    return scene(steps + [ball("a", start, velocity)], 2.2, restitution=e), lambda t: {"a": place(t)}


def corner():
    """A ball with spin bounces between floor and wall, in space: friction takes a part of the slip each time."""
    e, mu, r = 0.75, 0.15, 0.1
    wall = {"name": "wall", "kind": "fixed", "material": "m", "shapes": [{"type": "plane", "normal": [-1, 0, 0], "offset": -1.2}]}
    x, v, w, t = [0.0, 0.0, 0.6], [2.0, 0.7, 0.0], [12.0, -30.0, 20.0], 0.0
    legs = [(t, list(x), list(v))]
    while t < 2.0:
        fall = (v[2] + math.sqrt(v[2] ** 2 + 2 * G * (x[2] - r))) / G
        side = (1.2 - r - x[0]) / v[0] if v[0] > 1e-12 and x[0] < 1.2 - r - 1e-12 else math.inf
        dt, n = (fall, [0, 0, 1]) if fall < side else (side, [-1, 0, 0])
        x = [x[0] + v[0] * dt, x[1] + v[1] * dt, x[2] + v[2] * dt - 0.5 * G * dt * dt]
        v = [v[0], v[1], v[2] - G * dt]
        normal = sum(a * b for a, b in zip(v, n))
        impulse = -(1 + e) * normal
        slip = [a - normal * b for a, b in zip(v, n)]
        slip = [a + b for a, b in zip(slip, cross(w, [-r * b for b in n]))]
        size = math.sqrt(sum(a * a for a in slip))
        friction = [-a / size * min(mu * impulse, size / 3.5) for a in slip]
        v = [a + impulse * b + c for a, b, c in zip(v, n, friction)]
        w = [a + 2.5 / (r * r) * b for a, b in zip(w, cross([-r * b for b in n], friction))]
        t += dt
        legs.append((t, list(x), list(v)))

    def place(t):
        t0, x0, v0 = [leg for leg in legs if leg[0] <= t + 1e-12][-1]
        s = t - t0
        return {"a": (x0[0] + v0[0] * s, x0[1] + v0[1] * s, x0[2] + v0[2] * s - 0.5 * G * s * s)}
    return scene([FLOOR, wall, ball("a", (0, 0, 0.6), (2.0, 0.7, 0), (12.0, -30.0, 20.0))], 1.5, friction=mu, restitution=e), place


def smooth_balls(found, e, mu):
    """The scene with balls that bounce off each other without friction and not off the floor, which is rough."""
    found["materials"]["ball"] = {"friction": 0.0}
    found["pairs"] = [{"between": ["ball", "ball"], "restitution": e, "friction": 0.0},
                      {"between": ["ball", "m"], "restitution": 0.0, "friction": mu}]
    for body in found["bodies"][1:]:
        body["material"] = "ball"
    return found


def billiard():
    """A ball with spin strikes another one; both slide on the cloth until they roll."""
    mu, r, e = 0.2, 0.1, 1.0
    hit = 0.5  # s: it rolls up to there
    v = 1.6
    start, other = -v * hit - 2 * r, 0.0

    def after(t, x, v, w):  # sliding, then rolling
        slip = v - r * w
        stop = abs(slip) / (3.5 * mu * G)
        s, a = min(t, stop), -math.copysign(mu * G, slip)
        way = v * s + 0.5 * a * s * s
        return x + way + (v + a * s) * max(t - stop, 0.0)

    def place(t):
        if t <= hit:
            return {"a": (start + v * t, 0, r), "b": (other, 0, r)}
        return {"a": (after(t - hit, -2 * r, 0.0, v / r), 0, r), "b": (after(t - hit, other, v, 0.0), 0, r)}
    found = scene([FLOOR, ball("a", (start, 0, r), (v, 0, 0), (0, v / r, 0)), ball("b", (other, 0, r))], 1.6, friction=mu)
    return smooth_balls(found, e, mu), place


# Sliding ---------------------------------------------------------------------------------------------------------------------


def two_coefficients():
    """A block on a belt and a spring: it sticks by .6 and slides by .4."""
    static, dynamic, k, belt = 0.6, 0.4, 60.0, 0.5
    sticks = (lambda t, s: [belt, 0.0], [(lambda s: static * G - k * s[0], lambda s: ("slips", s))])
    slips = (lambda t, s: [s[1], dynamic * G - k * s[0]],
             [(lambda s: belt - s[1] + (1e-9 if s[0] > 0.085 and s[1] >= belt - 1e-6 else 0.0), lambda s: ("sticks", [s[0], belt]))])
    states = solve_modes({"sticks": sticks, "slips": slips}, "sticks", [0.0, belt], 2.0, 0.01)
    band = dict(FLOOR, kind="kinematic", velocity=[belt, 0, 0])
    found = scene([band, block("a", (0, 0, 0.1), (belt, 0, 0))], 2.0)
    found["joints"] = [{"name": "s", "type": "spring", "bodies": [None, "a"], "anchors": [[-1, 0, 0.1], [0, 0, 0.1]],
                        "spring": {"stiffness": k, "rest": 1.0}}]
    found["materials"]["m"]["friction"] = {"static": static, "dynamic": dynamic}
    return found, by_states(states, 0.01, lambda s: {"a": (s[0], 0, 0.1)})


def on_a_cart():
    """A block slides on a cart that is free to go, until both go alike; then the cart strikes a wall, and the block slides on."""
    mu, m, cart, v, gap, e = 0.35, 1.0, 2.0, 2.0, 0.6, 0.5

    def slides(sign):
        return (lambda t, s: [s[1], sign * mu * m * G / cart, s[3], -sign * mu * G],
                [(lambda s: sign * (s[3] - s[1]), together), (wall, hit)])

    def together(s):
        speed = (m * s[3] + cart * s[1]) / (m + cart)
        return "alike", [s[0], speed, s[2], speed]

    def wall(s):
        return gap - s[0]

    def hit(s):
        return "ahead", [s[0], -e * s[1], s[2], s[3]]
    alike = (lambda t, s: [s[1], 0.0, s[3], 0.0], [(wall, hit)])
    states = solve_modes({"ahead": slides(1.0), "alike": alike}, "ahead", [0.0, 0.0, 0.0, v], 1.6, 0.01)
    found = scene([FLOOR, {"name": "wall", "kind": "fixed", "material": "ice",
                           "shapes": [{"type": "plane", "normal": [-1, 0, 0], "offset": -(gap + 1.5)}]},
                   dict(block("cart", (0, 0, 0.1), size=(3.0, 0.6, 0.2), mass=cart), material="ice"),
                   block("a", (0, 0, 0.3), (v, 0, 0), mass=m)], 1.6)
    found["materials"]["ice"] = {"friction": 0.0}
    found["pairs"] = [{"between": ["m", "ice"], "friction": mu, "restitution": 0.0},
                      {"between": ["ice", "ice"], "friction": 0.0, "restitution": e}]
    found["bodies"][0] = dict(FLOOR, material="ice")
    found["pairs"][1]["restitution"] = e
    return found, by_states(states, 0.01, lambda s: {"cart": (s[0], 0, 0.1), "a": (s[2], 0, 0.3)})


def bead():
    """A bead on a rod that a motor turns evenly in the level slides out to a stop."""
    speed, start, stop = 3.0, 0.3, 1.0
    met = math.acosh(stop / start) / speed

    def place(t):
        out = start * math.cosh(speed * min(t, met)) if t < met else stop
        return {"bead": (out * math.cos(speed * t), out * math.sin(speed * t), 0)}
    rod = {"name": "rod", "mass": 1.0, "inertia": [0.01, 0.1, 0.1], "angular_velocity": [0, 0, speed],
           "shapes": [{"type": "sphere", "radius": 0.1}]}
    joints = [{"name": "j", "type": "revolute", "bodies": [None, "rod"], "anchor": [0, 0, 0], "axis": [0, 0, 1],
               "motor": {"speed": speed, "effort": 1e4}},
              {"name": "k", "type": "prismatic", "bodies": ["rod", "bead"], "anchor": [start, 0, 0], "axis": [1, 0, 0],
               "zero": start, "limits": [0.0, stop]}]
    return scene([rod, ball("bead", (start, 0, 0), (0, speed * start, 0), (0, 0, speed), mass=0.5)], 1.2, joints=joints,
                 gravity=(0, 0, -G)), place


# Pendulums -------------------------------------------------------------------------------------------------------------------


def pendulum_post():
    """The ball of a pendulum strikes a post half way up, again and again."""
    e, r, post, start = 0.7, 0.1, -0.4, 1.2
    inertia = 1.0 + 0.4 * r * r
    swing = (lambda t, s: [s[1], -G / inertia * math.sin(s[0])], [(lambda s: s[0] - post, lambda s: ("swing", [s[0], -e * s[1]]))])
    states = solve_modes({"swing": swing}, "swing", [start, 0.0], 2.4, 0.01)
    # Its centre lies on the tangent of the path, behind the ball.
    x, z = math.sin(post), -math.cos(post)
    centre = (x - 2 * r * math.cos(post), 0, z - 2 * r * math.sin(post))
    fixed = {"name": "post", "kind": "fixed", "material": "m", "position": list(centre), "shapes": [{"type": "sphere", "radius": r}]}
    return scene([fixed, ball("a", (math.sin(start), 0, -math.cos(start)))], 2.4, joints=[hinge("j", [None, "a"], (0, 0, 0))],
                 restitution=e), by_states(states, 0.01, lambda s: {"a": (math.sin(s[0]), 0, -math.cos(s[0]))})


def cradle():
    """Five balls on arms, a millimetre apart: the first one is let go."""
    e, r, gap, n, start = 1.0, 0.1, 1e-3, 5, -0.6
    inertia = 1.0 + 0.4 * r * r
    pitch = 2 * r + gap

    def rates(_, s):
        return [value for i in range(n) for value in (s[2 * i + 1], -G / inertia * math.sin(s[2 * i]))]

    def between(i, s):
        p, q = s[2 * i], s[2 * i + 2]
        return pitch + math.sin(q) - math.sin(p), math.cos(p) - math.cos(q)

    def pair(i):
        def hit(s):
            x, z = between(i, s)
            size = math.hypot(x, z)
            a = (math.cos(s[2 * i]) * x + math.sin(s[2 * i]) * z) / size
            b = (math.cos(s[2 * i + 2]) * x + math.sin(s[2 * i + 2]) * z) / size
            impulse = (1 + e) * (a * s[2 * i + 1] - b * s[2 * i + 3]) / ((a * a + b * b) / inertia)
            s = list(s)
            s[2 * i + 1] -= impulse * a / inertia
            s[2 * i + 3] += impulse * b / inertia
            return "swing", s
        return (lambda s: math.hypot(*between(i, s)) - 2 * r), hit
    modes = {"swing": (rates, [pair(i) for i in range(n - 1)])}
    states = solve_modes(modes, "swing", [start, 0.0] + [0.0] * (2 * n - 2), 1.2, 0.01, h=5e-4)

    def at(angle, i):
        return i * pitch + math.sin(angle), 0, -math.cos(angle)
    bodies = [ball(f"b{i}", at(start if i == 0 else 0.0, i)) for i in range(n)]
    joints = [hinge(f"j{i}", [None, f"b{i}"], (i * pitch, 0, 0)) for i in range(n)]
    return scene(bodies, 1.2, joints=joints, restitution=e), \
        by_states(states, 0.01, lambda s: {f"b{i}": at(s[2 * i], i) for i in range(n)})


def double_masses(s, inertia):
    """The matrix and the forces of two balls on two arms; angles from straight down."""
    p, q, u, v = s
    c, d = math.cos(p - q), math.sin(p - q)
    return [[2 + inertia, c], [c, 1 + inertia]], [-d * v * v - 2 * G * math.sin(p), d * u * u - G * math.sin(q)]


def double_wall():
    """The lower ball of a double pendulum strikes a wall."""
    inertia, e, r, wall = 0.4 * 0.01, 0.6, 0.1, -0.3

    def rates(_, s):
        return [s[2], s[3], *eliminate(*double_masses(s, inertia))]

    def hit(s):
        matrix = double_masses(s, inertia)[0]
        row = [math.cos(s[0]), math.cos(s[1])]
        push = eliminate(matrix, row)
        speed = row[0] * s[2] + row[1] * s[3]
        impulse = -(1 + e) * speed / (row[0] * push[0] + row[1] * push[1])
        return "swing", [s[0], s[1], s[2] + impulse * push[0], s[3] + impulse * push[1]]
    modes = {"swing": (rates, [(lambda s: math.sin(s[0]) + math.sin(s[1]) - wall - r, hit)])}
    start = [0.9, 1.3, 0.0, 0.0]
    states = solve_modes(modes, "swing", start, 1.6, 0.01)

    def place(s):
        x, z = math.sin(s[0]), -math.cos(s[0])
        return {"a": (x, 0, z), "b": (x + math.sin(s[1]), 0, z - math.cos(s[1]))}
    first = place(start)
    fixed = {"name": "wall", "kind": "fixed", "material": "m", "shapes": [{"type": "plane", "normal": [1, 0, 0], "offset": wall}]}
    bodies = [fixed, dict(ball("a", first["a"]), shapes=[]), ball("b", first["b"])]
    joints = [hinge("j", [None, "a"], (0, 0, 0)), hinge("k", ["a", "b"], first["a"])]
    return scene(bodies, 1.6, joints=joints, restitution=e), by_states(states, 0.01, place)


def chain():
    """Six links of .3 m let go level."""
    n, length, m = 6, 0.3, 0.5
    inertia = m * length * length / 12

    # The centre of link i is at the sum of the links before it, and half of its own.
    def arms(i):
        return [length if j < i else 0.5 * length if j == i else 0.0 for j in range(n)]
    table = [arms(i) for i in range(n)]
    weights = [[m * sum(table[i][j] * table[i][k] for i in range(n)) for k in range(n)] for j in range(n)]
    pulls = [m * G * sum(table[i][j] for i in range(n)) for j in range(n)]

    def rates(_, s):
        a, w = s[:n], s[n:]
        matrix = [[weights[j][k] * math.cos(a[j] - a[k]) + (inertia if j == k else 0.0) for k in range(n)] for j in range(n)]
        right = [-pulls[j] * math.sin(a[j]) - sum(weights[j][k] * math.sin(a[j] - a[k]) * w[k] ** 2 for k in range(n))
                 for j in range(n)]
        return list(w) + eliminate(matrix, right)
    states = solve(rates, [0.5 * math.pi] * n + [0.0] * n, 1.0, 0.01, h=1e-3)

    def place(s):
        return {f"b{i}": (sum(x * math.sin(a) for x, a in zip(table[i], s[:n])), 0,
                          -sum(x * math.cos(a) for x, a in zip(table[i], s[:n]))) for i in range(n)}
    bodies = [{"name": f"b{i}", "mass": m, "inertia": [1e-4, inertia, inertia], "position": [(i + 0.5) * length, 0, 0],
               "shapes": [{"type": "capsule", "radius": 0.02, "length": length - 0.04, "axis": [1, 0, 0]}]} for i in range(n)]
    joints = [hinge(f"j{i}", [f"b{i - 1}" if i else None, f"b{i}"], (i * length, 0, 0)) for i in range(n)]
    return scene(bodies, 1.0, joints=joints), by_states(states, 0.01, place)


def cart_servo():
    """A servo moves a cart to a place; a pole hangs on it and swings."""
    cart, m, length, k, d, aim = 2.0, 0.5, 0.6, 50.0, 8.0, 1.0
    inertia = 0.4 * m * 0.01

    def rates(_, s):
        x, a, v, w = s
        matrix = [[cart + m, m * length * math.cos(a)], [m * length * math.cos(a), m * length * length + inertia]]
        right = [k * (aim - x) - d * v + m * length * w * w * math.sin(a), -m * G * length * math.sin(a)]
        return [v, w, *eliminate(matrix, right)]
    states = solve(rates, [0.0, 0.3, 0.0, 0.0], 2.5, 0.01)

    def place(s):
        return {"cart": (s[0], 0, 0), "a": (s[0] + length * math.sin(s[1]), 0, -length * math.cos(s[1]))}
    first = place([0.0, 0.3])
    joints = [{"name": "s", "type": "prismatic", "bodies": [None, "cart"], "anchor": [0, 0, 0], "axis": [1, 0, 0],
               "servo": {"target": aim, "stiffness": k, "damping": d}}, hinge("j", ["cart", "a"], (0, 0, 0))]
    return scene([block("cart", (0, 0, 0), mass=cart), ball("a", first["a"], mass=m)], 2.5, joints=joints), \
        by_states(states, 0.01, place)


# Machines --------------------------------------------------------------------------------------------------------------------


def geared():
    """A weight at the rim of a wheel drives another one, twice as fast and backwards."""
    first, second, m, out, ratio = 0.2, 0.05, 1.0, 0.4, -2.0
    total = first + m * out * out + second * ratio * ratio
    states = solve(lambda t, s: [s[1], -m * G * out / total * math.sin(s[0])], [2.0, 0.0], 2.5, 0.01)

    def at(a):
        return out * math.sin(a), 0, -out * math.cos(a)
    wheels = [{"name": "p", "mass": m, "inertia": [first] * 3, "position": list(at(2.0)), "shapes": [{"type": "sphere", "radius": 0.1}]},
              {"name": "q", "mass": 1.0, "inertia": [second - 0.04 + 0.04] * 3, "position": [2, 0, 0],
               "shapes": [{"type": "sphere", "radius": 0.1}]}]
    joints = [hinge("j", [None, "p"], (0, 0, 0), zero=2.0), hinge("k", [None, "q"], (2, 0, 0))]
    found = scene(wheels, 2.5, joints=joints)
    found["couplings"] = [{"name": "c", "of": [["j", ratio], ["k", -1.0]], "value": 2.0 * ratio}]
    return found, by_states(states, 0.01, lambda s: {"p": at(s[0])})


def hoist():
    """A weight on a rope over a wheel lifts a lighter one, which lands on nothing."""
    heavy, light, wheel, r = 2.0, 1.5, 0.02, 0.2
    pull = (heavy - light) * G / (heavy + light + wheel / (r * r))

    def place(t):
        way = 0.5 * pull * t * t
        return {"a": (-1, 0, -way), "b": (1, 0, way)}
    bodies = [block("a", (-1, 0, 0), mass=heavy), block("b", (1, 0, 0), mass=light),
              {"name": "w", "mass": 1.0, "inertia": [wheel] * 3, "position": [0, 0, 2], "shapes": [{"type": "sphere", "radius": r}]}]
    joints = [{"name": n, "type": "prismatic", "bodies": [None, n], "anchor": [x, 0, 0], "axis": [0, 0, 1]} for n, x in (("a", -1), ("b", 1))]
    joints.append(hinge("w", [None, "w"], (0, 0, 2)))
    found = scene(bodies, 1.5, joints=joints)
    found["couplings"] = [{"name": "c", "of": [["a", 1.0], ["b", 1.0]], "value": 0.0},
                          {"name": "d", "of": [["b", 1.0], ["w", r]], "value": 0.0}]
    return found, place


# Bodies that tip, roll and spin ---------------------------------------------------------------------------------------------


def rocking():
    """A slender block on its edge falls back, and rocks from edge to edge: each change keeps the momentum about the new edge."""
    b, h, m, start = 0.1, 0.4, 1.0, 0.12  # halves of width and height
    size, alpha = math.hypot(b, h), math.atan2(b, h)
    inertia = m * (b * b + h * h) / 3 + m * size * size
    keeps = 1 - 1.5 * math.sin(alpha) ** 2
    # The angle is positive if it stands on the right edge, leaning to the right.
    right = (lambda t, s: [s[1], -m * G * size / inertia * math.sin(alpha - s[0])],
             [(lambda s: s[0], lambda s: ("left", [0.0, keeps * s[1]]))])
    left = (lambda t, s: [s[1], m * G * size / inertia * math.sin(alpha + s[0])],
            [(lambda s: -s[0], lambda s: ("right", [0.0, keeps * s[1]]))])
    states = solve_modes({"right": right, "left": left}, "right", [start, 0.0], 1.1, 0.005)

    def place(s):
        a = s[0]
        if a >= 0:
            return {"a": (b + size * math.sin(a - alpha), 0, size * math.cos(alpha - a))}
        return {"a": (-b + size * math.sin(alpha + a), 0, size * math.cos(alpha + a))}
    body = block("a", place([start])["a"], size=(2 * b, 0.3, 2 * h), mass=m)
    body["rotation"] = turned(math.degrees(start), (0, 1, 0))
    return scene([FLOOR, body], 1.1, 0.005, friction=0.9), by_states(states, 0.005, place)


def egg():
    """An ellipsoid rocks and rolls on the floor in its own plane, without slip."""
    a, b, m = 0.3, 0.2, 1.0  # along its own x and z
    inertia = m * (a * a + b * b) / 5

    def shape(turn):  # height of the centre, how far the contact is ahead of it, and their derivatives by the turn
        c, s = math.cos(turn), math.sin(turn)
        h = math.sqrt(a * a * s * s + b * b * c * c)
        first = (a * a - b * b) * s * c / h
        second = ((a * a - b * b) * (c * c - s * s) - first * first) / h
        return h, first, second

    # A turn by q about y: the height changes by h' and the centre goes by h; T = (m (h^2 + h'^2) + I) q'^2 / 2, V = m g h.
    def rates(_, s):
        h, first, second = shape(s[0])
        total = m * (h * h + first * first) + inertia
        change = m * (h * first + first * second)
        return [s[1], (-change * s[1] ** 2 - m * G * first) / total, h * s[1]]
    start, spin = 0.9, 0.0
    states = solve(rates, [start, spin, 0.0], 2.5, 0.01)
    h, _, _ = shape(start)
    body = {"name": "a", "mass": m, "inertia": [m * (b * b + 0.04) / 5, inertia, m * (a * a + 0.04) / 5], "material": "m",
            "position": [0, 0, h], "rotation": turned(math.degrees(start), (0, 1, 0)),
            "shapes": [{"type": "ellipsoid", "radii": [a, 0.2, b]}]}
    return scene([FLOOR, body], 2.5, friction=2.0), by_states(states, 0.01, lambda s: {"a": (s[2], 0, shape(s[0])[0])})


def smooth_top():
    """A top on a round foot on smooth ice: its centre goes up and down only."""
    m, out, r, about, along, spin, start = 0.5, 0.15, 0.02, 2e-3, 1e-3, 150.0, 0.4
    # With the spin kept and the momentum about the vertical kept: A phi' sin^2 + C n cos = const.
    n = spin
    total = about * 0.0 * math.sin(start) ** 2 + along * n * math.cos(start)

    def rates(_, s):
        a, w = s
        c, d = math.cos(a), math.sin(a)
        phi = (total - along * n * c) / (about * d * d)
        matrix = about + m * out * out * d * d
        right = about * phi * phi * d * c - along * n * phi * d + m * G * out * d - m * out * out * d * c * w * w
        return [w, right / matrix]
    step = 0.005
    states = solve(rates, [start, 0.0], 1.5, step)
    axis = [math.sin(start), 0, math.cos(start)]
    body = {"name": "a", "mass": m, "inertia": [about, about, along], "material": "m",
            "position": [0, 0, r + out * math.cos(start)], "rotation": turned(math.degrees(start), (0, 1, 0)),
            "angular_velocity": [spin * x for x in axis],
            "shapes": [{"type": "sphere", "radius": r, "position": [0, 0, -out]}]}
    return scene([FLOOR, body], 1.5, step), by_states(states, step, lambda s: {"a": (0, 0, r + out * math.cos(s[0]))})


def rolling(body_rates, start, until, step, h=2e-4):
    return solve(body_rates, start, until, step, h=h)


def coin():
    """A coin with a sharp rim rolls on the floor without slip, leaning, and turns."""
    m, r, thick = 1.0, 0.3, 0.04
    along, about = 0.5 * m * r * r, m * r * r / 4 + m * thick * thick / 12
    half = 0.5 * thick

    # The axis u, the spin w, the centre x: the point that touches is on the lower rim, at c = -r d + half side u from the centre
    # with d the upward direction across u. v = -w x c. Momentum about the point: A w + (C - A) (w.u) u, and m v.
    def arm(u):
        up = [-u[2] * u[0], -u[2] * u[1], 1 - u[2] * u[2]]
        size = math.sqrt(sum(x * x for x in up))
        side = -1.0 if u[2] > 0 else 1.0
        return [-r * x / size + side * half * y for x, y in zip(up, u)]

    def velocity(u, w):
        return [-x for x in cross(w, arm(u))]

    def dot(p, q):
        return sum(x * y for x, y in zip(p, q))

    # K = I w + m c' x ... : the momentum about the moving contact point changes by K' = -m v_P x v + c x ... ; simpler, the spin's
    # acceleration a solves I a + w x (I w) = c x F, F = m (v' - g), v' = -a x c - w x c' with c' by u' = w x u.
    def rates(_, s):
        u, w = s[:3], s[3:6]
        turn = cross(w, u)
        c = arm(u)
        eps = 1e-6
        ahead = arm([x + eps * y for x, y in zip(u, turn)])
        behind = arm([x - eps * y for x, y in zip(u, turn)])
        rate = [(x - y) / (2 * eps) for x, y in zip(ahead, behind)]
        spin = dot(w, u)
        gyro = cross(w, [about * x + (along - about) * spin * y for x, y in zip(w, u)])
        known = [-x for x in cross(w, rate)]
        force = [m * x for x in known]
        force[2] += m * G
        right = [x - y for x, y in zip(cross(c, force), gyro)]
        # I a + m c x (a x c) = I a + m (a |c|^2 - c (c . a))
        size = dot(c, c)
        matrix = [[(about + m * size if i == j else 0.0) + (along - about) * u[i] * u[j] - m * c[i] * c[j] for j in range(3)]
                  for i in range(3)]
        return turn + eliminate(matrix, right) + velocity(u, w)
    lean, spin = 0.25, 8.0
    u = [0.0, math.cos(lean), math.sin(lean)]
    w = [spin * x for x in u]
    start = u + w + [0.0, 0.0, -arm(u)[2]]
    step = 0.01
    states = solve(rates, start, 1.0, step)
    body = {"name": "a", "mass": m, "inertia": [about, along, about], "material": "m", "position": start[6:],
            "rotation": turned(math.degrees(lean), (1, 0, 0)), "velocity": velocity(u, w), "angular_velocity": w,
            "shapes": [{"type": "cylinder", "radius": r, "length": thick, "axis": [0, 1, 0]}]}
    return scene([FLOOR, body], 1.0, step, friction=1.0), by_states(states, step, lambda s: {"a": s[6:9]})


def dominoes():
    """A plate on a hinge falls against another one; its edge slides down the face, without friction."""
    h, t, m, gap = 0.6, 0.08, 1.0, 0.3  # the pivots are the right lower edges
    inertia = m * (h * h + t * t) / 3

    # Angles to the right from upright. The right upper edge of the first, seen from the pivot of the second.
    def edge(p):
        return h * math.sin(p) - gap, h * math.cos(p)

    # The distance of it from the left face of the second: the face is at -t across, turned by q.
    def distance(s):
        x, z = edge(s[0])
        return -(x * math.cos(s[1]) - z * math.sin(s[1]) + t)

    def row(p, q):
        x, z = edge(p)
        return [-(h * math.cos(p) * math.cos(q) + h * math.sin(p) * math.sin(q)), x * math.sin(q) + z * math.cos(q)]

    def pull(a):  # the centre is at (-t / 2, h / 2) of the pivot
        return m * G * (0.5 * h * math.sin(a) - 0.5 * t * math.cos(a))

    def free(_, s):
        return [s[2], s[3], pull(s[0]) / inertia, pull(s[1]) / inertia]

    def pressed(_, s):
        j = row(s[0], s[1])
        eps = 1e-6
        j1 = row(s[0] + eps * s[2], s[1] + eps * s[3])
        j0 = row(s[0] - eps * s[2], s[1] - eps * s[3])
        bend = sum((x - y) / (2 * eps) * v for x, y, v in zip(j1, j0, s[2:4]))
        f = [pull(s[0]) / inertia, pull(s[1]) / inertia]
        force = -(bend + j[0] * f[0] + j[1] * f[1]) * inertia / (j[0] ** 2 + j[1] ** 2)
        pressed.force = force
        return [s[2], s[3], f[0] + j[0] * force / inertia, f[1] + j[1] * force / inertia]

    def hit(s):
        j = row(s[0], s[1])
        speed = j[0] * s[2] + j[1] * s[3]
        push = -speed / (j[0] ** 2 + j[1] ** 2)
        return "pressed", [s[0], s[1], s[2] + push * j[0], s[3] + push * j[1]]

    def pushes(s):
        pressed(0.0, s)
        return pressed.force
    standing = (lambda t, s: [s[2], 0.0, pull(s[0]) / inertia, 0.0], [(distance, hit)])
    modes = {"free": standing, "pressed": (pressed, [(pushes, lambda s: ("apart", s))]), "apart": (free, [])}
    start = [0.3, 0.0, 0.0, 0.0]
    until = 0.0
    states = solve_modes(modes, "free", start, 0.6, 0.005)
    # Up to where the first is level.
    while until + 0.005 < 0.6 and states[round(until / 0.005) + 1][1] < 1.0:
        until += 0.005
    until = 0.02 * math.floor(until / 0.02 + 1e-9)

    def at(x, a):
        return (x - 0.5 * t * math.cos(a) + 0.5 * h * math.sin(a), 0, 0.5 * t * math.sin(a) + 0.5 * h * math.cos(a))
    bodies = []
    for n, x, a in (("a", 0.0, start[0]), ("b", gap, 0.0)):
        body = block(n, at(x, a), size=(t, 0.3, h), mass=m)
        body["rotation"] = turned(math.degrees(a), (0, 1, 0))
        bodies.append(body)
    joints = [{"name": "j", "type": "revolute", "bodies": [None, "a"], "anchor": [0, 0, 0], "axis": [0, 1, 0], "zero": start[0]},
              {"name": "k", "type": "revolute", "bodies": [None, "b"], "anchor": [gap, 0, 0], "axis": [0, 1, 0],
               "limits": [0.0, 3.0]}]
    return scene(bodies, until, 0.005, joints=joints), by_states(states, 0.005, lambda s: {"a": at(0.0, s[0]), "b": at(gap, s[1])})


SCENES = {
    "stairs": stairs, "corner": corner, "billiard": billiard, "two coefficients": two_coefficients, "on a cart": on_a_cart,
    "bead": bead, "pendulum and post": pendulum_post, "cradle": cradle, "double pendulum and wall": double_wall, "chain": chain,
    "cart and servo": cart_servo, "geared": geared, "hoist": hoist, "rocking": rocking, "egg": egg, "smooth top": smooth_top,
    "coin": coin, "dominoes": dominoes,
}

if __name__ == "__main__":
    main(SCENES)
