"""Robots in MJCF against MuJoCo: masses, poses at all keyframes, motion without contacts.

usage: exactness.py [--only WORD] [--json FILE] [--resume] [--states N] [--seed N] MODEL.xml|FOLDER ...

One line for each model, as a table in Markdown, and at the end how many are within the bounds. Of a folder, all
files that no other file includes. Needs the package with `pip install '.[models]'`; models are not part of Tippe.

masses   largest relative difference of masses and of moments of inertia, and of centres, m
poses    largest difference of positions, m, and rotations, over all keyframes, from what mj_forward gives
passive  largest difference of a body's centre, m, or of its rotation, 0.2 s after a random state within the limits,
         from MuJoCo's RK4 at 1e-4 s, or less until two steps agree; joints move under gravity, springs, damping, armature and tendons
driven   the same, with all actuators at the input of the keyframe

Contacts, limits, dry friction and equalities are left out on both sides, and so is what the report calls missing (forces
of tendons through space, muscles, fluids). Steps of Tippe are halved, and extrapolated, until two answers agree. Models with
plugins have no driven motion (nan): MuJoCo runs these whatever is switched off.
"""

from __future__ import annotations

import argparse
import json
import multiprocessing
import re
import sys
import time
from pathlib import Path
from typing import Any

import mujoco
import numpy as np
import tippe

TIME = 0.2  # s of motion
LONGEST = 120.0  # s for one model
BOUNDS = {"masses": 1e-9, "poses": 1e-10, "passive": 1e-6, "driven": 1e-6}


class Pair:
    """A compiled model and the scene that was made of it."""

    def __init__(self, m: Any, scene: Any) -> None:
        self.m, self.scene = m, scene
        self.bodies = {body["name"]: body for body in scene["bodies"]}

    def name(self, i: int) -> str:
        name = self.m.body(i).name or f"body{i}"
        return str(self.scene.report.renamed.get(name, name))

    def moving(self) -> list[int]:
        """Bodies that move by themselves: what hangs on a mocap body goes where that is put."""
        own = [i for i in range(1, self.m.nbody) if self.m.body_weldid[i] != 0 and self.m.body_mocapid[self.m.body_rootid[i]] < 0]
        return [i for i in own if self.m.body_mass[i] > 0 and "mass" in self.bodies.get(self.name(i), {})]


def mass_error(pair: Pair) -> float:
    """Of bodies that carry their own mass alone; a massless part is one with its parent."""
    m, worst = pair.m, 0.0
    for i in pair.moving():
        body = pair.bodies[pair.name(i)]
        xx, yy, zz, xy, xz, yz = body["inertia"]
        turn = np.zeros(9)
        mujoco.mju_quat2Mat(turn, m.body_iquat[i])
        turn = turn.reshape(3, 3)
        expected = turn @ np.diag(m.body_inertia[i]) @ turn.T
        inertia = np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]])
        worst = max(worst, abs(body["mass"] / m.body_mass[i] - 1), np.abs(body["center_of_mass"] - m.body_ipos[i]).max())
        worst = max(worst, np.abs(inertia - expected).max() / m.body_inertia[i].max())
    return float(worst)


def pose_error(m: Any, path: Path) -> float:
    worst, d = 0.0, mujoco.MjData(m)
    for k in range(m.nkey):
        mujoco.mj_resetDataKeyframe(m, d, k)
        mujoco.mj_forward(m, d)
        pair = Pair(m, tippe.models.convert(path, keyframe=k, visual=False))
        for i in range(1, m.nbody):
            body = pair.bodies.get(pair.name(i))
            if body is not None:
                turn = np.array(body.get("rotation", {"quaternion": [1, 0, 0, 0]})["quaternion"])
                worst = max(worst, np.abs(body["position"] - d.xpos[i]).max(), turned(turn, d.xquat[i]))
    return float(worst)


def turned(a: np.ndarray, b: np.ndarray) -> float:
    """Largest difference of two unit quaternions, of which one may be the other's negative."""
    return float(min(np.abs(a - b).max(), np.abs(a + b).max()))


# Motion -----------------------------------------------------------------------------------------


