"""Sweeps on a Dask cluster, whose workers may die at any time.

A task of the cluster is a chunk of runs on one worker. The worker tells each finished run at once, as an event, not with the
end of its chunk: what a killed worker had told is not run again. Chunks are bound to their workers, so that Dask does not
repeat the chunk of a dead worker by itself; its untold runs are given to others here.
"""

from __future__ import annotations

import contextlib
import pickle
import queue
import time
import uuid
import warnings
from collections import deque
from collections.abc import Iterator
from typing import Any

from .sweep_tasks import MOST_DEATHS, Outcome, Task, unpack

CHUNK_SECONDS = 0.5  # of work in one task: enough that the cluster's own work on it does not count
LOOK_SECONDS = 0.5  # between looks at which workers are still there
LONELY_SECONDS = 60.0  # without any worker until the user is told
AHEAD = 2  # chunks for each thread of a worker, so that it never waits for the next

Item = tuple[int, dict[str, Any]]


class _Chunk:
    """Runs that a worker has been given and has not told."""

    def __init__(self, worker: str, threads: int, items: list[Item]) -> None:
        self.worker = worker
        self.threads = threads  # of the worker
        self.left = dict(items)
        self.future: Any = None


def run_on_cluster(task: Task, waiting: list[Item], client: Any) -> Iterator[tuple[int, Outcome]]:
    """Outcomes as they come, with the numbers of their sets."""
    sweep = _ClusterSweep(task, waiting, client)
    try:
        yield from sweep.outcomes()
    finally:
        sweep.end()


