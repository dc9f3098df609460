"""Many runs of one scene: grids and lists of parameters, on the cores of this machine or on a Dask cluster."""

from __future__ import annotations

import hashlib
import itertools
import json
import os
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Union

from .scene_files import SceneLike, check_path, read
from .sweep_tasks import Outcome, Task

if TYPE_CHECKING:
    import pandas

    from .run import Run

__all__ = ["sweep"]

Parameters = Union[Mapping[str, Iterable[Any]], Sequence[Mapping[str, Any]], "pandas.DataFrame"]
Measure = Callable[["Run"], Any]


def sweep(
    scene: SceneLike,
    parameters: Parameters,
    measure: Measure,
    *,
    client: Any = None,
    resume: str | os.PathLike[str] | None = None,
    workers: int | None = None,
    every: int = 1,
    contacts: bool = False,
    progress: bool = True,
) -> pandas.DataFrame:
    """Runs a scene for many sets of parameters and measures each run.

        def slides(run):
            return {"distance": run["block"].position[-1, 0], "residual": run.residual.max()}

        table = tippe.sweep("block_ramp", {"materials.wood.friction": [0.1, 0.2], "step": [0.01, 0.005]}, slides)

    scene       a name, a file or a dict, as tippe.load takes it
    parameters  a dict of paths and values (all combinations are run), or a list of dicts or a DataFrame (each row
                is run). A path is ``materials.wood.friction``, ``bodies.ball.mass``, ``joints.knee.servo.target``,
                ``parameters.n``, ``gravity``, ``stepper``, ``step``, ``until``, ``options.tolerance``
    measure     a function of the Run: returns a number, or a dict of them
    client      a dask.distributed.Client, to run on its workers; by default processes on this machine
    resume      a folder for the results. They are written as they come; a second call with the same scene,
                parameters and measure runs only what is missing. ``results.parquet`` in it is the table
    workers     processes on this machine; by default one for each core
    every       rows of the Run: every N-th step
    contacts    whether the measure needs ``run.contacts``
    progress    shows a progress bar

    Returns a pandas DataFrame, a row for each set in the order given: the parameters, then what was measured.
    A run that fails has NaN and says why in the column ``error``; if all fail, that is raised. A worker that is
    killed is replaced, and its unfinished runs are done by others. ``table.attrs`` tells seconds and the share of
    the workers' time that was spent in steps.
    """
    source = read(scene) if isinstance(scene, (str, os.PathLike)) else dict(scene)
    sets = _list_sets(parameters)
    for path in dict.fromkeys(itertools.chain.from_iterable(sets)):
        check_path(source, path)
    if isinstance(every, bool) or not isinstance(every, int) or every < 1:
        raise ValueError(f"every: expected a whole number, one or more, got {every!r}")
    if not callable(measure):
        raise ValueError(f"measure: expected a function of a Run, got {measure!r}")
    task = Task(source, measure, every, contacts)
    log = _Log(resume, task) if resume is not None else None
    done: dict[int, Outcome] = log.find(sets) if log is not None else {}
    waiting = [(i, values) for i, values in enumerate(sets) if i not in done]
    started = time.perf_counter()
    in_steps = busy = 0.0
    with _Bar(len(sets), len(done), progress) as bar:
        try:
            for i, outcome in _execute(task, waiting, client, workers):
                done[i] = outcome
                in_steps += outcome.step_seconds
                busy += outcome.processor_seconds
                if log is not None and outcome.is_final:
                    log.add(sets[i], outcome)
                bar.update(1)
        finally:
            if log is not None:
                log.close()
    table = _make_table(sets, [done[i] for i in range(len(sets))])
    table.attrs["seconds"] = time.perf_counter() - started
    table.attrs["step_share"] = in_steps / busy if busy > 0 else 0.0
    if log is not None:
        log.write_table(table)
    return table


def _execute(
    task: Task, waiting: list[tuple[int, dict[str, Any]]], client: Any, workers: int | None
) -> Iterator[tuple[int, Outcome]]:
    if not waiting:
        return iter(())
    if client is not None:
        from .sweep_cluster import run_on_cluster

        return run_on_cluster(task, waiting, client)
    from .sweep_processes import run_in_processes

    count = workers if workers is not None else len(os.sched_getaffinity(0))
    if isinstance(count, bool) or not isinstance(count, int) or count < 1:
        raise ValueError(f"workers: expected a whole number, one or more, got {workers!r}")
    return run_in_processes(task, waiting, min(count, len(waiting)))


# Sets of parameters ------------------------------------------------------------------------------


