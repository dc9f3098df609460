"""The laws of the board: a scene each, and a ruler that reads one number off any engine's trajectory.

A ruler takes the rows of a trajectory table (the columns of `tippe run --csv`) and returns the figure that the board
shows. Closed forms and their sources: docs/board.md. Scenes use nothing but planes, boxes, spheres, a turning box, ball
and hinge joints, so that every engine can be asked.
"""
import math

G = 9.81


class NoFigure(Exception):
    """What the law is about did not happen; its words stand on the board."""


# Scenes ------------------------------------------------------------------------------------------------------------

def plane(friction="m"):
    return {"name": "floor", "kind": "fixed", "material": friction,
            "shapes": [{"type": "plane", "normal": [0, 0, 1], "offset": 0}]}


def sphere(name, mass, radius, position, **more):
    moment = 0.4 * mass * radius ** 2
    return {"name": name, "mass": mass, "inertia": [moment] * 3, "material": "m",
            "shapes": [{"type": "sphere", "radius": radius}], "position": list(position), **more}


def box(name, mass, size, position, **more):
    x, y, z = (s * s for s in size)
    return {"name": name, "mass": mass, "inertia": [mass * (y + z) / 12, mass * (x + z) / 12, mass * (x + y) / 12],
            "material": "m", "shapes": [{"type": "box", "size": list(size)}], "position": list(position), **more}


def scene(name, about, bodies, until, friction=0.5, restitution=0.0, gravity=(0, 0, -G), joints=(), closed_form=(),
          reference=None, step=1 / 240):
    result = {"tippe": 1, "name": name, "about": about, "gravity": list(gravity),
              "materials": {"m": {"friction": friction, "restitution": restitution}}, "bodies": bodies}
    if joints:
        result["joints"] = list(joints)
    if closed_form:
        result["closed_form"] = [{"body": body, "coordinate": coordinate, "formula": formula}
                                 for body, coordinate, formula in closed_form]
    if reference:
        result["reference"] = reference
    result["simulation"] = {"stepper": "anitescu", "step": step, "until": until}
    return result


def free_fall():
    return scene("Free fall", "A thrown, spinning ball: a parabola.",
                 [sphere("ball", 1, 0.1, [0, 0, 2], velocity=[1, 0, 3], angular_velocity=[0, 0, 5])], 1.0,
                 closed_form=[("ball", "x", "t"), ("ball", "z", "2 + 3*t - 9.81*t^2/2")])


STOP_TIME, STOP_WAY = 2.3923927, 3.5885890  # on a slope of 20 degrees, mu 0.5, 3 m/s


def slope(degrees):
    angle = math.radians(degrees)
    return [round(G * math.sin(angle), 15), 0, round(-G * math.cos(angle), 15)]


def stopping():
    slowing = G * (0.5 * math.cos(math.radians(20)) - math.sin(math.radians(20)))
    time, way = 3 / slowing, 9 / (2 * slowing)
    formula = f"if(t < {time!r}, 3*t - {slowing / 2!r}*t^2, {way!r})"
    return scene("Stopping on a slope", "A block slides down a slope of 20 degrees and stops. The slope is level and "
                 "gravity is tilted.", [plane(), box("block", 1, [0.4, 0.4, 0.1], [0, 0, 0.05], velocity=[3, 0, 0])], 4.0,
                 gravity=slope(20), closed_form=[("block", "x", formula)])


def hold():
    return scene("Holding on a slope", "A box at rest on a slope of 10 degrees with friction 0.5 stays where it is.",
                 [plane(), box("box", 1, [0.4, 0.4, 0.4], [0, 0, 0.2])], 10.0, gravity=slope(10),
                 closed_form=[("box", "x", "0"), ("box", "z", "0.2")])


def platter():
    rate, turn = 2 * math.pi, 4 * math.pi / 7
    radius = 0.5 - (0.5 - 0.3 / turn)
    centre = 0.5 - radius
    return scene("Ball on a platter", "A ball rolls on a turning platter: a circle at 2/7 of the platter's rate.",
                 [{"name": "platter", "kind": "kinematic", "material": "m", "position": [0, 0, -0.1],
                   "shapes": [{"type": "box", "size": [4, 4, 0.2]}], "angular_velocity": [0, 0, rate]},
                  sphere("ball", 1, 0.05, [0.5, 0, 0.05], velocity=[0, 0.3, 0],
                         angular_velocity=[(rate * 0.5 - 0.3) / 0.05, 0, 0])], 10.0, friction=1.0,
                 closed_form=[("ball", "x", f"{centre!r} + {radius!r}*cos({turn!r}*t)"),
                              ("ball", "y", f"{radius!r}*sin({turn!r}*t)")])