class _ClusterSweep:
    def __init__(self, task: Task, waiting: list[Item], client: Any) -> None:
        self.client = client
        self.packed = task.packed()
        self.queue = deque(waiting)
        self.count = len(waiting)
        self.deaths: dict[int, int] = {}
        self.chunks: dict[str, _Chunk] = {}  # by their names
        self.news: queue.SimpleQueue[tuple[str, str, Any]] = queue.SimpleQueue()
        self.missing: set[str] = set()  # workers that were not there at the last look
        self.seconds_per_run = CHUNK_SECONDS
        self.topic = f"tippe-sweep-{uuid.uuid4().hex}"
        client.subscribe_topic(self.topic, self._hear)

    def _hear(self, event: Any) -> None:
        name, i, outcome = pickle.loads(event[1])
        self.news.put(("told", name, (i, outcome)))

    def outcomes(self) -> Iterator[tuple[int, Outcome]]:
        threads = self._threads()
        self._submit(threads)
        looked = seen = time.monotonic()
        left = self.count
        while left > 0:
            try:
                what, name, content = self.news.get(timeout=LOOK_SECONDS)
            except queue.Empty:
                what, name, content = "", "", None
            found: list[tuple[int, Outcome]] = []
            chunk = self.chunks.get(name)
            if chunk is not None and what == "told":
                found = self._take(chunk, [content])
            elif chunk is not None and what == "ended":
                found = self._end_chunk(name, chunk, content)
                self._submit(threads)
            if time.monotonic() - looked > LOOK_SECONDS:
                threads = self._threads()
                found += self._bury(threads)
                self._submit(threads)
                looked = time.monotonic()
                if threads:
                    seen = looked
                elif looked - seen > LONELY_SECONDS:
                    warnings.warn("client: the cluster has had no workers for a minute; the sweep waits for some", RuntimeWarning, stacklevel=2)
                    seen = looked
            left -= len(found)
            yield from found

    def _threads(self) -> dict[str, int]:
        """The workers that are there, with their numbers of threads."""
        return dict(self.client.nthreads())

    def _submit(self, threads: dict[str, int]) -> None:
        busy: dict[str, int] = {}
        for chunk in self.chunks.values():
            busy[chunk.worker] = busy.get(chunk.worker, 0) + 1
        # In turn, so that the last chunks are spread over the workers.
        for depth in range(AHEAD * max(threads.values(), default=0)):
            for worker, count in threads.items():
                if self.queue and busy.get(worker, 0) <= depth < AHEAD * count:
                    self._give(worker, threads)
                    busy[worker] = busy.get(worker, 0) + 1

    def _give(self, worker: str, threads: dict[str, int]) -> None:
        fair = len(self.queue) // (AHEAD * sum(threads.values()))  # the end comes for all at once
        size = max(1, min(int(CHUNK_SECONDS / self.seconds_per_run), fair))
        items = [self.queue.popleft()]
        # What may have killed a worker runs alone.
        while self.queue and len(items) < size and items[0][0] not in self.deaths and self.queue[0][0] not in self.deaths:
            items.append(self.queue.popleft())
        name = uuid.uuid4().hex
        chunk = _Chunk(worker, threads[worker], items)
        chunk.future = self.client.submit(
            _run_chunk, self.packed, items, self.topic, name, workers=[worker], allow_other_workers=False, pure=False)
        self.chunks[name] = chunk
        chunk.future.add_done_callback(lambda future: self.news.put(("ended", name, future)))

    def _take(self, chunk: _Chunk, told: list[tuple[int, Outcome]]) -> list[tuple[int, Outcome]]:
        """Those of the outcomes that are new."""
        found = [(i, outcome) for i, outcome in told if chunk.left.pop(i, None) is not None]
        for _, outcome in found:
            self.seconds_per_run += 0.2 * (max(1e-5, outcome.seconds) - self.seconds_per_run)
        return found

    def _end_chunk(self, name: str, chunk: _Chunk, future: Any) -> list[tuple[int, Outcome]]:
        if future.status == "finished":
            del self.chunks[name]
            # Events come before the end of their chunk; if the cluster lost one, the chunk still has it.
            return self._take(chunk, future.result()) if chunk.left else []
        if future.status == "error":
            from distributed import KilledWorker

            error = future.exception()
            if not isinstance(error, KilledWorker):
                raise error
        return self._lose(name, chunk, has_begun=True)

    def _bury(self, threads: dict[str, int]) -> list[tuple[int, Outcome]]:
        """Takes back what dead workers had: those that were missing at the last look already, since what they told may come
        after the news of their death. Chunks are run in the order in which they were given: those beyond the number of threads
        had not begun."""
        missing = {chunk.worker for chunk in self.chunks.values() if chunk.worker not in threads}
        dead, self.missing = missing & self.missing, missing
        found: list[tuple[int, Outcome]] = []
        seen: dict[str, int] = {}
        for name, chunk in list(self.chunks.items()):
            if chunk.worker in dead:
                seen[chunk.worker] = seen.get(chunk.worker, 0) + 1
                found += self._lose(name, chunk, seen[chunk.worker] <= chunk.threads)
        return found

    def _lose(self, name: str, chunk: _Chunk, has_begun: bool) -> list[tuple[int, Outcome]]:
        """The run at hand may be what killed the worker; those behind it are innocent."""
        del self.chunks[name]
        self.client.cancel([chunk.future])
        found: list[tuple[int, Outcome]] = []
        for place, (i, values) in enumerate(chunk.left.items()):
            if place == 0 and has_begun:
                self.deaths[i] = self.deaths.get(i, 0) + 1
                if self.deaths[i] >= MOST_DEATHS:
                    found.append((i, Outcome.given_up(self.deaths[i])))
                    continue
            self.queue.append((i, values))
        return found

    def end(self) -> None:
        with contextlib.suppress(Exception):  # the cluster may be gone, and what ended the sweep is told already
            self.client.cancel([chunk.future for chunk in self.chunks.values()])
            self.client.unsubscribe_topic(self.topic)


def _run_chunk(packed: bytes, items: list[Item], topic: str, name: str) -> list[tuple[int, Outcome]]:
    """Some runs, one after the other, on a worker."""
    from distributed import get_worker

    worker = get_worker()
    task = unpack(packed)
    told: list[tuple[int, Outcome]] = []
    for i, values in items:
        told.append((i, task.run(values)))
        worker.log_event(topic, pickle.dumps((name, *told[-1])))
    return told
