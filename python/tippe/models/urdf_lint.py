"""What becomes of every element and attribute of URDF. What the table does not name is missing."""

from __future__ import annotations

from .report import Report
from .source import Element

__all__ = ["lint"]

_USED = {
    "robot": "name version",
    "link": "name",
    "inertial": "",
    "origin": "xyz rpy",
    "mass": "value",
    "inertia": "ixx ixy ixz iyy iyz izz",
    "visual": "name",
    "collision": "name",
    "geometry": "",
    "box": "size",
    "cylinder": "radius length",
    "capsule": "radius length",
    "sphere": "radius",
    "mesh": "filename scale",
    "material": "name",
    "color": "rgba",
    "joint": "name type",
    "parent": "link",
    "child": "link",
    "axis": "xyz",
    "limit": "lower upper effort",
    "dynamics": "damping friction",
    "mimic": "joint multiplier offset",
}

_TOLD = {
    ("limit", "velocity"): ("looks", "is for controllers; it does not act on the motion"),
    ("calibration", None): ("looks", "is for calibrating the real robot"),
    ("safety_controller", None): ("missing", "is not supported"),
    ("texture", None): ("looks", "is only for pictures"),
    ("transmission", None): ("looks", "names hardware for controllers; it does not act on the motion"),
    ("gazebo", None): ("missing", "settings of another program are not read"),
    ("mujoco", None): ("missing", "settings of another program are not read"),
    ("drake", None): ("missing", "settings of another program are not read"),
    ("ros2_control", None): ("looks", "names hardware for controllers; it does not act on the motion"),
}


def lint(element: Element, report: Report, parent: str = "") -> None:
    """Notes on all that is not used."""
    place, name = (element.file, element.line), element.attributes.get("name")
    if element.tag not in _USED:
        kind, message = _TOLD.get((element.tag, None), ("missing", "is not known here"))
        report.add(kind, element.tag, None, message, name, place)
        return
    known = _USED[element.tag].split()
    for attribute, value in element.attributes.items():
        if attribute not in known and not attribute.startswith("xmlns"):
            kind, message = _TOLD.get((element.tag, attribute), ("missing", "is not known here"))
            if not (attribute == "velocity" and _is_zero(value)):
                report.add(kind, element.tag, attribute, message, name, place)
    for child in element.children:
        lint(child, report, element.tag)


def _is_zero(text: str) -> bool:
    try:
        return float(text) == 0
    except ValueError:
        return False
