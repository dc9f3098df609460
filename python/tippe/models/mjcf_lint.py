"""What becomes of every element and attribute of MJCF.

A row of the table names an element (with its parent, where a tag has two meanings), and sorts its attributes.
`used` reaches the scene, some of it through MuJoCo's compiler; the other kinds are those of reports. An attribute
that no row names is missing: so a new version of the format cannot lose anything in silence.
"""

from __future__ import annotations

from .report import Report
from .source import Element, Source

__all__ = ["lint", "plugin_settings", "sort_attribute"]

_FRAME = "pos quat axisangle xyaxes zaxis euler fromto"
_SOFT = "solref solimp solmix margin gap"
_SOFT_LAWS = "solreflimit solimplimit solreffriction solimpfriction margin"
_SAMPLED = "delay nsample interp interval"
_ACTUATOR = {
    "used": "name class joint jointinparent tendon site refsite body cranksite slidersite cranklength gear ctrllimited ctrlrange "
    "forcelimited forcerange actlimited actrange lengthrange inheritrange armature damping actdim",
    "looks": "group user",
}


def _row(**kinds: str) -> dict[str, str]:
    return {attribute: kind for kind, names in kinds.items() for attribute in names.split()}


def _actuator(used: str) -> dict[str, str]:
    return _row(used=f"{_ACTUATOR['used']} {used}", looks=_ACTUATOR["looks"])


_TENDON = _row(
    used="name class limited range stiffness damping springlength frictionloss armature actuatorfrclimited actuatorfrcrange",
    rigid=_SOFT_LAWS,
    looks="group user width material rgba",
)
_SENSOR = _row(used="name class site joint actuator tendon body objtype objname reftype refname geom geom1 geom2 body1 body2", looks="user")

_ALL = "*"

_TABLE: dict[str, dict[str, str]] = {
    "mujoco": _row(used="model"),
    "mujocoinclude": {},
    "compiler": {_ALL: "used"},
    "lengthrange": {_ALL: "solver"},
    "option": _row(
        used="gravity timestep",
        rigid="impratio o_margin o_solref o_solimp o_friction",
        missing="wind density viscosity actuatorgroupdisable",
        solver="integrator solver jacobian cone iterations tolerance ls_iterations ls_tolerance noslip_iterations noslip_tolerance ccd_iterations ccd_tolerance "
        "sdf_iterations sdf_initpoints magnetic apirate mpr_iterations mpr_tolerance sleep_tolerance collision",
    ),
    "flag": _row(
        used="contact gravity limit equality spring damper frictionloss actuation clampctrl filterparent passive",
        missing="constraint",
        rigid="override refsafe ipc",
        solver="warmstart energy fwdinv invdiscrete multiccd island eulerdamp autoreset midphase nativeccd sensor sleep speculative diagexact",
    ),
    "size": {_ALL: "solver"},
    "statistic": {_ALL: "looks"},
    "visual": {_ALL: "looks"},
    "default": _row(used="class"),
    "custom": {_ALL: "solver"},
    "extension": {},
    "plugin": {_ALL: "missing"},
    "asset": {},
    "asset/mesh": _row(
        used="name class file content_type scale vertex face refpos refquat inertia maxhullvert builtin params",
        looks="normal texcoord smoothnormal material octree_maxdepth",
    ),
    "default/mesh": _row(used="scale inertia maxhullvert", looks="material"),
    "hfield": {_ALL: "used"},
    "skin": {_ALL: "looks"},
    "texture": {_ALL: "looks"},
    "material": _row(used="name class rgba", looks="emission metallic reflectance roughness shininess specular texrepeat texture texuniform"),
    "layer": {_ALL: "looks"},
    "model": {_ALL: "used"},
    "worldbody": {_ALL: "used"},
    "body": _row(used=f"name childclass mocap gravcomp {_FRAME}", looks="user", solver="sleep simple fuse"),
    "frame": {_ALL: "used"},
    "attach": {_ALL: "used"},
    "replicate": {_ALL: "used"},
    "inertial": {_ALL: "used"},
    "joint": _row(
        used="name class type pos axis limited range ref springref springdamper stiffness damping armature frictionloss actuatorfrclimited actuatorfrcrange actuatorgravcomp",
        rigid=_SOFT_LAWS,
        missing="springyield",
        looks="group user",
    ),
    "freejoint": _row(used="name align", looks="group"),
    "geom": _row(
        used=f"name class type size mass density shellinertia contype conaffinity condim friction priority mesh hfield fitscale rgba material {_FRAME}",
        rigid=_SOFT,
        missing="fluidshape fluidcoef adhesion surfacevel",
        looks="group user castshadow",
    ),
    "site": _row(used=f"name class {_FRAME}", looks="type size group user rgba material mesh"),
    "camera": {_ALL: "looks"},
    "light": {_ALL: "looks"},
    "flexcomp": {_ALL: "missing"},
    "composite": {_ALL: "missing"},
    "deformable": {_ALL: "missing"},
    "contact": {},
    "pair": _row(used="name class geom1 geom2 condim friction", rigid=f"{_SOFT} solreffriction", missing="adhesion"),
    "exclude": {_ALL: "used"},
    "tendon": {},
    "default/tendon": _TENDON,
    "spatial": _TENDON,
    "fixed": _TENDON,
    "fixed/joint": {_ALL: "used"},
    "spatial/site": {_ALL: "used"},
    "spatial/geom": {_ALL: "used"},
    "pulley": {_ALL: "used"},
    "equality": {},
    "default/equality": _row(used="active", rigid="solref solimp"),
    "connect": _row(used="name class active body1 body2 anchor site1 site2", rigid="solref solimp"),
    "weld": _row(used="name class active body1 body2 anchor relpose site1 site2", rigid="solref solimp torquescale"),
    "equality/joint": _row(used="name class active joint1 joint2 polycoef", rigid="solref solimp"),
    "equality/tendon": _row(used="name class active tendon1 tendon2 polycoef", rigid="solref solimp"),
    "equality/flex": {_ALL: "missing"},
    "equality/flexvert": {_ALL: "missing"},
    "equality/flexstrain": {_ALL: "missing"},
    "actuator": {},
    "general": _actuator("biasprm biastype gainprm gaintype dynprm dyntype actearly"),
    "motor": _actuator(""),
    "position": _actuator("kp kv dampratio timeconst"),
    "velocity": _actuator("kv"),
    "intvelocity": _actuator("kp kv dampratio"),
    "damper": _actuator("kv"),
    "cylinder": _actuator("timeconst area diameter bias"),
    "muscle": _actuator("timeconst range force scale lmin lmax vmax fpmax fvmax tausmooth"),
    "adhesion": _actuator("gain"),
    "orientation": {"group": "looks", "user": "looks", _ALL: "missing"},
    "pid": {"group": "looks", "user": "looks", _ALL: "missing"},
    "dcmotor": {"group": "looks", "user": "looks", _ALL: "missing"},
    "sensor": {},
    "keyframe": {},
    "key": _row(used="name qpos qvel act ctrl mpos mquat", solver="time", missing="plastic"),
}

