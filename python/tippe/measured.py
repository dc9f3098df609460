"""Measured motion: simulations held against recordings of the real world, and numbers identified from them.

    motions = tippe.measured.read("tosses.csv", body="cube", rate=148)
    table = tippe.measured.score("cube.json", motions)             # a row per motion
    print(tippe.measured.summarise(table))                         # medians, with intervals
    found = tippe.measured.fit("cube.json", motions, {"materials.acrylic.friction": (0.05, 0.5)})
    print(found)                                                   # values, intervals, held-out scores

The scene has the bodies, their shapes and materials; the motions say where the measured bodies were. Where a motion starts in free flight,
its start is fitted to that flight; the simulation goes on from there and is compared with the measured poses at the measured times. The same
driver serves other engines: `score` takes a function in place of a scene. docs/measured.md has the protocol.
"""

from __future__ import annotations

import math
import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from typing import Any, Union

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from .scene_files import SceneLike, get_path, with_paths
from .scene_files import read as read_scene
from .world import World, load

__all__ = ["Fit", "Motion", "Poses", "Start", "fit", "fit_start", "paired_difference", "read", "score", "simulate", "starts_of", "summarise", "write"]

FloatArray = NDArray[np.float64]
_COLUMNS = ("x", "y", "z", "qw", "qx", "qy", "qz")
AFTER_TOUCH = (0.1, 0.2, 0.4)
"""Times after the first touch, s, at which `score` tells the error too."""


# Motions --------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Poses:
    """Where a body was: positions of its centre of mass (T, 3), m, and rotations of its frame (T, 4), w x y z."""

    position: FloatArray
    rotation: FloatArray


@dataclass(frozen=True)
class Motion:
    """A recorded motion: times (T,), s, and the poses of the measured bodies by name."""

    name: str
    time: FloatArray
    bodies: Mapping[str, Poses]

    def __repr__(self) -> str:
        return f"Motion({self.name!r}, {', '.join(self.bodies)}: {len(self.time)} poses in {self.time[-1] - self.time[0]:.3g} s)"


@dataclass(frozen=True)
class Start:
    """The state of a body at the first time of a motion."""

    position: FloatArray
    rotation: FloatArray
    velocity: FloatArray
    angular_velocity: FloatArray
    poses: int  # of the free flight that it was fitted to
    position_noise: float  # root mean square of what the fit left, m
    angle_noise: float  # the same, rad


def read(
    path: str | os.PathLike[str],
    *,
    body: str | None = None,
    rate: float | None = None,
    motion: str | None = None,
    scale: float = 1.0,
) -> list[Motion]:
    """Motions from a table (CSV, may be compressed): a row per time.

    Columns: `time` in s, or `frame` with `rate` in 1/s; x y z (m, centre of mass) and qw qx qy qz for the one body `body`, or BODY.x ...
    BODY.qz for several; and if the table has several motions, a column that tells them apart (`motion`, by default one called motion, toss
    or run). `scale` multiplies all lengths.

    A table that is wrong is a ValueError with file, line and column: numbers that are missing or not finite, quaternions that are none, times
    that do not ascend.
    """
    file = os.fspath(path)
    try:
        table = pd.read_csv(file)
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
    key = motion or next((name for name in ("motion", "toss", "run") if name in table), None)
    if key is not None and key not in table:
        raise ValueError(f"{file}: there is no column {key!r}; there are {', '.join(table.columns)}")
    used = ["time" if "time" in table else "frame", *(column for columns in names.values() for column in columns)]
    _check_numbers(file, table, used)
    groups: Iterable[tuple[Any, pd.DataFrame]] = [("0", table)] if key is None else table.groupby(key, sort=False)
    return [_motion_of(file, str(name), group, names, rate, scale) for name, group in groups]


