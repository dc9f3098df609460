"""How many models of a folder become scenes, and whether anything is lost on the way without being told.

usage: collection.py [--only WORD] [--json FILE] [--resume] FOLDER

Reads every MJCF and URDF file below FOLDER, one process for each. A file is
  imported   its scene was made, and a world of Tippe could be created from it;
  silent     the same, but a part of the model is neither in the scene nor in the report;
  refused    it was not converted, and the message is printed;
  a piece    it cannot be compiled alone or is empty then, and another file includes it or it holds no bodies.
A top-level model is one that is no piece. Whether a part is lost is asked of MuJoCo's compiled model (of the XML itself
for URDF), not of the importer: every body, joint, limit, spring, actuator, equality, tendon, sensor, pair and
exclude has to be found in the scene, or named by a note of the report.

Needs the package with `pip install '.[models]'`; models are not part of Tippe.
"""

from __future__ import annotations

import argparse
import json
import multiprocessing
import re
import sys
from collections import Counter
from pathlib import Path
from typing import Any

LONGEST = 300.0  # s for one model


class Lost:
    """Parts of a model that neither the scene nor the report knows."""

    def __init__(self, scene: Any) -> None:
        self.scene, self.found = scene, []
        self.renamed = scene.report.renamed
        self.told = {note.name for note in scene.report.notes if note.name}
        self.kinds = {(note.element, note.attribute) for note in scene.report.notes}
        self.bodies = {body["name"]: body for body in scene["bodies"]}
        self.axes: dict[str, dict[str, Any]] = {}
        for joint in scene.get("joints", []):
            self.axes[joint["name"]] = joint
            self.axes.update({axis["name"]: axis for axis in joint.get("axes", [])})
        self.couplings = {coupling["name"]: coupling for coupling in scene.get("couplings", [])}
        self.sensors = {sensor["name"] for sensor in scene.get("sensors", [])}

    def new(self, name: str) -> str:
        return self.renamed.get(name, name)

    def ask(self, ok: bool, what: str, *names: str) -> None:
        if not ok and not any(name in self.told for name in names if name):
            self.found.append(what)


