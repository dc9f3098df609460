#!/usr/bin/env python3
"""Error asked against error got, on random variants of motions that have no closed form: held against other steppers.

usage: python3 bench/auto/variants.py PROGRAM [KIND ...] [--count 2] [--seed 1] [--accuracies 1e-2,1e-3,1e-4] [--write FOLDER]

Every kind is a scene with numbers drawn by a seed: masses, places, speeds, coefficients, springs. The truth is
that of regret.py: other steppers at small steps, as far as they agree. For every scene and accuracy: the largest error of a position in parts of the accuracy times the length of the
scene, the estimate of `auto` in the same parts, and whether a miss was said (by the estimate, or by a note).
With --write the scenes are written there, for regret.py.
"""
import argparse
import json
import math
import random
import tempfile
from pathlib import Path

import regret
from further import hinge, turned
from references import FLOOR, ball, block, scene

STEP = 0.01


def belt(draw):
    """A block on a belt, held by a spring with a damper: it sticks, slips, and sticks again. With two coefficients of friction other
    steppers let it go before it slips as a whole (further.py has the known motion)."""
    speed = draw.uniform(0.1, 0.6)
    found = scene([dict(FLOOR, kind="kinematic", velocity=[speed, 0, 0]),
                   block("a", (0, 0, 0.1), (draw.uniform(-0.5, 1.0), 0, 0), mass=draw.uniform(0.5, 3.0))], 2.0)
    found["joints"] = [{"name": "s", "type": "spring", "bodies": [None, "a"], "anchors": [[-1, 0, 0.1], [0, 0, 0.1]],
                        "spring": {"stiffness": draw.uniform(30, 200), "rest": 1.0, "damping": draw.choice([0.0, 1.0])}}]
    found["materials"]["m"]["friction"] = draw.uniform(0.3, 0.8)
    return found


def spring_friction(draw):
    """A block between two springs slides about on the floor until it sticks."""
    k = draw.uniform(50, 200)
    start = (draw.uniform(0.2, 0.5), draw.uniform(-0.2, 0.2), 0.1)
    found = scene([FLOOR, block("a", start, (0, draw.uniform(-1, 1), 0))], 1.5, friction=draw.uniform(0.05, 0.3))
    found["joints"] = [{"name": f"s{i}", "type": "spring", "bodies": [None, "a"], "anchors": [[x, 0, 0.1], list(start)],
                        "spring": {"stiffness": k, "rest": 0.8}} for i, x in ((0, -1.0), (1, 1.0))]
    return found


def pendulums(draw):
    """Two balls on rods of different length strike each other."""
    bodies, joints = [], []
    for i, (x, side) in enumerate(((0.0, -1), (0.2 + draw.uniform(0.0, 0.05), 1))):
        size, angle = draw.uniform(0.97, 1.03), side * draw.uniform(0.1, 0.9)
        bodies.append(ball(f"p{i}", (x + size * math.sin(angle), 0, -size * math.cos(angle)), mass=draw.uniform(0.5, 2.0)))
        joints.append(hinge(f"j{i}", [None, f"p{i}"], (x, 0, 0), damping=draw.choice([0.0, 0.05])))
    return scene(bodies, 2.0, joints=joints, restitution=draw.uniform(0.3, 1.0))


def spinning_balls(draw):
    """Balls that spin on the spot, and one that spins and moves."""
    bodies = [FLOOR] + [ball(f"b{i}", (i, 0, 0.1), (draw.uniform(-1, 1) if i else 0.0, 0, 0),
                             (draw.uniform(-20, 20) if i else 0.0, 0, draw.uniform(5, 40))) for i in range(2)]
    found = scene(bodies, 1.5)
    found["materials"]["m"]["friction"] = {"static": draw.uniform(0.2, 0.5), "torsional": draw.uniform(0.002, 0.02)}
    return found


