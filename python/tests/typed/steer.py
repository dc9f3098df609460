"""A robot's arm: joints that are driven, snapshots, efforts as arrays."""

from __future__ import annotations

import numpy as np
import tippe


def build() -> tippe.World:
    world = tippe.World(gravity=(0, 0, -9.81), step=0.002)
    upper = world.add_body("upper", position=(0.5, 0, 1))
    upper.add_box((1, 0.1, 0.1), density=500)
    lower = world.add_body("lower", position=(1.5, 0, 1))
    lower.add_box((1, 0.1, 0.1), density=500)
    world.add_joint("revolute", None, upper, name="shoulder", anchor=(0, 0, 1), axis=(0, 1, 0), servo={"stiffness": 4000, "damping": 400})
    world.add_joint("revolute", upper, lower, name="elbow", anchor=(1, 0, 1), axis=(0, 1, 0), limits=(-2, 2))
    return world


world = build()
elbow: tippe.Joint = world.joints["elbow"]
elbow.stiffness, elbow.damping, elbow.target = 2000, 200, 0.5
data: bytes = world.snapshot()
ends: list[float] = []
for push in (0.0, 30.0):
    world.restore(data)
    for _ in range(500):
        elbow.apply(push)
        world.step()
    ends.append(elbow.value)
assert ends[1] > ends[0]
targets = np.zeros(len(world.joint_names))
world.set_targets(targets)
world.apply_efforts(np.full(2, 0.1))
report = world.step()
total: float = float(world.joint_efforts.sum())
axis: tippe.Axis = elbow.axes[0]
limits = elbow.limits
print(report.converged, total, axis.value, limits[0] if limits is not None else None, elbow.force @ elbow.torque)
body = elbow.body_a
print(body.name if body is not None else "world", {name: joint.value for name, joint in world.joints.items()})

gear: tippe.Coupling = world.add_coupling("wrist", {"elbow": 1.0}, limits=(-2, 2))
gear.servo = {"target": 0.1, "stiffness": 5.0}
print({name: (coupling.value, coupling.of) for name, coupling in world.couplings.items()}, gear.limits)
world.apply_efforts(world.inverse_dynamics(world.joint_speeds, step=0.001))
with world.view(pace=None, browser=False) as view:
    world.step()
    print(view.url)
