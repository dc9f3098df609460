"""Measured motion: starts, scores and identified numbers, on motions that we make ourselves."""

from __future__ import annotations

import json
import math
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
import tippe
from tippe import measured
from tippe.measured.turns import turn_vectors

RATE = 120.0


def make_scene(friction: float = 0.3, restitution: float = 0.4, inertia: tuple[float, float, float] = (0.002, 0.003, 0.004)) -> dict[str, Any]:
    """A brick above a table."""
    return {
        "tippe": 1, "gravity": [0, 0, -9.81], "materials": {"wood": {"friction": friction, "restitution": restitution}},
        "bodies": [
            {"name": "table", "kind": "fixed", "material": "wood", "shapes": [{"type": "plane", "normal": [0, 0, 1], "offset": 0}]},
            {"name": "brick", "material": "wood", "mass": 0.6, "inertia": list(inertia), "position": [0, 0, 0.3],
             "shapes": [{"type": "box", "size": [0.2, 0.15, 0.1]}]},
        ],
        "simulation": {"stepper": "stewart-trinkle", "step": 1 / 240, "until": 1, "options": {"impact_law": "newton"}},
    }


def make_motions(count: int, noise: float = 0.0, scene: dict[str, Any] | None = None, seed: int = 3) -> list[measured.Motion]:
    random = np.random.default_rng(seed)
    motions = []
    for k in range(count):
        world = tippe.load(scene or make_scene())
        brick = world["brick"]
        brick.position = (0, 0, random.uniform(0.3, 0.4))
        brick.rotation = random.standard_normal(4)
        brick.velocity = (random.uniform(0.5, 1.5), random.uniform(-0.5, 0.5), random.uniform(-0.5, 0.5))
        brick.angular_velocity = random.uniform(-4, 4, 3)
        run = world.run(until=0.7, every=2, contacts=False)
        position = run.position[:, 0] + noise * random.standard_normal((len(run.time), 3))
        rotation = run.rotation[:, 0] + noise * random.standard_normal((len(run.time), 4))
        rotation /= np.linalg.norm(rotation, axis=1, keepdims=True)
        motions.append(measured.Motion(str(k), run.time, {"brick": measured.Poses(position, rotation)}))
    return motions




@pytest.fixture(scope="module", autouse=True)
def _law_exists():
    assert "newton" in tippe.options()["impact_law"]["choices"]


def test_starts_are_those_of_the_flight():
    scene, noise = make_scene(), 2e-4
    for motion, clean in zip(make_motions(4, noise), make_motions(4)):
        start = measured.fit_start(tippe.load(scene), motion)["brick"]
        assert start.poses > 10
        assert start.position == pytest.approx(clean.bodies["brick"].position[0], abs=4 * noise)
        assert measured.angle_between(start.rotation, clean.bodies["brick"].rotation[0]) < 4 * noise
        assert start.position_noise == pytest.approx(noise * math.sqrt(3), rel=0.5)
    exact = make_motions(3)
    for motion, (starts, touch) in zip(exact, measured.starts_of(scene, exact)):
        made = measured.simulate(tippe.load(scene), motion, starts)["brick"]
        before = motion.time < touch - 0.01
        assert np.abs(made.position - motion.bodies["brick"].position)[before].max() < 1e-6
        assert measured.angle_between(made.rotation, motion.bodies["brick"].rotation)[before].max() < 1e-4


def test_the_engine_that_made_the_motions_scores_zero():
    motions, scene = make_motions(3), make_scene()
    starts = [({"brick": _exact_start(motion, seed)}, 0.2) for seed, motion in enumerate(motions)]
    table = measured.score(scene, motions, starts=starts, size=0.2)
    assert list(table.index) == ["0", "1", "2"]
    assert table["position"].max() < 1e-2 and table["angle"].max() < 1
    wrong = measured.score(scene, motions, starts=starts, size=0.2, parameters={"materials.wood.friction": 0.6})
    assert wrong["position"].median() > 10 * table["position"].median()
    found = measured.paired_difference(table, wrong)
    assert found["high"] < 0 and found["share"] == 1
    summary = measured.summarise(wrong)
    assert summary.loc["position", "low"] <= summary.loc["position", "median"] <= summary.loc["position", "high"]


def _exact_start(motion: measured.Motion, _: int) -> measured.Start:
    return measured.fit_start(tippe.load(make_scene()), motion)["brick"]