def ellipsoid(draw):
    """An ellipsoid spins and rolls on the floor."""
    radii = [draw.uniform(0.15, 0.3) for _ in range(3)]
    body = {"name": "a", "mass": 1.0, "material": "m", "position": [0, 0, radii[2] + 1e-9],
            "velocity": [draw.uniform(-1, 1), draw.uniform(-1, 1), 0], "angular_velocity": [0, 0, draw.uniform(-6, 6)],
            "shapes": [{"type": "ellipsoid", "radii": radii}]}
    return scene([FLOOR, body], 1.0, friction=draw.uniform(0.1, 0.8))


def blocks_stop(draw):
    """Blocks slide and turn until they stop, one on a slope."""
    angle = draw.uniform(0.1, 0.3)
    normal = (math.sin(angle), 0, math.cos(angle))
    slope = dict(FLOOR, shapes=[{"type": "plane", "normal": list(normal), "offset": 0}])
    bodies = [slope]
    for i in range(2):
        at, speed = [0.1 * x for x in normal], draw.uniform(0.5, 2.0)
        at[1] += i
        body = block(f"b{i}", at, [-speed * math.cos(angle), draw.uniform(-1, 1), speed * math.sin(angle)])
        bodies.append(dict(body, rotation={"axis": [0, 1, 0], "degrees": math.degrees(angle)}))
    return scene(bodies, 1.0, friction=draw.uniform(0.35, 0.8))


def falling_rod(draw):
    """A rod falls, turning, and strikes the floor with one end, then with the other."""
    body = {"name": "rod", "mass": 1.0, "material": "m", "position": [0, 0, draw.uniform(0.4, 1.0)],
            "rotation": turned(draw.uniform(10, 60), (0, 1, 0)), "velocity": [draw.uniform(-1, 1), 0, 0],
            "angular_velocity": [0, draw.uniform(-4, 4), 0],
            "shapes": [{"type": "capsule", "radius": 0.05, "length": 0.5, "axis": [1, 0, 0]}]}
    return scene([FLOOR, body], 0.8, friction=draw.uniform(0.1, 0.8))


def four_bar(draw):
    """A linkage of three links on two hinges of the world, with a limit that its crank meets."""
    crank, coupler, base = draw.uniform(0.3, 0.5), draw.uniform(0.8, 1.0), draw.uniform(0.8, 1.0)
    angle, rocker = draw.uniform(0.6, 1.2), draw.uniform(0.7, 0.9)
    a = (crank * math.cos(angle), 0, crank * math.sin(angle))
    far = math.hypot(base - a[0], a[2])
    turn = math.atan2(-a[2], base - a[0]) + math.acos((coupler ** 2 + far ** 2 - rocker ** 2) / (2 * coupler * far))
    b = (a[0] + coupler * math.cos(turn), 0, a[2] + coupler * math.sin(turn))
    ends = {"crank": ((0, 0, 0), a), "coupler": (a, b), "rocker": (b, (base, 0, 0))}
    bodies = []
    for name, (p, q) in ends.items():
        length = math.dist(p, q)
        bodies.append({"name": name, "mass": length, "inertia": [1e-4 * length, length ** 3 / 12, length ** 3 / 12],
                       "position": [0.5 * (x + y) for x, y in zip(p, q)],
                       "rotation": turned(math.degrees(math.atan2(q[2] - p[2], q[0] - p[0])), (0, -1, 0))})
    joints = [hinge("j0", [None, "crank"], (0, 0, 0), limits=[-draw.uniform(0.5, 1.0), 3.0]), hinge("j1", ["crank", "coupler"], a),
              hinge("j2", ["coupler", "rocker"], b), hinge("j3", ["rocker", None], (base, 0, 0), damping=0.05)]
    return scene(bodies, 1.0, joints=joints)


