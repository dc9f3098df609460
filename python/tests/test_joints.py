"""Joints: coordinates that are read, set and driven, one by one and as arrays; snapshots."""

from __future__ import annotations

import math
import subprocess
import sys

import numpy as np
import pytest
import tippe


def make_pendulum(**laws: object) -> tuple[tippe.World, tippe.Joint]:
    """A ball of mass m on an arm of 1 m that lies along x at first; turns about y, down is positive."""
    world = tippe.World(gravity=(0, 0, -10), step=1e-3)
    ball = world.add_body("ball", position=(1, 0, 0))
    ball.add_sphere(0.1, density=1000)
    return world, world.add_joint("revolute", None, ball, name="hinge", anchor=(0, 0, 0), axis=(0, 1, 0), **laws)  # type: ignore[arg-type]


def test_values_are_read_and_set():
    world, hinge = make_pendulum(zero=0.25)
    assert world.joints["hinge"] == hinge and list(world.joints) == ["hinge"] and "knee" not in world.joints
    assert hinge.value == pytest.approx(0.25) and hinge.zero == 0.25
    hinge.value = 0.25 + math.pi / 2
    assert world["ball"].position == pytest.approx([0, 0, -1], abs=1e-12)
    hinge.speed = 3.0
    assert world["ball"].velocity == pytest.approx([-3, 0, 0], abs=1e-12)
    assert (hinge.value, hinge.speed) == pytest.approx((0.25 + math.pi / 2, 3.0))
    world.positions  # live from here on
    hinge.value = 0.25
    assert world.positions[0] == pytest.approx([1, 0, 0], abs=1e-12)
    with pytest.raises(ValueError, match="value"):
        hinge.value = math.nan
    with pytest.raises(KeyError):
        world.joints["knee"]


def test_turns_are_counted():
    world, hinge = make_pendulum()
    world.gravity = (0, 0, 0)
    hinge.speed = 10.0
    for _ in range(2000):
        world.step()
    assert hinge.value == pytest.approx(20.0, rel=1e-4)  # the angle of each step is of second order


def test_a_servo_holds_against_gravity():
    world, hinge = make_pendulum()
    hinge.stiffness, hinge.damping, hinge.target = 5000, 500, 0.3
    assert hinge.servo == {"target": 0.3, "speed": 0, "stiffness": 5000, "damping": 500, "effort": math.inf}
    for _ in range(4000):
        world.step()
    weight = world["ball"].mass * 10 * math.cos(hinge.value)
    assert hinge.effort == pytest.approx(-weight, rel=1e-6)
    assert hinge.value == pytest.approx(0.3 + weight / 5000, rel=1e-6)
    assert hinge.force == pytest.approx([0, 0, world["ball"].mass * 10], rel=1e-6, abs=1e-6)
    hinge.effort_limit = weight / 2
    for _ in range(500):
        world.step()
    assert hinge.effort == pytest.approx(-weight / 2) and hinge.value > 0.5
    hinge.servo = None
    assert hinge.stiffness == 0 and hinge.effort_limit == math.inf


def test_efforts_last_one_step():
    world, hinge = make_pendulum()
    world.gravity = (0, 0, 0)
    inertia = world["ball"].mass + world["ball"].inertia[1, 1]
    hinge.apply(inertia * 2)
    hinge.apply(inertia)
    world.step(0.01)
    assert hinge.speed == pytest.approx(0.03, rel=1e-6) and hinge.effort == pytest.approx(3 * inertia)
    world.step(0.01)
    assert hinge.speed == pytest.approx(0.03, rel=1e-6)
    world.apply_efforts([-3 * inertia])
    world.step(0.01)
    assert hinge.speed == pytest.approx(0, abs=1e-8)


def test_laws_are_changed_and_read_back():
    _, hinge = make_pendulum(limits=(-1, 1), motor={"speed": 2, "effort": 5}, spring={"stiffness": 3}, armature=0.1, damping=0.2, friction=0.3)
    assert hinge.limits == (-1, 1) and hinge.motor == {"speed": 2, "effort": 5}
    assert hinge.spring == {"stiffness": 3, "damping": 0, "rest": 0}
    assert (hinge.armature, hinge.passive_damping, hinge.friction) == (0.1, 0.2, 0.3)
    hinge.limits, hinge.motor, hinge.armature = None, None, 0.5
    assert hinge.limits is None and hinge.motor is None and hinge.armature == 0.5
    hinge.limits = (-math.inf, 2)
    assert hinge.limits == (-math.inf, 2)
    for name, value in (("limits", (2, 1)), ("armature", -1), ("friction", math.nan), ("effort_limit", -2)):
        with pytest.raises(ValueError, match=name):
            setattr(hinge, name, value)


