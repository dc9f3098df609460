"""Sweeps: grids and lists, on processes that are killed at random, and on a Dask cluster."""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
import threading
import time
from functools import partial
from pathlib import Path

import numpy as np
import pandas
import pytest
import tippe

FRICTION = "materials.wood.friction"


def ramp() -> dict:
    """A block on a ramp of 30 degrees: short runs."""
    scene = tippe.read_scene("block_ramp")
    scene["simulation"] = {"stepper": "anitescu", "step": 0.01, "until": 0.5}
    return scene


def travelled(run: tippe.Run) -> dict[str, float]:
    return {"distance": float(np.linalg.norm(run.position[-1, 0] - run.position[0, 0])), "steps": len(run) - 1}


def expected(values: list[dict]) -> pandas.DataFrame:
    """What a plain loop gives."""
    rows = []
    for row in values:
        scene = ramp()
        for path, value in row.items():
            if path == FRICTION:
                scene["materials"]["wood"]["friction"] = value
            else:
                scene["simulation"][path] = value
        rows.append({**row, **travelled(tippe.load(scene).run())})
    return pandas.DataFrame(rows)


def test_a_grid_is_a_plain_loop_in_parallel():
    grid = {FRICTION: [0.1, 0.3, 0.9], "step": [0.01, 0.005], "stepper": ["anitescu", "stewart-trinkle"]}
    table = tippe.sweep(ramp(), grid, travelled, workers=2, progress=False)
    rows = [{FRICTION: f, "step": h, "stepper": s} for f in grid[FRICTION] for h in grid["step"] for s in grid["stepper"]]
    pandas.testing.assert_frame_equal(table, expected(rows), check_exact=True)
    assert 0 < table.attrs["step_share"] < 1.5 and table.attrs["seconds"] > 0
    sliding = table[table["stepper"] == "anitescu"].groupby(FRICTION)["distance"].mean()
    assert sliding.is_monotonic_decreasing and sliding[0.9] < 1e-6


def test_lists_and_tables_of_parameters():
    rows = [{FRICTION: 0.1, "until": 0.2}, {FRICTION: 0.2, "until": 0.3}]
    table = tippe.sweep(ramp(), rows, travelled, workers=1, progress=False)
    assert table["steps"].tolist() == [20, 30]
    again = tippe.sweep(ramp(), pandas.DataFrame(rows), travelled, workers=1, progress=False)
    pandas.testing.assert_frame_equal(table, again)
    one = tippe.sweep(ramp(), {FRICTION: np.linspace(0.1, 0.2, 3)}, lambda run: run.energy[-1], workers=1, progress=False)
    assert list(one.columns) == [FRICTION, "measured"]
    empty = tippe.sweep(ramp(), [], travelled, progress=False)
    assert len(empty) == 0


@pytest.mark.parametrize(
    ("path", "value", "read"),
    [
        ("materials.wood.friction", 0.25, lambda s: s["materials"]["wood"]["friction"]),
        ("bodies.block.mass", 3.0, lambda s: next(b for b in s["bodies"] if b["name"] == "block")["mass"]),
        ("bodies.0.position", [1, 2, 3], lambda s: s["bodies"][0]["position"]),
        ("gravity", [0, 0, -1], lambda s: s["gravity"]),
        ("stepper", "penalty", lambda s: s["simulation"]["stepper"]),
        ("step", 0.5, lambda s: s["simulation"]["step"]),
        ("options.tolerance", 1e-6, lambda s: s["simulation"]["options"]["tolerance"]),
        ("simulation.until", 7, lambda s: s["simulation"]["until"]),
    ],
)
def test_paths(path: str, value: object, read):
    from tippe.scene_files import get_path, set_path

    scene = tippe.read_scene("block_ramp")
    set_path(scene, path, value)
    assert read(scene) == value and get_path(scene, path) == value


