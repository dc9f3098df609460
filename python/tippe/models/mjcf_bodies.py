"""Bodies, their masses, joints and shapes, from a compiled model at its state."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from . import rotations
from .model import Array, Axis, Body, Joint, Laws, Mesh, Shape

if TYPE_CHECKING:
    from .mjcf import Compiled

__all__ = ["add_bodies"]

_FREE, _BALL, _SLIDE, _HINGE = range(4)


def add_bodies(c: Compiled, merge: bool) -> None:
    carriers = _carriers(c, merge)
    _name_all(c)
    for i in range(c.m.nbody):
        if carriers[i] == i:
            c.model.bodies.append(_body(c, i))
        else:
            c.bodies[i] = c.bodies[carriers[i]]
            if c.m.body_mass[i] > 0:
                _lump(c, i, carriers[i])
    bodies = {body.name: body for body in c.model.bodies}
    for i in range(c.m.nbody):
        _add_shapes(c, i, carriers[i], bodies[c.bodies[i]])
    for body in c.model.bodies:
        _hide_what_touches(c, body)
    for i in range(1, c.m.nbody):
        _add_joints(c, i, carriers)
    world = c.model.bodies[0]
    if not world.shapes:  # nothing to touch, nothing to see: joints then name no body
        c.model.bodies.remove(world)


def _name_all(c: Compiled) -> None:
    for i in range(c.m.nbody):
        c.bodies[i] = c.name("body", i)
    for i in range(c.m.njnt):
        c.joints[i] = c.m.joint(i).name or f"{c.bodies[int(c.m.jnt_bodyid[i])]}_joint{i}"
        if c.m.jnt_type[i] in (_SLIDE, _HINGE):
            c.axes[i] = c.joints[i]


def _carriers(c: Compiled, merge: bool) -> list[int]:
    """For each body the one that carries its mass and shapes: itself, unless it has no mass or is merged."""
    m = c.m
    solid = (m.body_mass > 0) & (m.body_inertia.min(axis=1) > 0)
    carriers = list(range(m.nbody))
    for i in range(1, m.nbody):
        weld, parent = int(m.body_weldid[i]), int(m.body_parentid[i])
        if weld in (0, i) or m.body_mocapid[i] >= 0:
            continue
        if merge or not solid[i] or not solid[weld]:
            carriers[i] = carriers[parent]
            if m.body_mass[i] > 0 and not merge:
                c.note("changed", "body", None, "is one with its parent, since one of them has no mass or no inertia", m.body(i).name)
    return carriers


def _is_static(c: Compiled, i: int) -> bool:
    return int(c.m.body_weldid[i]) == 0 and c.m.body_mocapid[c.m.body_rootid[i]] < 0


def _body(c: Compiled, i: int) -> Body:
    m, d = c.m, c.d
    mocap = m.body_mocapid[m.body_rootid[i]] >= 0 and int(m.body_weldid[i]) == 0 or m.body_mocapid[i] >= 0
    kind = "kinematic" if mocap else "fixed" if _is_static(c, i) else "dynamic"
    body = Body(c.bodies[i], kind, np.array(d.xpos[i]), np.array(d.xquat[i]))
    if kind == "dynamic":
        turn = rotations.matrix(m.body_iquat[i])
        body.mass = float(m.body_mass[i])
        body.center = np.array(m.body_ipos[i])
        body.inertia = turn @ np.diag(m.body_inertia[i]) @ turn.T
        speeds = np.zeros(6)
        c.mujoco.mj_objectVelocity(m, d, c.mujoco.mjtObj.mjOBJ_BODY, i, speeds, 0)
        body.angular_velocity, body.velocity = speeds[:3].copy(), speeds[3:].copy()
        body.gravity_scale = 1.0 - float(m.body_gravcomp[i])
    elif m.body_mass[i] > 0:
        body.mass = float(m.body_mass[i])
    return body


def _lump(c: Compiled, i: int, carrier: int) -> None:
    """Adds the mass of a body to that of its carrier."""
    m, d = c.m, c.d
    into = c.model.body(c.bodies[carrier])
    if into.kind != "dynamic":
        return
    if m.body_gravcomp[i] != m.body_gravcomp[carrier]:
        c.note("changed", "body", "gravcomp", "is that of the body it is merged with", m.body(i).name)
    place, rotation = rotations.between(into.position, into.rotation, d.xipos[i], _quaternion(c, i))
    turn = rotations.matrix(rotation)
    inertia = turn @ np.diag(m.body_inertia[i]) @ turn.T
    mass = into.mass + float(m.body_mass[i])
    center = (into.mass * into.center + float(m.body_mass[i]) * place) / mass
    into.inertia = _moved(into.inertia, into.mass, into.center - center) + _moved(inertia, float(m.body_mass[i]), place - center)
    # The speed of the new centre.
    into.velocity = into.velocity + np.cross(into.angular_velocity, rotations.matrix(into.rotation) @ (center - into.center))
    into.mass, into.center = mass, center


def _quaternion(c: Compiled, i: int) -> Array:
    return rotations.multiply(c.d.xquat[i], c.m.body_iquat[i])


def _moved(inertia: Array, mass: float, offset: Array) -> Array:
    return inertia + mass * (offset @ offset * np.eye(3) - np.outer(offset, offset))


# Joints -----------------------------------------------------------------------------------------


def _add_joints(c: Compiled, i: int, carriers: list[int]) -> None:
    m = c.m
    count, first = int(m.body_jntnum[i]), int(m.body_jntadr[i])
    parent = carriers[int(m.body_parentid[i])]
    child = c.bodies[i]
    if count == 0:
        if carriers[i] == i and int(m.body_weldid[i]) != 0 and m.body_mocapid[i] < 0:
            anchor = np.array(c.d.xpos[i])
            c.model.joints.append(Joint("fixed", f"{child}_fixed", c.bodies[parent], child, anchor))
        return
    kinds = [int(m.jnt_type[j]) for j in range(first, first + count)]
    if kinds == [_FREE]:
        _check_free(c, first)
        return
    outer = c.bodies[parent] if parent != 0 or c.model.bodies[0].shapes else None
    chain: list[Joint] = []
    rates: list[list[_Rate]] = []
    for j in range(first, first + count):
        anchor = np.array(c.d.xanchor[j])
        known = len(chain)
        if kinds[j - first] == _BALL:
            chain.append(Joint("ball", c.joints[j], None, None, anchor, laws=_ball_laws(c, j)))
        else:
            axis = _axis(c, j)
            if not chain or chain[-1].kind != "axes" or not _fits(chain[-1], axis):
                chain.append(Joint("axes", c.joints[j], None, None, anchor))
            chain[-1].axes.append(axis)
            chain[-1].anchor = _meeting_point(chain[-1].axes)
        rates += [[] for _ in range(len(chain) - known)]
        rates[-1].append(_rate(c, j))
    _link(c, chain, rates, outer, child)


_Rate = tuple[Array, Array, Array]  # what a joint adds to the angular velocity, to that of its anchor, and the anchor


def _rate(c: Compiled, j: int) -> _Rate:
    m, d = c.m, c.d
    dof, kind = int(m.jnt_dofadr[j]), int(m.jnt_type[j])
    anchor = np.array(d.xanchor[j])
    if kind == _BALL:
        turn = rotations.matrix(d.xquat[int(m.jnt_bodyid[j])]) @ d.qvel[dof : dof + 3]
        return turn, np.zeros(3), anchor
    along = np.array(d.xaxis[j]) * float(d.qvel[dof])
    return (along, np.zeros(3), anchor) if kind == _HINGE else (np.zeros(3), along, anchor)


def _link(c: Compiled, chain: list[Joint], rates: list[list[_Rate]], outer: str | None, child: str) -> None:
    """Hangs the joints one behind the other, light bodies between them where their axes do not meet."""
    for k, joint in enumerate(chain):
        last = k == len(chain) - 1
        joint.parent = outer
        if len(joint.axes) > 1:
            joint.name = child if last else f"{child}_between{k}"
        if not last:
            outer = _light_body(c, child, k, [rate for later in rates[k + 1 :] for rate in later])
        joint.child = child if last else outer
        c.model.joints.append(joint)


def _light_body(c: Compiled, name: str, k: int, later: list[_Rate]) -> str:
    """A body of a millionth of the mass, for axes of one body that do not meet in a point; `later` are the joints that it does not turn with."""
    heavy = c.model.body(name)
    c.note("changed", "body", None, "has axes that do not meet: a body of a millionth of its mass is between them", name)
    light = Body(f"{name}_link{k}", "dynamic", heavy.position, heavy.rotation, 1e-6 * heavy.mass, heavy.center, 1e-6 * heavy.inertia)
    centre = heavy.position + rotations.matrix(heavy.rotation) @ heavy.center
    light.velocity, light.angular_velocity = heavy.velocity.copy(), heavy.angular_velocity.copy()
    for turn, slide, anchor in later:
        light.velocity -= slide + np.cross(turn, centre - anchor)
        light.angular_velocity -= turn
    light.gravity_scale = heavy.gravity_scale
    c.model.bodies.insert(c.model.bodies.index(heavy), light)
    return light.name


def _fits(joint: Joint, axis: Axis) -> bool:
    """Whether an axis can join the others of a compound joint: turns through one point, three of each kind."""
    axes = [*joint.axes, axis]
    same = np.array([a.direction for a in axes if a.kind == axis.kind])
    if len(same) > 3 or np.linalg.svd(same, compute_uv=False)[-1] < 1e-3:
        return False  # a compound joint has no axis in the plane or line of the others
    point = _meeting_point(axes)
    return all(
        np.linalg.norm(np.cross(point - a.anchor, a.direction)) < 1e-9 for a in axes if a.kind == "turn"
    )


def _meeting_point(axes: list[Axis]) -> Array:
    """The point nearest to all lines about which an axis turns; near the first anchor where they are parallel."""
    lines = [a for a in axes if a.kind == "turn"]
    if len(lines) < 2:
        return (lines or axes)[0].anchor
    start = lines[0].anchor
    across = [np.eye(3) - np.outer(a.direction, a.direction) for a in lines]
    right = sum(p @ (a.anchor - start) for p, a in zip(across, lines))
    return start + np.linalg.lstsq(sum(across), right, rcond=1e-9)[0]


def _axis(c: Compiled, j: int) -> Axis:
    m = c.m
    value = float(c.d.qpos[m.jnt_qposadr[j]])
    kind = "turn" if int(m.jnt_type[j]) == _HINGE else "slide"
    return Axis(kind, c.joints[j], np.array(c.d.xaxis[j]), np.array(c.d.xanchor[j]), value, _laws(c, j))


def _laws(c: Compiled, j: int) -> Laws:
    m = c.m
    dof, name = int(m.jnt_dofadr[j]), m.joint(j).name
    laws = Laws()
    if m.jnt_limited[j] and not c.disables("LIMIT"):
        laws.limits = (float(m.jnt_range[j][0]), float(m.jnt_range[j][1]))
        if m.jnt_margin[j] != 0:
            c.note("rigid", "joint", "margin", "limits here act at the limit itself", name)
    if m.jnt_stiffness[j] != 0 and not c.disables("SPRING"):
        laws.stiffness = float(m.jnt_stiffness[j])
        laws.rest = float(m.qpos_spring[m.jnt_qposadr[j]])
    if not c.disables("DAMPER"):
        laws.damping = float(m.dof_damping[dof])
    if not c.disables("FRICTIONLOSS"):
        laws.friction = float(m.dof_frictionloss[dof])
    laws.armature = float(m.dof_armature[dof])
    if m.jnt_actgravcomp[j]:
        c.note("changed", "joint", "actuatorgravcomp", "what holds bodies up is no effort of the joint: limits of its actuators do not count it", name)
    _note_polynomials(c, j, dof, name)
    return laws


def _note_polynomials(c: Compiled, j: int, dof: int, name: str) -> None:
    for field, row, attribute in (("jnt_stiffnesspoly", j, "stiffness"), ("dof_dampingpoly", dof, "damping")):
        c.note_polynomial(field, row, "joint", attribute, name)


def _ball_laws(c: Compiled, j: int) -> Laws:
    m = c.m
    dof, name = int(m.jnt_dofadr[j]), m.joint(j).name
    laws = Laws(armature=float(m.dof_armature[dof]))
    if not c.disables("DAMPER"):
        laws.damping = float(m.dof_damping[dof])
    if not c.disables("FRICTIONLOSS"):
        laws.friction = float(m.dof_frictionloss[dof])
    if m.jnt_limited[j] and not c.disables("LIMIT"):
        c.note("missing", "joint", "range", "the limit of a ball joint's whole turn is left out", name)
    _note_polynomials(c, j, dof, name)
    if m.jnt_stiffness[j] != 0 and not c.disables("SPRING"):
        c.note("missing", "joint", "stiffness", "the spring of a ball joint is left out", name)
    return laws


def _check_free(c: Compiled, j: int) -> None:
    m = c.m
    dofs = slice(int(m.jnt_dofadr[j]), int(m.jnt_dofadr[j]) + 6)
    for attribute, values in (("damping", m.dof_damping), ("armature", m.dof_armature), ("frictionloss", m.dof_frictionloss)):
        if np.any(values[dofs] != 0):
            c.note("missing", "joint", attribute, f"a free joint has no {attribute} here", m.joint(j).name)
    if m.jnt_stiffness[j] != 0:
        c.note("missing", "joint", "stiffness", "the spring of a free joint is left out", m.joint(j).name)


# Shapes -----------------------------------------------------------------------------------------


def _add_shapes(c: Compiled, i: int, carrier: int, body: Body) -> None:
    m = c.m
    first = int(m.body_geomadr[i])
    for g in range(first, first + int(m.body_geomnum[i])):
        position, rotation = np.array(m.geom_pos[g]), np.array(m.geom_quat[g])
        if carrier != i:
            place = rotations.place(c.d.xpos[i], c.d.xquat[i], position, rotation)
            position, rotation = rotations.between(body.position, body.rotation, *place)
        shape = _shape(c, g, position, rotation)
        if shape is not None:
            shape.data["geom"] = g  # for the contacts; taken away there
            body.shapes.append(shape)


def _hide_what_touches(c: Compiled, body: Body) -> None:
    """Groups from 3 on are not shown by MuJoCo: behind shapes that are only seen they have no colour, and pages leave them out."""
    if any(shape.visual for shape in body.shapes):
        for shape in body.shapes:
            if not shape.visual and int(c.m.geom_group[shape.data["geom"]]) >= 3:
                shape.color = None


def _shape(c: Compiled, g: int, position: Array, rotation: Array) -> Shape | None:
    m = c.m
    kind = c.mujoco.mjtGeom(int(m.geom_type[g])).name.removeprefix("mjGEOM_").lower()
    x, y, z = (float(v) for v in m.geom_size[g])
    seen = _seen(c, g)
    touches = _touches(c, g)
    if not touches and seen is None:
        return None
    data: dict[str, Any] = {}
    mesh = None
    if kind == "sphere":
        data = {"radius": x}
    elif kind in ("capsule", "cylinder"):
        data = {"radius": x, "length": 2 * y}
    elif kind == "ellipsoid":
        data = {"radii": [x, y, z]}
    elif kind == "box":
        data = {"size": [2 * x, 2 * y, 2 * z]}
    elif kind == "plane":
        if not touches:
            return None
        data = {"normal": [0.0, 0.0, 1.0]}
    elif kind == "hfield":
        kind, position, rotation, data = _height_field(c, g, position, rotation)
    elif kind == "mesh":
        mesh = _hull(c, int(m.geom_dataid[g])) if touches else _surface(c, int(m.geom_dataid[g]))
        kind = "hull" if touches else "mesh"
    else:
        c.note("missing", "geom", "type", f"a geom of type {kind} is left out", m.geom(g).name)
        return None
    return Shape(kind, position, rotation, data, mesh, seen, visual=not touches)


def _touches(c: Compiled, g: int) -> bool:
    m = c.m
    if c.disables("CONTACT"):
        return False
    paired = g in m.pair_geom1 or g in m.pair_geom2
    return bool(m.geom_contype[g] or m.geom_conaffinity[g] or paired)


def _seen(c: Compiled, g: int) -> tuple[float, float, float] | None:
    """The colour; None if it cannot be seen."""
    m = c.m
    rgba = m.geom_rgba[g]
    material = int(m.geom_matid[g])
    if material >= 0 and np.allclose(rgba, [0.5, 0.5, 0.5, 1.0]):
        rgba = m.mat_rgba[material]
    if rgba[3] <= 0:
        return None
    return (float(rgba[0]), float(rgba[1]), float(rgba[2]))


def _height_field(c: Compiled, g: int, position: Array, rotation: Array) -> tuple[str, Array, Array, dict[str, Any]]:
    m = c.m
    h = int(m.geom_dataid[g])
    rows, columns, start = int(m.hfield_nrow[h]), int(m.hfield_ncol[h]), int(m.hfield_adr[h])
    x, y, top, _ = (float(v) for v in m.hfield_size[h])
    heights = top * np.array(m.hfield_data[start : start + rows * columns], dtype=float)
    data = {"columns": columns, "rows": rows, "spacing": [2 * x / (columns - 1), 2 * y / (rows - 1)], "heights": heights.tolist()}
    return "heightfield", position, rotation, data


def _corners(c: Compiled, k: int) -> Array:
    m = c.m
    first = int(m.mesh_vertadr[k])
    return np.array(m.mesh_vert[first : first + int(m.mesh_vertnum[k])], dtype=float)


def _hull(c: Compiled, k: int) -> str:
    """The convex hull that MuJoCo collides; its corners as the compiler found them."""
    m = c.m
    name = f"{c.name('mesh', k)}_hull"
    if name not in c.model.meshes:
        corners = _corners(c, k)
        start = int(m.mesh_graphadr[k])
        if start >= 0:
            count = int(m.mesh_graph[start])
            corners = corners[np.array(m.mesh_graph[start + 2 + count : start + 2 + 2 * count])]
        c.model.meshes[name] = Mesh(name, np.unique(corners, axis=0), None)
    return name


def _surface(c: Compiled, k: int) -> str:
    m = c.m
    name = c.name("mesh", k)
    if name not in c.model.meshes:
        first = int(m.mesh_faceadr[k])
        triangles = np.array(m.mesh_face[first : first + int(m.mesh_facenum[k])], dtype=np.int64)
        c.model.meshes[name] = Mesh(name, _corners(c, k), triangles)
    return name
