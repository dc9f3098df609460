"""Many worlds at once."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import cast

from . import _core
from .scene_files import SceneLike, open_scene, settings_of
from .world import OptionValue, World, world_of

__all__ = ["Batch"]


class Batch(_core.Batch):
    """Many worlds of one scene, stepped by threads.

        batch = tippe.Batch("hopper", 4096, threads=2)
        batch.step()
        batch.positions            # (worlds, n, 3), live and writable
        batch[7].gravity = (0, 0, -1.6)
        batch.reset(batch.positions[:, 0, 2] < 0.3)

    scene     as in tippe.load
    count     number of worlds
    threads   threads that step them; the results are the same for any number
    stepper, step, options   instead of the scene's

    Worlds may have numbers of their own (masses, friction, gravity), but not other bodies or joints.
    """

    def __init__(
        self,
        scene: SceneLike,
        count: int,
        *,
        threads: int = 1,
        stepper: str | None = None,
        step: float | None = None,
        options: Mapping[str, OptionValue] | None = None,
    ) -> None:
        for name, value, most in (("count", count, 10**7), ("threads", threads, 1024)):
            if isinstance(value, bool) or not isinstance(value, int) or not 1 <= value <= most:
                raise ValueError(f"{name}: expected a whole number from 1 to {most}, got {value!r}")
        document = open_scene(scene)
        document.override(stepper, step, None, list(settings_of(options or {})))
        super().__init__([world_of(document) for _ in range(count)], threads)
        self._worlds = cast("list[World]", self.worlds)

    @property
    def joint_names(self) -> list[str]:
        """Names of all coordinates of joints, as World.joint_names."""
        return self._worlds[0].joint_names

    @property
    def step_size(self) -> float:
        """The length of a step() without an argument, s: the scene's."""
        return self._worlds[0].step_size

    def __len__(self) -> int:
        return len(self._worlds)

    def __getitem__(self, index: int) -> World:
        return self._worlds[index]

    def __iter__(self) -> Iterator[World]:
        return iter(self._worlds)

    def __repr__(self) -> str:
        return f"Batch({len(self)} of {self._worlds[0]!r})"
