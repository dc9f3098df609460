"""Runs: what a world did, step by step."""

from __future__ import annotations

import json
import os
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from . import _core

if TYPE_CHECKING:
    import pandas

__all__ = ["BodyRun", "Run", "open_run"]

FloatArray = NDArray[np.float64]

STATE_NAMES = ("x", "y", "z", "qw", "qx", "qy", "qz", "vx", "vy", "vz", "wx", "wy", "wz")
"""Numbers of a body in the order of the columns of a CSV file: position, rotation, velocity, spin."""

_UNITS = dict(zip(STATE_NAMES, ["m"] * 3 + [""] * 4 + ["m/s"] * 3 + ["rad/s"] * 3))

# Columns of reports that have a shorter name in Python.
_SHORT = {
    "contacts": "contact_count",
    "solves": "solve_count",
    "iterations": "iteration_count",
    "failures": "failure_count",
    "substeps": "substep_count",
    "contact_queries": "contact_query_count",
    "kinetic_energy": "kinetic_after",
    "potential_energy": "potential_after",
}


class BodyRun:
    """One body of a run: ``run["ball"]``. All arrays have a row for each time of the run."""

    def __init__(self, name: str, states: FloatArray) -> None:
        self.name = name
        self._states = states

    @property
    def position(self) -> FloatArray:
        """Of the centre of mass, m: (T, 3)."""
        return self._states[:, 0:3]

    @property
    def rotation(self) -> FloatArray:
        """Of the body's frame, quaternions w x y z: (T, 4)."""
        return self._states[:, 3:7]

    @property
    def velocity(self) -> FloatArray:
        """Of the centre of mass, m/s: (T, 3)."""
        return self._states[:, 7:10]

    @property
    def angular_velocity(self) -> FloatArray:
        """In world axes, rad/s: (T, 3)."""
        return self._states[:, 10:13]

    def __repr__(self) -> str:
        return f'BodyRun("{self.name}", {len(self._states)} times)'


