"""What one run of a sweep is, for workers wherever they are."""

from __future__ import annotations

import hashlib
import inspect
import json
import pickle
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from .scene_files import open_text, with_paths

if TYPE_CHECKING:
    from .run import Run


@dataclass
class Outcome:
    """What came of one set of parameters."""

    measured: dict[str, Any]
    error: str | None = None
    seconds: float = 0.0
    """Of the clock."""
    processor_seconds: float = 0.0
    """Of the worker's processor time."""
    step_seconds: float = 0.0
    """Of that, in steps: an estimate."""


@dataclass
class Task:
    """A scene and what is done with each variant of it."""

    scene: dict[str, Any]
    measure: Callable[[Run], Any]
    every: int
    contacts: bool
    _packed: bytes | None = field(default=None, repr=False)

    def packed(self) -> bytes:
        """For other processes: functions of scripts and notebooks travel by value."""
        import cloudpickle

        if self._packed is None:
            self._packed = cloudpickle.dumps((self.scene, self.measure, self.every, self.contacts))
        return self._packed

    def identity(self) -> str:
        """Of everything that decides a result but the parameters: scene, measure, version."""
        from . import __version__

        parts = [json.dumps(self.scene, sort_keys=True, default=str), _source_of(self.measure)]
        parts += [str(self.every), str(self.contacts), __version__]
        return hashlib.sha256("\0".join(parts).encode()).hexdigest()

    def run(self, values: Mapping[str, Any]) -> Outcome:
        """One run. Whatever it raises is an outcome, but for what ends the process."""
        start, processor_start = time.perf_counter(), time.thread_time()
        outcome = Outcome({})
        try:
            outcome = self._run(values)
        except Exception as error:  # noqa: BLE001
            outcome.error = f"{type(error).__name__}: {error}"
        outcome.seconds = time.perf_counter() - start
        outcome.processor_seconds = time.thread_time() - processor_start
        return outcome

    def _run(self, values: Mapping[str, Any]) -> Outcome:
        from .world import world_of

        world = world_of(open_text(with_paths(self.scene, values)))
        run = world.run(every=self.every, contacts=self.contacts)
        return Outcome(_as_dict(self.measure(run), self.measure), step_seconds=run._trace.step_seconds)


def _as_dict(measured: Any, measure: Any) -> dict[str, Any]:
    if isinstance(measured, Mapping):
        return {str(key): _plain(value) for key, value in measured.items()}
    name = getattr(measure, "__name__", "measured")
    return {name if name.isidentifier() else "measured": _plain(measured)}


def _plain(value: Any) -> Any:
    value = value.tolist() if hasattr(value, "tolist") else value
    if value is None or isinstance(value, (bool, int, float, str)):
        return value
    if isinstance(value, (list, tuple)):
        return [_plain(item) for item in value]
    raise TypeError(f"measure: a {type(value).__name__} cannot be kept in a table; return numbers, texts or lists")


def _source_of(measure: Any) -> str:
    """The text of a function, or its code where there is no text (interactive ones)."""
    try:
        return inspect.getsource(measure)
    except (OSError, TypeError):
        code = getattr(measure, "__code__", None)
        return repr((code.co_code, code.co_consts, code.co_names)) if code is not None else repr(type(measure))


def keep_memory() -> None:
    """Asks the C library to keep the memory of a run for the next one.

    Giving it back to the system after every run and getting it again costs a tenth of the time of small runs.
    """
    import ctypes

    trim_threshold, mmap_threshold = -1, -3
    try:
        mallopt = ctypes.CDLL(None).mallopt
    except (OSError, AttributeError):
        return  # another C library: slower, not wrong
    mallopt(trim_threshold, 1 << 30)
    mallopt(mmap_threshold, 1 << 30)


_unpacked: dict[bytes, Task] = {}


def unpack(packed: bytes) -> Task:
    """The task; kept, since a worker gets many chunks of the same."""
    key = hashlib.sha256(packed).digest()
    if key not in _unpacked:
        keep_memory()
        _unpacked.clear()
        _unpacked[key] = Task(*pickle.loads(packed))
    return _unpacked[key]


def run_chunk(packed: bytes, chunk: list[tuple[int, dict[str, Any]]]) -> list[Outcome]:
    """Some runs, one after the other: a task of a cluster."""
    task = unpack(packed)
    return [task.run(values) for _, values in chunk]

