"""Robots in MJCF against MuJoCo: masses, poses, free motion, standing, time a step.

usage: robots.py [--stand SECONDS] [--gain FACTOR] [--steppers a,b] [--motion] MODEL.xml ...

One line for each model, as a table in Markdown. Needs the package with `pip install '.[models]'`; models are not part of Tippe.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from collections import Counter
from pathlib import Path
from typing import Any

import mujoco
import numpy as np
import tippe

STEP = 1 / 200


def body_of(scene: dict[str, Any], name: str) -> dict[str, Any] | None:
    return next((body for body in scene["bodies"] if body["name"] == name), None)


def scene_name(scene: Any, name: str) -> str:
    return scene.report.renamed.get(name, name)


def mass_error(m: Any, scene: Any) -> float:
    """Largest relative difference of masses, centres (m) and principal moments."""
    worst = 0.0
    for i in range(1, m.nbody):
        body = body_of(scene, scene_name(scene, m.body(i).name or f"body{i}"))
        if body is None or "mass" not in body:
            continue
        xx, yy, zz, xy, xz, yz = body["inertia"]
        moments = np.linalg.eigvalsh(np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]]))
        expected = np.sort(m.body_inertia[i])
        worst = max(worst, abs(body["mass"] / m.body_mass[i] - 1), np.abs(body["center_of_mass"] - m.body_ipos[i]).max(), np.abs(moments / expected - 1).max())
    return worst


def pose_error(m: Any, path: Path) -> float:
    """Largest difference of positions (m) and rotations over all keyframes."""
    worst, d = 0.0, mujoco.MjData(m)
    for k in range(m.nkey):
        mujoco.mj_resetDataKeyframe(m, d, k)
        mujoco.mj_forward(m, d)
        scene = tippe.models.convert(path, keyframe=k, visual=False)
        for i in range(1, m.nbody):
            body = body_of(scene, scene_name(scene, m.body(i).name or f"body{i}"))
            if body is None:
                continue
            turn = np.array(body.get("rotation", {"quaternion": [1, 0, 0, 0]})["quaternion"])
            worst = max(worst, np.abs(body["position"] - d.xpos[i]).max(), 1 - abs(turn @ d.xquat[i]))
    return worst


def motion_error(m: Any, path: Path, seed: int, driven: bool) -> float:
    """Contact-free motion over 0.2 s from a random state, without what is soft on one side: difference of centres, m."""
    m = mujoco.MjModel.from_xml_path(str(path))
    bit = mujoco.mjtDisableBit
    m.opt.disableflags |= bit.mjDSBL_CONTACT | bit.mjDSBL_LIMIT | bit.mjDSBL_FRICTIONLOSS | bit.mjDSBL_EQUALITY
    m.opt.integrator, m.opt.timestep = mujoco.mjtIntegrator.mjINT_RK4, 1e-4
    m.actuator_forcelimited[:] = 0
    if not driven:
        m.opt.disableflags |= bit.mjDSBL_ACTUATION
    m.jnt_actfrclimited[:] = 0
    generator, d = np.random.default_rng(seed), mujoco.MjData(m)
    if m.nkey:
        mujoco.mj_resetDataKeyframe(m, d, 0)
    for j in range(m.njnt):
        if m.jnt_limited[j] and m.jnt_type[j] >= 2:
            middle, half = m.jnt_range[j].mean(), 0.5 * np.ptp(m.jnt_range[j])
            d.qpos[m.jnt_qposadr[j]] = middle + 0.8 * half * generator.uniform(-1, 1)
    d.qvel[:] = 0.3 * generator.standard_normal(m.nv)
    scene = tippe.models.convert(path, state=(d.qpos.copy(), d.qvel.copy()), keyframe=0 if m.nkey else None, hold=False, visual=False)
    plain = json.loads(json.dumps(scene))
    for joint in plain.get("joints", []):
        for axis in [joint, *joint.get("axes", [])]:
            for key in ("limits", "friction"):
                axis.pop(key, None)
            axis.get("servo", {}).pop("effort", None)
            for key in () if driven else ("servo", "motor"):
                axis.pop(key, None)
    for body in plain["bodies"]:
        body.pop("shapes", None)
    loops = {m.equality(k).name or f"loop{k}" for k in range(m.neq) if int(m.eq_type[k]) < 2}
    plain["joints"] = [joint for joint in plain.get("joints", []) if joint["name"] not in loops]
    for key in ("couplings", "sensors", "excludes") if driven else ("couplings", "sensors", "excludes", "forces"):
        plain.pop(key, None)
    for _ in range(2000):
        mujoco.mj_step(m, d)
    mujoco.mj_forward(m, d)
    ends = []
    names = [i for i in range(1, m.nbody) if m.body_weldid[i] != 0 and body_of(plain, scene_name(scene, m.body(i).name or f"body{i}"))]
    for step in (1e-3, 5e-4, 2.5e-4):
        options = {"theta": 0.5, "energy_guard": False}
        world = tippe.load({**plain, "simulation": {"stepper": "anitescu", "step": step, "until": 1, "options": options}})
        for _ in range(round(0.2 / step)):
            world.step()
        ends.append(np.array([world[scene_name(scene, m.body(i).name or f"body{i}")].position for i in names]))
    # Extrapolated to h = 0, by the term of second order.
    return float(np.abs((4 * ends[2] - ends[1]) / 3 - d.xipos[names]).max())


def stand(scene: Any, stepper: str, seconds: float, gain: float) -> dict[str, float]:
    """What a robot does that holds its start for a while."""
    for joint in scene.get("joints", []) if gain != 1.0 else ():
        for axis in [joint, *joint.get("axes", [])]:
            for key in ("stiffness", "damping"):
                if key in axis.get("servo", {}):
                    axis["servo"][key] *= gain
    world = tippe.load({**scene, "simulation": {**scene["simulation"], "stepper": stepper, "step": STEP}})
    start = world.positions.copy()
    begin, residual, penetration, drift = time.process_time(), 0.0, 0.0, 0.0
    steps, late = round(seconds / STEP), start
    settled = begin
    for k in range(steps):
        if k == steps // 2:
            late, settled = world.positions.copy(), time.process_time()
        report = world.step()
        # Keyframes may begin with an overlap, which the first steps put right.
        penetration = max(penetration, report.penetration) if k > 20 else 0.0
        residual, drift = max(residual, report.residual), max(drift, report.joint_drift)
        if not np.isfinite(world.positions).all():
            return {"not finite after, s": (k + 1) * STEP}
    end = time.process_time()
    half = STEP * (steps - steps // 2)
    weight = sum(body.get("mass", 0.0) * body.get("gravity_scale", 1.0) for body in scene["bodies"] if body.get("kind") != "fixed")
    weight *= float(np.linalg.norm(scene["gravity"]))
    normal = world.contacts["normal_impulse"].sum() / STEP if len(world.contacts) else 0.0
    on_floor = [name for name in ("floor", "world", "ground") if name in {body["name"] for body in scene["bodies"]}]
    touching = {c["body_a"] for c in world.contacts if c["body_b"] in on_floor} | {c["body_b"] for c in world.contacts if c["body_a"] in on_floor}
    feet = max((float(np.abs(world[str(name)].velocity).max()) for name in touching), default=0.0)
    return {
        "moved": float(np.abs(world.positions - start).max()),
        "speed": float(np.abs(world.velocities).max()),
        "feet": feet,
        "creep": float(np.abs(world.positions - late).max()) / half,
        "load - 1": normal / weight - 1.0 if weight and touching else 0.0,
        "contacts": len(world.contacts),
        "residual": residual,
        "penetration": penetration,
        "joint drift": drift,
        "ms": 1e3 * (end - begin) / steps,
        "ms of second half": 1e3 * (end - settled) / max(steps - steps // 2, 1),
    }


def mujoco_time(path: Path, steps: int) -> float:
    m = mujoco.MjModel.from_xml_path(str(path))
    d = mujoco.MjData(m)
    m.opt.timestep = STEP
    if m.nkey:
        mujoco.mj_resetDataKeyframe(m, d, 0)
    begin = time.process_time()
    for _ in range(steps):
        mujoco.mj_step(m, d)
    return 1e3 * (time.process_time() - begin) / steps


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("models", nargs="+", type=Path)
    parser.add_argument("--stand", type=float, default=0.0, metavar="SECONDS")
    parser.add_argument("--gain", type=float, default=1.0, help="times stiffness and damping of all servos")
    parser.add_argument("--steppers", default="anitescu")
    parser.add_argument("--motion", action="store_true")
    options = parser.parse_args()
    for path in options.models:
        label = f"{path.parent.name}/{path.name}"
        try:
            scene = tippe.models.convert(path, visual=False)
            m = mujoco.MjModel.from_xml_path(str(path))
        except (tippe.models.ModelError, ValueError) as error:
            print(f"| {label} | refused: {' '.join(str(error).split())[:120]} |", flush=True)
            continue
        kinds = Counter(note.kind for note in scene.report.notes)
        line = [label, f"{m.nbody} bodies, {m.nv} dofs", f"missing {kinds['missing']}, changed {kinds['changed']}"]
        line += [f"masses {mass_error(m, scene):.1e}", f"poses {pose_error(m, path):.1e}"]
        try:
            if options.motion:
                line.append(f"motion {motion_error(m, path, 1, False):.1e}, with servos {motion_error(m, path, 1, True):.1e}")
            for stepper in options.steppers.split(",") if options.stand else ():
                figures = stand(json.loads(json.dumps(scene)), stepper, options.stand, options.gain)
                line.append(f"{stepper}: " + ", ".join(f"{key} {value:.3g}" for key, value in figures.items()))
            if options.stand:
                line.append(f"MuJoCo {mujoco_time(path, 400):.3g} ms")
        except (tippe.SceneError, ValueError) as error:
            line.append(f"failed: {' '.join(str(error).split())[:200]}")
        print("| " + " | ".join(line) + " |", flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
