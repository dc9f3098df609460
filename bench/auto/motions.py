#!/usr/bin/env python3
"""Error asked against error got, on sixteen more motions with closed forms or small equations.

usage: python3 bench/auto/motions.py PROGRAM [NAME ...], with the options of references.py

As references.py, whose helpers it takes: no scene of the repository is among them.
"""
import math

from references import FLOOR, G, ball, block, by_states, cross, main, scene, solve, solve_modes


def turntable():
    """A ball that rolls on a turntable goes round at 2/7 of its rate."""
    table, r, x0, v0 = 3.0, 0.1, (0.4, 0.0), (0.1, 0.2)
    # The point of contact goes with the table: v - r w x z = table z x x.
    spin = ((-r) ** -1 * (v0[1] - table * x0[0]), (v0[0] + table * x0[1]) / r, 0.0)
    w = 2.0 / 7.0 * table
    centre = (x0[0] - v0[1] / w, x0[1] + v0[0] / w)

    def place(t):
        c, s = math.cos(w * t), math.sin(w * t)
        dx, dy = x0[0] - centre[0], x0[1] - centre[1]
        return {"a": (centre[0] + c * dx - s * dy, centre[1] + s * dx + c * dy, r)}
    disc = dict(FLOOR, kind="kinematic", angular_velocity=[0, 0, table])
    return scene([disc, ball("a", (*x0, r), (*v0, 0), spin)], 2, friction=0.6), place


def lift():
    """A ball bounces on a floor that goes up at .5 m/s."""
    up, e, drop, r = 0.5, 0.8, 0.6, 0.1

    def place(t):
        height, v, left = drop, -up, t
        while True:
            land = (v + math.sqrt(v * v + 2 * G * height)) / G
            if left <= land:
                return {"a": (0, 0, r + up * t + height + v * left - 0.5 * G * left * left)}
            v, height, left = -e * (v - G * land), 0.0, left - land
    floor = dict(FLOOR, kind="kinematic", velocity=[0, 0, up])
    return scene([floor, ball("a", (0, 0, r + drop))], 1.3, restitution=e), place


def rolling_stop():
    """A ball with friction against rolling rolls to a stop: friction and rolling are in one cone, as tests/laws has it."""
    arm, mu, r, v = 0.004, 0.5, 0.1, 0.8
    s = (arm / r) ** 2
    x = (2.5 * s - 3.5 + math.sqrt((3.5 - 2.5 * s) ** 2 + 25 * s)) / (5 * s)  # radius times friction over the moment
    brake = mu * G * math.sqrt(s) * x / math.sqrt(1 + s * x * x)

    def place(t):
        t = min(t, v / brake)
        return {"a": (v * t - 0.5 * brake * t * t, 0, r)}
    found = scene([FLOOR, ball("a", (0, 0, r), (v, 0, 0), (0, v / (r * (1 + s * x)), 0))], 7)
    found["materials"]["m"]["friction"] = {"static": mu, "rolling": arm}
    return found, place


def pushed_about():
    """A block is pushed to and fro by forces that begin and end: it slides, stops, stays, and slides back."""
    mu = 0.3
    pushes = [(0.105, 0.3, 6.0), (0.52, 0.91, -5.0), (1.203, 1.3, 2.0)]  # the last one does not move it

    def place(t):
        x = v = time = 0.0
        while time < t - 1e-13:
            force = sum(f for begin, end, f in pushes if begin <= time < end)
            edges = [edge for begin, end, _ in pushes for edge in (begin, end) if edge > time]
            end = min([t, *edges])
            sign = math.copysign(1.0, v) if v else math.copysign(1.0, force)
            a = 0.0 if v == 0.0 and abs(force) <= mu * G else force - sign * mu * G
            stop = time - v / a if v * a < 0.0 else math.inf
            step = min(end, stop) - time
            x, v, time = x + v * step + 0.5 * a * step * step, 0.0 if stop <= end else v + a * step, time + step
        return {"a": (x, 0, 0.1)}
    found = scene([FLOOR, block("a", (0, 0, 0.1))], 1.6, friction=mu)
    found["forces"] = [{"body": "a", "force": [f, 0, 0], "at": [0, 0, -0.1], "from": begin, "to": end} for begin, end, f in pushes]
    return found, place


