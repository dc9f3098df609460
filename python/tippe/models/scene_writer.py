"""A model as a scene."""

from __future__ import annotations

import re
from typing import Any

import numpy as np

from .model import Axis, Body, Coupling, Drive, Joint, Laws, Model, Shape

__all__ = ["Names", "write_scene"]

_LONGEST = 63


class Names:
    """Names of scenes for names of models: letters, digits, `_` and `-`, each once."""

    def __init__(self) -> None:
        self.taken: set[str] = set()
        self.made: dict[str, str] = {}

    def give(self, name: str) -> str:
        if name in self.made:
            return self.made[name]
        plain = re.sub(r"[^A-Za-z0-9_-]", "_", name)[:_LONGEST] or "part"
        made, k = plain, 1
        while made in self.taken:
            k += 1
            made = f"{plain[: _LONGEST - len(str(k)) - 1]}_{k}"
        self.taken.add(made)
        self.made[name] = made
        return made


def _numbers(values: Any) -> list[float]:
    return [float(v) + 0.0 for v in np.ravel(values)]


def _rotation(q: Any) -> dict[str, list[float]] | None:
    return None if np.array_equal(q, [1, 0, 0, 0]) else {"quaternion": _numbers(q)}


class _Writer:
    def __init__(self, model: Model, mesh_files: dict[str, str]) -> None:
        self.model = model
        self.mesh_files = mesh_files
        self.bodies, self.joints, self.axes, self.materials, self.sensors = Names(), Names(), Names(), Names(), Names()
        self.references: dict[str, str] = {}  # of axes, as couplings and sensors name them

    def scene(self) -> dict[str, Any]:
        model = self.model
        scene: dict[str, Any] = {
            "tippe": 1,
            "name": model.name,
            "about": f"Converted from {model.report.source.rsplit('/', 1)[-1]}.",
            "gravity": _numbers(model.gravity),
            "materials": {self.materials.give(name): {"friction": _friction(f)} for name, f in model.materials.items()},
            "pairs": [{"between": [self.materials.give(a), self.materials.give(b)], "friction": _friction(f)} for a, b, f in model.pairs],
            "bodies": [self._body(body) for body in model.bodies],
            "joints": [self._joint(joint) for joint in model.joints],
            "excludes": [{"bodies": [self.bodies.give(a), self.bodies.give(b)]} for a, b in model.excludes],
            "couplings": [made for coupling in model.couplings for made in self._couplings(coupling)],
            "forces": [
                {"body": self.bodies.give(f.body), "force": _numbers(f.force), "torque": _numbers(f.torque), "at": _numbers(f.at), "frame": "body"}
                for f in model.forces
            ],
            "sensors": self._sensors(),
            "simulation": {"stepper": "anitescu", "step": model.step, "until": 10.0},
        }
        for key in ("materials", "pairs", "joints", "excludes", "couplings", "forces", "sensors"):
            if not scene[key]:
                del scene[key]
        for names in (self.bodies, self.joints, self.axes):
            model.report.renamed.update({old: new for old, new in names.made.items() if old != new})
        # Sensors may have the name of a body or a joint.
        model.report.renamed.update({f"sensor {old}": new for old, new in self.sensors.made.items() if old != new})
        return scene

    # Bodies -------------------------------------------------------------------------------------

    def _body(self, body: Body) -> dict[str, Any]:
        made: dict[str, Any] = {"name": self.bodies.give(body.name)}
        if body.kind != "dynamic":
            made["kind"] = body.kind
        made["position"] = _numbers(body.position)
        rotation = _rotation(body.rotation)
        if rotation:
            made["rotation"] = rotation
        if body.kind == "dynamic":
            i = body.inertia
            made["mass"] = float(body.mass)
            made["inertia"] = _numbers([i[0, 0], i[1, 1], i[2, 2], i[0, 1], i[0, 2], i[1, 2]])
            made["center_of_mass"] = _numbers(body.center)
            for key in ("velocity", "angular_velocity"):
                if np.any(getattr(body, key) != 0):
                    made[key] = _numbers(getattr(body, key))
            if body.gravity_scale != 1.0:
                made["gravity_scale"] = float(body.gravity_scale)
        if body.shapes:
            made["shapes"] = [self._shape(shape) for shape in body.shapes]
        return made

    def _shape(self, shape: Shape) -> dict[str, Any]:
        made: dict[str, Any] = {"type": shape.type, **shape.data}
        if shape.mesh is not None:
            made["file"] = self.mesh_files[shape.mesh]
        if np.any(shape.position != 0):
            made["position"] = _numbers(shape.position)
        rotation = _rotation(shape.rotation)
        if rotation:
            made["rotation"] = rotation
        if shape.visual:
            made["visual"] = True
        else:
            if shape.material is not None:
                made["material"] = self.materials.give(shape.material)
            if shape.group != 1 or shape.mask != 0xFFFFFFFF:
                made["group"], made["mask"] = shape.group, shape.mask
        if shape.color is not None:
            made["color"] = [min(max(v, 0.0), 1.0) for v in shape.color]
        return made

    # Joints -------------------------------------------------------------------------------------

    def _joint(self, joint: Joint) -> dict[str, Any]:
        name = self.joints.give(joint.name)
        known = {body.name for body in self.model.bodies}
        made: dict[str, Any] = {
            "name": name,
            "type": joint.kind,
            "bodies": [self.bodies.give(b) if b in known else None for b in (joint.parent, joint.child)],
            "anchor": _numbers(joint.anchor),
        }
        if joint.kind == "axes":
            made.update(self._axes(joint, name))
        elif joint.kind == "ball":
            made.update(_laws(joint.laws, joint.name, 0.0, False))
        if joint.collide:
            made["collide"] = True
        return made

    def _axes(self, joint: Joint, name: str) -> dict[str, Any]:
        if len(joint.axes) == 1:
            axis = joint.axes[0]
            self.references[axis.name] = name
            kind = "revolute" if axis.kind == "turn" else "prismatic"
            return {"type": kind, "axis": _numbers(axis.direction), **_laws(axis.laws, axis.name, axis.value)}
        return {"type": "compound", "axes": [self._axis(axis, name) for axis in joint.axes]}

    def _axis(self, axis: Axis, joint: str) -> dict[str, Any]:
        name = self.axes.give(axis.name)
        self.references[axis.name] = f"{joint}.{name}"
        return {"name": name, axis.kind: _numbers(axis.direction), **_laws(axis.laws, axis.name, axis.value)}

    # Couplings and sensors ----------------------------------------------------------------------

    def _couplings(self, coupling: Coupling) -> list[dict[str, Any]]:
        terms = [[self.references[axis], float(factor)] for axis, factor in coupling.terms]
        made: dict[str, Any] = {"name": self.joints.give(coupling.name), "of": terms}
        if coupling.value is not None:
            made["value"] = float(coupling.value)
        if coupling.limits is not None:
            made["limits"] = list(coupling.limits)
        if coupling.stiffness or coupling.damping:
            made["spring"] = {"stiffness": coupling.stiffness, "damping": coupling.damping, "rest": coupling.rest}
        if coupling.drive is not None:
            made["servo"] = _servo(coupling.drive)
        return [made]

    def _sensors(self) -> list[dict[str, Any]]:
        made: list[dict[str, Any]] = []
        for sensor in self.model.sensors:
            one: dict[str, Any] = {"name": self.sensors.give(sensor.name), "type": sensor.type}
            if sensor.joint is not None:
                one["joint"] = self.references.get(sensor.joint) or self.joints.give(sensor.joint)
            elif sensor.body is not None:
                one["body"] = self.bodies.give(sensor.body)
            if sensor.type in ("accelerometer", "gyroscope", "force_torque"):
                if sensor.type == "accelerometer" and np.any(sensor.position != 0):
                    one["position"] = _numbers(sensor.position)
                rotation = _rotation(sensor.rotation)
                if rotation:
                    one["rotation"] = rotation
            made.append(one)
        return made


