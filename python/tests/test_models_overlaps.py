"""Links that overlap so deep at the start that there is no way out."""

from __future__ import annotations

from pathlib import Path

import pytest
import tippe
from tippe import models

pytest.importorskip("mujoco")

# A cart whose arm stands at the foot of its lift, the hand inside of the cart. The servo of the lift takes it out.
CART = """<mujoco><worldbody><geom type="plane" size="5 5 .1"/><body name="cart" pos="0 0 .1"><freejoint/><geom type="box" size=".2 .2 .1"/>
<body name="mast" pos="0 0 .1"><joint name="lift" type="slide" axis="0 0 1" range="0 1"/><geom size=".01" mass=".5" contype="0" conaffinity="0"/>
<body name="hand" pos=".1 0 {height}"><joint name="bend" axis="0 1 0" range="-1 1"/><geom type="box" size=".03 .03 .02" mass=".2"/></body></body></body></worldbody>
<actuator><position joint="lift" kp="500" kv="50"/><position joint="bend" kp="20" kv="1"/></actuator>
<keyframe><key name="home" ctrl=".3 0"/></keyframe></mujoco>"""


@pytest.mark.parametrize("height", [-0.04, 0.01])
def test_links_beyond_the_middle_of_each_other_do_not_collide(tmp_path: Path, height: float) -> None:
    (tmp_path / "model.xml").write_text(CART.format(height=height))
    scene = models.convert(tmp_path / "model.xml")
    is_through = height < 0.0
    assert ({"bodies": ["cart", "hand"]} in scene.get("excludes", [])) == is_through
    assert any("beyond the middle of a geom" in note.message for note in scene.report.of("changed")) == is_through
    world = tippe.load(scene)
    reports = [world.step(0.005) for _ in range(100)]
    assert all(report.certified for report in reports[1:])
    assert world["hand"].position[2] > 0.2 + height + 0.05


def test_geoms_beyond_the_middle_of_what_is_fixed_are_pushed_out(tmp_path: Path) -> None:
    """A foot below the floor stands on it, however deep it begins."""
    (tmp_path / "model.xml").write_text(
        """<mujoco><worldbody><geom type="box" size="1 1 .5" pos="0 0 -.5"/><body name="foot" pos="0 0 -.03"><freejoint/><geom type="box" size=".1 .1 .02"/></body></worldbody></mujoco>"""
    )
    scene = models.convert(tmp_path / "model.xml")
    assert not scene.get("excludes")
    world = tippe.load(scene)
    for _ in range(20):
        world.step(0.005)
    assert abs(world["foot"].position[2] - 0.02) < 1e-6


# A leg through a table: its shin is to be pushed up, its foot down.
TABLE = """<mujoco><worldbody><geom type="box" size="1 1 .05" pos="0 0 -.05"/><body name="leg" pos="0 0 {height}"><freejoint/>
<geom type="box" size=".02 .02 .03" mass="1"/><geom type="box" size=".01 .01 .03" pos=".05 0 -.045" mass="1"/></body></worldbody></mujoco>"""


@pytest.mark.parametrize("height", [-0.03, 0.02])
def test_bodies_that_a_fixed_one_would_push_both_ways_do_not_collide(tmp_path: Path, height: float) -> None:
    (tmp_path / "model.xml").write_text(TABLE.format(height=height))
    scene = models.convert(tmp_path / "model.xml")
    is_torn = height < 0.0
    assert ({"bodies": ["leg", "world"]} in scene.get("excludes", [])) == is_torn
    assert any("beyond the middle of a geom" in note.message for note in scene.report.of("changed")) == is_torn
    world = tippe.load(scene)
    reports = [world.step(0.005) for _ in range(20)]
    assert all(report.certified for report in reports[1:])
    # It falls through, or has come to stand on its foot.
    assert (world["leg"].position[2] < height - 0.02) == is_torn


def test_feet_in_a_height_field_stand_on_it(tmp_path: Path) -> None:
    """Deep in a slope the ways out of neighbouring triangles contradict each other."""
    heights = " ".join(str(abs(k % 5 - 2) / 2) for k in range(25))
    (tmp_path / "model.xml").write_text(
        f"""<mujoco><asset><hfield name="h" nrow="5" ncol="5" size=".2 .2 .05 .1" elevation="{heights}"/></asset><worldbody><geom type="hfield" hfield="h"/>
<body name="foot" pos="0 0 -.005"><freejoint/><geom size=".008" pos="-.02 .02 0"/><geom size=".008" pos=".02 .02 0"/></body></worldbody></mujoco>"""
    )
    assert not models.convert(tmp_path / "model.xml").get("excludes")
