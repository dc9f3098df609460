#!/usr/bin/env python3
"""Makes the collection of friction problems that docs/solvers.md is about: 60 files, 2 to some 30,000 contacts.

    bench/complementarity/collection.py DIR [--program build/release/bin/tippe] [--small | --large]

Runs scenes to the times listed below and keeps one problem of the step that begins there, in FCLIB's HDF5 layout with the
bodies beside it (tippe run --dump). Steps are counted, not timed: the files are the same wherever they are made.
--small leaves out the scenes of thousands of bodies, --large makes those alone.
"""
import argparse
import json
import math
import os
import random
import shutil
import subprocess
import sys
import tempfile

ROOT = os.path.normpath(os.path.join(os.path.dirname(os.path.abspath(__file__)), "../.."))

# Scenes made here -------------------------------------------------------------------------------------------------


def box(name, position, size, density=600, **more):
    return dict(name=name, density=density, material="m", shapes=[{"type": "box", "size": size}], position=position, **more)


def hull(name, points, density, **more):
    return dict(name=name, density=density, material="m", shapes=[{"type": "hull", "points": points}], **more)


def fixed_box(name, position, size):
    return {"name": name, "kind": "fixed", "material": "m", "position": position, "shapes": [{"type": "box", "size": size}]}


def scene(bodies, friction, forces=()):
    floor = {"name": "floor", "kind": "fixed", "material": "m", "shapes": [{"type": "plane", "normal": [0, 0, 1]}]}
    return {"tippe": 1, "gravity": [0, 0, -9.81], "materials": {"m": {"friction": friction}}, "bodies": [floor] + bodies,
            "forces": list(forces), "simulation": {"stepper": "anitescu", "step": 0.01, "until": 1}}


def books():
    """Twelve books between two walls; one of them is pulled."""
    widths = [0.03, 0.025, 0.04, 0.02, 0.035, 0.03, 0.03, 0.025, 0.045, 0.02, 0.03, 0.05]
    bodies, x = [], 0.0
    for i, width in enumerate(widths):
        height = 0.2 + 0.02 * (i * 7 % 4)
        bodies.append(box(f"book{i}", [x + width / 2, 0, height / 2], [width, 0.15 + 0.01 * (i % 3), height], 500))
        x += width
    walls = [fixed_box("left", [-0.01, 0, 0.15], [0.02, 0.3, 0.3]), fixed_box("right", [x + 0.0105, 0, 0.15], [0.02, 0.3, 0.3])]
    return scene(walls + bodies, 0.4, [{"body": "book5", "force": [0, -30, 0]}])


def jenga():
    """Fifteen layers with gaps; a block is pushed out."""
    bodies = []
    for k in range(15):
        for i in range(3):
            if (k, i) not in ((4, 1), (7, 0), (9, 2)):
                side = (i - 1) * 0.0255
                place = [side, 0, 0.0075 + 0.015 * k] if k % 2 else [0, side, 0.0075 + 0.015 * k]
                bodies.append(box(f"j{k}-{i}", place, [0.025, 0.075, 0.015] if k % 2 else [0.075, 0.025, 0.015], 700))
    return scene(bodies, 0.4, [{"body": "j6-1", "force": [3, 0, 0]}])


def wedge():
    """A wall of bricks, and a wedge that is driven into it."""
    bodies = [box(f"b{k}-{i}", [(i + 0.5 * (k % 2)) * 0.2 - 0.4, 0, 0.05 + 0.1 * k], [0.2, 0.1, 0.1], 2000)
              for k in range(6) for i in range(5 - k % 2)]
    points = [[x, y, z] for z, w in ((0.1, 0.06), (-0.15, 0.002)) for x in (-w, w) for y in (-0.05, 0.05)]
    bodies.append(hull("wedge", points, 7800, position=[0.1, 0, 0.85], velocity=[0, 0, -6]))
    bodies.append(box("hammer", [0.1, 0, 1.4], [0.1, 0.1, 0.1], 7800, velocity=[0, 0, -8]))
    return scene(bodies, 0.3)


def tower():
    """Planks in ten layers, struck by a ball."""
    bodies = []
    for k in range(10):
        for i in (-1, 1):
            place = [0.045 * i, 0, 0.004 + 0.008 * k] if k % 2 else [0, 0.045 * i, 0.004 + 0.008 * k]
            bodies.append(box(f"p{k}-{i + 1}", place, [0.024, 0.117, 0.008] if k % 2 else [0.117, 0.024, 0.008]))
    bodies.append({"name": "ball", "density": 7800, "material": "m", "position": [-0.3, 0, 0.05], "velocity": [3, 0, 0.3],
                   "shapes": [{"type": "sphere", "radius": 0.02}]})
    return scene(bodies, 0.4)


def arch():
    """Thirteen voussoirs that stand by friction."""
    bodies, count = [], 13
    for i in range(count):
        angles = (math.pi * i / count, math.pi * (i + 1) / count)
        points = [[-r * math.cos(a), y, r * math.sin(a)] for y in (-0.15, 0.15) for r in (1.0, 1.25) for a in angles]
        bodies.append(hull(f"v{i}", points, 2400))
    return scene(bodies, 0.7, [{"body": "v9", "force": [0, 0, -2500]}])


def dominoes():
    bodies = [box("d0", [0.0045, 0, 0.02505], [0.0075, 0.024, 0.048], rotation={"axis": [0, 1, 0], "degrees": 14},
                  angular_velocity=[0, 2, 0])]
    bodies += [box(f"d{i}", [0.02 * i, 0, 0.024], [0.0075, 0.024, 0.048]) for i in range(1, 30)]
    return scene(bodies, 0.3)


