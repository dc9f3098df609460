"""Scenes by name, from files and from dicts."""

from __future__ import annotations

import json
import math
import os
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Union

from . import _core
from .errors import SceneError

__all__ = ["SceneLike", "path_of", "read", "scenes"]

SceneLike = Union[str, "os.PathLike[str]", Mapping[str, Any]]
"""The name of a scene that came with Tippe, the path of a file, or a dict with the keys of one."""

_FOLDER = Path(__file__).parent / "scenes"


def scenes() -> list[str]:
    """Names of the scenes that came with Tippe, for tippe.load."""
    found = (path.relative_to(_FOLDER).with_suffix("").as_posix() for path in _FOLDER.rglob("*.json"))
    return sorted(found)


def path_of(scene: str | os.PathLike[str]) -> Path:
    """The file of a scene: the path as given, or that of a scene that came with Tippe."""
    path = Path(scene)
    if path.is_file():
        return path
    name = os.fspath(scene)
    if not path.is_absolute() and not name.startswith("."):
        # NAME, NAME.json, and NAME/NAME.json of a folder with its meshes and tables.
        for shipped in (_FOLDER / name, _FOLDER / f"{name}.json", _FOLDER / name / f"{path.name}.json"):
            if shipped.is_file():
                return shipped
    if path.suffix == ".json" or len(path.parts) > 1:
        raise SceneError(f"{name}: there is no such file", file=name)
    near = _near(name)
    hint = f"; did you mean {near}?" if near else "; tippe.scenes() lists those that came with Tippe"
    raise SceneError(f"{name}: there is no file and no scene of this name{hint}", file=name)


def _near(name: str) -> str:
    import difflib

    return " or ".join(difflib.get_close_matches(name, scenes(), n=2))


def read(scene: str | os.PathLike[str]) -> dict[str, Any]:
    """The keys of a scene file as a dict, comments left out: to change some and load the result.

        scene = tippe.read_scene("block_ramp")
        scene["materials"]["wood"]["friction"] = 0.3
        world = tippe.load(scene)

    Files that the scene names (meshes, includes) are made absolute, so that the dict can be loaded anywhere.
    """
    path = path_of(scene)
    _core._read_scene(str(path))  # says what is wrong, with line and column
    text = path.read_text(encoding="utf-8")
    made: dict[str, Any] = json.loads(_without_comments(text))
    _make_absolute(made, path.parent.resolve())
    return made


def _without_comments(text: str) -> str:
    """JSON without `//` and `/* */` comments and without commas before a closing bracket."""
    out: list[str] = []
    i = 0
    while i < len(text):
        c = text[i]
        if c == '"':
            end = i + 1
            while text[end] != '"':
                end += 2 if text[end] == "\\" else 1
            out.append(text[i : end + 1])
            i = end + 1
        elif text.startswith("//", i):
            end = text.find("\n", i)
            i = len(text) if end < 0 else end
        elif text.startswith("/*", i):
            i = text.index("*/", i) + 2
        elif c in "]}":
            k = len(out) - 1
            while k >= 0 and out[k].isspace():
                k -= 1
            if k >= 0 and out[k] == ",":
                del out[k]
            out.append(c)
            i += 1
        else:
            out.append(c)
            i += 1
    return "".join(out)


def _make_absolute(value: Any, folder: Path) -> None:
    if isinstance(value, dict):
        for key, item in value.items():
            if key in ("file", "reference", "include") and isinstance(item, str):
                value[key] = str(folder / item)
            elif key == "include" and isinstance(item, list):
                value[key] = [str(folder / path) if isinstance(path, str) else path for path in item]
            else:
                _make_absolute(item, folder)
    elif isinstance(value, list):
        for item in value:
            _make_absolute(item, folder)


class _Text:
    """A dict written as JSON, with the place of every value."""

    def __init__(self, scene: Mapping[str, Any]) -> None:
        self.pieces: list[str] = []
        self.line = 1
        self.column = 1
        self.places: dict[tuple[int, int], str] = {}
        self._write(scene, "", 0)
        self.text = "".join(self.pieces)

    def _put(self, piece: str) -> None:
        self.pieces.append(piece)
        self.column += len(piece)

    def _new_line(self, depth: int) -> None:
        self.pieces.append("\n" + " " * depth)
        self.line += 1
        self.column = depth + 1

    def _write(self, value: Any, path: str, depth: int) -> None:
        self.places.setdefault((self.line, self.column), path)
        if isinstance(value, Mapping):
            self._put("{")
            for i, (key, item) in enumerate(value.items()):
                self._put("," if i else "")
                self._new_line(depth + 1)
                inner = f"{path}.{key}" if path else str(key)
                self.places[(self.line, self.column)] = inner
                self._put(json.dumps(str(key)) + ": ")
                self._write(item, inner, depth + 1)
            self._put("}")
        elif hasattr(value, "tolist"):
            self._write(value.tolist(), path, depth)
        elif isinstance(value, (list, tuple)):
            self._put("[")
            for i, item in enumerate(value):
                self._put(", " if i else "")
                self._write(item, f"{path}[{i}]", depth)
            self._put("]")
        else:
            self._put(_scalar(value, path))

    def find(self, line: int, column: int) -> str | None:
        """The key at a place, or the last one before it."""
        before = [place for place in self.places if place <= (line, column)]
        return self.places[max(before)] or None if before else None


