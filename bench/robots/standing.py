#!/usr/bin/env python3
"""Robots that hold their start: runs scenes of `tippe-import` for a while and says how still they stand.

usage: standing.py TIPPE [--seconds S] [--gain FACTOR] [--steppers a,b] [--jobs N] [--save FILE.json] SCENE.json|FOLDER ...

One line for each robot and stepper, as a table in Markdown; at the end how many stand. Needs Python alone:
scenes may be made elsewhere (`--convert FOLDER OUT` makes them from the models of a collection, with the
package and `pip install '.[models]'`). A run that takes longer than --limit seconds is told as such.

feet      largest sliding speed of a contact with what does not move, at the end, m/s
load - 1  forces along the normals of those contacts over the weight (robots on a base of their own have none)
moved     largest way of a body from the start; creep: in the last quarter, m/s
"""

from __future__ import annotations

import argparse
import csv
import json
import math
import os
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

STEP = 0.005
COLUMNS = ["moved", "speed", "creep", "feet", "load - 1", "contacts", "residual", "joint drift", "uncertified", "ms"]


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


def measure(scene: dict[str, Any], summary: dict[str, Any], states: list[dict[str, str]], contacts: list[dict[str, str]], seconds: float) -> dict[str, Any]:
    names = [key[:-3] for key in states[0] if key.endswith(".qw")]
    last = states[-1]
    quarter = positions(states[-2], names)
    end = positions(last, names)
    if not all(math.isfinite(value) for point in end for value in point):
        return {"failed": "not finite"}
    resting = {body["name"] for body in scene["bodies"] if body.get("kind") == "fixed"}
    moving = [body for body in scene["bodies"] if body.get("kind") not in ("fixed", "kinematic")]
    free = {name for joint in scene.get("joints", []) for name in joint["bodies"]} & resting
    weight = sum(body.get("mass", 0.0) * body.get("gravity_scale", 1.0) for body in moving) * math.hypot(*scene.get("gravity", [0.0, 0.0, 0.0]))
    ends = [contact for contact in contacts if contact["time"] == last["time"] and (contact["bodyA"] in resting or contact["bodyB"] in resting)]
    force = sum(float(c["normal_impulse"]) * abs(float(c["nz"])) for c in ends)
    start = positions(states[0], names)
    speed = max((abs(float(last[f"{name}.v{axis}"])) for name in names for axis in "xyz"), default=0.0)
    return {
        "moved": largest_way(start, end),
        "speed": speed,
        "creep": largest_way(quarter, end) / (seconds / 4.0),
        "feet": max((float(c["sliding_speed"]) for c in ends), default=0.0),
        "load - 1": force / STEP / weight - 1.0 if ends and weight and not free else None,
        "contacts": int(summary["contacts_max"]),
        "residual": summary["residual_max"],
        "joint drift": summary["joint_drift_max"],
        "uncertified": summary["uncertified_steps"],
        "broken": summary["uncertified_joints"] / max(summary["steps"], 1),
        "ms": 1e3 * summary["wall_time"] / max(summary["steps"], 1),
    }


def run(tippe: str, path: Path, stepper: str, seconds: float, gain: float, limit: float) -> dict[str, Any]:
    scene = with_gains(json.loads(path.read_text()), gain)
    scene["simulation"] = {key: value for key, value in scene["simulation"].items() if key != "options"}
    steps = round(seconds / STEP / 4) * 4
    with tempfile.TemporaryDirectory() as folder:
        # Beside its meshes, whose paths are relative.
        for mesh in path.parent.glob(f"{path.stem}_*"):
            os.symlink(mesh.resolve(), Path(folder) / mesh.name)
        changed = Path(folder) / path.name
        changed.write_text(json.dumps(scene))
        tables = [str(Path(folder) / "states.csv"), str(Path(folder) / "contacts.csv")]
        command = [tippe, "run", str(changed), "--stepper", stepper, "--step", str(STEP), "--until", str(steps * STEP), "--every", str(steps // 4)]
        command += ["--csv", tables[0], "--contacts", tables[1], "--json", "--quiet"]
        try:
            done = subprocess.run(command, capture_output=True, text=True, timeout=limit, check=False)
        except subprocess.TimeoutExpired:
            return {"failed": f"not done after {limit:g} s"}
        if done.returncode != 0:
            return {"failed": " ".join((done.stderr or done.stdout).split())[-160:] or f"exit {done.returncode}"}
        with open(tables[0]) as states, open(tables[1]) as contacts:
            return measure(scene, json.loads(done.stdout), list(csv.DictReader(states)), list(csv.DictReader(contacts)), steps * STEP)


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
    parser.add_argument("--limit", type=float, default=600.0, metavar="SECONDS", help="of one run")
    parser.add_argument("--save", type=Path, metavar="FILE.json")
    options = parser.parse_intermixed_args()
    if options.convert:
        return 1 if convert(*options.convert) else 0
    paths = [path for given in options.scenes for path in (sorted(given.glob("*.json")) if given.is_dir() else [given])]
    if options.tippe is None or not paths:
        parser.error("a program and scenes are needed")
    cases = [(path, stepper) for path in paths for stepper in options.steppers.split(",")]
    print("| robot | stepper | " + " | ".join(COLUMNS) + " |\n|---|---" + "|---:" * len(COLUMNS) + "|", flush=True)
    table, standing = [], dict.fromkeys(options.steppers.split(","), 0)
    with ThreadPoolExecutor(options.jobs) as pool:
        futures = [pool.submit(run, options.tippe, path, stepper, options.seconds, options.gain, options.limit) for path, stepper in cases]
        for (path, stepper), future in zip(cases, futures, strict=True):
            figures = future.result()
            standing[stepper] += stands(figures)
            table.append({"robot": path.stem, "stepper": stepper, "gain": options.gain, "seconds": options.seconds, **figures})
            print(f"| {path.stem} | {stepper} | {written(figures)} |", flush=True)
    for stepper, count in standing.items():
        print(f"\n{stepper}: {count} of {len(paths)} stand", flush=True)
    if options.save:
        options.save.write_text(json.dumps(table, indent=1))
    return 0


if __name__ == "__main__":
    sys.exit(main())
