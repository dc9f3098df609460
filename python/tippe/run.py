"""Runs: what a world did, step by step."""

from __future__ import annotations

import json
import os
import tempfile
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from . import _core

if TYPE_CHECKING:
    import pandas

__all__ = ["BodyRun", "JointRun", "Run", "open_run"]

FloatArray = NDArray[np.float64]

STATE_NAMES = ("x", "y", "z", "qw", "qx", "qy", "qz", "vx", "vy", "vz", "wx", "wy", "wz")
"""Numbers of a body in the order of the columns of a CSV file: position, rotation, velocity, spin."""

COORDINATE_NAMES = ("q", "qd", "effort", "target", "target_speed")
"""Numbers of a coordinate of a joint; the first three are columns of the program's table of joints."""

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

    def __init__(self, name: str, states: FloatArray, run: Run) -> None:
        self.name = name
        self._states = states
        self._run = run

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

    @property
    def carrier(self) -> list[str]:
        """The method that carried the body in each row: ``auto`` and ``mirtich-canny`` leave bodies to others."""
        methods = self._carriers("method")
        if methods is None:
            return [self._run.stepper] * len(self._states)
        labels = [*self._run._trace.labels(), self._run.stepper]  # the last one is that of -1
        return [labels[place] for place in methods]

    @property
    def carrier_step(self) -> FloatArray:
        """The step of that method, s: (T,); 0 where it is not known."""
        steps = self._carriers("step")
        return np.zeros(len(self._states)) if steps is None else steps

    @property
    def error_estimate(self) -> FloatArray:
        """The estimated error of the position since the start, m: (T,); 0 where it is not known."""
        errors = self._carriers("error")
        return np.zeros(len(self._states)) if errors is None else errors

    def _carriers(self, what: str) -> Any:
        rows = self._run._get(f"/carriers/{what}")
        if rows is None or not rows.size:
            return None
        return rows.reshape(len(self._states), -1)[:, self._run.bodies.index(self.name)]

    def __repr__(self) -> str:
        return f'BodyRun("{self.name}", {len(self._states)} times)'


class JointRun:
    """One coordinate of a joint in a run: ``run.joints["knee"]``. All arrays have a row for each time of the run."""

    def __init__(self, name: str, numbers: FloatArray) -> None:
        self.name = name
        self._numbers = numbers

    @property
    def value(self) -> FloatArray:
        """The coordinate, rad or m: (T,)."""
        return self._numbers[:, 0]

    @property
    def speed(self) -> FloatArray:
        """Its rate, rad/s or m/s: (T,)."""
        return self._numbers[:, 1]

    @property
    def effort(self) -> FloatArray:
        """What servo, motor and applied effort gave together, N m or N, mean over the step: (T,)."""
        return self._numbers[:, 2]

    @property
    def target(self) -> FloatArray:
        """Target of the servo, rad or m: (T,); NaN without one."""
        return self._numbers[:, 3]

    @property
    def target_speed(self) -> FloatArray:
        """Target speed of the servo, rad/s or m/s: (T,); NaN without one."""
        return self._numbers[:, 4]

    def __repr__(self) -> str:
        return f'JointRun("{self.name}", {len(self._numbers)} times)'


