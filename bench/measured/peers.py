"""MuJoCo and Bullet as engines of tippe.measured: one box above a plane, through the same driver as Tippe.

Both come from PyPI (`pip install mujoco pybullet`); nothing else needs them. Positions of a motion are those of the box's frame; its centre of mass may
lie beside the middle. Starts are those of the centre of mass (`tippe.measured.Start`).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from tippe.measured import Engine, Motion, Poses, Start

__all__ = ["bullet", "mujoco"]


def _only(starts: Mapping[str, Start]) -> tuple[str, Start]:
    ((name, start),) = starts.items()
    return name, start


def _matrix(q: Sequence[float] | NDArray[np.float64]) -> NDArray[np.float64]:
    w, x, y, z = q
    return np.array([
        [1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)],
        [2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x)],
        [2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)],
    ])


def mujoco(
    width: float, mass: float, inertia: float, friction: float, step: float, *, cone: str = "pyramidal", solref: tuple[float, float] = (0.02, 1.0),
    impratio: float = 1.0, center: Sequence[float] = (0.0, 0.0, 0.0),
) -> Engine:
    """MuJoCo. `solref` is its contact spring: time constant and damping ratio."""
    import mujoco as mj

    text = f"""<mujoco><option timestep="{step}" cone="{cone}" impratio="{impratio}" gravity="0 0 -9.81"/><worldbody>
      <geom type="plane" size="10 10 1" friction="{friction} 0 0" solref="{solref[0]} {solref[1]}"/>
      <body name="cube"><freejoint/><inertial pos="{center[0]} {center[1]} {center[2]}" mass="{mass}" diaginertia="{inertia} {inertia} {inertia}"/>
      <geom type="box" size="{width / 2} {width / 2} {width / 2}" friction="{friction} 0 0" solref="{solref[0]} {solref[1]}"/></body>
      </worldbody></mujoco>"""
    model = mj.MjModel.from_xml_string(text)

    def engine(motion: Motion, starts: Mapping[str, Start]) -> dict[str, Poses]:
        name, start = _only(starts)
        data = mj.MjData(model)
        turn = _matrix(start.rotation)
        arm = turn @ np.asarray(center)
        # The free joint is that of the frame, not of the centre of mass.
        data.qpos[:3], data.qpos[3:] = start.position - arm, start.rotation
        data.qvel[:3], data.qvel[3:] = start.velocity - np.cross(start.angular_velocity, arm), turn.T @ start.angular_velocity
        poses = [data.qpos.copy()]
        for until in motion.time[1:] - motion.time[0]:
            while data.time < until - 0.5 * step:
                mj.mj_step(model, data)
            poses.append(data.qpos.copy())
        made = np.array(poses)
        return {name: Poses(made[:, :3], made[:, 3:])}

    return engine


def bullet(
    width: float, mass: float, inertia: float, friction: float, restitution: float, step: float, *, threshold: float = 0.02,
    center: Sequence[float] = (0.0, 0.0, 0.0),
) -> Engine:
    """Bullet. It multiplies coefficients of friction and restitution of two bodies: the plane's are one."""
    import pybullet as pb

    client = pb.connect(pb.DIRECT)
    shift = [-value for value in center]

    def engine(motion: Motion, starts: Mapping[str, Start]) -> dict[str, Poses]:
        name, start = _only(starts)
        pb.resetSimulation(physicsClientId=client)
        pb.setGravity(0, 0, -9.81, physicsClientId=client)
        pb.setPhysicsEngineParameter(fixedTimeStep=step, numSubSteps=0, restitutionVelocityThreshold=threshold, physicsClientId=client)
        plane = pb.createMultiBody(0, pb.createCollisionShape(pb.GEOM_PLANE, physicsClientId=client), physicsClientId=client)
        # The base of a body is its centre of mass.
        box = pb.createCollisionShape(pb.GEOM_BOX, halfExtents=[width / 2] * 3, collisionFramePosition=shift, physicsClientId=client)
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
        arms = np.array([_matrix(q) @ np.asarray(center) for q in made[:, 3:]])
        return {name: Poses(made[:, :3] - arms, made[:, 3:])}

    return engine
