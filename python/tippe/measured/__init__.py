"""Measured motion: simulations held against recordings of the real world, and numbers identified from them.

    motions = tippe.measured.read("tosses.csv", body="cube", rate=148)
    table = tippe.measured.score("cube.json", motions)             # a row per motion
    print(tippe.measured.summarise(table))                         # medians, with intervals
    found = tippe.measured.fit("cube.json", motions, {"materials.acrylic.friction": (0.05, 0.5)})
    print(found)                                                   # values, intervals, held-out scores

The scene has the bodies, their shapes and materials; the motions say where the measured bodies were. Where a motion starts in free flight,
its start is fitted to that flight; the simulation goes on from there and is compared with the measured poses at the measured times. The same
driver serves other engines: `score` takes a function in place of a scene. docs/measured.md has the protocol.
"""

from __future__ import annotations

from .identification import Fit, fit
from .motions import FloatArray, Motion, Poses, read, write
from .scores import AFTER_TOUCH, Engine, paired_difference, score, simulate, summarise
from .starts import Start, fit_start, starts_of
from .turns import angle_between

__all__ = [
    "AFTER_TOUCH",
    "Engine",
    "Fit",
    "FloatArray",
    "Motion",
    "Poses",
    "Start",
    "angle_between",
    "fit",
    "fit_start",
    "paired_difference",
    "read",
    "score",
    "simulate",
    "starts_of",
    "summarise",
    "write",
]
