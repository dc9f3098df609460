"""URDF: links and joints, read here, since the reader of MuJoCo drops `mimic`.

The robot stands at the zero of its joints. A root link of its own mass flies freely unless it is called `world`,
as URDF has no word for a base that is fixed in the world.
"""

from __future__ import annotations

import math
import os
from pathlib import Path
from typing import Any

import numpy as np

from . import rotations
from .errors import ModelError
from .followers import move_limits, note_passed_limits
from .meshes import Color, is_flat, load_surfaces, need_mesh_readers
from .model import Array, Axis, Body, Coupling, Drive, Joint, Laws, Mesh, Model, Shape
from .report import Report
from .sanity import check_counts
from .source import Element, parse
from .urdf_lint import lint

__all__ = ["read_urdf"]

_TURN_FREE = np.array([1.0, 0.0, 0.0, 0.0])
# Radius of gyration, m, below which moments are zeros that a program has rounded.
_POINT = 1e-6
_BALL = 0.01  # m: radius of the ball whose inertia a link without one gets
_ROUNDING = 1e-12  # a principal moment below this share of the largest is a zero with rounding
_LEAST = 1e-100  # a mass, kg, or a length, m, below it has no inverse to calculate with
_THINNEST = 1e-3  # smallest principal moment over the largest that a repaired link has


def _number(text: str) -> float:
    """A number as C writes it: Python takes digits of other scripts and `1_000` as well."""
    if not text.isascii() or "_" in text:
        raise ValueError(text)
    return float(text)


def _is_solid(inertia: Array) -> bool:
    """Whether a rigid body can have this inertia."""
    moments = np.linalg.eigvalsh(inertia)
    return bool(moments[0] > 1e-9 * moments[2] and moments[0] + moments[1] >= moments[2] * (1 - 1e-9))


def _package_name(folder: Path) -> str | None:
    """The name that a folder's package.xml gives it."""
    try:
        root = parse(folder / "package.xml")
    except ModelError:
        return None
    name = root.first("name")
    return name.text.strip() if name is not None else None


def _roots() -> list[Path]:
    """Folders of packages that the environment names."""
    listed = [Path(p) for p in os.environ.get("ROS_PACKAGE_PATH", "").split(os.pathsep) if p]
    return listed + [Path(p) / "share" for p in os.environ.get("AMENT_PREFIX_PATH", "").split(os.pathsep) if p]


