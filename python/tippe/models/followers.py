"""Limits of coordinates that follow others.

A rigid coupling of two coordinates, first = value + factor * second, makes their limits limits of one motion.
Where both reach theirs at once, as a knee whose slides follow its angle does when it is stretched, the same stop
is in the scene several times, with numbers that differ by rounding: stops that contradict each other by 1e-10.
So the limits of the one that follows become those of the one that it follows, which allows the same motions.
"""

from __future__ import annotations

from collections.abc import Callable

from .model import Coupling, Laws, Model

__all__ = ["move_limits", "note_passed_limits"]

_PASSED = 1e-9  # rad or m: less is rounding


def move_limits(model: Model, note: Callable[[str, str], None]) -> None:
    """Moves limits along couplings, those that others follow last; `note` gets a message and the follower's name."""
    laws = {axis.name: axis.laws for joint in model.joints for axis in joint.axes}
    waiting = [c for c in model.couplings if c.value is not None and len(c.terms) == 2 and all(name in laws for name, _ in c.terms)]
    while waiting:
        ready = [c for c in waiting if not any(c is not other and c.terms[0][0] == other.terms[1][0] for other in waiting)]
        if not ready:
            return  # they follow each other in a circle
        for coupling in ready:
            _move(coupling, laws, note)
        waiting = [c for c in waiting if not any(c is one for one in ready)]


def _move(coupling: Coupling, laws: dict[str, Laws], note: Callable[[str, str], None]) -> None:
    (first, share), (second, other) = coupling.terms
    limits = laws[first].limits
    if first == second or limits is None or share == 0 or other == 0:
        return
    low, high = sorted(((coupling.value or 0.0) - share * limit) / other for limit in limits)
    own = laws[second].limits
    if own is not None:
        low, high = max(low, own[0]), min(high, own[1])
    if low > high:
        return  # no position is within the limits of both: that is the model's to say
    laws[first].limits, laws[second].limits = None, (low, high)
    note(f'"{second}" has its limits: both move as one', first)


def note_passed_limits(model: Model, note: Callable[[str, str], None]) -> None:
    """Tells which coordinates and sums of them start beyond their limits."""
    values = {axis.name: axis.value for joint in model.joints for axis in joint.axes}
    starts = [(axis.name, axis.value, axis.laws.limits) for joint in model.joints for axis in joint.axes]
    starts += [(c.name, sum(factor * values[name] for name, factor in c.terms), c.limits) for c in model.couplings]
    for name, value, limits in starts:
        if limits is not None and not limits[0] - _PASSED <= value <= limits[1] + _PASSED:
            note(f"starts at {value:.6g}, beyond its limits from {limits[0]:.6g} to {limits[1]:.6g}: the first steps bring it back", name)