def lost_of_mjcf(path: Path, scene: Any) -> list[str]:
    import mujoco

    m, lost = mujoco.MjModel.from_xml_path(str(path.absolute())), Lost(scene)
    off = mujoco.mjtDisableBit
    disabled = lambda bit: bool(m.opt.disableflags & bit)  # noqa: E731
    body = lambda i: m.body(i).name or f"body{i}"  # noqa: E731
    joint = lambda j: m.joint(j).name or f"{body(int(m.jnt_bodyid[j]))}_joint{j}"  # noqa: E731
    mass = 0.0
    for i in range(1, m.nbody):
        if m.body_weldid[i] != 0 and m.body_mocapid[m.body_rootid[i]] < 0:
            mass += float(m.body_mass[i])
            massless = m.body_mass[i] == 0 or m.body_inertia[i].min() <= 0 or int(m.body_jntnum[i]) == 0
            lost.ask(lost.new(body(i)) in lost.bodies or bool(massless), f"body {body(i)}", body(i))
    led = {lost.new(body(i)) for i in range(1, m.nbody) if m.body_mocapid[m.body_rootid[i]] >= 0}
    kept = sum(b.get("mass", 0.0) for b in scene["bodies"] if b.get("kind", "dynamic") == "dynamic" and b["name"] not in led)
    lost.ask(abs(kept - mass) <= (1e-6 if ("body", None) in lost.kinds else 1e-9) * mass, f"mass {mass} is {kept}")
    for j in range(m.njnt):
        name, dof = joint(j), int(m.jnt_dofadr[j])
        axis = lost.axes.get(lost.new(name))
        if int(m.jnt_type[j]) == 0:
            continue
        lost.ask(axis is not None, f"joint {name}", name)
        if axis is None:
            continue
        lost.ask("limits" in axis or not m.jnt_limited[j] or disabled(off.mjDSBL_LIMIT), f"limits of joint {name}", name)
        lost.ask("spring" in axis or m.jnt_stiffness[j].max() == 0 or disabled(off.mjDSBL_SPRING), f"spring of joint {name}", name)
        for key, values, bit in (
            ("damping", m.dof_damping, off.mjDSBL_DAMPER),
            ("friction", m.dof_frictionloss, off.mjDSBL_FRICTIONLOSS),
            ("armature", m.dof_armature, 0),
        ):
            lost.ask(key in axis or float(values[dof].max()) == 0 or disabled(bit), f"{key} of joint {name}", name)
    touching = [g for g in range(m.ngeom) if m.geom_contype[g] or m.geom_conaffinity[g] or g in {*m.pair_geom1, *m.pair_geom2}]
    shapes = sum(not shape.get("visual", False) for b in scene["bodies"] for shape in b.get("shapes", []))
    lost.ask(shapes >= len(touching) or disabled(off.mjDSBL_CONTACT) or ("geom", None) in lost.kinds, f"{len(touching)} geoms are {shapes} shapes")
    driven = {name for name, axis in lost.axes.items() if "servo" in axis or "motor" in axis}
    driven |= {name for name, coupling in lost.couplings.items() if "servo" in coupling}
    for a in range(len(m.actuator_trntype)):
        name, target = m.actuator(a).name, int(m.actuator_trnid[a][0])
        kind = mujoco.mjtTrn(int(m.actuator_trntype[a]))
        on = joint(target) if kind == mujoco.mjtTrn.mjTRN_JOINT else m.tendon(target).name if kind == mujoco.mjtTrn.mjTRN_TENDON else ""
        idle = disabled(off.mjDSBL_ACTUATION)
        lost.ask(idle or lost.new(on) in driven, f"actuator {name or a}", name, on)
    for k in range(m.neq):
        name = m.equality(k).name
        there = name in {*lost.axes, *lost.couplings} or f"equality{k}" in lost.couplings or f"loop{k}" in lost.axes or lost.new(name) in {*lost.axes, *lost.couplings}
        lost.ask(there or disabled(off.mjDSBL_EQUALITY) or any(element == "equality" for element, _ in lost.kinds), f"equality {name or k}", name)
    for t in range(m.ntendon):
        name = m.tendon(t).name or f"tendon{t}"
        acts = m.tendon_limited[t] or m.tendon_stiffness[t].max() or m.tendon_damping[t].max() or m.tendon_frictionloss[t]
        told = not m.tendon(t).name and ("tendon", None) in lost.kinds
        lost.ask(told or lost.new(name) in lost.couplings or not acts, f"tendon {name}", name)
    for s in range(m.nsensor):
        name = m.sensor(s).name
        told = any(element == "sensor" for element, _ in lost.kinds) if not name else False
        lost.ask(lost.new(name) in lost.sensors or f"sensor {name}" in lost.renamed or f"sensor{s}" in lost.sensors or told, f"sensor {name or s}", name)
    if m.opt.density or m.opt.viscosity or m.opt.wind.any():
        lost.ask(any(element == "option" for element, _ in lost.kinds), "the medium")
    return lost.found


def lost_of_urdf(path: Path, scene: Any) -> list[str]:
    from xml.etree import ElementTree

    lost, root = Lost(scene), ElementTree.parse(path).getroot()
    moving = 0
    for joint in root.findall("joint"):
        name, kind = joint.get("name", ""), joint.get("type")
        if kind == "fixed":
            continue
        moving += 1
        axis = lost.axes.get(lost.new(name))
        free = kind == "floating"
        lost.ask(axis is not None or free, f"joint {name}", name)
        if axis is None:
            continue
        lost.ask("limits" in axis or kind not in ("revolute", "prismatic"), f"limits of joint {name}", name)
        lost.ask(joint.find("mimic") is None or any(name in str(c["of"]) or lost.new(name) in str(c["of"]) for c in lost.couplings.values()), f"mimic of {name}", name)
        dynamics = joint.find("dynamics")
        for key, source in (("damping", "damping"), ("friction", "friction")):
            value = float(dynamics.get(source, 0)) if dynamics is not None else 0.0
            lost.ask(key in axis or value == 0, f"{key} of joint {name}", name)
    collisions = sum(len(link.findall("collision")) for link in root.findall("link"))
    shapes = sum(not shape.get("visual", False) for b in scene["bodies"] for shape in b.get("shapes", []))
    lost.ask(shapes >= collisions or any(e in ("collision", "mesh", "link", "geometry") for e, _ in lost.kinds), f"{collisions} collision shapes are {shapes}")
    for element in root:
        if element.tag not in ("link", "joint", "material") and not isinstance(element.tag, type(ElementTree.Comment)):
            lost.ask(any(e == element.tag for e, _ in lost.kinds), f"element {element.tag}", element.get("name", ""))
    return lost.found