def three_balls():
    """Three balls of unequal masses with gaps strike each other, with a restitution of .9."""
    masses, e, r = [1.0, 0.4, 2.0], 0.9, 0.1
    start = [(0.0, 2.0), (0.5, 0.0), (0.9, -0.3)]

    def place(t):
        x, v, time = [s[0] for s in start], [s[1] for s in start], 0.0
        while True:
            met = [(time + (x[i + 1] - x[i] - 2 * r) / (v[i] - v[i + 1]), i) for i in range(2) if v[i] - v[i + 1] > 1e-12]
            end, i = min(met, default=(math.inf, 0))
            step = min(end, t) - time
            x, time = [a + b * step for a, b in zip(x, v)], min(end, t)
            if end >= t:
                return {"abc"[k]: (x[k], 0, 0) for k in range(3)}
            impulse = (1 + e) * (v[i] - v[i + 1]) / (1 / masses[i] + 1 / masses[i + 1])
            v[i], v[i + 1] = v[i] - impulse / masses[i], v[i + 1] + impulse / masses[i + 1]
    bodies = [ball("abc"[i], (x, 0, 0), (v, 0, 0), mass=masses[i]) for i, (x, v) in enumerate(start)]
    return scene(bodies, 1.2, restitution=e, gravity=(0, 0, 0)), place


def cylinder_down():
    """A cylinder rolls down a slope: 2/3 of g sin a."""
    angle, r, half = 0.25, 0.1, 0.15
    normal, along = (math.sin(angle), 0, math.cos(angle)), (math.cos(angle), 0, -math.sin(angle))
    slope = dict(FLOOR, shapes=[{"type": "plane", "normal": list(normal), "offset": 0}])
    body = {"name": "a", "mass": 1.0, "material": "m", "position": [r * x for x in normal],
            "shapes": [{"type": "cylinder", "radius": r, "length": 2 * half, "axis": [0, 1, 0]}]}
    a = 2.0 / 3.0 * G * math.sin(angle)
    return scene([slope, body], 1.2, friction=0.5), \
        lambda t: {"a": [r * n + 0.5 * a * t * t * x for n, x in zip(normal, along)]}


def conical():
    """A ball on a rod goes round level; the rod is a distance joint, so its spin stays what it is."""
    length, tilt = 0.8, 0.6
    w = math.sqrt(G / (length * math.cos(tilt)))
    out, down = length * math.sin(tilt), -length * math.cos(tilt)
    joint = {"name": "j", "type": "distance", "bodies": [None, "a"], "anchors": [[0, 0, 0], [out, 0, down]]}
    return scene([ball("a", (out, 0, down), (0, w * out, 0))], 2.5, joints=[joint]), \
        lambda t: {"a": (out * math.cos(w * t), out * math.sin(w * t), down)}


def elastic_pendulum():
    """A ball on a spring swings and bobs."""
    k, rest, start = 60.0, 0.7, [0.6, 0.2, -0.7, 0.0, 0.8, 0.0]

    def rates(_, s):
        length = math.sqrt(sum(x * x for x in s[:3]))
        pull = -k * (length - rest) / length
        return s[3:] + [pull * s[0], pull * s[1], pull * s[2] - G]
    states = solve(rates, start, 2.0, 0.01)
    joint = {"name": "s", "type": "spring", "bodies": [None, "a"], "anchors": [[0, 0, 0], start[:3]],
             "spring": {"stiffness": k, "rest": rest}}
    return scene([ball("a", start[:3], start[3:])], 2.0, joints=[joint]), by_states(states, 0.01, lambda s: {"a": s[:3]})


def steady_top():
    """A top on a point precesses steadily: M g l = W (C s - A W cos a), with the spin s about its axis."""
    m, length, about, along, tilt, w = 1.0, 0.2, 0.05, 0.004, 0.8, 2.5
    spin = (m * G * length / w + about * w * math.cos(tilt)) / along  # whole, about the axis
    sine, cosine = math.sin(tilt), math.cos(tilt)
    angular = [spin * sine + w * -cosine * sine, 0, spin * cosine + w * sine * sine]
    own = about - m * length ** 2
    body = {"name": "a", "mass": m, "inertia": [own, own, along], "position": [length * sine, 0, length * cosine],
            "rotation": {"axis": [0, 1, 0], "degrees": math.degrees(tilt)}, "angular_velocity": angular,
            "velocity": cross(angular, [length * sine, 0, length * cosine]),
            "shapes": [{"type": "sphere", "radius": 0.05}]}
    joint = {"name": "j", "type": "ball", "bodies": [None, "a"], "anchor": [0, 0, 0]}
    return scene([body], 2.0, 0.005, [joint]), \
        lambda t: {"a": (length * sine * math.cos(w * t), length * sine * math.sin(w * t), length * cosine)}


