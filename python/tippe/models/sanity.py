"""Models that nobody can mean: too many parts, numbers that are none."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

from .errors import ModelError
from .source import Element, Source

__all__ = ["check_counts", "check_scene", "check_source"]

# Parts of one model. Beyond that the matrices of who meets whom no longer fit into memory.
_MOST = {"body": 5000, "link": 5000, "geom": 10000, "collision": 10000, "visual": 10000, "joint": 20000, "site": 20000}
_MOST_HEIGHTS = 10_000_000

_MOST_PIXELS = 100_000_000
# Sizes of arrays that MuJoCo allocates whatever the model holds.
_MOST_SIZES = {"nkey": 10_000, "nuserdata": 10_000_000, "nuser_": 1000}

_LARGEST = 1e100

# Attributes that are names, and may look like numbers.
_NAMES = ("name", "class", "childclass", "model", "file", "prefix", "suffix", "target", "objname", "refname")

# Attributes whose first number is not below zero, though the compiler takes it.
_NOT_NEGATIVE = {
    "joint": ("stiffness", "damping", "armature", "frictionloss"),
    "fixed": ("stiffness", "damping", "armature", "frictionloss"),
    "geom": ("friction",),
    "pair": ("friction",),
}

# Attributes whose numbers reach the scene. Ranges may be infinite.
_NUMBERS = frozenset(
    "pos quat axisangle xyaxes zaxis euler fromto size mass density diaginertia fullinertia axis ref springref stiffness damping armature frictionloss "
    "friction gravity timestep gravcomp gear kp kv gainprm biasprm anchor relpose polycoef coef scale vertex elevation qpos qvel act ctrl mpos mquat".split()
)


def check_source(source: Source) -> None:
    """Refuses an MJCF file that asks for more parts than can be, or for numbers that nobody can mean, before it is compiled."""
    check_counts(source.root)
    for element in source.root.walk():
        for attribute, text in element.attributes.items():
            if attribute not in _NAMES and "nan" in text.lower().split():
                raise element.error(f'{attribute}: "{text}" is not a number')
            if attribute in _NUMBERS and (absurd := _absurd(text)) is not None:
                raise element.error(f'{attribute}: {absurd} is not a number that a robot can have')
        for attribute in _NOT_NEGATIVE.get(element.tag, ()):
            if _first(element, attribute, 0.0) < 0:
                raise element.error(f'{attribute}: must be zero or more, found "{element.attributes[attribute]}"')
        if element.tag == "option" and not _first(element, "timestep", 1.0) > 0:
            raise element.error(f'timestep: must be greater than zero, found "{element.attributes["timestep"]}"')
        if element.tag == "hfield":
            _check_heights(element)
        if element.tag == "texture" and _whole(element, "width") * max(_whole(element, "height"), 1) > _MOST_PIXELS:
            raise element.error(f"a texture of more than {_MOST_PIXELS} pixels")
        if element.tag == "size":
            _check_sizes(element)


def check_counts(root: Element) -> None:
    """Refuses a model that asks for more parts than can be."""
    _count(root, 1, dict.fromkeys(_MOST, 0))


def _count(element: Element, times: int, counts: dict[str, int]) -> None:
    if element.tag in counts:
        counts[element.tag] += times
        if counts[element.tag] > _MOST[element.tag]:
            raise element.error(f"the model has more than {_MOST[element.tag]} elements <{element.tag}>")
    if element.tag == "replicate":
        times *= max(_whole(element, "count"), 0)
    for child in element.children:
        _count(child, times, counts)


def _absurd(text: str) -> str | None:
    """The first word of a text that is a number beyond all measure."""
    for word in text.split():
        try:
            if abs(float(word)) > _LARGEST:
                return word
        except ValueError:
            pass  # the compiler says what is wrong
    return None


def _whole(element: Element, attribute: str) -> int:
    try:
        return int(element.attributes.get(attribute, "0"))
    except ValueError:
        return 0  # the compiler says what is wrong


def _first(element: Element, attribute: str, missing: float) -> float:
    try:
        return float(element.attributes.get(attribute, "").split()[0])
    except (IndexError, ValueError):
        return missing  # the compiler says what is wrong


def _check_heights(element: Element) -> None:
    count = _whole(element, "nrow") * _whole(element, "ncol")
    if count > _MOST_HEIGHTS:
        raise element.error(f"a height field of {count} points: {_MOST_HEIGHTS} are the most")


def _check_sizes(element: Element) -> None:
    for attribute in element.attributes:
        most = next((most for name, most in _MOST_SIZES.items() if attribute.startswith(name)), None)
        if most is not None and _whole(element, attribute) > most:
            raise element.error(f"{attribute}: {most} is the most")


def _numbers(value: Any, place: str) -> Iterator[tuple[str, float]]:
    if isinstance(value, dict):
        for key, item in value.items():
            yield from _numbers(item, f"{place}.{key}" if place else str(key))
    elif isinstance(value, list):
        for k, item in enumerate(value):
            name = item.get("name") if isinstance(item, dict) else None
            yield from _numbers(item, f'{place} "{name}"' if name else f"{place}[{k}]")
    elif isinstance(value, float):
        yield place, value


def check_scene(scene: dict[str, Any], source: str) -> None:
    """Refuses a model whose scene could not be loaded: what the compiler of the source lets pass may still be no law that a joint can have."""
    for place, value in _numbers(scene, ""):
        if not math.isfinite(value) or abs(value) > _LARGEST:
            raise ModelError(f"{place}: {value:g} is not a number that a robot can have", source)
    from .. import SceneError, load

    try:
        load(scene)
    except SceneError as error:
        raise ModelError(f"there is no scene of it: {' '.join(str(error).split())}", source) from None