def cradle(draw):
    """Four balls of different mass on arms."""
    count, pitch = 4, 0.2 + draw.uniform(1e-4, 5e-3)
    bodies, joints = [], []
    for i in range(count):
        angle = -draw.uniform(0.2, 0.8) if i == 0 else 0.0
        bodies.append(ball(f"b{i}", (i * pitch + math.sin(angle), 0, -math.cos(angle)), mass=draw.uniform(0.5, 1.5)))
        joints.append(hinge(f"j{i}", [None, f"b{i}"], (i * pitch, 0, 0)))
    return scene(bodies, 1.2, joints=joints, restitution=draw.uniform(0.5, 1.0))


def billiards(draw):
    """A ball with spin strikes one of two, obliquely, on a cloth."""
    spin = [draw.uniform(-15, 15), draw.uniform(-15, 15), draw.uniform(-10, 10)]
    bodies = [FLOOR, ball("cue", (-0.6, 0, 0.1), (draw.uniform(1.0, 2.5), 0, 0), spin),
              ball("one", (0, draw.uniform(-0.12, 0.12), 0.1)), ball("two", (0.5, draw.uniform(-0.4, 0.4), 0.1))]
    found = scene(bodies, 1.2)
    found["materials"]["ball"] = {"friction": 0.0}
    found["pairs"] = [{"between": ["ball", "ball"], "restitution": draw.uniform(0.8, 1.0), "friction": 0.0},
                      {"between": ["ball", "m"], "restitution": 0.0, "friction": draw.uniform(0.1, 0.3)}]
    for body in found["bodies"][1:]:
        body["material"] = "ball"
    return found


def wedge(draw):
    """A block slides down a wedge that is free to go on ice."""
    angle, size = draw.uniform(0.3, 0.6), 2.0
    c, s = math.cos(angle), math.sin(angle)
    slab = {"name": "wedge", "mass": draw.uniform(1, 4), "inertia": [1, 1, 1], "material": "ice", "position": [0, 0, 0.7],
            "locked": ["rx", "ry", "rz"],
            "shapes": [{"type": "box", "size": [size, 0.6, 0.2], "rotation": {"axis": [0, 1, 0], "degrees": math.degrees(angle)},
                        "material": "m"}, {"type": "box", "size": [0.4, 0.6, 0.1], "position": [0, 0, -0.65]}]}
    body = block("a", (0.2 * s - 0.5 * c, 0, 0.7 + 0.2 * c + 0.5 * s), mass=draw.uniform(0.5, 2))
    body["rotation"] = {"axis": [0, 1, 0], "degrees": math.degrees(angle)}
    found = scene([dict(FLOOR, material="ice"), slab, body], 0.5)
    found["materials"]["ice"] = {"friction": 0.0}
    found["materials"]["m"]["friction"] = draw.uniform(0.0, 0.25)
    found["pairs"] = [{"between": ["m", "m"], "friction": draw.uniform(0.0, 0.25)}]
    return found


def top(draw):
    """A top on a small round foot, with friction."""
    lean, spin = draw.uniform(0.1, 0.5), draw.uniform(80, 200)
    axis = [math.sin(lean), 0, math.cos(lean)]
    body = {"name": "a", "mass": 0.5, "inertia": [2e-3, 2e-3, 1e-3], "material": "m",
            "position": [0, 0, 0.02 + 0.15 * math.cos(lean)], "rotation": turned(math.degrees(lean), (0, 1, 0)),
            "angular_velocity": [spin * x for x in axis],
            "shapes": [{"type": "sphere", "radius": 0.02, "position": [0, 0, -0.15]}]}
    return scene([FLOOR, body], 1.0, 0.005, friction=draw.uniform(0.1, 0.6))


def box_of_balls(draw):
    """Three balls bounce in a corner of two walls."""
    walls = [{"name": f"w{i}", "kind": "fixed", "material": "m", "shapes": [{"type": "plane", "normal": n, "offset": -0.8}]}
             for i, n in enumerate(([1, 0, 0], [-1, 0, 0]))]
    balls = [ball(f"b{i}", (0.5 * (i - 1), 0, 0.4 + 0.3 * i), [draw.uniform(-2, 2), draw.uniform(-0.1, 0.1), 0]) for i in range(3)]
    return scene([FLOOR, *walls, *balls], 0.8, friction=draw.uniform(0.0, 0.2), restitution=draw.uniform(0.6, 0.95))


