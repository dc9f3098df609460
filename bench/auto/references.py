#!/usr/bin/env python3
"""Error asked against error got, on scenes whose motion is known: closed forms, or small equations of motion solved here.

usage: python3 bench/auto/references.py PROGRAM [NAME ...] [--accuracies 1e-2,1e-3,1e-4] [--stepper auto] [--times 1]
       [--write FOLDER]

No scene of the repository is among them. For every scene and accuracy: the largest error of a position at any step, in parts
of the accuracy times the length of the scene (1 or less: met), the estimate of `auto` in the same parts, and the steps that
are not certified. Last: how many are met, and how many are missed without the estimate or a note saying so.
"""
import argparse
import csv
import json
import math
import subprocess
import tempfile
from pathlib import Path

G = 9.81
FLOOR = {"name": "floor", "kind": "fixed", "material": "m", "shapes": [{"type": "plane", "normal": [0, 0, 1], "offset": 0}]}


def scene(bodies, until, step=0.01, joints=(), friction=0.0, restitution=0.0, gravity=(0, 0, -G)):
    return {"tippe": 1, "name": "reference", "gravity": list(gravity),
            "materials": {"m": {"friction": friction, "restitution": restitution}}, "bodies": bodies, "joints": list(joints),
            "simulation": {"stepper": "auto", "step": step, "until": until}}


def ball(name, position, velocity=(0, 0, 0), angular=(0, 0, 0), radius=0.1, mass=1.0):
    moment = 0.4 * mass * radius * radius
    return {"name": name, "mass": mass, "inertia": [moment] * 3, "material": "m", "position": list(position),
            "velocity": list(velocity), "angular_velocity": list(angular),
            "shapes": [{"type": "sphere", "radius": radius}]}


def block(name, position, velocity=(0, 0, 0), size=(0.4, 0.4, 0.2), mass=1.0):
    return {"name": name, "mass": mass, "material": "m", "position": list(position), "velocity": list(velocity),
            "shapes": [{"type": "box", "size": list(size)}]}


def solve(rates, start, until, step, happens=None, h=2e-4):
    """States at the multiples of `step`, by Runge and Kutta's method; `happens` may change a state after each small step."""
    states, state, count = [list(start)], list(start), max(1, round(step / h))
    h = step / count
    for k in range(round(until / step)):
        for i in range(count):
            t = k * step + i * h
            a = rates(t, state)
            b = rates(t + 0.5 * h, [x + 0.5 * h * y for x, y in zip(state, a)])
            c = rates(t + 0.5 * h, [x + 0.5 * h * y for x, y in zip(state, b)])
            d = rates(t + h, [x + h * y for x, y in zip(state, c)])
            state = [x + h / 6 * (p + 2 * q + 2 * r + s) for x, p, q, r, s in zip(state, a, b, c, d)]
            if happens:
                state = happens(state)
        states.append(state)
    return states


def by_states(states, step, place):
    return lambda t: place(states[round(t / step)])


# Contacts ---------------------------------------------------------------------------------------------------------------------


def bounce():
    """A ball of restitution .7 falls 1 m."""
    e, drop = 0.7, 1.0

    def height(t):
        fall = math.sqrt(2 * drop / G)
        if t < fall:
            return 0.1 + drop - 0.5 * G * t * t
        t, v = t - fall, e * G * fall
        while t > 2 * v / G and v > 1e-3:
            t, v = t - 2 * v / G, e * v
        return 0.1 + max(v * t - 0.5 * G * t * t, 0.0)
    return scene([FLOOR, ball("a", (0, 0, 1.1))], 1.5, restitution=e), lambda t: {"a": (0, 0, height(t))}


def incline(mu, angle, speed, radius=0.1):
    """A ball let go on a slope: it rolls, or slides and turns."""
    normal, down = (math.sin(angle), 0, math.cos(angle)), (math.cos(angle), 0, -math.sin(angle))
    slope = dict(FLOOR, shapes=[{"type": "plane", "normal": list(normal), "offset": 0}])
    rolls = mu >= 2 / 7 * math.tan(angle)
    rate = 5 / 7 * G * math.sin(angle) if rolls else G * (math.sin(angle) - mu * math.cos(angle))
    start = [radius * x for x in normal]
    body = ball("a", start, [speed * x for x in down], (0, speed / radius, 0), radius)
    return scene([slope, body], 2, friction=mu), \
        lambda t: {"a": [s + (speed * t + 0.5 * rate * t * t) * d for s, d in zip(start, down)]}


def backspin():
    """A ball with backspin slides, turns round and rolls back."""
    v, w, mu, r = 1.0, -40.0, 0.3, 0.1
    slip = v - w * r
    end = slip / (3.5 * mu * G)

    def place(t):
        s = min(t, end)
        return {"a": (v * s - 0.5 * mu * G * s * s + (v - mu * G * end) * max(t - end, 0), 0, r)}
    return scene([FLOOR, ball("a", (0, 0, r), (v, 0, 0), (0, w, 0))], 2, friction=mu), place


