"""Answers to questions that a world can be asked: rays, moving shapes, overlaps, distances."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ._core import Body, Shape

__all__ = ["Closest", "Hit", "Overlap"]


class Hit(NamedTuple):
    """What a ray, or a shape on its way, meets first.

    shape, body    that it meets
    fraction       of the translation, 0 to 1
    distance       on the way there, m
    point, normal  where, and the unit normal out of what was met
    triangle       of a mesh or height field; -1 otherwise
    starts_inside  the ray starts within the shape; a shape touches where it starts
    """

    shape: Shape
    body: Body
    fraction: float
    distance: float
    point: NDArray[np.float64]
    normal: NDArray[np.float64]
    triangle: int
    starts_inside: bool


class Closest(NamedTuple):
    """The nearest points of two shapes, or the deepest ones: point_a - point_b = distance * normal.

    distance          m, negative if they overlap
    point_a, point_b  on the two surfaces
    normal            unit vector from B to A
    """

    distance: float
    point_a: NDArray[np.float64]
    point_b: NDArray[np.float64]
    normal: NDArray[np.float64]


class Overlap(NamedTuple):
    """Two shapes that overlap, and how deep (m)."""

    shape_a: Shape
    shape_b: Shape
    depth: float