def slider_crank(draw):
    """A motor with a limited effort turns a crank; a rod pushes a slider with dry friction."""
    crank, rod, angle = draw.uniform(0.2, 0.35), draw.uniform(0.7, 1.0), draw.uniform(0.3, 1.2)
    a = (crank * math.cos(angle), 0, crank * math.sin(angle))
    x = a[0] + math.sqrt(rod * rod - a[2] ** 2)
    slope = math.atan2(-a[2], x - a[0])
    bodies = [{"name": "crank", "mass": 1.0, "inertia": [1e-3, 0.02, 0.02], "position": [0.5 * y for y in a],
               "rotation": turned(math.degrees(angle), (0, -1, 0))},
              {"name": "rod", "mass": 0.8, "inertia": [1e-3, 0.05, 0.05], "position": [0.5 * (a[0] + x), 0, 0.5 * a[2]],
               "rotation": turned(math.degrees(slope), (0, -1, 0))}, block("slider", (x, 0, 0), mass=1.5)]
    joints = [hinge("j", [None, "crank"], (0, 0, 0), motor={"speed": draw.uniform(3, 8), "effort": draw.uniform(3, 10)}),
              hinge("k", ["crank", "rod"], a), hinge("l", ["rod", "slider"], (x, 0, 0)),
              {"name": "m", "type": "prismatic", "bodies": [None, "slider"], "anchor": [x, 0, 0], "axis": [1, 0, 0],
               "friction": draw.uniform(0.0, 4.0)}]
    return scene(bodies, 1.5, joints=joints)


def cart_bumper(draw):
    """A pendulum hangs on a cart that strikes a wall."""
    angle, length = draw.uniform(-0.6, 0.6), draw.uniform(0.4, 0.7)
    wall = {"name": "wall", "kind": "fixed", "material": "m", "shapes": [{"type": "plane", "normal": [-1, 0, 0], "offset": -0.9}]}
    joints = [{"name": "s", "type": "prismatic", "bodies": [None, "cart"], "anchor": [0, 0, 0], "axis": [1, 0, 0]},
              hinge("j", ["cart", "a"], (0, 0, 0), damping=draw.choice([0.0, 0.02]))]
    speed = draw.uniform(0.5, 1.5)
    return scene([wall, block("cart", (0, 0, 0), (speed, 0, 0), mass=2.0),
                  ball("a", (length * math.sin(angle), 0, -length * math.cos(angle)), (speed, 0, 0), mass=0.7)], 1.5, joints=joints,
                 restitution=draw.uniform(0.2, 0.9))


def chain(draw):
    """Links with dampers and springs in their hinges swing, the first one driven by a servo."""
    count, length = 4, 0.3
    bodies = [{"name": f"b{i}", "mass": 0.5, "inertia": [1e-4, 0.004, 0.004], "position": [(i + 0.5) * length, 0, 0]}
              for i in range(count)]
    joints = [hinge(f"j{i}", [f"b{i - 1}" if i else None, f"b{i}"], (i * length, 0, 0), damping=draw.uniform(0.0, 0.05),
                    spring={"stiffness": draw.uniform(0.0, 4.0), "rest": 0.0}) for i in range(count)]
    joints[0].pop("spring")
    joints[0]["servo"] = {"target": draw.uniform(-0.5, 0.5), "stiffness": 60.0, "damping": 4.0, "effort": draw.uniform(8, 40)}
    return scene(bodies, 1.2, joints=joints)


