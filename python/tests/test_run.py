"""Runs: their arrays, tables, files and pictures."""

from __future__ import annotations

import gc
import json
import pickle
import re
import signal
import threading
from pathlib import Path

import numpy as np
import pytest
import tippe
from conftest import read_table, run_program


@pytest.fixture(scope="module")
def run() -> tippe.Run:
    return tippe.load("card_house").run(until=0.5, every=4)


def test_arrays_have_the_documented_shapes(run: tippe.Run):
    rows, bodies = 31, 7
    assert run.time.shape == run.residual.shape == run.penetration.shape == run.energy.shape == (rows,)
    assert run.position.shape == run.velocity.shape == run.angular_velocity.shape == (rows, bodies, 3)
    assert run.rotation.shape == (rows, bodies, 4)
    assert run.time[0] == 0 and run.time[-1] == pytest.approx(0.5)
    assert run.residual[0] == 0 and run.residual.max() < 1e-7
    assert len(run) == rows and len(run.bodies) == bodies
    body = run["left00"]
    assert np.array_equal(body.position, run.position[:, 0]) and body.rotation.shape == (rows, 4)
    assert "left00" in run and "floor" not in run and list(run) == run.bodies
    with pytest.raises(KeyError):
        run["floor"]


def test_a_run_goes_on_from_now():
    world = tippe.load("falling_rod")
    first = world.run(until=0.1)
    second = world.run(until=0.2)
    assert second.time[0] == first.time[-1] and second.time[-1] == pytest.approx(0.2)
    whole = tippe.load("falling_rod").run(until=0.2)
    assert np.array_equal(np.concatenate([first.position, second.position[1:]]), whole.position)
    with pytest.raises(ValueError, match="until"):
        world.run(until=0.1)
    assert len(world.run(until=0.2)) == 1


def test_every_covers_the_steps_between():
    each = tippe.load("bouncing_ball").run(until=1)
    some = tippe.load("bouncing_ball").run(until=1, every=7)
    assert np.array_equal(some.position, each.position[::7])
    blocks = [each.residual[k - 6 : k + 1].max() for k in range(7, len(each), 7)]
    assert np.array_equal(some.residual[1:], blocks)
    solves = [each.column("solves")[k - 6 : k + 1].sum() for k in range(7, len(each), 7)]
    assert np.array_equal(some.column("solves")[1:], solves)


def test_columns_and_tables(run: tippe.Run):
    table = run.to_dataframe()
    assert len(table) == len(run) and table.columns[0] == "time" and table.columns[1] == "left00.x"
    for name in run.columns:
        assert np.array_equal(table[name], run.column(name)), name
    assert np.array_equal(run.column("left00.z"), run["left00"].position[:, 2])
    with pytest.raises(ValueError, match=r"left00\.zz.*left00\.z"):
        run.column("left00.zz")
    contacts = run.contacts
    assert set(contacts["state"]) <= {"separated", "sliding", "sticking"}
    last = contacts[contacts["time"] == run.time[-1]]
    weight = sum(body.mass for body in tippe.load("card_house").moving) * 9.81
    on_floor = last[(last["bodyA"] == "floor") | (last["bodyB"] == "floor")]
    assert (on_floor["normal_impulse"].sum() / run.step) == pytest.approx(weight, rel=1e-6)


def test_saved_and_opened_again(run: tippe.Run, tmp_path: Path):
    path = tmp_path / "run.h5"
    run.save(path)
    again = tippe.open(path)
    assert np.array_equal(again.position, run.position) and np.array_equal(again.time, run.time)
    assert again.to_dataframe().equals(run.to_dataframe())
    assert again.contacts.equals(run.contacts)
    assert again.scene == run.scene and again.stepper == run.stepper and again.every == 4
    assert again.summary["steps"] == 120
    # The program takes it for one of its own: the same CSV, the same bits when it is repeated.
    run_program("export", str(path), "--csv", "a.csv", cwd=tmp_path)
    run_program("run", "card_house", "--until=0.5", "--every=4", "--csv", "b.csv", "--quiet", cwd=tmp_path)
    assert (tmp_path / "a.csv").read_bytes() == (tmp_path / "b.csv").read_bytes()
    run_program("verify", str(path), cwd=tmp_path)
    with pytest.raises(FileNotFoundError):
        tippe.open(tmp_path / "none.h5")
    (tmp_path / "broken.h5").write_bytes(path.read_bytes()[:5000])
    with pytest.raises((ValueError, OSError)):
        tippe.open(tmp_path / "broken.h5")
    with pytest.raises(OSError):
        run.save(tmp_path / "no" / "folder.h5")


