"""The states in which motions start, fitted to what was measured before the first touch."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field

import numpy as np

from ..scene_files import SceneLike
from ..world import World, load
from .motions import FloatArray, Motion, Poses
from .turns import conjugate, product, quaternion_of, turn_freely, turn_vectors, vector_of

__all__ = ["Start", "adapt_starts", "center_in", "check_bodies", "fit_start", "place", "starts_of", "touch_times"]

IN_TOUCH_POSES = 9
"""Poses that the start of a body is fitted to if it touches something from the start."""


@dataclass(frozen=True)
class Start:
    """The state of a body at the first time of a motion."""

    position: FloatArray  # of the centre of mass
    rotation: FloatArray
    velocity: FloatArray
    angular_velocity: FloatArray
    poses: int  # that it was fitted to
    position_noise: float  # root mean square of what the fit left, m
    angle_noise: float  # the same, rad
    flies: bool = True  # whether these poses are of free flight
    center: FloatArray = field(default_factory=lambda: np.zeros(3))  # from the measured point to the centre of mass, in the body's frame
    inertia: FloatArray = field(default_factory=lambda: np.eye(3))  # that the rotation was fitted with


def center_in(world: World, motion: Motion, name: str) -> FloatArray:
    """From the point that was measured to the centre of mass, in the body's frame."""
    return np.asarray(world[name].center_of_mass, dtype=float) if motion.point == "frame" else np.zeros(3)


# A start from poses ---------------------------------------------------------------------------------


def _fit_line(poses: Poses, time: FloatArray, count: int, gravity: FloatArray | None, center: FloatArray) -> tuple[FloatArray, FloatArray, float]:
    """Position and velocity of the centre of mass at the start by least squares, and the noise: a parabola with the given acceleration, or
    with one that is fitted too."""
    t = time[:count] - time[0]
    places = poses.position[:count] + turn_vectors(poses.rotation[:count], center)
    columns = [np.ones(count), t] + ([t**2] if gravity is None else [])
    flat = places if gravity is None else places - 0.5 * np.outer(t**2, gravity)
    design = np.stack(columns, axis=1)
    line, *_ = np.linalg.lstsq(design, flat, rcond=None)
    return line[0], line[1], float(np.sqrt(((flat - design @ line) ** 2).sum(1).mean()))


def _fit_turn(poses: Poses, time: FloatArray, count: int, inertia: FloatArray) -> tuple[FloatArray, FloatArray, float]:
    """Rotation and spin of a free body at the start by least squares, and the noise."""
    t = time[:count] - time[0]
    rotation = poses.rotation[0]
    steps = vector_of(product(poses.rotation[1:count], conjugate(poses.rotation[: count - 1])))
    spin = (steps / np.diff(t)[:, None]).mean(axis=0)
    miss = np.zeros((count, 3))
    for _ in range(8):
        def missing(change: FloatArray, rotation: FloatArray = rotation, spin: FloatArray = spin) -> FloatArray:
            start = product(quaternion_of(change[:3]), rotation)
            return vector_of(product(poses.rotation[:count], conjugate(turn_freely(start, spin + change[3:], inertia, t)))).ravel()

        zero = missing(np.zeros(6))
        size = np.array([1e-6] * 3 + [1e-6 / max(t[-1], 1e-9)] * 3)
        slopes = np.stack([(missing(np.eye(6)[k] * size[k]) - zero) / size[k] for k in range(6)], axis=1)
        change, *_ = np.linalg.lstsq(slopes, -zero, rcond=None)
        rotation = product(quaternion_of(change[:3]), rotation)
        spin = spin + change[3:]
        miss = zero.reshape(count, 3)
        if np.linalg.norm(change[:3]) < 1e-9:
            break
    return rotation / np.linalg.norm(rotation), spin, float(np.sqrt((miss**2).sum(1).mean()))


def _fit_touching_turn(poses: Poses, time: FloatArray, count: int) -> tuple[FloatArray, FloatArray, float]:
    """Rotation and spin at the start of a body that touches something: its turning changes evenly."""
    t = time[:count] - time[0]
    turned = vector_of(product(poses.rotation[:count], conjugate(poses.rotation[0])))
    design = np.stack([np.ones(count), t, t**2], axis=1)
    line, *_ = np.linalg.lstsq(design, turned, rcond=None)
    rotation = product(quaternion_of(line[0]), poses.rotation[0])
    return rotation / np.linalg.norm(rotation), line[1], float(np.sqrt(((turned - design @ line) ** 2).sum(1).mean()))


def _fit_body(world: World, motion: Motion, name: str, count: int, flies: bool) -> Start:
    poses, body = motion.bodies[name], world[name]
    center, inertia = center_in(world, motion, name), np.asarray(body.inertia)
    gravity = np.asarray(world.gravity) * body.gravity_scale
    position, velocity, position_noise = _fit_line(poses, motion.time, count, gravity if flies else None, center)
    turn = _fit_turn(poses, motion.time, count, inertia) if flies else _fit_touching_turn(poses, motion.time, count)
    return Start(position, turn[0], velocity, turn[1], count, position_noise, turn[2], flies, center, inertia)