@pytest.mark.parametrize(
    ("words", "parameters"),
    [
        ("materials.wod", {"materials.wod.friction": [1]}),
        ("bodies.bloc", {"bodies.bloc.mass": [1]}),
        ("joints", {"joints.knee.servo.target": [1]}),
        ("parameters", {"parameters.n": [1]}),
        ("parameters", 3),
        ("parameters", {"step": 0.1}),
        ("parameters", {"stepper": "anitescu"}),
        ("parameters", [0.1]),
    ],
)
def test_paths_that_lead_nowhere(words: str, parameters):
    with pytest.raises(ValueError, match=words):
        tippe.sweep("block_ramp", parameters, travelled, progress=False)


def test_runs_that_fail_say_why():
    table = tippe.sweep(ramp(), {FRICTION: [0.1, -1.0, 0.3]}, travelled, workers=2, progress=False)
    assert table["distance"].isna().tolist() == [False, True, False]
    assert "materials.wood.friction" in table["error"][1] and table["error"][0] is None

    def fussy(run: tippe.Run) -> float:
        if run.position[-1, 0, 0] > 0:
            raise RuntimeError("too far")
        return 1.0

    with pytest.raises(RuntimeError, match="all 2 runs failed.*(too far|contacts)"):
        tippe.sweep(ramp(), {FRICTION: [0.1, 0.2]}, lambda run: fussy(run) and run.contacts, workers=2, progress=False)
    kept = tippe.sweep(ramp(), {FRICTION: [0.1]}, lambda run: len(run.contacts), contacts=True, workers=1, progress=False)
    assert kept["measured"][0] > 0


def test_results_are_kept_and_a_second_call_resumes(tmp_path: Path):
    calls = tmp_path / "calls"
    calls.mkdir()

    def counted(run: tippe.Run) -> dict[str, float]:
        (calls / f"{time.time_ns()}-{os.getpid()}").touch()
        return travelled(run)

    first = tippe.sweep(ramp(), {FRICTION: [0.1, 0.2]}, counted, resume=tmp_path / "runs", workers=2, progress=False)
    assert len(list(calls.iterdir())) == 2
    second = tippe.sweep(ramp(), {FRICTION: [0.1, 0.2, 0.3]}, counted, resume=tmp_path / "runs", workers=2, progress=False)
    assert len(list(calls.iterdir())) == 3
    pandas.testing.assert_frame_equal(first, second[:2], check_exact=True)
    stored = pandas.read_parquet(tmp_path / "runs" / "results.parquet")
    pandas.testing.assert_frame_equal(stored, second, check_exact=True)
    # Another scene, or another measure, is another sweep.
    other = ramp()
    other["gravity"] = [0, 0, -5]
    tippe.sweep(other, {FRICTION: [0.1]}, counted, resume=tmp_path / "runs", workers=1, progress=False)
    assert len(list(calls.iterdir())) == 4
    # A line that was cut off is run again.
    log = max((tmp_path / "runs").glob("*.jsonl"), key=lambda path: path.stat().st_size)
    log.write_bytes(log.read_bytes()[:-20])
    again = tippe.sweep(ramp(), {FRICTION: [0.1, 0.2, 0.3]}, counted, resume=tmp_path / "runs", workers=1, progress=False)
    assert len(list(calls.iterdir())) == 5
    pandas.testing.assert_frame_equal(again, second, check_exact=True)


def children() -> list[int]:
    listing = Path(f"/proc/{os.getpid()}/task/{os.getpid()}/children").read_text().split()
    return [int(pid) for pid in listing if b"sweep_processes" in Path(f"/proc/{pid}/cmdline").read_bytes()]


