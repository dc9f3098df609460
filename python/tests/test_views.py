"""Live arrays of states: what one writes moves bodies, and nothing ever points to nothing."""

from __future__ import annotations

import gc
import threading

import numpy as np
import pytest
import tippe


def make_row(count: int) -> tippe.World:
    world = tippe.World(gravity=(0, 0, -10), step=0.01)
    world.add_body("floor", kind="fixed").add_plane()
    for i in range(count):
        world.add_body(f"b{i}", position=(i, 0, 1)).add_sphere(0.1)
    return world


def test_arrays_are_live_and_writable():
    world = make_row(3)
    p, q, v, w = world.positions, world.rotations, world.velocities, world.angular_velocities
    assert p.shape == (3, 3) and q.shape == (3, 4) and v.shape == (3, 3) and w.shape == (3, 3)
    assert p.dtype == np.float64 and p.flags.writeable
    assert p is world.positions
    world.step()
    assert v[:, 2] == pytest.approx([-0.1] * 3)
    p[1] = (1, 2, 3)
    v[1] = 0
    assert world["b1"].position == pytest.approx([1, 2, 3])
    assert world["b1"].velocity == pytest.approx([0, 0, 0])
    world.step()
    assert v[1, 2] == pytest.approx(-0.1)
    world["b0"].position = (9, 9, 9)
    assert p[0] == pytest.approx([9, 9, 9])
    q[2] = (0, 0, 0, 2)  # brought to length one
    world.step()
    assert q[2] == pytest.approx([0, 0, 0, 1])


def test_whole_arrays_may_be_assigned():
    world = make_row(2)
    world.velocities = [[1, 0, 0], [0, 1, 0]]
    world.positions += 1
    assert world["b1"].position == pytest.approx([2, 1, 2])
    assert world["b1"].velocity == pytest.approx([0, 1, 0])
    with pytest.raises(ValueError, match="velocities"):
        world.velocities = [[1, 0, 0]]
    with pytest.raises(ValueError, match="rotations"):
        world.rotations = "x"  # type: ignore[assignment]


def test_writing_what_is_there_changes_no_bit():
    first, second = tippe.load("card_house"), tippe.load("card_house")
    for _ in range(20):
        first.step()
        second.step()
        second.positions[:] = second.positions.copy()
        second.velocities = second.velocities.copy()
    assert first.state_hash == second.state_hash


def test_bad_numbers_are_refused_and_forgotten():
    world = make_row(2)
    before = world.positions.copy()
    world.positions[1, 2] = np.nan
    with pytest.raises(ValueError, match=r"positions.*b1"):
        world.step()
    assert np.array_equal(world.positions, before)
    world.rotations[0] = 0
    with pytest.raises(ValueError, match=r"rotations.*b0"):
        world.kinetic_energy
    world.step()
    assert world.step_count == 1


def test_arrays_outlive_added_and_destroyed_bodies():
    world = make_row(3)
    old = world.positions
    world.add_body("new", position=(0, 0, 50)).add_sphere(0.1)
    new = world.positions
    assert old.shape == (3, 3) and new.shape == (4, 3)
    world.step()
    assert np.array_equal(old, new[:3])  # both are live
    old[0] = (7, 7, 7)
    assert world["b0"].position == pytest.approx([7, 7, 7])
    assert new[0] == pytest.approx([7, 7, 7])
    world["b1"].destroy()
    assert np.isnan(old[1]).all() and np.isnan(new[1]).all()
    assert world.positions.shape == (3, 3)
    world.step()
    assert np.array_equal(old[[0, 2]], world.positions[:2])
    old[1] = 0  # a body that is gone: nothing happens
    world.step()
    assert np.isnan(old[1]).all()
    # A body that takes the slot is not the old one.
    world.add_body("b1", position=(0, 5, 5)).add_sphere(0.1)
    world.step()
    assert np.isnan(old[1]).all()


def test_writes_before_a_change_of_bodies_are_not_lost():
    world = make_row(1)
    world.positions[0] = (0, 0, 5)  # nobody holds the array
    world.add_body("other", position=(3, 0, 1)).add_sphere(0.1)
    assert world.positions[0] == pytest.approx([0, 0, 5])
    assert world["b0"].position == pytest.approx([0, 0, 5])


def test_arrays_outlive_the_world():
    world = make_row(3)
    p, slice_of_it = world.positions, world.positions[1:, 2]
    world.step()
    kept = p.copy()
    del world
    gc.collect()
    assert np.array_equal(p, kept) and np.array_equal(slice_of_it, kept[1:, 2])
    p[:] = 0


def test_random_changes_with_arrays_held():
    """Bodies come and go while arrays, rows and slices are held, read and written."""
    random = np.random.default_rng(5)
    gc.freeze()  # what other tests have imported need not be looked through each time
    world = make_row(5)
    held: list[tuple[list[tippe.Body], np.ndarray, np.ndarray]] = []
    made = 5
    for turn in range(400):
        action = random.integers(6)
        moving = world.moving
        if action == 0:
            world.add_body(f"b{made}", position=random.normal(size=3) * 5 + [0, 0, 10]).add_sphere(0.1)
            made += 1
        elif action == 1 and len(moving) > 1:
            moving[random.integers(len(moving))].destroy()
        elif action == 2:
            held.append((moving, world.positions, world.velocities[:, 1]))
        elif action == 3 and held:
            held.pop(random.integers(len(held)))
            gc.collect()
        elif action == 4 and held:
            bodies, positions, _ = held[random.integers(len(held))]
            row = random.integers(len(bodies))
            target = random.normal(size=3) + [0, 0, 20]
            positions[row] = target
            if bodies[row].is_valid:
                assert bodies[row].position == pytest.approx(target)
        else:
            world.step()
        if turn % 7 == 0:
            for bodies, positions, sideways in held:
                assert len(bodies) == len(positions) == len(sideways)
                for body, position, speed in zip(bodies, positions, sideways):
                    if body.is_valid:
                        assert np.array_equal(body.position, position)
                        assert body.velocity[1] == speed
    gc.unfreeze()
    assert np.isfinite(world.positions).all()


def test_a_world_without_moving_bodies_has_empty_arrays():
    world = tippe.World()
    assert world.positions.shape == (0, 3) and world.rotations.shape == (0, 4)
    world.step()
    assert len(world.run(until=0.1).time) == 10


def test_other_threads_run_while_a_world_steps():
    world = tippe.load("bench/pyramid20", stepper="small-steps")
    done = threading.Event()
    ticks = 0
    refused = 0

    def step() -> None:
        for _ in range(500):
            world.step()
            if refused > 0 and ticks > 10:
                break
        done.set()

    thread = threading.Thread(target=step)
    thread.start()
    while not done.is_set():
        ticks += 1
        try:
            world.time
        except RuntimeError as error:
            assert "another thread" in str(error)
            refused += 1
    thread.join()
    assert ticks > 10 and refused > 0
    assert world.step_count > 0
