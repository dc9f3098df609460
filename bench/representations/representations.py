#!/usr/bin/env python3
"""The same body as a quadric, a superellipsoid, convex hulls and triangle meshes: accuracy and cost.

usage: representations.py PROGRAM [--steppers A,B] [--no-cost] [--markdown]

Two motions with known answers, on a plane with friction .8, mass and moments exact for the true body:

rock   an ellipsoid of radii .12 .1 .06 m, tilted by .2 rad and let go: it rolls to and fro without slipping. The period
       follows from the balance of energy by quadrature. Told: error of the mean period over the run, and the part of the
       amplitude that is left at the end of it.
roll   a ball of radius .1 m that rolls at 1 m/s for a second. Told: distance that it lacks, and part of the energy lost.

Cost is instructions per step, counted by valgrind (callgrind) as the difference of a long and a short run, so that it
does not depend on what else the machine does. Points are those of an icosahedron whose faces are halved 1 to 4 times.
"""
import argparse
import csv
import json
import math
import os
import re
import subprocess
import sys
import tempfile

RADII = (0.12, 0.1, 0.06)
G = 9.81
TILT = 0.2


def icosphere(halvings):
    """Points and triangles of an icosahedron whose faces were halved so often, on the unit sphere."""
    t = (1 + math.sqrt(5)) / 2
    points = [(-1, t, 0), (1, t, 0), (-1, -t, 0), (1, -t, 0), (0, -1, t), (0, 1, t),
              (0, -1, -t), (0, 1, -t), (t, 0, -1), (t, 0, 1), (-t, 0, -1), (-t, 0, 1)]
    faces = [(0, 11, 5), (0, 5, 1), (0, 1, 7), (0, 7, 10), (0, 10, 11), (1, 5, 9), (5, 11, 4), (11, 10, 2), (10, 7, 6),
             (7, 1, 8), (3, 9, 4), (3, 4, 2), (3, 2, 6), (3, 6, 8), (3, 8, 9), (4, 9, 5), (2, 4, 11), (6, 2, 10),
             (8, 6, 7), (9, 8, 1)]

    def unit(p):
        size = math.sqrt(sum(x * x for x in p))
        return tuple(x / size for x in p)

    points = [unit(p) for p in points]
    for _ in range(halvings):
        middles, halved = {}, []

        def middle(a, b):
            key = (min(a, b), max(a, b))
            if key not in middles:
                middles[key] = len(points)
                points.append(unit(tuple(0.5 * (x + y) for x, y in zip(points[a], points[b]))))
            return middles[key]

        for a, b, c in faces:
            ab, bc, ca = middle(a, b), middle(b, c), middle(c, a)
            halved += [(a, ab, ca), (b, bc, ab), (c, ca, bc), (ab, bc, ca)]
        faces = halved
    # No point of the polyhedron is singled out by an axis of the body.
    angle = 0.37
    c, s = math.cos(angle), math.sin(angle)
    return [(c * x - s * y, c * y * c + s * x * c - s * z, s * (s * x + c * y) + c * z) for x, y, z in points], faces


def representations(radii, folder, name):
    """Pairs of a name and a shape of the scene."""
    kinds = [("quadric", {"type": "ellipsoid", "radii": list(radii)}),
             ("superellipsoid", {"type": "superellipsoid", "radii": list(radii), "exponents": [1, 1]})]
    if len(set(radii)) == 1:
        kinds.insert(0, ("sphere", {"type": "sphere", "radius": radii[0]}))
    for halvings in (1, 2, 3, 4):
        points, faces = icosphere(halvings)
        points = [tuple(x * r for x, r in zip(p, radii)) for p in points]
        kinds.append((f"hull, {len(points)} points", {"type": "hull", "points": [list(p) for p in points]}))
        if halvings > 3:
            continue
        path = os.path.join(folder, f"{name}{len(points)}.obj")
        with open(path, "w") as file:
            file.writelines("v %.17g %.17g %.17g\n" % p for p in points)
            file.writelines("f %d %d %d\n" % tuple(i + 1 for i in f) for f in faces)
        kinds.append((f"mesh, {len(faces)} triangles", {"type": "mesh", "file": path}))
    return kinds


def scene(shape, radii, start, step, until):
    a, b, c = radii
    body = {"name": "body", "mass": 1.0, "material": "m", "shapes": [shape],
            "inertia": [(b * b + c * c) / 5, (a * a + c * c) / 5, (a * a + b * b) / 5], **start}
    floor = {"name": "floor", "kind": "fixed", "material": "m", "shapes": [{"type": "plane", "normal": [0, 0, 1], "offset": 0}]}
    return {"tippe": 1, "name": "representation", "gravity": [0, 0, -G], "materials": {"m": {"friction": 0.8}},
            "bodies": [floor, body], "simulation": {"step": step, "until": until}}


def height(t):
    """Of the centre of the true ellipsoid over the plane, tilted by t, and its slope."""
    a, _, c = RADII
    h = math.hypot(a * math.sin(t), c * math.cos(t))
    return h, (a * a - c * c) * math.sin(t) * math.cos(t) / h


def exact_period():
    """4 times the integral of dt / t' from 0 to the tilt; t = tilt sin(s) takes the singularity away."""
    a, _, c = RADII
    moment, top, n = (a * a + c * c) / 5, height(TILT)[0], 20000
    total = 0.0
    for k in range(n):
        s = (k + 0.5) / n * math.pi / 2
        t = TILT * math.sin(s)
        h, slope = height(t)
        speed = math.sqrt(2 * G * (top - h) / (moment + h * h + slope * slope))
        total += TILT * math.cos(s) / speed * (math.pi / 2 / n)
    return 4 * total