def hook():
    slip = (8.0, 0.108 * -30.0 * 1.0)  # of the contact point: v + w x (-R z)
    speed = math.hypot(*slip)
    time = 2 * speed / (7 * 0.1 * G)
    forms = []
    for axis, start, part in (("x", 8.0, slip[0]), ("y", 0.0, slip[1])):
        pull = -0.1 * G * part / speed
        rolling = start + pull * time
        place = start * time + pull * time ** 2 / 2
        forms.append(("ball", axis, f"if(t < {time!r}, {start!r}*t + {pull / 2!r}*t^2, {place!r} + {rolling!r}*(t - {time!r}))"))
    return scene("Bowling hook", "A ball slides with side spin, hooks, and rolls after 2.51 s.",
                 [plane(), sphere("ball", 6.8, 0.108, [0, 0, 0.108], velocity=[8, 0, 0], angular_velocity=[-30, 0, 0])],
                 4.0, friction=0.1, closed_form=forms)


def bounce():
    fall = math.sqrt(2 / G)
    pieces, start, speed = [], fall, 0.5 * G * fall
    for _ in range(8):
        end = start + 2 * speed / G
        pieces.append((start, end, speed))
        start, speed = end, speed / 2
    formula = "0.1"
    for start, end, speed in reversed(pieces):
        formula = f"if(t < {end!r}, 0.1 + {speed!r}*(t - {start!r}) - 4.905*(t - {start!r})^2, {formula})"
    return scene("Bouncing ball", "A ball falls one metre and bounces with restitution one half.",
                 [plane(), sphere("ball", 1, 0.1, [0, 0, 1.1])], 2.0, friction=0.0, restitution=0.5,
                 closed_form=[("ball", "z", f"if(t < {fall!r}, 1.1 - 4.905*t^2, {formula})")])


def cradle():
    bodies, joints = [], []
    for i in range(5):
        angle = math.radians(30) if i == 0 else 0.0
        hang = [0.1 * i, 0, 0.5]
        place = [hang[0] - 0.5 * math.sin(angle), 0, 0.5 - 0.5 * math.cos(angle)]
        bodies.append(sphere(f"ball{i}", 1, 0.05, place))
        joints.append({"name": f"string{i}", "type": "ball", "bodies": [None, f"ball{i}"], "anchor": hang})
    return scene("Newton's cradle", "Five touching balls on strings of half a metre; the first one falls in from 30 "
                 "degrees. One in, one out.", bodies, 10.0, friction=0.0, restitution=1.0, joints=joints)


def torsion():
    result = scene("Torsional friction", "A sphere spins on the spot and is stopped in one second by the moment of its "
                   "contact patch.", [plane(), sphere("ball", 1, 1, [0, 0, 1], angular_velocity=[0, 0, 1.962])], 1.5,
                   closed_form=[("ball", "wz", "if(t < 1, 1.962*(1 - t), 0)")])
    result["materials"]["m"] = {"friction": {"static": 0.2, "dynamic": 0.2, "torsional": 0.4}}
    return result


def t_handle():
    body = {"name": "handle", "mass": 1, "inertia": [1, 2, 3], "angular_velocity": [0.01, 5, 0.01], "material": "m",
            "shapes": [{"type": "box", "size": [1.6, 0.8, 0.2]}]}
    return scene("T-handle", "Free rotation about the middle axis: flips at 2.741068 + 5.025929 n.", [body], 60.0,
                 gravity=(0, 0, 0))


