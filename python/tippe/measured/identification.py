"""Numbers of a scene identified from motions."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Union

import numpy as np
import pandas as pd

from ..scene_files import SceneLike, get_path, with_paths
from ..scene_files import read as read_scene
from .motions import FloatArray, Motion
from .scores import score
from .starts import Start, starts_of

__all__ = ["Fit", "fit"]

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
    fold_values: pd.DataFrame
    """The values of each fold of the held-out scores; a row per fold."""
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
    nested: bool = False,
    explore: float = 1 / 3,
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
    nested      search anew for each fold, with the motions of the others alone: as many trials again for each
    explore     share of the trials that fill the bounds
    resamples   of the bootstrap

    The loss of a point is the mean over motions of log(position) + log(angle), errors as in `score`: half of all errors being large does
    not hide the other half. The search has three parts: first trials fill the bounds evenly (a Halton sequence, the scene's own values
    first); two thirds of the rest follow the simplex of Nelder and Mead from the best, or with more than three numbers the evolution strategy
    with covariance adaptation (CMA-ES, of the package cma); the others are drawn about the best with a spread that shrinks. Every point is
    tried on all motions, so that the points serve every fold and
    every resample: the intervals are those of the best points of resampled motions, and held-out scores take, for each fold, the point that is best for the other folds; or, if `nested`, the
    point that a search of its own finds, to which the fold was never shown.
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
    if not 0 <= explore <= 1:
        raise ValueError(f"explore: expected a number from 0 to 1, got {explore!r}")
    if any(".center_of_mass" in path for path in paths) and any(motion.point != "frame" for motion in motions):
        raise ValueError('motions: positions are said to be those of the centre of mass, which is varied; read them with point="frame"')
    base: dict[str, Any] = dict(scene) if isinstance(scene, Mapping) else read_scene(scene)
    own = np.array([_own_value(base, path) for path in paths])
    starts = starts_of(base, motions, stepper=stepper, threads=threads) if starts is None else starts
    given = starts

    def measure(point: FloatArray, chosen: Sequence[int]) -> pd.DataFrame:
        values = dict(zip(paths, map(float, low + point * (high - low))))
        return score(base, [motions[k] for k in chosen], starts=[given[k] for k in chosen], parameters=values, stepper=stepper, step=step, size=size,
                     threads=threads)

    everything = range(len(motions))
    bar = _bar(trials * (1 + nested * folds)) if progress else None
    own_scores = score(base, motions, starts=starts, stepper=stepper, step=step, size=size, threads=threads)
    begin = np.clip((own - low) / (high - low), 0, 1)
    search = _Search(lambda point: measure(point, everything), len(paths), trials, seed, bar).run(begin, explore)
    points = low + np.array(search.points) * (high - low)
    losses = np.array(search.losses)  # (trials, motions)
    best = search.best()
    random = np.random.default_rng(seed + 1)
    fold = random.permutation(len(motions)) % folds
    held: list[pd.DataFrame] = []
    fold_points: list[FloatArray] = []
    for k in range(folds):
        if nested:
            others = np.flatnonzero(fold != k).tolist()
            inner = _Search(lambda point, others=others: measure(point, others), len(paths), trials, seed + 2 + k, bar).run(begin, explore)
            fold_points.append(inner.points[inner.best()])
            held.append(measure(fold_points[-1], np.flatnonzero(fold == k).tolist()))
        else:
            point = int(losses[:, fold != k].mean(axis=1).argmin())
            fold_points.append(search.points[point])
            held.append(search.tables[point][fold == k])
    if bar is not None:
        bar.close()
    chosen = [int(losses[:, random.integers(0, len(motions), len(motions))].mean(axis=1).argmin()) for _ in range(resamples)]
    ends = np.percentile(points[chosen], (2.5, 97.5), axis=0)
    return Fit(
        {path: float(points[best, k]) for k, path in enumerate(paths)},
        {path: (float(ends[0, k]), float(ends[1, k])) for k, path in enumerate(paths)},
        search.tables[best],
        pd.concat(held).loc[[motion.name for motion in motions]],
        pd.DataFrame(low + np.array(fold_points) * (high - low), columns=pd.Index(paths)),
        own_scores,
        pd.DataFrame(points, columns=pd.Index(paths)).assign(loss=losses.mean(axis=1)),
    )


def _bar(total: int) -> Any:
    from tqdm.auto import tqdm

    return tqdm(total=total, unit="trial")


def _own_value(scene: Mapping[str, Any], path: str) -> float:
    if path.endswith("*"):
        get_path(scene, path[:-1])
        return 1.0
    try:
        value = get_path(scene, path)
    except ValueError:
        made = with_paths(dict(scene), {path: math.nan})  # says what is wrong with the path
        vector = get_path(made, path.rpartition(".")[0])
        return 0.0 if isinstance(vector, list) else math.nan
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        raise ValueError(f"{path}: expected a number in the scene; a path that ends in * takes a factor of a list")
    return float(value)


class _Search:
    """Points of the unit cube, each with the errors of all motions."""

    def __init__(self, measure: Callable[[FloatArray], pd.DataFrame], size: int, trials: int, seed: int, bar: Any) -> None:
        self.measure, self.size, self.trials, self.seed, self.bar = measure, size, trials, seed, bar
        self.points: list[FloatArray] = []
        self.losses: list[FloatArray] = []
        self.tables: list[pd.DataFrame] = []

    def best(self) -> int:
        """The point with the least loss."""
        return int(np.array(self.losses).mean(axis=1).argmin())

    def loss(self, point: FloatArray) -> float:
        """Tries a point; outside of the cube the nearest point inside is tried, with a penalty."""
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

    def run(self, own: FloatArray, explore: float) -> _Search:
        """All trials, from the scene's own point if it has one."""
        known = bool(np.isfinite(own).all())
        if known:
            self.loss(own)
        for k in range(1, max(int(explore * self.trials), 0 if known else 1) + 1):
            self.loss(np.array([_halton(k, base) for base in _primes(self.size)]))
        until = (2 * self.trials + len(self.points)) // 3
        if self.size <= 3:
            self._descend(until)
        else:
            self._evolve(until)
        random, spread = np.random.default_rng(self.seed), 0.1
        while len(self.points) < self.trials:
            self.loss(self.points[self.best()] + spread * random.standard_normal(self.size))
            spread = max(0.01, spread * 0.97)
        return self

    def _evolve(self, until: int) -> None:
        """CMA-ES from the best point; again from the new best if it comes to an end before the trials do."""
        import cma  # type: ignore[import-untyped,unused-ignore]

        spread = 0.15
        while len(self.points) < until:
            options = {"seed": self.seed + len(self.points) + 1, "verbose": -9, "tolfun": 1e-5, "tolx": 1e-4}
            strategy: Any = cma.CMAEvolutionStrategy(self.points[self.best()], spread, options)
            while not strategy.stop() and len(self.points) < until:
                asked = strategy.ask()
                strategy.tell(asked, [self.loss(np.asarray(point)) for point in asked])
            spread *= 0.5

    def _descend(self, until: int) -> None:
        """The simplex of Nelder and Mead from the best point."""
        best = self.points[self.best()]
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
