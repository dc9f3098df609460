#!/usr/bin/env python3
"""Robots that hold their start: runs scenes of `tippe-import` for a while and says how still they stand.

usage: standing.py TIPPE [--seconds S] [--gain FACTOR] [--steppers a,b] [--jobs N] [--save FILE.json] SCENE.json|FOLDER ...

One line for each robot and stepper, as a table in Markdown; at the end how many stand. Needs Python alone:
scenes may be made elsewhere (`--convert FOLDER OUT` makes them from the models of a collection, with the
package and `pip install '.[models]'`). A run that takes more than --limit seconds of processor time is interrupted and measured as far as
it came. What --save holds already is not run again: a long table can be made in portions.

until     simulated time that was reached, s
feet      largest sliding speed of a contact with what does not move, at the end, m/s
load - 1  vertical force of those contacts over the weight, minus 1 (robots on a base of their own have none)
moved     largest way of a body from the start; creep: in the last quarter, m/s
ms        processor time per step, of the whole run
"""

from __future__ import annotations

import argparse
import csv
import json
import math
import os
import signal
import subprocess
import sys
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

STEP = 0.005
INTERRUPTED = 3  # exit status of a run that Ctrl-C ended
ROWS = 240  # states kept of a run
COLUMNS = ["until", "moved", "speed", "creep", "feet", "load - 1", "contacts", "residual", "joint drift", "uncertified", "ms"]


def convert(folder: Path, out: Path) -> int:
    """Scenes of all models `scene*.xml` below a folder. What is refused is told."""
    import tippe

    out.mkdir(parents=True, exist_ok=True)
    refused = 0
    for path in sorted(folder.glob("*/scene*.xml")):
        name = f"{path.parent.name}__{path.stem}"
        try:
            tippe.models.convert(path, visual=False).save(out / f"{name}.json")
        except (tippe.models.ModelError, ValueError, OSError) as error:
            refused += 1
            print(f"refused {name}: {' '.join(str(error).split())[:160]}", file=sys.stderr)
    return refused


def with_gains(scene: dict[str, Any], gain: float) -> dict[str, Any]:
    for joint in scene.get("joints", []):
        for axis in [joint, *joint.get("axes", [])]:
            for key in ("stiffness", "damping"):
                if key in axis.get("servo", {}):
                    axis["servo"][key] *= gain
    for coupling in scene.get("couplings", []):
        for key in ("stiffness", "damping"):
            if key in coupling.get("servo", {}):
                coupling["servo"][key] *= gain
    return scene


def positions(row: dict[str, str], names: list[str]) -> list[list[float]]:
    return [[float(row[f"{name}.{axis}"]) for axis in "xyz"] for name in names]


def largest_way(a: list[list[float]], b: list[list[float]]) -> float:
    return max((math.dist(p, q) for p, q in zip(a, b, strict=True)), default=0.0)