def double_pendulum():
    def rod(name, x):
        return {"name": name, "mass": 1, "inertia": [0.0002, 1 / 12, 1 / 12], "position": [x, 0, 0], "material": "m",
                "shapes": [{"type": "box", "size": [0.9, 0.04, 0.04]}]}
    joints = [{"name": "pivot", "type": "revolute", "bodies": [None, "upper"], "anchor": [0, 0, 0], "axis": [0, 0, 1]},
              {"name": "elbow", "type": "revolute", "bodies": ["upper", "lower"], "anchor": [1, 0, 0],
               "axis": [0, 0, 1]}]
    return scene("Double pendulum", "Two rods released level; the reference is an ODE of high order.",
                 [rod("upper", 0.5), rod("lower", 1.5)], 2.0, gravity=(0, -G, 0), joints=joints,
                 reference="double_pendulum.csv")


def stack(count):
    bodies = [plane()] + [box(f"cube{i}", 1000, [1, 1, 1], [0, 0, 0.5 + i]) for i in range(count)]
    return scene(f"Stack of {count}", "Cubes on each other; the top may not sink.", bodies, 10.0,
                 closed_form=[(f"cube{count - 1}", "z", repr(count - 0.5))], step=1 / 60)


def mass_ratio(ratio):
    return scene(f"Mass ratio {ratio}", "A heavy cube on a light one; no overlap.",
                 [plane(), box("light", 1, [1, 1, 1], [0, 0, 0.5]), box("heavy", ratio, [1, 1, 1], [0, 0, 1.5])], 10.0,
                 closed_form=[("light", "z", "0.5"), ("heavy", "z", "1.5")], step=1 / 60)


# Rulers ------------------------------------------------------------------------------------------------------------

def at(rows, time):
    """The row at a time, between two rows by a straight line."""
    for before, after in zip(rows, rows[1:]):
        if after["time"] >= time - 1e-9:
            part = min(max((time - before["time"]) / (after["time"] - before["time"]), 0.0), 1.0)
            return {key: before[key] + part * (after[key] - before[key]) for key in before}
    return rows[-1]


def fall_error(rows):
    row = at(rows, 1.0)
    return math.hypot(row["ball.x"] - 1.0, row["ball.z"] - (5.0 - G / 2))


def stopping_error(rows):
    return rows[-1]["block.x"] / STOP_WAY - 1.0


def creep(rows):
    first, last = at(rows, 1.0), rows[-1]
    return abs(last["box.x"] - first["box.x"]) / (last["time"] - first["time"])


def speed_growth(rows):
    speeds = [math.hypot(row["ball.vx"], row["ball.vy"]) for row in rows]
    return speeds[-1] / 0.3 - 1.0


def lateral_place(rows):
    time, place, speed = 2.513819, 1.163539, 0.925714
    return at(rows, 4.0)["ball.y"] / (place + speed * (4.0 - time)) - 1.0


def apex(rows, low, high):
    """The highest point between two times, by a parabola through the highest row and its neighbours."""
    heights = [(row["ball.z"], i) for i, row in enumerate(rows) if low < row["time"] < high]
    _, i = max(heights)
    a, b, c = (rows[i + k]["ball.z"] for k in (-1, 0, 1))
    bend = a - 2 * b + c
    return b - (a - c) ** 2 / (8 * bend) if bend < 0 else b


def apex_error(rows):
    return (apex(rows, 0.48, 0.88) - 0.1) / 0.25 - 1.0


def cradle_error(rows):
    """How far the last ball's greatest speed in its first swing is from that of the first ball before the impact."""
    first = max(abs(row["ball0.vx"]) for row in rows if row["time"] < 0.45)
    last = max(row["ball4.vx"] for row in rows if row["time"] < 0.7)
    # A ball on its rod turns with it, and has 0.4 m r^2 of inertia beside m l^2.
    speed = math.sqrt(2 * G * 0.5 * (1 - math.cos(math.radians(30))) / (1 + 0.4 * (0.05 / 0.5) ** 2))
    return last / speed - 1.0 if first > 0 else math.nan


def spin_error(rows):
    return max(abs(row["ball.wz"] - max(1.962 * (1 - row["time"]), 0.0)) for row in rows) / 1.962


