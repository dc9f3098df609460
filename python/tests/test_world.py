"""Worlds that are built by hand: motion against closed forms, and mistakes on purpose."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
import pytest
import tippe
from conftest import STEPPERS


def test_free_fall_follows_its_closed_form():
    world = tippe.World(stepper="anitescu", gravity=(0, 0, -9.81), step=1e-3)
    ball = world.add_body("ball", position=(0, 0, 10), velocity=(1, 0, 2))
    ball.add_sphere(0.1)
    for _ in range(500):
        report = world.step()
    assert world.time == pytest.approx(0.5, abs=1e-12)
    assert world.step_count == 500
    assert report.time == world.time
    assert ball.position == pytest.approx([0.5, 0, 10 + 2 * 0.5 - 0.5 * 9.81 * 0.25], abs=1e-9)
    assert ball.velocity == pytest.approx([1, 0, 2 - 9.81 * 0.5], abs=1e-9)


@pytest.mark.parametrize("stepper", STEPPERS)
def test_a_ball_at_rest_weighs_what_it_weighs(stepper: str):
    world = tippe.World(stepper=stepper, gravity=(0, 0, -10), step=0.01)
    world.add_body("floor", kind="fixed").add_plane(material=tippe.Material(friction=0.5))
    ball = world.add_body("ball", position=(0, 0, 0.1))
    ball.add_sphere(0.1, density=1000, material=tippe.Material(friction=0.5))
    for _ in range(50):
        report = world.step()
    contacts = world.contacts
    assert report.contacts == len(contacts) == 1
    assert set(contacts[0][["body_a", "body_b"]]) == {"ball", "floor"}
    force = contacts["normal_impulse"].sum() / 0.01
    # Springs of the penalty stepper, and impacts inside a step, come to the weight in the mean only.
    tolerance = 2e-2 if stepper in ("penalty", "mirtich-canny") else 1e-6
    assert force == pytest.approx(ball.mass * 10, rel=tolerance)


def test_mass_follows_from_shapes_and_may_be_given():
    world = tippe.World()
    box = world.add_body("box")
    box.add_box((1, 2, 3), density=10)
    assert box.mass == pytest.approx(60)
    assert np.diag(box.inertia) == pytest.approx([60 * 13 / 12, 60 * 10 / 12, 60 * 5 / 12])
    box.mass = 120
    assert np.diag(box.inertia) == pytest.approx([120 * 13 / 12, 120 * 10 / 12, 120 * 5 / 12])
    box.set_mass(2, (1, 1, 1), center_of_mass=(0, 0, 0.5))
    assert box.position == pytest.approx([0, 0, 0.5])
    assert box.frame_position == pytest.approx([0, 0, 0])
    box.mass_from_shapes()
    assert box.mass == pytest.approx(60)
    given = world.add_body("given", mass=2, inertia=(1, 2, 2.5))
    assert given.mass == 2 and np.diag(given.inertia) == pytest.approx([1, 2, 2.5])


def test_forces_last_one_step(ball_world: tippe.World):
    world = ball_world
    world.gravity = (0, 0, 0)
    ball = world["ball"]
    ball.position = (0, 0, 5)
    ball.apply_force((ball.mass, 0, 0))
    ball.apply_force((ball.mass, 0, 0))  # they add up
    world.step(0.1)
    assert ball.velocity == pytest.approx([0.2, 0, 0])
    world.step(0.1)
    assert ball.velocity == pytest.approx([0.2, 0, 0])
    ball.apply_impulse((0, 0, 2 * ball.mass))
    assert ball.velocity == pytest.approx([0.2, 0, 2])
    ball.apply_torque((0, 0, ball.inertia[2, 2]))
    world.step(0.1)
    assert ball.angular_velocity == pytest.approx([0, 0, 0.1])


def test_friction_of_a_material_may_be_changed_between_steps():
    world = tippe.World(gravity=(0, 0, -10), step=0.01)
    ice = world.add_material("ice", friction=0.6)
    world.add_body("floor", kind="fixed").add_plane(material="ice")
    box = world.add_body("box", position=(0, 0, 0.5))
    shape = box.add_box((1, 1, 1), material=ice)
    assert shape.material == world.materials["ice"] == ice
    for _ in range(20):
        box.apply_force((0.5 * 10 * box.mass, 0, 0))  # below the limit
        world.step()
    assert np.linalg.norm(box.velocity) < 1e-9
    world.materials["ice"].friction = 0.2
    for _ in range(20):
        box.apply_force((0.5 * 10 * box.mass, 0, 0))
        world.step()
    assert box.velocity[0] == pytest.approx((0.5 - 0.2) * 10 * 0.2, rel=1e-6)


def test_torsional_and_elliptic_friction_are_values():
    grooved = tippe.Material(friction=tippe.Friction(static=0.6, dynamic=0.4, torsional=0.01, ellipse=(1, 0.5), direction=(1, 0, 0)))
    world = tippe.World()
    body = world.add_body("body")
    shape = body.add_sphere(1, material=grooved)
    assert shape.material.friction == grooved.friction
    assert tippe.Material(friction={"static": 0.3}).friction == tippe.Friction(0.3, 0.3)
    with pytest.raises(ValueError, match="friction"):
        tippe.Material(friction={"statik": 0.3})


def test_every_shape_can_be_added():
    shapes = tippe.shapes
    box = shapes.box((1, 1, 1))
    tetrahedron = [(0, 0, 0), (1, 0, 0), (0, 1, 0), (0, 0, 1)]
    triangles = [(0, 2, 1), (0, 1, 3), (0, 3, 2), (1, 2, 3)]
    made = {
        "sphere": shapes.sphere(1),
        "box": box,
        "rounded_box": shapes.rounded_box((1, 1, 1), 0.1),
        "capsule": shapes.capsule(0.5, 1),
        "cylinder": shapes.cylinder(0.5, 1, axis=(1, 0, 0)),
        "cone": shapes.cone(0.5, 1),
        "prism": shapes.prism([(0, 0), (1, 0), (0, 1)], 1),
        "ellipsoid": shapes.ellipsoid((1, 2, 3)),
        "superellipsoid": shapes.superellipsoid((1, 1, 1), (0.5, 0.5)),
        "hull": shapes.hull(np.random.default_rng(1).normal(size=(20, 3))),
        "mesh": shapes.mesh(tetrahedron, triangles),
        "intersection": shapes.intersection([box, shapes.sphere(0.6)]),
    }
    world = tippe.World()
    for name, geometry in made.items():
        body = world.add_body(name)
        shape = body.add(geometry, density=2)
        assert shape.type == geometry.type == name
        assert body.mass == pytest.approx(geometry.mass(2)[0])
    assert made["mesh"].mass(1)[0] == pytest.approx(1 / 6)
    floor = world.add_body("floor", kind="fixed")
    floor.add_heightfield(np.zeros((4, 5)), 0.5)
    floor.add_plane((0, 0, 1), -1)
    assert [shape.type for shape in floor.shapes] == ["heightfield", "plane"]
    floor.shapes[0].destroy()
    assert [shape.type for shape in floor.shapes] == ["plane"]


def test_kinematic_bodies_move_as_told():
    world = tippe.World(step=0.1)
    table = world.add_body("table", kind="kinematic", angular_velocity=(0, 0, math.pi))
    table.add_cylinder(1, 0.1)
    world.step()
    assert table.rotation == pytest.approx(tippe.rotation((0, 0, 1), degrees=18))
    table.set_target((1, 0, 0))
    world.step()
    assert table.position == pytest.approx([1, 0, 0])


def test_locked_directions():
    world = tippe.World(gravity=(0, 0, -10), step=0.01)
    ball = world.add_body("ball", locked=["z"], velocity=(1, 0, 0))
    ball.add_sphere(0.1)
    for _ in range(10):
        world.step()
    assert ball.position == pytest.approx([0.1, 0, 0], abs=1e-12)
    ball.locked = []
    ball.gravity_scale = 0.5
    world.step()
    assert ball.velocity == pytest.approx([1, 0, -0.05])


def test_options_are_a_dict():
    world = tippe.World(options={"tolerance": 1e-8, "cone": "pyramid"})
    assert world.options["tolerance"] == 1e-8
    assert world.options["cone"] == "pyramid"
    world.options["cone"] = "circular"
    assert dict(world.options)["cone"] == "circular"
    assert set(world.options) == set(tippe.options())
    with pytest.raises(ValueError, match="cone"):
        world.options["cone"] = "square"
    with pytest.raises(KeyError):
        world.options["no_such"]


@pytest.mark.parametrize(
    ("name", "call"),
    [
        ("stepper", lambda: tippe.World(stepper="euler")),
        ("stepper", lambda: tippe.World(stepper=3)),  # type: ignore[arg-type]
        ("gravity", lambda: tippe.World(gravity=(0, 0))),
        ("gravity", lambda: tippe.World(gravity=(0, 0, math.nan))),
        ("threads", lambda: tippe.World(threads=0)),
        ("step", lambda: tippe.World(step=-1)),
        ("no_such", lambda: tippe.World(options={"no_such": 1})),
        ("position", lambda: tippe.World().add_body(position=(1, 2, "x"))),
        ("rotation", lambda: tippe.World().add_body(rotation=(0, 0, 0, 0))),
        ("kind", lambda: tippe.World().add_body(kind="solid")),  # type: ignore[arg-type]
        ("mass", lambda: tippe.World().add_body(mass=-1, inertia=(1, 1, 1))),
        ("inertia", lambda: tippe.World().add_body(mass=1)),
        ("inertia", lambda: tippe.World().add_body(mass=1, inertia=(1, 1))),
        ("name", lambda: tippe.World().add_body("not a name")),
        ("locked", lambda: tippe.World().add_body(locked=["w"])),
        ("keyframes", lambda: tippe.World().add_body(kind="kinematic", keyframes=[(0,)])),
        ("radius", lambda: tippe.World().add_body().add_sphere(-1)),
        ("size", lambda: tippe.World().add_body().add_box(1)),
        ("density", lambda: tippe.World().add_body().add_sphere(1, density=-1)),
        ("material", lambda: tippe.World().add_body().add_sphere(1, material="steel")),
        ("triangles", lambda: tippe.shapes.mesh([(0, 0, 0)], [(0, 1, 2)])),
        ("points", lambda: tippe.shapes.hull([1, 2, 3])),
        ("axis", lambda: tippe.shapes.cone(1, 1, axis=(0, 0, 0))),
        ("restitution", lambda: tippe.Material(restitution=2)),
        ("step", lambda: tippe.World().step(0)),
        ("step", lambda: tippe.World().step("x")),  # type: ignore[arg-type]
        ("until", lambda: tippe.World().run()),
        ("until", lambda: tippe.World().run(until=math.inf)),
        ("every", lambda: tippe.World().run(until=1, every=0)),
        ("axis", lambda: tippe.rotation((0, 0, 0), degrees=1)),
    ],
)
def test_bad_arguments_are_named(name: str, call: object):
    with pytest.raises(ValueError, match=name):
        call()  # type: ignore[operator]


def test_two_bodies_have_two_names():
    world = tippe.World()
    world.add_body("a")
    with pytest.raises(ValueError, match="name"):
        world.add_body("a")
    with pytest.raises(KeyError):
        world["b"]
    assert "a" in world and "b" not in world
    assert [body.name for body in world.bodies] == ["a"]


def test_handles_of_what_is_gone_raise():
    world = tippe.World()
    body = world.add_body("a")
    shape = body.add_sphere(1)
    same = world["a"]
    assert body == same and hash(body) == hash(same)
    body.destroy()
    for use in (lambda: body.position, lambda: body.add_sphere(1), body.destroy, lambda: shape.type):
        with pytest.raises(ValueError, match="destroyed"):
            use()
    assert not body.is_valid and not shape.is_valid
    assert "destroyed" in repr(body)
    successor = world.add_body("a")  # takes the slot
    successor.add_sphere(1)
    assert successor != body and not body.is_valid


def test_a_hard_step_is_a_report_not_an_exception(ball_world: tippe.World):
    ball_world["ball"].velocity = (0, 0, -1e200)
    report = ball_world.step(1e200)
    assert report.undone and not report.converged
    assert np.isfinite(ball_world.positions).all()


def test_a_report_tells_its_certificate(ball_world: tippe.World):
    report = ball_world.step()
    assert report.certified and report.violations == () and report.converged
    assert report.residual <= report.limits["residual"]
    assert set(report.limits) == {"residual", "energy", "joint_drift", "penetration"}
    assert report.energy == pytest.approx(ball_world.energy)
    assert isinstance(report.notes, tuple) and isinstance(report.figures, dict)
    assert "residual" in repr(report)


def test_help_is_enough_to_work_with():
    import pydoc

    text = pydoc.render_doc(tippe.World, renderer=pydoc.plaintext)
    for words in ("add_body", "positions", "One step; returns its Report", "gravity", "m/s"):
        assert words in text
    for name in tippe.__all__:
        value = getattr(tippe, name)
        assert name.startswith("__") or (value.__doc__ or "").strip(), f"{name} has no docstring"
        if isinstance(value, type):
            for part, member in vars(value).items():
                if not part.startswith("_") and (callable(member) or isinstance(member, property)):
                    assert (member.__doc__ or "").strip(), f"{name}.{part} has no docstring"


def test_friction_of_impacts_may_differ_from_that_of_sliding():
    rubber = tippe.Material(tippe.Friction(0.3, impact=0.1))
    world = tippe.World(gravity=(0, 0, -10), step=1e-3)
    world.add_body("floor", kind="fixed").add_plane(material=rubber)
    box = world.add_body("box", position=(0, 0, 0.15), velocity=(2, 0, -2), locked=("rx", "ry", "rz"))
    box.add_box((0.2, 0.2, 0.2), density=1000, material=rubber)
    for _ in range(100):
        world.step()
    hit = math.sqrt(4 + 2 * 10 * 0.05)
    assert box.velocity[0] == pytest.approx(2 - 0.1 * hit - 0.3 * 10 * (0.1 - (hit - 2) / 10), abs=0.02)
    steel = world.add_material("steel", friction=tippe.Friction(0.4, impact=0.2))
    assert steel.friction == tippe.Friction(0.4, impact=pytest.approx(0.2))
    with pytest.raises(ValueError, match="impact"):
        world.add_material("ice", friction=tippe.Friction(0.0, impact=0.2))


def test_misspelled_names_are_refused():
    world = tippe.World()
    with pytest.raises(AttributeError, match="gravty"):
        world.gravty = (0, 0, 0)  # type: ignore[attr-defined]
    world.gravity = (0, 0, 0)

    class Mine(tippe.World):
        pass

    mine = Mine()
    mine.goal = 3  # type: ignore[attr-defined]


@pytest.mark.parametrize(
    ("name", "call"),
    [
        ("stepper", lambda: tippe.load("card_house", stepper="no")),
        ("options", lambda: tippe.load("card_house", options={"no": 1})),
        ("options", lambda: tippe.World(options={"tolerance": "x"})),
        ("points", lambda: tippe.shapes.hull([[0, 0, 0]])),
        ("of", lambda: tippe.shapes.intersection([])),
        ("first", lambda: tippe.collide(1)),  # type: ignore[call-overload]
    ],
)
def test_messages_begin_with_the_argument(name: str, call: Callable[[], object]):
    with pytest.raises(ValueError, match=f"^{name}:"):
        call()
