"""Limits of coordinates that follow others: one stop for one motion."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from tippe import models

pytest.importorskip("mujoco")

KNEE = """<mujoco><compiler angle="radian"/><option gravity="0 0 -9.81"/><worldbody><body name="shin" pos="0 0 1">
<joint name="angle" type="hinge" axis="0 1 0" range="0 2.4" limited="true" armature="0.01" damping="0.1"/>
<joint name="up" type="slide" axis="0 0 1" range="{up}" limited="true" armature="0.01" damping="0.01"/>
<geom type="capsule" fromto="0 0 0 0.05 0 -0.4" size="0.03" mass="3" contype="0" conaffinity="0"/>
<body name="cap"><joint name="forth" type="slide" axis="1 0 0" range="{forth}" limited="true" armature="0.01" damping="0.01"/>
<geom type="sphere" size="0.02" mass="0.06" contype="0" conaffinity="0"/></body></body></worldbody>
<equality><joint joint1="up" joint2="angle" polycoef="7.69254e-11 0.00587971 0 0 0"/>
<joint joint1="forth" joint2="{leader}" polycoef="-0.0108281 -0.0487847 0 0 0"/>{more}</equality></mujoco>"""


def knee(tmp_path: Path, up: str = "7.69254e-11 0.02", forth: str = "-0.2 -0.0108281", leader: str = "angle", more: str = "") -> models.Scene:
    path = tmp_path / "knee.xml"
    path.write_text(KNEE.format(up=up, forth=forth, leader=leader, more=more))
    return models.convert(path)


def limits_of(scene: dict[str, Any]) -> dict[str, Any]:
    axes = [axis for joint in scene["joints"] for axis in joint.get("axes", [joint])]
    return {axis["name"]: axis.get("limits") for axis in axes}


def test_limits_of_followers_are_those_of_the_leader(tmp_path: Path) -> None:
    """The tighter limit counts, turned around by a negative factor; the report tells of each that has moved."""
    scene = knee(tmp_path)
    assert limits_of(scene) == {"angle": [pytest.approx(0, abs=1e-12), 2.4], "up": None, "forth": None}
    assert sorted(note.name for note in scene.report.of("rigid") if note.attribute == "range") == ["forth", "up"]
    low, high = limits_of(knee(tmp_path, up="0 0.00587971", forth="-0.0596128 0"))["angle"]
    assert (low, high) == (pytest.approx(0, abs=1e-12), pytest.approx(1, abs=1e-7))


def test_limits_move_along_chains(tmp_path: Path) -> None:
    """The last of a chain stops the first of it."""
    scene = knee(tmp_path, forth="-0.010829 0", leader="up")
    angle = (0.010829 - 0.0108281) / 0.0487847 / 0.00587971
    assert limits_of(scene) == {"angle": [pytest.approx(0, abs=1e-12), pytest.approx(angle, rel=1e-5)], "up": None, "forth": None}


def test_limits_that_cannot_move_stay(tmp_path: Path) -> None:
    """Those of a circle, and those that leave nothing of the leader's."""
    circle = knee(tmp_path, more='<joint joint1="angle" joint2="up" polycoef="0 170 0 0 0"/>')
    assert limits_of(circle)["angle"] == [0, 2.4]
    assert limits_of(circle)["up"] == [7.69254e-11, 0.02]
    apart = knee(tmp_path, up="-0.02 -0.01")
    assert limits_of(apart) == {"angle": [0, 2.4], "up": [-0.02, -0.01], "forth": None}


def test_urdf_followers(tmp_path: Path) -> None:
    """The same for `mimic`."""
    link = '<link name="{}"><inertial><mass value="1"/><inertia ixx="0.1" iyy="0.1" izz="0.1"/></inertial></link>'
    joint = '<joint name="{0}" type="{1}"><parent link="{2}"/><child link="{3}"/>{4}<limit lower="{5}" upper="{6}" effort="1" velocity="1"/></joint>'
    links = "".join(link.format(name) for name in ("base", "a", "b"))
    joints = joint.format("lead", "revolute", "base", "a", "", -1, 2)
    joints += joint.format("follow", "prismatic", "base", "b", '<mimic joint="lead" multiplier="-0.5" offset="0.1"/>', -0.4, 0.8)
    path = tmp_path / "r.urdf"
    path.write_text(f'<robot name="r">{links}{joints}</robot>')
    scene = models.convert(path)
    assert limits_of(scene) == {"lead": [pytest.approx(-1), pytest.approx(1)], "follow": None}
    assert any(note.name == "follow" and note.line for note in scene.report.of("rigid"))