class _Reader:
    fixed_base = False  # whether a root with a mass stays where it is

    def __init__(self, path: Path, hold: bool, merge: bool, packages: dict[str, str]) -> None:
        self.path, self.hold, self.merge, self.packages = path, hold, merge, packages
        self.root = parse(path)
        self.report = Report(str(path))
        self.model = Model(self.root.attributes.get("name") or path.stem, self.report)
        self.links: dict[str, Element] = {}
        self.joints: list[Element] = []
        self.colors: dict[str, Color] = {}
        self.frames: dict[str, tuple[Array, Array]] = {}  # of links, in the world
        self.carriers: dict[str, str] = {}
        self.merged: dict[str, list[str]] = {}
        self.files: dict[tuple[Path, tuple[float, ...], bool], list[tuple[str, Color | None]]] = {}  # names of meshes

    # Numbers ------------------------------------------------------------------------------------

    def number(self, element: Element, attribute: str, default: float | None = None) -> float:
        text = element.attributes.get(attribute)
        if text is None:
            if default is None:
                raise element.error(f'<{element.tag}> needs the attribute "{attribute}"')
            return default
        try:
            value = _number(text)
        except ValueError:
            raise element.error(f'{attribute}: expected a number, found "{text}"') from None
        if not math.isfinite(value) or abs(value) > 1e100:
            raise element.error(f'{attribute}: "{text}" is not a number that a robot can have')
        return value

    def vector(self, element: Element | None, attribute: str, default: tuple[float, ...]) -> Array:
        text = element.attributes.get(attribute) if element is not None else None
        if element is None or text is None:
            return np.array(default, dtype=float)
        try:
            values = [_number(word) for word in text.split()]
        except ValueError:
            raise element.error(f'{attribute}: expected numbers, found "{text}"') from None
        if len(values) != len(default) or not all(math.isfinite(v) and abs(v) < 1e100 for v in values):
            raise element.error(f'{attribute}: expected {len(default)} finite numbers, found "{text}"')
        return np.array(values)

    def origin(self, element: Element) -> tuple[Array, Array]:
        """Roll, pitch and yaw turn about fixed axes x, y, z."""
        origin = element.first("origin")
        position = self.vector(origin, "xyz", (0.0, 0.0, 0.0))
        roll, pitch, yaw = self.vector(origin, "rpy", (0.0, 0.0, 0.0))
        x, y, z = np.eye(3)
        turn = rotations.multiply(rotations.turn(z, yaw), rotations.multiply(rotations.turn(y, pitch), rotations.turn(x, roll)))
        return position, turn

    # The tree -----------------------------------------------------------------------------------

    def read(self) -> Model:
        if self.root.tag != "robot":
            raise self.root.error("a URDF file begins with <robot>")
        if any(":" in tag.tag or "xacro" in tag.tag for tag in self.root.walk()):
            raise self.root.error("this is xacro: make URDF of it first (xacro FILE > robot.urdf)")
        lint(self.root, self.report)
        check_counts(self.root)
        for link in self.root.all("link"):
            name = self.name(link)
            if name in self.links:
                raise link.error(f'two links are called "{name}"')
            self.links[name] = link
        if not self.links:
            raise self.root.error("a robot without links")
        self.joints = self.root.all("joint")
        names = [self.name(joint) for joint in self.joints]
        for joint, name in zip(self.joints, names):
            if names.count(name) > 1:
                raise joint.error(f'two joints are called "{name}"')
        for material in self.root.all("material"):
            self.color(material)
        order = self.sort_links()
        self.add_bodies(order)
        for name, joint in order:
            if joint is not None:
                self.add_joint(name, joint)
        self.add_mimics()
        move_limits(self.model, self.note_limits)
        note_passed_limits(self.model, self.note_limits)
        self.add_contacts()
        return self.model

    @staticmethod
    def name(element: Element) -> str:
        name = element.attributes.get("name")
        if not name:
            raise element.error(f"a {element.tag} without a name")
        return name

    def end(self, joint: Element, which: str) -> str:
        element = joint.first(which)
        name = element.attributes.get("link") if element is not None else None
        if element is None or not name:
            raise joint.error(f'joint "{self.name(joint)}" has no {which}')
        if name not in self.links:
            raise element.error(f'there is no link "{name}"')
        return name

    def sort_links(self) -> list[tuple[str, Element | None]]:
        """Links with the joint above each, parents first."""
        above: dict[str, Element] = {}
        below: dict[str, list[str]] = {}
        for joint in self.joints:
            parent, child = self.end(joint, "parent"), self.end(joint, "child")
            if child in above:
                raise joint.error(f'link "{child}" hangs on two joints')
            above[child] = joint
            below.setdefault(parent, []).append(child)
        order: list[tuple[str, Element | None]] = []
        stack = [name for name in reversed(self.links) if name not in above]
        while stack:
            name = stack.pop()
            order.append((name, above.get(name)))
            stack += reversed(below.get(name, []))
        if len(order) < len(self.links):
            lost = next(name for name in self.links if name not in {n for n, _ in order})
            raise self.links[lost].error(f'link "{lost}" hangs on itself: the joints run in a circle')
        return order

    # Bodies -------------------------------------------------------------------------------------

    def mass(self, link: Element) -> tuple[float, Array, Array] | None:
        """Mass, centre and inertia in the link's frame; None without a mass."""
        inertial = link.first("inertial")
        element = inertial.first("mass") if inertial is not None else None
        if inertial is None or element is None:
            return None
        mass = self.number(element, "value")
        if mass < 0:
            raise element.error("the mass is negative")
        if mass == 0:
            return None
        if mass < _LEAST:
            raise element.error(f"{mass:g} kg is not a mass that a robot can have")
        tensor = inertial.first("inertia")
        if tensor is None:
            raise inertial.error("a mass without an inertia")
        xx, yy, zz, xy, xz, yz = (self.number(tensor, key, 0.0) for key in ("ixx", "iyy", "izz", "ixy", "ixz", "iyz"))
        position, rotation = self.origin(inertial)
        turn = rotations.matrix(rotation)
        inertia = turn @ np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]]) @ turn.T
        if min(xx, yy, zz) < -1e-12:  # rounded zeros are common
            raise tensor.error(f"no body has the moments {xx:.6g}, {yy:.6g}, {zz:.6g}")
        return mass, position, inertia

    def make_solid(self, body: Body) -> None:
        """Moments that no rigid body has are changed as little as it takes, with a note."""
        moments, axes = np.linalg.eigh(body.inertia)
        none = moments[2] <= _POINT**2 * body.mass
        if not none and moments[0] > _ROUNDING * moments[2] and moments[0] + moments[1] >= moments[2] * (1 - 1e-9):
            return
        given = ", ".join(f"{v:.3g}" for v in moments)
        if none:
            moments[:] = 0.4 * body.mass * _BALL**2
        else:
            moments = np.maximum(moments, _THINNEST * moments[2])
            moments[:2] += 0.5 * max(moments[2] - moments[0] - moments[1], 0.0)
        body.inertia = axes @ np.diag(moments) @ axes.T
        message = f"no body has the principal moments {given}: they are made {', '.join(f'{v:.3g}' for v in moments)}"
        link = self.links[body.name]
        place = next((e for e in link.walk() if e.tag == "inertia"), link)
        self.report.add("changed", "inertia", None, message, body.name, (place.file, place.line))

    def add_bodies(self, order: list[tuple[str, Element | None]]) -> None:
        for name, joint in order:
            if joint is None:
                self.frames[name] = np.zeros(3), _TURN_FREE.copy()
            else:
                self.frames[name] = self.moved(joint, *rotations.place(*self.frames[self.end(joint, "parent")], *self.origin(joint)))
            self.add_body(name, joint)
        for body in self.model.bodies:
            if body.kind == "dynamic":
                self.give_mass(body)
                self.make_solid(body)
        for name, _ in order:
            self.add_shapes(name)

    def moved(self, joint: Element, position: Array, rotation: Array) -> tuple[Array, Array]:
        """The frame of a link whose joint does not start at zero."""
        start = self.start(joint)
        if start == 0.0:
            return position, rotation
        if joint.attributes["type"] == "prismatic":
            return position + start * self.axis(joint, rotation), rotation
        return position, rotations.multiply(rotations.turn(self.axis(joint, rotation), start), rotation)

    def start(self, joint: Element, followed: tuple[str, ...] = ()) -> float:
        """Where a joint starts: at zero, at its limit next to zero, or where the joint that it follows puts it."""
        mimic, name = joint.first("mimic"), self.name(joint)
        if joint.attributes.get("type") not in ("revolute", "continuous", "prismatic"):
            return 0.0
        if mimic is None:
            return self.next_to_zero(joint)
        if name in followed and len(followed) > 1:
            raise mimic.error(f"joints follow each other in a circle: {', '.join(followed)}")
        other = next((j for j in self.joints if self.name(j) == mimic.attributes.get("joint")), None)
        led = self.start(other, (*followed, name)) if other is not None and name not in followed else 0.0
        return self.number(mimic, "offset", 0.0) + self.number(mimic, "multiplier", 1.0) * led

    def next_to_zero(self, joint: Element) -> float:
        """Zero, or the limit of a joint that may not stand there: begun beyond its limits it would snap into them, through other links."""
        limit = joint.first("limit")
        if limit is None or joint.attributes["type"] == "continuous":
            return 0.0
        return min(max(0.0, self.number(limit, "lower", 0.0)), self.number(limit, "upper", 0.0))

    def give_mass(self, body: Body) -> None:
        """A link that moves and has no mass gets a small one, so that it can be a body."""
        if body.mass > 0:
            return
        masses = [other.mass for other in self.model.bodies if other.mass > 0]
        link = self.links[body.name]
        if not masses:
            raise link.error(f'link "{body.name}" moves and has no mass, and neither has any other')
        body.mass = 1e-3 * min(masses)
        body.inertia = 0.4 * body.mass * _BALL**2 * np.eye(3)
        message = f"moves and has no mass: it gets {body.mass:.3g} kg, a thousandth of that of the lightest link"
        self.report.add("changed", "link", None, message, body.name, (link.file, link.line))

    def add_body(self, name: str, joint: Element | None) -> None:
        link, mass = self.links[name], self.mass(self.links[name])
        position, rotation = self.frames[name]
        parent = self.carriers[self.end(joint, "parent")] if joint is not None else None
        fixed = joint is not None and joint.attributes.get("type") == "fixed"
        if joint is None:
            kind = "dynamic" if mass is not None and name != "world" and not self.fixed_base else "fixed"
            if kind == "dynamic":
                self.report.add("chosen", "link", None, "the root has a mass: it flies freely (--fixed-base holds it)", name, (link.file, link.line))
        else:
            kind = "fixed" if fixed and self.model.body(parent or "").kind == "fixed" else "dynamic"
        lumped = mass is None or self.merge or name in self.merged.get(parent or "", ()) or not _is_solid(mass[2])
        if kind == "dynamic" and fixed and parent is not None and lumped:
            self.carriers[name] = parent
            if mass is not None:
                self.lump(name, parent, mass)
            return
        self.carriers[name] = name
        body = Body(name, kind, position, rotation)
        if mass is not None:
            body.mass, body.center, body.inertia = mass
        elif kind == "dynamic":
            self.carry_what_is_welded(name, body)
        self.model.bodies.append(body)

    def carry_what_is_welded(self, name: str, body: Body) -> None:
        """A link without mass that moves: it must carry the masses of links that are fixed to it."""
        welded = [j for j in self.joints if self.end(j, "parent") == name and j.attributes.get("type") == "fixed"]
        masses = [(j, self.mass(self.links[self.end(j, "child")])) for j in welded]
        if not any(mass is not None for _, mass in masses):
            return
        for joint, mass in masses:
            if mass is None:
                continue
            place, turn = self.origin(joint)
            matrix = rotations.matrix(turn)
            self.add_mass(body, mass[0], place + matrix @ mass[1], matrix @ mass[2] @ matrix.T)
            self.merged.setdefault(name, []).append(self.end(joint, "child"))
        self.report.add("changed", "link", None, "has no mass: it is one with the links that are fixed to it", name, (self.links[name].file, self.links[name].line))

    def lump(self, name: str, parent: str, mass: tuple[float, Array, Array]) -> None:
        if name in self.merged.get(parent, ()):
            return
        body = self.model.body(parent)
        place, turn = rotations.between(body.position, body.rotation, *self.frames[name])
        matrix = rotations.matrix(turn)
        self.add_mass(body, mass[0], place + matrix @ mass[1], matrix @ mass[2] @ matrix.T)

    @staticmethod
    def add_mass(body: Body, mass: float, center: Array, inertia: Array) -> None:
        whole = body.mass + mass
        middle = (body.mass * body.center + mass * center) / whole
        for part, offset in ((body.mass, body.center - middle), (mass, center - middle)):
            inertia = inertia + part * (offset @ offset * np.eye(3) - np.outer(offset, offset))
        body.inertia = body.inertia + inertia
        body.mass, body.center = whole, middle

    # Shapes -------------------------------------------------------------------------------------

    def color(self, material: Element) -> Color | None:
        name = material.attributes.get("name", "")
        element = material.first("color")
        if element is not None:
            rgba = self.vector(element, "rgba", (0.5, 0.5, 0.5, 1.0))
            self.colors[name] = (float(rgba[0]), float(rgba[1]), float(rgba[2]))
            return self.colors[name]
        return self.colors.get(name)

    def add_shapes(self, name: str) -> None:
        link = self.links[name]
        body = self.model.body(self.carriers[name])
        for element in link.all("collision") + link.all("visual"):
            geometry = element.first("geometry")
            if geometry is None or not geometry.children:
                raise element.error(f"a {element.tag} without a geometry")
            place = rotations.place(*self.frames[name], *self.origin(element))
            position, rotation = rotations.between(body.position, body.rotation, *place)
            material = element.first("material")
            color = self.color(material) if material is not None else None
            shapes = self.shapes(geometry.children[0], position, rotation, element.tag == "visual")
            if material is not None and color and any(shape.color for shape in shapes):  # as RViz does
                self.report.add("looks", "material", None, "the mesh file has colours of its own", None, (material.file, material.line))
            for shape in shapes:
                shape.color = shape.color or color
                body.shapes.append(shape)

    def shapes(self, form: Element, position: Array, rotation: Array, visual: bool) -> list[Shape]:
        """One shape; of a mesh that is only seen one for each colour of its file, and none if it cannot be read."""
        if form.tag == "box":
            data = {"size": [self.positive(form, v) for v in self.vector(form, "size", (1.0, 1.0, 1.0))]}
        elif form.tag in ("cylinder", "capsule"):
            data = {key: self.positive(form, self.number(form, key)) for key in ("radius", "length")}
        elif form.tag == "sphere":
            data = {"radius": self.positive(form, self.number(form, "radius"))}
        elif form.tag == "mesh":
            kind = "mesh" if visual else "hull"
            return [Shape(kind, position, rotation, mesh=mesh, color=color, visual=visual) for mesh, color in self.meshes(form, visual)]
        else:
            raise form.error(f"<{form.tag}> is no geometry of URDF")
        return [Shape(form.tag, position, rotation, data, visual=visual)]

    @staticmethod
    def positive(element: Element, value: float) -> float:
        if not value > _LEAST:
            raise element.error(f"<{element.tag}>: a length must be greater than zero, found {value:g}")
        return float(value)

    def meshes(self, form: Element, visual: bool) -> list[tuple[str, Color | None]]:
        """Names and colours of the meshes of a file: one hull, or one surface for each colour."""
        name = form.attributes.get("filename")
        if not name:
            raise form.error("a mesh without a filename")
        scale = self.vector(form, "scale", (1.0, 1.0, 1.0))
        key = self.find(name, form), tuple(scale), visual
        if key not in self.files:
            try:
                self.files[key] = self.load(*key)
            except Exception as error:  # trimesh raises whatever its loaders do
                if not visual or isinstance(error, ModelError):
                    raise error if isinstance(error, ModelError) else form.error(f'"{name}" cannot be read: {error}') from None
                self.report.add("looks", "mesh", "filename", f'is not shown, since "{name}" cannot be read: {error}', None, (form.file, form.line))
                return []
        return self.files[key]

    def load(self, path: Path, scale: tuple[float, ...], visual: bool) -> list[tuple[str, Color | None]]:
        need_mesh_readers()
        surfaces = load_surfaces(path)
        corners = np.vstack([np.zeros((0, 3)), *(corners for corners, _, _ in surfaces)]) * scale
        if not any(len(triangles) for _, triangles, _ in surfaces) or not np.isfinite(corners).all():
            raise ValueError("it has no triangles, or corners that are not finite")
        stem = path.stem + ("" if visual else "_hull") + ("" if all(v == 1 for v in scale) else "_" + "_".join(f"{v:g}" for v in scale))
        if not visual:
            if is_flat(corners):
                raise ValueError("its corners lie in one plane")
            return [(self.add_mesh(stem, np.unique(corners, axis=0), None), None)]
        turned = -1 if np.prod(scale) < 0 else 1
        return [(self.add_mesh(stem, points * scale, triangles[:, ::turned]), color) for points, triangles, color in surfaces if len(triangles)]

    def add_mesh(self, stem: str, corners: Array, triangles: Any) -> str:
        """Its name in the scene: files of one name in two folders are two meshes."""
        name = next(n for k in range(len(self.model.meshes) + 1) if (n := f"{stem}_{k + 1}" if k else stem) not in self.model.meshes)
        self.model.meshes[name] = Mesh(name, corners, triangles)
        return name

    def find(self, name: str, form: Element) -> Path:
        """The file of a mesh. Packages (package://NAME/REST) are searched in the folders above the model, then in those of ROS_PACKAGE_PATH and AMENT_PREFIX_PATH."""
        rest = name
        if "://" in name:
            scheme, _, rest = name.partition("://")
            if scheme not in ("package", "file", "model"):
                raise form.error(f'"{name}": {scheme}:// is not known')
        candidates = [Path(rest), self.path.parent / rest]
        if name.startswith(("package://", "model://")):
            rest = rest.lstrip("/")
            package, _, inner = rest.partition("/")
            if package in self.packages:
                candidates = [Path(self.packages[package]) / inner]
            else:
                above = list(self.path.resolve().parents)
                named = [folder for folder in above if folder.name == package or _package_name(folder) == package]
                candidates += [folder / inner for folder in named] + [folder / rest for folder in [*above, *_roots()]]
                candidates += [folder / inner for folder in above]  # a package in a folder of another name
        try:
            found = next((p for p in candidates if p.is_file()), None)
        except OSError as error:  # a name that is too long
            raise form.error(f'"{name[:100]}": {error.strerror}') from None
        if found is None:
            raise form.error(f'there is no file "{name}"')
        return found

    # Joints -------------------------------------------------------------------------------------

    def add_joint(self, child: str, joint: Element) -> None:
        name, kind = self.name(joint), joint.attributes.get("type", "")
        parent = self.carriers[self.end(joint, "parent")]
        position, rotation = self.frames[child]
        if self.carriers[child] != child or self.model.body(child).kind != "dynamic" or kind == "floating":
            return
        made = Joint("axes", name, parent, child, position)
        if kind == "fixed":
            made.kind = "fixed"
        elif kind in ("revolute", "continuous", "prismatic"):
            made.axes = [Axis("slide" if kind == "prismatic" else "turn", name, self.axis(joint, rotation), position, self.start(joint), self.laws(joint, kind))]
        elif kind == "planar":
            normal = self.axis(joint, rotation)
            across = np.linalg.svd(normal.reshape(1, 3))[2][1:]
            parts = (("slide", "x", across[0]), ("slide", "y", across[1]), ("turn", "turn", normal))
            made.axes = [Axis(how, f"{name}_{part}", direction, position, 0.0) for how, part, direction in parts]
            if joint.first("limit") is not None or joint.first("dynamics") is not None:
                self.report.add("missing", "joint", "limit", "limits and dynamics of a planar joint are left out", name, (joint.file, joint.line))
        else:
            raise joint.error(f'joint "{name}": "{kind}" is no type of joint')
        self.model.joints.append(made)

    def axis(self, joint: Element, rotation: Array) -> Array:
        axis = self.vector(joint.first("axis"), "xyz", (1.0, 0.0, 0.0))
        length = float(np.linalg.norm(axis))
        if length == 0:
            raise joint.error(f'joint "{self.name(joint)}": the axis has no direction')
        return rotations.matrix(rotation) @ (axis / length)

    def laws(self, joint: Element, kind: str) -> Laws:
        laws = Laws()
        limit, dynamics = joint.first("limit"), joint.first("dynamics")
        if limit is not None and kind != "continuous":
            low, high = self.number(limit, "lower", 0.0), self.number(limit, "upper", 0.0)
            if low > high:
                raise limit.error(f"the lower limit {low:g} is above the upper one {high:g}")
            laws.limits = (low, high)
            if joint.first("mimic") is None and not low <= 0 <= high:
                message = f"zero is beyond its limits: it starts at {self.start(joint):.6g}"
                self.report.add("chosen", "joint", "limit", message, self.name(joint), (joint.file, joint.line))
        elif limit is None and kind in ("revolute", "prismatic"):
            raise joint.error(f'joint "{self.name(joint)}" of type {kind} needs a <limit>')
        if dynamics is not None:
            laws.damping, laws.friction = self.number(dynamics, "damping", 0.0), self.number(dynamics, "friction", 0.0)
            if laws.damping < 0 or laws.friction < 0:
                raise dynamics.error("damping and friction are not negative")
        effort = self.number(limit, "effort", 0.0) if limit is not None else 0.0
        if limit is not None and effort < 0:
            raise limit.error("an effort is not negative")
        if self.hold and effort > 0:
            laws.drive = self.servo(joint, effort)
        return laws

    def servo(self, joint: Element, effort: float) -> Drive | None:
        """A URDF has no gains. One tenth of a radian, or of a metre, off its target the joint uses all its effort."""
        mimic = joint.first("mimic")
        if mimic is not None:
            message = f'follows "{mimic.attributes.get("joint", "")}": its own effort {effort:.4g} drives nothing'
            self.report.add("chosen", "joint", None, message, self.name(joint), (joint.file, joint.line))
            return None
        drive = Drive(target=self.start(joint), stiffness=10.0 * effort, damping=effort, effort=effort)
        held = "zero" if drive.target == 0 else f"{drive.target:.4g}, its limit next to zero,"
        message = f"holds {held} with stiffness {drive.stiffness:.4g}, damping {drive.damping:.4g} and at most its effort {effort:.4g}"
        self.report.add("chosen", "joint", None, message, self.name(joint), (joint.file, joint.line))
        return drive

    def add_mimics(self) -> None:
        axes = {axis.name for joint in self.model.joints for axis in joint.axes}
        still = {self.name(joint) for joint in self.joints if joint.attributes.get("type") == "fixed"}
        for joint in self.joints:
            mimic = joint.first("mimic")
            if mimic is None:
                continue
            name, other = self.name(joint), mimic.attributes.get("joint", "")
            if other in still or name in still:
                self.follow_still(joint, mimic, other in still and name in axes)
                continue
            if other not in axes or name not in axes:
                raise mimic.error(f'"{other}" is no joint that "{name}" can follow')
            if name == other:
                raise mimic.error(f'"{name}" cannot follow itself')
            factor, offset = self.number(mimic, "multiplier", 1.0), self.number(mimic, "offset", 0.0)
            terms = [(name, 1.0), (other, -factor)] if factor != 0 else [(name, 1.0)]
            self.model.couplings.append(Coupling(f"{name}_mimic", terms, value=offset))

    def note_limits(self, message: str, name: str) -> None:
        place = next((joint for joint in self.joints if self.name(joint) == name), None)
        self.report.add("rigid", "limit", None, message, name, (place.file, place.line) if place else None)

    def follow_still(self, joint: Element, mimic: Element, moves: bool) -> None:
        """A joint that follows a fixed one stands at its offset; a fixed one that follows does nothing."""
        name, offset = self.name(joint), self.number(mimic, "offset", 0.0)
        message = f"one of the two joints is fixed: the other stands at {offset:g}" if moves else "the joint is fixed: it follows nothing"
        self.report.add("changed", "mimic", None, message, name, (mimic.file, mimic.line))
        if moves:
            self.model.couplings.append(Coupling(f"{name}_mimic", [(name, 1.0)], value=offset))

    def add_contacts(self) -> None:
        self.model.materials["surface0"] = {"dynamic": 1.0}
        self.report.add("chosen", "robot", None, "URDF has no friction: all shapes have the coefficient 1", None, (str(self.path), 1))
        for body in self.model.bodies:
            for shape in body.shapes:
                shape.material = None if shape.visual else "surface0"


def read_urdf(path: Path, hold: bool, merge: bool, packages: dict[str, str], fixed_base: bool = False) -> Model:
    """The model of a URDF file, at the zero of its joints."""
    reader = _Reader(path, hold, merge, packages)
    reader.fixed_base = fixed_base
    return reader.read()