def pushed_block():
    """A block slides up a slope that holds it, and stops."""
    angle, mu, v = 0.3, 0.5, 2.0
    normal, up = (math.sin(angle), 0, math.cos(angle)), (-math.cos(angle), 0, math.sin(angle))
    slope = dict(FLOOR, shapes=[{"type": "plane", "normal": list(normal), "offset": 0}])
    body = block("a", [0.1 * x for x in normal], [v * x for x in up])
    body["rotation"] = {"axis": [0, 1, 0], "degrees": math.degrees(angle)}
    brake = G * (math.sin(angle) + mu * math.cos(angle))

    def place(t):
        s = min(t, v / brake)
        return {"a": [0.1 * n + (v * s - 0.5 * brake * s * s) * u for n, u in zip(normal, up)]}
    return scene([slope, body], 1, friction=mu), place


def belt_ride():
    """A block put on a belt slides until it goes along."""
    v, mu = 1.2, 0.25
    belt = dict(FLOOR, kind="kinematic", velocity=[v, 0, 0])

    def place(t):
        s = min(t, v / (mu * G))
        return {"a": (0.5 * mu * G * s * s + v * (t - s), 0, 0.1)}
    return scene([belt, block("a", (0, 0, 0.1))], 1.5, friction=mu), place


def spring_block():
    """A block on a spring, braked by the friction of the floor: half swings about +-a."""
    k, mu, x0 = 100.0, 0.2, 0.5
    w, a = math.sqrt(k), mu * G / k

    def x(t):
        at, sign = x0, -1.0
        while abs(at) > a:
            if t <= math.pi / w:
                return -sign * a + (at + sign * a) * math.cos(w * t)
            at, t, sign = -sign * 2 * a - at, t - math.pi / w, -sign
        return at
    joint = {"name": "s", "type": "spring", "bodies": [None, "a"], "anchors": [[-3, 0, 0.1], [x0, 0, 0.1]],
             "spring": {"stiffness": k, "rest": 3}}
    return scene([FLOOR, block("a", (x0, 0, 0.1))], 2, joints=[joint], friction=mu), lambda t: {"a": (x(t), 0, 0.1)}


def spring_slide():
    """The same on a slide with dry friction of its own."""
    k, f, x0 = 100.0, 1.7, 0.5
    w, a = math.sqrt(k), f / k

    def x(t):
        at, sign = x0, -1.0
        while abs(at) > a:
            if t <= math.pi / w:
                return -sign * a + (at + sign * a) * math.cos(w * t)
            at, t, sign = -sign * 2 * a - at, t - math.pi / w, -sign
        return at
    joint = {"name": "s", "type": "prismatic", "bodies": [None, "a"], "anchor": [0, 0, 0], "axis": [1, 0, 0], "zero": x0,
             "spring": {"stiffness": k}, "friction": f}
    return scene([block("a", (x0, 0, 0))], 2, joints=[joint]), lambda t: {"a": (x(t), 0, 0)}


def stick_slip():
    """A block on a belt and a spring sticks, slips and sticks again."""
    k, v, stick, slide = 50.0, 0.3, 0.4, 0.25
    w, e = math.sqrt(k), slide * G / k
    top = stick * G / k
    # It slips from `top` at v, swings about e, and comes back to v at 2 e - top.
    swing = math.hypot(top - e, v / w)
    late = math.atan2(v / w, top - e)  # x = e + swing cos(w t - late)
    slip = (math.pi + 2 * late) / w
    low = e + swing * math.cos(w * slip - late)

    def x(t):
        if t < top / v:
            return v * t
        t -= top / v
        while True:
            if t < slip:
                return e + swing * math.cos(w * t - late)
            t -= slip
            if t < (top - low) / v:
                return low + v * t
            t -= (top - low) / v
    belt = dict(FLOOR, kind="kinematic", velocity=[v, 0, 0])
    joint = {"name": "s", "type": "spring", "bodies": [None, "a"], "anchors": [[-3, 0, 0], [0, 0, 0]],
             "spring": {"stiffness": k, "rest": 3}}
    body = block("a", (0, 0, 0.1), (v, 0, 0))
    found = scene([belt, body], 3, joints=[joint])
    found["materials"]["m"]["friction"] = {"static": stick, "dynamic": slide}
    return found, lambda t: {"a": (x(t), 0, 0.1)}


def row_of_balls():
    """Elastic balls in a row hand one motion on."""
    bodies = [ball(f"b{i}", (0.25 * i, 0, 0), (2.0 if i == 0 else 0.0, 0, 0)) for i in range(5)]

    def place(t):
        return {f"b{i}": (0.25 * i + min(max(2 * t - 0.05 * i, 0.0), 0.05 if i < 4 else 1e9), 0, 0) for i in range(5)}
    return scene(bodies, 0.5, restitution=1.0, gravity=(0, 0, 0)), place


def hit_rod():
    """A ball hits the end of a rod that floats."""
    e, length, m, v = 0.5, 1.0, 2.0, 3.0
    inertia = m * length * length / 12
    arm = 0.4
    rod = {"name": "rod", "mass": m, "inertia": [inertia, inertia, 1e-3], "material": "m", "position": [0, 0, 0],
           "shapes": [{"type": "capsule", "radius": 0.05, "length": length - 0.1, "axis": [0, 0, 1]}]}
    gap = 0.35
    impulse = (1 + e) * v / (1 + 1 / m + arm * arm / inertia)
    hit = gap / v

    def place(t):
        s = max(t - hit, 0.0)
        return {"a": (-0.15 - gap + v * t - impulse * s, 0, arm), "rod": (impulse / m * s, 0, 0)}
    return scene([ball("a", (-0.15 - gap, 0, arm), (v, 0, 0)), rod], 0.6, restitution=e, gravity=(0, 0, 0)), place