def lowest(shape, tilt):
    """Height at which the shape, turned by the tilt about y, touches the plane."""
    points = shape.get("points")
    if shape["type"] == "mesh":
        with open(shape["file"]) as file:
            points = [tuple(map(float, line.split()[1:])) for line in file if line.startswith("v")]
    if points is None:
        radii = shape.get("radii") or [shape["radius"]] * 3
        return math.hypot(radii[0] * math.sin(tilt), radii[2] * math.cos(tilt))
    return max(math.sin(tilt) * x - math.cos(tilt) * z for x, y, z in points)


def run(program, path, stepper, until=None, prefix=()):
    table = path + ".csv"
    command = [*prefix, program, "run", path, "--stepper", stepper, "--quiet", "--csv", table]
    command += ["--until", str(until)] if until else []
    done = subprocess.run(command, capture_output=True, text=True, timeout=300)
    if done.returncode != 0:
        raise RuntimeError(done.stderr.strip())
    with open(table) as file:
        rows = list(csv.reader(file))
    return [dict(zip(rows[0], map(float, row))) for row in rows[1:]]


def rock(rows):
    """Mean period between crossings of the upright, and the last swing by the first."""
    tilts = [2 * math.asin(max(-1, min(1, r["body.qy"]))) for r in rows]
    crossings = [rows[i]["time"] + (rows[i + 1]["time"] - rows[i]["time"]) * tilts[i] / (tilts[i] - tilts[i + 1])
                 for i in range(len(tilts) - 1) if tilts[i] > 0 >= tilts[i + 1]]
    period = (crossings[-1] - crossings[0]) / (len(crossings) - 1) if len(crossings) > 1 else None
    last = max(abs(t) for t in tilts[-max(1, len(tilts) // 4):])
    return period, last / TILT


def instructions(program, path, stepper, step, first, last, folder):
    counts = []
    for steps in (first, last):
        out = os.path.join(folder, "callgrind.out")
        run(program, path, stepper, until=steps * step,
            prefix=("valgrind", "--tool=callgrind", f"--callgrind-out-file={out}"))
        with open(out) as file:
            counts.append(int(re.search(r"^(?:summary|totals): (\d+)", file.read(), re.M).group(1)))
    return (counts[1] - counts[0]) / (last - first)


def measure(program, stepper, folder, with_cost):
    period = exact_period()
    rolls = representations((0.1, 0.1, 0.1), folder, "ball")
    rocks = dict(representations(RADII, folder, "egg"))
    for name, shape in rolls:
        row = {"representation": name}
        step, path = 1 / 240, os.path.join(folder, "scene.json")
        low = lowest(shape, 0.0)
        start = {"position": [0, 0, low], "velocity": [1, 0, 0], "angular_velocity": [0, 10, 0]}
        with open(path, "w") as file:
            json.dump(scene(shape, (0.1, 0.1, 0.1), start, step, 1.0), file)
        rows = run(program, path, stepper)
        end = rows[-1]
        spin = sum(end[f"body.w{k}"] ** 2 for k in "xyz")
        kinetic = 0.5 * sum(end[f"body.v{k}"] ** 2 for k in "xyz") + 0.5 * 0.004 * spin
        row["roll"] = 1.0 - end["body.x"]
        row["lost"] = (0.7 + G * low - kinetic - G * end["body.z"]) / 0.7
        row["cost"] = instructions(program, path, stepper, step, 24, 48, folder) if with_cost else None
        if name in rocks:
            shape = rocks[name]
            start = {"position": [0, 0, lowest(shape, TILT)],
                     "rotation": {"axis": [0, 1, 0], "degrees": math.degrees(TILT)}}
            with open(path, "w") as file:
                json.dump(scene(shape, RADII, start, 0.002, 3.0), file)
            found, row["left"] = rock(run(program, path, stepper))
            row["period"] = None if found is None else found / period - 1
        yield row


def say(value, form):
    return "-" if value is None else form % value


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("program")
    parser.add_argument("--steppers", default="chakraborty-trinkle,anitescu,small-steps")
    parser.add_argument("--no-cost", action="store_true", help="without counting instructions")
    parser.add_argument("--markdown", action="store_true", help="tables as docs/representations.md has them")
    given = parser.parse_args()
    bar = " | " if given.markdown else "  "
    for stepper in given.steppers.split(","):
        print(f"{stepper}: exact period {exact_period():.6f} s\n")
        heads = ["as", "period, error", "amplitude left", "roll, lacks m", "energy lost", "kilo-instructions per step"]
        print((bar.join(heads) if not given.markdown else "| " + bar.join(heads) + " |\n|---|---|---|---|---|---|"))
        with tempfile.TemporaryDirectory() as folder:
            for row in measure(given.program, stepper, folder, not given.no_cost):
                cost = None if row["cost"] is None else row["cost"] / 1000
                cells = [row["representation"], say(row.get("period"), "%.1e"), say(row.get("left"), "%.3f"),
                         say(row["roll"], "%.1e"), say(row["lost"], "%.1e"), say(cost, "%.0f")]
                print("| " + bar.join(cells) + " |" if given.markdown else bar.join(cells), flush=True)
        print()


if __name__ == "__main__":
    sys.exit(main())
