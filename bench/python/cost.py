#!/usr/bin/env python3
"""What Python costs: a step over the C call, reading states, a sweep. Usage: cost.py [--csv FILE] [--runs N]

Times are processor time of this thread, the least of several interleaved repetitions; the machine may be busy. The marks
are those of the project: less than 1 microsecond a step, less than 20 microseconds for the states of 10,000 bodies, more
than 90 percent of a sweep's time in steps.
"""

from __future__ import annotations

import argparse
import csv
import platform
import time

import numpy as np
import tippe


def falling_ball() -> tippe.World:
    world = tippe.World(stepper="free-flight", step=1e-3)
    world.add_body("ball").add_sphere(0.1)
    return world


def resting_ball() -> tippe.World:
    world = tippe.World(stepper="anitescu", step=1e-2)
    world.add_body("floor", kind="fixed").add_plane(material=tippe.Material(friction=0.5))
    world.add_body("ball", position=(0, 0, 0.1)).add_sphere(0.1, material=tippe.Material(friction=0.5))
    return world


def step_overhead(make, views: bool, count: int = 20000, repeats: int = 15) -> tuple[float, float]:
    """Microseconds of a step in C, and what Python adds to it."""
    world = make()
    held = (world.positions, world.velocities) if views else None
    bare, wrapped = [], []
    step = world.step
    for _ in range(repeats):
        bare.append(world._time_steps(count))
        before = time.thread_time()
        for _ in range(count):
            step()
        wrapped.append(time.thread_time() - before)
    before = time.thread_time()
    for _ in range(count):
        pass
    loop = time.thread_time() - before
    del held
    return min(bare) / count * 1e6, (min(wrapped) - loop - min(bare)) / count * 1e6


def read_states(bodies: int = 10000, repeats: int = 50) -> tuple[float, float]:
    """Microseconds to read all states after a step, and what keeping them up to date adds to the step."""
    world = tippe.World(stepper="free-flight", step=1e-3)
    for i in range(bodies):
        world.add_body(position=(i, 0, 0)).add_sphere(0.1)
    plain, kept, reads = [], [], []
    for _ in range(repeats):
        before = time.thread_time()
        world.step()
        plain.append(time.thread_time() - before)
    arrays = (world.positions, world.rotations, world.velocities, world.angular_velocities)
    for _ in range(repeats):
        before = time.thread_time()
        world.step()
        kept.append(time.thread_time() - before)
        before = time.perf_counter()
        arrays = (world.positions, world.rotations, world.velocities, world.angular_velocities)
        reads.append(time.perf_counter() - before)
    assert arrays[0].shape == (bodies, 3) and arrays[2][0, 2] < 0
    return float(np.median(reads)) * 1e6, (min(kept) - min(plain)) * 1e6


def last_height(run: tippe.Run) -> float:
    return float(run.position[-1, 0, 1])


def sweep_share(runs: int) -> tuple[float, float]:
    """Share of the workers' processor time in steps, and runs a second, of a rod that falls for a second."""
    values = {"materials.wood.friction": np.linspace(0.1, 0.9, runs)}
    table = tippe.sweep("falling_rod", values, last_height, workers=2, progress=False)
    assert len(table) == runs and "error" not in table.columns
    return table.attrs["step_share"], runs / table.attrs["seconds"]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--csv", help="append the figures to this file")
    parser.add_argument("--runs", type=int, default=10000, help="runs of the sweep; 0: none")
    arguments = parser.parse_args()
    rows: list[tuple[str, float, str, str]] = []
    for name, make in (("falling ball, free-flight", falling_ball), ("resting ball, anitescu", resting_ball)):
        for views in (False, True):
            bare, added = step_overhead(make, views)
            shown = name + (", two arrays held" if views else "")
            rows.append((f"step in C: {shown}", bare, "us", ""))
            rows.append((f"added by Python: {shown}", added, "us", "< 1"))
    read, kept = read_states()
    rows.append(("reading the states of 10,000 bodies", read, "us", "< 20"))
    rows.append(("keeping them up to date, per step", kept, "us", ""))
    if arguments.runs:
        share, rate = sweep_share(arguments.runs)
        rows.append((f"sweep of {arguments.runs} runs, 2 workers: time in steps", 100 * share, "%", "> 90"))
        rows.append((f"sweep of {arguments.runs} runs, 2 workers", rate, "runs/s", ""))
    for name, value, unit, mark in rows:
        print(f"{name:62} {value:10.3f} {unit:7} {mark}")
    if arguments.csv:
        with open(arguments.csv, "a", newline="", encoding="utf-8") as stream:
            writer = csv.writer(stream)
            if stream.tell() == 0:
                writer.writerow(["what", "value", "unit", "mark", "tippe", "python", "machine"])
            for row in rows:
                writer.writerow([*row, tippe.__version__, platform.python_version(), platform.machine()])


if __name__ == "__main__":
    main()
