"""Links of a URDF that overlap where the model begins.

Collision shapes of URDF are made large, and neighbours reach into each other. Which pairs are not meant to collide is told by files of
planners (SRDF), not by the model: what overlaps where all joints are at their start is taken for such a pair, as those files are made.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from .. import load

if TYPE_CHECKING:
    from .report import Report

__all__ = ["exclude_overlaps"]

# Overlap that is taken for one, m.
_LEAST = 1e-4


def exclude_overlaps(scene: dict[str, Any], report: Report) -> None:
    """Bodies that overlap do not collide, with a note for each pair."""
    depths: dict[tuple[str, str], float] = {}
    for overlap in load(scene).overlaps(_LEAST):
        a, b = sorted((overlap.shape_a.body.name, overlap.shape_b.body.name))
        depths[a, b] = max(depths.get((a, b), 0.0), overlap.depth)
    for (a, b), depth in sorted(depths.items()):
        scene.setdefault("excludes", []).append({"bodies": [a, b]})
        report.add("chosen", "collision", None, f"{a} and {b} overlap by {depth:.2g} m at the start: they do not collide with each other")
