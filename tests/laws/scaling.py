#!/usr/bin/env python3
"""The same scene in other units behaves the same, with every stepper.

Every number of a scene is multiplied by powers of the units of length, mass and time. Units of 1024 are exact in binary:
tolerances follow the scene by powers of 1024 too (src/dynamics/scales.h), so that all digits have to be the same but for
steppers that take powers or compare turns with ways. Units of 1000 round every number: the motion has to agree to 1e-6.
"""
import csv
import json
import pathlib
import subprocess
import sys
import tempfile

LENGTH, SPEED = (1, 0, 0), (1, 0, -1)
# Powers of length, mass and time.
POWERS = {
    **dict.fromkeys(["position", "size", "radius", "length", "radii", "points", "offset", "anchor", "center_of_mass",
                     "torsional", "collision_tolerance"], LENGTH),
    "mass": (0, 1, 0), "inertia": (2, 1, 0), "density": (-3, 1, 0), "velocity": SPEED, "angular_velocity": (0, 0, -1),
    "gravity": (1, 0, -2), "force": (1, 1, -2), "torque": (2, 1, -2), "from": (0, 0, 1), "to": (0, 0, 1),
    "step": (0, 0, 1), "until": (0, 0, 1),
}
COLUMNS = {**dict.fromkeys("xyz", LENGTH), **dict.fromkeys(["vx", "vy", "vz"], SPEED),
           **dict.fromkeys(["wx", "wy", "wz"], (0, 0, -1)), "time": (0, 0, 1)}

THROW = {
    "tippe": 1, "name": "Throw", "gravity": [0, 0, -9.81],
    "materials": {"wood": {"friction": 0.4, "restitution": 0.3}},
    "bodies": [
        {"name": "floor", "kind": "fixed", "material": "wood", "shapes": [{"type": "plane", "normal": [0, 0, 1], "offset": 0}]},
        {"name": "box", "density": 500, "material": "wood", "shapes": [{"type": "box", "size": [0.2, 0.1, 0.15]}],
         "position": [0, 0, 0.15], "rotation": {"axis": [1, 2, 3], "degrees": 40}, "velocity": [1, 0, -1], "angular_velocity": [1, 3, 2]},
        {"name": "ball", "density": 300, "material": "wood", "shapes": [{"type": "sphere", "radius": 0.08}],
         "position": [0.3, 0, 0.081], "velocity": [-0.5, 0.1, 0]},
        {"name": "rod", "density": 300, "material": "wood", "shapes": [{"type": "capsule", "radius": 0.05, "length": 0.2, "axis": [1, 0, 0]}],
         "position": [0, 0.4, 0.2], "rotation": {"axis": [0, 1, 0], "degrees": 20}, "velocity": [0, -1, 0]}],
    "simulation": {"stepper": "anitescu", "step": 0.01, "until": 1},
}

STEPPERS = ["stewart-trinkle", "anitescu", "mirtich-canny", "bender-schmitt", "chakraborty-trinkle", "penalty", "small-steps"]
# Steppers that take powers of lengths, or compare turns with ways.
NEARLY = {"chakraborty-trinkle", "penalty"}
# It computes in single precision, and takes overlaps back at a speed that follows the scene by powers of 1024 only.
SINGLE = "small-steps"
BINARY = [(1024.0, 1.0, 1.0), (1.0 / 1024.0, 1024.0, 1.0), (1.0, 1.0, 1024.0), (1024.0, 1.0, 1.0 / 1024.0)]
DECIMAL = [(1000.0, 1.0, 1.0), (0.001, 1000.0, 1.0), (1.0, 1.0, 0.001)]


def factor(units, powers):
    return units[0] ** powers[0] * units[1] ** powers[1] * units[2] ** powers[2]


def scaled(node, units, powers=None):
    if isinstance(node, dict):
        return {k: v if k == "joints" else scaled(v, units, POWERS.get(k, powers)) for k, v in node.items()}
    if isinstance(node, list):
        return [scaled(v, units, powers) for v in node]
    isNumber = isinstance(node, (int, float)) and not isinstance(node, bool)
    return node * factor(units, powers) if powers is not None and isNumber else node


def run(program, folder, scene, units, stepper, steps):
    step = scene["simulation"]["step"] * units[2]
    (folder / "scene.json").write_text(json.dumps(scaled(scene, units)))
    command = [program, "run", folder / "scene.json", "--quiet", "--stepper", stepper, "--step", repr(step),
               "--until", repr(step * steps), "--csv", folder / "run.csv"]
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL, timeout=100)
    with open(folder / "run.csv", newline="") as file:
        names, *rows = csv.reader(file)
    powers = [COLUMNS.get(name.rsplit(".", 1)[-1], (0, 0, 0)) for name in names]
    return [[float(cell) / factor(units, p) for cell, p in zip(row, powers)] for row in rows]


def difference(one, other):
    """The largest difference, relative to what is usual in the scenes here: decimetres, metres per second, radians."""
    return max(abs(a - b) / max(1.0, abs(a)) for x, y in zip(one, other) for a, b in zip(x, y))


def main(program, scenes):
    folder = pathlib.Path(tempfile.mkdtemp(prefix="tippe_scaling_"))
    wrong = 0
    cases = [("throw", THROW, 12)]
    cases += [(name, json.loads((scenes / f"{name}.json").read_text()), 15) for name in ("disc_slip", "ellipsoid_on_ellipsoid")]
    for name, scene, steps in cases:
        for stepper in STEPPERS:
            plain = run(program, folder, scene, (1.0, 1.0, 1.0), stepper, steps)
            for units in BINARY + DECIMAL:
                error = difference(plain, run(program, folder, scene, units, stepper, steps))
                allowed = 1e-9 if stepper in NEARLY else 0.0
                if units in DECIMAL:
                    allowed = 5e-3 if stepper == SINGLE else 1e-6
                if not error <= allowed:
                    print(f"{name} with {stepper} in units {units}: off by {error:.3g}, allowed {allowed:g}")
                    wrong += 1
    for path in folder.iterdir():
        path.unlink()
    folder.rmdir()
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1], pathlib.Path(sys.argv[2])))
