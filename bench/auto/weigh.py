#!/usr/bin/env python3
"""Fits the weights of src/steppers/auto/methods.c: nanoseconds for what is counted in a step.

usage: python3 bench/auto/weigh.py build/release/bench/bench_auto [SECONDS]

Needs numpy and scipy. Every stepper that `auto` can choose runs the small scenes of the repository; non-negative least squares
of relative errors give the weights. The numbers depend on the machine, their ratios little.
"""
import subprocess
import sys
from pathlib import Path

import numpy
from scipy.optimize import nnls

NAMES = ["solve", "step", "body", "query", "contact", "iteration", "check", "collision"]
SCENES = """bouncing_ball double_pendulum falling_rod board/platter board/stopping board/hold board/hook four_balls disc_slip card_house
coins marbles_spheres stack10 disc_pyramid cradle door ellipsoid_on_ellipsoid lens""".split()
STEPPERS = ["free-flight", "anitescu", "mirtich-canny", "chakraborty-trinkle", "bender-schmitt", "small-steps"]


def weigh(program, stepper, seconds):
    folder = Path(__file__).resolve().parents[2] / "scenes"
    paths = [str(folder / f"{scene}.json") for scene in SCENES]
    text = subprocess.run([program, stepper, seconds, *paths], capture_output=True, text=True).stdout
    rows = numpy.array([line.split() for line in text.splitlines()], float)
    rows = rows[rows[:, 0] < numpy.percentile(rows[:, 0], 99)]  # without those that were interrupted
    spent, counts = rows[:, 0], rows[:, 1:]
    scale = 1.0 / numpy.maximum(spent, 500.0)
    weights, _ = nnls(counts * scale[:, None], spent * scale)
    missed = numpy.median(abs(counts @ weights - spent) / spent)
    listed = "  ".join(f"{name} {weight:.3g}" for name, weight in zip(NAMES, weights) if weight > 0.0)
    print(f"{stepper:20} {listed}\n{'':20} median miss {100.0 * missed:.0f} % of {len(rows)} steps")


def main():
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    for stepper in STEPPERS:
        weigh(sys.argv[1], stepper, sys.argv[2] if len(sys.argv) > 2 else "0.5")


if __name__ == "__main__":
    main()
