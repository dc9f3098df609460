"""What became of a model: every element and attribute that the scene does not carry, and every choice that was made."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import asdict, dataclass, field
from typing import Any

__all__ = ["KINDS", "Note", "Report"]

KINDS = {
    "missing": "not supported: the scene lacks it",
    "changed": "carried over in another form, which is not the same",
    "rigid": "has no meaning here: contacts, limits and equalities are rigid",
    "looks": "only for pictures, editors and controllers",
    "solver": "settings of the other program's solver and compiler",
    "chosen": "chosen by the converter, or switched off by the model itself",
}
"""The kinds of notes, worst first. `missing` and `changed` alter the motion; `rigid` is what a soft contact needs."""

_STRICT = ("missing", "changed", "rigid")


@dataclass(frozen=True)
class Note:
    """One line of a report."""

    kind: str
    element: str
    attribute: str | None
    message: str
    name: str | None = None
    file: str | None = None
    line: int | None = None

    def text(self) -> str:
        place = f"{self.file}:{self.line}: " if self.file and self.line else f"{self.file}: " if self.file else ""
        what = self.element + (f' "{self.name}"' if self.name else "")
        what += f", {self.attribute}" if self.attribute else ""
        return f"{place}{what}: {self.message}"


@dataclass
class Report:
    """Notes on a conversion, and what the scene holds."""

    source: str
    notes: list[Note] = field(default_factory=list)
    counts: dict[str, int] = field(default_factory=dict)
    keyframes: list[str] = field(default_factory=list)
    keyframe: str | None = None
    renamed: dict[str, str] = field(default_factory=dict)

    def add(
        self,
        kind: str,
        element: str,
        attribute: str | None,
        message: str,
        name: str | None = None,
        place: tuple[str, int] | None = None,
    ) -> None:
        note = Note(kind, element, attribute, message, name, *(place or (None, None)))
        assert kind in KINDS, kind
        if note not in self.notes:
            self.notes.append(note)

    def of(self, *kinds: str) -> Iterator[Note]:
        return (note for note in self.notes if note.kind in kinds)

    @property
    def is_strict(self) -> bool:
        """Whether everything that the model says about motion is in the scene as it was."""
        return not any(self.of(*_STRICT))

    def text(self) -> str:
        lines: list[str] = []
        for kind, meaning in KINDS.items():
            notes = list(self.of(kind))
            if notes:
                lines.append(f"{kind} ({len(notes)}): {meaning}")
                lines += ["  " + note.text() for note in notes]
        if self.renamed:
            lines.append(f"names ({len(self.renamed)}): changed, or one with another's")
            lines += [f"  {old} -> {new}" for old, new in self.renamed.items()]
        counts = ", ".join(f"{number} {name}" for name, number in self.counts.items() if number)
        lines.append(f"{self.source}: {counts}")
        if self.keyframes:
            lines.append(f"keyframes: {', '.join(self.keyframes)}; the scene starts at {self.keyframe or 'none'}")
        return "\n".join(lines) + "\n"

    def to_dict(self) -> dict[str, Any]:
        return {
            "source": self.source,
            "strict": self.is_strict,
            "kinds": KINDS,
            "counts": self.counts,
            "keyframes": self.keyframes,
            "keyframe": self.keyframe,
            "renamed": self.renamed,
            "notes": [asdict(note) for note in self.notes],
        }

    def json(self) -> str:
        return json.dumps(self.to_dict(), indent=1) + "\n"
