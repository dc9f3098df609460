"""Mesh files that go with a scene."""

from __future__ import annotations

import re
import warnings
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np

from .errors import ModelError
from .model import Mesh
from .report import Report

__all__ = ["Color", "is_flat", "is_ours", "load_surfaces", "mesh_text", "need_mesh_readers", "simplify"]

Color: TypeAlias = tuple[float, float, float]
Surface: TypeAlias = tuple[Any, Any, "Color | None"]
"""Corners, triangles and the colour, 0 to 1 each."""

_MARK = "# written by tippe-import\n"


def simplify(mesh: Mesh, most: int, report: Report) -> Mesh:
    """The surface with at most so many triangles, told in the report."""
    if mesh.triangles is None or len(mesh.triangles) <= most:
        return mesh
    try:
        import fast_simplification

        share = 1.0 - most / len(mesh.triangles)
        shrink: Any = fast_simplification.simplify  # its types differ from version to version
        corners, triangles = shrink(mesh.corners.astype(np.float32), mesh.triangles.astype(np.int32), target_reduction=share)[:2]
        made = Mesh(mesh.name, np.asarray(corners, dtype=float), np.asarray(triangles, dtype=np.int64))
    except ImportError:
        made = _cluster(mesh, most)
    shown = 0 if made.triangles is None else len(made.triangles)
    report.add("looks", "mesh", None, f"shown with {shown} of {len(mesh.triangles)} triangles", mesh.name)
    return made


def _cluster(mesh: Mesh, most: int) -> Mesh:
    """Corners in one cell of a grid become one; the grid is coarsened until few enough triangles are left."""
    assert mesh.triangles is not None
    low, size = mesh.corners.min(axis=0), np.ptp(mesh.corners, axis=0).max() or 1.0
    cells = int(np.sqrt(most))
    while True:
        keys = np.floor((mesh.corners - low) / size * cells).astype(np.int64)
        _, first, number = np.unique(keys, axis=0, return_index=True, return_inverse=True)
        triangles = number.reshape(-1)[mesh.triangles]
        kept = (triangles[:, 0] != triangles[:, 1]) & (triangles[:, 1] != triangles[:, 2]) & (triangles[:, 2] != triangles[:, 0])
        triangles = np.unique(triangles[kept], axis=0)
        if len(triangles) <= most or cells < 4:
            return Mesh(mesh.name, mesh.corners[first], triangles)
        cells = cells * 3 // 4


def is_ours(path: Path) -> bool:
    """Whether a mesh file was written by tippe-import, which may then replace it."""
    if path.suffix != ".obj" or not path.is_file():
        return False
    with path.open("rb") as file:
        return file.read(len(_MARK)) == _MARK.encode()


def mesh_text(mesh: Mesh) -> str:
    """OBJ: a hull with all digits, a surface that is only seen with seven."""
    digits = "%.17g" if mesh.triangles is None else "%.7g"
    lines = [("v " + " ".join([digits] * 3)) % tuple(corner) for corner in mesh.corners]
    for triangle in mesh.triangles if mesh.triangles is not None else ():
        lines.append("f %d %d %d" % tuple(int(i) + 1 for i in triangle))
    return _MARK + "\n".join(lines) + "\n"


def need_mesh_readers() -> None:
    """Refuses to go on without the packages that read meshes."""
    try:
        import collada  # noqa: F401
        import trimesh  # noqa: F401
    except ImportError as error:
        raise ModelError(f"meshes of URDF are read by the packages trimesh and pycollada: pip install trimesh pycollada ({error})") from None


def is_flat(corners: Any) -> bool:
    """Whether points lie in one plane, on a line or in one place: they have no hull."""
    sizes = np.linalg.svd(corners - corners.mean(axis=0), compute_uv=False)
    return len(sizes) < 3 or not sizes[2] > 1e-12 * sizes[0]


def load_surfaces(path: Path) -> list[Surface]:
    """The surfaces of a mesh file of any kind that trimesh reads, in metres: one for each colour that the file gives."""
    import trimesh

    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)  # of corners that are not finite: these are refused
        try:
            loaded: Any = trimesh.load(str(path), process=False)
        except ImportError:  # what trimesh guesses encodings with is not installed
            raise ValueError("it is not a file of its kind, or in an unusual encoding") from None
        parts: list[Any] = [loaded] if not isinstance(loaded, trimesh.Scene) else _instances(loaded)
    by_color: dict[Color | None, list[tuple[Any, Any]]] = {}
    for part in parts:
        if hasattr(part, "faces"):
            surface = np.asarray(part.vertices, dtype=float) * _unit(path), np.asarray(part.faces, dtype=np.int64)
            by_color.setdefault(_color(part), []).append(surface)
    return [(*_joined(surfaces), color) for color, surfaces in by_color.items()]


def _instances(scene: Any) -> list[Any]:
    """Geometries of a scene at their places; one may stand at several."""
    made = []
    for node in scene.graph.nodes_geometry:
        place, name = scene.graph[node]
        part = scene.geometry[name].copy()
        part.apply_transform(place)
        made.append(part)
    return made


def _joined(surfaces: list[tuple[Any, Any]]) -> tuple[Any, Any]:
    starts = np.cumsum([0, *(len(corners) for corners, _ in surfaces)])
    return np.vstack([corners for corners, _ in surfaces]), np.vstack([faces + start for (_, faces), start in zip(surfaces, starts[:-1], strict=True)])


def _color(part: Any) -> Color | None:
    """The colour of a geometry's material, if it has one: that of trimesh's own choice is none."""
    material = getattr(part.visual, "material", None)
    color = getattr(material, "baseColorFactor", None)
    color = getattr(material, "diffuse", None) if color is None and hasattr(material, "ambient") else color
    if color is None or len(color) < 3:
        return None
    return float(color[0]) / 255, float(color[1]) / 255, float(color[2]) / 255


def _unit(path: Path) -> float:
    """Metres per unit of a COLLADA file; trimesh does not apply it. Other kinds have none."""
    if path.suffix.lower() != ".dae":
        return 1.0
    with path.open("rb") as file:
        found = re.search(rb"<unit\b[^>]*\bmeter\s*=\s*[\"']([^\"']+)[\"']", file.read(1 << 16))
    unit = float(found[1]) if found else 1.0
    if not 1e-9 < unit < 1e9:
        raise ValueError(f"its unit is {unit:g} m")
    return unit
