"""MJCF, through MuJoCo's own compiler, which knows defaults, includes and inertias of geoms."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from .errors import ModelError
from .followers import move_limits, note_passed_limits
from .mjcf_bodies import add_bodies
from .mjcf_contacts import add_contacts
from .mjcf_couplings import add_couplings, add_loops
from .mjcf_drives import add_drives
from .mjcf_lint import lint
from .mjcf_sensors import add_sensors
from .model import Model
from .report import Report
from .sanity import check_source
from .source import Source

__all__ = ["Compiled", "read_mjcf"]


@dataclass
class Compiled:
    """A compiled model at the state where the scene starts, and the names that the scene gives its parts."""

    mujoco: Any
    m: Any
    d: Any
    source: Source
    model: Model
    hold: bool
    bodies: dict[int, str] = field(default_factory=dict)  # of all bodies; lumped ones have the name of their carrier
    axes: dict[int, str] = field(default_factory=dict)  # of joints with one coordinate
    joints: dict[int, str] = field(default_factory=dict)
    reading: tuple[str, int, int] | None = None  # kind and number of the part that is read, and how many there are

    @property
    def report(self) -> Report:
        return self.model.report

    def name(self, kind: str, index: int) -> str:
        """The name of a part, or its kind and number."""
        return getattr(self.m, kind)(index).name or f"{kind}{index}"

    def disables(self, flag: str) -> bool:
        return bool(self.m.opt.disableflags & getattr(self.mujoco.mjtDisableBit, f"mjDSBL_{flag}"))

    def note_polynomial(self, field: str, row: int, element: str, attribute: str, name: str) -> None:
        """Tells that a law has parts beyond the linear one."""
        values = getattr(self.m, field, None)  # older versions of MuJoCo have none
        if values is not None and np.any(values[row] != 0):
            self.note("missing", element, attribute, "only its linear part is carried over", name)

    def note(self, kind: str, element: str, attribute: str | None, message: str, name: str | None = None) -> None:
        place = self.source.nth(*self.reading) if self.reading and not name else None
        self.report.add(kind, element, attribute, message, name, place or self.source.find(element, name))


def _import_mujoco() -> Any:
    try:
        import mujoco
    except ImportError:
        raise ModelError("MJCF is compiled by the package mujoco: pip install mujoco") from None
    return mujoco


def _place_of_error(text: str, path: Path, source: Source) -> tuple[str, int | None]:
    """File and line of what the compiler complains about: the element that it names, or the file that it cannot open."""
    line = re.search(r"\bline (\d+)", text)
    named = re.search(r"Element name '([^']+)'", text)
    lost = re.search(r"file '([^']+)'", text)
    for element in source.root.walk():
        file = element.attributes.get("file", "")
        if lost and file and Path(lost[1]).name == Path(file).name:
            return element.file, element.line
        if named and element.attributes.get("name") == named[1] and (line is None or element.line == int(line[1])):
            return element.file, element.line
    keyframe = re.search(r"keyframe (\d+):", text) or re.search(r"keyframe '.*Element name '[^']*', id (\d+)", text)
    keys = [element for element in source.root.walk() if element.tag == "key"]
    if keyframe and int(keyframe[1]) < len(keys):
        return keys[int(keyframe[1])].file, keys[int(keyframe[1])].line
    files = {element.file for element in source.root.walk()}
    return (str(path), int(line[1])) if line and len(files) == 1 else (str(path), None)


def _plain(text: str, source: Source) -> str:
    """What the compiler says, as other messages are: a file that is not there by the name that the model gives it."""
    lost = re.fullmatch(r"Error: Error opening file '([^']+)'", text)
    names = [element.attributes.get("file", "") for element in source.root.walk()] if lost else []
    for name in names:
        if lost and name and Path(lost[1]).name == Path(name).name:
            return f'there is no file "{name}", or it cannot be read'
    return re.sub(r"^((XML )?Error: )+", "", text)


def _compile(mujoco: Any, path: Path, source: Source, report: Report) -> Any:
    def warn(message: str) -> None:
        report.add("changed", "compiler", None, f"MuJoCo warns: {message.strip()}", None, (str(path), 1))

    mujoco.set_mju_user_warning(warn)
    try:
        # An absolute path: from a relative one MuJoCo does not find meshes that included files name.
        return mujoco.MjModel.from_xml_path(str(path.absolute()))
    except (ValueError, mujoco.FatalError) as error:
        text = " ".join(str(error).split())
        raise ModelError(_plain(text, source), *_place_of_error(text, path, source)) from None
    finally:
        mujoco.set_mju_user_warning(None)


def _choose_keyframe(m: Any, report: Report, wanted: str | int | None, path: Path) -> int | None:
    """The keyframe that a user names, or `home`, or the first."""
    names = [m.key(i).name or str(i) for i in range(m.nkey)]
    report.keyframes = names
    if wanted is None:
        return (names.index("home") if "home" in names else 0) if names else None
    if str(wanted) == "none":
        return None
    if str(wanted) in names:
        return names.index(str(wanted))
    if str(wanted).isdigit() and int(wanted) < len(names):
        return int(wanted)
    raise ModelError(f'there is no keyframe "{wanted}"; there are: {", ".join(names) or "none"}', str(path))


def _check_numbers(m: Any, d: Any, path: Path) -> None:
    for what, values in (("mass", m.body_mass), ("inertia", m.body_inertia), ("position", d.xpos), ("rotation", d.xquat), ("speed", d.qvel)):
        if not np.isfinite(values).all() or np.abs(values).max(initial=0.0) > 1e100:
            place = int(np.argwhere(~(np.abs(values) < 1e100))[0][0])
            body = int(m.dof_bodyid[place]) if what == "speed" else place
            raise ModelError(f'body "{m.body(body).name or body}": its {what} is not a number that a body can have', str(path))


def _note_short_keyframe(m: Any, source: Source, report: Report) -> None:
    """MuJoCo fills keyframes that are too short with the values of the model."""
    sizes = {"qpos": m.nq, "qvel": m.nv, "act": m.na, "ctrl": m.nu, "mpos": 3 * m.nmocap, "mquat": 4 * m.nmocap}
    keys = [element for element in source.root.walk() if element.tag == "key"]
    for element in keys if len(keys) == m.nkey else []:
        for attribute, size in sizes.items():
            count = len(element.attributes.get(attribute, "").split())
            if 0 < count != size:
                message = f"has {count} numbers for {size}: the rest is that of the model"
                report.add("changed", "key", attribute, message, element.attributes.get("name"), (element.file, element.line))


def _set_state(d: Any, state: tuple[Any, Any], path: Path) -> None:
    for name, target, values in (("positions", d.qpos, state[0]), ("speeds", d.qvel, state[1])):
        given = np.asarray(values, dtype=float).ravel()
        if given.shape != target.shape or not np.isfinite(given).all():
            raise ModelError(f"state: expected {len(target)} finite {name}, found {len(given)}", str(path))
        target[:] = given


def _start_within_limits(mujoco: Any, m: Any, d: Any) -> list[tuple[str, str]]:
    """Puts joints whose zero is beyond their limits at the next limit: a rigid limit would throw them back in the first step.

    Joints that an equality or a tendon holds stay: another one would have to move along. Returns notes and names.
    """
    if m.opt.disableflags & mujoco.mjtDisableBit.mjDSBL_LIMIT:
        return []
    held = {int(j) for j in m.wrap_objid[m.wrap_type == mujoco.mjtWrap.mjWRAP_JOINT]}
    if m.neq:
        held |= set(range(m.njnt)) if (m.eq_type < 2).any() else {int(j) for j in np.ravel([m.eq_obj1id, m.eq_obj2id])}
    notes: list[tuple[str, str]] = []
    for j in range(m.njnt):
        if not m.jnt_limited[j] or int(m.jnt_type[j]) < 2 or j in held:
            continue
        at, (low, high) = int(m.jnt_qposadr[j]), m.jnt_range[j]
        start = min(max(float(d.qpos[at]), float(low)), float(high))
        if start != d.qpos[at]:
            notes.append((f"{float(d.qpos[at]):.6g} is beyond its limits: it starts at {start:.6g}", m.joint(j).name))
            d.qpos[at] = start
    return notes


def read_mjcf(
    path: Path, keyframe: str | int | None, hold: bool, merge: bool, state: tuple[Any, Any] | None = None
) -> Model:
    """The model of an MJCF file, at a keyframe, or at positions and speeds in MuJoCo's order."""
    mujoco = _import_mujoco()
    report = Report(str(path))
    source = Source(path)
    check_source(source)
    m = _compile(mujoco, path, source, report)
    d = mujoco.MjData(m)
    key = _choose_keyframe(m, report, keyframe, path)
    if key is None:
        mujoco.mj_resetData(m, d)
    else:
        mujoco.mj_resetDataKeyframe(m, d, key)
        report.keyframe = report.keyframes[key]
    moved: list[tuple[str, str]] = []
    if state is not None:
        _set_state(d, state, path)
    elif key is None:
        moved = _start_within_limits(mujoco, m, d)
    mujoco.mj_forward(m, d)
    _check_numbers(m, d, path)
    lint(source, report)
    _note_short_keyframe(m, source, report)
    gravity = np.zeros(3) if m.opt.disableflags & mujoco.mjtDisableBit.mjDSBL_GRAVITY else np.array(m.opt.gravity)
    name = source.root.attributes.get("model") or path.stem
    model = Model(name=name, report=report, gravity=gravity, step=float(m.opt.timestep))
    compiled = Compiled(mujoco, m, d, source, model, hold)
    for message, joint in moved:
        compiled.note("rigid", "joint", "range", message, joint or None)
    add_bodies(compiled, merge)
    add_contacts(compiled)
    add_drives(compiled)
    add_couplings(compiled)
    move_limits(model, lambda message, name: compiled.note("rigid", "joint", "range", message, name))
    note_passed_limits(model, lambda message, name: compiled.note("rigid", "joint", "range", message, name))
    add_loops(compiled)
    add_sensors(compiled)
    _note_the_rest(compiled)
    return model


_SWITCHED = {
    "LIMIT": ("limits", ("jnt_limited", "tendon_limited")),
    "SPRING": ("springs", ("jnt_stiffness", "tendon_stiffness")),
    "DAMPER": ("damping", ("dof_damping", "tendon_damping")),
    "FRICTIONLOSS": ("dry friction", ("dof_frictionloss", "tendon_frictionloss")),
    "EQUALITY": ("equalities", ("eq_active0",)),
    "ACTUATION": ("actuators", ("actuator_gear",)),
    "CONTACT": ("contacts", ("geom_contype", "geom_conaffinity")),
}
"""What flags switch off, and the fields of a compiled model that tell whether it has any."""


def _note_flags(c: Compiled) -> None:
    for flag, (law, fields) in _SWITCHED.items():
        if c.disables(flag) and any(np.any(getattr(c.m, field)) for field in fields):
            c.note("chosen", "flag", flag.lower(), f"{law} of the model are switched off by its own flag, and not in the scene")


def _note_the_rest(c: Compiled) -> None:
    _note_flags(c)
    if c.m.nflex:
        c.note("missing", "flex", None, f"{c.m.nflex} deformable bodies are left out")
