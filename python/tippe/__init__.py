"""Rigid bodies with contact and friction.

Ten lines to a plot:

    import tippe
    world = tippe.load("card_house")
    run = world.run(until=2.0)
    print(run.residual.max(), run.penetration.max())
    run.plot("left00.z", "residual")

Five published methods stand behind one interface, and every step comes with a certificate of how exactly
the laws of contact were met. `help(tippe.World)` is enough to begin.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from . import _core, shapes
from ._core import Axis, Body, Coupling, Force, Geometry, Joint, Report, Sensor, Shape, __version__
from .batches import Batch
from .errors import SceneError, UnsupportedError
from .impacts import ImpactBody, ImpactResult, collide
from .joints import Couplings, Joints
from .materials import Friction, Material, Materials, WorldMaterial
from .queries import Closest, Hit, Overlap
from .rotations import rotation
from .run import BodyRun, JointRun, Run
from .run import open_run as open
from .scene_files import read as read_scene
from .scene_files import scenes
from .sensors import Event, Sensors
from .solvers import (
    BodyForm,
    FrictionSolution,
    LcpSolution,
    Stage,
    friction_solvers,
    lcp_solvers,
    solve_friction,
    solve_lcp,
)
from .sweeps import sweep
from .viewing import View
from .world import Options, World, load

if TYPE_CHECKING:
    from . import gym, measured, models

_core._set_errors(SceneError, UnsupportedError)

__all__ = [
    "Axis",
    "Batch",
    "Body",
    "BodyForm",
    "BodyRun",
    "Closest",
    "Coupling",
    "Couplings",
    "Event",
    "Force",
    "Friction",
    "FrictionSolution",
    "Geometry",
    "Hit",
    "ImpactBody",
    "ImpactResult",
    "Joint",
    "JointRun",
    "Joints",
    "LcpSolution",
    "Material",
    "Materials",
    "Options",
    "Overlap",
    "Report",
    "Run",
    "SceneError",
    "Sensor",
    "Sensors",
    "Shape",
    "Stage",
    "UnsupportedError",
    "View",
    "World",
    "WorldMaterial",
    "__version__",
    "collide",
    "friction_solvers",
    "gym",
    "lcp_solvers",
    "load",
    "measured",
    "models",
    "open",
    "options",
    "read_scene",
    "rotation",
    "scenes",
    "shapes",
    "solve_friction",
    "solve_lcp",
    "steppers",
    "sweep",
]


def steppers() -> dict[str, str]:
    """The methods that step a world, each with one line about it."""
    return dict(_core._steppers())


def options() -> dict[str, Mapping[str, Any]]:
    """The options of steppers: kind, default, choices, unit, summary, and the steppers that use each."""
    return dict(_core._options())


_LATER = ("gym", "measured", "models")


def __getattr__(name: str) -> Any:
    """Parts that are imported when they are first used: gymnasium and pandas take longer than all the rest."""
    if name in _LATER:
        import importlib

        return importlib.import_module(f".{name}", __name__)
    raise AttributeError(f"module 'tippe' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
