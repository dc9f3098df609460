"""The complementarity solvers by themselves, for problems that one brings.

Every answer comes with its certificate: the residual is computed by functions that know no solver, so
``status == "solved"`` always means that it is finite and within the tolerance.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from . import _core

__all__ = [
    "BodyForm",
    "FrictionSolution",
    "LcpSolution",
    "Stage",
    "friction_solvers",
    "lcp_solvers",
    "solve_friction",
    "solve_lcp",
]

FloatArray = NDArray[np.float64]


class Stage(NamedTuple):
    """What one solver did on the way to an answer."""

    solver: str
    status: str
    residual: float
    iterations: int
    seconds: float


@dataclass(frozen=True)
class _Solution:
    status: str
    """``"solved"``, or how it ended: ``"iteration limit"``, ``"stalled"``, ``"infeasible"``, ..."""
    residual: float
    """How far the answer is from the law, relative, as judged by code that knows no solver."""
    plain_residual: float
    """The same without its scale."""
    solver: str
    """The solver that gave the answer."""
    iterations: int
    """Of all stages."""
    seconds: float
    """CPU time of all stages."""
    stages: tuple[Stage, ...]

    @property
    def solved(self) -> bool:
        """Whether the residual is within the tolerance."""
        return self.status == "solved"


@dataclass(frozen=True)
class LcpSolution(_Solution):
    """The answer of solve_lcp: z, w = M z + q, and the certificate."""

    z: FloatArray = field(repr=False)
    w: FloatArray = field(repr=False)


@dataclass(frozen=True)
class FrictionSolution(_Solution):
    """The answer of solve_friction: impulses r, velocities u = W r + q, and the certificate.

    `residual` is the scale-free natural map of the contact law. The other figures are the largest violation
    of each part of the law, in units of r or u.
    """

    r: FloatArray = field(repr=False)
    u: FloatArray = field(repr=False)
    velocity_residual: float
    """The natural map before it is divided by |q|, in units of u."""
    cone_violation: float
    """Largest |r_T| - mu r_N and -r_N."""
    separation_violation: float
    """Largest -u_N of contacts and |u| of joints."""
    complementarity_violation: float
    """Largest |r_N u_N|."""
    dissipation_violation: float
    """Sum of mu r_N |u_T| + r_T . u_T: zero at a solution."""


@dataclass(frozen=True)
class BodyForm:
    """W = J M^-1 J' through bodies, never formed by the solvers that do not need it.

    inverse_mass  (bodies, d, d) blocks, d velocities of a body (6 in space, 3 in the plane); symmetric
    body_a, body_b  the two bodies of each block of rows; -1 where it is nailed to the world
    jacobian_a, jacobian_b  (rows, d): u = jacobian_a . velocity_a + jacobian_b . velocity_b + q
    """

    inverse_mass: ArrayLike
    body_a: ArrayLike
    body_b: ArrayLike
    jacobian_a: ArrayLike
    jacobian_b: ArrayLike


def lcp_solvers() -> dict[str, str]:
    """Names of the solvers of linear complementarity problems, each with one line about it."""
    return dict(_core._lcp_solvers())


def friction_solvers() -> dict[str, str]:
    """Names of the solvers of contact problems with friction, each with one line about it."""
    return dict(_core._friction_solvers())


def solve_lcp(
    M: Any,
    q: ArrayLike,
    *,
    free: ArrayLike | None = None,
    solver: str = "auto",
    tolerance: float = 1e-8,
) -> LcpSolution:
    """Finds z with w = M z + q, z >= 0, w >= 0, z . w = 0.

        answer = tippe.solve_lcp([[2, 1], [1, 2]], [-5, -6])
        answer.z, answer.residual, answer.status

    M          (n, n), dense or scipy sparse; rank deficient, unsymmetric and badly scaled are all allowed
    q          (n,)
    free       (n,) booleans: z_i of any sign and w_i = 0 (a mixed problem)
    solver     a name of lcp_solvers(); "auto" chooses, escalates, and proves infeasibility
    tolerance  of the residual max |min(z, w)| / max(1, |q|_inf)
    """
    right = _vector(q, "q")
    n = right.size
    values, starts, indices = _matrix(M, "M", n)
    flags = None
    if free is not None:
        flags = np.ascontiguousarray(free, dtype=bool)
        if flags.shape != (n,):
            raise ValueError(f"free: expected {n} booleans, got an array of shape {flags.shape}")
        flags = flags.view(np.uint8)
    made = _core._solve_lcp(n, values, starts, indices, right, flags, solver, _positive(tolerance, "tolerance"))
    made["stages"] = tuple(Stage(*stage) for stage in made["stages"])
    return LcpSolution(**made)


_KINDS = {"cone": 0, "nonnegative": 1, "free": 2}


def solve_friction(
    W: Any,
    q: ArrayLike,
    mu: ArrayLike,
    *,
    dimensions: ArrayLike | None = None,
    kinds: Sequence[str] | None = None,
    scale: ArrayLike | None = None,
    compliance: ArrayLike | None = None,
    start: ArrayLike | None = None,
    solver: str = "auto",
    tolerance: float = 1e-8,
    velocity_tolerance: float = 0.0,
) -> FrictionSolution:
    """Contact impulses r with Coulomb friction in the true cone: u = W r + q.

        one = tippe.solve_friction(np.eye(3), [-1, 2, 0], mu=0.5)     # a block that slides
        one.r, one.u, one.residual, one.status

    Rows come in blocks, one for each contact: normal first, then one tangent (in the plane), two (in space)
    or three rows (with torsion). For each contact |r_T| <= mu r_N, u_N >= 0, r_N u_N = 0, and friction
    opposes sliding.

    W           (m, m), dense, scipy sparse, or a BodyForm
    q           (m,), velocities without impulses
    mu          a coefficient for each contact, or one for all
    dimensions  rows of each block, or of all; by default m / (number of coefficients), 3 if mu is one number
    kinds       "cone" (default), "nonnegative" (one row: a joint limit) or "free" (u = 0: a joint)
    scale       (m,) semi-axes of elliptic and torsional friction at the friction rows, 1 elsewhere
    compliance  (m,) added to the diagonal of W
    start       (m,) impulses to start from
    solver      a name of friction_solvers(); "auto" chooses and escalates
    tolerance   of the scale-free residual; velocity_tolerance, if positive, of the one in units of u: either
                is enough
    """
    right = _vector(q, "q")
    rows = right.size
    coefficients = _numbers(mu, "mu", "a coefficient, or one for each contact")
    blocks = _dimensions(dimensions, coefficients, rows)
    count = blocks.size
    if coefficients.ndim == 0:
        coefficients = np.full(count, float(coefficients))
    if coefficients.shape != (count,):
        raise ValueError(f"mu: expected {count} coefficients, one for each block, got shape {coefficients.shape}")
    if not ((coefficients >= 0) & np.isfinite(coefficients)).all():
        raise ValueError("mu: expected coefficients, zero or positive")
    form = _body_form(W, rows, count) if isinstance(W, BodyForm) else _matrix(W, "W", rows)
    made = _core._solve_friction(
        form,
        rows,
        blocks,
        _kinds(kinds, count),
        coefficients,
        _rows(scale, "scale", rows),
        _rows(compliance, "compliance", rows),
        right,
        _rows(start, "start", rows),
        solver,
        _positive(tolerance, "tolerance"),
        float(velocity_tolerance),
    )
    made["stages"] = tuple(Stage(*stage) for stage in made["stages"])
    return FrictionSolution(**made)


def _positive(value: float, name: str) -> float:
    if not float(value) > 0:
        raise ValueError(f"{name}: expected a positive number, got {value!r}")
    return float(value)


def _numbers(value: Any, name: str, expected: str) -> FloatArray:
    """An array of real numbers of any shape."""
    try:
        if value is None or np.iscomplexobj(value):
            raise TypeError
        return np.asarray(value, dtype=np.float64)
    except (TypeError, ValueError):
        raise ValueError(f"{name}: expected {expected}") from None


def _vector(value: ArrayLike, name: str) -> FloatArray:
    made = _numbers(value, name, "a vector of numbers")
    if made.ndim != 1:
        raise ValueError(f"{name}: expected a vector, got an array of shape {made.shape}")
    if not np.isfinite(made).all():
        raise ValueError(f"{name}: a number is not finite")
    return np.ascontiguousarray(made)


def _rows(value: ArrayLike | None, name: str, count: int) -> FloatArray | None:
    if value is None:
        return None
    made = _vector(value, name)
    if made.size != count:
        raise ValueError(f"{name}: expected {count} numbers, one for each row, got {made.size}")
    return made


def _matrix(value: Any, name: str, size: int) -> tuple[Any, Any, Any]:
    """Values by columns; and where columns start, and rows of values, of a sparse matrix."""
    if hasattr(value, "tocsc"):
        sparse = value.tocsc()
        if sparse.shape != (size, size):
            raise ValueError(f"{name}: expected {size} x {size}, got {sparse.shape[0]} x {sparse.shape[1]}")
        if not sparse.has_canonical_format:
            sparse = sparse.copy()
            sparse.sum_duplicates()
        values = np.ascontiguousarray(_numbers(sparse.data, name, "a matrix of numbers, dense or scipy sparse"))
        if not np.isfinite(values).all():
            raise ValueError(f"{name}: a number is not finite")
        return (
            values,
            np.ascontiguousarray(sparse.indptr, dtype=np.int32),
            np.ascontiguousarray(sparse.indices, dtype=np.int32),
        )
    dense = _numbers(value, name, "a matrix of numbers, dense or scipy sparse")
    if dense.shape != (size, size):
        raise ValueError(f"{name}: expected {size} x {size} as q has {size} numbers, got shape {dense.shape}")
    if not np.isfinite(dense).all():
        raise ValueError(f"{name}: a number is not finite")
    return np.ascontiguousarray(dense.ravel(order="F")), None, None


def _dimensions(value: ArrayLike | None, mu: FloatArray, rows: int) -> NDArray[np.int32]:
    if value is None:
        blocks = mu.size if mu.ndim else rows // 3
        each = (rows // blocks if mu.ndim else 3) if blocks else 0
        if blocks * each != rows or (rows and not 1 <= each <= 4):
            given = f"the {blocks} coefficients of mu" if mu.ndim else "blocks of 3"
            raise ValueError(f"q: {rows} numbers do not fit to {given}; dimensions says how many rows each block has, 1 to 4")
        return np.full(blocks, each, dtype=np.int32)
    made = np.asarray(value)
    if made.ndim == 0:
        each = int(made)
        if each < 1 or rows % each:
            raise ValueError(f"dimensions: {rows} rows are no blocks of {each}")
        made = np.full(rows // each, each)
    if made.ndim != 1 or int(made.sum()) != rows or (made.size and not (1 <= made.min() <= made.max() <= 4)):
        raise ValueError(f"dimensions: expected numbers from 1 to 4 whose sum is {rows}, the rows of q")
    return np.ascontiguousarray(made, dtype=np.int32)


def _kinds(value: Sequence[str] | None, count: int) -> NDArray[np.uint8] | None:
    if value is None:
        return None
    unknown = [kind for kind in value if kind not in _KINDS]
    if unknown or len(value) != count:
        raise ValueError(f"kinds: expected {count} of {', '.join(_KINDS)}, got {(unknown or list(value))[:5]}")
    return np.array([_KINDS[kind] for kind in value], dtype=np.uint8)


def _body_form(form: BodyForm, rows: int, count: int) -> tuple[Any, ...]:
    mass = np.ascontiguousarray(form.inverse_mass, dtype=np.float64)
    if mass.ndim != 3 or mass.shape[1] != mass.shape[2] or not 1 <= mass.shape[1] <= 6:
        raise ValueError(f"inverse_mass: expected (bodies, d, d) with d from 1 to 6, got shape {mass.shape}")
    degrees = mass.shape[1]
    bodies: list[Any] = []
    for name in ("body_a", "body_b"):
        places = np.ascontiguousarray(getattr(form, name), dtype=np.int32)
        if places.shape != (count,) or (count and not (-1 <= places.min() and places.max() < mass.shape[0])):
            raise ValueError(f"{name}: expected {count} places of bodies, from -1 (the world) to {mass.shape[0] - 1}")
        bodies.append(places)
    jacobians: list[Any] = []
    for name in ("jacobian_a", "jacobian_b"):
        jacobian = np.ascontiguousarray(getattr(form, name), dtype=np.float64)
        if jacobian.shape != (rows, degrees):
            raise ValueError(f"{name}: expected {rows} rows of {degrees} numbers, got shape {jacobian.shape}")
        jacobians.append(jacobian.ravel())
    return (degrees, mass.ravel(), *bodies, *jacobians)