def leaning_rod():
    """A rod falls on a floor without friction: its centre goes straight down."""
    length, m, lean, r = 1.0, 1.0, 0.3, 0.02
    inertia = m * length * length / 12
    rod = {"name": "rod", "mass": m, "inertia": [inertia, inertia, 1e-4], "material": "m",
           "position": [0, 0, r + 0.5 * length * math.cos(lean)], "rotation": {"axis": [0, 1, 0], "degrees": math.degrees(lean)},
           "shapes": [{"type": "capsule", "radius": r, "length": length, "axis": [0, 0, 1]}]}
    half = 0.5 * length

    def rates(_, s):
        angle, rate = s
        sine, cosine = math.sin(angle), math.cos(angle)
        return [rate, (m * G * half * sine - m * half * half * sine * cosine * rate * rate) /
                (inertia + m * half * half * sine * sine)]
    step = 0.005
    states = solve(rates, [lean, 0.0], 0.35, step)
    return scene([FLOOR, rod], 0.35, step), by_states(states, step, lambda s: {"rod": (0, 0, r + half * math.cos(s[0]))})


def pendulum_wall():
    """A pendulum hits a wall at its lowest point and bounces."""
    e, length, m, r = 0.8, 1.0, 1.0, 0.1
    inertia = m * length * length + 0.4 * m * r * r
    wall = {"name": "wall", "kind": "fixed", "material": "m", "shapes": [{"type": "plane", "normal": [1, 0, 0], "offset": -r}]}
    start = 1.0
    joint = {"name": "j", "type": "revolute", "bodies": [None, "a"], "anchor": [0, 0, 0], "axis": [0, -1, 0]}

    def rates(_, s):
        return [s[1], -m * G * length / inertia * math.sin(s[0])]

    # One swing from the top to the bottom takes a quarter of the period; each bounce keeps e of the speed.
    def quarter(angle):
        h, a, w, t = 1e-5, angle, 0.0, 0.0
        while a > 0:
            last = (a, w, t)
            k = [0, 0, 0, 0]
            s = [a, w]
            k[0] = rates(0, s)
            k[1] = rates(0, [s[0] + .5 * h * k[0][0], s[1] + .5 * h * k[0][1]])
            k[2] = rates(0, [s[0] + .5 * h * k[1][0], s[1] + .5 * h * k[1][1]])
            k[3] = rates(0, [s[0] + h * k[2][0], s[1] + h * k[2][1]])
            a = s[0] + h / 6 * (k[0][0] + 2 * k[1][0] + 2 * k[2][0] + k[3][0])
            w = s[1] + h / 6 * (k[0][1] + 2 * k[1][1] + 2 * k[2][1] + k[3][1])
            t += h
        return last[2] + last[0] / -last[1], last[1]
    hits = []
    time, angle = 0.0, start
    while time < 3:
        swing, speed = quarter(angle)
        time += swing
        hits.append((time, -speed * e))
        angle = math.acos(max(-1, 1 - 0.5 * inertia * (speed * e) ** 2 / (m * G * length)))
        time += quarter(angle)[0]
    step = 0.01
    table = {}

    def angle_at(t):
        before = [hit for hit in hits if hit[0] <= t]
        t0, s = (before[-1][0], [0.0, before[-1][1]]) if before else (0.0, [start, 0.0])
        if t <= t0 + 1e-12:
            return s[0]
        n = max(1, math.ceil((t - t0) / 1e-3))
        return solve(rates, s, t - t0, t - t0, h=(t - t0) / n)[-1][0]
    for k in range(251):
        table[k] = angle_at(k * step)
    place = (length * math.sin(start), 0, -length * math.cos(start))
    return scene([wall, ball("a", place)], 2.5, step, [joint], restitution=e), \
        lambda t: {"a": (length * math.sin(table[round(t / step)]), 0, -length * math.cos(table[round(t / step)]))}


# Joints -----------------------------------------------------------------------------------------------------------------------


def arm(coordinate, torque, until=2.0, start=0.0, happens=None, step=0.01):
    """A ball of 1 kg on an arm of 1 m about y, with a torque of the joint's law."""
    m, length, inertia = 1.0, 1.0, 1.0 + 0.4 * 0.01
    joint = {"name": "j", "type": "revolute", "bodies": [None, "a"], "anchor": [0, 0, 0], "axis": [0, -1, 0], "zero": start,
             **coordinate}

    def rates(t, s):
        return [s[1], (torque(t, s) - m * G * length * math.sin(s[0])) / inertia]
    states = solve(rates, [start, 0.0], until, step, happens)
    place = (length * math.sin(start), 0, -length * math.cos(start))
    return scene([ball("a", place)], until, step, [joint]), \
        by_states(states, step, lambda s: {"a": (length * math.sin(s[0]), 0, -length * math.cos(s[0]))})


def servo_arm():
    """A servo lifts an arm."""
    return arm({"servo": {"target": 1.0, "stiffness": 60.0, "damping": 6.0}}, lambda t, s: 60 * (1 - s[0]) - 6 * s[1])


