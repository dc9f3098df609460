"""Robots from MJCF and URDF.

    scene = tippe.models.convert("robot.xml")    # a dict, as tippe.load takes it
    print(scene.report.text())                   # all that the scene does not carry, by file and line
    scene.save("robot.json")                     # with its meshes in robot_meshes
    world = tippe.load(scene)

MJCF is compiled by MuJoCo (pip install '.[models]' in a clone); URDF is read here, its meshes by trimesh. Neither is needed
to run a scene. The command `tippe-import` does the same.
"""

from __future__ import annotations

import errno
import hashlib
import json
import os
import shutil
import tempfile
from pathlib import Path
from typing import Any

from .errors import ModelError
from .floor import add_floor
from .meshes import is_ours, mesh_text, simplify
from .model import Model
from .report import Note, Report
from .sanity import check_scene
from .scene_writer import Names, write_scene
from .source import parse

__all__ = ["ModelError", "Note", "Report", "Scene", "convert"]


class Scene(dict[str, Any]):
    """The keys of a scene, with the report of its conversion and the meshes that it names."""

    report: Report
    meshes: dict[str, str]

    def save(self, path: str | os.PathLike[str]) -> Path:
        """Writes the scene, and its meshes to a folder beside it, from which meshes of an earlier conversion go."""
        out = Path(path)
        folder = out.with_name(f"{out.stem}_meshes")
        self._check_room(out, folder)
        text = _relative(self, {self._folder / name: f"{folder.name}/{name}" for name in self.meshes})
        part = Path(tempfile.mkdtemp(prefix=f".{out.name}-", dir=out.parent))
        try:
            (part / "scene").write_text(text, encoding="utf-8")
            for name, data in self.meshes.items():
                (part / name).write_text(data, encoding="ascii")
            old = [mesh for mesh in folder.iterdir() if is_ours(mesh)] if folder.is_dir() else []
            if self.meshes:
                folder.mkdir(exist_ok=True)
            for name in self.meshes:
                os.replace(part / name, folder / name)
            for mesh in old:
                if mesh.name not in self.meshes:
                    mesh.unlink()
            os.replace(part / "scene", out)
        finally:
            shutil.rmtree(part, ignore_errors=True)
        return out

    def _check_room(self, out: Path, folder: Path) -> None:
        """Nothing that somebody else has put there is replaced: robots keep their own meshes in folders of such names."""
        if out.is_dir():
            raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), str(out))
        if not out.parent.is_dir():
            raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT), str(out.parent))
        if self.meshes and folder.exists() and not folder.is_dir():
            raise NotADirectoryError(errno.ENOTDIR, os.strerror(errno.ENOTDIR), str(folder))
        for name in self.meshes:
            if (folder / name).exists() and not is_ours(folder / name):
                raise FileExistsError(errno.EEXIST, "is there, and tippe-import did not write it", str(folder / name))

    _folder: Path


def _relative(scene: dict[str, Any], names: dict[Path, str]) -> str:
    plain = json.loads(json.dumps(scene))
    for body in plain["bodies"]:
        for shape in body.get("shapes", ()):
            if "file" in shape:
                shape["file"] = names[Path(shape["file"])]
    return _pretty(plain)


def _pretty(scene: dict[str, Any]) -> str:
    """A line for each body, joint and other part."""
    lines: list[str] = []
    for key, value in scene.items():
        if isinstance(value, list) and value and isinstance(value[0], (dict, list)):
            inner = ",\n".join("    " + json.dumps(item) for item in value)
            lines.append(f"  {json.dumps(key)}: [\n{inner}\n  ]")
        else:
            lines.append(f"  {json.dumps(key)}: {json.dumps(value)}")
    return "{\n" + ",\n".join(lines) + "\n}\n"


