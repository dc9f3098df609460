#!/usr/bin/env python3
"""Computes the figures of problems, steps and runs anew, from what was recorded, and compares.

usage: judge.py problems|runs PROGRAM JUDGE_FRICTION

`problems` asks the library's judges about random problems with solutions that are wrong on purpose, and about the
friction problems of runs whose solves end early. `runs` goes through recordings of many steppers: energies, work,
contacts, penetration, certificates, and every figure of the summary, of the table and of the page. The formulas are
in laws.py; nothing is shared with the library but the files that it writes.
"""
import glob
import json
import os
import re
import subprocess
import sys
import tempfile

import h5py
import numpy as np

import laws

failures = []
compared = 0


def expect(what, found, wanted, relative=1e-9, absolute=0.0):
    """Counts a comparison, and keeps what differs."""
    global compared
    compared += 1
    same = found == wanted
    if not same and isinstance(found, (int, float, np.floating, np.integer)) and isinstance(wanted, (int, float, np.floating, np.integer)):
        same = abs(float(found) - float(wanted)) <= absolute + relative * abs(float(wanted))
    if not same:
        failures.append(f"{what}: the program says {found!r}, it is {wanted!r}")


# Problems ----------------------------------------------------------------------------------------------------

def judge_random(driver):
    lines = subprocess.run([driver], check=True, capture_output=True, text=True).stdout.splitlines()
    assert len(lines) == 600, len(lines)
    for k, line in enumerate(lines):
        case = {key: np.array(value) if isinstance(value, list) else value for key, value in json.loads(line).items()}
        q = case["q"]
        if case["way"] == 3:
            M = case["values"].reshape(len(q), len(q)).T
            wanted, w = laws.lcp_residual(M, q, case["z"], case["free"] > 0)
            expect(f"problem {k}: LCP residual", case["verdict"][0], wanted)
            expect(f"problem {k}: w", np.abs(case["u"] - w).max(), 0.0, absolute=1e-12)
            continue
        kinds, dimensions, body_a, body_b = case["blocks"].reshape(-1, 4).T
        if case["way"] == 2:
            n = int(case["degrees"])
            W = laws.by_bodies(case["inverse_mass"].reshape(-1, n, n), body_a, body_b, dimensions, case["jacobian_a"].reshape(-1, n),
                               case["jacobian_b"].reshape(-1, n), case["terms"].reshape(-1, 2).astype(int), case["term_jacobians"].reshape(-1, n))
        else:
            W = case["values"].reshape(len(q), len(q)).T
        problem = laws.Problem(kinds, dimensions, case["mu"], W, q, None if case["plain"] else case["scale"],
                               None if case["plain"] else case["compliance"])
        verdict, u = problem.verdict(case["r"])
        expect(f"problem {k}: u", np.abs(case["u"] - u).max(), 0.0, absolute=1e-11)
        for (name, wanted), found in zip(verdict.items(), case["verdict"]):
            expect(f"problem {k} ({['dense', 'sparse', 'bodies'][case['way']]}): {name}", found, wanted, absolute=1e-11)


def read_problem(path):
    with h5py.File(path) as file:
        own = file["tippe"]
        blocks, rows = own["blocks"], own["rows"]
        degrees = int(own["degrees"][0])
        W = laws.by_bodies(own["inverse_mass"][:].reshape(-1, degrees, degrees), blocks["body_a"][:], blocks["body_b"][:],
                           blocks["dimension"][:], rows["jacobian_a"][:].reshape(-1, degrees), rows["jacobian_b"][:].reshape(-1, degrees))
        problem = laws.Problem(blocks["kind"][:], blocks["dimension"][:], blocks["mu"][:], W, rows["q"][:], rows["scale"][:],
                               rows["compliance"][:])
        titles = [file[name]["info/title"][()].decode() for name in file if "info" in file[name]]
        return problem, rows["impulse"][:], titles[0] if titles else ""


