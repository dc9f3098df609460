"""Pictures of runs with matplotlib."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from .run import STATE_NAMES

if TYPE_CHECKING:
    from .run import Run

_UNITS = {
    **dict.fromkeys(("x", "y", "z"), "m"),
    **dict.fromkeys(("qw", "qx", "qy", "qz"), "quaternion"),
    **dict.fromkeys(("vx", "vy", "vz"), "m/s"),
    **dict.fromkeys(("wx", "wy", "wz"), "rad/s"),
}
_COORDINATES = {
    **dict.fromkeys(("q", "target"), "rad or m"),
    **dict.fromkeys(("qd", "target_speed"), "rad/s or m/s"),
    "effort": "N m or N",
}
_REPORTS = {
    **dict.fromkeys(
        ("energy", "kinetic_energy", "potential_energy", "external_work", "friction_loss", "impact_loss"), "J"
    ),
    "penetration": "m, overlap",
    "residual": "residual",
    "joint_drift": "m or rad, drift",
    "time": "s",
}
_LOGARITHMIC = ("residual",)


def plot_run(run: Run, columns: Sequence[str], x: str, axes: Any) -> Any:
    """Draws into the axes given, or into a new figure with a panel for each unit."""
    import matplotlib.pyplot as plt

    wanted = _expand(run, columns)
    against = run.column(x)
    if axes is not None:
        for name in wanted:
            axes.plot(against, run.column(name), label=name)
        _finish(axes, x, "", len(wanted) > 1)
        return axes
    panels: dict[str, list[str]] = {}
    for name in wanted:
        panels.setdefault(_unit(run, name), []).append(name)
    figure, made = plt.subplots(
        len(panels), 1, sharex=True, squeeze=False, figsize=(7, 1 + 2.2 * len(panels)), layout="constrained"
    )
    for (unit, names), panel in zip(panels.items(), made[:, 0]):
        for name in names:
            values = run.column(name)
            if name in _LOGARITHMIC and (values > 0).any():
                panel.set_yscale("log")
                values = values.astype(float)
                values[values <= 0] = float("nan")
            panel.plot(against, values, label=name)
        _finish(panel, "", unit, True)
    last = made[-1, 0]
    last.set_xlabel("time, s" if x == "time" else x)
    del figure
    return last


def _expand(run: Run, columns: Sequence[str]) -> list[str]:
    """Names of bodies stand for their positions; nothing at all for the heights of a few bodies."""
    if not columns:
        columns = [f"{name}.{'y' if run._trace.planar else 'z'}" for name in run.bodies[:8]] or ["energy"]
    wanted: list[str] = []
    for name in columns:
        wanted += [f"{name}.{part}" for part in "xyz"] if name in run.bodies else [name]
    for name in wanted:
        run.column(name)  # says what is wrong before a figure is made
    return wanted


def _unit(run: Run, name: str) -> str:
    owner, _, part = name.rpartition(".")
    if owner in run.bodies and part in STATE_NAMES:
        return _UNITS[part]
    if name in run.sensor_names:
        return owner  # the values of a sensor share its panel
    if owner in run.joints:
        return _COORDINATES[part]
    return _REPORTS.get(name, name)


def _finish(axes: Any, x: str, unit: str, legend: bool) -> None:
    if x:
        axes.set_xlabel("time, s" if x == "time" else x)
    if unit:
        axes.set_ylabel(unit)
    if legend:
        axes.legend(loc="best", fontsize="small")
    axes.grid(True, alpha=0.3)
