"""Teaches the cart to balance its pole, and the hopper to hop, by evolution of a small policy (CMA-ES, `pip install cma`).

    python python/examples/train.py            # the cart: a minute on two cores
    python python/examples/train.py --hopper   # the hopper: some minutes

A policy is tanh(A observation + b). Every generation all candidates run at once, each in a world of its own of a batch.
"""

from __future__ import annotations

import argparse
import os
import time

import cma
import numpy as np
import tippe.gym
from numpy.typing import NDArray

FloatArray = NDArray[np.float64]


def returns_of(env: tippe.gym.VectorEnvironment, policies: FloatArray, scale: FloatArray, steps: int, seed: int) -> FloatArray:
    """What each policy earns in one episode from the same noise."""
    size = env.single_action_space.shape or (1,)
    observations, _ = env.reset(seed=seed)
    weights = policies.reshape(env.num_envs, size[0], observations.shape[1] + 1)
    total, alive = np.zeros(env.num_envs), np.ones(env.num_envs, bool)
    for _ in range(steps):
        inputs = np.concatenate([observations / scale, np.ones((env.num_envs, 1))], axis=1)
        actions = np.tanh(np.einsum("wij,wj->wi", weights, inputs))
        observations, rewards, terminated, truncated, _ = env.step(actions)
        total += np.where(alive, rewards, 0.0)
        alive &= ~(terminated | truncated)
        if not alive.any():
            break
    return total


def train(hopper: bool, generations: int, candidates: int, steps: int) -> tuple[FloatArray, float]:
    """The best policy and what it earns on average in episodes that it has not seen."""
    kind = tippe.gym.Hopper if hopper else tippe.gym.CartPole
    env = kind.vector(candidates, threads=os.cpu_count() or 1, horizon=steps)
    inputs = (env.single_observation_space.shape or (1,))[0] + 1
    outputs = (env.single_action_space.shape or (1,))[0]
    scale = np.array([1, 1, 1, 1, 1, 2, 2, 5, 5, 5, 5]) if hopper else np.array([2.4, 2, 0.2, 2])
    search = cma.CMAEvolutionStrategy(np.zeros(inputs * outputs), 0.5, {"popsize": candidates, "seed": 1, "verbose": -9})
    for generation in range(generations):
        policies = np.array(search.ask())
        earned = returns_of(env, policies, scale, steps, seed=generation)
        search.tell(list(policies), list(-earned))
        if generation % 5 == 0 or generation == generations - 1:
            print(f"generation {generation}: best {earned.max():.1f}, mean {earned.mean():.1f}", flush=True)
        if not hopper and np.median(earned) >= steps:
            break
    policy = np.asarray(search.result.xfavorite, float)
    fresh = returns_of(env, np.tile(policy, (candidates, 1)), scale, steps, seed=10_000)
    return policy, float(fresh.mean())


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--hopper", action="store_true")
    parser.add_argument("--generations", type=int)
    parser.add_argument("--candidates", type=int, default=32)
    given = parser.parse_args()
    steps = 400 if given.hopper else 500
    began = time.perf_counter()
    _, earned = train(given.hopper, given.generations or (60 if given.hopper else 40), given.candidates, steps)
    print(f"earns {earned:.1f} on average in {given.candidates} new episodes of {steps} steps; {time.perf_counter() - began:.0f} s")


if __name__ == "__main__":
    main()
