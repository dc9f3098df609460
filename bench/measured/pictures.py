"""The pictures of docs/measured.md, as small SVG files."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import matplotlib

matplotlib.use("agg")
import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from tippe import measured

__all__ = ["draw_errors", "draw_gains", "draw_toss"]

plt.rcParams.update({"svg.fonttype": "none", "font.size": 9, "axes.spines.top": False, "axes.spines.right": False, "svg.hashsalt": "tippe"})


def _save(figure: Any, path: Path) -> None:
    figure.savefig(path, bbox_inches="tight", metadata={"Date": None})
    plt.close(figure)
    print(f"wrote {path}")


def draw_errors(tables: dict[str, pd.DataFrame], best: str, path: Path) -> None:
    """How errors are distributed over tosses, a line for each engine."""
    figure, axes = plt.subplots(1, 2, figsize=(8, 3.4), sharey=True)
    for name, table in tables.items():
        is_best = name == best
        style = {"linewidth": 2.2 if is_best else 1.0, "zorder": 3 if is_best else 2, "linestyle": "--" if "given" in name else "-"}
        for axis, values in zip(axes, (100 * table["position"], table["angle"])):
            shares = np.linspace(0.02, 0.98, 49)
            axis.plot(np.quantile(values.to_numpy(float), shares).round(3), shares, label=name, **style)
    for axis, label, most in zip(axes, ("mean error of position, percent of the width", "mean error of the angle, degrees"), (30, 30)):
        axis.set_xlim(0, most)
        axis.set_ylim(0, 1)
        axis.set_xlabel(label)
        axis.grid(alpha=0.25)
    axes[0].set_ylabel("share of tosses with a smaller error")
    axes[1].legend(fontsize=7, loc="lower right", frameon=False)
    _save(figure, path)


def draw_toss(motion: measured.Motion, made: dict[str, measured.Poses], path: Path) -> None:
    """One toss: the way of the middle of the cube, measured and predicted."""
    (name, poses), = motion.bodies.items()
    time = motion.time - motion.time[0]
    figure, axes = plt.subplots(1, 2, figsize=(8, 3))
    for axis, column, label in ((axes[0], 2, "height, m"), (axes[1], int(np.ptp(poses.position[:, :2], axis=0).argmax()), "way along the table, m")):
        axis.plot(time, poses.position[:, column], "k.", markersize=3, label="measured", zorder=3)
        for engine, predicted in made.items():
            axis.plot(time, predicted.position[:, column], label=engine, linewidth=1.4, linestyle="--" if "given" in engine else "-")
        axis.set_xlabel("time, s")
        axis.set_ylabel(label)
        axis.grid(alpha=0.25)
    axes[1].legend(fontsize=7, frameon=False)
    _save(figure, path)


def draw_gains(found: dict[str, Any], path: Path) -> None:
    """What each change of the identified model costs, with intervals of 95 percent."""
    names = list(found)[::-1]
    figure, axes = plt.subplots(1, 2, figsize=(8, 0.27 * len(names) + 0.8), sharey=True)
    for axis, column, factor, label in ((axes[0], "position", 100.0, "change of the position error, percent of the width"),
                                        (axes[1], "angle", 1.0, "change of the angle error, degrees")):
        for row, name in enumerate(names):
            place = found[name][column]
            axis.plot([factor * place["low"], factor * place["high"]], [row, row], color="tab:blue", linewidth=1.6)
            axis.plot([factor * place["median"]], [row], "o", color="tab:blue", markersize=4)
        axis.axvline(0, color="black", linewidth=0.8)
        axis.set_xlabel(label)
        axis.grid(alpha=0.25, axis="x")
    axes[0].set_yticks(range(len(names)), names)
    _save(figure, path)
