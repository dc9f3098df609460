#!/usr/bin/env python3
"""Runs random scenes and says which steps break a law without saying so.

Usage: random_scenes.py PROGRAM [--steppers a,b] [--seeds FIRST:END] [--kinds throw,linkage,...] [--keep DIR]
                        [--limit SECONDS] [--seconds S] [--jobs N] [--quiet]

A scene depends on its kind and seed alone. A run is bad if it ends with an error, if energy less the work done rises
by more than 1e-3 of the energies at play, bodies overlap by more than 1 mm (steppers that are exact) or joints drift by
more than 1e-6 m while every step claims to be certified, or if it takes more than 50 ms per step on average. Exits with
1 if a run is bad. --keep writes the scenes of bad runs to a folder. Runs whose report says which steps have missed the
same limits are counted apart, as said; as placed, if bodies overlap at the start of the scene. Seeds are gone through one after the other with all kinds and steppers; --seconds
ends that after so long, and the runs that were left out are counted.
"""
import argparse
import concurrent.futures
import csv
import json
import math
import os
import resource
import signal
import subprocess
import sys
import tempfile
import time

import scene_kinds

EXACT = {"stewart-trinkle", "anitescu", "bender-schmitt", "chakraborty-trinkle", "mirtich-canny", "auto"}
STEPPERS = ["stewart-trinkle", "anitescu", "mirtich-canny", "bender-schmitt", "chakraborty-trinkle", "auto", "small-steps", "penalty"]


def largest_energy(program, path, stepper):
    """The most that a run has had: servos may give it many times the energy of its start."""
    with tempfile.TemporaryDirectory() as folder:
        recording, table = os.path.join(folder, "run.h5"), os.path.join(folder, "reports.csv")
        subprocess.run([program, "run", path, "--stepper", stepper, "--out", recording, "--quiet"], check=True)
        subprocess.run([program, "export", recording, "--reports", table], check=True)
        with open(table, encoding="utf-8") as file:
            return max(float(row["kinetic_after"]) + abs(float(row["potential_after"])) for row in csv.DictReader(file))


def judge(program, path, stepper, summary, seconds, unit):
    """What is wrong with a run, in words; empty if nothing is. And what its report says itself."""
    wrong, admitted = [], []
    # A step that says that it has missed another law does not speak of this one.
    said = {law: summary[f"uncertified_{law}"] > 0 or summary["undone_steps"] > 0 for law in ("energy", "joints", "overlap")}
    scale = max(abs(summary["energy_start"]), 1e-9 * unit ** 2)
    rise = summary["energy_increase_max"]
    if rise is not None and rise > 1e-3 * scale:
        scale = max(scale, largest_energy(program, path, stepper))
    if rise is None or rise > 1e-3 * scale:
        (admitted if said["energy"] else wrong).append(f"energy rises by {rise} J of {scale:.3g}")
    if summary["penetration_max"] is None or (summary["penetration_max"] > 1e-3 * unit and stepper in EXACT):
        (admitted if said["overlap"] else wrong).append(f"overlap {summary['penetration_max']} m")
    if summary["joint_drift_max"] is None or summary["joint_drift_max"] > 1e-6 * unit:
        (admitted if said["joints"] else wrong).append(f"joints drift by {summary['joint_drift_max']}")
    if seconds > .05 * summary["steps"]:
        wrong.append(f"{1e3 * seconds / summary['steps']:.0f} ms per step")
    return wrong, admitted


def begins_overlapped(program, path):
    checked = subprocess.run([program, "check", path], capture_output=True, text=True, check=True)
    return "at the start" in checked.stdout + checked.stderr


def limit_processor(seconds):
    resource.setrlimit(resource.RLIMIT_CPU, (math.ceil(seconds), math.ceil(seconds) + 1))


