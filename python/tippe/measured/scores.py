"""Simulations held against motions."""

from __future__ import annotations

import math
import os
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
import pandas as pd

from ..scene_files import SceneLike, get_path, with_paths
from ..scene_files import read as read_scene
from ..world import World, load
from .motions import FloatArray, Motion, Poses
from .starts import Start, adapt_starts, center_in, place, starts_of
from .turns import angle_between, turn_vectors

__all__ = ["AFTER_TOUCH", "Engine", "paired_difference", "score", "simulate", "summarise", "values_of"]

AFTER_TOUCH = (0.1, 0.2, 0.4)
"""Times after the first touch, s, at which `score` tells the error too."""

Engine = Callable[[Motion, Mapping[str, Start]], Mapping[str, Poses]]
"""What simulates a motion: gets its times and starts, gives poses at these times."""


def simulate(world: World, motion: Motion, starts: Mapping[str, Start], step: float | None = None) -> dict[str, Poses]:
    """The poses of the measured bodies at the times of a motion, from the given starts.

    The steps between two poses are as long as each other, and at most `step` (by default the world's step_size). Positions are those of the
    point that the motion names. Starts that were fitted with other mass properties than the world's are fitted anew to the same poses.
    """
    place(world, adapt_starts(world, motion, starts))
    longest = world.step_size if step is None else step
    gaps = np.diff(motion.time)
    rows = {name: row for row, name in enumerate(body.name for body in world.moving)}
    counts = np.ceil(gaps / longest - 1e-6).astype(int).clip(1)
    if np.ptp(gaps) <= 1e-6 * gaps[0]:
        # Times from the world's own clock, so that their sum cannot lose a step.
        every, h = int(counts[0]), float(gaps.mean() / counts[0])
        run = world.run(until=world.time + h * every * len(gaps), step=h, every=every, contacts=False)
        return {name: _seen(world, motion, name, run.position[:, rows[name]], run.rotation[:, rows[name]]) for name in motion.bodies}
    made: dict[str, tuple[list[FloatArray], list[FloatArray]]] = {name: ([], []) for name in motion.bodies}
    for k in range(len(motion.time)):
        for name, (positions, rotations) in made.items():
            positions.append(world[name].position)
            rotations.append(world[name].rotation)
        if k < len(gaps):
            for _ in range(counts[k]):
                world.step(gaps[k] / counts[k])
    return {name: _seen(world, motion, name, np.array(positions), np.array(rotations)) for name, (positions, rotations) in made.items()}


def _seen(world: World, motion: Motion, name: str, centers: FloatArray, rotations: FloatArray) -> Poses:
    """Poses as they are measured, from those of the centre of mass."""
    center = center_in(world, motion, name)
    return Poses(centers - turn_vectors(rotations, center) if center.any() else centers, rotations)


def _errors(motion: Motion, made: Mapping[str, Poses], size: float, touch: float | None) -> dict[str, float]:
    places, angles = [], []
    for name, poses in motion.bodies.items():
        got = made[name]
        if got.position.shape != poses.position.shape or got.rotation.shape != poses.rotation.shape:
            raise ValueError(f"motion {motion.name}: the engine gave {len(got.position)} poses of {len(poses.position)}")
        places.append(np.linalg.norm(got.position - poses.position, axis=1))
        angles.append(np.degrees(angle_between(got.rotation, poses.rotation)))
    place, angle = np.mean(places, axis=0) / size, np.mean(angles, axis=0)
    row = {"position": place.mean(), "angle": angle.mean(), "final_position": place[-1], "final_angle": angle[-1]}
    for after in AFTER_TOUCH if touch is not None else ():
        k = int(np.searchsorted(motion.time - motion.time[0], (touch or 0.0) + after))
        row[f"position_{after:g}"] = place[k] if k < len(place) else math.nan
        row[f"angle_{after:g}"] = angle[k] if k < len(angle) else math.nan
    return {name: float(value) for name, value in row.items()}


