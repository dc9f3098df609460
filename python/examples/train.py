"""Teaches the cart to balance its pole, and the hopper to hop, by evolution of a small policy (CMA-ES, `pip install cma`).

    python python/examples/train.py            # the cart: seconds
    python python/examples/train.py --hopper   # the hopper: a few minutes on two cores

A policy is tanh(A features): the observation, a one, and for the hopper a clock of two hops a second. Every generation all
candidates run at once, each in a world of its own of a batch.
"""

from __future__ import annotations

import argparse
import os
import time
from typing import NamedTuple

import cma
import numpy as np
import tippe.gym
from numpy.typing import NDArray

FloatArray = NDArray[np.float64]


class Task(NamedTuple):
    """An environment, what its observations are centred and scaled by, and the clock of the policy (1/s; 0: none)."""

    kind: type[tippe.gym.CartPole] | type[tippe.gym.Hopper]
    center: FloatArray
    scale: FloatArray
    clock: float
    seconds: float  # of an action


CART = Task(tippe.gym.CartPole, np.zeros(4), np.array([2.4, 2, 0.2, 2]), 0.0, 0.02)
HOPPER = Task(
    tippe.gym.Hopper, np.array([1.21, *[0] * 10]), np.array([1, 0.5, 1, 1, 1, 2, 2, 5, 5, 5, 5]), 2.0, 0.02
)


class Episode(NamedTuple):
    """Of each policy: what it earned, the share of its time in the air, and how far it came (m)."""

    earned: FloatArray
    flight: FloatArray
    way: FloatArray


def features(task: Task, observations: FloatArray, count: int) -> FloatArray:
    """What a policy sees at action number `count`."""
    phase = 2 * np.pi * task.clock * task.seconds * count
    clock = [np.sin(phase), np.cos(phase)] if task.clock else []
    more = np.tile([*clock, 1.0], (len(observations), 1))
    return np.concatenate([(observations - task.center) / task.scale, more], axis=1)


def play(task: Task, env: tippe.gym.VectorEnvironment, policies: FloatArray, steps: int, seed: int) -> Episode:
    """One episode of each policy, all from the same noise."""
    observations, _ = env.reset(seed=seed)
    count = env.num_envs
    weights = policies.reshape(count, (env.single_action_space.shape or (1,))[0], -1)
    earned, flight, alive, lived = np.zeros(count), np.zeros(count), np.ones(count, bool), np.zeros(count)
    start, way = env.batch.positions[:, 0, 0].copy(), np.zeros(count)
    for k in range(steps):
        actions = np.tanh(np.einsum("wij,wj->wi", weights, features(task, observations, k)))
        observations, rewards, terminated, truncated, _ = env.step(actions)
        earned += np.where(alive, rewards, 0.0)
        flight += alive & (env.state.contacts == 0)
        way = np.where(alive, env.batch.positions[:, 0, 0] - start, way)
        lived += alive
        alive &= ~(terminated | truncated)
        if not alive.any():
            break
    return Episode(earned, flight / lived, way)


def train(hopper: bool, generations: int, candidates: int, steps: int) -> tuple[FloatArray, Episode]:
    """The best policy, and what it does in episodes that it has not seen."""
    task = HOPPER if hopper else CART
    env = task.kind.vector(candidates, threads=os.cpu_count() or 1, horizon=steps)
    inputs = features(task, env.reset(seed=0)[0], 0).shape[1]
    outputs = (env.single_action_space.shape or (1,))[0]
    search = cma.CMAEvolutionStrategy(np.zeros(inputs * outputs), 0.3, {"popsize": candidates, "seed": 1, "verbose": -9})
    for generation in range(generations):
        policies = np.array(search.ask())
        done = play(task, env, policies, steps, seed=generation % 4)
        search.tell(list(policies), list(-done.earned))
        if generation % 5 == 0 or generation == generations - 1:
            print(f"generation {generation}: best {done.earned.max():.1f}, mean {done.earned.mean():.1f}", flush=True)
        if not hopper and np.median(done.earned) >= steps:
            break
    policy = np.asarray(search.result.xfavorite, float)
    return policy, play(task, env, np.tile(policy, (candidates, 1)), steps, seed=10_000)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--hopper", action="store_true")
    parser.add_argument("--generations", type=int)
    parser.add_argument("--candidates", type=int, default=24)
    given = parser.parse_args()
    steps = 200 if given.hopper else 500
    began = time.perf_counter()
    _, done = train(given.hopper, given.generations or (80 if given.hopper else 40), given.candidates, steps)
    print(f"earns {done.earned.mean():.1f} on average in {given.candidates} new episodes of {steps} steps; {time.perf_counter() - began:.0f} s")
    if given.hopper:
        print(f"it is in the air for {100 * done.flight.mean():.0f} % of the time and comes {done.way.mean():.1f} m far")


if __name__ == "__main__":
    main()
