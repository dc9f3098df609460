"""Single impacts with friction, resolved exactly."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, overload

import numpy as np
from numpy.typing import ArrayLike, NDArray

from . import _core
from .tables import read_csv

if TYPE_CHECKING:
    import pandas

__all__ = ["ImpactBody", "ImpactResult", "collide"]

FloatArray = NDArray[np.float64]
Law = Literal["poisson", "stronge"]


@dataclass(frozen=True)
class ImpactBody:
    """One of two bodies at the moment of an impact; all vectors of an impact are in the same axes.

    mass              kg; inf for a body that cannot be moved
    inertia           about the centre of mass, kg m^2: 3 numbers, 6 (xx yy zz xy xz yz) or 3 x 3; None: it
                      cannot be turned
    arm               from the centre of mass to the contact, m
    velocity          of the centre of mass, m/s
    angular_velocity  rad/s
    """

    mass: float = float("inf")
    inertia: ArrayLike | None = None
    arm: ArrayLike = (0.0, 0.0, 0.0)
    velocity: ArrayLike = (0.0, 0.0, 0.0)
    angular_velocity: ArrayLike = (0.0, 0.0, 0.0)


@dataclass(frozen=True)
class ImpactResult:
    """What an impact did."""

    impulse: FloatArray
    """On the first body, N s; the second gets its opposite."""
    velocity: FloatArray
    """Of the first body relative to the second at the contact, after the impact, m/s."""
    compression_impulse: float
    """Normal impulse at maximum compression, N s."""
    energy_lost: float
    """Kinetic energy of both before less that after, J."""
    velocities: tuple[FloatArray, FloatArray]
    """Of the centres of mass of both bodies after the impact, m/s."""
    angular_velocities: tuple[FloatArray, FloatArray]
    """Of both bodies after the impact, rad/s."""


@overload
def collide(
    first: ImpactBody,
    second: ImpactBody = ...,
    *,
    normal: ArrayLike = ...,
    friction: float = ...,
    restitution: float = ...,
    law: Law = ...,
) -> ImpactResult: ...


@overload
def collide(
    first: pandas.DataFrame | Mapping[str, ArrayLike] | str | os.PathLike[str], *, law: Law = ...
) -> pandas.DataFrame: ...


def collide(
    first: Any,
    second: ImpactBody = ImpactBody(),
    *,
    normal: ArrayLike = (0.0, 0.0, 1.0),
    friction: float = 0.0,
    restitution: float = 0.0,
    law: Law = "poisson",
) -> Any:
    """The impulse of an impact with friction, exact through compression and restitution.

    One impact of two bodies:

        ball = tippe.ImpactBody(mass=1, inertia=(0.4, 0.4, 0.4), arm=(0, 0, -1), velocity=(1, 0, -2))
        tippe.collide(ball, friction=0.3, restitution=0.5).impulse

    first, second  the bodies; the second by default one that cannot be moved
    normal         unit vector from the second body to the first
    friction       Coulomb's coefficient
    restitution    e, from 0 on
    law            what e compares: "poisson" impulses, "stronge" works

    Or many, one for each row of a table with the columns of `tippe collide` (m1, J1xx, ..., mu, e; normal along
    z): a DataFrame, a dict of columns, or the path of a CSV file. Returns a DataFrame with the columns id (if
    there is one), px, py, pz (impulse on body 1) and pz_mc (normal impulse at maximum compression).

    Bodies that do not approach get no impulse.
    """
    if law not in ("poisson", "stronge"):
        raise ValueError(f"law: expected poisson or stronge, got {law!r}")
    if not isinstance(first, ImpactBody):
        if not isinstance(first, (str, os.PathLike, Mapping)) and not hasattr(first, "columns"):
            raise ValueError(f"first: expected an ImpactBody, a table, or the path of one, got {first!r}")
        return _collide_table(first, law == "stronge")
    row = np.concatenate([_row(first, "first"), _row(second, "second")])[None]
    direction = np.asarray(normal, dtype=np.float64)
    length = float(np.linalg.norm(direction)) if direction.shape == (3,) else 0.0
    if not abs(length - 1) < 1e-6:
        raise ValueError(f"normal: expected a unit vector, got {normal!r}")
    for name, value in (("friction", friction), ("restitution", restitution)):
        if not (np.isscalar(value) and 0 <= value < float("inf")):
            raise ValueError(f"{name}: expected a number, zero or positive, got {value!r}")
    results, after, failed = _core._collide(row, direction[None] / length, [[friction, restitution]], law == "stronge")
    if failed >= 0:
        raise ValueError("first, second: the impact cannot be resolved: no body can be moved, or numbers are too large")
    out, v = results[0], after[0]
    return ImpactResult(
        impulse=out[0:3],
        velocity=out[3:6],
        compression_impulse=float(out[6]),
        energy_lost=float(out[7]),
        velocities=(v[0:3], v[6:9]),
        angular_velocities=(v[3:6], v[9:12]),
    )


def _inertia(body: ImpactBody, name: str) -> FloatArray:
    """xx yy zz xy xz yz; zeros of a body that cannot be turned."""
    if body.inertia is None:
        return np.zeros(6)
    given = np.asarray(body.inertia, dtype=np.float64)
    if given.shape == (3,):
        numbers = np.concatenate([given, np.zeros(3)])
    elif given.shape == (6,):
        numbers = given
    elif given.shape == (3, 3):
        numbers = given[[0, 1, 2, 0, 0, 1], [0, 1, 2, 1, 2, 2]]
    else:
        raise ValueError(f"{name}: inertia: expected 3 or 6 numbers or a 3 x 3 matrix, got shape {given.shape}")
    if not _are_positive_definite(numbers[None]):
        raise ValueError(f"{name}: inertia: expected a positive definite matrix")
    return numbers


def _are_positive_definite(inertia: FloatArray) -> bool:
    matrices = inertia[:, [0, 3, 4, 3, 1, 5, 4, 5, 2]].reshape(-1, 3, 3)
    return bool(np.isfinite(inertia).all() and (np.linalg.eigvalsh(matrices) > 0).all())


def _row(body: ImpactBody, name: str) -> FloatArray:
    mass = float(body.mass)
    if not mass > 0:
        raise ValueError(f"{name}: mass: expected a positive number or inf, got {body.mass!r}")
    vectors: list[FloatArray] = []
    for key in ("arm", "velocity", "angular_velocity"):
        vector = np.asarray(getattr(body, key), dtype=np.float64)
        if vector.shape != (3,) or not np.isfinite(vector).all():
            raise ValueError(f"{name}: {key}: expected 3 finite numbers, got {getattr(body, key)!r}")
        vectors.append(vector)
    return np.concatenate([[mass], _inertia(body, name), *vectors])


def _columns_of(k: int) -> list[str]:
    inertia = [f"J{k}{axes}" for axes in ("xx", "yy", "zz", "xy", "xz", "yz")]
    vectors = [f"{letter}{k}{axis}" for letter in "rvw" for axis in "xyz"]
    return [f"m{k}", *inertia, *vectors]


def _collide_table(table: Any, stronge: bool) -> Any:
    import pandas

    frame = read_csv(table) if isinstance(table, (str, os.PathLike)) else pandas.DataFrame(table)
    missing = [name for name in [*_columns_of(1), *_columns_of(2), "mu", "e"] if name not in frame.columns]
    if missing:
        raise ValueError(f"first: the table has no column {', '.join(missing[:8])}")
    bodies: list[FloatArray] = []
    for k in (1, 2):
        numbers = frame[_columns_of(k)].to_numpy(dtype=np.float64)
        if not (numbers[:, 0] > 0).all():
            raise ValueError(f"m{k}: expected positive numbers or inf")
        fixed = np.isinf(numbers[:, 0]) & (numbers[:, 1:7] == 0).all(axis=1)
        if not np.isfinite(numbers[:, 7:]).all() or not _are_positive_definite(numbers[~fixed, 1:7]):
            raise ValueError(f"J{k}xx: an inertia is not positive definite, or a number is not finite")
        bodies.append(numbers)
    normals = np.tile([0.0, 0.0, 1.0], (len(frame), 1))
    results, _, failed = _core._collide(
        np.hstack(bodies), normals, frame[["mu", "e"]].to_numpy(dtype=np.float64), stronge
    )
    if failed >= 0:
        raise ValueError(f"first: row {failed} cannot be resolved")
    made = pandas.DataFrame(results[:, [0, 1, 2, 6]], columns=["px", "py", "pz", "pz_mc"], index=frame.index)
    if "id" in frame.columns:
        made.insert(0, "id", frame["id"])
    return made