def score(
    scene: SceneLike | Engine,
    motions: Sequence[Motion],
    *,
    starts: Sequence[tuple[Mapping[str, Start], float]] | None = None,
    parameters: Mapping[str, Any] | None = None,
    stepper: str | None = None,
    step: float | None = None,
    size: float = 1.0,
    threads: int | None = None,
) -> pd.DataFrame:
    """How far simulations are from what was measured: a row per motion.

    scene       as in tippe.load, or a function (motion, starts) -> poses that asks another engine; it gives the point that the motion names
    starts      as starts_of gives them; by default they are fitted here. Needed with another engine
    parameters  values of the scene by their paths, as tippe.sweep takes them
    step        longest step, s, by default the scene's
    size        length that position errors are divided by, m: the width of the body makes them relative

    Columns: position and angle (means over the motion, m / size and degrees), final_position, final_angle, and both at 0.1, 0.2
    and 0.4 s after the first touch.
    """
    if callable(scene):
        if starts is None:
            raise ValueError("starts: needed with another engine; starts_of(scene, motions) gives them")
        engine: Engine = scene
        workers = 1
    else:
        starts = starts_of(scene, motions, stepper=stepper, threads=threads) if starts is None else starts
        engine = _engine_of(scene, parameters or {}, stepper, step)
        workers = threads or os.cpu_count() or 1
    if len(starts) != len(motions):
        raise ValueError(f"starts: expected {len(motions)}, one for each motion, got {len(starts)}")

    def one(k: int) -> dict[str, float]:
        given, touch = starts[k]
        return _errors(motions[k], engine(motions[k], given), size, touch)

    with ThreadPoolExecutor(workers) as crew:
        rows = list(crew.map(one, range(len(motions))))
    return pd.DataFrame(rows, index=pd.Index([motion.name for motion in motions], name="motion"))


def _engine_of(scene: SceneLike, parameters: Mapping[str, Any], stepper: str | None, step: float | None) -> Engine:
    document: SceneLike = scene
    if parameters:
        base: dict[str, Any] = dict(scene) if isinstance(scene, Mapping) else read_scene(scene)
        document = with_paths(base, values_of(base, parameters))

    def engine(motion: Motion, starts: Mapping[str, Start]) -> Mapping[str, Poses]:
        return simulate(load(document, stepper=stepper), motion, starts, step)

    return engine


def values_of(scene: Mapping[str, Any], parameters: Mapping[str, Any]) -> dict[str, Any]:
    """A path that ends in * takes a factor of what the scene gives there: for inertias, sizes and other lists."""
    made: dict[str, Any] = {}
    for path, value in parameters.items():
        if path.endswith("*"):
            given = get_path(scene, path[:-1])
            made[path[:-1]] = [value * item for item in given] if isinstance(given, (list, tuple)) else value * given
        else:
            made[path] = value
    return made


def summarise(table: pd.DataFrame, *, resamples: int = 2000, seed: int = 0) -> pd.DataFrame:
    """Median and mean of every column, with the interval of 95 percent of the median by the bootstrap over motions."""
    random = np.random.default_rng(seed)
    rows = {}
    for name in table.columns:
        values = table[name].dropna().to_numpy(float)
        if values.size == 0:
            continue
        medians = np.median(values[random.integers(0, values.size, (resamples, values.size))], axis=1)
        low, high = np.percentile(medians, (2.5, 97.5))
        rows[name] = {"median": np.median(values), "low": low, "high": high, "mean": values.mean()}
    return pd.DataFrame(rows).T


def paired_difference(a: pd.DataFrame, b: pd.DataFrame, column: str = "position", *, resamples: int = 2000, seed: int = 0) -> dict[str, float]:
    """The median over motions of a's error less b's, with its interval of 95 percent, by the bootstrap over pairs: an interval below
    zero says that `a` is nearer to what was measured. `share` is the part of motions in which it is."""
    if list(a.index) != list(b.index):
        raise ValueError("b: expected the same motions as in a")
    values = (a[column] - b[column]).to_numpy(float)
    random = np.random.default_rng(seed)
    medians = np.median(values[random.integers(0, values.size, (resamples, values.size))], axis=1)
    low, high = np.percentile(medians, (2.5, 97.5))
    return {"median": float(np.median(values)), "low": float(low), "high": float(high), "share": float((values < 0).mean())}
