"""Batches, environments, sensors and measured motion, with types."""

from __future__ import annotations

import numpy as np
import tippe
import tippe.gym
from tippe import measured

batch = tippe.Batch("cart_pole", 3, threads=2)
reports = batch.step(steps=2)
print(float(reports["residual"].max()), batch.positions.shape, batch[0].time)
batch.apply_efforts(np.zeros((3, 2)))
batch.reset([0, 2])

env = tippe.gym.CartPole()
observation, info = env.reset(seed=1)
observation, reward, terminated, truncated, info = env.step(env.action_space.sample())
print(observation[0] + reward, terminated or truncated, info)


def upright(state: tippe.gym.State, action: measured.FloatArray) -> float:
    return float(np.cos(state["hinge.q"]))


own = tippe.gym.Environment("cart_pole", observation=["hinge.q"], action={"slide": (-1, 1)}, reward=upright)
many = tippe.gym.CartPole.vector(2)
first, _ = many.reset(seed=0)
print(first.shape, own.world.time)

world = tippe.load("cart_pole")
imu = world.add_sensor("accelerometer", name="imu", body="pole", position=(0, 0.1, 0))
for _ in range(3):
    world.step()
    for event in world.events:
        print(event.kind, event.body_a, event.speed)
print(imu.value.sum(), world.sensors["imu"].columns)

run = world.run(until=0.5)
motion = measured.Motion("fall", run.time, {"pole": measured.Poses(run["pole"].position, run["pole"].rotation)})
table = measured.score(lambda motion, starts: motion.bodies, [motion], starts=[({}, 0.0)])
print(table["position"].median())