def loaded_ball(draw):
    """A ball whose centre of mass is off its middle rolls to and fro."""
    out, angle = draw.uniform(0.02, 0.06), draw.uniform(0.5, 2.5)
    at = (-out * math.sin(angle), 0, -out * math.cos(angle))
    body = {"name": "a", "mass": 1.0, "inertia": [0.004, 0.0035, 0.004], "material": "m",
            "position": [at[0], 0, 0.1 + at[2]], "velocity": [0, draw.uniform(-0.3, 0.3), 0],
            "shapes": [{"type": "sphere", "radius": 0.1, "position": [-at[0], 0, -at[2]]}]}
    return scene([FLOOR, body], 1.5, friction=draw.uniform(0.1, 0.9))


def spring_ball(draw):
    """A ball hangs on a spring and strikes the floor."""
    body = ball("a", (draw.uniform(-0.3, 0.3), 0, draw.uniform(0.4, 0.7)), (draw.uniform(-1, 1), 0, 0))
    found = scene([FLOOR, body], 1.5, friction=draw.uniform(0.0, 0.3), restitution=draw.uniform(0.3, 0.9))
    found["joints"] = [{"name": "s", "type": "spring", "bodies": [None, "a"], "anchors": [[0, 0, 1.5], body["position"]],
                        "spring": {"stiffness": draw.uniform(10, 60), "rest": 1.0, "damping": 0.2}}]
    return found


KINDS = {function.__name__: function for function in (
    belt, spring_friction, pendulums, spinning_balls, ellipsoid, blocks_stop, falling_rod, four_bar, cradle, billiards, wedge, top,
    box_of_balls, slider_crank, cart_bumper, chain, loaded_ball, spring_ball)}


def judge(program, path, accuracies):
    """For every accuracy: the error, the estimate, what was said, or None if nobody knows."""
    length, step = regret.length_of(program, path)
    truth = regret.Truth(program, path, step, regret.Shelf(None))
    for accuracy in accuracies:
        if 3.0 * truth.doubt > accuracy * length:
            yield accuracy, None, truth.doubt / length, ""
            continue
        option = ["--set", f"accuracy={accuracy:g}"]
        summary = regret.summary_of(program, path, *option)
        error = truth.error("auto", step, *option)
        yield accuracy, error / (accuracy * length), summary["error_estimate"] / (accuracy * length), "; ".join(summary["notes"])


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("program")
    parser.add_argument("kinds", nargs="*")
    parser.add_argument("--count", type=int, default=2, help="variants of every kind")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--accuracies", default="1e-2,1e-3,1e-4")
    parser.add_argument("--write", metavar="FOLDER", help="write the scenes there too")
    parser.add_argument("--only-write", action="store_true", help="and run none")
    arguments = parser.parse_args()
    accuracies = [float(text) for text in arguments.accuracies.split(",")]
    met, total, unsaid, unknown = 0, 0, 0, 0
    for kind in arguments.kinds or KINDS:
        for number in range(arguments.seed, arguments.seed + arguments.count):
            with tempfile.TemporaryDirectory() as folder:
                path = Path(arguments.write or folder) / f"{kind}{number}.json"
                path.write_text(json.dumps(KINDS[kind](random.Random(f"{kind} {number}")), indent=1))
                for accuracy, error, estimate, notes in () if arguments.only_write else judge(arguments.program, path, accuracies):
                    label = f"{kind + str(number):20} {accuracy:6g}"
                    if error is None:
                        unknown += 1
                        print(f"{label} left out: the truth is known to {estimate:.1e}", flush=True)
                        continue
                    said = estimate > 1.0 or notes
                    met, total, unsaid = met + (error <= 1.0), total + 1, unsaid + (error > 1.0 and not said)
                    print(f"{label} error {error:9.2g} estimate {estimate:9.2g}"
                          f"{'' if error <= 1.0 else '  MISSED' + (', said' if said else ', not said')}  {notes[:90]}", flush=True)
    print(f"met: {met} of {total}; missed and not said: {unsaid}; not known: {unknown}")


if __name__ == "__main__":
    main()