def run(program, kind, seed, stepper, limit, keep):
    with tempfile.TemporaryDirectory() as folder:
        path, unit = scene_kinds.make(kind, seed, folder)
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        done = subprocess.run([program, "run", path, "--stepper", stepper, "--json", "--quiet"], capture_output=True,
                              text=True, check=False, preexec_fn=lambda: limit_processor(limit))
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        seconds = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
        summary, admitted, placed = None, [], False
        if done.returncode in (-signal.SIGXCPU, -signal.SIGKILL):
            wrong = [f"not finished in {limit} s"]
        elif done.returncode != 0:
            wrong = [f"exit {done.returncode}: {done.stderr.strip()[:200]}"]
        else:
            summary = json.loads(done.stdout)
            wrong, admitted = judge(program, path, stepper, summary, seconds, unit)
            placed = bool(admitted) and begins_overlapped(program, path)
        if wrong and keep:
            os.makedirs(keep, exist_ok=True)
            for name in os.listdir(folder):
                target = f"{kind}{seed}_{name}" if name.endswith(".obj") else name
                with open(os.path.join(folder, name), encoding="utf-8") as file:
                    text = file.read()
                if name.endswith(".json"):
                    for other in os.listdir(folder):
                        text = text.replace(f'"{other}"', f'"{kind}{seed}_{other}"') if other.endswith(".obj") else text
                with open(os.path.join(keep, target), "w", encoding="utf-8") as file:
                    file.write(text)
        return kind, seed, stepper, wrong, admitted, placed, summary, seconds


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("program")
    parser.add_argument("--steppers", default=",".join(STEPPERS))
    parser.add_argument("--seeds", default="0:50")
    parser.add_argument("--kinds", default=",".join(scene_kinds.KINDS))
    parser.add_argument("--keep")
    parser.add_argument("--limit", type=float, default=60)
    parser.add_argument("--seconds", type=float)
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--quiet", action="store_true")
    arguments = parser.parse_args()
    first, end = (int(x) for x in arguments.seeds.split(":"))
    work = [(kind, seed, stepper) for seed in range(first, end) for kind in arguments.kinds.split(",")
            for stepper in arguments.steppers.split(",")]
    bad, left, tallies, deadline = 0, 0, {}, arguments.seconds and time.monotonic() + arguments.seconds
    with concurrent.futures.ProcessPoolExecutor(arguments.jobs) as executor:
        jobs = [executor.submit(run, arguments.program, kind, seed, stepper, arguments.limit, arguments.keep)
                for kind, seed, stepper in work]
        for job in jobs:
            if deadline and time.monotonic() > deadline:
                left += job.cancel()
            if job.cancelled():
                continue
            kind, seed, stepper, wrong, admitted, placed, summary, seconds = job.result()
            tally = tallies.setdefault((stepper, kind), {"runs": 0, "bad": 0, "said": 0, "placed": 0, "uncertified": 0, "steps": 0, "seconds": 0.0})
            tally["runs"] += 1
            tally["seconds"] += seconds
            tally["bad"] += bool(wrong)
            tally["said"] += bool(admitted) and not placed
            tally["placed"] += placed
            if summary is not None:
                tally["steps"] += summary["steps"]
                tally["uncertified"] += summary["uncertified_steps"]
            if wrong:
                bad += 1
                print(f"{stepper} {kind}{seed}: {'; '.join(wrong)}", flush=True)
            if admitted:
                print(f"  {'overlaps at the start, ' if placed else ''}said: {stepper} {kind}{seed}: {'; '.join(admitted)}", flush=True)
            elif not wrong and not arguments.quiet and summary["uncertified_steps"] > 0:
                laws = {law: summary[f"uncertified_{law}"] for law in ("contact", "energy", "joints", "overlap")}
                print(f"  {stepper} {kind}{seed}: {summary['uncertified_steps']} of {summary['steps']} steps not certified, "
                      f"{laws}, rise {summary['energy_increase_max']:.2g} J, overlap {summary['penetration_max']:.2g}, "
                      f"drift {summary['joint_drift_max']:.2g}", flush=True)
    for (stepper, kind), tally in sorted(tallies.items()):
        print(f"{stepper} {kind}: {tally['runs']} runs, {tally['bad']} bad, {tally['said']} said, {tally['placed']} placed, {tally['uncertified']} of "
              f"{tally['steps']} steps not certified, {1e3 * tally['seconds'] / max(tally['steps'], 1):.2f} ms per step")
    for stepper in arguments.steppers.split(","):
        of = [tally for (one, _), tally in tallies.items() if one == stepper]
        print(f"{stepper}: {', '.join(f'{sum(tally[key] for tally in of)} {key}' for key in ('runs', 'bad', 'said', 'placed'))}")
    if left:
        print(f"{left} runs were left out after {arguments.seconds:g} s")
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