def _bodies_of(file: str, columns: list[str], body: str | None) -> dict[str, list[str]]:
    if set(_COLUMNS) <= set(columns):
        return {body or "": list(_COLUMNS)}
    owners = [name[:-2] for name in columns if name.endswith(".x") and all(f"{name[:-2]}.{part}" in columns for part in _COLUMNS)]
    if body is not None:
        owners = [name for name in owners if name == body]
    if not owners:
        raise ValueError(f"{file}: needs columns {' '.join(_COLUMNS)} (or BODY.x ... BODY.qz); there are {', '.join(columns)}")
    return {name: [f"{name}.{part}" for part in _COLUMNS] for name in owners}


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
    file: str, name: str, group: pd.DataFrame, names: dict[str, list[str]], rate: float | None, scale: float
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
    return Motion(name, time, bodies)


def write(path: str | os.PathLike[str], motions: Sequence[Motion]) -> None:
    """Writes motions as a table that `read` takes."""
    tables = []
    for motion in motions:
        columns: dict[str, Any] = {"motion": motion.name, "time": motion.time}
        for body, poses in motion.bodies.items():
            prefix = f"{body}." if body else ""
            numbers = np.hstack([poses.position, poses.rotation])
            columns.update({prefix + name: numbers[:, k] for k, name in enumerate(_COLUMNS)})
        tables.append(pd.DataFrame(columns))
    pd.concat(tables).to_csv(path, index=False)


# Rotations ------------------------------------------------------------------------------------------


def _product(a: FloatArray, b: FloatArray) -> FloatArray:
    w, v, s, u = a[..., :1], a[..., 1:], b[..., :1], b[..., 1:]
    return np.concatenate([w * s - (v * u).sum(-1, keepdims=True), w * u + s * v + np.cross(v, u)], axis=-1)


def _conjugate(q: FloatArray) -> FloatArray:
    return q * np.array([1.0, -1.0, -1.0, -1.0])


def _vector_of(q: FloatArray) -> FloatArray:
    """The rotation vector, of at most half a turn."""
    q = np.where(q[..., :1] < 0, -q, q)
    length = np.linalg.norm(q[..., 1:], axis=-1, keepdims=True)
    factor = np.where(length < 1e-12, 2.0, 2 * np.arctan2(length, q[..., :1]) / np.maximum(length, 1e-300))
    return factor * q[..., 1:]


def _quaternion_of(v: FloatArray) -> FloatArray:
    angle = np.linalg.norm(v, axis=-1, keepdims=True)
    factor = np.where(angle < 1e-8, 0.5 - angle**2 / 48, np.sin(angle / 2) / np.maximum(angle, 1e-300))
    return np.concatenate([np.cos(angle / 2), factor * v], axis=-1)


def angle_between(a: FloatArray, b: FloatArray) -> FloatArray:
    """Angles of the rotations from one to the other, rad."""
    made: FloatArray = np.linalg.norm(_vector_of(_product(_conjugate(a), b)), axis=-1)
    return made


def _turn_freely(rotation: FloatArray, spin: FloatArray, inertia: FloatArray, time: FloatArray) -> FloatArray:
    """Rotations at the times of a free body that starts with `rotation` and `spin` (world axes), by RK4 with small steps."""
    if np.allclose(inertia, np.eye(3) * inertia[0, 0], rtol=1e-12, atol=0):
        return _product(_quaternion_of(np.outer(time - time[0], spin)), rotation)
    inverse = np.linalg.inv(inertia)

    def turn(q: FloatArray, v: FloatArray) -> FloatArray:
        return _product(_product(q, np.concatenate([[0.0], v])), _conjugate(q))[1:]

    momentum = turn(rotation, inertia @ turn(_conjugate(rotation), spin))

    def rate(q: FloatArray) -> FloatArray:
        local = inverse @ turn(_conjugate(q), momentum)
        return 0.5 * _product(q, np.concatenate([[0.0], local]))

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


# Starts ---------------------------------------------------------------------------------------------


