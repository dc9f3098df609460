"""Joints and couplings by name."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING

from . import _core
from ._core import Coupling, Joint

if TYPE_CHECKING:
    from .world import World

__all__ = ["Couplings", "Joints"]


class Joints(Mapping[str, Joint]):
    """The joints of a world, as a dict: ``world.joints["knee"].target = 0.5``.

    A joint without a name is listed as "joint" and its number.
    """

    def __init__(self, world: World) -> None:
        self._world: _core.World = world

    def __getitem__(self, name: str) -> Joint:
        found = self._world._find_joint(name) if name else None
        return found if found is not None else self._world._all_joints()[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._world._all_joints())

    def __len__(self) -> int:
        return len(self._world._all_joints())

    def __repr__(self) -> str:
        return repr(dict(self))


class Couplings(Mapping[str, Coupling]):
    """The couplings of a world, as a dict: ``world.couplings["gear"].value``.

    A coupling without a name is listed as "coupling" and its number.
    """

    def __init__(self, world: World) -> None:
        self._world: _core.World = world

    def __getitem__(self, name: str) -> Coupling:
        return self._world._all_couplings()[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._world._all_couplings())

    def __len__(self) -> int:
        return len(self._world._all_couplings())

    def __repr__(self) -> str:
        return repr(dict(self))
