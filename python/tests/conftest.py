"""What the tests share."""

from __future__ import annotations

import csv
import subprocess
from pathlib import Path

import matplotlib
import pytest
import tippe
from tippe.program import program_path

matplotlib.use("agg")

STEPPERS = [name for name in tippe.steppers() if name != "free-flight"]


@pytest.fixture
def ball_world() -> tippe.World:
    """A floor, and a ball of 0.1 m that rests on it."""
    world = tippe.World(gravity=(0, 0, -10))
    rubber = tippe.Material(friction=0.5)
    world.add_body("floor", kind="fixed").add_plane(material=rubber)
    ball = world.add_body("ball", position=(0, 0, 0.1))
    ball.add_sphere(0.1, density=1000, material=rubber)
    return world


def read_table(path: Path) -> dict[str, list[float | str]]:
    """The columns of a CSV file. Numbers are read to the last bit, which pandas does from version 3 on."""

    def value(cell: str) -> float | str:
        try:
            return float(cell)
        except ValueError:
            return cell

    with path.open(newline="") as stream:
        head, *rows = csv.reader(stream)
    return {name: [value(row[place]) for row in rows] for place, name in enumerate(head)}


def run_program(*arguments: str, cwd: Path) -> str:
    """Runs the program that came with the package."""
    done = subprocess.run([program_path(), *arguments], cwd=cwd, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout
