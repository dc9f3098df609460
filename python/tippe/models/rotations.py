"""Quaternions (w, x, y, z), matrices and frames."""

from __future__ import annotations

import numpy as np

from .model import Array

__all__ = ["between", "matrix", "multiply", "of_matrix", "place", "turn"]


def multiply(a: Array, b: Array) -> Array:
    w, x, y, z = a
    return np.array(
        [
            w * b[0] - x * b[1] - y * b[2] - z * b[3],
            w * b[1] + x * b[0] + y * b[3] - z * b[2],
            w * b[2] - x * b[3] + y * b[0] + z * b[1],
            w * b[3] + x * b[2] - y * b[1] + z * b[0],
        ]
    )


def inverse(a: Array) -> Array:
    return np.array([a[0], -a[1], -a[2], -a[3]])


def matrix(q: Array) -> Array:
    """The matrix of a quaternion, which is brought to length one."""
    w, x, y, z = np.asarray(q, dtype=float) / np.linalg.norm(q)
    return np.array(
        [
            [1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)],
            [2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x)],
            [2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)],
        ]
    )


def of_matrix(r: Array) -> Array:
    """The quaternion of a rotation matrix: the eigenvector of the largest of four, which is never near zero."""
    choices = np.array([r[0, 0] + r[1, 1] + r[2, 2], r[0, 0] - r[1, 1] - r[2, 2], r[1, 1] - r[0, 0] - r[2, 2], r[2, 2] - r[0, 0] - r[1, 1]])
    i = int(np.argmax(choices))
    if i == 0:
        q = np.array([1 + choices[0], r[2, 1] - r[1, 2], r[0, 2] - r[2, 0], r[1, 0] - r[0, 1]])
    elif i == 1:
        q = np.array([r[2, 1] - r[1, 2], 1 + choices[1], r[0, 1] + r[1, 0], r[0, 2] + r[2, 0]])
    elif i == 2:
        q = np.array([r[0, 2] - r[2, 0], r[0, 1] + r[1, 0], 1 + choices[2], r[1, 2] + r[2, 1]])
    else:
        q = np.array([r[1, 0] - r[0, 1], r[0, 2] + r[2, 0], r[1, 2] + r[2, 1], 1 + choices[3]])
    return q / np.linalg.norm(q)


def turn(axis: Array, angle: float) -> Array:
    """The quaternion of a turn about an axis of length one."""
    return np.concatenate(([np.cos(angle / 2)], np.sin(angle / 2) * np.asarray(axis, dtype=float)))


def place(position: Array, rotation: Array, inner: Array, inner_rotation: Array) -> tuple[Array, Array]:
    """A frame given in another one, in the axes of that one's outer frame."""
    return position + matrix(rotation) @ inner, multiply(rotation, inner_rotation)


def between(position: Array, rotation: Array, other: Array, other_rotation: Array) -> tuple[Array, Array]:
    """The second frame as the first one sees it."""
    return matrix(rotation).T @ (other - position), multiply(inverse(rotation), other_rotation)