def test_workers_that_are_killed_at_random(tmp_path: Path):
    chance = random.Random(3)
    values = {FRICTION: np.linspace(0.05, 0.6, 150)}
    killed = 0
    stop = threading.Event()

    def kill() -> None:
        nonlocal killed
        while not stop.wait(0.15):
            pids = children()
            if pids and killed < 8:
                os.kill(chance.choice(pids), signal.SIGKILL)
                killed += 1

    def slow(run: tippe.Run) -> dict[str, float]:
        time.sleep(0.01)
        return travelled(run)

    thread = threading.Thread(target=kill)
    thread.start()
    try:
        table = tippe.sweep(ramp(), values, slow, resume=tmp_path, workers=2, progress=False)
    finally:
        stop.set()
        thread.join()
    assert killed >= 3
    assert "error" not in table.columns and len(table) == 150
    lines = [line for path in tmp_path.glob("*.jsonl") for line in path.read_text().splitlines()]
    assert len(lines) == 150  # nothing that was finished was run again
    sample = [0, 77, 149]
    rows = [{FRICTION: values[FRICTION][i]} for i in sample]
    assert table["distance"][sample].tolist() == expected(rows)["distance"].tolist()


def test_a_run_that_kills_its_worker_is_given_up():
    def deadly(run: tippe.Run) -> float:
        if travelled(run)["distance"] > 0.3:  # the lowest friction only
            os.kill(os.getpid(), signal.SIGKILL)
        return 1.0

    values = [{FRICTION: friction} for friction in (0.0, 0.3, 0.4)]
    assert (expected(values)["distance"] > 0.3).tolist() == [True, False, False]
    table = tippe.sweep(ramp(), values, deadly, workers=2, progress=False)
    assert "died 5 times" in table["error"][0]
    assert table["error"][1] is None and table["error"][2] is None


SCRIPT = """
import sys, time
import tippe
sys.path.insert(0, sys.argv[2])
from test_sweep import FRICTION, ramp, travelled

def slow(run):
    time.sleep(0.02)
    return travelled(run)

table = tippe.sweep(ramp(), {FRICTION: [i / 100 for i in range(1, 61)]}, slow, resume=sys.argv[1], workers=2, progress=False)
print(len(table), table["distance"].sum())
"""


def test_a_sweep_that_is_killed_resumes(tmp_path: Path):
    """Also: functions of a script without a guard around its main part travel to the workers."""
    script = tmp_path / "script.py"
    script.write_text(SCRIPT)
    command = [sys.executable, str(script), str(tmp_path / "runs"), str(Path(__file__).parent)]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    deadline = time.time() + 60
    while time.time() < deadline:
        logs = list((tmp_path / "runs").glob("*.jsonl")) if (tmp_path / "runs").exists() else []
        if logs and len(logs[0].read_text().splitlines()) >= 10:
            break
        time.sleep(0.02)
    process.send_signal(signal.SIGKILL)
    process.wait()
    before = logs[0].read_text().splitlines()
    assert 10 <= len(before) < 60
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    after = [line for line in logs[0].read_text().splitlines() if line]
    assert after[: len(before) - 1] == before[:-1]
    assert len(after) <= 61  # at most the line that was cut off was run again
    rows = expected([{FRICTION: i / 100} for i in range(1, 61)])
    assert done.stdout.split() == ["60", str(rows["distance"].sum())]


def test_on_a_dask_cluster_whose_workers_die(tmp_path: Path):
    """The workers that have finished runs are killed, twice, in the middle of chunks: what they had told is not run again."""
    distributed = pytest.importorskip("distributed")
    finished = tmp_path / "finished"
    finished.mkdir()
    kills = 0
    cluster = distributed.LocalCluster(n_workers=2, threads_per_worker=1, processes=True, dashboard_address=None)
    with cluster, distributed.Client(cluster) as client:
        pids = set(client.run(os.getpid).values())
        assert len(pids) == 2 and os.getpid() not in pids

        def slow(run: tippe.Run) -> dict[str, float]:
            time.sleep(0.02)
            (finished / f"{time.time_ns()}-{os.getpid()}").touch()
            return {**travelled(run), "pid": os.getpid()}

        def wait_for_workers() -> None:
            """Dask does not replace workers that die before it knows that they have started."""
            while any(nanny.status.name != "running" for nanny in cluster.workers.values()):
                time.sleep(0.01)

        def kill() -> None:
            nonlocal kills
            for count in (25, 75):
                while len(list(finished.iterdir())) < count:
                    time.sleep(0.01)
                wait_for_workers()
                for pid in {int(path.name.split("-")[1]) for path in finished.iterdir()}:
                    try:
                        os.kill(pid, signal.SIGKILL)
                        kills += 1
                    except ProcessLookupError:
                        pass

        wait_for_workers()
        thread = threading.Thread(target=kill)
        thread.start()
        values = {FRICTION: np.linspace(0.05, 0.6, 120)}
        table = tippe.sweep(ramp(), values, slow, client=client, resume=tmp_path, progress=False)
        thread.join()
    assert kills >= 2
    assert "error" not in table.columns and len(table) == 120
    assert os.getpid() not in set(table["pid"]) and len(set(table["pid"]) - pids) >= 1  # the cluster replaced them
    # A run may be finished and not told when its worker dies: one or two for each, more on a machine that is busy.
    assert 120 <= len(list(finished.iterdir())) <= 120 + 6 * kills
    lines = [line for path in tmp_path.glob("*.jsonl") for line in path.read_text().splitlines()]
    assert len(lines) == 120
    sample = [0, 60, 119]
    rows = [{FRICTION: values[FRICTION][i]} for i in sample]
    assert table["distance"][sample].tolist() == expected(rows)["distance"].tolist()


