"""The laws of contact and the figures of a step, written from the documents (docs/conventions.md), not from the code."""
import numpy as np

CONE, NONNEGATIVE, FREE = 0, 1, 2


def project(kind, mu, x):
    """The nearest point of the friction cone { |t| <= mu n }, of the half line, or of everything."""
    if kind == FREE:
        return x
    if kind == NONNEGATIVE:
        return np.maximum(x, 0.0)
    n, t = x[0], x[1:]
    size = np.linalg.norm(t)
    if size <= mu * n:
        return x
    if mu * size <= -n:
        return np.zeros_like(x)
    s = (n + mu * size) / (1.0 + mu * mu)
    return np.concatenate([[s], mu * s * t / size])


def natural(kind, mu, r, u):
    """r - P(r - u_hat), with u_hat = u + (mu |u_T|, 0, ...) for a cone."""
    u_hat = u.copy()
    if kind == CONE:
        u_hat[0] += mu * np.linalg.norm(u[1:])
    return r - project(kind, mu, r - u_hat)


class Problem:
    """u = W r + q in blocks (kind, rows, mu), rows scaled by e: r / e and e u."""

    def __init__(self, kinds, dimensions, mu, W, q, scale=None, compliance=None):
        self.kinds, self.dimensions, self.mu = kinds, dimensions, mu
        self.W = W + np.diag(compliance) if compliance is not None else W
        self.q = q
        self.e = scale if scale is not None else np.ones(len(q))

    def blocks(self):
        start = 0
        for kind, rows, mu in zip(self.kinds, self.dimensions, self.mu):
            yield int(kind), slice(start, start + int(rows)), (mu if kind == CONE else 0.0)
            start += int(rows)

    def verdict(self, r):
        u = self.W @ r + self.q
        R, U, D = r / self.e, u * self.e, np.diag(self.W) * self.e**2
        velocity = plain = dissipation = 0.0
        cone = separation = complementarity = 0.0
        for kind, b, mu in self.blocks():
            rho = (b.stop - b.start) / D[b].sum() if D[b].sum() > 0.0 else 1.0
            velocity += np.sum((natural(kind, mu, R[b], rho * U[b]) / rho) ** 2)
            plain += np.sum(natural(kind, mu, R[b], U[b]) ** 2)
            if kind == FREE:
                separation = max(separation, np.abs(U[b]).max())
                continue
            n, t = R[b][0], R[b][1:]
            slip = np.linalg.norm(U[b][1:])
            cone = max(cone, -n, np.linalg.norm(t) - mu * n)
            separation = max(separation, -U[b][0])
            complementarity = max(complementarity, abs(n * U[b][0]))
            dissipation += mu * n * slip + t @ U[b][1:]
        velocity = np.sqrt(velocity)
        q = np.linalg.norm(self.q * self.e)
        largest = max(q, np.linalg.norm(R), np.linalg.norm(U))
        return {"natural": velocity / (q if q > 0.0 else 1.0), "plain": np.sqrt(plain) / (largest if largest > 0.0 else 1.0),
                "velocity": velocity, "cone": cone, "separation": separation, "complementarity": complementarity,
                "dissipation": dissipation}, u

    def relative(self, r):
        """Of contacts with a load: the largest excess of friction over mu r_N, and shortfall of its power."""
        u = self.W @ r + self.q
        R, U = r / self.e, u * self.e
        cones = [(b, mu) for kind, b, mu in self.blocks() if kind == CONE]
        load = max([R[b][0] for b, _ in cones], default=0.0)
        speed = max([np.abs(U[b][1:]).max() for b, _ in cones if b.stop - b.start > 1], default=0.0)
        excess = shortfall = 0.0
        for b, mu in cones:
            limit = mu * R[b][0]
            if not limit > 1e-9 * load * mu:
                continue
            slip = np.linalg.norm(U[b][1:])
            excess = max(excess, np.linalg.norm(R[b][1:]) / limit - 1.0)
            if slip > 1e-6 * speed and slip > 1e-9:
                shortfall = max(shortfall, 1.0 + R[b][1:] @ U[b][1:] / (limit * slip))
        return excess, shortfall


def by_bodies(inverse_mass, body_a, body_b, dimensions, jacobian_a, jacobian_b, terms=(), term_jacobians=()):
    """W = J M^-1 J^T of rows that act on two bodies each, -1 being the world; terms (row, body) act on further ones."""
    bodies, degrees = inverse_mass.shape[:2]
    J = np.zeros((jacobian_a.shape[0], bodies * degrees))
    row = 0
    for a, b, rows in zip(body_a, body_b, dimensions):
        for _ in range(int(rows)):
            for body, part in ((int(a), jacobian_a[row]), (int(b), jacobian_b[row])):
                if body >= 0:
                    J[row, body * degrees:(body + 1) * degrees] += part
            row += 1
    for (row, body), part in zip(terms, term_jacobians):
        J[row, body * degrees:(body + 1) * degrees] += part
    M = np.zeros((bodies * degrees, bodies * degrees))
    for i in range(bodies):
        M[i * degrees:(i + 1) * degrees, i * degrees:(i + 1) * degrees] = inverse_mass[i]
    return J @ M @ J.T


def lcp_residual(M, q, z, free):
    """max |min(z, w)|, |w| of free variables, relative to max(1, |q|)."""
    w = M @ z + q
    return np.max(np.where(free, np.abs(w), np.abs(np.minimum(z, w)))) / max(1.0, np.abs(q).max()), w


def matrix_of(q):
    """The rotation of a quaternion w, x, y, z."""
    w, x, y, z = q
    return np.array([[1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)],
                     [2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x)],
                     [2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)]])


def energies(mass, inertia, gravity, state):
    """Kinetic and potential energy of a body; inertia xx yy zz xy xz yz in its frame, state x q v w."""
    xx, yy, zz, xy, xz, yz = inertia
    I = np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]])
    w = matrix_of(state[3:7]).T @ state[10:13]
    return 0.5 * mass * state[7:10] @ state[7:10] + 0.5 * w @ I @ w, -mass * gravity @ state[0:3]