def slope_bounce():
    """A ball falls onto a smooth slope and bounces down it."""
    angle, e, drop, r = 0.4, 0.6, 0.5, 0.1
    normal, along = (math.sin(angle), 0, math.cos(angle)), (math.cos(angle), 0, -math.sin(angle))
    down, pull = G * math.cos(angle), G * math.sin(angle)
    far, near = drop * math.cos(angle), -drop * math.sin(angle)  # from the surface, and along it

    def place(t):
        height, v, left = far, 0.0, t
        while True:
            land = (v + math.sqrt(v * v + 2 * down * height)) / down
            if left <= land or land < 1e-4:
                height = height + v * left - 0.5 * down * left * left if land >= 1e-4 else 0.0
                way = near + 0.5 * pull * t * t
                return {"a": [(r + height) * n + way * x for n, x in zip(normal, along)]}
            v, height, left = e * (down * land - v), 0.0, left - land
    start = [(r + far) * n + near * x for n, x in zip(normal, along)]
    slope = dict(FLOOR, shapes=[{"type": "plane", "normal": list(normal), "offset": 0}])
    return scene([slope, ball("a", start)], 1.0, restitution=e), place


def overdamped():
    """Two balls on a spring with a strong damper come to rest apart."""
    k, c, stretch, a, b = 60.0, 40.0, 0.3, 1.0, 2.0
    reduced = a * b / (a + b)
    root = math.sqrt((c / (2 * reduced)) ** 2 - k / reduced)
    slow, fast = c / (2 * reduced) - root, c / (2 * reduced) + root
    joint = {"name": "s", "type": "spring", "bodies": ["a", "b"], "anchors": [[0, 0, 0], [1 + stretch, 0, 0]],
             "spring": {"stiffness": k, "rest": 1.0, "damping": c}}

    def place(t):
        x = stretch * (fast * math.exp(-slow * t) - slow * math.exp(-fast * t)) / (fast - slow)
        first = b * (stretch - x) / (a + b)
        return {"a": (first, 0, 0), "b": (first + 1 + x, 0, 0)}
    return scene([ball("a", (0, 0, 0)), ball("b", (1 + stretch, 0, 0), mass=b)], 1.5, joints=[joint], gravity=(0, 0, 0)), place


def across_slope():
    """A ball slides and then rolls across a slope: its slip turns as it ends."""
    angle, mu, r, v, w = 0.25, 0.25, 0.1, (0.0, 1.2), (6.0, -4.0)
    c, s = math.cos(angle), math.sin(angle)
    axes = ((c, 0, -s), (0, 1, 0), (s, 0, c))  # down, across, up

    def slip(q):  # of the point of contact: v - r w x n
        return q[2] - r * q[5], q[3] + r * q[4]

    def sliding(_, q):
        x, y = slip(q)
        size = math.hypot(x, y)
        fx, fy = -mu * G * c * x / size, -mu * G * c * y / size
        return [q[2], q[3], G * s + fx, fy, 2.5 * fy / r, -2.5 * fx / r]

    def rolling(_, q):
        return [q[2], q[3], 5 / 7 * G * s, 0.0, 0.0, 5 / 7 * G * s / r]
    def roll(q):  # friction has taken 2/7 of the slip from the speed when it ends
        x, y = slip(q)
        return "rolls", [q[0], q[1], q[2] - 2 / 7 * x, q[3] - 2 / 7 * y, q[4] - 5 / 7 * y / r, q[5] + 5 / 7 * x / r]
    modes = {"slides": (sliding, [(lambda q: math.hypot(*slip(q)) - 2e-3, roll)]), "rolls": (rolling, [])}
    states = solve_modes(modes, "slides", [0.0, 0.0, v[0], v[1], w[0], w[1]], 1.2, 0.01)

    def world(x, y, z):
        return [x * a + y * b + z * d for a, b, d in zip(*axes)]
    slope = dict(FLOOR, shapes=[{"type": "plane", "normal": list(axes[2]), "offset": 0}])
    body = ball("a", world(0, 0, r), world(*v, 0), world(*w, 0))
    return scene([slope, body], 1.2, friction=mu), by_states(states, 0.01, lambda q: {"a": world(q[0], q[1], r)})