def judge_dumps(program, scene, work, *options):
    """The residual of every problem of a run, and of every step: the largest of its problems."""
    folder, record = os.path.join(work, "dump"), os.path.join(work, "dumped.h5")
    subprocess.run([program, "run", scene, "--dump", folder, "--out", record, "--quiet", *options], check=True)
    worst = {}
    for path in sorted(glob.glob(os.path.join(folder, "*.hdf5"))):
        problem, r, title = read_problem(path)
        verdict, _ = problem.verdict(r)
        scale = max(np.linalg.norm(problem.q * problem.e), 1e-6)
        residual = verdict["velocity"] / scale
        told = re.search(r"residual ([-+.\w]+)$", title)
        if told:
            expect(f"{os.path.basename(path)}: residual", float(told.group(1)), residual, relative=6e-3, absolute=1e-12)
        step = int(re.search(r"-(\d+)-\d+\.hdf5$", path).group(1))
        worst.setdefault(step, []).append((residual, *problem.relative(r)))
        os.remove(path)
    assert worst, "there were no problems"
    with h5py.File(record) as run:
        residual, cone, dissipation = (run["reports/" + name][1:] for name in ("residual", "cone_violation", "dissipation_violation"))
        solves = run["reports/solve_count"][1:]
    for step, found in worst.items():
        if solves[step] != len(found):
            continue  # some were tried and given up
        # A step that is tried again reports what it kept: one of the problems, or the worst of several.
        figures = np.array(found)
        for k, (name, column) in enumerate((("residual", residual), ("cone violation", cone), ("dissipation violation", dissipation))):
            if len(found) == 1:
                expect(f"{scene} {options} step {step}: {name}", column[step], figures[0, k], relative=1e-6, absolute=1e-11)
            else:
                near = np.abs(figures[:, k] - column[step]).min()
                expect(f"{scene} {options} step {step}: {name} is that of a problem", near, 0.0, absolute=1e-6 * abs(column[step]) + 1e-11)
    return len(worst)


# Runs ----------------------------------------------------------------------------------------------------------

def scene_of(bodies, step, until, **more):
    return {"tippe": 1, "gravity": [0, 0, -9.81], "materials": {"m": {"friction": 0.4, "restitution": 0.0}, "r": {"friction": 0.2, "restitution": 0.5}},
            "bodies": [{"name": "floor", "kind": "fixed", "material": "m", "shapes": [{"type": "plane", "normal": [0, 0, 1]}]}] + bodies,
            "simulation": {"step": step, "until": until}, **more}


def box(name, position, size=(0.3, 0.2, 0.1), **more):
    return {"name": name, "density": 800, "material": "m", "shapes": [{"type": "box", "size": list(size)}], "position": list(position), **more}


def ball(name, position, radius=0.1, **more):
    return {"name": name, "density": 500, "material": "m", "shapes": [{"type": "sphere", "radius": radius}], "position": list(position), **more}


def tumble(height):
    return scene_of([box("box", (0, 0, height), velocity=[1.5, 0.2, 0], angular_velocity=[2, 3, 1]), ball("ball", (1, 2, 0.1), velocity=[-1, 0.5, 0]),
                     ball("bouncer", (-1, 0, 0.6), material="r", angular_velocity=[0, 20, 0])], 0.01, 0.6)


