"""Equalities and tendons of a compiled model as couplings and as joints that close loops."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from . import rotations
from .mjcf_drives import tendon_coupling
from .model import Array, Coupling, Joint

if TYPE_CHECKING:
    from .mjcf import Compiled

__all__ = ["add_couplings", "add_loops"]

_OPEN = 1e-3  # m: a loop that is open wider than this at the start is told as missing, not as rigid


def add_couplings(c: Compiled) -> None:
    for t in range(c.m.ntendon):
        c.reading = ("tendon", t, c.m.ntendon)
        _add_tendon(c, t)
    for k in range(c.m.neq if not c.disables("EQUALITY") else 0):
        c.reading = ("equality", k, c.m.neq)
        kind = c.mujoco.mjtEq(int(c.m.eq_type[k])).name
        if not c.m.eq_active0[k]:
            c.note("changed", "equality", "active", "is not active at the start and left out", c.m.equality(k).name)
        elif kind in ("mjEQ_JOINT", "mjEQ_TENDON"):
            _add_equality(c, k, kind == "mjEQ_TENDON")
    c.reading = None


def _add_tendon(c: Compiled, t: int) -> None:
    m = c.m
    name = m.tendon(t).name
    coupling = tendon_coupling(c, t)
    if coupling is None:
        return
    if m.tendon_limited[t] and not c.disables("LIMIT"):
        coupling.limits = (float(m.tendon_range[t][0]), float(m.tendon_range[t][1]))
    if not c.disables("DAMPER"):
        coupling.damping = float(m.tendon_damping[t])
    if m.tendon_stiffness[t] != 0 and not c.disables("SPRING"):
        low, high = (float(v) for v in m.tendon_lengthspring[t])
        coupling.stiffness, coupling.rest = float(m.tendon_stiffness[t]), 0.5 * (low + high)
        if low != high:
            c.note("changed", "tendon", "springlength", "the spring has no dead band: it rests at the middle", name)
    for attribute in ("stiffness", "damping"):
        c.note_polynomial(f"tendon_{attribute}poly", t, "tendon", attribute, name)
    if m.tendon_frictionloss[t] != 0 and not c.disables("FRICTIONLOSS"):
        c.note("missing", "tendon", "frictionloss", "dry friction of a tendon is left out", name)
    if m.tendon_armature[t] != 0:
        c.note("missing", "tendon", "armature", "armature of a tendon is left out", name)
    idle = coupling.limits is None and coupling.stiffness == 0 and coupling.damping == 0 and coupling.drive is None
    if idle:
        c.model.couplings.remove(coupling)


def _add_equality(c: Compiled, k: int, tendons: bool) -> None:
    """first = c0 + c1 second: the sum of first - c1 second equals c0, both counted from the model's reference."""
    m = c.m
    name = m.equality(k).name
    factors = [float(v) for v in m.eq_data[k][:5]]
    if any(v != 0 for v in factors[2:]) and int(m.eq_obj2id[k]) >= 0:
        c.note("missing", "equality", "polycoef", "only its linear part is carried over", name)
    first, second = int(m.eq_obj1id[k]), int(m.eq_obj2id[k])
    value = factors[0]
    terms: list[tuple[str, float]] = []
    for index, factor in ((first, 1.0), (second, -factors[1])):
        if index < 0 or factor == 0:
            continue
        one = _tendon_terms(c, index) if tendons else _joint_terms(c, index)
        if one is None:
            return
        terms += [(axis, factor * share) for axis, share in one[0]]
        value += factor * one[1]
    terms = _summed(terms)
    if not terms:
        c.note("changed", "equality", None, "holds a sum in which nothing can move: it is left out", name)
        return
    c.model.couplings.append(Coupling(name or f"equality{k}", terms, value=value))


def _summed(terms: list[tuple[str, float]]) -> list[tuple[str, float]]:
    """Two tendons may pull at one joint: its factors add up."""
    sums: dict[str, float] = {}
    for axis, factor in terms:
        sums[axis] = sums.get(axis, 0.0) + factor
    return [(axis, factor) for axis, factor in sums.items() if factor != 0]


