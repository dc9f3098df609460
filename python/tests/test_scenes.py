"""Scenes by name, from files and dicts; the same bits as the program's."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
import tippe
from conftest import read_table, run_program


@pytest.mark.parametrize(
    ("scene", "options"),
    [
        ("card_house", {"until": 0.5}),
        ("falling_rod", {}),
        ("four_bar", {"until": 0.5}),
        ("tippe_top", {"until": 0.02}),
        ("bouncing_ball", {"stepper": "mirtich-canny", "until": 0.5}),
        ("stack10", {"stepper": "small-steps", "until": 0.3}),
        ("stack10", {"stepper": "bender-schmitt", "step": 0.005, "until": 0.2}),
        ("block_ramp", {"stepper": "stewart-trinkle", "until": 0.2, "options": {"directions": 12, "cone": "pyramid"}}),
    ],
)
def test_the_same_bits_as_the_program(scene: str, options: dict, tmp_path: Path):
    settings = [f"--{name}={value}" for name, value in options.items() if name != "options"]
    settings += [part for name, value in options.get("options", {}).items() for part in ("--set", f"{name}={value}")]
    run_program("run", scene, *settings, "--csv", "run.csv", "--contacts", "contacts.csv", "--quiet", cwd=tmp_path)
    table = read_table(tmp_path / "run.csv")
    world = tippe.load(scene, **options)
    run = world.run()
    ours = run.to_dataframe()
    for column, values in table.items():
        assert ours[column].tolist() == values, column
    contacts = read_table(tmp_path / "contacts.csv")
    mine = run.contacts
    assert list(mine.columns) == list(contacts)
    for column, values in contacts.items():
        assert mine[column].tolist() == values, column
    # Step by step it is the same again.
    again = tippe.load(scene, **options)
    for _ in range(len(run.time) - 1):
        again.step()
    assert np.array_equal(again.positions, run.position[-1])
    assert np.array_equal(again.angular_velocities, run.angular_velocity[-1])


def test_a_scene_as_a_dict_is_the_scene_of_the_file():
    from_file = tippe.load("card_house")
    from_dict = tippe.load(tippe.read_scene("card_house"))
    for world in (from_file, from_dict):
        for _ in range(10):
            world.step()
    assert from_file.state_hash == from_dict.state_hash


def test_meshes_of_a_scene_are_found_from_a_dict():
    scene = tippe.read_scene("marbles")
    world = tippe.load(scene)
    assert len(world.moving) == len(tippe.load("marbles").moving)


def test_names_of_scenes():
    names = tippe.scenes()
    assert "card_house" in names and "bench/pyramid20" in names
    for name in ("card_house", "bench/pyramid20"):
        assert tippe.load(name).scene_text
    with pytest.raises(tippe.SceneError, match="did you mean card_house"):
        tippe.load("card_hose")
    with pytest.raises(tippe.SceneError) as caught:
        tippe.load("no/such/file.json")
    assert caught.value.file == "no/such/file.json" and caught.value.line is None


def test_errors_have_a_place(tmp_path: Path):
    path = tmp_path / "wrong.json"
    path.write_text('{\n  "tippe": 1,\n  "bodies": [ { "name": "a",\n    "mas": 1 } ],\n  "simulation": { "step": 1, "until": 1 }\n}\n')
    with pytest.raises(tippe.SceneError) as caught:
        tippe.load(path)
    error = caught.value
    assert (error.file, error.line, error.column) == (str(path), 4, 5)
    assert "mas" in error.message and str(error).startswith(f"{path}:4:5: ")
    assert isinstance(error, ValueError)


@pytest.mark.parametrize(
    ("path", "change"),
    [
        ("bodies[1].mass", lambda scene: scene["bodies"][1].update(mass=-1)),
        ("bodies[1].mas", lambda scene: scene["bodies"][1].update(mas=1)),
        ("materials.card.friction", lambda scene: scene["materials"]["card"].update(friction="much")),
        ("simulation.step", lambda scene: scene["simulation"].update(step=float("nan"))),
        ("gravity", lambda scene: scene.update(gravity=object())),
    ],
)
def test_errors_of_dicts_name_the_key(path: str, change: object):
    scene = tippe.read_scene("card_house")
    change(scene)  # type: ignore[operator]
    with pytest.raises(tippe.SceneError) as caught:
        tippe.load(scene)
    assert caught.value.path is not None and caught.value.path.startswith(path)


def test_numpy_numbers_may_stand_in_dicts():
    scene = tippe.read_scene("falling_rod")
    scene["gravity"] = np.array([0.0, -1.5, 0.0])
    scene["simulation"]["step"] = np.float64(0.001)
    world = tippe.load(scene)
    assert world.gravity == pytest.approx([0, -1.5, 0]) and world.step_size == 0.001


def test_comments_are_left_out():
    from tippe.scene_files import _without_comments

    text = '// first\n{ "a": "// no comment", /* more */ "b": [1, 2, ], // end\n "c\\"": {}, }'
    assert json.loads(_without_comments(text)) == {"a": "// no comment", "b": [1, 2], 'c"': {}}


def test_overrides_are_checked():
    with pytest.raises(ValueError, match="stepper"):
        tippe.load("card_house", stepper="euler")
    with pytest.raises(ValueError, match="step"):
        tippe.load("card_house", step=0)
    with pytest.raises(ValueError, match="option"):
        tippe.load("card_house", options={"no_such": 1})
    with pytest.raises(ValueError, match="threads"):
        tippe.load("card_house", threads=0)
    with pytest.raises(ValueError, match="scene"):
        tippe.load(3)  # type: ignore[arg-type]


def test_threads_change_no_bit():
    one, two = tippe.load("stack10"), tippe.load("stack10", threads=2)
    for world in (one, two):
        world.run(until=0.2)
    assert one.state_hash == two.state_hash