def soften(m: Any, driven: bool) -> None:
    """Takes out of MuJoCo's model what is soft there or missing here."""
    bit = mujoco.mjtDisableBit
    m.opt.disableflags |= bit.mjDSBL_CONTACT | bit.mjDSBL_LIMIT | bit.mjDSBL_FRICTIONLOSS | bit.mjDSBL_EQUALITY
    if not driven:
        m.opt.disableflags |= bit.mjDSBL_ACTUATION
    m.opt.integrator, m.opt.timestep = mujoco.mjtIntegrator.mjINT_RK4, 1e-4
    m.opt.density, m.opt.viscosity, m.opt.wind[:] = 0, 0, 0
    m.jnt_actfrclimited[:], m.actuator_forcelimited[:], m.tendon_actfrclimited[:] = 0, 0, 0
    spatial = [t for t in range(m.ntendon) if any(m.wrap_type[w] != mujoco.mjtWrap.mjWRAP_JOINT for w in range(m.tendon_adr[t], m.tendon_adr[t] + m.tendon_num[t]))]
    for t in spatial:
        m.tendon_stiffness[t], m.tendon_damping[t] = 0, 0
    m.tendon_armature[:] = 0
    m.jnt_actgravcomp[:] = 0  # gravity is taken off whether actuators are on or not
    for j in range(m.njnt):
        if int(m.jnt_type[j]) < 2:
            m.jnt_stiffness[j] = 0
        if int(m.jnt_type[j]) == 0:
            dofs = slice(int(m.jnt_dofadr[j]), int(m.jnt_dofadr[j]) + 6)
            m.dof_damping[dofs], m.dof_armature[dofs] = 0, 0
    for field in ("jnt_stiffnesspoly", "dof_dampingpoly", "tendon_stiffnesspoly", "tendon_dampingpoly"):
        if hasattr(m, field):
            getattr(m, field)[:] = 0
    for a in range(m.nu):
        at = int(m.actuator_trntype[a])
        joint_or_site = at == 4 or (at in (0, 1) and int(m.jnt_type[m.actuator_trnid[a][0]]) >= 2)
        fixed_tendon = int(m.actuator_trntype[a]) == 3 and int(m.actuator_trnid[a][0]) not in spatial
        affine = int(m.actuator_gaintype[a]) < 2 and int(m.actuator_biastype[a]) < 2
        if not ((joint_or_site or fixed_tendon) and affine):
            m.actuator_gaintype[a], m.actuator_biastype[a], m.actuator_gainprm[a, :] = 0, 0, 0


def random_state(m: Any, seed: int) -> Any:
    generator, d = np.random.default_rng(seed), mujoco.MjData(m)
    if m.nkey:
        mujoco.mj_resetDataKeyframe(m, d, 0)
    for j in range(m.njnt):
        if m.jnt_limited[j] and m.jnt_type[j] >= 2:
            middle, half = m.jnt_range[j].mean(), 0.5 * np.ptp(m.jnt_range[j])
            d.qpos[m.jnt_qposadr[j]] = middle + 0.8 * half * generator.uniform(-1, 1)
    d.qvel[:] = 0.3 * generator.standard_normal(m.nv)
    for a in range(m.nu):
        if int(m.actuator_actadr[a]) >= 0 and int(m.actuator_dyntype[a]) in (2, 3):  # filters: at rest
            low, high = m.actuator_ctrlrange[a] if m.actuator_ctrllimited[a] else (-np.inf, np.inf)
            d.act[m.actuator_actadr[a]] = min(max(d.ctrl[a], low), high)
    return d


