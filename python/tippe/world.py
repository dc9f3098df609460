"""The world: bodies, shapes and joints that move and touch."""

from __future__ import annotations

import contextlib
import math
import os
from collections.abc import Callable, Iterator, Mapping, MutableMapping
from typing import Any, Union

from numpy.typing import ArrayLike, NDArray

from . import _core
from .joints import Couplings, Joints
from .materials import Friction, Material, Materials, WorldMaterial
from .queries import Closest, Hit, Overlap
from .run import Run, open_run
from .scene_files import SceneLike, open_scene, settings_of
from .sensors import Event, Sensors
from .viewing import View, open_view

__all__ = ["Options", "World", "load"]

OptionValue = Union[float, int, bool, str]


class Options(MutableMapping[str, OptionValue]):
    """The options of the steppers, as a dict: ``world.options["tolerance"] = 1e-8``.

    All options are there whatever the stepper; one that the stepper does not use is left alone.
    tippe.options() describes them.
    """

    def __init__(self, world: World) -> None:
        self._world = world

    def __getitem__(self, name: str) -> OptionValue:
        if name not in _core._options():
            raise KeyError(name)
        value: OptionValue = self._world._get_option(name)
        return value

    def __setitem__(self, name: str, value: OptionValue) -> None:
        self._world._set_option(name, value)

    def __delitem__(self, name: str) -> None:
        raise TypeError("options cannot be deleted; assign the default of tippe.options() instead")

    def __iter__(self) -> Iterator[str]:
        return iter(_core._options())

    def __len__(self) -> int:
        return len(_core._options())

    def __repr__(self) -> str:
        return repr(dict(self))