def end_stops():
    """A slide on a spring strikes a stop, which takes all of its speed, and swings off again."""
    k, rest, until = 80.0, 0.3, 1.6
    low, high = -0.2, 0.35
    w = math.sqrt(k)

    def place(t):
        # Let go at the low stop it swings to the high one and is stopped; the spring, at rest before it, pulls back.
        land = math.acos((high - rest) / (low - rest)) / w
        if t <= land:
            return {"a": (rest + (low - rest) * math.cos(w * t), 0, 0)}
        return {"a": (rest + (high - rest) * math.cos(w * (t - land)), 0, 0)}
    joint = {"name": "s", "type": "prismatic", "bodies": [None, "a"], "anchor": [0, 0, 0], "axis": [1, 0, 0], "zero": low,
             "spring": {"stiffness": k, "rest": rest}, "limits": [low, high]}
    return scene([block("a", (low, 0, 0))], until, joints=[joint]), place


def coasting_wheel():
    """A ball on an arm turns about an upright hinge with a damper and dry friction, until it stays."""
    inertia, damping, dry, w = 0.254, 0.05, 0.1, 5.0
    rate, drift = damping / inertia, dry / damping
    stop = math.log(1 + w / drift) / rate
    joint = {"name": "j", "type": "revolute", "bodies": [None, "a"], "anchor": [0, 0, 0], "axis": [0, 0, 1],
             "damping": damping, "friction": dry}

    def place(t):
        t = min(t, stop)
        angle = (w + drift) * (1 - math.exp(-rate * t)) / rate - drift * t
        return {"a": (0.5 * math.cos(angle), 0.5 * math.sin(angle), 0)}
    return scene([ball("a", (0.5, 0, 0), (0, 0.5 * w, 0), (0, 0, w))], 8, 0.02, joints=[joint]), place


def wall_and_floor():
    """A smooth ball bounces between two walls and the floor."""
    e, r, wall, x0, h0, v = 0.8, 0.1, 0.5, 0.1, 0.8, 1.7

    def place(t):
        x, vx, left = x0, v, t
        while True:
            land = ((wall - r) * math.copysign(1, vx) - x) / vx
            if left <= land:
                x += vx * left
                break
            x, vx, left = x + vx * land, -e * vx, left - land
        height, vz, left = h0, 0.0, t
        while True:
            land = (vz + math.sqrt(vz * vz + 2 * G * height)) / G
            if left <= land:
                return {"a": (x, 0, r + height + vz * left - 0.5 * G * left * left)}
            vz, height, left = e * (G * land - vz), 0.0, left - land
    walls = [{"name": f"w{i}", "kind": "fixed", "material": "m",
              "shapes": [{"type": "plane", "normal": [-side, 0, 0], "offset": -wall}]} for i, side in ((0, -1), (1, 1))]
    return scene([FLOOR, *walls, ball("a", (x0, 0, r + h0), (v, 0, 0))], 1.5, restitution=e), place


def rocket():
    """A bar with a force across its end, in its own axes, turns ever faster and goes about."""
    push, arm, inertia, m = 0.4, 0.3, 0.03, 1.0
    rate = push * arm / inertia

    def rates(t, s):
        angle = 0.5 * rate * t * t
        return [s[2], s[3], -push / m * math.sin(angle), push / m * math.cos(angle)]
    states = solve(lambda t, s: rates(t, s), [0.0, 0.0, 0.0, 0.0], 2.5, 0.01)
    body = {"name": "a", "mass": m, "inertia": [inertia] * 3, "position": [0, 0, 0],
            "shapes": [{"type": "box", "size": [0.6, 0.05, 0.05]}]}
    found = scene([body], 2.5, gravity=(0, 0, 0))
    found["forces"] = [{"body": "a", "force": [0, push, 0], "at": [arm, 0, 0], "frame": "body"}]
    return found, by_states(states, 0.01, lambda s: {"a": (s[0], s[1], 0)})


SCENES = {
    "turntable": turntable, "lift": lift, "rolling stop": rolling_stop, "pushed about": pushed_about, "three balls": three_balls,
    "cylinder down": cylinder_down, "conical": conical, "elastic pendulum": elastic_pendulum, "steady top": steady_top,
    "slope bounce": slope_bounce, "overdamped": overdamped, "across a slope": across_slope, "end stops": end_stops,
    "coasting wheel": coasting_wheel, "wall and floor": wall_and_floor, "rocket": rocket,
}

if __name__ == "__main__":
    main(SCENES)
