"""Quaternions w x y z."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

__all__ = ["rotation"]


def rotation(
    axis: ArrayLike = (0.0, 0.0, 1.0), *, degrees: float | None = None, radians: float | None = None
) -> NDArray[np.float64]:
    """The quaternion w x y z of a right-handed turn about an axis, which need not have length one.

    ``tippe.rotation((1, 0, 0), degrees=90)``
    """
    direction = np.asarray(axis, dtype=np.float64)
    length = float(np.linalg.norm(direction)) if direction.shape == (3,) else 0.0
    if not 0 < length < float("inf"):
        raise ValueError(f"axis: expected three numbers, not all zero, got {axis!r}")
    if (degrees is None) == (radians is None):
        raise ValueError("degrees, radians: give one of the two")
    angle = np.deg2rad(degrees) if degrees is not None else radians
    assert angle is not None
    if not np.isfinite(angle):
        raise ValueError(f"{'degrees' if degrees is not None else 'radians'}: expected a finite number")
    half = 0.5 * float(angle)
    return np.concatenate([[np.cos(half)], np.sin(half) * direction / length])