def weak_servo():
    """A servo that gives all it can at first."""
    return arm({"servo": {"target": 1.0, "stiffness": 60.0, "damping": 6.0, "effort": 12.0}},
               lambda t, s: max(-12.0, min(12.0, 60 * (1 - s[0]) - 6 * s[1])))


def damped_arm():
    return arm({"damping": 0.7}, lambda t, s: -0.7 * s[1], start=2.0, until=3.0)


def sprung_arm():
    return arm({"spring": {"stiffness": 20.0, "rest": 0.5, "damping": 0.2}}, lambda t, s: -20 * (s[0] - 0.5) - 0.2 * s[1],
               start=-1.0, until=3.0)


def stopped_arm():
    """A pendulum that falls onto a stop, and stays there."""
    found, place = arm({"limits": [0.4, 3.0]}, lambda t, s: 0.0, start=1.5, until=1.5)
    states = solve(lambda t, s: [s[1], -G / 1.004 * math.sin(s[0])], [1.5, 0.0], 1.5, 0.01,
                   lambda s: [0.4, 0.0] if s[0] <= 0.4 else s, h=1e-5)
    return found, by_states(states, 0.01, lambda s: {"a": (math.sin(s[0]), 0, -math.cos(s[0]))})


def crank():
    """A crank at a given speed drives a slider."""
    r, length, w = 0.2, 0.6, 5.0
    rod = {"name": "rod", "mass": 0.5, "position": [0.5 * (r + (r + length)), 0, 0],
           "shapes": [{"type": "capsule", "radius": 0.02, "length": length - 0.04, "axis": [1, 0, 0]}]}
    wheel = {"name": "wheel", "mass": 1, "inertia": [0.02, 0.02, 0.02], "position": [0, 0, 0], "angular_velocity": [0, 0, w],
             "shapes": [{"type": "sphere", "radius": 0.1}]}
    rod["velocity"] = [0, 0.5 * r * w, 0]
    rod["angular_velocity"] = [0, 0, -r * w / length]
    slider = {"name": "slider", "mass": 0.5, "position": [r + length, 0, 0], "shapes": [{"type": "box", "size": [0.1, 0.1, 0.1]}]}
    joints = [{"name": "axle", "type": "revolute", "bodies": [None, "wheel"], "anchor": [0, 0, 0], "axis": [0, 0, 1],
               "motor": {"speed": w, "effort": 1000}},
              {"name": "pin", "type": "revolute", "bodies": ["wheel", "rod"], "anchor": [r, 0, 0], "axis": [0, 0, 1]},
              {"name": "wrist", "type": "revolute", "bodies": ["rod", "slider"], "anchor": [r + length, 0, 0], "axis": [0, 0, 1]},
              {"name": "slide", "type": "prismatic", "bodies": [None, "slider"], "anchor": [r + length, 0, 0], "axis": [1, 0, 0]}]

    def place(t):
        x = r * math.cos(w * t) + math.sqrt(length ** 2 - (r * math.sin(w * t)) ** 2)
        return {"slider": (x, 0, 0)}
    return scene([wheel, rod, slider], 3, joints=joints, gravity=(0, 0, 0)), place


def motor_start():
    """A motor of limited effort brings a wheel to its speed."""
    wheel = {"name": "a", "mass": 1, "inertia": [0.1, 0.1, 0.1], "position": [0.5, 0, 0],
             "shapes": [{"type": "sphere", "radius": 0.1}]}
    joint = {"name": "j", "type": "revolute", "bodies": [None, "a"], "anchor": [0, 0, 0], "axis": [0, 0, 1],
             "motor": {"speed": 4.0, "effort": 0.7}}
    rate = 0.7 / (0.1 + 0.25)

    def place(t):
        s = min(t, 4.0 / rate)
        angle = 0.5 * rate * s * s + 4.0 * (t - s)
        return {"a": (0.5 * math.cos(angle), 0.5 * math.sin(angle), 0)}
    return scene([wheel], 3, joints=[joint], gravity=(0, 0, 0)), place


def two_on_spring():
    """Two bodies on a spring fly."""
    k, stretch = 80.0, 0.2
    joint = {"name": "s", "type": "spring", "bodies": ["a", "b"], "anchors": [[0, 0, 5], [1 + stretch, 0, 5]],
             "spring": {"stiffness": k, "rest": 1.0}}
    w, middle = math.sqrt(k * 1.5), (1 + stretch) * 2 / 3

    def place(t):
        length = 1 + stretch * math.cos(w * t)
        z = 5 - 0.5 * G * t * t
        return {"a": (middle - length * 2 / 3, 0, z), "b": (middle + length / 3, 0, z)}
    return scene([ball("a", (0, 0, 5)), ball("b", (1 + stretch, 0, 5), mass=2.0)], 1.0, joints=[joint]), place


def cross(a, b):
    return [a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]]