def plain_scene(pair: Pair, driven: bool) -> dict[str, Any]:
    m = pair.m
    plain = json.loads(json.dumps(pair.scene))
    for joint in plain.get("joints", []):
        for axis in [joint, *joint.get("axes", [])]:
            for key in ("limits", "friction") if driven else ("limits", "friction", "servo", "motor"):
                axis.pop(key, None)
            axis.get("servo", {}).pop("effort", None)
    for body in plain["bodies"]:
        body.pop("shapes", None)
    loops = {m.equality(k).name or f"loop{k}" for k in range(m.neq) if int(m.eq_type[k]) < 2}
    plain["joints"] = [joint for joint in plain.get("joints", []) if joint["name"] not in loops]
    couplings = []
    for coupling in plain.pop("couplings", []):
        coupling.pop("limits", None)
        if not driven:
            coupling.pop("servo", None)
        coupling.get("servo", {}).pop("effort", None)
        if "value" not in coupling and {"spring", "servo", "damping"} & set(coupling):
            couplings.append(coupling)
    if couplings:
        plain["couplings"] = couplings
    for key in ("sensors", "excludes") if driven else ("sensors", "excludes", "forces"):
        plain.pop(key, None)
    return plain


def ended(plain: dict[str, Any], names: list[str], steps: int, theta: float) -> np.ndarray:
    """Centres and rotations of bodies after the time."""
    options = {"theta": theta, "energy_guard": False}
    world = tippe.load({**plain, "simulation": {"stepper": "anitescu", "step": TIME / steps, "until": 1, "options": options}})
    for _ in range(steps):
        world.step()
    return np.array([[*world[name].position, *world[name].rotation] for name in names])


def extrapolated(plain: dict[str, Any], names: list[str], driven: bool, until: float) -> np.ndarray:
    """The limit of small steps: powers of the step are taken out, until the last two answers agree.

    Symmetric steps, whose error has even powers; with servos that are too stiff for them implicit steps, all powers.
    Time is that of the processor: other work on the machine does not end it early.
    """
    best, least = np.empty(0), np.inf
    for theta, base in ((0.5, 4), (1.0, 2)) if driven else ((0.5, 4),):
        row: list[np.ndarray] = []
        for level in range(10 if driven else 9):
            new = [ended(plain, names, 100 << level, theta)]
            for k, old in enumerate(row):
                new.append(new[k] + (new[k] - old) / (base ** (k + 1) - 1))
            # The column whose last two answers agree best: high ones still have the errors of steps that were too large for the motion.
            for now, before in zip(new, row):
                change = float(np.abs(now - before).max())
                best, least = (now, change) if change <= least else (best, least)
            if least < 1e-7 or time.process_time() > until:
                break
            row = new
        if least < 1e-7:
            break
    return best


def reference(m: Any, d: Any) -> bool:
    """MuJoCo's motion by RK4, which is explicit: with stiff dampers its steps have to be small. The step is made smaller
    until two answers agree; false if none do."""
    before, last = (d.qpos.copy(), d.qvel.copy(), d.act.copy(), d.ctrl.copy()), None
    for step in (1e-4, 5e-5, 2.5e-5, 1e-5, 5e-6, 2e-6):
        mujoco.mj_resetData(m, d)
        d.qpos[:], d.qvel[:], d.act[:], d.ctrl[:] = before
        m.opt.timestep = step
        for _ in range(round(TIME / step)):
            mujoco.mj_step(m, d)
            if any(warning.number for warning in d.warning):
                break
        else:
            mujoco.mj_forward(m, d)
            places = np.concatenate([d.xpos.ravel(), d.xmat.ravel()])
            if np.abs(d.qvel).max(initial=0.0) >= 1e3:
                continue
            if last is not None and np.abs(places - last).max() < 1e-7:
                return True
            last = places
    return False


def motion_error(path: Path, seed: int, driven: bool, until: float) -> float:
    m = mujoco.MjModel.from_xml_path(str(path))
    start = random_state(m, seed)
    scene = tippe.models.convert(path, state=(start.qpos.copy(), start.qvel.copy()), keyframe=0 if m.nkey else None, hold=False, visual=False)
    pair = Pair(m, scene)
    moving = pair.moving()
    if not moving:
        return 0.0
    soften(m, driven)
    if (driven and m.nplugin) or not reference(m, start):
        return float("nan")
    ends = extrapolated(plain_scene(pair, driven), [pair.name(i) for i in moving], driven, until)
    worst = 0.0
    for i, end in zip(moving, ends, strict=True):
        body = pair.bodies[pair.name(i)]
        turn = np.zeros(9)
        mujoco.mju_quat2Mat(turn, start.xquat[i])
        centre = start.xpos[i] + turn.reshape(3, 3) @ body["center_of_mass"]
        worst = max(worst, np.abs(end[:3] - centre).max(), turned(end[3:], start.xquat[i]))
    return float(worst)