def test_other_engines_go_through_the_same_driver():
    motions, scene = make_motions(2), make_scene()
    starts = measured.starts_of(scene, motions)

    def stay(motion: measured.Motion, starts: Any) -> dict[str, measured.Poses]:
        """An engine in which nothing moves."""
        count = len(motion.time)
        return {name: measured.Poses(np.tile(start.position, (count, 1)), np.tile(start.rotation, (count, 1))) for name, start in starts.items()}

    table = measured.score(stay, motions, starts=starts)
    for motion, error in zip(motions, table["final_position"]):
        positions = motion.bodies["brick"].position
        assert error == pytest.approx(np.linalg.norm(positions[-1] - positions[0]), rel=1e-6)
    with pytest.raises(ValueError, match="starts"):
        measured.score(stay, motions)


def test_numbers_are_identified():
    """Friction and restitution by which the motions were made are found again, by one who starts elsewhere."""
    motions = make_motions(9, noise=3e-4)
    scene = make_scene(friction=0.5, restitution=0.1)
    found = measured.fit(
        scene, motions, {"materials.wood.friction": (0.1, 0.7), "materials.wood.restitution": (0.0, 0.8)}, trials=54, folds=3, resamples=100, size=0.2,
    )
    assert found.values["materials.wood.friction"] == pytest.approx(0.3, abs=0.02)
    assert found.values["materials.wood.restitution"] == pytest.approx(0.4, abs=0.04)
    for path, true in (("materials.wood.friction", 0.3), ("materials.wood.restitution", 0.4)):
        low, high = found.intervals[path]
        assert low - 0.02 <= true <= high + 0.02
    assert found.held_out["position"].median() < 0.25 * found.start_scores["position"].median()
    assert len(found.trials) == 54 and "held out" in str(found)


def test_the_centre_of_mass_is_identified():
    """Markers show the frame of a body; where its centre of mass lies in it, the motions tell: in flight, and by how it lands."""
    true = make_scene()
    true["bodies"][1]["center_of_mass"] = [0.0, 0.0, 0.01]
    motions = []
    for motion in make_motions(4, scene=true):
        centers = motion.bodies["brick"]
        arms = turn_vectors(centers.rotation, np.array([0.0, 0.0, 0.01]))
        motions.append(measured.Motion(motion.name, motion.time, {"brick": measured.Poses(centers.position - arms, centers.rotation)}, "frame"))
    found = measured.fit(make_scene(), motions, {"bodies.brick.center_of_mass.2": (-0.02, 0.02)}, trials=15, folds=2, nested=True, resamples=20)
    assert found.values["bodies.brick.center_of_mass.2"] == pytest.approx(0.01, abs=5e-4)
    assert found.scores["position"].median() < 0.1 * found.start_scores["position"].median()
    assert found.fold_values["bodies.brick.center_of_mass.2"].tolist() == pytest.approx([0.01, 0.01], abs=1e-3)
    assert measured.score(true, motions)["position"].max() < 0.02  # of a metre, with starts that follow the centre of mass
    with pytest.raises(ValueError, match="frame"):
        measured.fit(make_scene(), make_motions(6), {"bodies.brick.center_of_mass.2": (-0.02, 0.02)})


def test_bodies_that_fly_and_bodies_that_slide():
    """Each body has its own flight; one that slides from the start has the speed of its first poses, without a fall that it never had."""
    scene = make_scene()
    scene["bodies"].append({"name": "puck", "material": "wood", "mass": 0.2, "position": [1, 0, 0.02], "velocity": [1.5, 0.5, 0],
                            "angular_velocity": [0, 0, 2], "shapes": [{"type": "cylinder", "radius": 0.05, "length": 0.04}]})
    world = tippe.load(scene)
    world["brick"].velocity, world["brick"].angular_velocity = (0.3, 0, 0), (1, 2, 0)
    run = world.run(until=0.6, every=2, contacts=False)
    bodies = {name: measured.Poses(run[name].position, run[name].rotation) for name in ("brick", "puck")}
    motion = measured.Motion("both", run.time, bodies)
    starts = measured.fit_start(tippe.load(scene), motion)
    assert starts["brick"].flies and starts["brick"].poses > 10 and not starts["puck"].flies
    assert starts["puck"].velocity == pytest.approx([1.5, 0.5, 0], abs=6e-3)  # a step of friction
    assert starts["puck"].angular_velocity == pytest.approx([0, 0, 2], abs=0.05)
    assert starts["brick"].velocity == pytest.approx([0.3, 0, 0], abs=1e-4)
    table = measured.score(scene, [motion])
    assert table["position"].iloc[0] < 0.01 and table["angle"].iloc[0] < 3