def gyroscope():
    """A fast top on a point, let go level: it nods and goes round."""
    spin, arm_length, m, ia, ic = 60.0, 0.3, 1.0, 0.02, 0.03
    about = ia + m * arm_length ** 2
    body = {"name": "a", "mass": m, "inertia": [ic, ia, ia], "position": [arm_length, 0, 0],
            "angular_velocity": [spin, 0, 0], "shapes": [{"type": "cylinder", "radius": 0.15, "length": 0.05, "axis": [1, 0, 0]}]}
    joint = {"name": "j", "type": "ball", "bodies": [None, "a"], "anchor": [0, 0, 0]}

    # The axis u and the momentum L about the point: u' = L x u / A, L' = m l u x g; the spin about the axis stays.
    def rates(_, s):
        u, momentum = s[:3], s[3:]
        return [x / about for x in cross(momentum, u)] + [m * arm_length * x for x in cross(u, [0, 0, -G])]
    step = 0.005
    states = solve(rates, [1, 0, 0, ic * spin, 0, 0], 1.5, step)
    return scene([body], 1.5, step, [joint]), by_states(states, step, lambda s: {"a": [arm_length * x for x in s[:3]]})


def spherical_pendulum():
    """A ball on a ball joint goes round and round."""
    m, length, inertia = 1.0, 1.0, 1.004
    start, velocity = (math.sin(1.0), 0, -math.cos(1.0)), (0, 2.0, 0)
    angular = cross(start, velocity)
    joint = {"name": "j", "type": "ball", "bodies": [None, "a"], "anchor": [0, 0, 0]}

    def rates(_, s):
        u, v = s[:3], s[3:]
        pull = -G * m * length / inertia
        along = sum(x * x for x in v) + pull * u[2]
        return list(v) + [-along * u[0], -along * u[1], pull - along * u[2]]
    step = 0.01
    states = solve(rates, list(start) + list(velocity), 3, step)
    return scene([ball("a", start, velocity, angular)], 3, step, [joint]), \
        by_states(states, step, lambda s: {"a": s[:3]})


def double_pendulum():
    """Two balls on two arms, let go level and upright."""
    inertia = 0.4 * 0.01
    bodies = [ball("a", (1, 0, 0)), ball("b", (1, 0, 1))]
    joints = [{"name": "j", "type": "revolute", "bodies": [None, "a"], "anchor": [0, 0, 0], "axis": [0, -1, 0]},
              {"name": "k", "type": "revolute", "bodies": ["a", "b"], "anchor": [1, 0, 0], "axis": [0, -1, 0]}]

    # Angles from straight down; x = sin, z = -cos.
    def rates(_, s):
        p, q, u, v = s
        c, d = math.cos(p - q), math.sin(p - q)
        a11, a12, a22 = 2 + inertia, c, 1 + inertia
        r1, r2 = -d * v * v - 2 * G * math.sin(p), d * u * u - G * math.sin(q)
        det = a11 * a22 - a12 * a12
        return [u, v, (a22 * r1 - a12 * r2) / det, (a11 * r2 - a12 * r1) / det]
    step = 0.01
    states = solve(rates, [math.pi / 2, math.pi, 0, 0], 1.5, step)

    def place(s):
        x, z = math.sin(s[0]), -math.cos(s[0])
        return {"a": (x, 0, z), "b": (x + math.sin(s[1]), 0, z - math.cos(s[1]))}
    return scene(bodies, 1.5, step, joints), by_states(states, step, place)


# Events ----------------------------------------------------------------------------------------------------------------------


def kutta(rates, t, state, h):
    a = rates(t, state)
    b = rates(t + 0.5 * h, [x + 0.5 * h * y for x, y in zip(state, a)])
    c = rates(t + 0.5 * h, [x + 0.5 * h * y for x, y in zip(state, b)])
    d = rates(t + h, [x + h * y for x, y in zip(state, c)])
    return [x + h / 6 * (p + 2 * q + 2 * r + s) for x, p, q, r, s in zip(state, a, b, c, d)]


def solve_modes(modes, mode, start, until, step, h=2e-4):
    """States at the multiples of `step` of a motion in modes. A mode has rates, and events: each a function of the state that
    falls through 0, and what follows it: a function of the state that gives the next mode and state."""
    states, state, time = [list(start)], list(start), 0.0
    count = max(1, round(step / h))
    for k in range(1, round(until / step) + 1):
        for i in range(count):
            end = (k - 1) * step + (i + 1) * step / count
            while end - time > 1e-13:
                rates, events = modes[mode]
                after = kutta(rates, time, state, end - time)
                met = [(event, then) for event, then in events if event(after) < 0.0 <= event(state)]
                if not met:
                    state, time = after, end
                    continue
                first = None
                for event, then in met:
                    low, high = 0.0, end - time
                    while high - low > 1e-14:
                        middle = 0.5 * (low + high)
                        low, high = (middle, high) if event(kutta(rates, time, state, middle)) >= 0.0 else (low, middle)
                    if first is None or high < first[0]:
                        first = (high, then)
                state = kutta(rates, time, state, first[0])
                time += first[0]
                mode, state = first[1](state)
        states.append(state)
    return states


def dry_pendulum():
    """A pendulum with dry friction in its hinge swings, turns round, and stops aslant."""
    friction, inertia = 1.5, 1.004
    start = 1.4

    def swinging(sign):
        return (lambda t, s: [s[1], (-G * math.sin(s[0]) - sign * friction) / inertia], [(lambda s: sign * s[1], turn)])

    def turn(s):
        pull = -G * math.sin(s[0])
        return ("held" if abs(pull) <= friction else "up" if pull > 0 else "down"), [s[0], 0.0]
    modes = {"up": swinging(1.0), "down": swinging(-1.0), "held": (lambda t, s: [0.0, 0.0], [])}
    states = solve_modes(modes, "down", [start, 0.0], 4.0, 0.01)
    joint = {"name": "j", "type": "revolute", "bodies": [None, "a"], "anchor": [0, 0, 0], "axis": [0, -1, 0], "zero": start,
             "friction": friction}
    return scene([ball("a", (math.sin(start), 0, -math.cos(start)))], 4.0, 0.01, [joint]), \
        by_states(states, 0.01, lambda s: {"a": (math.sin(s[0]), 0, -math.cos(s[0]))})


