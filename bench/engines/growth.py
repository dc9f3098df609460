"""How time and memory of a step grow with the number of spheres: growth.py BUILD [COUNT...]

A bed of spheres that nearly touch, ten deep and ever wider, is let settle for half a second: so deep it has as many
contacts a sphere whatever its width. What a step costs is the least CPU time of the last ten steps of each of
TIPPE_BENCH_REPEATS (3) runs, interleaved. Writes bench/results/growth.csv, and prints the powers of spheres and of
contacts that fit best.
"""

import json
import os
import pathlib
import random
import subprocess
import sys
import tempfile

import numpy

ROOT = pathlib.Path(__file__).resolve().parents[2]
RADIUS, DEPTH, STEPS, COUNTED = 0.1, 10, 60, 10


def box(name, size, place):
    shape = {"type": "box", "size": size}
    return {"name": name, "kind": "fixed", "material": "m", "shapes": [shape], "position": place}


def write_scene(path, count):
    """A lattice of spheres, shaken by a little, in an open box."""
    random.seed(count)
    side = max(2, round((count / DEPTH) ** 0.5))
    pitch = 2.002 * RADIUS
    width = side * pitch
    height = (count // (side * side) + 2) * pitch
    bodies = [
        box("floor", [width + 2, 1, width + 2], [0, -0.5, 0]),
        box("east", [1, height, width + 2], [width / 2 + 0.5, height / 2, 0]),
        box("west", [1, height, width + 2], [-width / 2 - 0.5, height / 2, 0]),
        box("north", [width + 2, height, 1], [0, height / 2, width / 2 + 0.5]),
        box("south", [width + 2, height, 1], [0, height / 2, -width / 2 - 0.5]),
    ]
    for i in range(count):
        layer, rest = divmod(i, side * side)
        place = [rest % side, layer, rest // side]
        shake = [random.uniform(-1e-4, 1e-4) for _ in range(3)]
        x, y, z = (pitch * (p + 0.5) + s for p, s in zip(place, shake))
        shape = {"type": "sphere", "radius": RADIUS}
        position = [x - width / 2, y, z - width / 2]
        bodies.append({"name": f"b{i}", "density": 1, "material": "m", "shapes": [shape], "position": position})
    scene = {
        "tippe": 1,
        "name": f"{count} spheres",
        "gravity": [0, -9.81, 0],
        "materials": {"m": {"friction": 0.5, "restitution": 0}},
        "bodies": bodies,
        "simulation": {"stepper": "small-steps", "step": 1 / 120, "until": 1},
    }
    path.write_text(json.dumps(scene), encoding="utf-8")


def main():
    build, *counts = sys.argv[1:]
    counts = [int(c) for c in counts] or [1000, 2000, 4000, 8000, 16000, 32000, 64000]
    repeats = int(os.environ.get("TIPPE_BENCH_REPEATS", "3"))
    program = str(pathlib.Path(build) / "bench" / "run_tippe")
    least, rows = {}, {}
    with tempfile.TemporaryDirectory() as folder:
        for count in counts:
            write_scene(pathlib.Path(folder) / f"{count}.json", count)
        for _ in range(repeats):
            for count in counts:
                scene, out = str(pathlib.Path(folder) / f"{count}.json"), str(pathlib.Path(folder) / "run")
                command = [program, scene, str(STEPS), str(STEPS), out, "push_out_speed=3"]
                done = subprocess.run(command, capture_output=True, text=True, check=True)
                rows[count] = json.loads(done.stdout)
                times = numpy.fromfile(out + ".times").reshape(-1, 2)[STEPS - COUNTED :, 1]
                least[count] = numpy.minimum(times, least.get(count, times))
                print(count, f"{1e3 * least[count].mean():.2f} ms", file=sys.stderr)
    with open(ROOT / "bench" / "results" / "growth.csv", "w", encoding="utf-8") as file:
        file.write("spheres,contacts,ms,bytes\n")
        for count in counts:
            row = rows[count]
            file.write(f"{count},{row['contacts_mean']:.0f},{1e3 * least[count].mean():.3f},{row['peak_memory_bytes']}\n")
    times = numpy.log([least[count].mean() for count in counts])
    spheres = numpy.polyfit(numpy.log(counts), times, 1)[0]
    contacts = numpy.polyfit(numpy.log([rows[count]["contacts_mean"] for count in counts]), times, 1)[0]
    print(f"time a step grows with the power {spheres:.3f} of the spheres, {contacts:.3f} of the contacts")


main()