def test_recorded_to_a_file_while_it_runs(tmp_path: Path):
    path = tmp_path / "out.h5"
    run = tippe.load("card_house").run(until=0.1, out=path)
    assert run.path == str(path)
    assert np.array_equal(run.position, tippe.load("card_house").run(until=0.1).position)
    copy = tmp_path / "copy.h5"
    run.save(copy)
    assert copy.read_bytes() == path.read_bytes()


def test_without_contacts():
    run = tippe.load("card_house").run(until=0.1, contacts=False)
    assert np.array_equal(run.position, tippe.load("card_house").run(until=0.1).position)
    with pytest.raises(ValueError, match="contacts"):
        run.contacts
    with pytest.raises(ValueError, match="contacts"):
        run.save("never.h5")


def test_worlds_without_a_scene_can_be_recorded(ball_world: tippe.World, tmp_path: Path):
    ball_world.add_body()  # one without a name
    ball_world.bodies[-1].add_sphere(0.1)
    run = ball_world.run(until=0.2)
    assert run.bodies == ["ball", "body2"] and run.scene == ""
    run.save(tmp_path / "ball.h5")
    assert tippe.open(tmp_path / "ball.h5").bodies == run.bodies


def test_plots(run: tippe.Run):
    axes = run.plot("left00.z", "residual", "left01")
    figure = axes.figure
    assert figure is not None and len(figure.axes) == 2
    assert [line.get_label() for line in figure.axes[0].lines] == ["left00.z", "left01.x", "left01.y", "left01.z"]
    assert np.array_equal(figure.axes[0].lines[0].get_ydata(), run.column("left00.z"))
    assert run.plot("energy", axes=figure.axes[0]) is figure.axes[0]
    run.plot()
    with pytest.raises(ValueError, match="no_such"):
        run.plot("no_such")


def test_the_page_of_a_run(run: tippe.Run, tmp_path: Path):
    try:
        text = run.to_html(tmp_path / "run.html")
    except tippe.UnsupportedError as error:
        pytest.skip(str(error))
    assert (tmp_path / "run.html").read_text(encoding="utf-8") == text
    run.save(tmp_path / "run.h5")
    run_program("export", "run.h5", "--html", "page.html", cwd=tmp_path)
    page = (tmp_path / "page.html").read_text(encoding="utf-8")
    peak = re.compile(r"peak_memory_bytes[^0-9]*[0-9]+")  # grows while the tests run
    assert peak.sub("", page) == peak.sub("", text)
    from tippe.showing import Page

    frame = Page(text, 500)._repr_html_()
    assert frame.startswith("<iframe") and "srcdoc" in frame and "card" in frame