def tumbling():
    """Twenty boxes that fall on each other."""
    chance = random.Random(8)
    bodies = []
    for i in range(20):
        axis = [chance.gauss(0, 1) for _ in range(3)]
        bodies.append(box(f"t{i}", [chance.uniform(-0.15, 0.15), chance.uniform(-0.15, 0.15), 0.2 + 0.16 * i], [0.1, 0.12, 0.08],
                          rotation={"axis": axis, "degrees": chance.uniform(0, 180)}))
    return scene(bodies, 0.5)


MADE = {f.__name__: f for f in (books, jenga, wedge, tower, arch, dominoes, tumbling)}

# The collection ---------------------------------------------------------------------------------------------------

# Scene (a function above, or a file of scenes/), stepper, step in s, numbers of the steps.
STEPS = [
    ("mass_ratio.json", "anitescu", 1 / 60, (0, 5, 30)),
    ("card_house.json", "anitescu", 1 / 240, (0, 60)),
    ("incline_blocks.json", "bender-schmitt", 1 / 240, (20, 120)),
    ("hopper.json", "stewart-trinkle", 0.005, (100, 200)),
    ("stack10.json", "anitescu", 1 / 60, (0, 30)),
    ("stack20.json", "stewart-trinkle", 1 / 60, (0, 30)),
    ("stack40.json", "anitescu", 1 / 60, (0, 30)),
    ("disc_pyramid.json", "anitescu", 1 / 60, (0, 30)),
    ("bowling.json", "stewart-trinkle", 1 / 120, (60, 90)),
    ("coins.json", "stewart-trinkle", 1 / 120, (60, 120)),
    ("arch", "anitescu", 0.01, (0, 20, 60)),
    ("books", "anitescu", 0.01, (0, 8, 20)),
    ("dominoes", "anitescu", 1 / 240, (60, 120, 160)),
    ("tumbling", "stewart-trinkle", 0.01, (40, 66, 90, 120)),
    ("tower", "stewart-trinkle", 0.01, (0, 9, 11, 20)),
    ("wedge", "anitescu", 0.01, (0, 6, 15)),
    ("jenga", "anitescu", 0.01, (0, 8, 30)),
    ("brick_wall.json", "bender-schmitt", 1 / 240, (0, 60, 120)),
    ("bench/pyramid20.json", "bender-schmitt", 1 / 60, (0, 20)),
    ("bench/pyramid50.json", "bender-schmitt", 1 / 60, (0, 20)),
]
# On the way to these steps a residual of 1e-2 will do: what is kept is the problem, not its solution.
LARGE = [
    ("bench/funnel60.json", "bender-schmitt", 1 / 60, (60, 120, 180, 240, 300)),
    ("bench/spherepile.json", "bender-schmitt", 1 / 120, (30, 60, 90, 120)),
]


def run(program, arguments):
    done = subprocess.run([program, "run", *arguments, "--quiet"], capture_output=True, text=True, check=False)
    if done.returncode not in (0, 1):
        sys.exit(f"{' '.join(arguments)}: {done.stderr.strip()}")


def keep(program, path, name, stepper, step, places, folder, settings=()):
    """One problem of each of these steps: the one with most contacts is what the step is about, and of those the last."""
    with tempfile.TemporaryDirectory() as scratch:
        state = None
        for place in places:
            common = [path, "--stepper", stepper, "--step", repr(step), *settings]
            if place > 0:
                saved = os.path.join(scratch, f"{place}.state")
                run(program, common + ["--until", repr(place * step), "--save", saved] + (["--from", state] if state else []))
                state = saved
            dump = os.path.join(scratch, f"dump{place}")
            run(program, common + ["--until", repr((place + 1) * step), "--dump", dump] + (["--from", state] if state else []))
            found = sorted(os.listdir(dump)) if os.path.isdir(dump) else []
            if not found:
                print(f"{name}, step {place}: no problem was posed", file=sys.stderr)
                continue
            largest = max(found, key=lambda file: (os.path.getsize(os.path.join(dump, file)), file))
            shutil.copy(os.path.join(dump, largest), os.path.join(folder, f"{name}-{place:04d}.hdf5"))
            shutil.rmtree(dump)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder")
    parser.add_argument("--program", default=os.path.join(ROOT, "build/release/bin/tippe"))
    parser.add_argument("--small", action="store_true")
    parser.add_argument("--large", action="store_true", help="the scenes of thousands of bodies alone")
    arguments = parser.parse_args()
    os.makedirs(arguments.folder, exist_ok=True)
    with tempfile.TemporaryDirectory() as scratch:
        scenes = ([] if arguments.large else STEPS) + ([] if arguments.small else LARGE)
        for source, stepper, step, places in scenes:
            name = os.path.basename(source).removesuffix(".json")
            path = os.path.join(ROOT, "scenes", source)
            if source in MADE:
                path = os.path.join(scratch, name + ".json")
                with open(path, "w", encoding="utf-8") as file:
                    json.dump(MADE[source](), file)
            settings = ["--set", "certificate=1e-2"] if source in [entry[0] for entry in LARGE] else []
            keep(arguments.program, path, name, stepper, step, places, arguments.folder, settings)
    print(f"{len(os.listdir(arguments.folder))} problems in {arguments.folder}")


if __name__ == "__main__":
    main()