# The gaps of small-steps follow a box through its landing, which is another one from each height.
HEIGHTS = {f"tumble_{height:g}": tumble(height) for height in (0.352, 0.355, 0.356, 0.357, 0.358, 0.36)}
SCENES = {
    **HEIGHTS,
    "tumble": tumble(0.35),
    "pushed": scene_of([box("box", (0, 0, 0.05))], 0.01, 0.5, forces=[{"body": "box", "force": [30, 5, 3]}]),
    "pendulum": scene_of([box("rod", (0.15, 0, 1)), box("bob", (0.45, 0, 1))], 0.01, 0.5, joints=[
        {"name": "pin", "type": "revolute", "bodies": [None, "rod"], "anchor": [0, 0, 1], "axis": [0, 1, 0]},
        {"name": "link", "type": "ball", "bodies": ["rod", "bob"], "anchor": [0.3, 0, 1]}]),
    "rider": scene_of([box("box", (0, 0, 0.05), velocity=[0.3, 0, 0]), ball("ball", (0.06, 0.02, 0.2), velocity=[0.4, 0.1, 0])], 0.01, 0.3),
    "apart": scene_of([box("box", (0, 0, 0.35), velocity=[0, 0, -3], angular_velocity=[2, 25, 9]), ball("bouncer", (20, 0, 0.6), material="r"),
                       ball("flier", (30, 0, 9))], 0.01, 0.8),
    "stack": scene_of([box(f"b{i}", (0.01 * i, 0, 0.05 + 0.1 * i)) for i in range(4)], 0.01, 0.3),
}
RUNS = [("tumble", "stewart-trinkle", ()), ("tumble", "anitescu", ()), ("tumble", "bender-schmitt", ()), ("tumble", "mirtich-canny", ()),
        ("tumble", "chakraborty-trinkle", ()), ("tumble", "penalty", ()), ("tumble", "small-steps", ()), *((name, "small-steps", ()) for name in HEIGHTS),
        ("tumble", "bender-schmitt", ("--set", "budget=1000")), ("stack", "small-steps", ("--set", "substeps=1")),
        ("tumble", "stewart-trinkle", ("--set", "cone=pyramid", "--set", "directions=4")), ("pushed", "anitescu", ()), ("pushed", "stewart-trinkle", ()),
        ("pushed", "bender-schmitt", ()), ("pendulum", "anitescu", ()), ("pendulum", "stewart-trinkle", ()), ("pendulum", "bender-schmitt", ()), ("pendulum", "small-steps", ()),
        ("tumble", "auto", ()), ("stack", "auto", ()), ("apart", "auto", ("--set", "accuracy=1e-5")),
        ("stack", "anitescu", ("--set", "tolerance=0.05")), ("tumble", "anitescu", ("--every", "3")),
        ("rider", "anitescu", ()), ("rider", "bender-schmitt", ()), ("rider", "chakraborty-trinkle", ())]


class Run:
    def __init__(self, path):
        with h5py.File(path) as file:
            self.time, self.states = file["time"][:], file["states"][:]
            self.step, self.every = float(file.attrs["step"]), int(file.attrs["every"])
            self.gravity = np.array(file.attrs["gravity"])
            self.mass, self.inertia, self.moving = (file["bodies/" + name][:] for name in ("mass", "inertia", "moving"))
            self.reports = {name: file["reports/" + name][:] for name in file["reports"]}
            self.contacts = {name: file["contacts/" + name][:] for name in file["contacts"]}
            self.pairs = {name: file["pairs/" + name][:] for name in file["pairs"]}
            self.shapes = json.loads(file["shapes"][()])
            self.labels = file["labels"][()].decode() if "labels" in file and file["labels"].shape == () else ""
            self.summary = json.loads(file["summary"][()])
            names = [text.decode() for text in np.ravel(file["labels"][()])] if "labels" in file else []
            self.methods = [[names[m] if m >= 0 else "" for m in row] for row in file["carriers/method"][:]] if "carriers" in file else []

    def body_of(self, moving):
        return int(np.flatnonzero(self.moving == moving)[0])

    def heights(self, frame, moving):
        """How far the lowest point of a body is above the plane z = 0."""
        state = self.states[frame, moving]
        shape = self.shapes["bodies"][self.body_of(moving)]["shapes"][0]
        if shape["type"] == "sphere":
            return state[2] - shape["radius"]
        return state[2] - np.abs(laws.matrix_of(state[3:7])[2]) @ (0.5 * np.array(shape["size"]))

    def size_of(self, moving):
        """The farthest corner of the box around its shape, or its radius of gyration if that is more."""
        body = self.body_of(moving)
        shape = self.shapes["bodies"][body]["shapes"][0]
        reach = np.sqrt(3.0) * shape["radius"] if shape["type"] == "sphere" else 0.5 * np.linalg.norm(shape["size"])
        xx, yy, zz = self.inertia[body][:3]
        return max(reach, np.sqrt(0.5 * (xx + yy + zz) / self.mass[body]))