def _scalar(value: Any, path: str) -> str:
    if value is None or isinstance(value, (bool, str)):
        return json.dumps(value)
    if isinstance(value, os.PathLike):
        return json.dumps(os.fspath(value))
    try:
        number = value if isinstance(value, int) else float(value)
    except (TypeError, ValueError):
        raise SceneError(f"{path}: {type(value).__name__} has no place in a scene", path) from None
    if not math.isfinite(number):
        raise SceneError(f"{path}: expected a finite number, found {value!r}", path)
    return repr(number)


def open_scene(scene: SceneLike) -> Any:
    """The scene as the C library holds it."""
    if isinstance(scene, (str, os.PathLike)):
        return _core._read_scene(str(path_of(scene)))
    if not isinstance(scene, Mapping):
        raise ValueError(f"scene: expected a name, a path or a dict, got {type(scene).__name__}")
    written = _Text(scene)
    try:
        return _core._parse_scene(written.text, "scene")
    except SceneError as error:
        if error.line is None or error.column is None:
            raise
        path = written.find(error.line, error.column)
        made = SceneError(f"{path or 'scene'}: {error.message}", path)
        made.line, made.column, made.message = error.line, error.column, error.message
        raise made from None


def open_text(scene: Mapping[str, Any]) -> Any:
    """As open_scene for a dict of plain numbers, lists and texts; quicker."""
    try:
        return _core._parse_scene(json.dumps(scene), "scene")
    except (SceneError, TypeError, ValueError):
        return open_scene(scene)  # says what is wrong by its key


def check_path(scene: Mapping[str, Any], path: str) -> None:
    """Raises a ValueError where a path leads nowhere in a scene."""
    with_paths(dict(scene), {path: 0})


def settings_of(options: Mapping[str, Any]) -> Iterator[str]:
    """Options as the C library takes them: name=value."""
    for name, value in options.items():
        if isinstance(value, bool):
            yield f"{name}={'true' if value else 'false'}"
        elif isinstance(value, str):
            yield f"{name}={value}"
        else:
            yield f"{name}={value!r}" if isinstance(value, int) else f"{name}={float(value)!r}"


def set_path(scene: dict[str, Any], path: str, value: Any) -> None:
    """Changes one value of a scene given as a dict, by its path: ``materials.wood.friction``.

    A part of a path is a key, or in a list the `name` of an item or its number. ``stepper``, ``step``,
    ``until`` and ``options.X`` stand for those of ``simulation``.
    """
    _set(scene, path, value, copies=False)


def with_paths(scene: dict[str, Any], values: Mapping[str, Any]) -> dict[str, Any]:
    """The scene with some values changed, as set_path does. The scene itself stays as it is; what is not
    changed is shared with it."""
    changed = dict(scene)
    for path, value in values.items():
        _set(changed, path, value, copies=True)
    return changed


def _set(scene: dict[str, Any], path: str, value: Any, copies: bool) -> None:
    parts = path.split(".")
    if parts[0] in ("stepper", "step", "until", "options"):
        parts.insert(0, "simulation")
    place: Any = scene
    for i, part in enumerate(parts[:-1]):
        child = _child(place, part, ".".join(parts[: i + 1]), make=True)
        if copies and isinstance(child, (dict, list)):
            child = child.copy()
            place[_index(place, part, path) if isinstance(place, list) else part] = child
        place = child
    last = parts[-1]
    if isinstance(place, dict):
        _check_known(place, last, path, parts)
        place[last] = value
    elif isinstance(place, list):
        place[_index(place, last, path)] = value
    else:
        raise ValueError(f"{path}: there is nothing inside {'.'.join(parts[:-1])} in this scene")


def get_path(scene: Mapping[str, Any], path: str) -> Any:
    """The value at a path of a scene given as a dict, as set_path takes it."""
    parts = path.split(".")
    if parts[0] in ("stepper", "step", "until", "options"):
        parts.insert(0, "simulation")
    place: Any = scene
    for i, part in enumerate(parts):
        place = _child(place, part, ".".join(parts[: i + 1]), make=False)
    return place


_NEW = ("simulation", "options", "servo", "motor", "spring", "parameters")
_NEW_VECTORS = ("center_of_mass", "velocity", "angular_velocity")


def _child(place: Any, part: str, path: str, make: bool) -> Any:
    if isinstance(place, list):
        return place[_index(place, part, path)]
    if isinstance(place, dict):
        if part not in place and make and part in _NEW:
            place[part] = {}
        if part not in place and make and part in _NEW_VECTORS:
            place[part] = [0.0, 0.0, 0.0]
        if part in place:
            return place[part]
        raise ValueError(f"{path}: the scene has no such key; there are {_listed(place)}")
    raise ValueError(f"{path}: there is nothing inside it in this scene")


def _index(items: Sequence[Any], part: str, path: str) -> int:
    names = [item.get("name") if isinstance(item, Mapping) else None for item in items]
    if part in names:
        return names.index(part)
    if part.isdigit() and int(part) < len(items):
        return int(part)
    known = [name for name in names if name]
    raise ValueError(f"{path}: there is no such item; there are {', '.join(known[:20]) or len(items)}")


def _check_known(place: dict[str, Any], key: str, path: str, parts: list[str]) -> None:
    """Names of materials and parameters are the scene's own: a new one is a mistake in the path."""
    if parts[:-1] in (["materials"], ["parameters"]) and key not in place:
        raise ValueError(f"{path}: the scene has no such name; there are {_listed(place)}")


def _listed(place: Mapping[str, Any]) -> str:
    return ", ".join(list(place)[:20])