class World(_core.World):
    """Bodies, shapes and joints that move and touch.

    An empty one, to be filled:

        world = tippe.World(stepper="anitescu", gravity=(0, 0, -9.81))
        floor = world.add_body("floor", kind="fixed")
        floor.add_plane(material=tippe.Material(friction=0.5))
        ball = world.add_body("ball", position=(0, 0, 1))
        ball.add_sphere(0.1, density=1000, material=tippe.Material(friction=0.5))
        report = world.step(1 / 240)

    or one that a scene describes: ``tippe.load("card_house")``.

    stepper   the method, one of tippe.steppers()
    gravity   acceleration of free fall, m/s^2
    planar    motion in the x-y plane only
    threads   threads of a step; the results are the same for any number
    step      length of a step() without an argument, s
    options   options of the stepper, tippe.options() describes them

    All numbers are in SI units, quaternions are w x y z, angular velocities in world axes. A world may be
    used by one thread at a time; while it steps, other threads of Python run.
    """

    _materials: dict[Material, int]

    def __init__(
        self,
        stepper: str = "anitescu",
        *,
        gravity: ArrayLike = (0.0, 0.0, -9.81),
        planar: bool = False,
        threads: int = 1,
        step: float = 0.01,
        options: Mapping[str, OptionValue] | None = None,
    ) -> None:
        super().__init__(stepper, gravity=gravity, planar=planar, threads=threads, step=step)
        self._materials = {}
        self.options.update(options or {})

    def __setattr__(self, name: str, value: Any) -> None:
        # A misspelled name would be lost in silence. Classes derived from this one may have what they like.
        if type(self) is World and not name.startswith("_") and not hasattr(World, name):
            raise AttributeError(f"'World' object has no attribute {name!r}")
        super().__setattr__(name, value)

    def __reduce__(self) -> Any:
        raise TypeError("a World cannot be pickled or copied: send its scene and world.snapshot(), and restore() that where it arrives")

    @property
    def options(self) -> Options:
        """The options of the steppers: ``world.options["tolerance"] = 1e-8``."""
        return Options(self)

    @property
    def materials(self) -> Materials:
        """The materials that have names: ``world.materials["wood"].friction = 0.3``."""
        return Materials(self)

    @property
    def joints(self) -> Joints:
        """The joints by name: ``world.joints["knee"].target = 0.5``."""
        return Joints(self)

    @property
    def couplings(self) -> Couplings:
        """The couplings of joints by name: ``world.couplings["gear"].value``."""
        return Couplings(self)

    @property
    def sensors(self) -> Sensors:
        """The sensors by name: ``world.sensors["imu"].value``."""
        return Sensors(self)

    @property
    def events(self) -> list[Event]:
        """What happened in the last step: touches, hits, overlaps, limits, sleep.

        The first call makes the world watch: events are those of steps after it.
        """
        return [Event(*row) for row in self._events()]

    def add_material(
        self, name: str, friction: float | Friction = 0.0, restitution: float = 0.0, *, compliance: float = 0.0, damping: float = 0.0
    ) -> WorldMaterial:
        """Adds a material to the world; shapes take it by name: ``ball.add_sphere(0.1, material="steel")``. Numbers as in tippe.Material."""
        return WorldMaterial(self, self._add_material(Material(friction, restitution, name, compliance, damping)))

    def _material_at(self, place: int) -> WorldMaterial:
        return WorldMaterial(self, place)

    def cast_ray(self, origin: ArrayLike, translation: ArrayLike, *, mask: int = 0xFFFFFFFF) -> Hit | None:
        """The first shape that the ray from `origin` to `origin + translation` meets, or None.

            hit = world.cast_ray((0, 0, 10), (0, 0, -20))
            if hit: print(hit.body.name, hit.distance, hit.normal)

        mask   shapes take part whose group is in it, as in all questions

        Questions see the bodies where they are now. Shapes of overlap sensors are not seen.
        """
        found = self._cast_ray(origin, translation, mask)
        return None if found is None else Hit(*found)

    def cast_ray_at_all(self, origin: ArrayLike, translation: ArrayLike, *, mask: int = 0xFFFFFFFF) -> list[Hit]:
        """Every shape that the ray meets, each at its own first hit, the nearest first."""
        return sorted((Hit(*found) for found in self._cast_ray_at_all(origin, translation, mask)), key=lambda hit: hit.fraction)

    def cast_rays(self, origins: ArrayLike, translations: ArrayLike, *, mask: int = 0xFFFFFFFF) -> NDArray[Any]:
        """Many rays at once, as a scanner has them: a structured array with a row per ray.

            angles = np.linspace(-np.pi, np.pi, 360)
            rays = 10 * np.stack([np.cos(angles), np.sin(angles), 0 * angles], axis=1)
            ranges = world.cast_rays([robot.position], rays, mask=0b10)["distance"]

        origins, translations   of shape (n, 3), or (1, 3) for the same in all

        hit             whether it meets anything
        distance        m, infinite where nothing was met
        fraction        of the translation, 1 where nothing was met
        point, normal   where it ends, and the unit normal out of what was met
        index           place of the body in `bodies`, or -1
        triangle        of a mesh or height field, or -1
        starts_inside   the ray starts within the shape

        The interpreter's lock is released meanwhile.
        """
        return self._cast_rays(origins, translations, mask)

    def cast_shape(
        self,
        geometry: _core.Geometry,
        translation: ArrayLike,
        *,
        position: ArrayLike = (0.0, 0.0, 0.0),
        rotation: ArrayLike = (1.0, 0.0, 0.0, 0.0),
        tolerance: float = 1e-6,
        mask: int = 0xFFFFFFFF,
    ) -> Hit | None:
        """The first shape that a geometry of tippe.shapes comes within `tolerance` (m) of, moved by `translation` without turning."""
        found = self._cast_shape(geometry, translation, position, rotation, tolerance, mask)
        return None if found is None else Hit(*found)

    def overlap_box(self, lower: ArrayLike, upper: ArrayLike, *, mask: int = 0xFFFFFFFF) -> list[_core.Shape]:
        """The shapes that overlap a box along the world's axes, exactly."""
        shapes: list[_core.Shape] = self._overlap_box(lower, upper, mask)
        return shapes

    def overlap_shape(
        self,
        geometry: _core.Geometry,
        *,
        position: ArrayLike = (0.0, 0.0, 0.0),
        rotation: ArrayLike = (1.0, 0.0, 0.0, 0.0),
        mask: int = 0xFFFFFFFF,
    ) -> list[_core.Shape]:
        """The shapes that overlap a geometry of tippe.shapes at a place, exactly."""
        shapes: list[_core.Shape] = self._overlap_shape(geometry, position, rotation, mask)
        return shapes

    def overlaps(self, depth: float = 0.0) -> list[Overlap]:
        """Pairs of shapes that collide with each other and overlap now by more than `depth` (m)."""
        return [Overlap(*pair) for pair in self._overlaps(depth)]

    def closest_points(self, a: _core.Shape | _core.Body | str, b: _core.Shape | _core.Body | str) -> Closest:
        """The signed distance of two shapes with its closest points; of bodies, or their names, that of their nearest shapes."""
        return Closest(*self._closest_points(a, b))

    def run(
        self,
        until: float | None = None,
        *,
        every: int = 1,
        step: float | None = None,
        contacts: bool = True,
        out: str | os.PathLike[str] | None = None,
        progress: bool = False,
    ) -> Run:
        """Steps from now to a time, and returns what happened as a Run.

            run = world.run(until=2.0, every=4)
            run.time, run.position, run["ball"].velocity, run.residual

        until     the time to step to, s: the run has round((until - time) / step) steps; by default the
                  scene's end
        every     keeps every N-th step
        step      length of a step, s; by default `step_size`
        contacts  keeps the contacts too: False is faster, but such a run cannot be saved
        out       a file to record to while it runs, for runs that do not fit into memory
        progress  shows a progress bar

        The first row is the state now. Ctrl-C ends the run between two steps.
        """
        end = self.until if until is None else until
        if end is None:
            raise ValueError("until: needed, since the world has no scene that says where a run ends")
        h = self.step_size if step is None else step
        steps = _count_steps(end, self.time, h)
        if isinstance(every, bool) or not isinstance(every, int) or every < 1:
            raise ValueError(f"every: expected a whole number, one or more, got {every!r}")
        path = None if out is None else os.fspath(out)
        if path is not None and not contacts:
            raise ValueError("contacts: a run that is recorded to a file keeps its contacts")
        with _progress(steps, progress) as tell:
            trace = self._run(steps, every, float(h), not contacts, path, tell)
        return Run(trace) if path is None else open_run(path)

    def view(self, *, pace: float | None = 1.0, browser: bool | None = None, port: int = 0, megabytes: float = 256.0) -> View:
        """Shows the world live: a page in the browser that follows every step from now on.

            with world.view() as view:                  # opens the browser
                while world.time < 10:
                    world.step()

        pace       simulated seconds for one of the clock, at most: steps wait for it. None: as fast as they are
        browser    opens the page; by default outside of notebooks, where the View shows itself in a cell
        port       of the server, on this machine only; 0: any that is free
        megabytes  of frames that the page can go back to; beyond it the oldest are forgotten

        The View has the address (`url`) and `close()`. The page takes no orders: Python steps the world. Adding or removing bodies begins the
        page anew.
        """
        if pace is not None and not (isinstance(pace, (int, float)) and math.isfinite(pace) and pace > 0):
            raise ValueError(f"pace: expected a positive number or None, got {pace!r}")
        if not (isinstance(megabytes, (int, float)) and math.isfinite(megabytes) and megabytes > 0):
            raise ValueError(f"megabytes: expected a positive number, got {megabytes!r}")
        if isinstance(port, bool) or not isinstance(port, int) or not 0 <= port < 65536:
            raise ValueError(f"port: expected a whole number from 0 to 65535, got {port!r}")
        return open_view(self, self.scene_name or "A world", port, float(megabytes), float(pace or 0.0), browser)

    def __repr__(self) -> str:
        name = f'"{self.scene_name}", ' if self.scene_name else ""
        return f"World({name}{self.stepper}, {len(self.bodies)} bodies, time={self.time:.9g})"