_WHOLE = ("visual", "statistic", "skin", "texture", "camera", "light", "custom", "size", "composite", "flexcomp", "deformable", "plugin", "lengthrange", "layer")
"""Elements that are told in one line, with what is inside them."""

_MEANS = {
    "missing": "is not supported",
    "rigid": "has no meaning where contacts and limits are rigid",
    "looks": "is only for pictures and editors",
    "solver": "is a setting of the other program",
}

# Values that say what holds anyway.
_IDLE = {
    "wind": "0", "density": "0", "viscosity": "0", "margin": "0", "gap": "0", "adhesion": "0", "surfacevel": "0", "noise": "0", "cutoff": "0",
    "delay": "0", "nsample": "0", "interval": "0", "fluidshape": "none", "constraint": "enable", "plastic": "0", "springyield": "0", "time": "0",
}  # fmt: skip


def _row_of(element: Element, parent: str) -> dict[str, str] | None:
    if parent == "sensor":
        return _SENSOR
    for key in (f"{parent}/{element.tag}", element.tag):
        if key in _TABLE:
            return _TABLE[key]
    return None


def sort_attribute(element: Element, parent: str, attribute: str) -> str:
    """`used`, or the kind of note that an attribute gets."""
    row = _row_of(element, parent) or {}
    return row.get(attribute) or row.get(_ALL) or "missing"


def _is_idle(attribute: str, value: str) -> bool:
    idle = _IDLE.get(attribute)
    if idle != "0":
        return idle is not None and value.strip() == idle
    try:
        return all(float(word) == 0 for word in value.split())
    except ValueError:
        return False


_PID = "mujoco.pid"  # the plugin whose settings have a meaning here


def plugin_settings(source: Source, element: Element) -> dict[str, str] | None:
    """The settings of an actuator that is the PID plugin, its own or those of the instance that it names; None for other plugins."""
    if element.attributes.get("plugin") != _PID:
        return None
    instance = element.attributes.get("instance")
    holder = next((e for e in source.root.walk() if e.tag == "instance" and e.attributes.get("name") == instance), element)
    return {e.attributes.get("key", ""): e.attributes.get("value", "") for e in holder.all("config")}


def lint(source: Source, report: Report) -> None:
    """Notes on all that the table does not call used."""
    for root in [source.root]:
        _lint(root, "", report)


def _lint(element: Element, parent: str, report: Report) -> None:
    place = (element.file, element.line)
    name = element.attributes.get("name") or element.attributes.get("class")
    row = _row_of(element, parent)
    if row is None:
        report.add("missing", element.tag, None, "is not known here", name, place)
        return
    if element.tag == "plugin" and parent in ("extension", "actuator") and element.attributes.get("plugin") == _PID:
        return  # its actuators are told one by one
    if element.tag in _WHOLE and parent != "equality":
        report.add(row.get(_ALL, "looks"), element.tag, None, _MEANS[row.get(_ALL, "looks")], name, place)
        return
    for attribute, value in element.attributes.items():
        kind = sort_attribute(element, parent, attribute)
        if kind != "used" and not _is_idle(attribute, value):
            report.add(kind, element.tag, attribute, _MEANS[kind], name, place)
    for child in element.children:
        _lint(child, element.tag, report)