def convert(
    path: str | os.PathLike[str],
    *,
    keyframe: str | int | None = None,
    hold: bool = True,
    merge: bool = False,
    visual: bool = True,
    triangles: int = 20000,
    step: float | None = None,
    packages: dict[str, str] | None = None,
    state: tuple[Any, Any] | None = None,
    floor: bool = False,
    fixed_base: bool = False,
) -> Scene:
    """The scene of an MJCF or URDF file, with `.report` on what became of it.

    keyframe   name or number of the keyframe where the scene starts, or "none"; by default `home`, or the first
    hold       torque motors get gains that hold the start
    merge      bodies without a joint become one with their parents; by default they hang on a fixed joint
    visual     keeps meshes that are only seen, of at most `triangles` each
    step       of the scene; by default the model's
    packages   folders of URDF's packages by name; others are looked for above the file
    state      positions and speeds in MuJoCo's order, instead of those of the keyframe
    floor      puts a level floor under the lowest shape
    fixed_base the root of a URDF stays where it is; by default it flies freely if it has a mass
    """
    source = Path(path)
    root = parse(source)
    if root.tag in ("mujoco", "mujocoinclude"):
        from .mjcf import read_mjcf

        model = read_mjcf(source, keyframe, hold, merge, state)
    elif root.tag == "robot":
        from .urdf import read_urdf

        model = read_urdf(source, hold, merge, packages or {}, fixed_base)
    else:
        raise ModelError(f"<{root.tag}> is neither MJCF (<mujoco>) nor URDF (<robot>)", str(source), root.line)
    if step is not None:
        model.step = step
    if floor:
        add_floor(model)
    scene = _finish(model, visual, triangles)
    if root.tag == "robot":
        from .overlaps import exclude_overlaps

        exclude_overlaps(scene, model.report)
    return scene


def _finish(model: Model, visual: bool, triangles: int) -> Scene:
    if not model.bodies:
        raise ModelError("there is nothing in the model: no bodies and no geoms", model.report.source)
    if not visual:
        for body in model.bodies:
            body.shapes = [shape for shape in body.shapes if not shape.visual]
    used = {shape.mesh for body in model.bodies for shape in body.shapes if shape.mesh is not None}
    names = Names()
    meshes: dict[str, str] = {}
    files: dict[str, str] = {}
    for name in sorted(used):
        files[name] = names.give(name) + ".obj"
        meshes[files[name]] = mesh_text(simplify(model.meshes[name], triangles, model.report))
    folder = _keep(meshes)
    scene = Scene(write_scene(model, {name: str(folder / file) for name, file in files.items()}))
    scene.report, scene.meshes, scene._folder = model.report, meshes, folder
    model.report.counts = {
        "bodies": len(model.bodies),
        "joints": len(model.joints),
        "shapes": sum(not shape.visual for body in model.bodies for shape in body.shapes),
        "visual shapes": sum(shape.visual for body in model.bodies for shape in body.shapes),
        "servos": sum(a.laws.drive is not None for j in model.joints for a in j.axes),
        "couplings": len(model.couplings),
        "sensors": len(model.sensors),
        "mesh files": len(meshes),
    }
    check_scene(scene, model.report.source)
    return scene


def _keep(meshes: dict[str, str]) -> Path:
    """A folder that holds these meshes, by what is in them: the dict of a scene can be loaded without being saved."""
    digest = hashlib.sha256()
    for name in sorted(meshes):
        digest.update(name.encode() + b"\0" + meshes[name].encode() + b"\0")
    base = Path(tempfile.gettempdir()) / f"tippe-models-{os.getuid() if hasattr(os, 'getuid') else 'user'}"
    folder = base / digest.hexdigest()[:24]
    if meshes and not folder.is_dir():
        base.mkdir(mode=0o700, exist_ok=True)
        part = Path(tempfile.mkdtemp(dir=base))
        for name, text in meshes.items():
            (part / name).write_text(text, encoding="ascii")
        try:
            os.replace(part, folder)
        except OSError:  # another process was faster
            shutil.rmtree(part, ignore_errors=True)
    return folder