def _fit_flight(poses: Poses, time: FloatArray, count: int, gravity: FloatArray, inertia: FloatArray) -> Start:
    """Least squares over the first `count` poses: a parabola, and the rotation of a free body."""
    t = time[:count] - time[0]
    flat = poses.position[:count] - 0.5 * np.outer(t**2, gravity)
    design = np.stack([np.ones(count), t], axis=1)
    line, *_ = np.linalg.lstsq(design, flat, rcond=None)
    left = flat - design @ line
    rotation = poses.rotation[0]
    steps = _vector_of(_product(poses.rotation[1:count], _conjugate(poses.rotation[: count - 1])))
    spin = (steps / np.diff(t)[:, None]).mean(axis=0)
    miss = np.zeros((count, 3))
    for _ in range(8):
        def missing(change: FloatArray, rotation: FloatArray = rotation, spin: FloatArray = spin) -> FloatArray:
            start = _product(_quaternion_of(change[:3]), rotation)
            return _vector_of(_product(poses.rotation[:count], _conjugate(_turn_freely(start, spin + change[3:], inertia, t)))).ravel()

        zero = missing(np.zeros(6))
        size = np.array([1e-6] * 3 + [1e-6 / max(t[-1], 1e-9)] * 3)
        slopes = np.stack([(missing(np.eye(6)[k] * size[k]) - zero) / size[k] for k in range(6)], axis=1)
        change, *_ = np.linalg.lstsq(slopes, -zero, rcond=None)
        rotation = _product(_quaternion_of(change[:3]), rotation)
        spin = spin + change[3:]
        miss = zero.reshape(count, 3)
        if np.linalg.norm(change[:3]) < 1e-9:
            break
    noise = (float(np.sqrt((left**2).sum(1).mean())), float(np.sqrt((miss**2).sum(1).mean())))
    return Start(line[0], rotation / np.linalg.norm(rotation), line[1], spin, count, *noise)


def fit_start(world: World, motion: Motion, *, least: int = 5, poses: int | None = None) -> dict[str, Start]:
    """The states of the measured bodies at the first time of a motion, fitted to the flight before the first touch.

    The flight is found by the scene: a fit to the first `least` poses is simulated until a measured body touches something, all poses before
    are fitted anew, until the number stays. `poses` gives it instead. Bodies that touch from the start get the differences of the first poses.
    """
    snapshot = world.snapshot()
    gravity = np.asarray(world.gravity)
    count = max(3, min(least if poses is None else poses, len(motion.time)))
    starts: dict[str, Start] = {}
    for _ in range(5):
        starts = {
            name: _fit_flight(given, motion.time, count, gravity * world[name].gravity_scale, np.asarray(world[name].inertia))
            for name, given in motion.bodies.items()
        }
        if poses is not None:
            break
        touch = first_touch(world, motion, starts, motion.time[-1] - motion.time[0])
        world.restore(snapshot)
        # The last pose before the touch may have been taken in it: one less.
        found = max(3, int(np.searchsorted(motion.time - motion.time[0], touch)) - 1)
        if found == count:
            break
        count = min(found, len(motion.time))
    return starts


def first_touch(world: World, motion: Motion, starts: Mapping[str, Start], until: float) -> float:
    """The time after the start at which a measured body first touches something, s; `until` if it does not."""
    place(world, starts)
    begin, h = world.time, float(np.diff(motion.time).min()) / 4
    while world.time - begin < until:
        report = world.step(h)
        if report.contacts:
            contacts = world.contacts
            mine = np.isin(contacts["body_a"], list(starts)) | np.isin(contacts["body_b"], list(starts))
            if (contacts["normal_impulse"][mine] > 0).any():
                return world.time - begin
    return until


def place(world: World, starts: Mapping[str, Start]) -> None:
    """Gives bodies their states."""
    for name, start in starts.items():
        body = world[name]
        body.position, body.rotation = start.position, start.rotation
        body.velocity, body.angular_velocity = start.velocity, start.angular_velocity


# Simulations ----------------------------------------------------------------------------------------

Engine = Callable[[Motion, Mapping[str, Start]], Mapping[str, Poses]]
"""What simulates a motion: gets its times and starts, gives poses at these times."""


