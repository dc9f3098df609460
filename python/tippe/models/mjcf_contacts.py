"""Which shapes of a compiled model touch, and with what friction."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from .model import Shape

if TYPE_CHECKING:
    from .mjcf import Compiled

__all__ = ["add_contacts"]

_MOST_GROUPS = 32

# Overlap of bodies with a joint between them that collide, m.
_MOST_OVERLAP = 1e-4

# The cosine between two ways out of an overlap below which they are against each other.
_AGAINST = -0.5

# Way along the normal of a contact, in m per rad or m of any joint, that is none.
_NO_WAY = 1e-6

# The largest turn of a joint over which such a slope tells where bodies go, rad.
_LARGEST_TURN = 0.25


def add_contacts(c: Compiled) -> None:
    shapes = {int(shape.data.pop("geom")): shape for body in c.model.bodies for shape in body.shapes}
    touching = [g for g, shape in shapes.items() if not shape.visual]
    if not touching:
        return
    meets = _meets(c, touching)
    _group(c, touching, shapes, meets)
    _surfaces(c, touching, shapes, meets)
    _excludes(c, touching, meets)
    _note_overlaps(c)


def _pairs(c: Compiled) -> dict[tuple[int, int], int]:
    """Explicit pairs of geoms."""
    m = c.m
    found: dict[tuple[int, int], int] = {}
    for k in range(m.npair):
        a, b = int(m.pair_geom1[k]), int(m.pair_geom2[k])
        found[min(a, b), max(a, b)] = k
    return found


def _meets(c: Compiled, geoms: list[int]) -> np.ndarray:
    """Whether two geoms collide by their masks, or as a pair; bodies are left aside."""
    types, affinities = c.m.geom_contype[geoms], c.m.geom_conaffinity[geoms]
    meets = (types[:, None] & affinities[None, :]) | (types[None, :] & affinities[:, None])
    meets = meets != 0
    index = {g: i for i, g in enumerate(geoms)}
    for a, b in _pairs(c):
        if a in index and b in index:
            meets[index[a], index[b]] = meets[index[b], index[a]] = True
    return meets


def _group(c: Compiled, geoms: list[int], shapes: dict[int, Shape], meets: np.ndarray) -> None:
    """A bit for each set of geoms that meet the same ones."""
    classes: dict[bytes, int] = {}
    number = [classes.setdefault(row.tobytes(), len(classes)) for row in meets]
    if len(classes) > _MOST_GROUPS:
        c.note("missing", "pair", None, f"contact masks and pairs make {len(classes)} groups of geoms, of which the last ones fall together into {_MOST_GROUPS}")
    number = [min(k, _MOST_GROUPS - 1) for k in number]
    masks = [0] * _MOST_GROUPS
    for i, row in enumerate(meets):
        for k in set(np.asarray(number)[row].tolist()):
            masks[number[i]] |= 1 << k
    if len(classes) == 1 and masks[0] == 1:
        return  # all with all: what scenes do by default
    for g, k in zip(geoms, number):
        shapes[g].group, shapes[g].mask = 1 << k, masks[k]


# Friction ---------------------------------------------------------------------------------------


def _surface(c: Compiled, g: int) -> tuple[float, ...]:
    m = c.m
    return (*(float(v) for v in m.geom_friction[g]), int(m.geom_condim[g]), int(m.geom_priority[g]))


def _together(a: tuple[float, ...], b: tuple[float, ...]) -> tuple[float, ...]:
    """Friction of two geoms: the one of higher priority decides, or the larger numbers."""
    if a[4] != b[4]:
        return a if a[4] > b[4] else b
    return tuple(max(x, y) for x, y in zip(a, b))


def _numbers(sliding: float, spinning: float, rolling: float, dimension: int) -> dict[str, float]:
    if dimension == 1 or sliding == 0:
        return {"dynamic": 0.0}
    numbers = {"dynamic": sliding}
    if dimension >= 4 and spinning > 0:
        numbers["torsional"] = spinning / sliding
    if dimension == 6 and rolling > 0:
        numbers["rolling"] = rolling / sliding
    return numbers


def _surfaces(c: Compiled, geoms: list[int], shapes: dict[int, Shape], meets: np.ndarray) -> None:
    """A material for each kind of surface, and a pair where the rule for materials says otherwise."""
    m = c.m
    pairs = _pairs(c)
    named: dict[tuple[object, ...], str] = {}
    members: dict[str, list[int]] = {}
    own: dict[int, list[tuple[int, int]]] = {g: [] for g in geoms}
    for (a, b), k in pairs.items():
        for g, other in ((a, b), (b, a)):
            if g in own:
                own[g].append((other, k))
    for g in geoms:
        key = (_surface(c, g), tuple(sorted((other, _pair_numbers(c, k)) for other, k in own[g])))
        name = named.setdefault(key, f"surface{len(named)}")
        members.setdefault(name, []).append(g)
        shapes[g].material = name
    row = {g: i for i, g in enumerate(geoms)}
    rows = {name: [row[g] for g in group] for name, group in members.items()}
    first = {name: group[0] for name, group in rows.items()}
    names = list(members)
    for i, a in enumerate(names):
        surface = _surface(c, geoms[first[a]])
        c.model.materials[a] = _numbers(surface[0], surface[1], surface[2], int(surface[3]))
        for b in names[i:]:
            ga, gb = geoms[first[a]], geoms[first[b]]
            k = pairs.get((min(ga, gb), max(ga, gb)))
            if k is None and (a == b or not meets[np.ix_(rows[a], rows[b])].any()):
                continue
            if k is not None:
                sliding, _, spinning, rolling, _, dimension = _pair_numbers(c, k)
                c.model.pairs.append((a, b, _numbers(sliding, spinning, rolling, int(dimension))))
            else:
                both = _together(_surface(c, ga), _surface(c, gb))
                c.model.pairs.append((a, b, _numbers(both[0], both[1], both[2], int(both[3]))))
    for k in range(m.npair):
        if m.pair_friction[k][0] != m.pair_friction[k][1] and m.pair_dim[k] > 1:
            c.note("changed", "pair", "friction", "the first of two different coefficients holds in all directions", m.pair(k).name)
        if m.pair_friction[k][3] != m.pair_friction[k][4] and m.pair_dim[k] == 6:
            c.note("changed", "pair", "friction", "the first of two different coefficients of rolling holds in all directions", m.pair(k).name)


def _pair_numbers(c: Compiled, k: int) -> tuple[float, ...]:
    return (*(float(v) for v in c.m.pair_friction[k]), int(c.m.pair_dim[k]))


# Bodies that do not collide -------------------------------------------------------------------------


def _is_filtered(c: Compiled, a: int, b: int) -> bool:
    """As MuJoCo: bodies that are welded, parent and child, or excluded."""
    m = c.m
    weld_a, weld_b = int(m.body_weldid[a]), int(m.body_weldid[b])
    if weld_a == weld_b:
        return True
    signature = (a << 16) + b, (b << 16) + a
    if np.isin(m.exclude_signature, signature).any():
        return True
    above_a, above_b = (int(m.body_weldid[m.body_parentid[w]]) for w in (weld_a, weld_b))
    related = weld_a != 0 and weld_b != 0 and (above_a == weld_b or above_b == weld_a)
    return related and not c.disables("FILTERPARENT")


def _excludes(c: Compiled, geoms: list[int], meets: np.ndarray) -> None:
    m = c.m
    of_body: dict[int, list[int]] = {}
    for i, g in enumerate(geoms):
        of_body.setdefault(int(m.geom_bodyid[g]), []).append(i)
    kinds = {body.name: body.kind for body in c.model.bodies}
    joined = {frozenset((j.parent, j.child)): j for j in c.model.joints}
    pairs = {(int(m.geom_bodyid[a]), int(m.geom_bodyid[b])) for a, b in _pairs(c)}
    bodies = sorted(of_body)
    free: dict[frozenset[str], bool] = {}
    for k, a in enumerate(bodies):
        for b in bodies[k + 1 :]:
            name_a, name_b = c.bodies[a], c.bodies[b]
            if name_a == name_b or kinds[name_a] != "dynamic" and kinds[name_b] != "dynamic":
                continue
            if not meets[np.ix_(of_body[a], of_body[b])].any():
                continue
            collide = not _is_filtered(c, a, b)
            if not collide and ((a, b) in pairs or (b, a) in pairs):
                collide = True
            both = frozenset((name_a, name_b))
            if both in free and free[both] != collide:
                c.note("changed", "body", None, f"collides with {name_b} whole, though only a part of it does in the model", name_a)
            free[both] = free.get(both, False) or collide
    depths = _depths(c)
    stuck = _stuck(c)
    through = _through(c)
    for both, collide in free.items():
        if collide and both in through and joined.get(both) is None:
            name_a, name_b = sorted(both)
            c.note("changed", "body", None, f"overlaps {name_b} by {through[both]:.2g} m at the start, beyond the middle of a geom: they do not collide here", name_a)
            c.model.excludes.append((name_a, name_b))
            continue
        if collide and both in stuck and joined.get(both) is None:
            name_a, name_b = sorted(both)
            c.note("changed", "body", None, f"overlaps {name_b} by {stuck[both]:.2g} m at the start, and no joint can take them apart: they do not collide here", name_a)
            c.model.excludes.append((name_a, name_b))
            continue
        joint = joined.get(both)
        if joint is not None:
            # No motion of the joint takes them apart: soft contacts bear that, rigid ones do not.
            depth = max((depth for names, depth in depths.items() if frozenset(names) == both), default=0.0)
            joint.collide = collide and depth <= _MOST_OVERLAP
            if joint.collide != collide:
                c.note("changed", "joint", None, f"its bodies overlap by {depth:.2g} m at the start: they do not collide here", joint.name)
        elif not collide:
            name_a, name_b = sorted(both)
            c.model.excludes.append((name_a, name_b))


def _depths(c: Compiled) -> dict[tuple[str, str], float]:
    """How deep bodies overlap at the start, m, where that is more than contacts give."""
    deepest: dict[tuple[str, str], float] = {}
    for contact in c.d.contact:
        a, b = (c.bodies[int(c.m.geom_bodyid[g])] for g in contact.geom)
        if contact.dist < -_MOST_OVERLAP and a != b:
            key = (min(a, b), max(a, b))
            deepest[key] = max(deepest.get(key, 0.0), -float(contact.dist))
    return deepest


def _room(c: Compiled, opening: np.ndarray) -> np.ndarray:
    """How far each coordinate may go the way that opens a gap, rad or m: as far as its limit, and no angle further than slopes hold."""
    room = np.full(c.m.nv, np.inf)
    for joint in range(c.m.njnt):
        kind = c.mujoco.mjtJoint(int(c.m.jnt_type[joint]))
        if kind not in (c.mujoco.mjtJoint.mjJNT_HINGE, c.mujoco.mjtJoint.mjJNT_SLIDE):
            continue
        dof, value = int(c.m.jnt_dofadr[joint]), float(c.d.qpos[c.m.jnt_qposadr[joint]])
        if kind == c.mujoco.mjtJoint.mjJNT_HINGE:
            room[dof] = _LARGEST_TURN
        if c.m.jnt_limited[joint]:
            least, most = c.m.jnt_range[joint]
            room[dof] = min(room[dof], max(most - value if opening[dof] > 0.0 else value - least, 0.0))
    return room


def _stuck(c: Compiled) -> dict[frozenset[str], float]:
    """Bodies that overlap at the start where no motion of the joints within their limits takes them apart, and by how much, m."""
    found: dict[frozenset[str], float] = {}
    for contact in c.d.contact:
        a, b = (int(c.m.geom_bodyid[g]) for g in contact.geom)
        if contact.dist >= -_MOST_OVERLAP or c.bodies[a] == c.bodies[b]:
            continue
        turns = [np.zeros((3, c.m.nv)), np.zeros((3, c.m.nv))]
        for body, slope in zip((a, b), turns):
            c.mujoco.mj_jac(c.m, c.d, slope, None, contact.pos, body)
        opening = contact.frame[:3] @ (turns[1] - turns[0])
        opening[np.abs(opening) < _NO_WAY] = 0.0
        moving = opening != 0.0
        if np.sum(np.abs(opening[moving]) * _room(c, opening)[moving]) < -contact.dist:
            both = frozenset((c.bodies[a], c.bodies[b]))
            found[both] = max(found.get(both, 0.0), -float(contact.dist))
    return found


def _through(c: Compiled) -> dict[frozenset[str], float]:
    """Bodies that overlap at the start by more than half the least extent of a geom, and by how much, m.

    Which way such a geom is to be pushed out is an accident: neighbouring shapes of the other body ask for different ones, and no
    motion satisfies all of them. Soft contacts bear that until servos have moved the link. What does not move pushes a link out if all
    of their contacts agree on a side; the ground has one side whatever its slopes say."""
    found: dict[frozenset[str], float] = {}
    ways: dict[frozenset[str], list[np.ndarray]] = {}
    for contact in c.d.contact:
        a, b = (int(c.m.geom_bodyid[g]) for g in contact.geom)
        if c.bodies[a] == c.bodies[b] or contact.dist >= -_MOST_OVERLAP:
            continue
        both = frozenset((c.bodies[a], c.bodies[b]))
        if not any(int(c.m.geom_type[g]) == int(c.mujoco.mjtGeom.mjGEOM_HFIELD) for g in contact.geom):
            ways.setdefault(both, []).append(contact.frame[:3] if a < b else -contact.frame[:3])
        middle = min(float(c.m.geom_aabb[g][3:].min()) for g in contact.geom)
        if -contact.dist > middle:
            found[both] = max(found.get(both, 0.0), -float(contact.dist))
    fixed = {c.bodies[body] for body in range(c.m.nbody) if c.m.body_weldid[body] == 0}
    return {both: depth for both, depth in found.items() if not both & fixed or _contradict(ways.get(both, []))}


def _contradict(ways: list[np.ndarray]) -> bool:
    """Whether directions along which a body is pushed out contradict each other."""
    normals = np.array(ways).reshape(-1, 3)
    return bool((normals @ normals.T).min(initial=1.0) < _AGAINST)


def _note_overlaps(c: Compiled) -> None:
    """Overlaps at the start: soft there, pushed apart here."""
    apart = {frozenset((joint.parent, joint.child)) for joint in c.model.joints if not joint.collide}
    apart |= {frozenset(pair) for pair in c.model.excludes}
    for (a, b), depth in _depths(c).items():
        if frozenset((a, b)) not in apart:
            c.note("rigid", "geom", None, f"{a} and {b} overlap by {depth:.2g} m at the start: they are pushed apart")