def handle_energy(rows):
    """Relative change of the energy of rotation after 60 s."""
    def energy(row):
        w, x, y, z = (row["handle." + k] for k in ("qw", "qx", "qy", "qz"))
        spin = [row["handle." + k] for k in ("wx", "wy", "wz")]
        axes = [[1 - 2 * (y * y + z * z), 2 * (x * y + w * z), 2 * (x * z - w * y)],
                [2 * (x * y - w * z), 1 - 2 * (x * x + z * z), 2 * (y * z + w * x)],
                [2 * (x * z + w * y), 2 * (y * z - w * x), 1 - 2 * (x * x + y * y)]]
        return sum(0.5 * (k + 1) * sum(a * b for a, b in zip(axis, spin)) ** 2 for k, axis in enumerate(axes))
    return energy(rows[-1]) / energy(rows[0]) - 1.0


def tip_error(rows):
    """Distance of the lower rod's centre from the reference after 2 s; its tip is at (.3135248, -1.9147466)."""
    row = at(rows, 2.0)
    tip = (2 * row["lower.x"] - elbow(row)[0], 2 * row["lower.y"] - elbow(row)[1])
    return math.hypot(tip[0] - 0.3135248, tip[1] + 1.9147466)


def elbow(row):
    return 2 * row["upper.x"], 2 * row["upper.y"]


def sink(name, height):
    return lambda rows: max(height - row[name + ".z"] for row in rows)


def overlap(rows):
    return max(max(0.5 - row["light.z"], 1.0 + row["light.z"] - row["heavy.z"]) for row in rows)


def smoothed_tilt_times(rows):
    """Times at which the tilt, smoothed by two running means of 0.1 s, passes 90 and 160 degrees."""
    times = [row["time"] for row in rows]
    tilt = [math.degrees(math.acos(max(-1.0, min(1.0, 1 - 2 * (row["top.qx"] ** 2 + row["top.qy"] ** 2))))) for row in rows]
    width = max(1, round(0.1 / (times[1] - times[0])))
    for _ in range(2):
        total, smooth = [0.0], []
        for value in tilt:
            total.append(total[-1] + value)
        for i in range(len(tilt)):
            low, high = max(0, i - width // 2), min(len(tilt), i + width // 2 + 1)
            smooth.append((total[high] - total[low]) / (high - low))
        tilt = smooth
    return [next((t for t, angle in zip(times, tilt) if angle > limit), math.nan) for limit in (90.0, 160.0)]


def inversion_error(rows):
    time = smoothed_tilt_times(rows)[0]
    if math.isnan(time):
        raise NoFigure("does not turn over in 4 s")
    return time / 1.8162 - 1.0


# The table: name, scene (None: one that is there already), ruler, figure, mark it should stay below, steps.
COARSE = (1 / 60, 1 / 240, 1 / 1000)
LAWS = [
    ("free_fall", free_fall, fall_error, "error of the position after 1 s, m", COARSE),
    ("stopping", stopping, stopping_error, "relative error of the stopping distance", COARSE),
    ("hold", hold, creep, "creep, m/s", COARSE),
    ("platter", platter, speed_growth, "relative error of the speed after 10 s", COARSE),
    ("hook", hook, lateral_place, "relative error of the lateral position at 4 s", COARSE),
    ("bounce", bounce, apex_error, "relative error of the first apex", COARSE),
    ("cradle", cradle, cradle_error, "relative error of the speed of the last ball", COARSE),
    ("torsion", torsion, spin_error, "largest relative error of the spin", COARSE),
    ("t_handle", t_handle, handle_energy, "relative change of energy after 60 s", COARSE),
    ("double_pendulum", double_pendulum, tip_error, "error of the tip at 2 s, m", COARSE),
    ("stack10", lambda: stack(10), sink("cube9", 9.5), "sinking of the top, m", COARSE[:1]),
    ("stack20", lambda: stack(20), sink("cube19", 19.5), "sinking of the top, m", COARSE[:1]),
    ("stack40", lambda: stack(40), sink("cube39", 39.5), "sinking of the top, m", COARSE[:1]),
    ("ratio10", lambda: mass_ratio(10), overlap, "overlap, m", COARSE[:1]),
    ("ratio100", lambda: mass_ratio(100), overlap, "overlap, m", COARSE[:1]),
    ("ratio1000", lambda: mass_ratio(1000), overlap, "overlap, m", COARSE[:1]),
    ("ratio10000", lambda: mass_ratio(10000), overlap, "overlap, m", COARSE[:1]),
    ("tippe_top", None, inversion_error, "relative error of the time to 90 degrees", (1e-3, 5e-4, 1e-4)),
]