def shaken_block():
    """A block on a slab that swings on a spring: it sticks and slips in turn."""
    k, mu, m, slab = 200.0, 0.3, 1.0, 2.0
    start = 0.3

    def slips(sign):  # the block goes faster to the side of `sign` than the slab
        return (lambda t, s: [s[1], (-k * s[0] + sign * mu * m * G) / slab, s[3], -sign * mu * G],
                [(lambda s: sign * (s[3] - s[1]), meet)])

    def meet(s):
        speed = (slab * s[1] + m * s[3]) / (slab + m)
        pull = -k * s[0] / (slab + m)
        state = [s[0], speed, s[2], speed]
        return ("sticks" if abs(pull) <= mu * G else "behind" if pull > 0 else "ahead"), state

    def breaks(s):
        return ("behind" if -k * s[0] > 0 else "ahead"), s
    together = lambda t, s: [s[1], -k * s[0] / (slab + m), s[3], -k * s[0] / (slab + m)]
    modes = {"ahead": slips(1.0), "behind": slips(-1.0),
             "sticks": (together, [(lambda s: mu * G - k * abs(s[0]) / (slab + m), breaks)])}
    states = solve_modes(modes, "ahead", [start, 0.0, start, 0.0], 2.0, 0.01)
    bodies = [block("slab", (start, 0, 0.1), size=(2.0, 0.6, 0.2), mass=slab), block("a", (start, 0, 0.3), mass=m)]
    joint = {"name": "s", "type": "prismatic", "bodies": [None, "slab"], "anchor": [0, 0, 0.1], "axis": [1, 0, 0], "zero": start,
             "spring": {"stiffness": k}}
    return scene(bodies, 2.0, 0.01, [joint], friction=mu), \
        by_states(states, 0.01, lambda s: {"slab": (s[0], 0, 0.1), "a": (s[2], 0, 0.3)})


def rolls_off():
    """A ball rolls off the edge of a table, so fast that it flies at once."""
    r, v = 0.1, 1.5
    table = {"name": "table", "kind": "fixed", "material": "m", "position": [-1, 0, -0.5],
             "shapes": [{"type": "box", "size": [2, 2, 1]}]}
    leave = 0.6 / v

    def place(t):
        return {"a": (-0.6 + v * t, 0, r - 0.5 * G * max(t - leave, 0.0) ** 2)}
    return scene([table, ball("a", (-0.6, 0, r), (v, 0, 0), (0, v / r, 0))], 0.8, friction=0.4), place


def ladder():
    """A rod slides down a wall and along the floor, without friction, and leaves the wall."""
    length, m, r, lean = 1.0, 1.0, 0.02, 0.4
    inertia, half = m * length * length / 12, 0.5 * length
    rod = {"name": "rod", "mass": m, "inertia": [inertia, inertia, 1e-4], "material": "m",
           "position": [r + half * math.sin(lean), 0, r + half * math.cos(lean)],
           "rotation": {"axis": [0, 1, 0], "degrees": -math.degrees(lean)},
           "shapes": [{"type": "capsule", "radius": r, "length": length, "axis": [0, 0, 1]}]}
    wall = {"name": "wall", "kind": "fixed", "material": "m", "shapes": [{"type": "plane", "normal": [1, 0, 0], "offset": 0}]}

    # State: lean, its rate, x, its rate. At the wall x = half sin(lean) and lean'' = m g half sin(lean) / (I + m half^2).
    def at_wall(_, s):
        bend = m * G * half * math.sin(s[0]) / (inertia + m * half * half)
        return [s[1], bend, half * math.cos(s[0]) * s[1], half * (math.cos(s[0]) * bend - math.sin(s[0]) * s[1] ** 2)]

    def alone(_, s):
        sine, cosine = math.sin(s[0]), math.cos(s[0])
        return [s[1], (m * G * half * sine - m * half * half * sine * cosine * s[1] ** 2) / (inertia + m * half * half * sine * sine),
                s[3], 0.0]
    modes = {"wall": (at_wall, [(lambda s: at_wall(0, s)[3] + (1e-9 if s[1] == 0 else 0.0), lambda s: ("floor", s))]),
             "floor": (alone, [])}
    states = solve_modes(modes, "wall", [lean, 0.0, half * math.sin(lean), 0.0], 0.5, 0.005)
    return scene([FLOOR, wall, rod], 0.5, 0.005), \
        by_states(states, 0.005, lambda s: {"rod": (r + s[2], 0, r + half * math.cos(s[0]))})