def measure(scene: dict[str, Any], summary: dict[str, Any], states: list[dict[str, str]], contacts: list[dict[str, str]]) -> dict[str, Any]:
    if summary.get("undone_steps"):
        return {"failed": f"a step was not finite, after {summary['simulated_time']:.4g} s"}
    names = [key[:-3] for key in states[0] if key.endswith(".qw")]
    last = states[-1]
    until = float(last["time"])
    before = states[(len(states) - 1) * 3 // 4]
    lately = max(until - float(before["time"]), STEP)
    quarter = positions(before, names)
    end = positions(last, names)
    if not all(math.isfinite(value) for point in end for value in point):
        return {"failed": "not finite"}
    resting = {body["name"] for body in scene["bodies"] if body.get("kind") == "fixed"}
    moving = [body for body in scene["bodies"] if body.get("kind") not in ("fixed", "kinematic")]
    free = {name for joint in scene.get("joints", []) for name in joint["bodies"]} & resting
    weight = sum(body.get("mass", 0.0) * body.get("gravity_scale", 1.0) for body in moving) * math.hypot(*scene.get("gravity", [0.0, 0.0, 0.0]))
    ends = [contact for contact in contacts if contact["time"] == last["time"] and (contact["bodyA"] in resting or contact["bodyB"] in resting)]
    # Along the vertical, friction with it: the ground need not be level. Impulses are those on the first body of a contact.
    push = [(1.0 if c["bodyA"] in resting else -1.0) * (float(c["normal_impulse"]) * float(c["nz"]) + float(c["friction_impulse_z"])) for c in ends]
    force = abs(sum(push))
    start = positions(states[0], names)
    speed = max((abs(float(last[f"{name}.v{axis}"])) for name in names for axis in "xyz"), default=0.0)
    return {
        "until": until,
        "moved": largest_way(start, end),
        "speed": speed,
        "creep": largest_way(quarter, end) / lately,
        "feet": max((float(c["sliding_speed"]) for c in ends), default=0.0),
        "load - 1": force / STEP / weight - 1.0 if ends and weight and not free else None,
        "contacts": int(summary["contacts_max"]),
        "residual": summary["residual_max"],
        "joint drift": summary["joint_drift_max"],
        "uncertified": summary["uncertified_steps"],
        "broken": summary["uncertified_joints"] / max(summary["steps"], 1),
        "ms": 1e3 * summary["processor_time"] / max(summary["steps"], 1),
    }


def processor_time(pid: int) -> float:
    """Seconds of processor time of a process that runs (Linux)."""
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def interrupted(command: list[str], limit: float) -> tuple[int, str, str, float]:
    """Runs a command, and interrupts it after a while of processor time as Ctrl-C does: the program then still writes its
    summary. Returns exit status, output, errors and processor time."""
    with tempfile.TemporaryFile("w+") as out, tempfile.TemporaryFile("w+") as err:
        process = subprocess.Popen(command, stdout=out, stderr=err, text=True)
        told = 0
        while True:
            done, status, usage = os.wait4(process.pid, os.WNOHANG)
            if done:
                break
            if processor_time(process.pid) > limit + 30.0 * told:
                process.send_signal(signal.SIGINT if told == 0 else signal.SIGKILL)
                told += 1
            time.sleep(0.05)
        process.returncode = os.waitstatus_to_exitcode(status)
        out.seek(0)
        err.seek(0)
        return process.returncode, out.read(), err.read(), usage.ru_utime + usage.ru_stime


def run(tippe: str, path: Path, stepper: str, seconds: float, gain: float, limit: float) -> dict[str, Any]:
    scene = with_gains(json.loads(path.read_text()), gain)
    scene["simulation"] = {key: value for key, value in scene["simulation"].items() if key != "options"}
    every = max(round(seconds / STEP / ROWS), 1)
    until = max(round(seconds / STEP / every), 1) * every * STEP
    with tempfile.TemporaryDirectory() as folder:
        # Beside its meshes, whose paths are relative.
        for mesh in path.parent.glob(f"{path.stem}_*"):
            os.symlink(mesh.resolve(), Path(folder) / mesh.name)
        changed = Path(folder) / path.name
        changed.write_text(json.dumps(scene))
        tables = [str(Path(folder) / "states.csv"), str(Path(folder) / "contacts.csv")]
        command = [tippe, "run", str(changed), "--stepper", stepper, "--step", str(STEP), "--until", str(until), "--every", str(every)]
        command += ["--csv", tables[0], "--contacts", tables[1], "--json", "--quiet"]
        status, out, err, spent = interrupted(command, limit)
        if status not in (0, INTERRUPTED):
            return {"failed": " ".join((err or out).split())[-160:] or f"exit {status}"}
        summary = json.loads(out)
        summary["processor_time"] = spent
        with open(tables[0]) as states, open(tables[1]) as contacts:
            return measure(scene, summary, list(csv.DictReader(states)), list(csv.DictReader(contacts)))


def stands(figures: dict[str, Any]) -> bool:
    """Finite, joints whole but for the first steps, and it has not been thrown: no body moves faster than 1 m/s at the end."""
    return "failed" not in figures and figures["speed"] < 1.0 and figures["broken"] < 0.05


def written(figures: dict[str, Any]) -> str:
    if "failed" in figures:
        return f"failed: {figures['failed']}" + " |" * (len(COLUMNS) - 1)
    return " | ".join("" if figures[key] is None else f"{figures[key]:.2g}" for key in COLUMNS)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("tippe", nargs="?", help="the program")
    parser.add_argument("scenes", nargs="*", type=Path)
    parser.add_argument("--convert", nargs=2, type=Path, metavar=("FOLDER", "OUT"))
    parser.add_argument("--seconds", type=float, default=60.0)
    parser.add_argument("--gain", type=float, default=1.0, help="times stiffness and damping of all servos")
    parser.add_argument("--steppers", default="anitescu,small-steps")
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--limit", type=float, default=600.0, metavar="SECONDS", help="processor time of one run")
    parser.add_argument("--save", type=Path, metavar="FILE.json")
    options = parser.parse_intermixed_args()
    if options.convert:
        return 1 if convert(*options.convert) else 0
    paths = [path for given in options.scenes for path in (sorted(given.glob("*.json")) if given.is_dir() else [given])]
    if options.tippe is None or not paths:
        parser.error("a program and scenes are needed")
    cases = [(path, stepper) for path in paths for stepper in options.steppers.split(",")]
    print("| robot | stepper | " + " | ".join(COLUMNS) + " |\n|---|---" + "|---:" * len(COLUMNS) + "|", flush=True)
    known = json.loads(options.save.read_text()) if options.save and options.save.exists() else []
    results = {(r["robot"], r["stepper"], r["gain"], r["seconds"]): r for r in known}
    standing = dict.fromkeys(options.steppers.split(","), 0)
    with ThreadPoolExecutor(options.jobs) as pool:
        keys = [(path.stem, stepper, options.gain, options.seconds) for path, stepper in cases]
        futures = {
            key: pool.submit(run, options.tippe, path, stepper, options.seconds, options.gain, options.limit)
            for key, (path, stepper) in zip(keys, cases, strict=True)
            if key not in results
        }
        for key in keys:
            robot, stepper, gain, seconds = key
            if key in futures:
                results[key] = {"robot": robot, "stepper": stepper, "gain": gain, "seconds": seconds, **futures[key].result()}
                if options.save:
                    options.save.write_text(json.dumps(list(results.values()), indent=1))
            standing[stepper] += stands(results[key])
            print(f"| {robot} | {stepper} | {written(results[key])} |", flush=True)
    for stepper, count in standing.items():
        cut = sum(results[key].get("until", 0.0) < 0.999 * options.seconds for key in keys if key[1] == stepper)
        print(f"\n{stepper}: {count} of {len(paths)} stand" + (f", {cut} did not come to the end" if cut else ""), flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
