"""A robot between its source and a scene: what both readers fill and the writer writes.

Everything is in world axes at the start, as scenes have it. Names are those of the source; the writer makes
names of scenes of them.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .report import Report

__all__ = ["Array", "Axis", "Body", "Coupling", "Drive", "Force", "Joint", "Laws", "Mesh", "Model", "Sensor", "Shape"]

Array = NDArray[np.float64]


@dataclass
class Drive:
    """stiffness (target - q) + damping (speed - qd), at most effort."""

    stiffness: float = 0.0
    damping: float = 0.0
    target: float = 0.0
    speed: float = 0.0
    effort: float | None = None
    push: float = 0.0  # a constant effort, where there are no gains


@dataclass
class Laws:
    """What acts on one coordinate."""

    limits: tuple[float, float] | None = None
    stiffness: float = 0.0
    rest: float = 0.0
    damping: float = 0.0
    friction: float = 0.0
    armature: float = 0.0
    drive: Drive | None = None


@dataclass
class Axis:
    kind: str  # turn, slide
    name: str
    direction: Array
    anchor: Array
    value: float
    laws: Laws = field(default_factory=Laws)


@dataclass
class Joint:
    """Between two bodies: its axes in order, or `ball`, or `fixed`."""

    kind: str  # axes, ball, fixed
    name: str
    parent: str | None
    child: str | None
    anchor: Array
    axes: list[Axis] = field(default_factory=list)
    laws: Laws = field(default_factory=Laws)
    collide: bool = False


@dataclass
class Mesh:
    """Corners and triangles; a hull has no triangles."""

    name: str
    corners: Array
    triangles: NDArray[np.int64] | None


@dataclass
class Shape:
    """A shape in the frame of its body. `data` holds the keys that its type has; meshes are named."""

    type: str
    position: Array
    rotation: Array
    data: dict[str, Any] = field(default_factory=dict)
    mesh: str | None = None
    color: tuple[float, float, float] | None = None
    visual: bool = False
    material: str | None = None
    group: int = 1
    mask: int = 0xFFFFFFFF


@dataclass
class Body:
    name: str
    kind: str  # dynamic, fixed, kinematic
    position: Array
    rotation: Array
    mass: float = 0.0
    center: Array = field(default_factory=lambda: np.zeros(3))
    inertia: Array = field(default_factory=lambda: np.zeros((3, 3)))
    velocity: Array = field(default_factory=lambda: np.zeros(3))
    angular_velocity: Array = field(default_factory=lambda: np.zeros(3))
    gravity_scale: float = 1.0
    shapes: list[Shape] = field(default_factory=list)


@dataclass
class Coupling:
    name: str
    terms: list[tuple[str, float]]  # names of axes, or of joints of one axis
    value: float | None = None
    limits: tuple[float, float] | None = None
    stiffness: float = 0.0
    damping: float = 0.0
    rest: float = 0.0
    drive: Drive | None = None


@dataclass
class Force:
    body: str
    force: Array
    torque: Array
    at: Array


@dataclass
class Sensor:
    name: str
    type: str
    body: str | None = None
    joint: str | None = None  # an axis, a joint, or the child body of the joint that holds it
    position: Array = field(default_factory=lambda: np.zeros(3))
    rotation: Array = field(default_factory=lambda: np.array([1.0, 0.0, 0.0, 0.0]))


@dataclass
class Model:
    name: str
    report: Report
    gravity: Array = field(default_factory=lambda: np.array([0.0, 0.0, -9.81]))
    step: float = 0.005
    bodies: list[Body] = field(default_factory=list)
    joints: list[Joint] = field(default_factory=list)
    meshes: dict[str, Mesh] = field(default_factory=dict)
    materials: dict[str, dict[str, float]] = field(default_factory=dict)
    pairs: list[tuple[str, str, dict[str, float]]] = field(default_factory=list)
    excludes: list[tuple[str, str]] = field(default_factory=list)
    couplings: list[Coupling] = field(default_factory=list)
    forces: list[Force] = field(default_factory=list)
    sensors: list[Sensor] = field(default_factory=list)

    def body(self, name: str) -> Body:
        return next(body for body in self.bodies if body.name == name)