def two_pendulums():
    """Two pendulums side by side: one hits the other again and again."""
    e, r, start = 0.6, 0.1, -1.0
    inertia = 1.0 + 0.4 * r * r

    def rates(_, s):
        return [s[1], -G / inertia * math.sin(s[0]), s[3], -G / inertia * math.sin(s[2])]

    def gap(s):  # the pivots are 2 r apart
        x = 2 * r + math.sin(s[2]) - math.sin(s[0])
        return math.hypot(x, math.cos(s[2]) - math.cos(s[0])) - 2 * r

    def hit(s):
        x, z = 2 * r + math.sin(s[2]) - math.sin(s[0]), math.cos(s[0]) - math.cos(s[2])
        n = (x / (2 * r), z / (2 * r))
        a = math.cos(s[0]) * n[0] + math.sin(s[0]) * n[1]
        b = math.cos(s[2]) * n[0] + math.sin(s[2]) * n[1]
        impulse = (1 + e) * (a * s[1] - b * s[3]) / ((a * a + b * b) / inertia)
        return "swing", [s[0], s[1] - impulse * a / inertia, s[2], s[3] + impulse * b / inertia]
    modes = {"swing": (rates, [(gap, hit)])}
    states = solve_modes(modes, "swing", [start, 0.0, 0.02, 0.0], 1.4, 0.01)

    def at(angle, x):
        return x + math.sin(angle), 0, -math.cos(angle)
    joints = [{"name": n, "type": "revolute", "bodies": [None, n], "anchor": [x, 0, 0], "axis": [0, -1, 0], "zero": angle}
              for n, x, angle in (("a", 0, start), ("b", 2 * r, 0.02))]
    return scene([ball("a", at(start, 0)), ball("b", at(0.02, 2 * r))], 1.4, 0.01, joints, restitution=e), \
        by_states(states, 0.01, lambda s: {"a": at(s[0], 0), "b": at(s[2], 2 * r)})


def servo_stop():
    """A servo drives an arm against a stop and presses it there."""
    inertia = 1.004
    servo = lambda s: 40 * (2.0 - s[0]) - 4 * s[1]
    free = (lambda t, s: [s[1], (servo(s) - G * math.sin(s[0])) / inertia], [(lambda s: 0.8 - s[0], lambda s: ("held", [0.8, 0.0]))])
    states = solve_modes({"free": free, "held": (lambda t, s: [0.0, 0.0], [])}, "free", [0.0, 0.0], 1.0, 0.01)
    joint = {"name": "j", "type": "revolute", "bodies": [None, "a"], "anchor": [0, 0, 0], "axis": [0, -1, 0], "zero": 0,
             "servo": {"target": 2.0, "stiffness": 40.0, "damping": 4.0}, "limits": [-3.0, 0.8]}
    return scene([ball("a", (0, 0, -1))], 1.0, 0.01, [joint]), \
        by_states(states, 0.01, lambda s: {"a": (math.sin(s[0]), 0, -math.cos(s[0]))})


def up_and_down():
    """A block slides up a slope, turns round and slides back."""
    angle, mu, v = 0.6, 0.3, 2.0
    normal, up = (math.sin(angle), 0, math.cos(angle)), (-math.cos(angle), 0, math.sin(angle))
    slope = dict(FLOOR, shapes=[{"type": "plane", "normal": list(normal), "offset": 0}])
    body = block("a", [0.1 * x for x in normal], [v * x for x in up])
    body["rotation"] = {"axis": [0, 1, 0], "degrees": math.degrees(angle)}
    brake, back = (G * (math.sin(angle) + f * mu * math.cos(angle)) for f in (1, -1))

    def place(t):
        s = min(t, v / brake)
        way = v * s - 0.5 * brake * s * s - 0.5 * back * (t - s) ** 2
        return {"a": [0.1 * n + way * u for n, u in zip(normal, up)]}
    return scene([slope, body], 1.2, friction=mu), place


def spinning_bounce():
    """A ball with spin bounces: friction takes the slip in the first bounces, until it rolls off the floor."""
    e, mu, r, drop = 0.8, 0.1, 0.1, 0.5
    fall = math.sqrt(2 * drop / G)
    hits, t, x, v, w, speed = [], fall, 0.0, 0.5, 60.0, G * fall
    hits.append((0.0, 0.0, v, drop, 0.0))
    last = 0.0
    for _ in range(6):
        x += v * (t - last)
        impulse = (1 + e) * speed
        slip = v - w * r
        change = -math.copysign(min(mu * impulse, abs(slip) / 3.5), slip)
        v, w, speed = v + change, w - 2.5 * change / r, e * speed
        hits.append((t, x, v, 0.0, speed))
        last, t = t, t + 2 * speed / G

    def place(t):
        t0, x0, v0, z0, s0 = [hit for hit in hits if hit[0] <= t + 1e-12][-1]
        s = t - t0
        return {"a": (x0 + v0 * s, 0, r + z0 + s0 * s - 0.5 * G * s * s)}
    return scene([FLOOR, ball("a", (0, 0, r + drop), (0.5, 0, 0), (0, 60.0, 0))], 1.8, friction=mu, restitution=e), place