def judge_energy(name, run):
    r = run.reports
    kinetic, potential = np.zeros(len(run.time)), np.zeros(len(run.time))
    for moving in range(run.states.shape[1]):
        body = run.body_of(moving)
        for frame in range(len(run.time)):
            k, p = laws.energies(run.mass[body], run.inertia[body], run.gravity, run.states[frame, moving])
            kinetic[frame] += k
            potential[frame] += p
    excess = 0.0
    for k in range(1, len(run.time)):
        place = f"{name} frame {k}"
        scale = kinetic.max() + np.abs(potential).max()
        expect(f"{place}: kinetic before", r["kinetic_before"][k], kinetic[k - 1], absolute=1e-12 * scale)
        expect(f"{place}: kinetic after", r["kinetic_after"][k], kinetic[k], absolute=1e-12 * scale)
        expect(f"{place}: potential before", r["potential_before"][k], potential[k - 1], absolute=1e-12 * scale)
        expect(f"{place}: potential after", r["potential_after"][k], potential[k], absolute=1e-12 * scale)
        change = kinetic[k] + potential[k] - kinetic[k - 1] - potential[k - 1]
        work = r["external_work"][k]
        expect(f"{place}: energy increase", r["energy_increase"][k], change - work, absolute=1e-11 * scale)
        expect(f"{place}: the account", work - r["friction_loss"][k] - r["impact_loss"][k], change, absolute=1e-11 * scale)
        if run.every == 1:
            excess = max(0.0, excess + change - work)
            expect(f"{place}: energy excess", r["energy_excess"][k], excess, absolute=1e-11 * scale)
            beyond = excess > r["energy_limit"][k] and change - work > 0.0
            expect(f"{place}: law of energy", bool(r["violations"][k] & 2), beyond)
            excess = 0.0 if beyond else excess
    return kinetic, potential


def judge_limits(name, run, tolerance):
    """Limits of the certificate, and which laws are beyond theirs. Bodies without joints only know their own size."""
    r = run.reports
    sizes = np.array([run.size_of(i) for i in range(run.states.shape[1])])
    masses = np.array([run.mass[run.body_of(i)] for i in range(run.states.shape[1])])
    fall = np.sum(masses * np.linalg.norm(run.gravity) * sizes)
    peak = 0.0
    for k in range(1, len(run.time)):
        place = f"{name} frame {k}"
        expect(f"{place}: limit of the residual", r["residual_limit"][k], max(1e-8, tolerance))
        expect(f"{place}: limit of the overlap", r["penetration_limit"][k], 1e-3 * sizes.min(), relative=1e-6)
        expect(f"{place}: limit of joints", r["joint_drift_limit"][k], 1e-6 * np.sqrt(sizes.sum() / (1.0 / sizes).sum()), relative=1e-6)
        for bit, figure, limit in ((1, "residual", "residual_limit"), (4, "joint_drift", "joint_drift_limit"), (8, "penetration", "penetration_limit")):
            expect(f"{place}: law {bit}", bool(r["violations"][k] & bit), bool(not r[figure][k] <= r[limit][k]))
        now = max(r["kinetic_before"][k], r["kinetic_after"][k])
        now -= min(now, max(0.0, r["energy_increase"][k]))
        peak = max(now, (1.0 - 1e-3) * peak)
        known = peak + fall + abs(r["external_work"][k])
        wanted = 1e-3 * (known + min(known, abs(r["friction_loss"][k] + r["impact_loss"][k])))
        expect(f"{place}: limit of energy", r["energy_limit"][k], wanted, relative=1e-9, absolute=2e-12)