# All --------------------------------------------------------------------------------------------


def examine(path: Path, states: int, seed: int, pipe: Any) -> None:
    try:
        m = mujoco.MjModel.from_xml_path(str(path))
        pair = Pair(m, tippe.models.convert(path, visual=False))
        answer: dict[str, Any] = {"bodies": m.nbody - 1, "dofs": m.nv, "keyframes": m.nkey}
        answer["missing"] = sum(1 for _ in pair.scene.report.of("missing"))
        answer["masses"], answer["poses"] = mass_error(pair), pose_error(m, path)
        pipe.send(answer)
        for key, driven in (("passive", False), ("driven", True)):
            until = time.process_time() + LONGEST / (2 * states)
            answer[key] = max(motion_error(path, seed + k, driven, until) for k in range(states))
            pipe.send(answer)
    except (tippe.models.ModelError, tippe.SceneError, ValueError) as error:
        pipe.send({"failed": " ".join(str(error).split())[:160]})
    pipe.send(None)


def examined(path: Path, states: int, seed: int) -> dict[str, Any]:
    """What one model gives, in a process of its own."""
    here, there = multiprocessing.Pipe(False)
    process = multiprocessing.Process(target=examine, args=(path, states, seed, there))
    process.start()
    there.close()
    answer: dict[str, Any] = {"failed": "the process ended without an answer"}
    try:
        while here.poll(2 * LONGEST):
            new = here.recv()
            if new is None:
                break
            answer = new
    except EOFError:
        pass
    process.kill()
    process.join()
    return answer


def written(answer: dict[str, Any]) -> str:
    if "failed" in answer:
        return f"failed: {answer['failed']}"
    figures = [f"{answer[key]:.1e}" if key in answer else "not done" for key in BOUNDS]  # nan: RK4 explodes
    return " | ".join([f"{answer['bodies']} | {answer['dofs']} | {answer['keyframes']} | {answer['missing']}", *figures])


def roots(folder: Path) -> list[Path]:
    files = [p for p in sorted(folder.rglob("*.xml")) if "<mujoco" in p.read_text(errors="replace")]
    inside: set[Path] = set()
    for path in files:
        text = re.sub(r"<!--.*?-->", "", path.read_text(errors="replace"), flags=re.S)
        inside |= {(path.parent / name).resolve() for name in re.findall(r'<(?:include|model)\b[^>]*\bfile="([^"]*)"', text)}
    return [path for path in files if path.resolve() not in inside]


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("models", nargs="+", type=Path)
    parser.add_argument("--only", default="", metavar="WORD", help="files whose path has this word in it")
    parser.add_argument("--json", type=Path, metavar="FILE", help="all answers, written after each model")
    parser.add_argument("--resume", action="store_true", help="go on with the answers that the file of --json holds")
    parser.add_argument("--states", type=int, default=1, help="random states for each model")
    parser.add_argument("--seed", type=int, default=1, help="of the first of them")
    options = parser.parse_args()
    answers = json.loads(options.json.read_text()) if options.resume and options.json and options.json.is_file() else {}
    print("| model | bodies | dofs | keyframes | missing | " + " | ".join(BOUNDS) + " |\n|---" + "|---:" * 8 + "|", flush=True)
    for given in options.models:
        for path in roots(given) if given.is_dir() else [given]:
            label = f"{path.parent.name}/{path.name}"
            if options.only not in str(path):
                continue
            if label not in answers:
                answers[label] = examined(path.absolute(), options.states, options.seed)
                if options.json:
                    options.json.write_text(json.dumps(answers, indent=1) + "\n")
            print(f"| {label} | {written(answers[label])} |", flush=True)
    for key, bound in BOUNDS.items():
        known = [answer[key] for answer in answers.values() if answer.get(key, np.nan) == answer.get(key)]
        print(f"{key}: {sum(value <= bound for value in known)} of {len(known)} within {bound:g}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