def _list_sets(parameters: Any) -> list[dict[str, Any]]:
    if hasattr(parameters, "to_dict") and hasattr(parameters, "columns"):
        return [{str(key): _plain(value) for key, value in row.items()} for row in parameters.to_dict("records")]
    if isinstance(parameters, Mapping):
        lists: list[list[Any]] = []
        for path, values in parameters.items():
            if isinstance(values, (str, bytes, Mapping)) or not isinstance(values, Iterable):
                raise ValueError(f"parameters: {path}: expected a list of values, got {values!r}")
            lists.append([_plain(value) for value in values])
        paths = [str(path) for path in parameters]
        return [dict(zip(paths, values)) for values in itertools.product(*lists)]
    if isinstance(parameters, Sequence) and not isinstance(parameters, (str, bytes)):
        for row in parameters:
            if not isinstance(row, Mapping):
                raise ValueError(f"parameters: expected a list of dicts, got {row!r} in it")
        return [{str(key): _plain(value) for key, value in row.items()} for row in parameters]
    raise ValueError("parameters: expected a dict of lists, a list of dicts or a DataFrame")


def _plain(value: Any) -> Any:
    """Numbers of numpy as those of Python, which JSON knows."""
    return value.tolist() if hasattr(value, "tolist") else value


# Results -----------------------------------------------------------------------------------------


def _make_table(sets: list[dict[str, Any]], outcomes: list[Outcome]) -> pandas.DataFrame:
    import pandas

    if outcomes and all(outcome.error is not None for outcome in outcomes):
        raise RuntimeError(f"all {len(outcomes)} runs failed, the first with: {outcomes[0].error}")
    rows = [{**values, **outcome.measured} for values, outcome in zip(sets, outcomes)]
    names = dict.fromkeys(itertools.chain.from_iterable(sets))
    names.update(dict.fromkeys(itertools.chain.from_iterable(outcome.measured for outcome in outcomes)))
    table = pandas.DataFrame(rows, columns=list(names))
    if any(outcome.error is not None for outcome in outcomes):
        table["error"] = pandas.Series([outcome.error for outcome in outcomes], dtype=object)
    return table


class _Log:
    """Finished runs in a file, a line each, so that nothing that was finished is lost."""

    def __init__(self, folder: str | os.PathLike[str], task: Task) -> None:
        self.folder = Path(folder)
        self.folder.mkdir(parents=True, exist_ok=True)
        self.path = self.folder / f"sweep-{task.identity()[:16]}.jsonl"
        self.stream: Any = None

    @staticmethod
    def key(values: Mapping[str, Any]) -> str:
        return hashlib.sha256(json.dumps(values, sort_keys=True).encode()).hexdigest()[:24]

    def find(self, sets: list[dict[str, Any]]) -> dict[int, Outcome]:
        """Outcomes of earlier calls. A line that was cut off in the middle is as good as none."""
        known: dict[str, Outcome] = {}
        if self.path.exists():
            with self.path.open(encoding="utf-8") as stream:
                for line in stream:
                    try:
                        record = json.loads(line)
                        known[record["key"]] = Outcome(record["measured"], record["error"])
                    except (ValueError, KeyError, TypeError):
                        continue
        found = {i: known.get(self.key(values)) for i, values in enumerate(sets)}
        return {i: outcome for i, outcome in found.items() if outcome is not None}

    def add(self, values: Mapping[str, Any], outcome: Outcome) -> None:
        if self.stream is None:
            # A line that a killed call left unfinished ends here.
            torn = self.path.exists() and self.path.stat().st_size > 0 and not self._ends_in_newline()
            self.stream = self.path.open("a", encoding="utf-8")
            if torn:
                self.stream.write("\n")
        record = {"key": self.key(values), "parameters": values, "measured": outcome.measured, "error": outcome.error}
        self.stream.write(json.dumps(record) + "\n")
        self.stream.flush()

    def _ends_in_newline(self) -> bool:
        with self.path.open("rb") as stream:
            stream.seek(-1, os.SEEK_END)
            return stream.read(1) == b"\n"

    def close(self) -> None:
        if self.stream is not None:
            self.stream.close()
            self.stream = None

    def write_table(self, table: pandas.DataFrame) -> None:
        """The table as Parquet: first beside it, then moved into place."""
        written = table.copy()
        written.attrs = {}
        for name in written.columns:
            if written[name].map(lambda value: isinstance(value, (list, dict))).any():
                written[name] = written[name].map(json.dumps)
            elif written[name].dtype == object and name != "error":
                kinds = {type(value) for value in written[name]}
                if len(kinds - {type(None)}) > 1:
                    written[name] = written[name].map(str)
        part = self.folder / f"results.{os.getpid()}.part"
        written.to_parquet(part)
        os.replace(part, self.folder / "results.parquet")


class _Bar:
    """A progress bar, or nothing."""

    def __init__(self, total: int, done: int, wanted: bool) -> None:
        self.bar: Any = None
        if wanted:
            from tqdm.auto import tqdm

            self.bar = tqdm(total=total, initial=done, unit="run")

    def update(self, count: int) -> None:
        if self.bar is not None:
            self.bar.update(count)

    def __enter__(self) -> _Bar:
        return self

    def __exit__(self, *_: object) -> None:
        if self.bar is not None:
            self.bar.close()