def judge_contacts(name, run, restitution):
    c, r = run.contacts, run.reports
    offset = c["offset"]
    materials = run.shapes["pairs"]
    assert len(materials) > 0
    floor = int(np.flatnonzero(run.moving < 0)[0])
    for k in range(1, len(run.time)):
        rows = range(offset[k], offset[k + 1])
        place = f"{name} frame {k}"
        expect(f"{place}: contacts", int(r["contact_count"][k]), len(rows))
        single = 1e-6 if "small-steps" in name else 1e-9  # it keeps normals in single precision
        for i in rows:
            normal, friction = c["normal"][i], c["friction_impulse"][i]
            expect(f"{place} contact {i}: unit normal", np.linalg.norm(normal), 1.0, relative=single)
            tangential = single * (1e-9 + np.linalg.norm(friction) + abs(c["normal_impulse"][i]))
            if "stack small-steps" not in name:  # there it is the mean over normals that turn
                expect(f"{place} contact {i}: friction is tangential", float(friction @ normal), 0.0, absolute=tangential)
            pushes = c["normal_impulse"][i] > 0.0
            state = 0 if not pushes else 1 if c["sliding_speed"][i] > 1e-5 else 2
            if "mirtich" not in name and "small-steps" not in name and not (pushes and 1e-7 < c["sliding_speed"][i] < 2e-3):  # near the border only the program knows
                expect(f"{place} contact {i}: state", int(c["state"][i]), state)
        # Balls and boxes above the floor: how deep, and how far the contacts are.
        if run.every == 1 and "pendulum" not in name:
            deepest = 0.0
            for moving in range(run.states.shape[1]):
                height = run.heights(k, moving)
                deepest = max(deepest, -height)
                body = run.body_of(moving)
                gaps = [c["gap"][i] for i in rows if {int(c["body_a"][i]), int(c["body_b"][i])} == {floor, body}]
                # small-steps lists what has carried something in the step, or touches: a corner that comes down between may be lower.
                if gaps and not ("small-steps" in name and 1e-5 < height < min(gaps)):
                    expect(f"{place}: gap of body {body}", min(gaps), height, absolute=1e-5 + 1e-3 * abs(height) + 0.1 * abs(height) * (len(gaps) < 3))
            if "mirtich" in name:  # the deepest at any event of the step
                expect(f"{place}: penetration at least", bool(r["penetration"][k] >= deepest - 1e-9), True)
            elif "stack" not in name:
                # small-steps keeps the arms of its contacts, .2 m at most, in single precision, and they do not turn with the
                # tilt that is sag: deepest / .2 at most, which the gaps that follow miss in second order.
                bound = 0.2 * 2.0**-24 + deepest**2 / (2.0 * 0.2) if "small-steps" in name else 1e-9
                expect(f"{place}: penetration", r["penetration"][k], deepest, relative=1e-6, absolute=bound)


def judge_joints(name, run):
    """The pendulum's joints: how far its anchors are apart and its hinge is bent, along the axes of the world."""
    half = np.array([0.15, 0.0, 0.0])
    for k in range(1, len(run.time)):
        rod, bob = (laws.matrix_of(run.states[k, i, 3:7]) for i in (0, 1))
        rod_at, bob_at = (run.states[k, i, 0:3] for i in (0, 1))
        pin = rod_at - rod @ half - np.array([0.0, 0.0, 1.0])
        link = bob_at - bob @ half - (rod_at + rod @ half)
        bend = np.cross(rod[:, 1], [0.0, 1.0, 0.0])
        drift = max(np.abs(error).max() for error in (pin, link, bend))
        expect(f"{name} frame {k}: joint drift", run.reports["joint_drift"][k], drift, relative=1e-4, absolute=2e-12)


def judge_momentum(name, run, forces):
    """Impulses of pairs and gravity make up the change of momentum."""
    p = run.pairs
    for k in range(1, len(run.time)):
        time = run.time[k] - run.time[k - 1]
        for moving in range(run.states.shape[1]):
            body = run.body_of(moving)
            impulse = run.mass[body] * run.gravity * time + forces.get(body, np.zeros(3)) * time
            for i in range(p["offset"][k], p["offset"][k + 1]):
                impulse = impulse + (p["impulse"][i] if p["body_a"][i] == body else 0.0) - (p["impulse"][i] if p["body_b"][i] == body else 0.0)
            change = run.mass[body] * (run.states[k, moving, 7:10] - run.states[k - 1, moving, 7:10])
            size = run.mass[body] * (1.0 + np.abs(run.states[k, moving, 7:10]).max())
            expect(f"{name} frame {k}: momentum of body {body}", np.abs(change - impulse).max(), 0.0, absolute=1e-9 * size)


