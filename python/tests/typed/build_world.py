"""A world by hand."""

import numpy as np
import tippe

world = tippe.World(stepper="anitescu", gravity=(0, 0, -9.81), options={"tolerance": 1e-9})
rubber = tippe.Material(friction=0.8, restitution=0.2, name="rubber")
floor = world.add_body("floor", kind="fixed")
floor.add_plane(material=rubber)
balls: list[tippe.Body] = []
for i in range(5):
    ball = world.add_body(f"ball{i}", position=(0.3 * i, 0, 1 + 0.1 * i), velocity=np.zeros(3))
    ball.add_sphere(0.1, density=1000, material="rubber")
    balls.append(ball)

report = world.step(1 / 240)
if not report.converged or report.residual > 1e-6:
    print(report.fallback, report.notes, report.violations)
for _ in range(100):
    balls[0].apply_force((1, 0, 0), at=(0, 0, 1))
    report = world.step()
world.velocities[:, 0] += 0.5
world.positions = world.positions + 0.1
mean = world.positions.mean(axis=0)
contacts = world.contacts
total = float(contacts["normal_impulse"].sum())
print(mean, total, world["ball0"].mass * 9.81, world.materials["rubber"].friction)
print({name: summary for name, summary in tippe.steppers().items()}, world.options["tolerance"])
balls.pop().destroy()
try:
    tippe.load({"tippe": 1, "bodies": []})
except tippe.SceneError as error:
    print(error.file, error.line, error.column, error.message)