def simulate(world: World, motion: Motion, starts: Mapping[str, Start], step: float | None = None) -> dict[str, Poses]:
    """The poses of the measured bodies at the times of a motion, from the given starts.

    The steps between two poses are as long as each other, and at most `step` (by default the world's step_size).
    """
    place(world, starts)
    longest = world.step_size if step is None else step
    gaps = np.diff(motion.time)
    rows = {name: row for row, name in enumerate(body.name for body in world.moving)}
    counts = np.ceil(gaps / longest - 1e-6).astype(int).clip(1)
    if np.ptp(gaps) <= 1e-6 * gaps[0]:
        # Times from the world's own clock, so that their sum cannot lose a step.
        every, h = int(counts[0]), float(gaps.mean() / counts[0])
        run = world.run(until=world.time + h * every * len(gaps), step=h, every=every, contacts=False)
        return {name: Poses(run.position[:, rows[name]], run.rotation[:, rows[name]]) for name in motion.bodies}
    made: dict[str, tuple[list[FloatArray], list[FloatArray]]] = {name: ([], []) for name in motion.bodies}
    for k in range(len(motion.time)):
        for name, (positions, rotations) in made.items():
            positions.append(world[name].position)
            rotations.append(world[name].rotation)
        if k < len(gaps):
            for _ in range(counts[k]):
                world.step(gaps[k] / counts[k])
    return {name: Poses(np.array(positions), np.array(rotations)) for name, (positions, rotations) in made.items()}


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


def starts_of(
    scene: SceneLike, motions: Sequence[Motion], *, stepper: str | None = None, threads: int | None = None, poses: int | None = None
) -> list[tuple[dict[str, Start], float]]:
    """For each motion the starts of its bodies, and the time from the start to the first touch."""
    _check_bodies(scene, motions)

    def one(motion: Motion) -> tuple[dict[str, Start], float]:
        world = load(scene, stepper=stepper)
        starts = fit_start(world, motion, poses=poses)
        return starts, first_touch(load(scene, stepper=stepper), motion, starts, motion.time[-1] - motion.time[0])

    with ThreadPoolExecutor(threads or os.cpu_count() or 1) as crew:
        return list(crew.map(one, motions))


def _check_bodies(scene: SceneLike, motions: Sequence[Motion]) -> None:
    if not motions:
        raise ValueError("motions: there are none")
    world = load(scene)
    moving = [body.name for body in world.moving]
    for motion in motions:
        for name in motion.bodies:
            if name not in moving:
                raise ValueError(f"motion {motion.name}: the scene has no moving body {name!r}; there are {', '.join(moving)}")


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

    scene       as in tippe.load, or a function (motion, starts) -> poses that asks another engine
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
        document = with_paths(base, _values(base, parameters))

    def engine(motion: Motion, starts: Mapping[str, Start]) -> Mapping[str, Poses]:
        return simulate(load(document, stepper=stepper), motion, starts, step)

    return engine


def _values(scene: Mapping[str, Any], parameters: Mapping[str, Any]) -> dict[str, Any]:
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


# Identification -------------------------------------------------------------------------------------


@dataclass
class Fit:
    """What `fit` found."""

    values: dict[str, float]
    """The best values by the paths of the scene."""
    intervals: dict[str, tuple[float, float]]
    """Of 95 percent, by the bootstrap over motions."""
    scores: pd.DataFrame
    """Of all motions with the best values; a row per motion."""
    held_out: pd.DataFrame
    """Of all motions with values that were identified without them."""
    start_scores: pd.DataFrame
    """Of all motions with the scene's own values."""
    trials: pd.DataFrame = field(repr=False)
    """All points that were tried, with the loss of each."""

    def __str__(self) -> str:
        lines = []
        for path, value in self.values.items():
            low, high = self.intervals[path]
            lines.append(f"{path:40s} {value:.6g}   [{low:.6g}, {high:.6g}]")
        for name, table in (("the scene's values", self.start_scores), ("identified", self.scores), ("held out", self.held_out)):
            lines.append(f"{name:40s} position {table['position'].median():.6g}, angle {table['angle'].median():.4g} degrees (medians)")
        return "\n".join(lines)