class Run:
    """What a world did: made by ``world.run()``, or read from a file by ``tippe.open()``.

    time                                           (T,) s; the first is the start
    position, rotation, velocity, angular_velocity (T, n, 3), (T, n, 4), (T, n, 3), (T, n, 3)
    residual, penetration, energy                  (T,), what the steps reported
    bodies                                         names of the n bodies that can move
    run["ball"].position                           (T, 3), one of them
    run.joints["knee"].value, run.sensors["imu"]   (T,) of a joint, (T, k) of a sensor
    run.column("ball.z"), run.column("contacts")   any number as an array of T

    Positions and velocities are those of centres of mass, as in the CSV of the program. With `every` above one a
    row covers all steps since the row before: counts and works add up, residual and penetration are the
    largest.
    """

    def __init__(self, trace: _core.Trace, path: str | None = None) -> None:
        self._trace = trace
        self._cache: dict[str, Any] = {}
        self._folder: tempfile.TemporaryDirectory[str] | None = None  # of the file, where nobody else has it
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
    def joints(self) -> dict[str, JointRun]:
        """The coordinates of joints by name: ``run.joints["knee"].value``, ``run.joints["hip.swing"].speed`` of one axis."""
        names = self._coordinates
        return {name: JointRun(name, self._joint_numbers[:, place]) for place, name in enumerate(names)}

    @property
    def _coordinates(self) -> list[str]:
        return list(self._trace.coordinates)

    @property
    def _joint_numbers(self) -> FloatArray:
        numbers: FloatArray = self._get("/joints/coordinates")
        return numbers.reshape(len(self.time), len(self._coordinates), len(COORDINATE_NAMES))

    @property
    def sensors(self) -> dict[str, FloatArray]:
        """What the sensors said, by name: ``run.sensors["imu"]`` is (T, k), in the order of `sensor_names`."""
        places: dict[str, list[int]] = {}
        for place, name in enumerate(self.sensor_names):
            places.setdefault(name.rpartition(".")[0], []).append(place)
        return {name: self._sensor_values[:, columns] for name, columns in places.items()}

    @property
    def sensor_names(self) -> list[str]:
        """Names of the values of all sensors, as in the CSV: "imu.x", "foot.n"."""
        return list(self._trace.sensor_columns)

    @property
    def _sensor_values(self) -> FloatArray:
        values: FloatArray = self._get("/sensors/values")
        return values.reshape(len(self.time), len(self.sensor_names))

    def __getitem__(self, name: str) -> BodyRun:
        if name not in self.bodies:
            raise KeyError(name)
        return BodyRun(name, self._states[:, self.bodies.index(name)], self)

    def __contains__(self, name: object) -> bool:
        return name in self.bodies

    def __iter__(self) -> Iterator[str]:
        return iter(self.bodies)

    def __len__(self) -> int:
        return len(self.time)

    # Columns ----------------------------------------------------------------------------------

    @property
    def columns(self) -> list[str]:
        """Names that `column` and `plot` take: those of the CSV (bodies, then sensors), "knee.q" .qd .effort of joints, then
        what the steps reported."""
        states = [f"{name}.{part}" for name in self.bodies for part in STATE_NAMES]
        joints = [f"{name}.{part}" for name in self._coordinates for part in COORDINATE_NAMES[:3]]
        return list(dict.fromkeys(["time", *states, *self.sensor_names, *joints, "energy", *_SHORT, *self._reports()]))

    @property
    def _places(self) -> tuple[dict[str, int], dict[str, int], dict[str, int]]:
        """Places of bodies, values of sensors and coordinates of joints in their arrays."""
        if "places" not in self._cache:
            lists = (self.bodies, self.sensor_names, self._coordinates)
            self._cache["places"] = tuple({name: place for place, name in enumerate(names)} for names in lists)
        places: tuple[dict[str, int], dict[str, int], dict[str, int]] = self._cache["places"]
        return places

    def _reports(self) -> list[str]:
        reports = [path[9:] for path, info in self._columns.items() if path.startswith("/reports/") and info[2]]
        words = ("fallback", "note", "more_notes")
        return [name for name in reports if name not in words and name not in _SHORT.values()]

    def column(self, name: str) -> FloatArray:
        """One number for each time: ``"ball.z"``, ``"residual"``, ``"contacts"``; `columns` lists them."""
        owner, _, part = name.rpartition(".")
        bodies, sensors, joints = self._places
        if owner in bodies and part in STATE_NAMES:
            return self._states[:, bodies[owner], STATE_NAMES.index(part)]
        if name in sensors:
            return self._sensor_values[:, sensors[name]]
        if owner in joints and part in COORDINATE_NAMES:
            return self._joint_numbers[:, joints[owner], COORDINATE_NAMES.index(part)]
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
        """A pandas DataFrame with a row for each time and all `columns`: those of the CSV, the joints, then energy and what
        the steps reported."""
        import pandas

        return pandas.DataFrame({name: self.column(name) for name in self.columns})

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

    def __reduce__(self) -> tuple[Any, ...]:
        # Pickled as a recording is saved, so that other processes and machines can have it.
        if self.path is not None:
            with open(self.path, "rb") as stream:
                return _run_of_bytes, (stream.read(),)
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "run.h5")
            self._trace.save(path)
            with open(path, "rb") as stream:
                return _run_of_bytes, (stream.read(),)

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


def _run_of_bytes(data: bytes) -> Run:
    """A run that was pickled; its file goes with it."""
    folder = tempfile.TemporaryDirectory()
    path = os.path.join(folder.name, "run.h5")
    with open(path, "wb") as stream:
        stream.write(data)
    run = open_run(path)
    run._folder = folder
    return run


def _hint(name: str, known: Sequence[str]) -> str:
    import difflib

    near = difflib.get_close_matches(name, known, n=2)
    return f"; did you mean {' or '.join(near)}?" if near else "; `columns` lists what there is"
