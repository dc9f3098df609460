"""Environments for reinforcement learning, by the interface of gymnasium.

    env = tippe.gym.CartPole()                               # or Hopper
    observation, info = env.reset(seed=1)
    observation, reward, terminated, truncated, info = env.step(env.action_space.sample())

    many = tippe.gym.CartPole.vector(4096, threads=2)        # a gymnasium.vector.VectorEnv over tippe.Batch

    env = tippe.gym.Environment(                             # of a scene of your own
        "my_robot.json",
        observation=["knee.q", "knee.qd", "torso.z"],
        action={"knee": (-50, 50), "hip.target": (-1, 1)},
        reward=lambda state, action: state["torso.vx"],
        terminated=lambda state: state["torso.z"] < 0.5,
    )

The two that come with Tippe are registered as "tippe/CartPole-v0" and "tippe/Hopper-v0".
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, ClassVar, Union

import gymnasium
import numpy as np
from gymnasium.vector import AutoresetMode, VectorEnv
from gymnasium.vector.utils import batch_space
from numpy.typing import ArrayLike, NDArray

from .batches import Batch
from .run import STATE_NAMES
from .scene_files import SceneLike

__all__ = ["CartPole", "Environment", "Hopper", "State", "VectorEnvironment"]

FloatArray = NDArray[np.float64]
Observation = Union[Sequence[str], Callable[["State"], ArrayLike]]
Action = Union[Mapping[str, tuple[float, float]], Callable[[Batch, FloatArray], None]]
Reward = Callable[["State", FloatArray], Any]

_KINDS = ("positions", "rotations", "velocities", "angular_velocities")
_COLUMNS = {name: (_KINDS[kind], column) for kind, (first, last) in enumerate(((0, 3), (3, 7), (7, 10), (10, 13)))
            for column, name in enumerate(STATE_NAMES[first:last])}
_JOINT_COLUMNS = {"q": "joint_values", "qd": "joint_speeds", "effort": "joint_efforts"}
_ACTIONS = ("effort", "target", "target_speed")


class State:
    """What a world, or every world of a batch, is doing now, by name: ``state["knee.q"]``.

    Names are those of tables of runs: "ball.x" .y .z .qw .qx .qy .qz .vx .vy .vz .wx .wy .wz of bodies,
    "knee.q" .qd .effort of joints ("hip.swing.q" of one axis), "imu.x" of sensors. Worlds in the plane have "ball.angle" too.
    A value is a number in an Environment, and an array with a number per world in a VectorEnvironment:
    functions of numpy work for both. ``state.time`` is the time, ``state.contacts`` the number of contacts.
    """

    def __init__(self, batch: Batch, single: bool) -> None:
        self.batch = batch
        self._single = single
        self._bodies = {body.name: row for row, body in enumerate(batch[0].moving)}
        self._joints = {name: column for column, name in enumerate(batch.joint_names)}
        self._sensors = {name: column for column, name in enumerate(batch[0].sensor_names)}
        self._planar = batch[0].planar
        self._taken: dict[str, FloatArray] = {}
        self.contacts: Any = 0
        self.time: Any = 0.0

    def _forget(self, reports: NDArray[Any] | None) -> None:
        self._taken.clear()
        if reports is not None:
            self.contacts = int(reports["contacts"][0]) if self._single else reports["contacts"]
            self.time = float(reports["time"][0]) if self._single else reports["time"]

    def _array(self, what: str) -> FloatArray:
        if what not in self._taken:
            self._taken[what] = getattr(self.batch, what)
        return self._taken[what]

    def _sensor_values(self) -> FloatArray:
        if "sensors" not in self._taken:
            self._taken["sensors"] = self.batch.sensor_values
        return self._taken["sensors"]

    def column(self, name: str) -> FloatArray:
        """The values of a name in all worlds."""
        if name in self._sensors:
            return self._sensor_values()[:, self._sensors[name]]
        owner, _, what = name.rpartition(".")
        if owner in self._joints and what in _JOINT_COLUMNS:
            return self._array(_JOINT_COLUMNS[what])[:, self._joints[owner]]
        if owner in self._bodies and what in _COLUMNS:
            array, column = _COLUMNS[what]
            return self._array(array)[:, self._bodies[owner], column]
        if owner in self._bodies and what == "angle" and self._planar:
            q = self._array("rotations")[:, self._bodies[owner]]
            turn: FloatArray = 2 * np.arctan2(q[:, 3], q[:, 0])
            return (turn + np.pi) % (2 * np.pi) - np.pi
        raise ValueError(f"{name}: there is no such body, joint or sensor; there are {', '.join([*self._bodies, *self._joints, *self._sensors])}")

    def __getitem__(self, name: str) -> Any:
        values = self.column(name)
        return float(values[0]) if self._single else values


class _Task:
    """What both kinds of environments share."""

    def __init__(
        self, batch: Batch, single: bool, observation: Observation, action: Action, reward: Reward,
        terminated: Callable[[State], Any] | None, noise: Mapping[str, float], steps: int, horizon: int | None,
        action_space: gymnasium.spaces.Box | None, observation_space: gymnasium.spaces.Box | None,
    ) -> None:
        self.batch, self.state, self.single = batch, State(batch, single), single
        self.observe = _observer(observation)
        self.reward, self.terminated = reward, terminated
        self.noise = dict(noise)
        for name, value in (("steps", steps), ("horizon", 1 if horizon is None else horizon)):
            if isinstance(value, bool) or not isinstance(value, int) or value < 1:
                raise ValueError(f"{name}: expected a whole number, one or more, got {value!r}")
        self.steps, self.horizon = steps, horizon
        self.act, self.action_space = _actor(batch, action, action_space)
        for name in self.noise:
            owner, _, what = name.rpartition(".")
            if owner not in batch.joint_names or what not in ("q", "qd"):
                raise ValueError(f"noise: expected names of joints with .q or .qd, got {name!r}")
        try:
            size = self.observations().shape[1]
        except ValueError as error:
            raise ValueError(f"observation: {error}") from error
        self.observation_space = observation_space or gymnasium.spaces.Box(-np.inf, np.inf, (size,), np.float64)

    def observations(self) -> FloatArray:
        made = np.asarray(self.observe(self.state), float)
        return made.reshape(len(self.batch), -1) if made.ndim != 2 else made

    def reset(self, chosen: NDArray[np.bool_], random: np.random.Generator) -> None:
        self.batch.reset(chosen)
        names = self.batch.joint_names
        for what, array in (("q", "joint_values"), ("qd", "joint_speeds")):
            widths = np.array([self.noise.get(f"{name}.{what}", 0.0) for name in names])
            if widths.any():
                values = getattr(self.batch, array).copy()
                values[chosen] += random.uniform(-1, 1, (int(chosen.sum()), len(names))) * widths
                setattr(self.batch, array, values)
        self.state._forget(None)

    def step(self, action: FloatArray) -> tuple[Any, Any]:
        reports: NDArray[Any] | None = None
        for _ in range(self.steps):
            self.act(self.batch, action)
            reports = self.batch.step()
        self.state._forget(reports)
        reward = self.reward(self.state, action[0] if self.single else action)
        return reward, False if self.terminated is None else self.terminated(self.state)


def _observer(observation: Observation) -> Callable[[State], ArrayLike]:
    if callable(observation):
        return observation
    names = list(observation)
    if not names:
        raise ValueError("observation: expected at least one name")
    return lambda state: np.stack([state.column(name) for name in names], axis=1)


def _actor(
    batch: Batch, action: Action, space: gymnasium.spaces.Box | None
) -> tuple[Callable[[Batch, FloatArray], None], gymnasium.spaces.Box]:
    if callable(action):
        if space is None:
            raise ValueError("action_space: needed where action is a function")
        return action, space
    names = batch.joint_names
    places: dict[str, list[tuple[int, int]]] = {kind: [] for kind in _ACTIONS}
    for place, name in enumerate(action):
        owner, _, kind = name.rpartition(".")
        joint, kind = (owner, kind) if kind in _ACTIONS and owner in names else (name, "effort")
        if joint not in names:
            raise ValueError(f"action: there is no joint {name!r}; there are {', '.join(names)}")
        places[kind].append((place, names.index(joint)))
    low, high = (np.array([bounds[side] for bounds in action.values()], float) for side in (0, 1))
    if not (low < high).all() or not np.isfinite(low).all() or not np.isfinite(high).all():
        raise ValueError("action: expected bounds (low, high) that are finite, the lower first")

    def act(batch: Batch, action: FloatArray) -> None:
        # Actions are in [-1, 1]; joints get what lies between their bounds.
        scaled = low + (np.clip(action, -1, 1) + 1) / 2 * (high - low)
        for kind, pairs in places.items():
            if pairs:
                columns = np.full((len(batch), len(names)), 0.0 if kind == "effort" else np.nan)
                for place, column in pairs:
                    columns[:, column] = scaled[:, place]
                if kind == "effort":
                    batch.apply_efforts(columns)
                elif kind == "target":
                    batch.set_targets(columns)
                else:
                    batch.set_targets(speeds=columns)

    return act, gymnasium.spaces.Box(-1, 1, (len(action),), np.float32)


class Environment(gymnasium.Env[FloatArray, NDArray[Any]]):
    """An environment of gymnasium over a scene.

    scene        as in tippe.load
    observation  names, as State has them, or a function of a State
    action       joints with the efforts that -1 and 1 stand for: {"knee": (-50, 50)}; "knee.target" and
                 "knee.target_speed" drive servos; or a function of a Batch and an array of actions (worlds, n),
                 with action_space
    reward       a function of a State and the action
    terminated   a function of a State: whether the episode has ended
    noise        half widths by which coordinates of joints differ at the start: {"hinge.q": 0.05}
    steps        steps of the world for an action
    horizon      actions after which an episode is truncated
    threads, stepper, step, options   as in tippe.Batch

    `world` is the world itself: env.world.run(until=...).show() shows what it does from now on.
    """

    metadata: ClassVar[dict[str, Any]] = {"render_modes": []}

    def __init__(
        self,
        scene: SceneLike,
        *,
        observation: Observation,
        action: Action,
        reward: Reward,
        terminated: Callable[[State], Any] | None = None,
        noise: Mapping[str, float] | None = None,
        steps: int = 1,
        horizon: int | None = None,
        action_space: gymnasium.spaces.Box | None = None,
        observation_space: gymnasium.spaces.Box | None = None,
        stepper: str | None = None,
        step: float | None = None,
        options: Mapping[str, Any] | None = None,
    ) -> None:
        batch = Batch(scene, 1, stepper=stepper, step=step, options=options)
        self._task = _Task(batch, True, observation, action, reward, terminated, noise or {}, steps, horizon, action_space, observation_space)
        self.world = batch[0]
        self.state = self._task.state
        self.action_space = self._task.action_space
        self.observation_space = self._task.observation_space
        self._count = 0

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[FloatArray, dict[str, Any]]:
        """Starts an episode; returns the first observation."""
        super().reset(seed=seed)
        self._count = 0
        self._task.reset(np.array([True]), self.np_random)
        self.state.time, self.state.contacts = 0.0, 0
        return self._task.observations()[0].copy(), {}

    def step(self, action: NDArray[Any]) -> tuple[FloatArray, float, bool, bool, dict[str, Any]]:
        """An action; returns observation, reward, terminated, truncated, info."""
        given = np.asarray(action, float).reshape(1, -1)
        if given.shape[1] != int(np.prod(self.action_space.shape or (1,))):
            raise ValueError(f"action: expected shape {self.action_space.shape}, got {np.shape(action)}")
        reward, terminated = self._task.step(given)
        self._count += 1
        truncated = self._task.horizon is not None and self._count >= self._task.horizon
        return self._task.observations()[0].copy(), float(reward), bool(terminated), truncated, {}


class VectorEnvironment(VectorEnv[FloatArray, NDArray[Any], FloatArray]):
    """Many environments of one scene, stepped together by threads: as Environment, but observations, rewards and ends
    are arrays. An environment that has ended starts again with its next step, whose action is not used (gymnasium's
    AutoresetMode.NEXT_STEP)."""

    metadata: ClassVar[dict[str, Any]] = {"render_modes": [], "autoreset_mode": AutoresetMode.NEXT_STEP}
    action_space: gymnasium.Space[NDArray[Any]]
    observation_space: gymnasium.Space[FloatArray]
    single_action_space: gymnasium.spaces.Box
    single_observation_space: gymnasium.spaces.Box

    def __init__(
        self,
        scene: SceneLike,
        count: int,
        *,
        observation: Observation,
        action: Action,
        reward: Reward,
        terminated: Callable[[State], Any] | None = None,
        noise: Mapping[str, float] | None = None,
        steps: int = 1,
        horizon: int | None = None,
        action_space: gymnasium.spaces.Box | None = None,
        observation_space: gymnasium.spaces.Box | None = None,
        threads: int = 1,
        stepper: str | None = None,
        step: float | None = None,
        options: Mapping[str, Any] | None = None,
    ) -> None:
        self.batch = Batch(scene, count, threads=threads, stepper=stepper, step=step, options=options)
        self._task = _Task(self.batch, False, observation, action, reward, terminated, noise or {}, steps, horizon, action_space, observation_space)
        self.num_envs = count
        self.state = self._task.state
        self.single_action_space = self._task.action_space
        self.single_observation_space = self._task.observation_space
        self.action_space = batch_space(self.single_action_space, count)
        self.observation_space = batch_space(self.single_observation_space, count)
        self._counts = np.zeros(count, int)
        self._ended = np.zeros(count, bool)
        self._zeros = np.zeros(count)
        self.render_mode = None

    def reset(self, *, seed: int | list[int] | None = None, options: dict[str, Any] | None = None) -> tuple[FloatArray, dict[str, Any]]:
        """Starts all episodes; returns the first observations, of shape (count, n)."""
        super().reset(seed=seed if not isinstance(seed, list) else seed[0])  # type: ignore[arg-type]
        self._task.reset(np.ones(self.num_envs, bool), self.np_random)
        self.state.time, self.state.contacts = self._zeros.copy(), np.zeros(self.num_envs, int)
        self._counts[:] = 0
        self._ended[:] = False
        return self._task.observations().copy(), {}

    def step(self, actions: NDArray[Any]) -> tuple[FloatArray, FloatArray, NDArray[np.bool_], NDArray[np.bool_], dict[str, Any]]:
        """An action for each; returns observations, rewards, terminated, truncated, info."""
        given = np.asarray(actions, float).reshape(self.num_envs, -1)
        if not np.isfinite(given).all():
            raise ValueError("action: not finite")
        again = self._ended.copy()
        rewards, ends = self._task.step(given)
        self._counts += 1
        rewards = np.broadcast_to(np.asarray(rewards, float), (self.num_envs,)).copy()
        terminated = np.broadcast_to(np.asarray(ends, bool), (self.num_envs,)).copy()
        if again.any():
            self._task.reset(again, self.np_random)
            self._counts[again] = 0
            rewards[again] = 0.0
            terminated[again] = False
        horizon = self._task.horizon
        truncated = self._counts >= horizon if horizon is not None else np.zeros(self.num_envs, bool)
        self._ended = terminated | truncated
        return self._task.observations().copy(), rewards, terminated, truncated, {}


class CartPole(Environment):
    """A pole on a cart, to be kept upright by pushing the cart with up to 10 N: the task of Barto, Sutton and Anderson.

    Observed are place and speed of the cart (m, m/s), angle and rate of the pole (rad, rad/s). Each step earns 1; the episode
    ends beyond 2.4 m or 12 degrees, and after 500 steps of 0.02 s.
    """

    TASK: ClassVar[dict[str, Any]] = {
        "scene": "cart_pole",
        "observation": ("slide.q", "slide.qd", "hinge.q", "hinge.qd"),
        "action": {"slide": (-10, 10)},
        "reward": lambda state, action: 1.0,
        "terminated": lambda state: (np.abs(state["slide.q"]) > 2.4) | (np.abs(state["hinge.q"]) > np.radians(12)),
        "noise": {"slide.q": 0.05, "slide.qd": 0.05, "hinge.q": 0.05, "hinge.qd": 0.05},
        "steps": 2,
        "horizon": 500,
    }

    def __init__(self, **changes: Any) -> None:
        super().__init__(**{**self.TASK, **changes})

    @classmethod
    def vector(cls, count: int, *, threads: int = 1, **changes: Any) -> VectorEnvironment:
        """Many of them, stepped together."""
        task = {**cls.TASK, **changes}
        return VectorEnvironment(task.pop("scene"), count, threads=threads, **task)


def _hops(state: State, action: FloatArray) -> Any:
    return 0.3 + state["torso.vx"] - 1e-3 * np.square(action).sum(axis=-1)


def _has_fallen(state: State) -> Any:
    return (state["torso.y"] < 0.7) | (np.abs(state["torso.angle"]) > 0.5)


class Hopper(Environment):
    """A leg in the plane that is to hop forward, by moving the targets of the servos at hip, knee and ankle.

    Servos have up to 200, 200 and 100 N m; with all actions at zero they hold the leg straight. Observed are height and
    angle of the torso, the three joints, and all their rates. Each step of 0.02 s earns the speed of the torso (m/s) and
    0.3, less a small cost of actions: standing earns little. The episode ends with a fall, and after 500 steps.
    """

    TASK: ClassVar[dict[str, Any]] = {
        "scene": "hopper",
        "observation": ("torso.y", "torso.angle", "hip.q", "knee.q", "ankle.q", "torso.vx", "torso.vy", "torso.wz", "hip.qd", "knee.qd", "ankle.qd"),
        "action": {"hip.target": (-1.2, 1.2), "knee.target": (-1.6, 1.6), "ankle.target": (-0.8, 0.8)},
        "reward": _hops,
        "terminated": _has_fallen,
        "noise": {name: 0.01 for name in ("hip.q", "knee.q", "ankle.q", "hip.qd", "knee.qd", "ankle.qd")},
        "steps": 2,
        "horizon": 500,
    }

    def __init__(self, **changes: Any) -> None:
        super().__init__(**{**self.TASK, **changes})

    @classmethod
    def vector(cls, count: int, *, threads: int = 1, **changes: Any) -> VectorEnvironment:
        """Many of them, stepped together."""
        task = {**cls.TASK, **changes}
        return VectorEnvironment(task.pop("scene"), count, threads=threads, **task)


for _name in ("CartPole", "Hopper"):
    gymnasium.register(
        id=f"tippe/{_name}-v0", entry_point=f"tippe.gym:{_name}",
        vector_entry_point=f"tippe.gym:_make_{_name.lower()}s", disable_env_checker=False,
    )


def _make_cartpoles(num_envs: int = 1, **changes: Any) -> VectorEnvironment:
    return CartPole.vector(num_envs, **changes)


def _make_hoppers(num_envs: int = 1, **changes: Any) -> VectorEnvironment:
    return Hopper.vector(num_envs, **changes)