SUMS = {"solves": "solve_count", "iterations": "iteration_count", "substeps": "substep_count", "failures": "failure_count",
        "contact_queries": "contact_query_count", "collisions": "collision_count", "microcollisions": "microcollision_count",
        "heap_operations": "heap_operation_count", "checks": "check_count", "budget_ends": "budget_count",
        "switches": "switch_count", "rejected_steps": "rejected_count"}
LARGEST = {"penetration_max": "penetration", "residual_max": "residual", "dissipation_max": "dissipation_violation", "cone_max": "cone_violation",
           "joint_drift_max": "joint_drift", "energy_excess_max": "energy_excess", "handed_over_max": "handed_over_count",
           "rigid_residual_max": "rigid_residual"}
LAST = ("error_estimate", "error_asked")
TOTALS = {"external_work": "external_work", "friction_loss": "friction_loss", "impact_loss": "impact_loss", "numerical_loss": "numerical_loss"}


def judge_switches(name, run):
    """Of bodies that never meet, each a group of its own: what carries them tells who was handed over."""
    asleep_or_flying = ("", "free-flight")
    for k in range(1, len(run.methods)):
        before, now = run.methods[k - 1], run.methods[k]
        changed = sum(a != b and a not in asleep_or_flying and b not in asleep_or_flying for a, b in zip(before, now))
        expect(f"{name}: switches in step {k}", int(run.reports["switch_count"][k]), changed)
        if all(method == "free-flight" for method in now):
            expect(f"{name}: nothing rejected in flight, step {k}", int(run.reports["rejected_count"][k]), 0)


def judge_summary(name, run, kinetic, potential, tolerance, summary):
    r = {key: column[1:] for key, column in run.reports.items()}
    steps = (len(run.time) - 1) * run.every
    expect(f"{name}: summary of the recording", {k: v for k, v in run.summary.items() if not re.search("time|memory|factor", k)},
           {k: v for k, v in summary.items() if not re.search("time|memory|factor", k)})
    if run.every == 1:
        expect(f"{name}: steps", summary["steps"], steps)
        expect(f"{name}: mean contacts", summary["contacts_mean"], float(np.mean(r["contact_count"])))
        expect(f"{name}: most contacts", summary["contacts_max"], int(r["contact_count"].max()))
        first = np.flatnonzero(~(r["residual"] <= max(1e-8, tolerance)))
        expect(f"{name}: first step above the tolerance", summary["first_step_above_tolerance"], int(first[0]) + 1 if len(first) else None)
        expect(f"{name}: energy increase", summary["energy_increase_max"], max(0.0, r["energy_increase"].max()), absolute=1e-12)
        expect(f"{name}: uncertified steps", summary["uncertified_steps"], int(np.count_nonzero(r["violations"])))
        for bit, law in ((1, "contact"), (2, "energy"), (4, "joints"), (8, "overlap")):
            expect(f"{name}: uncertified by {law}", summary[f"uncertified_{law}"], int(np.count_nonzero(r["violations"] & bit)))
        first = np.flatnonzero(r["violations"])
        expect(f"{name}: first uncertified step", summary["first_uncertified_step"], int(first[0]) + 1 if len(first) else None)
        expect(f"{name}: unconverged", summary["unconverged_steps"], int(np.count_nonzero(r["converged"] == 0)))
        expect(f"{name}: undone", summary["undone_steps"], int(np.count_nonzero(r["undone"])))
        expect(f"{name}: fallbacks", sum(summary["fallbacks"].values()), int(np.count_nonzero(r["fallback"] >= 0)))
        notes = int(np.count_nonzero(r["note"] >= 0) + np.count_nonzero(r["more_notes"] >= 0))
        expect(f"{name}: notes", sum(summary["notes"].values()), notes)
    expect(f"{name}: simulated time", summary["simulated_time"], steps * run.step, relative=1e-12, absolute=run.every * run.step)
    expect(f"{name}: tolerance", summary["residual_tolerance"], max(1e-8, tolerance))
    expect(f"{name}: energy at the start", summary["energy_start"], kinetic[0] + potential[0], relative=1e-12, absolute=1e-12)
    expect(f"{name}: energy at the end", summary["energy_end"], kinetic[-1] + potential[-1], relative=1e-12, absolute=1e-12)
    expect(f"{name}: real time", summary["realtime_factor"], summary["simulated_time"] / summary["wall_time"], relative=1e-6)
    for key, column in SUMS.items():
        if key in summary:
            expect(f"{name}: {key}", summary[key], int(r[column].sum()))
    for key, column in LARGEST.items():
        if key in summary:
            expect(f"{name}: {key}", summary[key], float(r[column].max()))
    for key in LAST:
        expect(f"{name}: {key}", summary[key], float(r[key][-1]))
    for key, column in TOTALS.items():
        expect(f"{name}: {key}", summary[key], float(r[column].sum()), relative=1e-9, absolute=1e-12)