@pytest.fixture
def interrupts():
    """Ctrl-C raises KeyboardInterrupt, as in a terminal: jobs that a shell started in the background ignore it."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


def interrupt_soon() -> threading.Timer:
    main = threading.get_ident()
    timer = threading.Timer(0.3, lambda: signal.pthread_kill(main, signal.SIGINT))
    timer.start()
    return timer


@pytest.mark.usefixtures("interrupts")
def test_a_run_can_be_interrupted():
    world = tippe.load("card_house")
    interrupt_soon()
    with pytest.raises(KeyboardInterrupt):
        world.run(until=1e5)
    assert 0 < world.step_count < 1e6
    world.step()


def test_where_interrupts_are_ignored_a_run_goes_on():
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    timer = interrupt_soon()
    try:
        world = tippe.load("card_house")
        while timer.is_alive():
            assert len(world.run(until=world.time + 0.5)) == 121
    finally:
        timer.join()
        signal.signal(signal.SIGINT, before)


def test_progress_is_told(capsys: pytest.CaptureFixture[str]):
    tippe.load("card_house").run(until=0.2, progress=True)
    assert "48/48" in capsys.readouterr().err.replace("step", "")


def test_joints_sensors_and_carriers_of_runs(tmp_path: Path):
    """The same from memory, from a file, and in the program's tables."""
    scene = tippe.read_scene("cart_pole")
    scene["sensors"] = [{"name": "imu", "type": "gyroscope", "body": "pole"}, {"name": "pin", "type": "force_torque", "joint": "hinge"}]
    world = tippe.load(scene)
    world.joints["hinge"].value = 0.1
    values = [world.joints["hinge"].value]
    run = world.run(until=0.1)
    other = tippe.load(scene)
    other.joints["hinge"].value = 0.1
    for _ in range(len(run) - 1):
        other.step()
        values.append(other.joints["hinge"].value)
    hinge = run.joints["hinge"]
    assert np.array_equal(hinge.value, values) and hinge.speed[-1] == other.joints["hinge"].speed
    assert np.isnan(hinge.target).all() and np.isnan(hinge.target_speed).all() and not hinge.effort.any()
    assert list(run.joints) == ["slide", "hinge"] and list(run.sensors) == ["imu", "pin"]
    assert run.sensors["imu"].shape == (len(run), 3) and run.sensors["pin"].shape == (len(run), 6)
    assert np.array_equal(run.sensors["pin"][-1], other.sensors["pin"].value)
    assert np.array_equal(run.column("pin.fy"), run.sensors["pin"][:, 1])
    assert run["pole"].carrier == [run.stepper] * len(run) and not run["pole"].error_estimate.any()
    run.plot("hinge.q", "imu.z", "pin.fy", "hinge.effort")
    run.save(tmp_path / "run.h5")
    again = tippe.open(tmp_path / "run.h5")
    assert again.to_dataframe().equals(run.to_dataframe()) and list(again.sensors) == ["imu", "pin"]
    assert np.array_equal(again.joints["hinge"].value, hinge.value)

    (tmp_path / "scene.json").write_text(json.dumps(scene))
    run_program("run", "scene.json", "--until=0.1", "--csv", "run.csv", "--joints", "joints.csv", "--quiet", cwd=tmp_path)
    table = tippe.load(tmp_path / "scene.json").run(until=0.1).to_dataframe()
    for name in ("run.csv", "joints.csv"):
        for column, values in read_table(tmp_path / name).items():
            assert values == table[column].tolist(), column


def test_carriers_of_auto(tmp_path: Path):
    run = tippe.load("bouncing_ball", stepper="auto").run(until=1)
    names = set(run["ball"].carrier)
    assert names <= set(tippe.steppers()) and names != {"auto"}
    assert (run["ball"].carrier_step >= 0).all() and (run["ball"].error_estimate[1:] >= 0).all()
    run.save(tmp_path / "run.h5")
    assert tippe.open(tmp_path / "run.h5")["ball"].carrier == run["ball"].carrier


@pytest.mark.parametrize("place", ["memory", "file"])
def test_runs_can_be_pickled(run: tippe.Run, tmp_path: Path, place: str):
    if place == "file":
        run.save(tmp_path / "run.h5")
        run = tippe.open(tmp_path / "run.h5")
    copy = pickle.loads(pickle.dumps(run))
    assert np.array_equal(copy.position, run.position) and np.array_equal(copy.residual, run.residual)
    assert copy.bodies == run.bodies and len(copy.to_dataframe()) == len(run)
    folder = Path(str(copy.path)).parent
    assert folder.exists()
    del copy
    gc.collect()
    assert not folder.exists()


def test_worlds_say_what_to_send_instead_of_them():
    with pytest.raises(TypeError, match="snapshot"):
        pickle.dumps(tippe.load("card_house"))
