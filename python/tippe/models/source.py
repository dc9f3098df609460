"""XML with the places of its elements, includes put in."""

from __future__ import annotations

import xml.parsers.expat
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from .errors import ModelError

__all__ = ["Element", "Source", "parse"]


@dataclass
class Element:
    tag: str
    attributes: dict[str, str]
    file: str
    line: int
    children: list[Element] = field(default_factory=list)
    text: str = ""

    def walk(self) -> Iterator[Element]:
        yield self
        for child in self.children:
            yield from child.walk()

    def all(self, tag: str) -> list[Element]:
        return [child for child in self.children if child.tag == tag]

    def first(self, tag: str) -> Element | None:
        return next((child for child in self.children if child.tag == tag), None)

    def error(self, message: str) -> ModelError:
        return ModelError(message, self.file, self.line)


_MOST_ELEMENTS = 200_000  # of a file
_MOST_INCLUDES = 2000


def parse(path: Path) -> Element:
    """The root element of a file."""
    try:
        data = path.read_bytes()
    except OSError as error:
        raise ModelError(f"cannot be read: {error.strerror}", str(path)) from None
    parser = xml.parsers.expat.ParserCreate()
    top = Element("", {}, str(path), 1)
    open_elements = [top]
    texts: list[list[str]] = [[]]  # of the open elements, in pieces
    count = 0

    def start(tag: str, attributes: dict[str, str]) -> None:
        element = Element(tag, dict(attributes), str(path), parser.CurrentLineNumber)
        open_elements[-1].children.append(element)
        open_elements.append(element)
        texts.append([])
        if len(open_elements) > 1000:
            raise element.error("elements nest deeper than 1000")
        nonlocal count
        count += 1
        if count > _MOST_ELEMENTS:
            raise element.error(f"a file of more than {_MOST_ELEMENTS} elements")

    def end(_: str) -> None:
        open_elements.pop().text = "".join(texts.pop())

    def text(data: str) -> None:
        texts[-1].append(data)

    # MuJoCo's reader leaves entities out without a word, and a few of them can stand for gigabytes.
    def entity(name: str, *_: object) -> None:
        raise ModelError(f'the entity "{name}" is declared: write out what it stands for', str(path), parser.CurrentLineNumber)

    parser.StartElementHandler, parser.EndElementHandler, parser.CharacterDataHandler = start, end, text
    parser.EntityDeclHandler = entity
    try:
        parser.Parse(data, True)
    except xml.parsers.expat.ExpatError as error:
        raise ModelError(xml.parsers.expat.errors.messages[error.code], str(path), error.lineno) from None
    return top.children[0]


def _parse_utf8(path: Path) -> Element:
    """The root element of a file that MuJoCo reads too, which takes every file for UTF-8."""
    root = parse(path)
    data = path.read_bytes()
    try:
        data.decode("utf-8")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise ModelError("is not in UTF-8, as MuJoCo expects it: write it in that encoding", str(path), line) from None
    return root


class Source:
    """A model's XML with its includes and the models that it attaches."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.included = 0
        self.root = _parse_utf8(path)
        self._include(self.root, [path.resolve()])
        self.places: dict[tuple[str, str], tuple[str, int]] = {}
        for element in self.root.walk():
            name = element.attributes.get("name")
            if name:
                self.places.setdefault((element.tag, name), (element.file, element.line))
                self.places.setdefault((_family(element.tag), name), (element.file, element.line))
                self.places.setdefault(("", name), (element.file, element.line))

    def _include(self, element: Element, stack: list[Path]) -> None:
        children: list[Element] = []
        for child in element.children:
            if child.tag == "include":
                children += self._included(child, stack)
            else:
                self._include(child, stack)
                if child.tag == "model" and "file" in child.attributes:
                    child.children += self._included(child, stack, whole=True)
                children.append(child)
        element.children = children

    def _included(self, element: Element, stack: list[Path], whole: bool = False) -> list[Element]:
        name = element.attributes.get("file")
        if not name:
            raise element.error("an include without a file")
        found = next((p for p in (self.path.parent / name, Path(element.file).parent / name) if p.is_file()), None)
        if found is None:
            raise element.error(f'there is no file "{name}"')
        if found.resolve() in stack:
            raise element.error(f'"{name}" includes itself')
        self.included += 1
        if self.included > _MOST_INCLUDES:
            raise element.error(f"files are included more than {_MOST_INCLUDES} times")
        root = _parse_utf8(found)
        self._include(root, [*stack, found.resolve()])
        return [root] if whole else root.children

    def find(self, element: str, name: str | None) -> tuple[str, int]:
        """Where an element of a name stands; the file itself where that is not known."""
        if name:
            for key in ((element, name), ("", name)):
                if key in self.places:
                    return self.places[key]
            # Copies of replicated and attached parts have names that only those who refer to them write.
            user = next((e for e in self.root.walk() if name in e.attributes.values()), None)
            if user is not None:
                return user.file, user.line
        first = next((e for e in self.root.walk() if e.tag == element), None)
        return (first.file, first.line) if first is not None and not name else (str(self.path), 1)

    def nth(self, section: str, row: int, count: int) -> tuple[str, int] | None:
        """Where a part without a name stands, among so many of its kind; None if the source has another number of them."""
        parts = [part for element in self.root.walk() if element.tag == section for part in element.children]
        return (parts[row].file, parts[row].line) if len(parts) == count else None


_FAMILIES = {
    "equality": ("connect", "weld", "joint", "tendon"),
    "actuator": ("general", "motor", "position", "velocity", "intvelocity", "damper", "cylinder", "muscle", "adhesion", "pid", "dcmotor", "orientation"),
    "tendon": ("fixed", "spatial"),
}


def _family(tag: str) -> str:
    return next((family for family, tags in _FAMILIES.items() if tag in tags), tag)
