"""Recorded motions, and tables of them."""

from __future__ import annotations

import math
import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from ..tables import read_csv

__all__ = ["FloatArray", "POINTS", "Motion", "Poses", "read", "write"]

FloatArray = NDArray[np.float64]
POINTS = ("center_of_mass", "frame")
"""What the positions of a motion may be those of."""
_COLUMNS = ("x", "y", "z", "qw", "qx", "qy", "qz")


@dataclass(frozen=True)
class Poses:
    """Where a body was: positions (T, 3), m, of the point that its motion names, and rotations of its frame (T, 4), w x y z."""

    position: FloatArray
    rotation: FloatArray


@dataclass(frozen=True)
class Motion:
    """A recorded motion: times (T,), s, and the poses of the measured bodies by name.

    `point` says what the positions are: those of the "center_of_mass", or of the body's "frame". A tracker sees the frame; only the scene
    knows where the centre of mass lies in it.
    """

    name: str
    time: FloatArray
    bodies: Mapping[str, Poses]
    point: str = "center_of_mass"

    def __post_init__(self) -> None:
        if self.point not in POINTS:
            raise ValueError(f"point: expected {' or '.join(POINTS)}, got {self.point!r}")

    def __repr__(self) -> str:
        return f"Motion({self.name!r}, {', '.join(self.bodies)}: {len(self.time)} poses in {self.time[-1] - self.time[0]:.3g} s)"


def read(
    path: str | os.PathLike[str],
    *,
    body: str | None = None,
    rate: float | None = None,
    motion: str | None = None,
    scale: float = 1.0,
    point: str | None = None,
) -> list[Motion]:
    """Motions from a table (CSV, may be compressed): a row per time.

    Columns: `time` in s, or `frame` with `rate` in 1/s; x y z (m) and qw qx qy qz for the one body `body`, or BODY.x ...
    BODY.qz for several; and if the table has several motions, a column that tells them apart (`motion`, by default one called motion, toss
    or run). `scale` multiplies all lengths. `point` says what x y z are: the "center_of_mass" of a body, or the origin of its "frame", which is
    what markers show; the scene's `center_of_mass` then leads from one to the other. By default a column `point` says it; without one, columns x y z
    are those of the frame, as trackers give them, and BODY.x ... those of the centre of mass, as `tippe run --csv` writes them.

    A table that is wrong is a ValueError with file, line and column: numbers that are missing or not finite, quaternions that are none, times
    that do not ascend.
    """
    file = os.fspath(path)
    try:
        table = read_csv(file)
    except (pd.errors.ParserError, pd.errors.EmptyDataError, UnicodeDecodeError) as error:
        raise ValueError(f"{file}: {error}") from None
    table.columns = [str(name).strip() for name in table.columns]
    names = _bodies_of(file, list(table.columns), body)
    if "time" not in table and (rate is None or "frame" not in table):
        raise ValueError(f"{file}: needs a column `time`, or `frame` and the rate; there are {', '.join(table.columns)}")
    if rate is not None and not (math.isfinite(rate) and rate > 0):
        raise ValueError(f"rate: expected a positive number, got {rate!r}")
    if not (math.isfinite(scale) and scale > 0):
        raise ValueError(f"scale: expected a positive number, got {scale!r}")
    point = point or _point_of(file, table)
    if point not in POINTS:
        raise ValueError(f"point: expected {' or '.join(POINTS)}, got {point!r}")
    key = motion or next((name for name in ("motion", "toss", "run") if name in table), None)
    if key is not None and key not in table:
        raise ValueError(f"{file}: there is no column {key!r}; there are {', '.join(table.columns)}")
    used = ["time" if "time" in table else "frame", *(column for columns in names.values() for column in columns)]
    _check_numbers(file, table, used)
    groups: Iterable[tuple[Any, pd.DataFrame]] = [("0", table)] if key is None else table.groupby(key, sort=False)
    return [_motion_of(file, str(name), group, names, rate, scale, point) for name, group in groups]


def _bodies_of(file: str, columns: list[str], body: str | None) -> dict[str, list[str]]:
    if set(_COLUMNS) <= set(columns):
        return {body or "": list(_COLUMNS)}
    owners = [name[:-2] for name in columns if name.endswith(".x") and all(f"{name[:-2]}.{part}" in columns for part in _COLUMNS)]
    if body is not None:
        owners = [name for name in owners if name == body]
    if not owners:
        raise ValueError(f"{file}: needs columns {' '.join(_COLUMNS)} (or BODY.x ... BODY.qz); there are {', '.join(columns)}")
    return {name: [f"{name}.{part}" for part in _COLUMNS] for name in owners}


def _point_of(file: str, table: pd.DataFrame) -> str:
    """What the positions of a table are those of, as the table says it."""
    if "point" not in table:
        return "frame" if set(_COLUMNS) <= set(table.columns) else "center_of_mass"
    words = table["point"].unique().tolist()
    if len(words) != 1 or words[0] not in POINTS:
        raise ValueError(f"{file}: column 'point': expected {' or '.join(POINTS)} in every row, found {', '.join(map(str, words[:4]))}")
    return str(words[0])


def _check_numbers(file: str, table: pd.DataFrame, columns: list[str]) -> None:
    if table.empty:
        raise ValueError(f"{file}: has no rows")
    for column in columns:
        numbers = pd.to_numeric(table[column], errors="coerce").to_numpy(float)
        wrong = np.flatnonzero(~np.isfinite(numbers))
        if wrong.size:
            line = int(wrong[0]) + 2
            raise ValueError(f"{file}:{line}: column {column!r}: expected a finite number, found {table[column].iloc[wrong[0]]!r}")


def _motion_of(
    file: str, name: str, group: pd.DataFrame, names: dict[str, list[str]], rate: float | None, scale: float, point: str
) -> Motion:
    time = group["time"].to_numpy(float) if "time" in group else group["frame"].to_numpy(float) / float(rate or 1.0)
    late = np.flatnonzero(np.diff(time) <= 0)
    lines = group.index.to_numpy() + 2
    if late.size:
        raise ValueError(f"{file}:{lines[late[0] + 1]}: times do not ascend in motion {name}")
    if len(time) < 3:
        raise ValueError(f"{file}:{lines[0]}: motion {name} has {len(time)} poses; three are the least")
    bodies: dict[str, Poses] = {}
    for body, columns in names.items():
        numbers = group[columns].to_numpy(float)
        length = np.linalg.norm(numbers[:, 3:], axis=1)
        wrong = np.flatnonzero(abs(length - 1) > 0.02)
        if wrong.size:
            raise ValueError(f"{file}:{lines[wrong[0]]}: column {columns[3]!r}: quaternion of length {length[wrong[0]]:.3g}, expected 1")
        bodies[body] = Poses(numbers[:, :3] * scale, numbers[:, 3:] / length[:, None])
    return Motion(name, time, bodies, point)


def write(path: str | os.PathLike[str], motions: Sequence[Motion]) -> None:
    """Writes motions as a table that `read` takes."""
    tables = []
    for motion in motions:
        columns: dict[str, Any] = {"motion": motion.name, "time": motion.time, "point": motion.point}
        for body, poses in motion.bodies.items():
            prefix = f"{body}." if body else ""
            numbers = np.hstack([poses.position, poses.rotation])
            columns.update({prefix + name: numbers[:, k] for k, name in enumerate(_COLUMNS)})
        tables.append(pd.DataFrame(columns))
    pd.concat(tables).to_csv(path, index=False)