class Run:
    """What a world did: made by ``world.run()``, or read from a file by ``tippe.open()``.

    time                                           (T,) s; the first is the start
    position, rotation, velocity, angular_velocity (T, n, 3), (T, n, 4), (T, n, 3), (T, n, 3)
    residual, penetration, energy                  (T,), what the steps reported
    bodies                                         names of the n bodies that can move
    run["ball"].position                           (T, 3), one of them
    run.column("ball.z"), run.column("contacts")   any number as an array of T

    Positions and velocities are those of centres of mass, as in the CSV of the program. With `every` above one a
    row covers all steps since the row before: counts and works add up, residual and penetration are the
    largest.
    """

    def __init__(self, trace: _core.Trace, path: str | None = None) -> None:
        self._trace = trace
        self._cache: dict[str, Any] = {}
        self.path = path
        """The file it was read from or written to, or None."""

    # What happened ----------------------------------------------------------------------------

    @property
    def _columns(self) -> dict[str, tuple[str, str, int]]:
        """Paths of columns, each with its unit, a line about it, and its rows."""
        if "columns" not in self._cache:
            self._cache["columns"] = self._trace.columns()
        columns: dict[str, tuple[str, str, int]] = self._cache["columns"]
        return columns

    def _get(self, path: str) -> Any:
        if path not in self._cache:
            self._cache[path] = self._trace.column(path)
        return self._cache[path]

    @property
    def _states(self) -> FloatArray:
        if "states" not in self._cache:
            flat = self._get("/states") if self.bodies else np.zeros((len(self.time), 0))
            self._cache["states"] = flat.reshape(len(self.time), len(self.bodies), 13)
        states: FloatArray = self._cache["states"]
        return states

    @property
    def time(self) -> FloatArray:
        """Simulated times of the rows, s: (T,)."""
        time: FloatArray = self._get("/time")
        return time

    @property
    def position(self) -> FloatArray:
        """Positions of the centres of mass, m: (T, n, 3)."""
        return self._states[:, :, 0:3]

    @property
    def rotation(self) -> FloatArray:
        """Orientations of the bodies' frames, quaternions w x y z: (T, n, 4)."""
        return self._states[:, :, 3:7]

    @property
    def velocity(self) -> FloatArray:
        """Velocities of the centres of mass, m/s: (T, n, 3)."""
        return self._states[:, :, 7:10]

    @property
    def angular_velocity(self) -> FloatArray:
        """Angular velocities in world axes, rad/s: (T, n, 3)."""
        return self._states[:, :, 10:13]

    @property
    def residual(self) -> FloatArray:
        """Residual of the contact law: (T,)."""
        return self.column("residual")

    @property
    def penetration(self) -> FloatArray:
        """Deepest overlap, m: (T,)."""
        return self.column("penetration")

    @property
    def energy(self) -> FloatArray:
        """Kinetic and potential energy, J: (T,)."""
        return self.column("energy")

    @property
    def bodies(self) -> list[str]:
        """Names of the bodies that can move, in the order of the arrays."""
        return list(self._trace.moving)

    @property
    def joints(self) -> list[str]:
        """Names of the joints."""
        return list(self._trace.joints)

    def __getitem__(self, name: str) -> BodyRun:
        if name not in self.bodies:
            raise KeyError(name)
        return BodyRun(name, self._states[:, self.bodies.index(name)])

    def __contains__(self, name: object) -> bool:
        return name in self.bodies

    def __iter__(self) -> Iterator[str]:
        return iter(self.bodies)

    def __len__(self) -> int:
        return len(self.time)

    # Columns ----------------------------------------------------------------------------------

    @property
    def columns(self) -> list[str]:
        """Names that `column` and `plot` take: those of the CSV, then what the steps reported."""
        states = [f"{name}.{part}" for name in self.bodies for part in STATE_NAMES]
        return ["time", *states, "energy", *_SHORT, *self._reports()]

    def _reports(self) -> list[str]:
        reports = [path[9:] for path, info in self._columns.items() if path.startswith("/reports/") and info[2]]
        words = ("fallback", "note", "more_notes")
        return [name for name in reports if name not in words and name not in _SHORT.values()]

    def column(self, name: str) -> FloatArray:
        """One number for each time: ``"ball.z"``, ``"residual"``, ``"contacts"``; `columns` lists them."""
        body, dot, part = name.rpartition(".")
        if dot and body in self.bodies and part in STATE_NAMES:
            return self._states[:, self.bodies.index(body), STATE_NAMES.index(part)]
        if name == "time":
            return self.time
        if name == "energy":
            return self.column("kinetic_after") + self.column("potential_after")
        if name not in ("more_notes", "") and "/" not in name:
            made: FloatArray | None = self._get("/reports/" + _SHORT.get(name, name))
            if made is not None and (len(made) or not len(self.time)):
                return made
        raise ValueError(f"column: there is no {name!r}{_hint(name, self.columns)}")

    def to_dataframe(self) -> pandas.DataFrame:
        """A pandas DataFrame with a row for each time: the columns of the CSV, then energy and what the
        steps reported."""
        import pandas

        columns: dict[str, Any] = {"time": self.time}
        for i, name in enumerate(self.bodies):
            for k, part in enumerate(STATE_NAMES):
                columns[f"{name}.{part}"] = self._states[:, i, k]
        for name in ["energy", *_SHORT, *self._reports()]:
            columns[name] = self.column(name)
        return pandas.DataFrame(columns)

    @property
    def contacts(self) -> pandas.DataFrame:
        """The contacts of every row of the run as a DataFrame, with the columns of the program's table."""
        import pandas

        offsets = self._get("/contacts/offset")
        if self._columns["/contacts/gap"][2] == 0 and self.column("contacts").any():
            raise ValueError("contacts: the run was recorded without them")
        ends = offsets[-len(self.time) :]
        counts = np.diff(ends, prepend=0)
        names = np.array([*self._trace.bodies, ""], dtype=object)
        columns: dict[str, Any] = {"time": np.repeat(self.time, counts)}
        columns["bodyA"] = names[self._get("/contacts/body_a")]
        columns["bodyB"] = names[self._get("/contacts/body_b")]
        for path, keys in (
            ("point", ("px", "py", "pz")),
            ("normal", ("nx", "ny", "nz")),
            ("gap", ("gap",)),
            ("normal_impulse", ("normal_impulse",)),
            ("friction_impulse", ("friction_impulse_x", "friction_impulse_y", "friction_impulse_z")),
            ("torsional_impulse", ("torsional_impulse",)),
            ("sliding_speed", ("sliding_speed",)),
        ):
            values = self._get("/contacts/" + path).reshape(-1, len(keys))
            columns.update({key: values[:, k] for k, key in enumerate(keys)})
        states = np.array(["separated", "sliding", "sticking"], dtype=object)
        columns["state"] = states[self._get("/contacts/state")]
        return pandas.DataFrame(columns)

    @property
    def fallbacks(self) -> list[str | None]:
        """For each time, what carried the step instead of the stepper's own solve, or None."""
        labels = self._trace.labels()
        return [labels[i] if 0 <= i < len(labels) else None for i in self._get("/reports/fallback")]

    @property
    def summary(self) -> dict[str, Any]:
        """What the run adds up to, as ``tippe run --json`` prints it."""
        text = self._trace.summary()
        made: dict[str, Any] = json.loads(text) if text else {}
        return made

    @property
    def scene(self) -> str:
        """The scene as text, or ""."""
        return str(self._trace.scene_text)

    @property
    def stepper(self) -> str:
        """The name of the method."""
        return str(self._trace.stepper)

    @property
    def step(self) -> float:
        """The length of a step, s."""
        return float(self._trace.step)

    @property
    def every(self) -> int:
        """Steps from one row to the next."""
        return int(self._trace.every)

    def __repr__(self) -> str:
        name = f'"{self._trace.scene_name}", ' if self._trace.scene_name else ""
        until = self.time[-1] if len(self.time) else 0.0
        return f"Run({name}{self.stepper}, {len(self.bodies)} bodies, {len(self.time)} times to {until:.6g} s)"

    # Files and pictures -----------------------------------------------------------------------

    def save(self, path: str | os.PathLike[str]) -> None:
        """Writes a recording that tippe.open, the program and any reader of HDF5 open: ``run.save("run.h5")``."""
        target = os.fspath(path)
        if self.path is not None:
            import shutil

            if os.path.realpath(target) != os.path.realpath(self.path):
                shutil.copyfile(self.path, target)
            return
        self._trace.save(target)

    def plot(self, *columns: str, x: str = "time", axes: Any = None) -> Any:
        """Draws columns against time with matplotlib: ``run.plot("ball.z", "residual")``.

        columns  names of `columns`, or of bodies: ``"ball"`` is its position
        x        what to draw them against
        axes     matplotlib axes to draw into; by default a new figure with one panel for each unit

        Returns the (last) matplotlib Axes. Call ``matplotlib.pyplot.show()`` outside of notebooks.
        """
        from .plotting import plot_run

        return plot_run(self, columns, x, axes)

    def to_html(self, path: str | os.PathLike[str] | None = None, *, every: int | None = None) -> str:
        """The page that shows the run, in one file that works offline; written to `path` if that is given.

        every  takes every N-th row only; by default as many as make a page that can be mailed
        """
        from .program import run_program

        with tempfile.TemporaryDirectory() as folder:
            recording = self.path
            if recording is None:
                recording = os.path.join(folder, "run.h5")
                self.save(recording)
            page = os.path.join(folder, "run.html")
            run_program(["export", recording, "--html", page, *(["--every", str(every)] if every else [])])
            text = Path(page).read_text(encoding="utf-8")
        if path is not None:
            Path(path).write_text(text, encoding="utf-8")
        return text

    def show(self, *, height: int = 600, every: int | None = None) -> Any:
        """Shows the run: in a notebook the page inline, elsewhere in the browser.

        Returns what the notebook displays, or the path of the page.
        """
        from .showing import show_page

        return show_page(self.to_html(every=every), height)


def open_run(path: str | os.PathLike[str]) -> Run:
    """A recording made by ``run.save()`` or by ``tippe run --out``: ``run = tippe.open("run.h5")``."""
    name = os.fspath(path)
    if not os.path.exists(name):
        raise FileNotFoundError(f"{name}: there is no such file")
    return Run(_core._open_recording(name), name)


def _hint(name: str, known: Sequence[str]) -> str:
    import difflib

    near = difflib.get_close_matches(name, known, n=2)
    return f"; did you mean {' or '.join(near)}?" if near else "; `columns` lists what there is"
