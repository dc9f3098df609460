"""What surfaces are made of."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .world import World

__all__ = ["Friction", "Material", "Materials", "WorldMaterial"]


@dataclass(frozen=True)
class Friction:
    """Friction, number by number, where one coefficient is not enough.

    static     coefficient of a contact that sticks
    dynamic    coefficient of a contact that slides; None: the static one
    torsional  arm e_r in metres of friction against spin
    ellipse    factors of the coefficient along and across `direction`
    direction  first axis of the ellipse, in the frame of the body that owns the material
    impact     coefficient in impacts, where bodies approach at 0.2 m/s or more; None: as `dynamic`
    rolling    arm in metres of friction against rolling
    """

    static: float
    dynamic: float | None = None
    torsional: float = 0.0
    ellipse: tuple[float, float] = (1.0, 1.0)
    direction: tuple[float, float, float] = (0.0, 0.0, 0.0)
    impact: float | None = None
    rolling: float = 0.0

    def __post_init__(self) -> None:
        if self.dynamic is None:
            object.__setattr__(self, "dynamic", self.static)
        object.__setattr__(self, "ellipse", tuple(self.ellipse))
        object.__setattr__(self, "direction", tuple(self.direction))


@dataclass(frozen=True)
class Material:
    """What a surface is made of: friction, and restitution from 0 (no bounce) to 1 (no loss).

    Two materials in contact take the geometric mean of each friction number and the larger
    restitution, unless World.set_pair says otherwise. `friction` is a coefficient, or a Friction; a
    dict with the keys of a scene works too. With a `compliance` (m/N) each contact point is a spring,
    with `damping` (N s/m) beside it; compliances of two materials add.

        steel = tippe.Material(friction=0.6, restitution=0.1)
        ball.add_sphere(0.1, density=7850, material=steel)
    """

    friction: float | Friction = 0.0
    restitution: float = 0.0
    name: str | None = None
    compliance: float = 0.0
    damping: float = 0.0

    def __post_init__(self) -> None:
        friction: Any = self.friction
        if isinstance(friction, Mapping):
            try:
                made = Friction(**{"static": friction.get("dynamic"), **friction})
            except TypeError as error:
                raise ValueError(f"friction: {error}") from None
            object.__setattr__(self, "friction", made)
        numbers = [("friction", friction)] if not isinstance(self.friction, Friction) else [
            ("static", self.friction.static),
            ("dynamic", self.friction.dynamic),
            ("torsional", self.friction.torsional),
            ("rolling", self.friction.rolling),
        ]
        numbers += [("compliance", self.compliance), ("damping", self.damping)]
        for name, value in numbers:
            if isinstance(value, bool) or not _is_number(value) or not 0 <= value < float("inf"):
                raise ValueError(f"{name}: expected a number, zero or positive, got {value!r}")
        if not _is_number(self.restitution) or not 0 <= self.restitution <= 1:
            raise ValueError(f"restitution: expected a number from 0 to 1, got {self.restitution!r}")


class WorldMaterial:
    """A material of a world: ``world.materials["wood"]``. Its numbers may be changed between steps."""

    def __init__(self, world: World, place: int) -> None:
        self._world = world
        self._place = place

    def _get(self) -> Material:
        static, dynamic, torsional, ellipse, direction, restitution, name, impact, rolling, compliance, damping = self._world._get_material(self._place)
        friction: float | Friction = static
        if dynamic != static or torsional or rolling or tuple(ellipse) != (1.0, 1.0) or impact != dynamic:
            friction = Friction(static, dynamic, torsional, tuple(ellipse), tuple(direction), None if impact == dynamic else impact, rolling)
        return Material(friction, restitution, name or None, compliance, damping)

    @property
    def name(self) -> str | None:
        """Its name, or None."""
        return self._get().name

    @property
    def friction(self) -> float | Friction:
        """The coefficient, or a Friction where one number is not enough."""
        return self._get().friction

    @friction.setter
    def friction(self, value: float | Friction) -> None:
        self._world._set_material(self._place, replace(self._get(), friction=value))

    @property
    def restitution(self) -> float:
        """From 0 (no bounce) to 1 (no loss)."""
        return self._get().restitution

    @restitution.setter
    def restitution(self, value: float) -> None:
        self._world._set_material(self._place, replace(self._get(), restitution=value))

    @property
    def compliance(self) -> float:
        """m/N of each contact point; 0: rigid."""
        return self._get().compliance

    @compliance.setter
    def compliance(self, value: float) -> None:
        self._world._set_material(self._place, replace(self._get(), compliance=value))

    @property
    def damping(self) -> float:
        """N s/m of each contact point."""
        return self._get().damping

    @damping.setter
    def damping(self, value: float) -> None:
        self._world._set_material(self._place, replace(self._get(), damping=value))

    def __eq__(self, other: object) -> bool:
        same = isinstance(other, WorldMaterial) and other._world is self._world
        return same and isinstance(other, WorldMaterial) and other._place == self._place

    def __hash__(self) -> int:
        return hash((id(self._world), self._place))

    def __repr__(self) -> str:
        return f"World{self._get()!r}"


class Materials(Mapping[str, WorldMaterial]):
    """The materials of a world that have names, as a dict: ``world.materials["wood"].friction = 0.3``."""

    def __init__(self, world: World) -> None:
        self._world = world

    def __getitem__(self, name: str) -> WorldMaterial:
        return WorldMaterial(self._world, self._world._material_names()[name])

    def __iter__(self) -> Iterator[str]:
        return iter(self._world._material_names())

    def __len__(self) -> int:
        return len(self._world._material_names())

    def __repr__(self) -> str:
        return repr(dict(self))


def _is_number(value: object) -> bool:
    try:
        float(value)  # type: ignore[arg-type]
    except (TypeError, ValueError):
        return False
    return not isinstance(value, str)
