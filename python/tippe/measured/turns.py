"""Rotations as quaternions w x y z, many at once."""

from __future__ import annotations

import math

import numpy as np

from .motions import FloatArray

__all__ = ["angle_between", "conjugate", "product", "quaternion_of", "turn_freely", "turn_vectors", "vector_of"]


def product(a: FloatArray, b: FloatArray) -> FloatArray:
    w, v, s, u = a[..., :1], a[..., 1:], b[..., :1], b[..., 1:]
    return np.concatenate([w * s - (v * u).sum(-1, keepdims=True), w * u + s * v + np.cross(v, u)], axis=-1)


def conjugate(q: FloatArray) -> FloatArray:
    return q * np.array([1.0, -1.0, -1.0, -1.0])


def turn_vectors(q: FloatArray, v: FloatArray) -> FloatArray:
    """Vectors given in the frames of the rotations, in world axes."""
    zero = np.zeros(np.broadcast_shapes(q.shape[:-1], v.shape[:-1]) + (1,))
    pure = np.concatenate([zero, np.broadcast_to(v, zero.shape[:-1] + (3,))], axis=-1)
    return product(product(q, pure), conjugate(q))[..., 1:]


def vector_of(q: FloatArray) -> FloatArray:
    """The rotation vector, of at most half a turn."""
    q = np.where(q[..., :1] < 0, -q, q)
    length = np.linalg.norm(q[..., 1:], axis=-1, keepdims=True)
    factor = np.where(length < 1e-12, 2.0, 2 * np.arctan2(length, q[..., :1]) / np.maximum(length, 1e-300))
    return factor * q[..., 1:]


def quaternion_of(v: FloatArray) -> FloatArray:
    angle = np.linalg.norm(v, axis=-1, keepdims=True)
    factor = np.where(angle < 1e-8, 0.5 - angle**2 / 48, np.sin(angle / 2) / np.maximum(angle, 1e-300))
    return np.concatenate([np.cos(angle / 2), factor * v], axis=-1)


def angle_between(a: FloatArray, b: FloatArray) -> FloatArray:
    """Angles of the rotations from one to the other, rad."""
    made: FloatArray = np.linalg.norm(vector_of(product(conjugate(a), b)), axis=-1)
    return made


def turn_freely(rotation: FloatArray, spin: FloatArray, inertia: FloatArray, time: FloatArray) -> FloatArray:
    """Rotations at the times of a free body that starts with `rotation` and `spin` (world axes), by RK4 with small steps."""
    if np.allclose(inertia, np.eye(3) * inertia[0, 0], rtol=1e-12, atol=0):
        return product(quaternion_of(np.outer(time - time[0], spin)), rotation)
    inverse = np.linalg.inv(inertia)

    momentum = turn_vectors(rotation, inertia @ turn_vectors(conjugate(rotation), spin))

    def rate(q: FloatArray) -> FloatArray:
        local = inverse @ turn_vectors(conjugate(q), momentum)
        return 0.5 * product(q, np.concatenate([[0.0], local]))

    made, q = [rotation], rotation
    for before, after in zip(time[:-1], time[1:]):
        count = max(1, math.ceil((after - before) * np.linalg.norm(spin) / 0.05))
        h = (after - before) / count
        for _ in range(count):
            a = rate(q)
            b = rate(q + h / 2 * a)
            c = rate(q + h / 2 * b)
            q = q + h / 6 * (a + 2 * b + 2 * c + rate(q + h * c))
            q = q / np.linalg.norm(q)
        made.append(q)
    return np.array(made)