def judge_table(name, text, summary):
    """The table that people read says what the summary of programs says."""
    def row(label):
        found = re.search(rf"^  {label} +(.*)$", text, re.M)
        return found.group(1) if found else ""

    def numbers(label):
        return [float(x) for x in re.findall(r"(?<![\w.])-?\d+\.?\d*(?:e[-+]?\d+)?(?![\w.]*[a-z(])|-?\d+\.?\d*(?:e[-+]?\d+)?", row(label))]

    expect(f"{name}: table, steps", numbers("steps")[0], summary["steps"])
    expect(f"{name}: table, time", numbers("simulated time")[0], summary["simulated_time"], relative=1e-5)
    contacts = numbers("contacts")
    expect(f"{name}: table, mean contacts", contacts[0], summary["contacts_mean"], relative=1e-3)
    expect(f"{name}: table, most contacts", contacts[1], summary["contacts_max"])
    expect(f"{name}: table, penetration", numbers("deepest penetration")[0], summary["penetration_max"], relative=1e-2)
    residual = numbers("largest residual")
    expect(f"{name}: table, residual", residual[0], summary["residual_max"], relative=1e-2)
    if summary["first_step_above_tolerance"] is not None:
        expect(f"{name}: table, tolerance", residual[1], summary["residual_tolerance"], relative=1e-2)
        expect(f"{name}: table, first step above", residual[2], summary["first_step_above_tolerance"])
    else:
        expect(f"{name}: table, nothing above", len(residual), 1)
    expect(f"{name}: table, dissipation", numbers("maximal dissipation")[0], summary["dissipation_max"], relative=1e-2)
    energy = numbers("energy")
    expect(f"{name}: table, energy at the start", energy[0], summary["energy_start"], relative=1e-5)
    expect(f"{name}: table, energy at the end", energy[1], summary["energy_end"], relative=1e-5)
    expect(f"{name}: table, increase", numbers("energy increase")[0], summary["energy_increase_max"], relative=1e-2)
    work = numbers("work and losses")
    for value, key in zip(work, ("external_work", "friction_loss", "impact_loss", "numerical_loss")):
        expect(f"{name}: table, {key}", value, summary[key], relative=1e-2, absolute=1e-12)
    for value, key in zip(numbers("solves"), ("solves", "iterations", "failures")):
        expect(f"{name}: table, {key}", value, summary[key])
    if summary["uncertified_steps"] == 0:
        expect(f"{name}: table, certified", row("certified"), "all steps")
    else:
        expect(f"{name}: table, not certified", numbers("not certified"), [summary["uncertified_steps"], summary["first_uncertified_step"]])


