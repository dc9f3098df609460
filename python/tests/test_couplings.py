"""Couplings of joints, and efforts for given speeds."""

from __future__ import annotations

import math

import numpy as np
import pytest
import tippe


def make_wheels() -> tippe.World:
    """Two wheels on axles side by side; each has the inertia 0.02 kg m^2 about its axle."""
    world = tippe.World(gravity=(0, 0, 0))
    for k, name in enumerate(("small", "large")):
        wheel = world.add_body(name, position=(k, 0, 0), mass=1, inertia=(0.02, 0.02, 0.02))
        world.add_joint("revolute", None, wheel, name=name, anchor=(k, 0, 0), axis=(0, 0, 1))
    return world


def test_a_gear_shares_an_effort():
    world = make_wheels()
    gear = world.add_coupling("gear", {"small": 1, "large": 3}, value=0)
    assert list(world.couplings) == ["gear"] and world.couplings["gear"].of == {"small": 1.0, "large": 3.0}
    for _ in range(50):
        world.joints["small"].apply(0.1)
        world.step(0.01)
    # The large wheel turns a third as fast, the other way: 0.02 (1 + 1/9) a = 0.1.
    assert world.joints["small"].speed == pytest.approx(0.5 * 0.1 / (0.02 * 10 / 9), rel=1e-9)
    assert world.joints["small"].speed + 3 * world.joints["large"].speed == pytest.approx(0, abs=1e-10)
    assert gear.value == pytest.approx(0, abs=1e-9) and gear.held_at == 0
    gear.held_at = None
    gear.spring = {"stiffness": 2.0}
    assert gear.spring == {"stiffness": 2.0, "damping": 0.0, "rest": 0.0} and gear.held_at is None
    gear.destroy()
    assert not gear.is_valid and len(world.couplings) == 0
    with pytest.raises(ValueError, match="destroyed"):
        _ = gear.value


def test_a_sum_is_driven_and_limited():
    world = make_wheels()
    tendon = world.add_coupling("tendon", {"small": 1, "large": 1}, servo={"target": 0.4, "stiffness": 50, "damping": 2})
    for _ in range(400):
        world.step(0.01)
    assert tendon.value == pytest.approx(0.4, abs=1e-6)
    tendon.target = 0.8
    tendon.limits = (-1, 0.5)
    for _ in range(400):
        world.step(0.01)
    assert tendon.value == pytest.approx(0.5, abs=1e-6) and tendon.target == 0.8 and tendon.limits == (-1, 0.5)


def test_bad_couplings_are_told():
    world = make_wheels()
    with pytest.raises(ValueError, match="of: there is no joint"):
        world.add_coupling("a", {"nothing": 1}, value=0)
    for of in ({}, ["small"], {"small": math.nan}):
        with pytest.raises(ValueError):
            world.add_coupling("a", of, value=0)  # type: ignore[arg-type]
    world.add_coupling("a", {"small": 1}, value=0)
    with pytest.raises(ValueError, match="already"):
        world.add_coupling("a", {"small": 1}, value=0)
    with pytest.raises(KeyError):
        _ = world.couplings["b"]


def test_efforts_for_given_speeds():
    """A pendulum of two links: the efforts make the speeds that were asked for, to rounding, and leave the world as it was."""
    world = tippe.World(gravity=(0, 0, -9.81), step=0.01)
    last: tippe.Body | None = None
    for k, name in enumerate(("shoulder", "elbow")):
        link = world.add_body(f"link{k}", position=(0.25 + 0.5 * k, 0, 0), mass=1, inertia=(0.002, 0.02, 0.02))
        world.add_joint("revolute", last, link, name=name, anchor=(0.5 * k, 0, 0), axis=(0, 1, 0))
        last = link
    before = world.snapshot()
    wanted = np.array([0.2, -0.3])
    efforts = world.inverse_dynamics(wanted)
    assert world.snapshot() == before
    world.apply_efforts(efforts)
    world.step()
    assert world.joint_speeds == pytest.approx(wanted, abs=1e-9)
    world.restore(before)
    free = world.inverse_dynamics([0.0, math.nan])
    assert free[1] == 0
    with pytest.raises(ValueError, match="speeds: expected 2"):
        world.inverse_dynamics([1.0])