def _joint_terms(c: Compiled, joint: int) -> tuple[list[tuple[str, float]], float] | None:
    if joint not in c.axes:
        c.note("missing", "equality", "joint1", "an equality of a ball or free joint is left out", c.joints[joint])
        return None
    return [(c.axes[joint], 1.0)], float(c.m.qpos0[c.m.jnt_qposadr[joint]])


def _tendon_terms(c: Compiled, tendon: int) -> tuple[list[tuple[str, float]], float] | None:
    m = c.m
    known = any(k.name == c.name("tendon", tendon) for k in c.model.couplings)
    coupling = tendon_coupling(c, tendon)
    if coupling is not None and not known:
        c.model.couplings.remove(coupling)
    return (coupling.terms, float(m.tendon_length0[tendon])) if coupling is not None else None


# Loops ------------------------------------------------------------------------------------------


def add_loops(c: Compiled) -> None:
    if c.disables("EQUALITY"):
        return
    for k in range(c.m.neq):
        c.reading = ("equality", k, c.m.neq)
        kind = c.mujoco.mjtEq(int(c.m.eq_type[k])).name
        if not c.m.eq_active0[k] or kind in ("mjEQ_JOINT", "mjEQ_TENDON"):
            continue
        if kind in ("mjEQ_CONNECT", "mjEQ_WELD"):
            _add_loop(c, k, kind == "mjEQ_WELD")
        else:
            c.note("missing", "equality", None, f"an equality of type {kind[5:].lower()} is left out", c.m.equality(k).name)
    c.reading = None


def _frames(c: Compiled, k: int, weld: bool) -> tuple[int, int, Array, Array, Array, Array]:
    """The two bodies and, in the world, the two points and turns that the equality holds together."""
    m, d = c.m, c.d
    a, b = int(m.eq_obj1id[k]), int(m.eq_obj2id[k])
    data = m.eq_data[k]
    identity = np.array([1.0, 0.0, 0.0, 0.0])
    if int(m.eq_objtype[k]) == int(c.mujoco.mjtObj.mjOBJ_SITE):
        turns = [rotations.of_matrix(np.array(d.site_xmat[s]).reshape(3, 3)) for s in (a, b)]
        points = [np.array(d.site_xpos[s]) for s in (a, b)]
        return int(m.site_bodyid[a]), int(m.site_bodyid[b]), points[0], points[1], turns[0], turns[1]
    on_a, on_b = (data[3:6], data[0:3]) if weld else (data[0:3], data[3:6])
    pose = data[6:10] if weld else identity
    points = [d.xpos[i] + rotations.matrix(d.xquat[i]) @ p for i, p in ((a, on_a), (b, on_b))]
    return a, b, points[0], points[1], rotations.multiply(d.xquat[a], pose), np.array(d.xquat[b])


def _add_loop(c: Compiled, k: int, weld: bool) -> None:
    m = c.m
    name = m.equality(k).name
    a, b, point_a, point_b, turn_a, turn_b = _frames(c, k, weld)
    gap = float(np.linalg.norm(point_a - point_b))
    if weld:
        between = rotations.multiply(rotations.inverse(turn_a), turn_b)
        gap = max(gap, 2.0 * float(np.linalg.norm(between[1:])))
    if gap > 1e-9:
        kind = "rigid" if gap < _OPEN else "changed"
        c.note(kind, "equality", None, f"is off by {gap:.2g} at the start: it is closed as it stands there", name)
    outer, inner = c.bodies[a], c.bodies[b]
    if outer == inner:
        return
    kinds = {body.name: body.kind for body in c.model.bodies}
    if kinds.get(outer, "fixed") != "dynamic" and kinds.get(inner, "fixed") != "dynamic":
        return
    anchor = 0.5 * (point_a + point_b)
    label = name or f"loop{k}"
    joint = Joint("fixed" if weld else "ball", label, outer if outer in kinds else None, inner if inner in kinds else None, anchor)
    joint.collide = not _excluded(c, outer, inner)
    c.model.joints.append(joint)


def _excluded(c: Compiled, a: str, b: str) -> bool:
    """Whether two bodies are kept from colliding anyway; a loop itself does not do that in the source."""
    if any({j.parent, j.child} == {a, b} and not j.collide for j in c.model.joints):
        return True
    return (min(a, b), max(a, b)) in c.model.excludes
