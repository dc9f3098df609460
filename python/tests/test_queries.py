"""Questions to a world, forces that last, numbers of batches: against closed forms."""

from __future__ import annotations

import numpy as np
import pytest
import tippe


@pytest.fixture
def room() -> tippe.World:
    """A floor, a ball of 0.5 m at the origin 2 m up, and a cube of 1 m beside it."""
    world = tippe.World(gravity=(0, 0, -10))
    world.add_body("floor", kind="fixed").add_plane()
    world.add_body("ball", position=(0, 0, 2)).add_sphere(0.5, group=2)
    world.add_body("cube", position=(3, 0, 2)).add_box((1, 1, 1), group=4)
    return world


def test_rays(room: tippe.World):
    hit = room.cast_ray((0, 0, 10), (0, 0, -20))
    assert hit is not None and hit.body == room["ball"] and hit.shape.type == "sphere"
    assert hit.distance == pytest.approx(7.5, abs=1e-12) and hit.fraction == pytest.approx(0.375)
    assert np.allclose(hit.point, (0, 0, 2.5)) and np.allclose(hit.normal, (0, 0, 1)) and hit.triangle == -1 and not hit.starts_inside
    assert room.cast_ray((0, 0, 10), (0, 0, -5)) is None
    through = room.cast_ray((0, 0, 10), (0, 0, -20), mask=4 | 1)
    assert through is not None and through.body.name == "floor"
    assert [each.body.name for each in room.cast_ray_at_all((-5, 0, 2), (20, 0, 0))] == ["ball", "cube"]
    inside = room.cast_ray((0, 0, 2), (1, 0, 0))
    assert inside is not None and inside.starts_inside and inside.distance == 0


def test_a_scanner_sees_what_single_rays_see(room: tippe.World):
    angles = np.linspace(-np.pi, np.pi, 181)
    rays = 10 * np.stack([np.cos(angles), np.sin(angles), 0 * angles], axis=1)
    seen = room.cast_rays([(-1.5, 0, 2)], rays)
    assert seen.shape == (181,) and 0 < seen["hit"].sum() < 181
    for ray, row in zip(rays, seen):
        single = room.cast_ray((-1.5, 0, 2), ray)
        assert (single is not None) == row["hit"]
        if single is not None:
            assert single.distance == row["distance"] and np.array_equal(single.point, row["point"])
            assert room.bodies[row["index"]] == single.body
        else:
            assert row["distance"] == np.inf and row["index"] == -1 and row["fraction"] == 1
    assert room.cast_rays(np.zeros((0, 3)), rays).shape == (0,)
    with pytest.raises(ValueError, match=r"^translations"):
        room.cast_rays(np.zeros((2, 3)), rays)


def test_questions_see_what_was_written(room: tippe.World):
    room.positions[0] = (0, 0, 4)
    hit = room.cast_ray((0, 0, 10), (0, 0, -20))
    assert hit is not None and hit.distance == pytest.approx(5.5, abs=1e-12)


def test_shapes_on_their_way(room: tippe.World):
    ball = tippe.shapes.sphere(0.25)
    hit = room.cast_shape(ball, (0, 0, -20), position=(0, 0, 10), tolerance=1e-9)
    assert hit is not None and hit.body.name == "ball" and hit.distance == pytest.approx(7.25, abs=1e-8)
    assert np.allclose(hit.normal, (0, 0, 1), atol=1e-6) and np.allclose(hit.point, (0, 0, 2.5), atol=1e-6)
    assert room.cast_shape(ball, (0, 0, -1), position=(0, 0, 10)) is None
    assert [shape.body.name for shape in room.overlap_shape(tippe.shapes.sphere(0.6), position=(0.9, 0, 2))] == ["ball"]
    assert {shape.body.name for shape in room.overlap_box((-1, -1, -1), (3, 1, 3))} == {"floor", "ball", "cube"}
    with pytest.raises(ValueError, match=r"^upper"):
        room.overlap_box((1, 0, 0), (0, 0, 0))
    with pytest.raises(ValueError, match=r"^geometry"):
        room.overlap_shape("ball")  # type: ignore[arg-type]


def test_distances(room: tippe.World):
    closest = room.closest_points("ball", "cube")
    assert closest.distance == pytest.approx(2, abs=1e-12)
    assert np.allclose(closest.point_a, (0.5, 0, 2)) and np.allclose(closest.normal, (-1, 0, 0))
    assert np.allclose(closest.point_a - closest.point_b, closest.distance * closest.normal)
    assert room.overlaps() == []
    room["ball"].position = (2.25, 0, 2)
    (pair,) = room.overlaps()
    assert {pair.shape_a.body.name, pair.shape_b.body.name} == {"ball", "cube"} and pair.depth == pytest.approx(0.25, abs=1e-9)
    assert room.closest_points(room["ball"].shapes[0], room["cube"]).distance == pytest.approx(-0.25, abs=1e-9)
    room["ball"].set_collide("cube", False)
    assert room.overlaps() == [] and not room["ball"].collides_with("cube") and room["ball"].collides_with("floor")
    with pytest.raises(ValueError, match=r"^b: there is no body"):
        room.closest_points("ball", "nobody")
    shape = room["cube"].shapes[0]
    room["cube"].destroy()
    with pytest.raises(ValueError, match=r"^b: this shape was destroyed"):
        room.closest_points("ball", shape)


def test_forces_that_last():
    world = tippe.World("anitescu", gravity=(0, 0, 0), step=0.01)
    puck = world.add_body("puck", mass=2, inertia=(1, 1, 1))
    puck.add_sphere(0.1)
    push = world.add_force("puck", (4, 0, 0), end=0.5)
    world.run(until=1)
    assert puck.velocity[0] == pytest.approx(1, abs=1e-12)  # F t / m
    push.force, push.end = (0, 8, 0), None
    assert world.forces[0].body == puck and np.array_equal(push.force, (0, 8, 0))
    world.run(until=1.5)
    assert puck.velocity[1] == pytest.approx(2, abs=1e-12)
    push.destroy()
    assert world.forces == [] and not push.is_valid
    with pytest.raises(ValueError, match="destroyed"):
        push.force
    with pytest.raises(ValueError, match="^frame"):
        world.add_force("puck", frame="moon")  # type: ignore[arg-type]


def test_worlds_of_a_batch_have_numbers_of_their_own():
    batch = tippe.Batch("block_ramp", 3)
    batch.gravity = [(0, 0, -1), (0, 0, -2), (0, 0, -3)] if not batch[0].planar else [(0, -1, 0), (0, -2, 0), (0, -3, 0)]
    assert [abs(world.gravity).max() for world in batch] == [1, 2, 3]
    masses = batch.masses
    batch.masses = masses * [[1], [2], [3]]
    assert batch[2].moving[0].mass == pytest.approx(3 * masses[0, 0])
    batch.static_friction = batch.dynamic_friction = 0.25
    assert (batch.static_friction == 0.25).all() and batch.restitution.shape == batch.static_friction.shape
    with pytest.raises(ValueError, match="^masses"):
        batch.masses = -1
    assert batch[2].moving[0].mass == pytest.approx(3 * masses[0, 0])
    assert batch.sensor_values.shape == (3, 0)


def test_bodies_say_what_carries_them():
    world = tippe.load("bouncing_ball", stepper="auto")
    report = world.step()
    body = world.moving[0]
    assert body.carrier in tippe.steppers() and body.carrier_step > 0 and report.error_asked > 0
    assert body.error_estimate <= report.error_estimate + 1e-15
    assert tippe.load("bouncing_ball").moving[0].carrier is None