def test_a_cluster_without_workers_is_told(monkeypatch: pytest.MonkeyPatch):
    distributed = pytest.importorskip("distributed")
    monkeypatch.setattr("tippe.sweep_cluster.LONELY_SECONDS", 0.6)
    with (
        distributed.LocalCluster(n_workers=0, threads_per_worker=1, processes=False, dashboard_address=None) as cluster,
        distributed.Client(cluster) as client,
        pytest.warns(RuntimeWarning, match="^client: the cluster has had no workers"),
    ):
        threading.Timer(2, lambda: cluster.scale(1)).start()
        table = tippe.sweep(ramp(), {FRICTION: [0.1]}, travelled, client=client, progress=False)
    assert len(table) == 1


def test_another_measure_is_another_sweep():
    """Numbers that a measure takes from around it are part of what it is; where it stands in memory is not."""
    from tippe.sweep_tasks import Task

    def identity(measure) -> str:
        return Task({}, measure, 1, False).identity()

    def beyond(limit: float):
        return lambda run: run.energy[-1] > limit

    assert identity(beyond(1.0)) == identity(beyond(1.0)) != identity(beyond(2.0))
    assert identity(partial(scaled, factor=2)) == identity(partial(scaled, factor=2)) != identity(partial(scaled, factor=3))
    assert identity(Scale(2)) == identity(Scale(2)) != identity(Scale(3))
    assert identity(Scale(2).measure) != identity(Scale(3).measure)
    assert identity(lambda run, unlike=object(): 1) != identity(travelled)
    script = "from tippe.sweep_tasks import Task; k = 3; print(Task({}, lambda run: [k * i for i in run.time], 1, False).identity())"
    said = {subprocess.run([sys.executable, "-c", text], capture_output=True, text=True, check=True).stdout
            for text in (script, script, script.replace("k = 3", "k = 4"))}
    assert len(said) == 2


def scaled(run: tippe.Run, factor: float) -> float:
    return factor * float(run.energy[-1])


class Scale:
    def __init__(self, factor: float) -> None:
        self.factor = factor

    def __call__(self, run: tippe.Run) -> float:
        return scaled(run, self.factor)

    def measure(self, run: tippe.Run) -> float:
        return scaled(run, self.factor)


def test_progress_and_bad_arguments(capsys: pytest.CaptureFixture[str]):
    tippe.sweep(ramp(), {FRICTION: [0.1, 0.2]}, travelled, workers=1)
    assert "2/2" in capsys.readouterr().err
    for name, arguments in (("workers", {"workers": 0}), ("every", {"every": 0})):
        with pytest.raises(ValueError, match=name):
            tippe.sweep(ramp(), {FRICTION: [0.1]}, travelled, progress=False, **arguments)
    with pytest.raises(ValueError, match="measure"):
        tippe.sweep(ramp(), {FRICTION: [0.1]}, 3, progress=False)  # type: ignore[arg-type]
