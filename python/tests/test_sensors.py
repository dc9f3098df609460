"""Sensors and events."""

from __future__ import annotations

import numpy as np
import pytest
import tippe


def test_sensors_measure_what_acts(ball_world: tippe.World):
    world, ball = ball_world, ball_world["ball"]
    imu = world.add_sensor("accelerometer", name="imu", body="ball")
    gyro = world.add_sensor("gyroscope", name="gyro", body=ball)
    floor = world.add_sensor("contact_force", name="floor", body="ball")
    assert list(world.sensors) == ["imu", "gyro", "floor"] and imu.columns == ("x", "y", "z")
    for _ in range(20):
        world.step()
    assert imu.value == pytest.approx([0, 0, 10], abs=1e-6)  # at rest it feels its weight
    assert world.sensors["floor"].value == pytest.approx([ball.mass * 10, 0, 0, ball.mass * 10], rel=1e-6, abs=1e-6)
    ball.angular_velocity = (0, 0, 3)
    assert gyro.value == pytest.approx([0, 0, 3])
    assert world.sensor_names == ["imu.x", "imu.y", "imu.z", "gyro.x", "gyro.y", "gyro.z", "floor.n", "floor.fx", "floor.fy", "floor.fz"]
    assert world.sensor_values == pytest.approx(np.concatenate([imu.value, gyro.value, floor.value]))
    ball.position = (0, 0, 5)
    world.step()
    assert imu.value == pytest.approx([0, 0, 0], abs=1e-6)  # in free fall nothing


def test_sensors_of_joints():
    world = tippe.load("cart_pole")
    state = world.add_sensor("joint_state", name="pole", joint="hinge")
    force = world.add_sensor("force_torque", name="pin", joint=world.joints["hinge"])
    world.step()
    assert state.value == pytest.approx([world.joints["hinge"].value, world.joints["hinge"].speed, 0])
    assert force.columns == ("fx", "fy", "fz", "tx", "ty", "tz") and force.value[1] > 0.5
    world.joints["hinge"].destroy()
    assert not state.is_valid and "destroyed" in repr(state)
    with pytest.raises(ValueError, match="destroyed"):
        state.value


def test_mistakes_of_sensors(ball_world: tippe.World):
    for arguments, word in (({"type": "thermometer"}, "type"), ({"type": "gyroscope"}, "body"), ({"type": "gyroscope", "body": "bell"}, "body"),
                            ({"type": "joint_state", "joint": "knee"}, "joint")):
        with pytest.raises(ValueError, match=word):
            ball_world.add_sensor(**arguments)  # type: ignore[arg-type]
    with pytest.raises(KeyError):
        ball_world.sensors["imu"]


def test_events_tell_of_touches_and_hits(ball_world: tippe.World):
    world, ball = ball_world, ball_world["ball"]
    ball.position = (0, 0, 1.1)
    assert world.events == []
    seen: list[tippe.Event] = []
    for _ in range(100):
        world.step()
        seen += world.events
    kinds = [event.kind for event in seen]
    assert kinds.count("touch_began") >= 1 and kinds.count("hit") == 1
    hit = seen[kinds.index("hit")]
    assert {hit.body_a, hit.body_b} == {"ball", "floor"}
    assert hit.speed == pytest.approx(np.sqrt(2 * 10 * 1.0), rel=0.05)
    assert hit.impulse == pytest.approx(ball.mass * hit.speed, rel=0.1) and abs(hit.normal[2]) == pytest.approx(1)


def test_sensors_are_observed():
    import tippe.gym

    scene = tippe.read_scene("cart_pole")
    scene["sensors"] = [{"name": "imu", "type": "gyroscope", "body": "pole"}]
    env = tippe.gym.Environment(scene, observation=["imu.z", "hinge.qd"], action={"slide": (-1, 1)}, reward=lambda state, action: 0.0)
    observation, *_ = env.step(np.array([1.0]))
    assert observation[0] == pytest.approx(-observation[1]) and observation[0] != 0
