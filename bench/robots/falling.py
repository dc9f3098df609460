#!/usr/bin/env python3
"""Which robots fall, here and in MuJoCo with the same gains.

usage: falling.py [--seconds S] MODEL.xml ...

Needs the package with `pip install '.[models]'`. Each model starts from its home keyframe in both programs; gains that the
importer gives to torque motors are written into MuJoCo's model (held.py). `anitescu` at h = 1/200, MuJoCo by implicitfast at
1/1000 or the model's step if that is smaller, with the contacts that the model asks for.

One line for each body on a free joint and each program, as a table in Markdown. A robot has several such lines if it has objects beside it.

tilt      angle by which the body's axes have turned away from where the vertical was in them at the start, rad
height    change of the height of the body's frame, m
both at the ends of the fifths of --seconds
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import Any

import mujoco
import numpy as np
import tippe
from held import STEP, opened

TIMES = 5


def tilt(turn: Any, start: Any) -> float:
    """Between the vertical in the body's axes now and then; rotations as matrices."""
    return float(np.arccos(np.clip(turn[2] @ start[2], -1.0, 1.0)))


def matrix(quaternion: Any) -> Any:
    turn = np.zeros(9)
    mujoco.mju_quat2Mat(turn, np.asarray(quaternion, dtype=float))
    return turn.reshape(3, 3)


def free_bodies(m: Any) -> list[int]:
    return [int(m.jnt_bodyid[j]) for j in range(m.njnt) if m.jnt_type[j] == mujoco.mjtJoint.mjJNT_FREE.value]


def in_mujoco(path: Path, scene: Any, seconds: float) -> dict[str, list[tuple[float, float]]]:
    m, d = opened(path, scene)
    mujoco.mj_forward(m, d)
    bodies = free_bodies(m)
    starts = [(d.xmat[i].reshape(3, 3).copy(), float(d.xpos[i][2])) for i in bodies]
    found: dict[str, list[tuple[float, float]]] = {m.body(i).name: [] for i in bodies}
    for _ in range(TIMES):
        for _ in range(round(seconds / TIMES / m.opt.timestep)):
            mujoco.mj_step(m, d)
        for i, (turn, height) in zip(bodies, starts, strict=True):
            found[m.body(i).name].append((tilt(d.xmat[i].reshape(3, 3), turn), float(d.xpos[i][2]) - height))
    return found


def here(scene: Any, names: list[str], seconds: float) -> dict[str, list[tuple[float, float]]]:
    world = tippe.load({**scene, "simulation": {"stepper": "anitescu", "step": STEP, "until": seconds}})
    centres = {body["name"]: np.array(body.get("center_of_mass", [0.0, 0.0, 0.0])) for body in scene["bodies"]}

    def place(name: str) -> tuple[Any, float]:
        body = scene.report.renamed.get(name, name)
        turn = matrix(world[body].rotation)
        return turn, float(world[body].position[2] - (turn @ centres[body])[2])

    starts = {name: place(name) for name in names}
    found: dict[str, list[tuple[float, float]]] = {name: [] for name in names}
    for _ in range(TIMES):
        for _ in range(round(seconds / TIMES / STEP)):
            world.step()
        for name in names:
            turn, height = place(name)
            found[name].append((tilt(turn, starts[name][0]), height - starts[name][1]))
    return found


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("models", nargs="+", type=Path)
    parser.add_argument("--seconds", type=float, default=5.0)
    options = parser.parse_args()
    print("| model | body | program | tilt, rad | height, m |\n|---|---|---|---|---|", flush=True)
    for path in options.models:
        scene = tippe.models.convert(path, visual=False)
        theirs = in_mujoco(path.absolute(), scene, options.seconds)
        ours = here(scene, list(theirs), options.seconds)
        for name in theirs:
            for program, found in (("MuJoCo", theirs[name]), ("Tippe", ours[name])):
                figures = [" ".join(f"{value:.2f}" for value in values) for values in zip(*found, strict=True)]
                print(f"| {path.parent.name}/{path.stem} | {name} | {program} | {' | '.join(figures)} |", flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
