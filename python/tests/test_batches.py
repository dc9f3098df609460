"""Batches: many worlds, the same bits as one, arrays that can be written, and environments over them."""

from __future__ import annotations

import math

import numpy as np
import pytest
import tippe
import tippe.gym
from gymnasium.utils.env_checker import check_env


@pytest.mark.parametrize("threads", [1, 2])
def test_every_world_of_a_batch_is_the_world_itself(threads: int):
    batch = tippe.Batch("stack10", 5, threads=threads)
    view = batch.positions
    assert view.shape == (5, 10, 3) and len(batch) == 5
    world = tippe.load("stack10")
    for _ in range(3):
        reports = batch.step()
        report = world.step()
    assert (view == world.positions).all() and (batch.velocities == world.velocities).all()
    assert all(one.state_hash == world.state_hash for one in batch)
    assert (reports["residual"] == report.residual).all() and reports["converged"].all()
    assert (reports["contacts"] == report.contacts).all() and (reports["time"] == world.time).all()


def test_arrays_of_a_batch_move_bodies_and_follow_them():
    batch = tippe.Batch("bouncing_ball", 3)
    view = batch.positions
    name = batch[0].moving[0].name
    batch[1][name].position = (0, 0, 7)  # by the handle
    view[2, 0] = (0, 0, 9)  # by the array
    start = view[0, 0].copy()
    batch.step()
    assert abs(view[:, 0, 2] - [start[2], 7, 9]).max() < 0.1
    batch.reset([False, True, False])
    assert (view[1] == tippe.load("bouncing_ball").positions).all() and batch[1].time == 0 < batch[2].time
    batch.positions = (0, 0, 5)  # numpy spreads it
    assert (batch.positions == [0, 0, 5]).all()
    before = [world.state_hash for world in batch]
    view[0, 0, 0] = math.nan
    with pytest.raises(ValueError, match="world 0"):
        batch.step()
    assert [world.state_hash for world in batch] == before
    batch.step()
    del batch
    assert np.isfinite(view).all()  # the array keeps what it shows


def test_joints_of_a_batch():
    batch = tippe.Batch("double_pendulum", 4, threads=2)
    assert batch.joint_names == ["pivot", "elbow"] and batch.joint_values.shape == (4, 2)
    batch.joint_values = [0.1, 0.2]
    batch.joint_speeds = np.arange(8).reshape(4, 2)
    assert batch.joint_values == pytest.approx(np.tile([0.1, 0.2], (4, 1)))
    assert batch.joint_speeds == pytest.approx(np.arange(8).reshape(4, 2))
    batch.apply_efforts([[0, 5]] * 4)
    batch.step()
    assert batch.joint_efforts == pytest.approx(np.tile([0, 5], (4, 1)))
    for world in batch:
        world.joints["elbow"].stiffness = 10
    batch.set_targets([math.nan, 0.5])
    assert batch[3].joints["elbow"].target == 0.5
    for wrong in ([1, 2, 3], np.zeros((3, 2)), "x"):
        with pytest.raises(ValueError, match="joint_values"):
            batch.joint_values = wrong  # type: ignore[assignment]


def test_batches_say_what_is_wrong():
    for count, threads in ((0, 1), (2, 0), (1.5, 1), (True, 1)):
        with pytest.raises(ValueError, match="count|threads"):
            tippe.Batch("bouncing_ball", count, threads=threads)  # type: ignore[arg-type]
    batch = tippe.Batch("bouncing_ball", 2)
    with pytest.raises(ValueError, match="worlds"):
        batch.reset([2])
    batch[1].add_body("more").add_sphere(0.1)
    with pytest.raises(ValueError, match="world 1"):
        batch.step()


