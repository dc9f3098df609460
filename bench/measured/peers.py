"""MuJoCo and Bullet as engines of tippe.measured: one box above a plane, through the same driver as Tippe.

Both come from PyPI (`pip install mujoco pybullet`); nothing else needs them.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from tippe.measured import Engine, Motion, Poses, Start

__all__ = ["bullet", "mujoco"]


def _only(starts: Mapping[str, Start]) -> tuple[str, Start]:
    ((name, start),) = starts.items()
    return name, start


def mujoco(width: float, mass: float, inertia: float, friction: float, step: float, *, cone: str = "pyramidal", solref: tuple[float, float] = (0.02, 1.0)) -> Engine:
    """MuJoCo. `solref` is its contact spring: time constant and damping ratio."""
    import mujoco as mj

    text = f"""<mujoco><option timestep="{step}" cone="{cone}" gravity="0 0 -9.81"/><worldbody>
      <geom type="plane" size="10 10 1" friction="{friction} 0 0" solref="{solref[0]} {solref[1]}"/>
      <body name="cube"><freejoint/><inertial pos="0 0 0" mass="{mass}" diaginertia="{inertia} {inertia} {inertia}"/>
      <geom type="box" size="{width / 2} {width / 2} {width / 2}" friction="{friction} 0 0" solref="{solref[0]} {solref[1]}"/></body>
      </worldbody></mujoco>"""
    model = mj.MjModel.from_xml_string(text)

    def engine(motion: Motion, starts: Mapping[str, Start]) -> dict[str, Poses]:
        name, start = _only(starts)
        data = mj.MjData(model)
        data.qpos[:3], data.qpos[3:] = start.position, start.rotation
        turn = np.zeros(9)
        mj.mju_quat2Mat(turn, np.asarray(start.rotation))
        data.qvel[:3], data.qvel[3:] = start.velocity, turn.reshape(3, 3).T @ start.angular_velocity
        poses = [data.qpos.copy()]
        for until in motion.time[1:] - motion.time[0]:
            while data.time < until - 0.5 * step:
                mj.mj_step(model, data)
            poses.append(data.qpos.copy())
        made = np.array(poses)
        return {name: Poses(made[:, :3], made[:, 3:])}

    return engine


def bullet(width: float, mass: float, inertia: float, friction: float, restitution: float, step: float) -> Engine:
    """Bullet. It multiplies coefficients of friction and restitution of two bodies: the plane's are one."""
    import pybullet as pb

    client = pb.connect(pb.DIRECT)

    def engine(motion: Motion, starts: Mapping[str, Start]) -> dict[str, Poses]:
        name, start = _only(starts)
        pb.resetSimulation(physicsClientId=client)
        pb.setGravity(0, 0, -9.81, physicsClientId=client)
        pb.setPhysicsEngineParameter(fixedTimeStep=step, numSubSteps=0, restitutionVelocityThreshold=0.02, physicsClientId=client)
        plane = pb.createMultiBody(0, pb.createCollisionShape(pb.GEOM_PLANE, physicsClientId=client), physicsClientId=client)
        box = pb.createCollisionShape(pb.GEOM_BOX, halfExtents=[width / 2] * 3, physicsClientId=client)
        w, x, y, z = start.rotation
        cube = pb.createMultiBody(mass, box, basePosition=list(start.position), baseOrientation=[x, y, z, w], physicsClientId=client)
        still: dict[str, Any] = {"linearDamping": 0.0, "angularDamping": 0.0, "rollingFriction": 0.0, "spinningFriction": 0.0, "physicsClientId": client}
        pb.changeDynamics(plane, -1, lateralFriction=1.0, restitution=1.0, **still)
        pb.changeDynamics(cube, -1, lateralFriction=friction, restitution=restitution, localInertiaDiagonal=[inertia] * 3, **still)
        pb.resetBaseVelocity(cube, list(start.velocity), list(start.angular_velocity), physicsClientId=client)
        poses, done = [np.concatenate([start.position, start.rotation])], 0
        for until in motion.time[1:] - motion.time[0]:
            while done * step < until - 0.5 * step:
                pb.stepSimulation(physicsClientId=client)
                done += 1
            position, (x, y, z, w) = pb.getBasePositionAndOrientation(cube, physicsClientId=client)
            poses.append(np.array([*position, w, x, y, z]))
        made = np.array(poses)
        return {name: Poses(made[:, :3], made[:, 3:])}

    return engine
