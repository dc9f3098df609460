#!/usr/bin/env python3
"""Robots that their servos hold, here and in MuJoCo: to which angles their joints come.

usage: held.py [--seconds S] MODEL.xml ...

Needs the package with `pip install '.[models]'`. Each model starts from its home keyframe in both programs, with
the same gains (those that the importer gives to torque motors are written into MuJoCo's model), and runs for
--seconds: `anitescu` at h = 1/200, MuJoCo by implicitfast at 1/1000 or the model's step if that is smaller. Dry
friction of joints is left out on both sides: with it a joint may rest anywhere within a band.

One line for each model, as a table in Markdown:

moved     largest change of an angle (rad) or way (m) of a joint from the start, here
soft      largest difference of a joint from MuJoCo's, with the contacts that the model asks for
stiff     the same with MuJoCo's contacts, limits and equalities made stiff: solref 4 ms, friction that does not slip
kept      the same as soft, but MuJoCo starts where the robot came to rest here: feet that stick have many places to rest
still     largest speed of a joint in MuJoCo at the end, rad/s or m/s: what has not come to rest is not comparable
sinks     deepest overlap of MuJoCo's soft contacts, m, over the way from there to the nearest joint: roughly what they explain
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import Any, NamedTuple

import mujoco
import numpy as np

import tippe

STEP = 0.005
STIFF = 0.004


class Rest(NamedTuple):
    """Where a robot has come to rest: values of its joints, centres and rotations of its bodies."""

    joints: dict[str, float]
    poses: dict[str, tuple[Any, Any]]


def axes_of(scene: Any) -> dict[str, dict[str, Any]]:
    found = {}
    for joint in scene.get("joints", []):
        for axis in [joint, *joint.get("axes", [])]:
            found[axis.get("name", joint["name"])] = axis
    return found


def give_gains(m: Any, d: Any, scene: Any) -> None:
    """Torque motors that hold their joint here hold it in MuJoCo as well."""
    axes, renamed = axes_of(scene), scene.report.renamed
    for a in range(m.nu):
        is_motor = m.actuator_biastype[a] == 0 and m.actuator_gaintype[a] == 0
        if m.actuator_trntype[a] != mujoco.mjtTrn.mjTRN_JOINT.value or not is_motor:
            continue
        name = m.joint(int(m.actuator_trnid[a][0])).name
        servo = axes.get(renamed.get(name, name), {}).get("servo")
        if not servo:
            continue
        m.actuator_gainprm[a, 0] = 1.0
        m.actuator_biastype[a] = 1
        m.actuator_biasprm[a, :3] = [0.0, -servo.get("stiffness", 0.0), -servo.get("damping", 0.0)]
        m.actuator_gear[a, :] = [1.0, 0.0, 0.0, 0.0, 0.0, 0.0]
        m.actuator_ctrllimited[a] = 0
        m.actuator_forcelimited[a] = "effort" in servo
        m.actuator_forcerange[a] = [-servo.get("effort", 0.0), servo.get("effort", 0.0)]
        d.ctrl[a] = servo.get("stiffness", 0.0) * servo.get("target", 0.0)


def take_over(m: Any, d: Any, scene: Any, rest: Rest) -> None:
    """The state in which it came to rest here."""
    bodies = {body["name"]: body for body in scene["bodies"]}
    for j in range(m.njnt):
        start, name = int(m.jnt_qposadr[j]), m.joint(j).name
        name = scene.report.renamed.get(name, name)
        if m.jnt_type[j] == mujoco.mjtJoint.mjJNT_FREE.value:
            body = m.body(int(m.jnt_bodyid[j])).name
            body = scene.report.renamed.get(body, body)
            centre, rotation = rest.poses[body]
            turn = np.zeros(9)
            mujoco.mju_quat2Mat(turn, rotation)
            d.qpos[start : start + 3] = centre - turn.reshape(3, 3) @ bodies[body].get("center_of_mass", [0.0, 0.0, 0.0])
            d.qpos[start + 3 : start + 7] = rotation
        elif name in rest.joints:
            d.qpos[start] = rest.joints[name]
    d.qvel[:] = 0.0


def opened(path: Path, scene: Any) -> tuple[Any, Any]:
    """MuJoCo's model in its first pose, with the scene's gains and steps as fine as MuJoCo needs."""
    m = mujoco.MjModel.from_xml_path(str(path))
    d = mujoco.MjData(m)
    names = [m.key(i).name for i in range(m.nkey)]
    if names:
        mujoco.mj_resetDataKeyframe(m, d, names.index("home") if "home" in names else 0)
    give_gains(m, d, scene)
    m.opt.integrator = mujoco.mjtIntegrator.mjINT_IMPLICITFAST
    m.opt.timestep = min(m.opt.timestep, 1e-3)
    return m, d


def in_mujoco(path: Path, scene: Any, seconds: float, stiff: bool, rest: Rest | None = None) -> tuple[dict[str, float], float, float]:
    """Joints at the end, the fastest of them, and what the overlap of contacts explains."""
    m, d = opened(path, scene)
    if rest is not None:
        take_over(m, d, scene, rest)
    m.opt.disableflags |= mujoco.mjtDisableBit.mjDSBL_FRICTIONLOSS.value
    if stiff:
        m.opt.enableflags |= mujoco.mjtEnableBit.mjENBL_OVERRIDE.value
        for solref in (m.opt.o_solref, m.jnt_solref, m.eq_solref, m.tendon_solref_lim):
            solref[...] = [STIFF, 1.0]
        for solimp in (m.opt.o_solimp, m.jnt_solimp, m.eq_solimp, m.tendon_solimp_lim):
            solimp[...] = [0.99, 0.9999, 1e-4, 0.5, 2.0]
        m.opt.impratio, m.opt.cone = 100.0, mujoco.mjtCone.mjCONE_ELLIPTIC
        m.opt.timestep = STIFF / 4.0
    for _ in range(round(seconds / m.opt.timestep)):
        mujoco.mj_step(m, d)
    values = {}
    speed = 0.0
    for j in range(m.njnt):
        if m.jnt_type[j] in (mujoco.mjtJoint.mjJNT_HINGE.value, mujoco.mjtJoint.mjJNT_SLIDE.value):
            name = m.joint(j).name
            values[scene.report.renamed.get(name, name)] = float(d.qpos[m.jnt_qposadr[j]])
            speed = max(speed, abs(float(d.qvel[m.jnt_dofadr[j]])))
    sinks = 0.0
    for contact in d.contact:
        ways = np.linalg.norm(d.xanchor - contact.pos, axis=1)
        sinks = max(sinks, -float(contact.dist) / max(float(ways.min(initial=1.0)), 1e-2))
    return values, speed, sinks


def here(scene: Any, seconds: float) -> tuple[Rest, float]:
    for axis in axes_of(scene).values():
        axis.pop("friction", None)
    world = tippe.load({**scene, "simulation": {"stepper": "anitescu", "step": STEP, "until": seconds}})
    before = {name: float(world.joints[name].value) for name in axes_of(scene) if name in world.joint_names}
    for _ in range(round(seconds / STEP)):
        world.step()
    after = {name: float(world.joints[name].value) for name in before}
    poses = {body["name"]: (np.array(world[body["name"]].position), np.array(world[body["name"]].rotation)) for body in scene["bodies"]}
    return Rest(after, poses), max((abs(after[name] - before[name]) for name in before), default=0.0)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("models", nargs="+", type=Path)
    parser.add_argument("--seconds", type=float, default=3.0)
    options = parser.parse_args()
    print("| model | joints | moved | soft | stiff | kept | still | sinks |\n|---|---:|---:|---:|---:|---:|---:|---:|", flush=True)
    for path in options.models:
        try:
            scene = tippe.models.convert(path, visual=False)
            soft, speed, sinks = in_mujoco(path, scene, options.seconds, False)
            stiff, _, _ = in_mujoco(path, scene, options.seconds, True)
            rest, moved = here(scene, options.seconds)
            kept, _, _ = in_mujoco(path, scene, options.seconds, False, rest)
        except (tippe.models.ModelError, ValueError, OSError) as error:
            print(f"| {path.parent.name}/{path.stem} | refused: {' '.join(str(error).split())[:100]} | | | | | | |", flush=True)
            continue
        own = rest.joints
        shared = [name for name in own if name in soft]
        differences = [max((abs(own[name] - other[name]) for name in shared), default=0.0) for other in (soft, stiff, kept)]
        figures = [moved, *differences, speed, sinks]
        print(f"| {path.parent.name}/{path.stem} | {len(shared)} | " + " | ".join(f"{x:.2g}" for x in figures) + " |", flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
