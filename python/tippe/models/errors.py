"""What can be wrong with a model."""

from __future__ import annotations

__all__ = ["ModelError"]


class ModelError(ValueError):
    """A model that cannot be read: the message says where and why. `file` and `line` where they are known."""

    def __init__(self, message: str, file: str | None = None, line: int | None = None) -> None:
        place = f"{file}:{line}: " if file and line else f"{file}: " if file else ""
        super().__init__(place + message)
        self.file = file
        self.line = line