def _friction(numbers: dict[str, float]) -> Any:
    return numbers["dynamic"] if len(numbers) == 1 else dict(numbers)


def _laws(laws: Laws, name: str, value: float, turns: bool = True) -> dict[str, Any]:
    made: dict[str, Any] = {}
    if turns and value != 0:
        made["zero"] = float(value)
    if laws.limits is not None:
        made["limits"] = list(laws.limits)
    if laws.stiffness:
        made["spring"] = {"stiffness": laws.stiffness, "rest": laws.rest}
    for key in ("armature", "damping", "friction"):
        if getattr(laws, key):
            made[key] = float(getattr(laws, key))
    drive = laws.drive
    if drive is not None and (drive.stiffness or drive.damping):
        made["servo"] = _servo(drive)
    elif drive is not None and drive.push:
        # A speed that is never reached: the effort is all there is.
        made["motor"] = {"speed": float(np.copysign(1e6, drive.push)), "effort": abs(drive.push)}
    return made


def _servo(drive: Drive) -> dict[str, float]:
    made = {"target": drive.target, "stiffness": drive.stiffness, "damping": drive.damping}
    if drive.speed:
        made["speed"] = drive.speed
    if drive.effort is not None:
        made["effort"] = drive.effort
    return {key: float(v) for key, v in made.items()}


def write_scene(model: Model, mesh_files: dict[str, str]) -> dict[str, Any]:
    """The scene of a model; `mesh_files` are the paths of its meshes."""
    return _Writer(model, mesh_files).scene()