def test_the_cart_and_its_pole_follow_lagrange():
    """Against the equations of motion, integrated by a method of fourth order."""
    world = tippe.load("cart_pole", step=1e-3)
    y = np.array([0.0, 0.03, 0.0, 0.0])  # place, angle, rates

    def rate(y: np.ndarray, force: float) -> np.ndarray:
        _, a, v, w = y
        m, n, half = 1.0, 0.1, 0.5
        c, s = math.cos(a), math.sin(a)
        mass = np.array([[m + n, n * half * c], [n * half * c, n * half**2 + 0.1 / 12]])
        return np.array([v, w, *np.linalg.solve(mass, [force + n * half * s * w * w, n * 9.81 * half * s])])

    h = 1e-3
    for k in range(600):
        force = 3.0 if k < 300 else -2.0
        world.joints["slide"].apply(force)
        world.step()
        a = rate(y, force)
        b = rate(y + h / 2 * a, force)
        c = rate(y + h / 2 * b, force)
        y = y + h / 6 * (a + 2 * b + 2 * c + rate(y + h * c, force))
    now = [*world.joint_values, *world.joint_speeds]
    assert now == pytest.approx(y, abs=2e-5)


@pytest.mark.filterwarnings("ignore")  # bounds that are infinite on purpose
@pytest.mark.parametrize("kind", [tippe.gym.CartPole, tippe.gym.Hopper])
def test_environments_pass_the_checker(kind: type[tippe.gym.CartPole]):
    check_env(kind(), skip_render_check=True)


def test_the_hopper_can_leave_the_ground():
    env = tippe.gym.Hopper(noise={})
    env.reset(seed=0)
    for _ in range(12):  # down
        env.step(np.array([0.0, 0.8, 0.9]))
    heights = []
    for _ in range(12):  # and up
        env.step(np.array([0.5, -0.8, -0.2]))
        heights.append(env.state["foot.y"] if env.state.contacts == 0 else 0.0)
    assert max(heights) > 0.15  # lying on the ground it has 0.06


@pytest.mark.filterwarnings("ignore")
def test_registered_environments_are_made_by_name():
    import gymnasium

    env = gymnasium.make("tippe/CartPole-v0")
    env.reset(seed=1)
    assert env.step(env.action_space.sample())[1] == 1.0
    many = gymnasium.make_vec("tippe/Hopper-v0", num_envs=2)
    assert many.reset(seed=1)[0].shape == (2, 11)


def test_vector_environments_do_what_single_ones_do():
    one = tippe.gym.CartPole(noise={})
    many = tippe.gym.CartPole.vector(3, threads=2, noise={})
    a, _ = one.reset(seed=0)
    b, _ = many.reset(seed=0)
    assert (b == a).all()
    for k in range(40):
        action = np.array([math.sin(k)], np.float32)
        a, reward, ended, _, _ = one.step(action)
        b, rewards, ends, _, _ = many.step(np.tile(action, (3, 1)))
        assert (a == b).all() and (rewards == reward).all() and (ends == ended).all()
        if ended:
            break


def test_vector_environments_start_again():
    many = tippe.gym.CartPole.vector(4, horizon=10)
    many.reset(seed=1)
    push = np.array([[0], [0], [0], [1]], np.float32)
    ends = np.zeros(4, bool)
    for k in range(10):
        observations, rewards, terminated, truncated, _ = many.step(push)
        ends |= terminated | truncated
    assert ends[:3].all() and truncated[:3].all()
    observations, rewards, terminated, truncated, _ = many.step(push)
    assert (rewards[:3] == 0).all() and not truncated.any() and (abs(observations[:3]) < 0.09).all()


def test_environments_of_ones_own():
    env = tippe.gym.Environment(
        "double_pendulum", observation=["elbow.q", "pivot.qd", "lower.x"], action={"elbow": (-2, 3)},
        reward=lambda state, action: state["lower.y"], terminated=lambda state: state["elbow.q"] > 100, steps=3,
    )
    observation, _ = env.reset(seed=4)
    assert observation == pytest.approx([0, 0, 1.5])
    _, reward, ended, truncated, _ = env.step(np.array([1.0]))
    assert reward == env.world["lower"].position[1] and not ended and not truncated
    assert env.world.joints["elbow"].effort == pytest.approx(3)
    for wrong in ({"observation": ["elbow.z"]}, {"action": {"knee": (-1, 1)}}, {"action": {"elbow": (1, -1)}}, {"noise": {"lower.x": 1}}, {"steps": 0}):
        arguments = {"observation": ["elbow.q"], "action": {"elbow": (-1, 1)}, "reward": lambda state, action: 0.0, **wrong}
        with pytest.raises(ValueError):
            tippe.gym.Environment("double_pendulum", **arguments)  # type: ignore[arg-type]