def _count_steps(until: float, now: float, step: float) -> int:
    for name, value in (("until", until), ("step", step)):
        if isinstance(value, (bool, str)) or not math.isfinite(value):
            raise ValueError(f"{name}: expected a finite number, got {value!r}")
    if not step > 0:
        raise ValueError(f"step: expected a positive number, got {step!r}")
    steps = (until - now) / step
    if steps < -0.5:
        raise ValueError(f"until: {until!r} s lies before the world's time, {now!r} s")
    if steps > 1e15:
        raise ValueError(f"until: {steps:.3g} steps are too many")
    return max(0, int(math.floor(steps + 0.5)))


@contextlib.contextmanager
def _progress(steps: int, wanted: bool) -> Iterator[Callable[[int], None] | None]:
    if not wanted:
        yield None
        return
    from tqdm.auto import tqdm

    with tqdm(total=steps, unit="step") as bar:
        yield lambda done: bar.update(done - bar.n) and None


def load(
    scene: SceneLike,
    *,
    stepper: str | None = None,
    step: float | None = None,
    until: float | None = None,
    options: Mapping[str, OptionValue] | None = None,
    threads: int = 1,
) -> World:
    """The world of a scene at time zero.

        world = tippe.load("card_house")                   # a scene that came with Tippe
        world = tippe.load("my_scene.json", stepper="stewart-trinkle", step=0.005)
        world = tippe.load({"tippe": 1, "bodies": [...], "simulation": {...}})

    scene     a name of tippe.scenes(), the path of a file, or a dict with the keys of one
    stepper, step, until, options   instead of the scene's
    threads   threads of a step; the results are the same for any number

    Raises SceneError with file, line and column of what is wrong.
    """
    document = open_scene(scene)
    document.override(stepper, step, until, list(settings_of(options or {})))
    if isinstance(threads, bool) or not isinstance(threads, int) or not 1 <= threads <= 1024:
        raise ValueError(f"threads: expected a whole number from 1 to 1024, got {threads!r}")
    return world_of(document, threads)


def world_of(document: Any, threads: int = 1) -> World:
    """The world of a scene that was read."""
    world = World.__new__(World)
    _core.World.__init__(world, document, threads)
    world._materials = {}
    return world
