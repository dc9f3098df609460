"""Actuators of a compiled model as servos, forces and drives of tendons."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from . import rotations
from .mjcf_lint import plugin_settings
from .model import Array, Coupling, Drive, Force, Laws

if TYPE_CHECKING:
    from .mjcf import Compiled

__all__ = ["add_drives", "tendon_coupling"]

_SAG = 0.02  # rad or m by which a motor that is made a servo gives way under the most it may have to carry


@dataclass
class Affine:
    """Effort = push - stiffness q - damping qd on a coordinate, within a range."""

    push: float
    stiffness: float
    damping: float
    low: float
    high: float


def add_drives(c: Compiled) -> None:
    if c.disables("ACTUATION"):
        return
    laws = {axis.name: (joint, axis) for joint in c.model.joints for axis in joint.axes}
    found: dict[str, list[Affine]] = {}
    tendons: dict[int, list[Affine]] = {}
    count = c.m.nu if not hasattr(c.m, "actuator_ctrladr") else len(c.m.actuator_trntype)
    for i in range(count):
        c.reading = ("actuator", i, count)
        _add(c, i, found, tendons)
    c.reading = None
    for name, parts in found.items():
        axis = laws[name][1]
        _drive(c, axis.laws, parts, name, axis.value)
    for tendon, parts in tendons.items():
        coupling = tendon_coupling(c, tendon)
        if coupling is not None:
            coupling.drive = _summed(c, parts, coupling.name)
            if c.m.tendon_actfrclimited[tendon]:
                _limit(c, coupling.drive, c.m.tendon_actfrcrange[tendon], "tendon", coupling.name)
            if coupling.drive.stiffness == 0 and coupling.drive.damping == 0 and c.hold:
                _hold_tendon(c, tendon, coupling.drive, coupling, {name: axis.value for name, (_, axis) in laws.items()})
            elif coupling.drive.stiffness == 0 and coupling.drive.damping == 0:
                message = f"a motor that pulls at a tendon is left out (its pull at the start: {coupling.drive.push:.6g})"
                c.note("missing", "motor", "tendon", message, coupling.name)
                coupling.drive = None


def _add(c: Compiled, i: int, found: dict[str, list[Affine]], tendons: dict[int, list[Affine]]) -> None:
    m = c.m
    name = m.actuator(i).name
    where = c.mujoco.mjtTrn(int(m.actuator_trntype[i])).name.removeprefix("mjTRN_").lower()
    target = int(m.actuator_trnid[i][0])
    by_plugin = c.m.nplugin and int(m.actuator_plugin[i]) >= 0
    law = _plugin_law(c, i) if by_plugin else _law(c, i)
    if law is None:
        return
    gear = float(m.actuator_gear[i][0])
    moves = m.actuator_gear[i] if where != "tendon" and target not in c.axes else m.actuator_gear[i][:1]
    if not np.any(moves) and where in ("joint", "jointinparent", "tendon"):
        c.note("chosen", "actuator", "gear", "an actuator with a gear of zero moves nothing", name)
        return
    if where in ("joint", "jointinparent") and target in c.axes:
        found.setdefault(c.axes[target], []).append(_through(law, gear))
        _add_rotor(c, i, target, gear)
    elif where == "tendon":
        tendons.setdefault(target, []).append(_through(law, gear))
    elif where == "site" and int(m.actuator_trnid[i][1]) < 0:
        _push(c, i, target, law)
    else:
        c.note("missing", "actuator", where, "an actuator that acts this way is left out", name)


def _input(c: Compiled, i: int) -> float:
    m, d = c.m, c.d
    index = int(m.actuator_ctrladr[i]) if hasattr(m, "actuator_ctrladr") else i
    value = float(d.ctrl[index])
    if m.actuator_ctrllimited[i] and not c.disables("CLAMPCTRL"):
        low, high = m.actuator_ctrlrange[i].ravel()[:2]
        value = min(max(value, float(low)), float(high))
    return value


def _law(c: Compiled, i: int) -> Affine | None:
    """The force of an actuator as a function of its length and speed, at the input of the start."""
    m = c.m
    name = m.actuator(i).name
    gain = c.mujoco.mjtGain(int(m.actuator_gaintype[i])).name
    bias = c.mujoco.mjtBias(int(m.actuator_biastype[i])).name
    dynamics = c.mujoco.mjtDyn(int(m.actuator_dyntype[i])).name.removeprefix("mjDYN_").lower()
    factors = m.actuator_gainprm[i]
    if gain not in ("mjGAIN_FIXED", "mjGAIN_AFFINE") or bias not in ("mjBIAS_NONE", "mjBIAS_AFFINE"):
        c.note("missing", "actuator", None, f"an actuator with gain {gain[7:].lower()} and bias {bias[7:].lower()} is left out", name)
        return None
    if gain == "mjGAIN_AFFINE" and (factors[1] != 0 or factors[2] != 0):
        c.note("changed", "actuator", "gainprm", "its gain changes with length and speed: it holds for the input of the start alone", name)
    value = _input(c, i)
    if dynamics != "none":
        known = dynamics in ("filter", "filterexact", "integrator")
        if not known:
            c.note("missing", "actuator", "dyntype", f"an actuator with dynamics {dynamics} is left out", name)
            return None
        c.note("changed", "actuator", "dyntype", f"its state ({dynamics}) is the input of the start, without lag", name)
        address = int(m.actuator_actadr[i])
        value = float(c.d.act[address]) if dynamics == "integrator" else value
    stiff, damp = (0.0, 0.0) if gain == "mjGAIN_FIXED" else (float(factors[1]) * value, float(factors[2]) * value)
    push = float(factors[0]) * value
    if bias == "mjBIAS_AFFINE":
        constant, per_length, per_speed = (float(v) for v in m.actuator_biasprm[i][:3])
        push, stiff, damp = push + constant, stiff + per_length, damp + per_speed
    low, high = _force_range(c, i)
    if stiff > 0 or damp > 0:
        c.note("missing", "actuator", None, "gains that push away from the target are left out", name)
        return None
    if stiff == 0 and damp == 0 and m.actuator_ctrllimited[i]:
        ends = sorted(float(factors[0]) * float(v) for v in m.actuator_ctrlrange[i].ravel()[:2])
        low, high = max(low, ends[0]), min(high, ends[1])
    return Affine(push, -stiff, -damp, low, high)


def _force_range(c: Compiled, i: int) -> tuple[float, float]:
    if not c.m.actuator_forcelimited[i]:
        return -np.inf, np.inf
    low, high = (float(v) for v in c.m.actuator_forcerange[i].ravel()[:2])
    return low, high


def _plugin_law(c: Compiled, i: int) -> Affine | None:
    """The force of an actuator that a plugin computes: of a PID its proportional part and its damping."""
    name = c.m.actuator(i).name
    element = next((e for e in c.source.root.walk() if e.tag == "plugin" and name and e.attributes.get("name") == name), None)
    settings = plugin_settings(c.source, element) if element is not None else None
    if settings is None:
        c.note("missing", "plugin", None, "an actuator whose law is that of a plugin: nothing of its law is carried over", name)
        return Affine(0.0, 0.0, 0.0, *_force_range(c, i)) if c.hold else None
    stiffness, integral, damping = (float(settings.get(key, "0")) for key in ("kp", "ki", "kd"))
    if integral != 0 or "slewmax" in settings:
        c.note("changed", "plugin", None, f"a PID is a servo of its proportional part and its damping: ki = {integral:.6g} and bounds on rates are left out", name)
    return Affine(stiffness * _input(c, i), stiffness, damping, *_force_range(c, i))


def _through(law: Affine, gear: float) -> Affine:
    """A force through a gear: length and effort are `gear` times those of the coordinate."""
    ends = sorted((gear * law.low, gear * law.high)) if gear != 0 else [0.0, 0.0]
    return Affine(gear * law.push, gear * gear * law.stiffness, gear * gear * law.damping, ends[0], ends[1])


def _add_rotor(c: Compiled, i: int, joint: int, gear: float) -> None:
    """Armature and damping of the actuator itself."""
    axis = next(a for j in c.model.joints for a in j.axes if a.name == c.axes[joint])
    for field in ("armature", "damping"):
        values = getattr(c.m, f"actuator_{field}", None)
        if values is not None and float(np.ravel(values[i])[0]) != 0:
            setattr(axis.laws, field, getattr(axis.laws, field) + gear * gear * float(np.ravel(values[i])[0]))


def _push(c: Compiled, i: int, site: int, law: Affine) -> None:
    """A force along the axes of a site: it is fixed in the body, and constant."""
    m = c.m
    body = int(m.site_bodyid[site])
    turn = rotations.matrix(m.site_quat[site])
    effort = min(max(law.push, law.low), law.high)
    if law.stiffness or law.damping:
        c.note("missing", "actuator", "site", "only its constant part is carried over", m.actuator(i).name)
    gear = m.actuator_gear[i]
    carrier = c.model.body(c.bodies[body])
    at, frame = rotations.between(carrier.position, carrier.rotation, *rotations.place(c.d.xpos[body], c.d.xquat[body], m.site_pos[site], m.site_quat[site]))
    turn = rotations.matrix(frame)
    c.model.forces.append(Force(carrier.name, effort * (turn @ gear[:3]), effort * (turn @ gear[3:]), at))
    c.note("changed", "actuator", "site", f"is a constant force of {effort:.6g} times its gear, by the input of the start", m.actuator(i).name)


def _summed(c: Compiled, parts: list[Affine], name: str) -> Drive:
    """Actuators on one coordinate act as one."""
    push = sum(part.push for part in parts)
    stiffness = sum(part.stiffness for part in parts)
    damping = sum(part.damping for part in parts)
    low, high = sum(part.low for part in parts), sum(part.high for part in parts)
    if len(parts) > 1 and (np.isfinite(high) or np.isfinite(low)):
        c.note("changed", "actuator", "forcerange", f"{len(parts)} actuators act as one, with the sum of their limits", name)
    elif len(parts) > 1 and any(np.isfinite(part.high) or np.isfinite(part.low) for part in parts):
        c.note("changed", "actuator", "forcerange", f"{len(parts)} actuators act as one without limits, which not all of them have", name)
    drive = Drive(stiffness, damping)
    if stiffness > 0:
        drive.target = push / stiffness
    elif damping > 0:
        drive.speed = push / damping
    else:
        drive.push = push
    most = max(abs(low), abs(high))
    if np.isfinite(most):
        drive.effort = most
        if abs(low + high) > 1e-9 * most:
            c.note("changed", "actuator", "forcerange", f"from {low:.6g} to {high:.6g}: at most {most:.6g} either way", name)
    return drive


def _limit(c: Compiled, drive: Drive, limits: Array, element: str, name: str) -> None:
    """The limits of all actuators of a joint or tendon together."""
    low, high = (float(v) for v in limits)
    most = max(abs(low), abs(high))
    drive.effort = most if drive.effort is None else min(most, drive.effort)
    if abs(low + high) > 1e-9 * most:
        c.note("changed", element, "actuatorfrcrange", f"from {low:.6g} to {high:.6g}: at most {most:.6g} either way", name)


def _drive(c: Compiled, laws: Laws, parts: list[Affine], name: str, value: float) -> None:
    m = c.m
    drive = _summed(c, parts, name)
    joint = next(j for j, axis in c.axes.items() if axis == name)
    if m.jnt_actfrclimited[joint]:
        _limit(c, drive, m.jnt_actfrcrange[joint], "joint", name)
    if drive.stiffness == 0 and drive.damping == 0 and c.hold:
        _hold(c, joint, drive, value, name)
    elif drive.stiffness == 0 and drive.damping == 0:
        c.note("chosen", "motor", None, f"a torque motor gives {drive.push:.6g}, by the input of the start", name)
    laws.drive = drive


def _load(c: Compiled, joint: int) -> tuple[float, float]:
    """The most that may rest on a joint, N m or N, and the inertia that it may have to move."""
    m, d = c.m, c.d
    body, dof = int(m.jnt_bodyid[joint]), int(m.jnt_dofadr[joint])
    below = [i for i in range(m.nbody) if _is_below(c, i, body)]
    reach = max(float(np.linalg.norm(d.xipos[i] - d.xanchor[joint])) for i in below)
    floating = m.body_dofnum[m.body_rootid[body]] >= 6
    carried = float(m.body_subtreemass[m.body_rootid[body]] if floating else m.body_subtreemass[body])
    gravity = float(np.linalg.norm(c.model.gravity)) or 9.81
    turn = int(m.jnt_type[joint]) == int(c.mujoco.mjtJoint.mjJNT_HINGE)
    load = carried * gravity * (reach if turn else 1.0)
    return load, max(float(m.dof_M0[dof]), carried * (reach * reach if turn else 1.0))


def _give_gains(drive: Drive, load: float, inertia: float, sag: float, value: float) -> str:
    """Gains that give way by `sag` under the load, or under the full effort. Returns what the report says of them."""
    if drive.effort is not None:
        load = min(load, drive.effort)  # more is never asked of it
    drive.stiffness = load / sag
    drive.damping = 2.0 * float(np.sqrt(drive.stiffness * inertia))
    drive.target, drive.push = value, 0.0
    limit = "" if drive.effort is None else f", at most {drive.effort:.6g}"
    return f"holds {value:.6g} with stiffness {drive.stiffness:.4g} and damping {drive.damping:.4g}{limit}"


def _hold(c: Compiled, joint: int, drive: Drive, value: float, name: str) -> None:
    """The gains with which a torque motor holds the start: stiff enough for the weight that may rest on it."""
    load, inertia = _load(c, joint)
    c.note("chosen", "motor", None, f"a torque motor {_give_gains(drive, load, inertia, _SAG, value)}", name)


def _hold_tendon(c: Compiled, tendon: int, drive: Drive, coupling: Coupling, values: dict[str, float]) -> None:
    """The same along a tendon. A joint pulls at it with its load over its factor, and its way is the factor times that of the joint."""
    joints = {name: joint for joint, name in c.axes.items()}
    terms = [(*_load(c, joints[name]), abs(factor)) for name, factor in coupling.terms]
    load = max(effort / factor for effort, _, factor in terms)
    inertia = 1.0 / sum(factor * factor / inertia for _, inertia, factor in terms)
    value = sum(factor * values[name] for name, factor in coupling.terms)
    gains = _give_gains(drive, load, inertia, _SAG * min(factor for _, _, factor in terms), value)
    c.note("chosen", "motor", "tendon", f"a motor that pulls at a tendon {gains}", c.m.tendon(tendon).name)


def _is_below(c: Compiled, i: int, body: int) -> bool:
    while i > body:
        i = int(c.m.body_parentid[i])
    return i == body


def tendon_coupling(c: Compiled, tendon: int) -> Coupling | None:
    """The coupling of a fixed tendon; made once. None where it runs through space."""
    m = c.m
    name = c.name("tendon", tendon)
    made = next((k for k in c.model.couplings if k.name == name), None)
    if made is not None:
        return made
    first, count = int(m.tendon_adr[tendon]), int(m.tendon_num[tendon])
    if any(int(m.wrap_type[w]) != int(c.mujoco.mjtWrap.mjWRAP_JOINT) for w in range(first, first + count)):
        c.note("missing", "tendon", None, "a tendon through space is left out, with what acts on it", m.tendon(tendon).name)
        return None
    terms = [(c.axes[int(m.wrap_objid[w])], float(m.wrap_prm[w])) for w in range(first, first + count)]
    terms = [(axis, factor) for axis, factor in terms if factor != 0]
    if not terms:
        c.note("chosen", "tendon", None, "a tendon whose length never changes does nothing", m.tendon(tendon).name)
        return None
    made = Coupling(name, terms)
    c.model.couplings.append(made)
    return made