# Flights --------------------------------------------------------------------------------------------


def touch_times(world: World, motion: Motion, starts: Mapping[str, Start], until: float) -> dict[str, float]:
    """The times after the start at which the measured bodies first touch something, s; `until` for those that do not."""
    place(world, starts)
    begin, h = world.time, float(np.diff(motion.time).min()) / 4
    touches: dict[str, float] = {}
    while world.time - begin < until and len(touches) < len(starts):
        if world.step(h).contacts:
            contacts = world.contacts
            pushed = contacts["normal_impulse"] > 0
            for name in starts:
                if name not in touches and (pushed & ((contacts["body_a"] == name) | (contacts["body_b"] == name))).any():
                    touches[name] = world.time - begin
    return {name: touches.get(name, until) for name in starts}


def fit_start(world: World, motion: Motion, *, least: int = 5, poses: int | None = None) -> dict[str, Start]:
    """The states of the measured bodies at the first time of a motion, each fitted to its flight before its first touch.

    The flights are found by the scene: a fit to the first `least` poses is simulated until the bodies touch something, all poses before
    are fitted anew, until their numbers stay. `poses` gives the number instead. A body that touches something from the start (it slides,
    rolls, rests) gets the parabolas through its first nine poses, whatever its acceleration.
    """
    snapshot = world.snapshot()
    total = len(motion.time)
    counts = {name: max(3, min(least if poses is None else poses, total)) for name in motion.bodies}
    flies = dict.fromkeys(motion.bodies, True)
    starts: dict[str, Start] = {}
    for _ in range(5):
        starts = {name: _fit_body(world, motion, name, counts[name], flies[name]) for name in motion.bodies}
        if poses is not None:
            break
        touches = touch_times(world, motion, starts, motion.time[-1] - motion.time[0])
        world.restore(snapshot)
        # The last pose before the touch may have been taken in it: one less.
        before = {name: int(np.searchsorted(motion.time - motion.time[0], touch)) - 1 for name, touch in touches.items()}
        flies = {name: flies[name] and count >= 2 for name, count in before.items()}
        found = {name: min(total, max(3, count) if flies[name] else max(4, IN_TOUCH_POSES)) for name, count in before.items()}
        if found == counts:
            break
        counts = found
    return starts


def place(world: World, starts: Mapping[str, Start]) -> None:
    """Gives bodies their states."""
    for name, start in starts.items():
        body = world[name]
        body.rotation = start.rotation
        body.position = start.position
        body.velocity, body.angular_velocity = start.velocity, start.angular_velocity


def adapt_starts(world: World, motion: Motion, starts: Mapping[str, Start]) -> Mapping[str, Start]:
    """The starts for a world whose bodies have other mass properties than those that the starts were fitted with: the same poses, fitted anew."""
    made: dict[str, Start] = {}
    for name, start in starts.items():
        inertia = np.asarray(world[name].inertia)
        center = center_in(world, motion, name)
        same_turn = not start.flies or np.allclose(inertia / inertia.trace(), start.inertia / start.inertia.trace(), rtol=0, atol=1e-9)
        if same_turn and np.array_equal(center, start.center):
            made[name] = start
        elif same_turn:
            gravity = np.asarray(world.gravity) * world[name].gravity_scale if start.flies else None
            position, velocity, noise = _fit_line(motion.bodies[name], motion.time, start.poses, gravity, center)
            made[name] = Start(position, start.rotation, velocity, start.angular_velocity, start.poses, noise, start.angle_noise, start.flies, center, inertia)
        else:
            made[name] = _fit_body(world, motion, name, start.poses, start.flies)
    return made


# All motions ----------------------------------------------------------------------------------------


def starts_of(
    scene: SceneLike, motions: Sequence[Motion], *, stepper: str | None = None, threads: int | None = None, poses: int | None = None
) -> list[tuple[dict[str, Start], float]]:
    """For each motion the starts of its bodies, and the time from the start to the first touch."""
    check_bodies(scene, motions)

    def one(motion: Motion) -> tuple[dict[str, Start], float]:
        world = load(scene, stepper=stepper)
        starts = fit_start(world, motion, poses=poses)
        touches = touch_times(load(scene, stepper=stepper), motion, starts, motion.time[-1] - motion.time[0])
        return starts, min(touches.values())

    with ThreadPoolExecutor(threads or os.cpu_count() or 1) as crew:
        return list(crew.map(one, motions))


def check_bodies(scene: SceneLike, motions: Sequence[Motion]) -> None:
    """Whether the scene has the bodies of the motions."""
    if not motions:
        raise ValueError("motions: there are none")
    world = load(scene)
    moving = [body.name for body in world.moving]
    for motion in motions:
        for name in motion.bodies:
            if name not in moving:
                raise ValueError(f"motion {motion.name}: the scene has no moving body {name!r}; there are {', '.join(moving)}")