def test_axes_of_compound_joints_and_arrays():
    world = tippe.World(gravity=(0, 0, 0))
    arm = world.add_body("arm", position=(1, 0, 0))
    arm.add_box((1, 0.1, 0.1), density=1000)
    servo = {"stiffness": 1000, "damping": 100}
    joint = world.add_joint(
        "compound", None, "arm", name="shoulder", anchor=(0, 0, 0),
        axes=[{"turn": (0, 0, 1), "name": "yaw", "servo": servo}, {"slide": (1, 0, 0), "name": "reach", "zero": 1.0}],
    )
    assert [axis.axis_name for axis in joint.axes] == ["yaw", "reach"] and len(joint) == 2
    assert [axis.axis_kind for axis in joint.axes] == ["turn", "slide"]
    assert world.joint_names == ["shoulder.yaw", "shoulder.reach"]
    assert world.joint_values == pytest.approx([0, 1])
    world.joint_values = [math.pi / 2, 2.0]
    assert arm.position == pytest.approx([0, 2, 0], abs=1e-12)
    world.joint_speeds = [0, 1]
    assert arm.velocity == pytest.approx([0, 1, 0], abs=1e-12)
    assert not world.joint_values.flags.writeable
    world.set_targets([0.5, math.nan])
    assert joint["yaw"].target == 0.5 and joint[0].target == 0.5
    with pytest.raises(ValueError):
        world.set_targets([math.nan, 1.0])  # there is no servo
    with pytest.raises(ValueError, match="joint_values"):
        world.joint_values = [1.0]
    with pytest.raises(KeyError):
        joint["roll"]
    with pytest.raises(IndexError):
        joint[2]


def test_handles_of_destroyed_joints_raise():
    world, hinge = make_pendulum()
    world["ball"].destroy()
    assert not hinge.is_valid and len(world.joints) == 0
    for name in ("value", "name", "limits", "force"):
        with pytest.raises(ValueError, match="destroyed"):
            getattr(hinge, name)
    assert "destroyed" in repr(hinge)


def test_mistakes_name_the_argument():
    world, _ = make_pendulum()
    for arguments, word in (
        ({"type": "hinge"}, "type"), ({"type": "revolute", "axis": (0, 0, 0)}, "axis"), ({"type": "revolute", "servo": {"gain": 1}}, "gain"),
        ({"type": "revolute", "limit": (0, 1)}, "limit"), ({"type": "compound", "axes": [{"turn": (0, 0, 1), "slide": (1, 0, 0)}]}, "axes"),
        ({"type": "revolute", "name": "hinge"}, "name"), ({"type": "revolute", "body_b": "bell"}, "bell"),
    ):
        with pytest.raises(ValueError, match=word):
            world.add_joint(**{"body_a": None, "body_b": "ball", **arguments})  # type: ignore[arg-type]
    fixed = world.add_joint("fixed", None, "ball")
    with pytest.raises(ValueError, match="no coordinate"):
        fixed.value
    with pytest.raises(tippe.UnsupportedError):
        world.joints["hinge"].value = 1.0  # the loop is closed now


def test_joints_of_scenes_are_found():
    world = tippe.load("double_pendulum")
    names = [joint["name"] for joint in tippe.read_scene("double_pendulum")["joints"]]
    assert list(world.joints) == names
    first = world.joints[names[0]]
    before = first.value
    for _ in range(10):
        world.step()
    assert first.value != before and first.speed != 0
    assert all(joint.is_valid and joint.type in repr(joint) for joint in world.joints.values())


@pytest.mark.parametrize("stepper", ["anitescu", "stewart-trinkle", "chakraborty-trinkle", "mirtich-canny", "bender-schmitt", "small-steps"])
def test_snapshots_continue_bit_for_bit(stepper: str):
    world = tippe.load("card_house", stepper=stepper)
    for _ in range(20):
        world.step()
    data = world.snapshot()
    assert isinstance(data, bytes)
    for _ in range(20):
        world.step()
    after = world.state_hash
    view = world.positions
    world.restore(data)
    assert world.step_count == 20 and np.array_equal(view, world.positions)
    for _ in range(20):
        world.step()
    assert world.state_hash == after


def test_snapshots_go_into_another_process():
    world = tippe.load("card_house")
    for _ in range(5):
        world.step()
    data = world.snapshot()
    program = (
        "import sys, tippe\nworld = tippe.load('card_house')\nworld.restore(sys.stdin.buffer.read())\n"
        "for _ in range(5): world.step()\nprint(world.state_hash)"
    )
    done = subprocess.run([sys.executable, "-c", program], input=data, capture_output=True, check=True)
    for _ in range(5):
        world.step()
    assert int(done.stdout) == world.state_hash


def test_broken_snapshots_change_nothing():
    world, _ = make_pendulum()
    data = world.snapshot()
    world.step()
    before = world.state_hash
    other = tippe.load("card_house").snapshot()
    for broken in (b"", data[:-1], data[:40] + b"x" + data[41:], data + b"x", other, bytes(100)):
        with pytest.raises(ValueError, match="^data: "):
            world.restore(broken)
        assert world.state_hash == before
    with pytest.raises(ValueError, match="data"):
        world.restore("text")  # type: ignore[arg-type]