def two_dropped():
    """A small ball on top of a large one, a little above it: it jumps off higher than it fell from. Later the bounces of the
    large one are slower than the threshold of restitution."""
    e, big, small, gap, drop = 0.9, 3.0, 1.0, 0.01, 0.4
    z, v = [0.1 + drop, 0.3 + drop + gap], [0.0, 0.0]
    events, t = [(0.0, list(z), list(v))], 0.0
    while t < 0.7:
        fall = (v[0] + math.sqrt(v[0] ** 2 + 2 * G * (z[0] - 0.1))) / G
        close = v[0] - v[1]
        meet = (z[1] - z[0] - 0.2) / close if close > 0 else math.inf
        dt = min(fall, meet)
        z = [a + b * dt - 0.5 * G * dt * dt for a, b in zip(z, v)]
        v = [a - G * dt for a in v]
        t += dt
        if fall <= meet:
            v[0] *= -e
        else:
            impulse = (1 + e) * (v[0] - v[1]) / (1 / big + 1 / small)
            v = [v[0] - impulse / big, v[1] + impulse / small]
        events.append((t, list(z), list(v)))

    def place(t):
        t0, z0, v0 = [event for event in events if event[0] <= t + 1e-12][-1]
        s = t - t0
        return {n: (0, 0, a + b * s - 0.5 * G * s * s) for n, a, b in zip(("a", "b"), z0, v0)}
    return scene([FLOOR, ball("a", (0, 0, 0.1 + drop), mass=big), ball("b", (0, 0, 0.3 + drop + gap), mass=small)], 0.7,
                 restitution=e), place


SCENES = {
    "bounce": bounce, "rolls down": lambda: incline(0.5, 0.4, 0.0), "slides down": lambda: incline(0.05, 0.4, 0.0),
    "backspin": backspin, "pushed block": pushed_block, "belt": belt_ride, "spring and floor": spring_block,
    "spring and slide": spring_slide, "stick and slip": stick_slip, "row of balls": row_of_balls, "hit rod": hit_rod,
    "leaning rod": leaning_rod, "pendulum and wall": pendulum_wall, "servo": servo_arm, "weak servo": weak_servo,
    "damped arm": damped_arm, "sprung arm": sprung_arm, "stopped arm": stopped_arm, "crank": crank, "motor": motor_start,
    "two on a spring": two_on_spring, "gyroscope": gyroscope, "spherical pendulum": spherical_pendulum,
    "double pendulum": double_pendulum, "dry pendulum": dry_pendulum, "shaken block": shaken_block, "rolls off": rolls_off,
    "ladder": ladder, "two pendulums": two_pendulums, "servo and stop": servo_stop, "up and down": up_and_down,
    "spinning bounce": spinning_bounce, "two dropped": two_dropped,
}


def measure(program, path, place, stepper, accuracy):
    """The largest error of a position, m, and the summary of the run."""
    with tempfile.TemporaryDirectory() as folder:
        table = Path(folder) / "run.csv"
        options = ["--set", f"accuracy={accuracy:g}"] if stepper == "auto" else []
        command = [program, "run", str(path), "--stepper", stepper, "--json", "--csv", str(table), *options]
        done = subprocess.run(command, capture_output=True, text=True)
        if not done.stdout.startswith("{"):
            raise SystemExit(done.stderr)
        summary = json.loads(done.stdout)
        worst = 0.0
        with table.open() as rows:
            for row in csv.DictReader(rows):
                for name, right in place(float(row["time"])).items():
                    here = [float(row[f"{name}.{axis}"]) for axis in "xyz"]
                    worst = max(worst, math.dist(here, right))
    return worst, summary


def write_truth(path, found, place):
    """The positions at every step, beside the scene: what regret.py holds runs against."""
    step, until = found["simulation"]["step"], found["simulation"]["until"]
    states = [place(k * step) for k in range(round(until / step) + 1)]
    table = {"step": step, "places": {name: [list(state[name]) for state in states] for name in states[0]}}
    path.with_suffix(".truth").write_text(json.dumps(table))


def main(scenes):
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("program")
    parser.add_argument("names", nargs="*")
    parser.add_argument("--accuracies", default="1e-2,1e-3,1e-4")
    parser.add_argument("--stepper", default="auto")
    parser.add_argument("--times", type=int, default=1, help="steps of the user, in those of the scenes")
    parser.add_argument("--write", metavar="FOLDER", help="write the scenes there too, with the known positions")
    arguments = parser.parse_args()
    met, unsaid, total = 0, 0, 0
    for name in arguments.names or scenes:
        found, place = scenes[name]()
        with tempfile.TemporaryDirectory() as folder:
            path = Path(arguments.write or folder) / (name.replace(" ", "_") + ".json")
            simulation = found["simulation"]
            simulation["step"] *= arguments.times
            simulation["until"] = simulation["step"] * math.floor(simulation["until"] / simulation["step"] + 1e-9)
            path.write_text(json.dumps(found))
            if arguments.write:
                write_truth(path, found, place)
            for text in arguments.accuracies.split(","):
                error, summary = measure(arguments.program, path, place, arguments.stepper, float(text))
                asked = summary["error_asked"] or 1.0
                said = summary["error_estimate"] / asked > 1.0 or bool(summary["notes"])
                met, total = met + (error <= asked), total + 1
                unsaid += error > asked and not said
                print(f"{name:20} {text:>6} error {error / asked:9.2g} estimate {summary['error_estimate'] / asked:9.2g} "
                      f"substeps {summary['substeps']:6} uncertified {summary['uncertified_steps']}"
                      f"{'' if error <= asked else '  MISSED' + (', said' if said else ', not said')}", flush=True)
    print(f"met: {met} of {total}; missed and not said: {unsaid}")


if __name__ == "__main__":
    main(SCENES)
