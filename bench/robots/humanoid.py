#!/usr/bin/env python3
"""A humanoid of 25 bodies beside MuJoCo's mj_step: CPU time per step of both, in one run.

usage: humanoid.py BENCH_SCENE [STEPS]

BENCH_SCENE is the program build/release/bench/bench_scene (cmake --preset release -DTIPPE_BENCH=ON). The same tree in both: 24 hinges
with armature and position servos that fall onto a floor with all bodies, 1/200 s. Both step inside one process, 15 times from the start;
the least time of each phase counts. Flight is the first fifth of the steps: of 400 steps it lands in the 89th. Contact is the last
quarter. Needs the Python package mujoco.
"""

from __future__ import annotations

import itertools
import json
import math
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import mujoco

COUNT, STEP, RADIUS = 25, 1 / 200, 0.05
REPEATS = 15
RUNS: tuple[tuple[str, dict[str, int]], ...] = (
    ("anitescu", {}),
    ("small-steps", {}),
    ("small-steps", {"substeps": 4}),
    ("small-steps", {"substeps": 1}),
)
AXES = ((1, 0, 0), (0, 1, 0), (0, 0, 1))


def tree() -> tuple[list[tuple[float, float, float]], list[int]]:
    """Positions and parents: a body has two children below it."""
    places, parents = [(0.0, 0.0, 1.5)], [-1]
    for i in range(1, COUNT):
        x, y, z = places[parent := (i - 1) // 2]
        places.append((x + (0.25 if i % 2 else -0.25), y + 0.03 * (i % 5 - 2), z - 0.12))
        parents.append(parent)
    return places, parents


def model(integrator: str) -> str:
    places, parents = tree()

    def body(i: int) -> str:
        origin = places[parents[i]] if i else (0.0, 0.0, 0.0)
        x, y, z = (a - b for a, b in zip(places[i], origin))
        axis = " ".join(map(str, AXES[i % 3]))
        hinge = f'<joint name="j{i}" type="hinge" axis="{axis}" pos="{-x} {-y} {-z}" armature="0.01"/>'
        geometry = f'<geom type="sphere" size="{RADIUS}" density="1000" contype="1" conaffinity="2"/>'
        children = "".join(body(k) for k in range(COUNT) if parents[k] == i)
        return f'<body pos="{x} {y} {z}">{hinge if i else "<freejoint/>"}{geometry}{children}</body>'

    servos = "".join(f'<position joint="j{i}" kp="50" kv="2"/>' for i in range(1, COUNT))
    floor = '<geom type="plane" size="10 10 1" contype="2" conaffinity="1"/>'
    return (
        f'<mujoco><option timestep="{STEP}" integrator="{integrator}"/><worldbody>{floor}{body(0)}</worldbody>'
        f"<actuator>{servos}</actuator></mujoco>"
    )


def scene(steps: int, options: dict[str, int]) -> dict[str, Any]:
    places, parents = tree()
    floor = {"type": "plane", "normal": [0, 0, 1], "material": "m", "group": 2, "mask": 1}
    ball = {"type": "sphere", "radius": RADIUS, "density": 1000, "material": "m", "group": 1, "mask": 2}
    joints = [
        {
            "name": f"j{i}",
            "type": "revolute",
            "bodies": [f"b{parents[i]}", f"b{i}"],
            "anchor": places[parents[i]],
            "axis": AXES[i % 3],
            "armature": 0.01,
            "servo": {"stiffness": 50, "damping": 2},
        }
        for i in range(1, COUNT)
    ]
    bodies: list[dict[str, Any]] = [{"name": "floor", "kind": "fixed", "shapes": [floor]}]
    bodies += [{"name": f"b{i}", "position": places[i], "shapes": [ball]} for i in range(COUNT)]
    return {
        "tippe": 1,
        "gravity": [0, 0, -9.81],
        "materials": {"m": {"friction": 1}},
        "bodies": bodies,
        "joints": joints,
        "simulation": {"step": STEP, "until": steps * STEP, "options": options},
    }


def ends_of(steps: int) -> list[int]:
    """Numbers of steps: the end of the flight, the beginning of contact, all."""
    return [steps // 5, 3 * steps // 4, steps]


def rates(times: list[float], ends: list[int]) -> list[float]:
    """Microseconds per step over all, in flight and in contact, from the times at these ends, s."""
    times, ends = [0.0, *times], [0, *ends]
    return [1e6 * (times[b] - times[a]) / (ends[b] - ends[a]) for a, b in ((0, 3), (0, 1), (2, 3))]


def time_mujoco(integrator: str, steps: int) -> list[float]:
    """Microseconds per step of all steps, in flight and in contact."""
    m = mujoco.MjModel.from_xml_string(model(integrator))
    ends = ends_of(steps)
    least = [math.inf] * len(ends)
    for _ in range(REPEATS):
        d, done = mujoco.MjData(m), 0
        for i, end in enumerate(ends):
            start = time.process_time()
            mujoco.mj_step(m, d, nstep=end - done)
            least[i] = min(least[i], time.process_time() - start)
            done = end
    return rates(list(itertools.accumulate(least)), ends)


def time_tippe(
    program: str, stepper: str, options: dict[str, int], steps: int, folder: Path
) -> tuple[list[float], int]:
    """The same, and the steps without a certificate."""
    file = folder / "humanoid.json"
    file.write_text(json.dumps(scene(steps, options)))
    ends = ends_of(steps)
    command = [program, str(file), stepper, str(REPEATS), *(str(end) for end in ends)]
    run = json.loads(subprocess.run(command, capture_output=True, text=True, check=True).stdout)
    return rates(run["seconds"], ends), run["uncertified"]


def main() -> None:
    if len(sys.argv) not in (2, 3):
        sys.exit(__doc__)
    steps = int(sys.argv[2]) if len(sys.argv) == 3 else 400
    print("| | all steps, us | flight | contact | times MuJoCo |")
    print("|---|---|---|---|---|")
    base = 0.0
    for integrator in ("Euler", "implicitfast"):
        times = time_mujoco(integrator, steps)
        base = base or times[0]
        print(f"| mj_step, {integrator} | " + " | ".join(f"{t:.1f}" for t in times) + f" | {times[0] / base:.2f} |", flush=True)
    with tempfile.TemporaryDirectory() as folder:
        for stepper, options in RUNS:
            times, uncertified = time_tippe(sys.argv[1], stepper, options, steps, Path(folder))
            name = ", ".join([stepper, *(f"{key} {value}" for key, value in options.items())])
            label = f"{name} ({uncertified} of {steps} steps without a certificate)"
            numbers = " | ".join(f"{t:.1f}" for t in times)
            print(f"| {label} | {numbers} | {times[0] / base:.2f} |", flush=True)


if __name__ == "__main__":
    main()
