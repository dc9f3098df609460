"""Solvers of complementarity problems and impacts, for problems that one brings."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np
import pandas
import pytest
import scipy.sparse as sparse
import tippe
from conftest import read_table, run_program

RANDOM = np.random.default_rng(7)


def random_lcp(n: int) -> tuple[np.ndarray, np.ndarray]:
    root = RANDOM.normal(size=(n, n))
    return root @ root.T + 1e-3 * np.eye(n) + (root - root.T), RANDOM.normal(size=n)


@pytest.mark.parametrize("form", [np.asarray, sparse.csc_matrix, sparse.csr_matrix, sparse.coo_matrix])
@pytest.mark.parametrize("n", [1, 2, 30])
def test_lcp(form, n: int):
    M, q = random_lcp(n)
    answer = tippe.solve_lcp(form(M), q)
    z, w = answer.z, M @ answer.z + q
    assert answer.status == "solved" and answer.solved and answer.stages
    assert z.min() > -1e-8 and w.min() > -1e-8 and np.abs(z * w).max() < 1e-7
    assert answer.w == pytest.approx(w)
    assert answer.residual == pytest.approx(np.abs(np.minimum(z, w)).max() / max(1, np.abs(q).max()), abs=1e-14)


def test_lcp_known_answers():
    assert tippe.solve_lcp([[2, 1], [1, 2]], [-5, -6]).z == pytest.approx([4 / 3, 7 / 3])
    mixed = tippe.solve_lcp([[2, 1], [1, 2]], [-5, 6], free=[True, False])
    assert mixed.z == pytest.approx([2.5, 0])
    impossible = tippe.solve_lcp([[-1.0]], [-1.0])
    assert impossible.status == "infeasible" and not impossible.solved
    for solver in tippe.lcp_solvers():
        assert tippe.solve_lcp([[2, 1], [1, 2]], [-5, -6], solver=solver).status in ("solved", "not applicable")


def random_contacts(contacts: int, bodies: int) -> tuple[tippe.BodyForm, np.ndarray, np.ndarray]:
    """Contacts between random bodies, and the matrix W that they come to."""
    mass = np.stack([np.diag(RANDOM.uniform(0.5, 2, size=6)) for _ in range(bodies)])
    a = RANDOM.integers(-1, bodies, size=contacts)
    b = (a + 1 + RANDOM.integers(0, bodies - 1, size=contacts)) % bodies
    jacobians = RANDOM.normal(size=(2, 3 * contacts, 6))
    rows = np.zeros((3 * contacts, 6 * bodies))
    for c in range(contacts):
        block = slice(3 * c, 3 * c + 3)
        for body, jacobian in ((a[c], jacobians[0]), (b[c], jacobians[1])):
            if body >= 0:
                rows[block, 6 * body : 6 * body + 6] += jacobian[block]
    inverse = np.zeros((6 * bodies, 6 * bodies))
    for i in range(bodies):
        inverse[6 * i : 6 * i + 6, 6 * i : 6 * i + 6] = mass[i]
    W = rows @ inverse @ rows.T
    return tippe.BodyForm(mass, a, b, jacobians[0], jacobians[1]), W, rows @ RANDOM.normal(size=6 * bodies)


def check_coulomb(W: np.ndarray, q: np.ndarray, mu: np.ndarray, r: np.ndarray) -> None:
    u = (W @ r + q).reshape(-1, 3)
    r = r.reshape(-1, 3)
    scale = np.abs(q).max()
    slip = np.linalg.norm(u[:, 1:], axis=1)
    friction = np.linalg.norm(r[:, 1:], axis=1)
    assert (r[:, 0] > -1e-6 * scale).all() and (u[:, 0] > -1e-6 * scale).all()
    assert (np.abs(r[:, 0] * u[:, 0]) < 1e-6 * scale).all()
    assert (friction <= mu * r[:, 0] + 1e-6 * scale).all()
    assert (np.abs(mu * r[:, 0] * slip + (r[:, 1:] * u[:, 1:]).sum(axis=1)) < 1e-5 * scale).all()


def test_friction_in_all_forms():
    form, W, q = random_contacts(8, 6)
    mu = RANDOM.uniform(0.2, 0.9, size=8)
    for operator in (W, sparse.csr_matrix(W), form):
        answer = tippe.solve_friction(operator, q, mu)
        assert answer.status == "solved" and answer.residual < 1e-8
        check_coulomb(W, q, mu, answer.r)
        assert answer.u == pytest.approx(W @ answer.r + q, abs=1e-9)


def test_friction_of_one_block():
    sliding = tippe.solve_friction(np.eye(3), [-1, 2, 0], 0.5)
    assert sliding.r == pytest.approx([1, -0.5, 0]) and sliding.u == pytest.approx([0, 1.5, 0])
    assert sliding.cone_violation < 1e-12 and sliding.dissipation_violation < 1e-12
    sticking = tippe.solve_friction(np.eye(3), [-1, 0.3, 0], [0.5])
    assert sticking.u == pytest.approx([0, 0, 0], abs=1e-9)
    planar = tippe.solve_friction(np.eye(2), [-1, 2], [0.5])
    assert planar.r == pytest.approx([1, -0.5])
    # A joint (u = 0) and a limit beside a contact.
    mixed = tippe.solve_friction(
        np.eye(5), [-1, 2, 0, 3, -4], [0.5, 0, 0], dimensions=[3, 1, 1], kinds=["cone", "free", "nonnegative"]
    )
    assert mixed.r == pytest.approx([1, -0.5, 0, -3, 4])
    warm = tippe.solve_friction(np.eye(3), [-1, 2, 0], 0.5, start=sliding.r)
    assert warm.r == pytest.approx(sliding.r)


@pytest.mark.parametrize(
    ("name", "call"),
    [
        ("M", lambda: tippe.solve_lcp([[1, 2]], [1])),
        ("M", lambda: tippe.solve_lcp([[np.nan]], [1])),
        ("M", lambda: tippe.solve_lcp("x", [1])),
        ("q", lambda: tippe.solve_lcp([[1]], [[1]])),
        ("q", lambda: tippe.solve_lcp([[1]], ["x"])),
        ("free", lambda: tippe.solve_lcp([[1]], [1], free=[True, False])),
        ("solver", lambda: tippe.solve_lcp([[1]], [1], solver="magic")),
        ("tolerance", lambda: tippe.solve_lcp([[1]], [1], tolerance=0)),
        ("dimensions", lambda: tippe.solve_friction(np.eye(4), np.ones(4), 0.5)),
        ("mu", lambda: tippe.solve_friction(np.eye(3), np.ones(3), [-1.0])),
        ("mu", lambda: tippe.solve_friction(np.eye(6), np.ones(6), [0.5], dimensions=3)),
        ("kinds", lambda: tippe.solve_friction(np.eye(3), np.ones(3), 0.5, kinds=["sphere"])),
        ("body_a", lambda: tippe.solve_friction(tippe.BodyForm(np.eye(6)[None], [3], [-1], np.ones((3, 6)), np.ones((3, 6))), np.ones(3), 0.5)),
        ("jacobian_a", lambda: tippe.solve_friction(tippe.BodyForm(np.eye(6)[None], [0], [-1], np.ones((2, 6)), np.ones((3, 6))), np.ones(3), 0.5)),
    ],
)
def test_bad_problems_are_named(name: str, call):
    with pytest.raises(ValueError, match=name):
        call()


def test_an_impact_of_a_ball():
    """A ball that grips: impulses of a sphere on a plane, in closed form."""
    mass, radius, e = 2.0, 0.5, 0.5
    inertia = 0.4 * mass * radius**2
    ball = tippe.ImpactBody(mass, (inertia,) * 3, arm=(0, 0, -radius), velocity=(1, 0, -2))
    result = tippe.collide(ball, friction=10, restitution=e)
    assert result.impulse[2] == pytest.approx(mass * 2 * (1 + e))
    assert result.velocity == pytest.approx([0, 0, 2 * e], abs=1e-12)
    assert result.impulse[0] == pytest.approx(-1 / (1 / mass + radius**2 / inertia))
    before = 0.5 * mass * 5
    after = 0.5 * mass * (result.velocities[0] ** 2).sum() + 0.5 * inertia * (result.angular_velocities[0] ** 2).sum()
    assert result.energy_lost == pytest.approx(before - after)
    slide = tippe.collide(ball, friction=0.01, restitution=e)
    assert slide.impulse[0] == pytest.approx(-0.01 * slide.impulse[2])
    parting = tippe.collide(tippe.ImpactBody(1, velocity=(0, 0, 1)))
    assert parting.impulse == pytest.approx([0, 0, 0])
    with pytest.raises(ValueError, match="first"):
        tippe.collide(tippe.ImpactBody())
    with pytest.raises(ValueError, match="normal"):
        tippe.collide(ball, normal=(0, 0, 2))
    with pytest.raises(ValueError, match="friction"):
        tippe.collide(ball, friction=-1)
    with pytest.raises(ValueError, match="law"):
        tippe.collide(ball, law="newton")  # type: ignore[call-overload]


def test_tables_of_impacts_are_the_programs(tmp_path: Path):
    columns: dict[str, object] = {"id": [f"r{i}" for i in range(50)]}
    for k in (1, 2):
        columns[f"m{k}"] = RANDOM.uniform(0.5, 2, 50)
        for axes in ("xx", "yy", "zz"):
            columns[f"J{k}{axes}"] = RANDOM.uniform(0.5, 1, 50)
        for axes in ("xy", "xz", "yz"):
            columns[f"J{k}{axes}"] = RANDOM.uniform(-0.1, 0.1, 50)
        for letter in "rvw":
            for axis in "xyz":
                columns[f"{letter}{k}{axis}"] = RANDOM.normal(size=50)
    columns["mu"] = RANDOM.uniform(0, 1, 50)
    columns["e"] = RANDOM.uniform(0, 1, 50)
    table = pandas.DataFrame(columns)
    table.loc[0, ["m2", "J2xx", "J2yy", "J2zz", "J2xy", "J2xz", "J2yz"]] = [math.inf, 0, 0, 0, 0, 0, 0]
    path = tmp_path / "impacts.csv"
    table.to_csv(path, index=False, float_format="%.17g")
    for law in ("poisson", "stronge"):
        run_program("collide", str(path), "--out", "out.csv", "--restitution", law, cwd=tmp_path)
        theirs = read_table(tmp_path / "out.csv")
        ours = tippe.collide(table, law=law)
        assert list(ours.columns) == list(theirs)
        for column, values in theirs.items():
            assert ours[column].tolist() == values
        assert tippe.collide(path, law=law)["pz"].tolist() == ours["pz"].tolist()
    with pytest.raises(ValueError, match="mu"):
        tippe.collide(table.drop(columns="mu"))


def test_one_coefficient_serves_all_contacts():
    W, q = np.eye(6), [-1, 0.1, 0, -1, 2, 0]
    one, all_of_them = tippe.solve_friction(W, q, 0.5), tippe.solve_friction(W, q, [0.5, 0.5])
    assert np.array_equal(one.r, all_of_them.r) and one.status == "solved"


@pytest.mark.parametrize(
    ("name", "W", "q", "mu"),
    [
        ("mu", np.eye(3), np.zeros(3), "a"),
        ("mu", np.eye(3), np.zeros(3), None),
        ("q", np.eye(3), None, 0.5),
        ("q", np.eye(3), np.zeros(3) * 1j, 0.5),
        ("q", np.eye(4), np.zeros(4), 0.5),
        ("q", np.eye(5), np.zeros(5), [0.5, 0.5]),
        ("W", np.eye(3) * 1j, np.zeros(3), 0.5),
        ("W", "x", np.zeros(3), 0.5),
    ],
)
def test_bad_problems_name_the_argument(name: str, W: object, q: object, mu: object):
    with pytest.raises(ValueError, match=f"^{name}:"):
        tippe.solve_friction(W, q, mu)  # type: ignore[arg-type]
