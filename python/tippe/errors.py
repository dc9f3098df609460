"""Exceptions of Tippe's own. Bad arguments are ValueError, files that cannot be read or written OSError."""

from __future__ import annotations

import re

__all__ = ["SceneError", "UnsupportedError"]

_PLACE = re.compile(r"^(?P<file>.*?):(?P<line>\d+):(?P<column>\d+): (?P<message>.*)$", re.DOTALL)


class SceneError(ValueError):
    """A scene that cannot be used, and where it is wrong.

    Lines and columns count from one. Where the scene was a dict, `path` names the key instead:
    ``bodies[1].mass``.
    """

    file: str | None
    """The file, or None where the error is not in one."""
    line: int | None
    column: int | None
    message: str
    """What is wrong, without the place."""
    path: str | None
    """The key of a scene given as a dict."""

    def __init__(self, text: str, path: str | None = None, file: str | None = None) -> None:
        super().__init__(text)
        match = _PLACE.match(text)
        self.file = match["file"] if match else file
        self.line = int(match["line"]) if match else None
        self.column = int(match["column"]) if match else None
        self.message = match["message"] if match else text
        self.path = path

    def __reduce__(self) -> tuple[type[SceneError], tuple[str, str | None, str | None]]:
        return SceneError, (str(self), self.path, self.file)


class UnsupportedError(RuntimeError):
    """Something that this build of Tippe, or this combination of shapes or steppers, cannot do."""
