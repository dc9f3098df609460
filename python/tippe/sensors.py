"""Sensors by name, and events."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from . import _core
from ._core import Sensor

if TYPE_CHECKING:
    from .world import World

__all__ = ["Event", "Sensors"]


class Sensors(Mapping[str, Sensor]):
    """The sensors of a world, as a dict: ``world.sensors["imu"].value``."""

    def __init__(self, world: World) -> None:
        self._world: _core.World = world

    def __getitem__(self, name: str) -> Sensor:
        return self._world._all_sensors()[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._world._all_sensors())

    def __len__(self) -> int:
        return len(self._world._all_sensors())

    def __repr__(self) -> str:
        return repr(dict(self))


@dataclass(frozen=True)
class Event:
    """What happened in a step.

    kind            touch_began, touch_ended, hit, overlap_began, overlap_ended, limit_reached, limit_left, fell_asleep or woke_up
    body_a, body_b  names of the bodies; sleep: body_a
    joint, axis     of limits; sensor: of overlaps
    point, normal   of touches that began and hits, the normal from B to A
    speed           of approach before a hit, m/s; of the coordinate at a limit
    impulse         normal impulse over the step, N s; at a limit the effort, N m or N
    """

    kind: str
    body_a: str | None
    body_b: str | None
    joint: str | None
    axis: str | None
    sensor: str | None
    point: NDArray[np.float64]
    normal: NDArray[np.float64]
    speed: float
    impulse: float
