"""Sensors of a compiled model."""

from __future__ import annotations

from typing import TYPE_CHECKING

from . import rotations
from .model import Array, Sensor

if TYPE_CHECKING:
    from .mjcf import Compiled

__all__ = ["add_sensors"]

_AT_SITE = {"accelerometer": "accelerometer", "gyro": "gyroscope", "force": "force_torque", "torque": "force_torque", "touch": "contact_force"}
_STATE = ("jointpos", "jointvel", "jointactfrc", "actuatorpos", "actuatorvel", "actuatorfrc")


def add_sensors(c: Compiled) -> None:
    made: dict[tuple[object, ...], str] = {}
    for k in range(c.m.nsensor):
        c.reading = ("sensor", k, c.m.nsensor)
        kind = c.mujoco.mjtSensor(int(c.m.sensor_type[k])).name.removeprefix("mjSENS_").lower()
        name = c.name("sensor", k)
        if kind in _AT_SITE:
            sensor = _at_site(c, k, name, kind)
        elif kind in _STATE:
            sensor = _of_joint(c, k, name, kind)
        else:
            sensor = None
        if sensor is None:
            c.note("missing", "sensor", None, f"a sensor of type {kind} is left out", c.m.sensor(k).name)
            continue
        key = (sensor.type, sensor.body, sensor.joint, tuple(sensor.position), tuple(sensor.rotation))
        if key in made:  # position, speed and effort of a joint are one sensor here, and so are force and torque
            c.report.renamed[f"sensor {name}"] = made[key]
        else:
            made[key] = sensor.name
            c.model.sensors.append(sensor)
    c.reading = None


def _at_site(c: Compiled, k: int, name: str, kind: str) -> Sensor | None:
    m = c.m
    site = int(m.sensor_objid[k])
    body = int(m.site_bodyid[site])
    carrier = c.model.body(c.bodies[body]) if any(b.name == c.bodies[body] for b in c.model.bodies) else None
    if carrier is None:
        return None
    sensor = Sensor(name, _AT_SITE[kind], carrier.name)
    sensor.position, sensor.rotation = _place(c, site, body, carrier.position, carrier.rotation)
    if kind in ("force", "torque"):
        joint = next((j for j in c.model.joints if j.child == carrier.name), None)
        if joint is None or carrier.name != m.body(body).name:
            return None
        sensor.body, sensor.joint = None, joint.name
        c.note("changed", "sensor", kind, "is measured at the anchor of the joint, on the body", m.sensor(k).name)
    elif kind == "touch":
        c.note("changed", "sensor", "site", "counts all contacts of the body, not those inside the site", m.sensor(k).name)
    return sensor


def _place(c: Compiled, site: int, body: int, position: Array, rotation: Array) -> tuple[Array, Array]:
    m, d = c.m, c.d
    place = rotations.place(d.xpos[body], d.xquat[body], m.site_pos[site], m.site_quat[site])
    return rotations.between(position, rotation, *place)


def _of_joint(c: Compiled, k: int, name: str, kind: str) -> Sensor | None:
    m = c.m
    index = int(m.sensor_objid[k])
    if kind.startswith("actuator"):
        if int(m.actuator_trntype[index]) != int(c.mujoco.mjtTrn.mjTRN_JOINT):
            return None
        index = int(m.actuator_trnid[index][0])
    return Sensor(name, "joint_state", joint=c.axes[index]) if index in c.axes else None
