"""A floor under a robot that came without one."""

from __future__ import annotations

import numpy as np

from . import rotations
from .model import Array, Body, Model, Shape

__all__ = ["add_floor"]


def add_floor(model: Model) -> None:
    """A level plane that touches the lowest shape."""
    lowest = min((_lowest(model, body, shape) for body in model.bodies for shape in body.shapes if not shape.visual), default=0.0)
    floor = Body("floor", "fixed", np.array([0.0, 0.0, lowest]), np.array([1.0, 0.0, 0.0, 0.0]))
    material = next(iter(model.materials), None)
    if material is None:
        material = "surface0"
        model.materials[material] = {"dynamic": 1.0}
    bits = 0
    for body in model.bodies:
        for shape in body.shapes:
            bits |= 0 if shape.visual else shape.group
    plane = Shape("plane", np.zeros(3), np.array([1.0, 0.0, 0.0, 0.0]), {"normal": [0.0, 0.0, 1.0]}, material=material)
    _let_all_touch(model, plane, bits)
    floor.shapes.append(plane)
    model.bodies.insert(0, floor)
    model.report.add("chosen", "floor", None, f"a level floor at {lowest:.6g} m")


def _let_all_touch(model: Model, plane: Shape, bits: int) -> None:
    """A group for the floor that no other shape has, and that all of them meet."""
    free = next((1 << k for k in range(32) if not bits & 1 << k), 1)
    plane.group = free
    for body in model.bodies:
        for shape in body.shapes:
            if not shape.visual:
                shape.mask |= free


def _lowest(model: Model, body: Body, shape: Shape) -> float:
    position, rotation = rotations.place(body.position, body.rotation, shape.position, shape.rotation)
    down: Array = rotations.matrix(rotation)[2]  # the vertical in the axes of the shape
    data = shape.data
    if shape.type == "sphere":
        depth = data["radius"]
    elif shape.type == "capsule":
        depth = data["radius"] + 0.5 * data["length"] * abs(down[2])
    elif shape.type == "cylinder":
        depth = data["radius"] * float(np.hypot(down[0], down[1])) + 0.5 * data["length"] * abs(down[2])
    elif shape.type == "box":
        depth = 0.5 * float(np.abs(down) @ np.array(data["size"]))
    elif shape.type == "ellipsoid":
        depth = float(np.linalg.norm(down * np.array(data["radii"])))
    elif shape.mesh is not None:
        depth = -float((model.meshes[shape.mesh].corners @ down).min())
    else:
        return np.inf
    return float(position[2] - depth)
