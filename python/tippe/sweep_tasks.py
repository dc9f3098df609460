"""What one run of a sweep is, for workers wherever they are."""

from __future__ import annotations

import contextlib
import functools
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

MOST_DEATHS = 5  # of workers that one set of parameters may cost; runs that do no harm meet fewer kills by chance


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
    is_final: bool = True
    """Whether another try would come to the same."""

    @classmethod
    def given_up(cls, deaths: int, more: str = "") -> Outcome:
        """Of a run that has cost too many workers: it may be what killed them, or have been unlucky."""
        return cls({}, f"its worker died {deaths} times{more}", is_final=False)


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
    """What a measure does, as text: its source and the numbers and texts that it takes from around it.

    Other things from around it (arrays, files, objects) are left out: their texts differ from process to process.
    """
    return "\n".join(_describe(measure, set()))


def _describe(thing: Any, seen: set[int]) -> list[str]:
    if _is_plain(thing):
        return [repr(thing)]
    if id(thing) in seen:
        return []
    seen.add(id(thing))
    if isinstance(thing, functools.partial):
        given = [*enumerate(thing.args), *sorted(thing.keywords.items())]
        return [*_describe(thing.func, seen), *(part for name, value in given for part in (str(name), *_describe(value, seen)))]
    if inspect.ismethod(thing):
        return [*_describe(thing.__func__, seen), *_describe(thing.__self__, seen)]
    if inspect.isfunction(thing):
        parts = [_text_of(thing)]
        for name, value in sorted(_around(thing).items()):
            is_own = inspect.isfunction(value) and value.__module__ == thing.__module__
            if is_own or _is_plain(value) or isinstance(value, functools.partial):
                parts += [name, *_describe(value, seen)]
        return parts
    if inspect.isbuiltin(thing) or inspect.isclass(thing):
        return [repr(thing)]
    call = getattr(type(thing), "__call__", None)  # an object that is called: its class, and its own numbers
    values = sorted((name, value) for name, value in getattr(thing, "__dict__", {}).items() if _is_plain(value))
    return [repr(type(thing)), repr(values), *(_describe(call, seen) if inspect.isfunction(call) else [])]


def _around(function: Any) -> dict[str, Any]:
    """What a function takes from around it, by name: globals, variables of the functions that it stands in, defaults."""
    found = {name: function.__globals__[name] for name in _names_in(function.__code__) if name in function.__globals__}
    for name, cell in zip(function.__code__.co_freevars, function.__closure__ or ()):
        with contextlib.suppress(ValueError):  # a cell may be empty still
            found[name] = cell.cell_contents
    defaults = [*enumerate(function.__defaults__ or ()), *(function.__kwdefaults__ or {}).items()]
    return {**found, **{f"={name}": value for name, value in defaults}}


def _names_in(code: Any) -> set[str]:
    return set(code.co_names).union(*(_names_in(const) for const in code.co_consts if inspect.iscode(const)))


def _is_plain(value: Any) -> bool:
    if isinstance(value, (list, tuple)):
        return all(_is_plain(item) for item in value)
    return value is None or isinstance(value, (bool, int, float, str))


def _text_of(function: Any) -> str:
    """The source of a function, or its code where there is no text (interactive ones)."""
    try:
        return inspect.getsource(function)
    except (OSError, TypeError):
        return repr(_parts_of(function.__code__))


def _parts_of(code: Any) -> tuple[Any, ...]:
    inner = tuple(_parts_of(const) if inspect.iscode(const) else const for const in code.co_consts)
    return (code.co_code, inner, code.co_names)


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
