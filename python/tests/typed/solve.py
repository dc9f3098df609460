"""One's own contact problem."""

import numpy as np
import tippe

answer = tippe.solve_lcp(np.array([[2.0, 1.0], [1.0, 2.0]]), [-5, -6])
print(answer.z, answer.residual, answer.status, answer.stages[0].solver)
friction = tippe.solve_friction(np.eye(3), [-1, 2, 0], mu=0.5)
print(friction.r @ friction.u, friction.residual, friction.status)
ball = tippe.ImpactBody(mass=1, inertia=(0.4, 0.4, 0.4), arm=(0, 0, -1), velocity=(1, 0, -2))
print(tippe.collide(ball, friction=0.3, restitution=0.5).impulse[2])
