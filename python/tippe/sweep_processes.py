"""Sweeps on this machine: processes that may die at any time without harm.

A worker is a Python of its own that reads sets of parameters from its standard input and answers on its standard
output, run by run. What a worker had not answered when it died is given to others; a set that has cost several
workers their lives is given up.
"""

from __future__ import annotations

import io
import os
import pickle
import selectors
import struct
import subprocess
import sys
from collections import deque
from collections.abc import Iterator
from typing import Any

from .sweep_tasks import MOST_DEATHS, Outcome, Task, unpack

AHEAD = 4  # sets that a worker has in hand, so that it never waits for the next


class _Worker:
    def __init__(self, task: Task) -> None:
        self.process = subprocess.Popen(
            [sys.executable, "-c", "from tippe.sweep_processes import work; work()"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            env={**os.environ, "PYTHONPATH": os.pathsep.join(path for path in sys.path if path)},
        )
        self.hand: deque[tuple[int, dict[str, Any]]] = deque()  # given and not answered, in order
        self.bytes = bytearray()
        self.is_alive = True
        self.send(task.packed())

    def send(self, message: bytes) -> None:
        stream = self.process.stdin
        assert stream is not None
        try:
            stream.write(struct.pack("<Q", len(message)) + message)
            stream.flush()
        except OSError:
            self.is_alive = False

    def give(self, item: tuple[int, dict[str, Any]]) -> None:
        self.hand.append(item)
        self.send(pickle.dumps(item[1]))

    def answers(self) -> list[tuple[int, Outcome]]:
        """What has come in; notes when the worker is gone."""
        stream = self.process.stdout
        assert stream is not None
        data = os.read(stream.fileno(), 1 << 20)
        if not data:
            self.is_alive = False
        self.bytes += data
        found: list[tuple[int, Outcome]] = []
        while len(self.bytes) >= 8:
            (size,) = struct.unpack_from("<Q", self.bytes)
            if len(self.bytes) < 8 + size:
                break
            outcome: Outcome = pickle.loads(self.bytes[8 : 8 + size])
            del self.bytes[: 8 + size]
            found.append((self.hand.popleft()[0], outcome))
        return found

    def end(self) -> None:
        for stream in (self.process.stdin, self.process.stdout):
            if stream is not None:
                try:
                    stream.close()
                except OSError:
                    pass
        self.process.kill()
        self.process.wait()


def run_in_processes(
    task: Task, waiting: list[tuple[int, dict[str, Any]]], count: int
) -> Iterator[tuple[int, Outcome]]:
    """Outcomes as they come, with the numbers of their sets."""
    queue = deque(waiting)
    deaths: dict[int, int] = {}
    workers: list[_Worker] = []
    selector = selectors.DefaultSelector()
    left = len(waiting)
    early_deaths = 0

    def start() -> None:
        worker = _Worker(task)
        workers.append(worker)
        selector.register(worker.process.stdout, selectors.EVENT_READ, worker)  # type: ignore[arg-type]

    def feed(worker: _Worker) -> None:
        while queue and len(worker.hand) < AHEAD and worker.is_alive:
            # A set that may have killed a worker is alone in the hand of the next.
            if worker.hand and (queue[0][0] in deaths or worker.hand[0][0] in deaths):
                break
            worker.give(queue.popleft())

    try:
        for _ in range(count):
            start()
        while left > 0:
            for worker in workers:
                feed(worker)
            for key, _ in selector.select():
                worker = key.data
                for i, outcome in worker.answers():
                    left -= 1
                    early_deaths = 0
                    yield i, outcome
                if worker.is_alive:
                    continue
                selector.unregister(key.fileobj)
                workers.remove(worker)
                status = worker.process.wait()
                worker.end()
                early_deaths += 1
                if early_deaths > 10 * count:
                    raise RuntimeError(f"workers die before they finish a run; the last one ended with status {status}")
                # The run at hand may be what killed it; those behind it are innocent.
                for place, (i, values) in enumerate(worker.hand):
                    if place == 0:
                        deaths[i] = deaths.get(i, 0) + 1
                        if deaths[i] >= MOST_DEATHS:
                            left -= 1
                            yield i, Outcome.given_up(deaths[i], f", the last with status {status}")
                            continue
                    queue.append((i, values))
                if left > 0:
                    start()
    finally:
        for worker in workers:
            worker.end()
        selector.close()


# The other side ----------------------------------------------------------------------------------


def _read(stream: io.BufferedReader) -> bytes | None:
    head = stream.read(8)
    if len(head) < 8:
        return None
    (size,) = struct.unpack("<Q", head)
    message = stream.read(size)
    return message if len(message) == size else None


def work() -> None:
    """The main function of a worker; ends when its input does."""
    answers = os.fdopen(os.dup(sys.stdout.fileno()), "wb")
    os.dup2(sys.stderr.fileno(), sys.stdout.fileno())  # what a measure prints must not mix with answers
    requests = sys.stdin.buffer
    packed = _read(requests)  # type: ignore[arg-type]
    if packed is None:
        return
    task = unpack(packed)
    while (message := _read(requests)) is not None:  # type: ignore[arg-type]
        answer = pickle.dumps(task.run(pickle.loads(message)))
        try:
            answers.write(struct.pack("<Q", len(answer)) + answer)
            answers.flush()
        except BrokenPipeError:
            return