Bounds = Union[tuple[float, float], Sequence[float]]


def fit(
    scene: SceneLike,
    motions: Sequence[Motion],
    parameters: Mapping[str, Bounds],
    *,
    starts: Sequence[tuple[Mapping[str, Start], float]] | None = None,
    stepper: str | None = None,
    step: float | None = None,
    size: float = 1.0,
    trials: int = 200,
    folds: int = 5,
    resamples: int = 500,
    seed: int = 0,
    threads: int | None = None,
    progress: bool = False,
) -> Fit:
    """Identifies numbers of a scene from motions.

    parameters  paths of the scene, as tippe.sweep takes them, with bounds: {"materials.wood.friction": (0.1, 0.6)}. A path that ends
                in * is a factor of the scene's value: {"bodies.cube.inertia*": (0.8, 1.5)}
    trials      points at which all motions are simulated
    folds       parts of the motions for the held-out scores; at least two
    resamples   of the bootstrap

    The loss of a point is the mean over motions of log(position) + log(angle), errors as in `score`: half of all errors being large does
    not hide the other half. The search has three parts: a third of the trials fill the bounds evenly (a Halton sequence, the scene's own
    values first), a third follow the simplex of Nelder and Mead from the best, a third are drawn about the best with a spread that shrinks.
    Every point is tried on all motions, so that the points serve every fold and every resample: held-out scores take, for each fold, the point
    that is best for the other folds, and the intervals are those of the best points of resampled motions.
    """
    if not parameters:
        raise ValueError("parameters: there are none")
    if trials < 10 or folds < 2 or len(motions) < folds:
        raise ValueError("trials, folds: expected ten trials, two folds and as many motions as folds at least")
    paths = list(parameters)
    low, high = (np.array([float(parameters[path][side]) for path in paths]) for side in (0, 1))
    for path, a, b in zip(paths, low, high):
        if not (math.isfinite(a) and math.isfinite(b) and a < b):
            raise ValueError(f"{path}: expected two bounds, the lower first, got {a:g} and {b:g}")
    base: dict[str, Any] = dict(scene) if isinstance(scene, Mapping) else read_scene(scene)
    own = np.array([_own_value(base, path) for path in paths])
    starts = starts_of(base, motions, stepper=stepper, threads=threads) if starts is None else starts
    search = _Search(
        lambda point: score(base, motions, starts=starts, parameters=dict(zip(paths, map(float, low + point * (high - low)))),
                            stepper=stepper, step=step, size=size, threads=threads),
        len(paths), trials, np.random.default_rng(seed), progress,
    )
    own_scores = score(base, motions, starts=starts, stepper=stepper, step=step, size=size, threads=threads)
    search.run(np.clip((own - low) / (high - low), 0, 1))
    points = low + np.array(search.points) * (high - low)
    losses = np.array(search.losses)  # (trials, motions)
    best = int(losses.mean(axis=1).argmin())
    random = np.random.default_rng(seed + 1)
    held = _held_out(search.tables, losses, folds, random)
    chosen = [int(losses[:, random.integers(0, len(motions), len(motions))].mean(axis=1).argmin()) for _ in range(resamples)]
    ends = np.percentile(points[chosen], (2.5, 97.5), axis=0)
    tried = pd.DataFrame(points, columns=pd.Index(paths)).assign(loss=losses.mean(axis=1))
    return Fit(
        {path: float(points[best, k]) for k, path in enumerate(paths)},
        {path: (float(ends[0, k]), float(ends[1, k])) for k, path in enumerate(paths)},
        search.tables[best], held, own_scores, tried,
    )


def _own_value(scene: Mapping[str, Any], path: str) -> float:
    if path.endswith("*"):
        get_path(scene, path[:-1])
        return 1.0
    try:
        value = get_path(scene, path)
    except ValueError:
        with_paths(dict(scene), {path: 0.0})  # says what is wrong with the path
        return math.nan
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        raise ValueError(f"{path}: expected a number in the scene; a path that ends in * takes a factor of a list")
    return float(value)