def compiles(path: str) -> bool:
    """Whether MuJoCo takes the file alone; URDF is never a piece of another file."""
    import mujoco

    try:
        mujoco.MjModel.from_xml_path(str(Path(path).absolute()))
    except ValueError:
        return path.endswith(".urdf")
    return True


def try_one(path: str, packages: dict[str, str], pipe: Any) -> None:
    import tippe

    try:
        scene = tippe.models.convert(path, visual=False, packages=packages)
    except tippe.models.ModelError as error:
        pipe.send({"state": "refused", "message": " ".join(str(error).split()), "piece": "nothing in the model" in str(error) or not compiles(path)})
        return
    try:
        tippe.load(scene)
        lost = (lost_of_urdf if path.endswith(".urdf") else lost_of_mjcf)(Path(path), scene)
    except Exception as error:
        pipe.send({"state": "refused", "message": f"{type(error).__name__}: {' '.join(str(error).split())}"})
        return
    kinds = Counter(note.kind for note in scene.report.notes)
    pipe.send({"state": "silent" if lost else "imported", "lost": lost, "notes": dict(kinds), "counts": scene.report.counts})


def examine(path: Path, packages: dict[str, str]) -> dict[str, Any]:
    """What becomes of one file, in a process of its own: a crash is a result too."""
    here, there = multiprocessing.Pipe(False)
    process = multiprocessing.Process(target=try_one, args=(str(path), packages, there))
    process.start()
    there.close()
    try:
        answer = here.recv() if here.poll(LONGEST) else {"state": "refused", "message": f"took more than {LONGEST:.0f} s"}
    except EOFError:
        answer = {"state": "refused", "message": "the process ended without an answer"}
    process.kill()
    process.join()
    return answer


def included(files: list[Path]) -> set[Path]:
    found: set[Path] = set()
    for path in files:
        text = re.sub(r"<!--.*?-->", "", path.read_text(errors="replace"), flags=re.S)
        for name in re.findall(r'<(?:include|model)\b[^>]*\bfile="([^"]*)"', text):
            found.add((path.parent / name).resolve())
    return found


def is_model(path: Path) -> bool:
    text = re.sub(r"<!--.*?-->", "", path.read_text(errors="replace"), flags=re.S)
    return bool(re.search(r"<(mujoco|robot)\b", text)) and "<xacro:" not in text


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("folder", type=Path)
    parser.add_argument("--only", default="", metavar="WORD", help="files whose path has this word in it")
    parser.add_argument("--json", type=Path, metavar="FILE", help="all answers, written after each model")
    parser.add_argument("--resume", action="store_true", help="go on with the answers that the file of --json holds")
    options = parser.parse_args()
    files = sorted(p for p in options.folder.rglob("*") if p.suffix in (".xml", ".urdf") and p.is_file() and is_model(p))
    inside = included(files)
    packages = {p.parent.name: str(p.parent) for p in options.folder.rglob("package.xml")}
    answers: dict[str, Any] = {}
    if options.resume and options.json and options.json.is_file():
        answers = json.loads(options.json.read_text())
    for path in files:
        label = str(path.relative_to(options.folder))
        if options.only not in label or label in answers:
            continue
        answer = examine(path, packages)
        text = path.read_text(errors="replace")
        holds = "<body" in text or "<include" in text
        if answer["state"] == "refused" and answer.get("piece", False) and (path.resolve() in inside or not holds):
            answer["state"] = "piece"
        answer["included"] = path.resolve() in inside
        answers[label] = answer
        about = answer.get("message") or "; ".join(answer["lost"]) or ", ".join(f"{n} {k}" for k, n in answer["notes"].items())
        print(f"{answer['state']:9} {label}: {about[:200]}", flush=True)
        if options.json:
            options.json.write_text(json.dumps(answers, indent=1) + "\n")
    states = Counter(answer["state"] for answer in answers.values())
    whole = sum(n for state, n in states.items() if state != "piece")
    print(f"{whole} models: {states['imported']} imported with nothing lost in silence, {states['silent']} silent, {states['refused']} refused; {states['piece']} pieces of others")
    roots = [answer["state"] for answer in answers.values() if not answer["included"] and answer["state"] != "piece"]
    print(f"{len(roots)} of them are included by no other: {roots.count('imported')} imported with nothing lost in silence")
    return 1 if states["silent"] else 0


if __name__ == "__main__":
    sys.exit(main())