def judge_page(name, program, record, page, summary):
    """The page carries the same summary and the same tolerance that its Run tab compares with."""
    subprocess.run([program, "export", record, "--html", page], check=True, capture_output=True)
    with open(page, encoding="utf-8") as file:
        text = file.read()
    head = json.loads(re.search(r'<script[^>]*data-tippe="head"[^>]*>(.*?)</script>', text, re.S).group(1))
    told = head["summary"]
    told = json.loads(told) if isinstance(told, str) else told
    for key, value in summary.items():
        if not re.search("time|memory|factor", key):
            expect(f"{name}: page, {key}", told[key], value)


def judge_run(program, work, scene, stepper, options, index):
    name = " ".join([scene, stepper, *options])
    path, record = os.path.join(work, scene + ".json"), os.path.join(work, "run.h5")
    with open(path, "w", encoding="utf-8") as file:
        json.dump(SCENES[scene], file)
    command = [program, "run", path, "--stepper", stepper, *options]
    told = subprocess.run([*command, "--out", record, "--json"], check=True, capture_output=True, text=True).stdout
    summary = json.loads(told)
    run = Run(record)
    tolerance = float(dict(o.split("=") for o in options if "=" in o).get("tolerance", 1e-10))
    kinetic, potential = judge_energy(name, run)
    if "pendulum" not in name and run.every == 1:
        judge_limits(name, run, tolerance)
    judge_contacts(name, run, 0.0)
    if scene == "pendulum":
        judge_joints(name, run)
    if scene == "apart":
        judge_switches(name, run)
    body = run.body_of(0)
    force = np.array([30.0, 5.0, 3.0])
    if "pendulum" not in name:  # impulses of joints are not in the pairs
        judge_momentum(name, run, {body: force} if scene == "pushed" else {})
    if scene == "pushed":
        way = run.states[-1, 0, 0:3] - run.states[0, 0, 0:3]
        expect(f"{name}: work of the force", summary["external_work"], float(force @ way), relative=1e-9, absolute=1e-12)
    judge_summary(name, run, kinetic, potential, tolerance, summary)
    table = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    judge_table(name, table, summary)
    if index % 6 == 0:
        judge_page(name, program, record, os.path.join(work, "page.html"), summary)
    return summary


def main():
    part, program, driver = sys.argv[1], os.path.abspath(sys.argv[2]), os.path.abspath(sys.argv[3])
    with tempfile.TemporaryDirectory() as work:
        if part == "problems":
            judge_random(driver)
            for scene in ("tumble", "stack", "pendulum"):
                with open(os.path.join(work, scene + ".json"), "w", encoding="utf-8") as file:
                    json.dump(SCENES[scene], file)
            path = os.path.join
            judge_dumps(program, path(work, "tumble.json"), work, "--stepper", "stewart-trinkle")
            # Ends early, on purpose.
            judge_dumps(program, path(work, "stack.json"), work, "--stepper", "stewart-trinkle", "--set", "tolerance=0.05")
            judge_dumps(program, path(work, "stack.json"), work, "--stepper", "anitescu", "--set", "tolerance=0.3", "--until", "0.1")
            judge_dumps(program, path(work, "pendulum.json"), work, "--stepper", "stewart-trinkle", "--until", "0.1")
        else:
            summaries = [judge_run(program, work, *run, index) for index, run in enumerate(RUNS)]
            # The runs that are wrong on purpose are wrong, or nothing was judged.
            assert any(s["uncertified_steps"] > 0 for s in summaries) and any(s["residual_max"] > 1e-3 for s in summaries)
            assert any(s["uncertified_steps"] == 0 for s in summaries)
            assert any(s["switches"] > 0 for s in summaries) and any(s["rejected_steps"] > 0 for s in summaries)
    print(f"{compared} figures compared, {len(failures)} wrong")
    for failure in failures[:int(os.environ.get("TIPPE_SHOWN", "40"))]:
        print(failure)
    return 1 if failures or compared < 1000 else 0


if __name__ == "__main__":
    sys.exit(main())