def _held_out(tables: list[pd.DataFrame], losses: FloatArray, folds: int, random: np.random.Generator) -> pd.DataFrame:
    count = losses.shape[1]
    fold = random.permutation(count) % folds
    rows: list[pd.DataFrame] = []
    for k in range(folds):
        point = int(losses[:, fold != k].mean(axis=1).argmin())
        rows.append(tables[point][fold == k])
    return pd.concat(rows).loc[list(tables[0].index)]


class _Search:
    """Points of the unit cube, each with the errors of all motions."""

    def __init__(self, measure: Callable[[FloatArray], pd.DataFrame], size: int, trials: int, random: np.random.Generator, progress: bool) -> None:
        self.measure, self.size, self.trials, self.random = measure, size, trials, random
        self.points: list[FloatArray] = []
        self.losses: list[FloatArray] = []
        self.tables: list[pd.DataFrame] = []
        self.bar: Any = None
        if progress:
            from tqdm.auto import tqdm

            self.bar = tqdm(total=trials, unit="trial")

    def loss(self, point: FloatArray) -> float:
        """Tries a point; outside of the cube the nearest point inside is tried."""
        inside = np.clip(point, 0, 1)
        table = self.measure(inside)
        errors = table[["position", "angle"]].to_numpy(float)
        errors = np.where(np.isfinite(errors), errors, 1e6)
        self.points.append(inside)
        self.tables.append(table)
        self.losses.append(np.log(np.maximum(errors, 1e-9)).sum(axis=1))
        if self.bar is not None:
            self.bar.update(1)
        return float(self.losses[-1].mean() + np.abs(point - inside).sum())

    def run(self, own: FloatArray) -> None:
        if np.isfinite(own).all():
            self.loss(own)
        for k in range(1, self.trials // 3 + 1):
            self.loss(np.array([_halton(k, base) for base in _primes(self.size)]))
        self._descend(2 * self.trials // 3)
        spread = 0.1
        while len(self.points) < self.trials:
            best = self.points[int(np.array(self.losses).mean(axis=1).argmin())]
            self.loss(best + spread * self.random.standard_normal(self.size))
            spread = max(0.01, spread * 0.97)
        if self.bar is not None:
            self.bar.close()

    def _descend(self, until: int) -> None:
        """The simplex of Nelder and Mead from the best point."""
        best = self.points[int(np.array(self.losses).mean(axis=1).argmin())]
        corners = [best] + [best + np.eye(self.size)[k] * (0.1 if best[k] < 0.5 else -0.1) for k in range(self.size)]
        values = [self.loss(corner) for corner in corners]
        while len(self.points) < until:
            order = np.argsort(values)
            corners, values = [corners[i] for i in order], [values[i] for i in order]
            middle = np.mean(corners[:-1], axis=0)
            ahead = middle + (middle - corners[-1])
            value = self.loss(ahead)
            if value < values[0]:
                far = middle + 2 * (middle - corners[-1])
                farther = self.loss(far)
                corners[-1], values[-1] = (far, farther) if farther < value else (ahead, value)
            elif value < values[-2]:
                corners[-1], values[-1] = ahead, value
            else:
                near = middle + 0.5 * ((ahead if value < values[-1] else corners[-1]) - middle)
                nearer = self.loss(near)
                if nearer < min(value, values[-1]):
                    corners[-1], values[-1] = near, nearer
                else:
                    corners = [corners[0]] + [corners[0] + 0.5 * (corner - corners[0]) for corner in corners[1:]]
                    values = [values[0]] + [self.loss(corner) for corner in corners[1:]]


def _halton(index: int, base: int) -> float:
    value, part = 0.0, 1.0
    while index > 0:
        part /= base
        value += part * (index % base)
        index //= base
    return value


def _primes(count: int) -> list[int]:
    found: list[int] = []
    number = 2
    while len(found) < count:
        if all(number % prime for prime in found):
            found.append(number)
        number += 1
    return found