def test_tables_are_read_and_checked(tmp_path: Path):
    motions = make_motions(2)
    measured.write(tmp_path / "motions.csv", motions)
    again = measured.read(tmp_path / "motions.csv")
    assert [motion.name for motion in again] == ["0", "1"] and list(again[0].bodies) == ["brick"]
    assert again[1].bodies["brick"].position == pytest.approx(motions[1].bodies["brick"].position, abs=1e-12)
    table = pd.read_csv(tmp_path / "motions.csv").rename(columns=lambda name: name.replace("brick.", "")).drop(columns="point")
    table["frame"] = (table.pop("time") * RATE).round().astype(int)
    table.to_csv(tmp_path / "frames.csv.gz", index=False)
    frames = measured.read(tmp_path / "frames.csv.gz", body="brick", rate=RATE, scale=2.0)
    assert frames[0].bodies["brick"].position == pytest.approx(2 * motions[0].bodies["brick"].position)
    assert frames[0].time == pytest.approx(motions[0].time)
    assert again[0].point == "center_of_mass" and frames[0].point == "frame"
    measured.write(tmp_path / "again.csv", frames)
    assert measured.read(tmp_path / "again.csv")[0].point == "frame"
    for change, word in (
        (lambda t: t.assign(point="middle"), "column 'point'"),
        (lambda t: t.assign(x=[math.nan, *t.x[1:]]), ":2: column 'x'"), (lambda t: t.assign(qw=3.0), ":2: column 'qw'"),
        (lambda t: t.assign(frame=0), ":3: times"), (lambda t: t.drop(columns="z"), "needs columns"), (lambda t: t.iloc[:0], "no rows"),
        (lambda t: t.drop(columns="frame"), "time"), (lambda t: t.assign(y="far"), "far"),
    ):
        change(table).to_csv(tmp_path / "wrong.csv", index=False)
        with pytest.raises(ValueError, match=word):
            measured.read(tmp_path / "wrong.csv", body="brick", rate=RATE)
    with pytest.raises(ValueError, match="no moving body 'cube'"):
        measured.score(make_scene(), measured.read(tmp_path / "frames.csv.gz", body="cube", rate=RATE))


def test_keys_that_the_scene_does_not_give_are_varied_without_changing_it():
    scene = make_scene()
    scene["materials"]["wood"]["friction"] = {"dynamic": 0.3}
    motions = make_motions(4)
    found = measured.fit(scene, motions, {"materials.wood.friction.impact": (0.1, 0.5)}, trials=12, folds=2, resamples=20)
    assert scene["materials"]["wood"]["friction"] == {"dynamic": 0.3}
    assert found.start_scores["position"].median() <= found.scores["position"].median() * 1.5


def test_bad_bounds_and_paths_are_told():
    motions = make_motions(5)
    for parameters in ({}, {"materials.wood.friction": (0.5, 0.1)}, {"materials.steel.friction": (0, 1)}, {"bodies.brick.inertia": (0, 1)}):
        with pytest.raises(ValueError):
            measured.fit(make_scene(), motions, parameters, trials=10)


def test_the_commands(tmp_path: Path):
    measured.write(tmp_path / "motions.csv", make_motions(4))
    (tmp_path / "brick.json").write_text(json.dumps(make_scene(friction=0.4)))

    def run(*arguments: str) -> "subprocess.CompletedProcess[str]":
        return subprocess.run([sys.executable, "-m", "tippe", *arguments], cwd=tmp_path, capture_output=True, text=True, check=False)

    done = run("score", "brick.json", "motions.csv", "--size", "0.2", "--csv", "scores.csv")
    assert done.returncode == 0 and "4 motions" in done.stdout, done.stderr
    assert len(pd.read_csv(tmp_path / "scores.csv")) == 4
    done = run("fit", "brick.json", "motions.csv", "--vary", "materials.wood.friction=0.2:0.4", "--trials", "12", "--folds", "2", "--json", "fit.json")
    assert done.returncode == 0, done.stderr
    assert json.loads((tmp_path / "fit.json").read_text())["values"]["materials.wood.friction"] == pytest.approx(0.3, abs=0.02)
    done = run("fit", "brick.json", "motions.csv", "--vary", "friction")
    assert done.returncode == 1 and "PATH=LOW:HIGH" in done.stderr
    done = run("score", "brick.json", "nothing.csv")
    assert done.returncode == 1 and "nothing.csv" in done.stderr
