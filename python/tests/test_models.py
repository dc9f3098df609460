"""Robots from MJCF and URDF: masses, poses and motion against MuJoCo, and nothing lost in silence."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import tippe
from tippe import models
from tippe.models.command import main
from tippe.models.mjcf_lint import sort_attribute
from tippe.models.source import Element

mujoco = pytest.importorskip("mujoco")

ROBOTS = Path(__file__).resolve().parents[2] / "scenes" / "robots"
MJCF = sorted(path for path in ROBOTS.glob("*.xml") if not path.stem.endswith("_defaults"))
URDF = sorted(ROBOTS.glob("*.urdf"))


def compiled(path: Path) -> Any:
    return mujoco.MjModel.from_xml_path(str(path))


def pose_of(scene: dict[str, Any], name: str) -> dict[str, Any]:
    return next(body for body in scene["bodies"] if body["name"] == name)


@pytest.mark.parametrize("path", MJCF, ids=lambda p: p.stem)
def test_masses_are_those_of_mujoco(path: Path) -> None:
    m, scene = compiled(path), models.convert(path)
    for i in range(1, m.nbody):
        body = pose_of(scene, m.body(i).name)
        if m.body_weldid[i] == 0:
            assert body["kind"] == "fixed"
            continue
        assert body["mass"] == pytest.approx(m.body_mass[i], rel=1e-12)
        np.testing.assert_allclose(body["center_of_mass"], m.body_ipos[i], atol=1e-12)
        xx, yy, zz, xy, xz, yz = body["inertia"]
        tensor = np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]])
        np.testing.assert_allclose(np.linalg.eigvalsh(tensor), np.sort(m.body_inertia[i]), rtol=1e-9)


@pytest.mark.parametrize("path", MJCF, ids=lambda p: p.stem)
def test_poses_at_every_keyframe(path: Path) -> None:
    m = compiled(path)
    d = mujoco.MjData(m)
    for k in range(m.nkey):
        mujoco.mj_resetDataKeyframe(m, d, k)
        mujoco.mj_forward(m, d)
        scene = models.convert(path, keyframe=m.key(k).name)
        for i in range(1, m.nbody):
            body = pose_of(scene, m.body(i).name)
            np.testing.assert_allclose(body["position"], d.xpos[i], atol=1e-12)
            turn = np.array(body.get("rotation", {"quaternion": [1, 0, 0, 0]})["quaternion"])
            assert abs(abs(turn @ d.xquat[i]) - 1) < 1e-12


def bare(scene: dict[str, Any]) -> dict[str, Any]:
    """The scene without what is soft on the other side: dry friction and limits; and without contacts."""
    bare = json.loads(json.dumps(scene))
    for joint in bare["joints"]:
        for axis in [joint, *joint.get("axes", [])]:
            axis.pop("friction", None)
            axis.pop("limits", None)
            axis.get("servo", {}).pop("effort", None)
    for body in bare["bodies"]:
        body.pop("shapes", None)
    bare.pop("sensors", None)
    return bare


@pytest.mark.parametrize("name", ["quadruped", "arm"])
def test_free_motion_is_that_of_mujoco(name: str) -> None:
    path = ROBOTS / f"{name}.xml"
    m = compiled(path)
    disable = mujoco.mjtDisableBit
    m.opt.disableflags |= disable.mjDSBL_CONTACT | disable.mjDSBL_LIMIT | disable.mjDSBL_FRICTIONLOSS | disable.mjDSBL_EQUALITY
    m.opt.integrator = mujoco.mjtIntegrator.mjINT_RK4
    m.opt.timestep = 1e-4
    m.actuator_forcelimited[:] = 0
    generator = np.random.default_rng(3)
    d = mujoco.MjData(m)
    mujoco.mj_resetDataKeyframe(m, d, 0)
    for j in range(m.njnt):
        if m.jnt_limited[j]:
            middle, half = m.jnt_range[j].mean(), 0.5 * np.ptp(m.jnt_range[j])
            d.qpos[m.jnt_qposadr[j]] = middle + 0.8 * half * generator.uniform(-1, 1)
    d.qvel[:] = 0.5 * generator.standard_normal(m.nv)
    scene = bare(models.convert(path, state=(d.qpos.copy(), d.qvel.copy())))
    scene.pop("couplings", None)
    for _ in range(2000):
        mujoco.mj_step(m, d)
    mujoco.mj_forward(m, d)
    ends: list[np.ndarray] = []
    for step in (1e-3, 5e-4, 2.5e-4):
        world = tippe.load({**scene, "simulation": {"stepper": "anitescu", "step": step, "until": 1, "options": {"theta": 0.5, "energy_guard": False}}})
        for _ in range(round(0.2 / step)):
            world.step()
        names = [m.body(i).name for i in range(1, m.nbody) if m.body_weldid[i] != 0]
        ends.append(np.array([world[n].position for n in names]))
    # Of second order, servos and slides included: a quarter of the error with half of the step.
    exact = np.array([d.xipos[m.body(n).id] for n in names])
    errors = [np.abs(end - exact).max() for end in ends]
    assert errors[2] < 1e-6
    assert errors[2] < 0.3 * errors[1] < 0.09 * errors[0]
    assert np.abs((4 * ends[2] - ends[1]) / 3 - exact).max() < 1e-8


def test_quadruped_stands() -> None:
    scene = models.convert(ROBOTS / "quadruped.xml")
    scene.pop("sensors", None)
    world = tippe.load(scene)
    for _ in range(600):
        world.step(1 / 200)
    assert world["trunk"].position[2] > 0.3
    before = world.positions.copy()
    for _ in range(100):
        world.step(1 / 200)
    assert np.abs(world.positions - before).max() < 1e-7
    weight = sum(body.get("mass", 0.0) for body in scene["bodies"]) * 9.81
    forces = world.contacts["normal_impulse"] * 200
    assert forces.sum() == pytest.approx(weight, rel=1e-6)


def test_loops_stay_closed() -> None:
    scene = models.convert(ROBOTS / "four_bar_leg.xml")
    world = tippe.load(scene)
    drift = max(world.step(1 / 200).joint_drift for _ in range(200))
    assert drift < 1e-9


def test_urdf_has_the_same_bodies() -> None:
    """The quadruped's URDF has the masses and poses of its MJCF."""
    ours, theirs = (models.convert(ROBOTS / f"quadruped.{kind}") for kind in ("urdf", "xml"))
    for body in ours["bodies"]:
        other = pose_of(theirs, body["name"])
        offset = np.array(other["position"]) - np.array(body["position"])
        np.testing.assert_allclose(offset, [0, 0, 0.345], atol=1e-12)
        assert body["mass"] == other["mass"]
        np.testing.assert_allclose(body["inertia"], other["inertia"], atol=1e-15)
    floor = models.convert(ROBOTS / "quadruped.urdf", floor=True)
    assert pose_of(floor, "floor")["position"][2] == pytest.approx(-0.345)


def test_mimic_is_a_coupling() -> None:
    scene = models.convert(ROBOTS / "four_bar_leg.urdf")
    terms = {c["name"]: (c["of"], c["value"]) for c in scene["couplings"]}
    assert terms["coupler_mimic"] == ([["coupler", 1.0], ["crank", 1.0]], 0.0)
    assert terms["rocker_mimic"] == ([["rocker", 1.0], ["crank", -1.0]], 0.0)


def test_servos_of_actuators() -> None:
    """kp, kv, gears, limits and inputs reach the servo; several joints of a body are one of several axes."""
    scene = models.convert(ROBOTS / "arm.xml")
    joints = {joint["name"]: joint for joint in scene["joints"]}
    assert joints["lift"]["servo"] == {"target": 0.5, "stiffness": 600, "damping": 40, "effort": 80}
    assert joints["lift"]["zero"] == 0.5
    assert joints["yaw"]["friction"] == 0.1
    assert joints["left_slide"]["servo"]["stiffness"] == 500
    assert [axis["name"] for axis in joints["hand"]["axes"]] == ["bend", "roll"]
    assert joints["hand"]["type"] == "compound"
    assert scene["couplings"] == [{"name": "fingers", "of": [["right_slide", 1.0], ["left_slide", -1.0]], "value": 0.0}]
    assert models.convert(ROBOTS / "arm.xml", merge=True).report.counts["bodies"] == len(scene["bodies"]) - 1


# Nothing in silence ---------------------------------------------------------------------------------


def schema_rows() -> list[tuple[str, str, str]]:
    """Parent, element and attribute of all that MuJoCo's compiler knows."""
    rows: list[tuple[str, str, str]] = []
    parents: list[str] = []
    for line in mujoco.mj_printSchema(False, False).splitlines():
        head, rest = line[:30], line[30:]
        if head.strip():
            depth = (len(head) - len(head.lstrip())) // 3
            tag = head.split()[0].replace("(world)", "")
            parents = [*parents[:depth], tag]
        rows += [(parents[-2] if len(parents) > 1 else "", parents[-1], word) for word in rest.split()]
    return rows


def test_every_attribute_of_mjcf_is_sorted() -> None:
    rows = schema_rows()
    assert len(rows) > 800
    kinds = {row: sort_attribute(Element(row[1], {}, "", 0), row[0], row[2]) for row in rows}
    assert set(kinds.values()) <= {"used", "missing", "rigid", "looks", "solver"}
    assert kinds["body", "joint", "solreflimit"] == "rigid"
    assert kinds["body", "geom", "friction"] == "used"
    assert kinds["body", "geom", "fluidcoef"] == "missing"


MODEL = """<mujoco>
  <option density="1.2"/>
  <default><geom solref="0.01 1"/></default>
  <worldbody>
    <geom type="plane" size="1 1 1" condim="6"/>
    <body name="a" pos="0 0 1"><joint name="j" {joint}/><geom name="g" size="0.1"/></body>
    <body name="b" pos="1 0 1"><joint name="ball" type="ball" range="0 1" limited="true"/><geom size="0.1"/></body>
    <site name="here"/><site name="there" pos="1 0 0"/>
  </worldbody>
  <tendon><spatial name="cord"><site site="here"/><site site="there"/></spatial></tendon>
  <actuator><muscle name="biceps" joint="j" lengthrange="0 1"/></actuator>
  <sensor><framepos name="where" objtype="body" objname="a"/></sensor>
</mujoco>
"""


def test_report_names_what_is_lost(tmp_path: Path) -> None:
    path = tmp_path / "model.xml"
    path.write_text(MODEL.format(joint='type="hinge" margin="0.1"'))
    scene = models.convert(path)
    report = scene.report
    found = {(note.kind, note.element, note.attribute): note for note in report.notes}
    assert found["missing", "option", "density"].line == 2
    assert found["rigid", "geom", "solref"].line == 3
    assert scene["materials"]["surface0"]["friction"]["rolling"] == 1e-4  # the plane's condim 6
    assert found["rigid", "joint", "margin"].line == 6
    assert found["missing", "joint", "range"].name == "ball"
    assert found["missing", "tendon", None].name == "cord"
    assert found["missing", "actuator", None].name == "biceps"
    assert found["missing", "sensor", None].name == "where"
    assert not report.is_strict
    assert json.loads(report.json())["notes"][0]["kind"] in ("missing", "rigid", "changed", "looks", "solver", "chosen")
    assert f"{path}:2: option, density: is not supported" in report.text()


def test_strict_writes_nothing(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path, out = tmp_path / "model.xml", tmp_path / "scene.json"
    path.write_text(MODEL.format(joint=""))
    assert main([str(path), "--out", str(out), "--strict"]) == 1
    assert not out.exists()
    assert "--strict" in capsys.readouterr().err
    assert main([str(path), "--out", str(out), "--report", str(tmp_path / "report.json")]) == 0
    assert out.exists()
    assert json.loads((tmp_path / "report.json").read_text())["strict"] is False


def test_meshes_go_along(tmp_path: Path) -> None:
    """A hull where the model collides, the surface where it is seen, both beside the scene."""
    corners = "0 0 0  .1 0 0  0 .1 0  0 0 .1  .02 .02 .02"
    faces = "0 2 1  0 1 3  0 3 2  1 2 3"
    (tmp_path / "m.xml").write_text(
        f"""<mujoco><asset><mesh name="tet" vertex="{corners}" face="{faces}"/></asset><worldbody>
        <body name="t" pos="0 0 1"><freejoint/><geom type="mesh" mesh="tet"/>
        <geom type="mesh" mesh="tet" contype="0" conaffinity="0" rgba="1 0 0 1"/></body></worldbody></mujoco>"""
    )
    scene = models.convert(tmp_path / "m.xml")
    hull, seen = scene["bodies"][0]["shapes"]
    assert (hull["type"], seen["type"], seen["visual"]) == ("hull", "mesh", True)
    assert seen["color"] == [1, 0, 0]
    out = scene.save(tmp_path / "out.json")
    assert sorted(p.name for p in (tmp_path / "out_meshes").iterdir()) == ["tet.obj", "tet_hull.obj"]
    world = tippe.load(out)
    assert world["t"].mass == pytest.approx(scene["bodies"][0]["mass"])
    assert tippe.load(scene)["t"].mass == world["t"].mass


def test_contacts_follow_masks_and_pairs(tmp_path: Path) -> None:
    """Contype and conaffinity, priority, excludes and explicit pairs."""
    path = tmp_path / "m.xml"
    path.write_text(
        """<mujoco><worldbody>
        <geom name="floor" type="plane" size="1 1 1" friction="0.3"/>
        <body name="a" pos="0 0 0.1"><freejoint/><geom name="a" size="0.1" friction="0.8"/></body>
        <body name="b" pos="1 0 0.1"><freejoint/><geom name="b" size="0.1" contype="0" conaffinity="0"/></body>
        <body name="c" pos="2 0 0.1"><freejoint/><geom name="c" size="0.1" friction="0.1" priority="2"/></body>
        </worldbody><contact><pair geom1="floor" geom2="b" friction="0.5 0.5 0 0 0"/><exclude body1="a" body2="c"/></contact></mujoco>"""
    )
    scene = models.convert(path)
    shape = {body["name"]: body["shapes"][0] for body in scene["bodies"]}
    meets = lambda p, q: bool(shape[p]["group"] & shape[q]["mask"] and shape[q]["group"] & shape[p]["mask"])  # noqa: E731
    assert meets("world", "a") and meets("world", "b") and meets("a", "c") and not meets("a", "b")
    friction = {frozenset(pair["between"]): pair["friction"] for pair in scene["pairs"]}
    material = {name: one["material"] for name, one in shape.items()}
    assert friction[frozenset((material["world"], material["a"]))] == 0.8
    assert friction[frozenset((material["world"], material["b"]))] == 0.5
    assert friction[frozenset((material["world"], material["c"]))] == 0.1
    assert scene["excludes"] == [{"bodies": ["a", "c"]}]


SENSED = """<mujoco><option timestep="0.0005"/><worldbody>
  <body name="arm" pos="0 0 1">
    <joint name="swing" axis="0 1 0" damping="0.1"/>
    <geom type="capsule" fromto="0 0 0 .4 0 0" size=".03" mass="1"/>
    <site name="imu" pos=".3 .01 .02" euler="20 30 40"/>
  </body></worldbody>
  <sensor>
    <accelerometer name="acc" site="imu"/><gyro name="gyro" site="imu"/>
    <jointpos name="angle" joint="swing"/><jointvel name="rate" joint="swing"/><touch name="touch" site="imu"/>
  </sensor></mujoco>
"""


def test_sensors_read_what_mujoco_reads(tmp_path: Path) -> None:
    """A swinging arm: acceleration and turning rate in the axes of a turned site, angle and speed of the joint."""
    path = tmp_path / "sensed.xml"
    path.write_text(SENSED)
    m = compiled(path)
    m.opt.integrator = mujoco.mjtIntegrator.mjINT_RK4
    d = mujoco.MjData(m)
    scene = models.convert(path)
    assert {sensor["name"]: sensor["type"] for sensor in scene["sensors"]} == {
        "acc": "accelerometer",
        "gyro": "gyroscope",
        "angle": "joint_state",
        "touch": "contact_force",
    }
    assert scene.report.renamed["sensor rate"] == "angle"  # one sensor has both
    world = tippe.load(scene)
    for _ in range(400):
        world.step()
        mujoco.mj_step(m, d)
    mujoco.mj_forward(m, d)
    read = {name: np.asarray(world.sensors[name].value) for name in ("acc", "gyro", "angle", "touch")}
    np.testing.assert_allclose(read["gyro"], d.sensor("gyro").data, atol=1e-3)
    np.testing.assert_allclose(read["acc"], d.sensor("acc").data, atol=2e-2)
    np.testing.assert_allclose(read["angle"][:2], [d.sensor("angle").data[0], d.sensor("rate").data[0]], atol=1e-3)
    assert not read["touch"].any()
    assert abs(d.sensor("rate").data[0]) > 1  # it does swing


def test_motors_hold_the_start_without_a_keyframe(tmp_path: Path) -> None:
    path = tmp_path / "m.xml"
    path.write_text(
        """<mujoco><worldbody><body name="arm"><joint name="j" axis="0 1 0"/><geom type="capsule" fromto="0 0 0 .4 0 0" size=".03"/></body>
        </worldbody><actuator><motor name="pull" joint="j"/></actuator></mujoco>"""
    )
    held, free = models.convert(path), models.convert(path, hold=False)
    assert held["joints"][0]["servo"]["stiffness"] > 0
    assert "servo" not in free["joints"][0]
    for scene, words in ((held, "holds 0 with stiffness"), (free, "gives 0, by the input")):
        assert any(words in note.message for note in scene.report.of("chosen"))


def test_meshes_of_included_files_are_found(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """From a relative path too: an included file names a mesh beside itself."""
    (tmp_path / "robot" / "parts").mkdir(parents=True)
    (tmp_path / "robot" / "meshes").mkdir()
    (tmp_path / "robot" / "meshes" / "t.obj").write_text("v 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 1\nf 1 3 2\nf 1 2 4\nf 1 4 3\nf 2 3 4\n")
    (tmp_path / "robot" / "parts" / "assets.xml").write_text('<mujocoinclude><asset><mesh name="t" file="../meshes/t.obj"/></asset></mujocoinclude>')
    (tmp_path / "robot" / "m.xml").write_text(
        '<mujoco><include file="parts/assets.xml"/><worldbody><body name="b"><freejoint/><geom type="mesh" mesh="t"/></body></worldbody></mujoco>'
    )
    monkeypatch.chdir(tmp_path)
    assert models.convert("robot/m.xml")["bodies"][0]["shapes"][0]["type"] == "hull"
    (tmp_path / "robot" / "meshes" / "t.obj").unlink()
    with pytest.raises(models.ModelError, match=r"assets\.xml:1: .*t\.obj"):
        models.convert("robot/m.xml")


def urdf_of(inner: str) -> str:
    base = '<link name="base"><inertial><mass value="2"/><inertia ixx="1" iyy="1" izz="1"/></inertial></link>'
    return f'<robot name="r">{base}{inner}</robot>'


def urdf_link(name: str, mass: float, moments: tuple[float, float, float]) -> str:
    ixx, iyy, izz = moments
    return f'<link name="{name}"><inertial><mass value="{mass}"/><inertia ixx="{ixx}" iyy="{iyy}" izz="{izz}"/></inertial></link>'


def urdf_joint(kind: str, parent: str, child: str) -> str:
    return f'<joint name="{parent}_{child}" type="{kind}"><parent link="{parent}"/><child link="{child}"/><origin xyz="1 0 0"/></joint>'


def test_urdf_links_that_are_no_bodies(tmp_path: Path) -> None:
    """Without inertia on a fixed joint: one with the parent. Moments that no body has: mended, and told. No mass: a small one."""
    path = tmp_path / "r.urdf"
    path.write_text(
        urdf_of(
            urdf_link("imu", 1, (0, 0, 0)) + urdf_joint("fixed", "base", "imu")
            + urdf_link("thin", 1, (0, 0, 0.3)) + urdf_joint("continuous", "base", "thin")
            + '<link name="empty"/>' + urdf_joint("continuous", "thin", "empty")
            + urdf_link("point", 1, (2e-18, 3e-18, 2e-18)) + urdf_joint("continuous", "base", "point")  # rounded zeros
        )
    )  # fmt: skip
    scene = models.convert(path)
    bodies = {body["name"]: body for body in scene["bodies"]}
    assert set(bodies) == {"base", "thin", "empty", "point"}
    assert bodies["base"]["mass"] == 3
    np.testing.assert_allclose(bodies["base"]["center_of_mass"], [1 / 3, 0, 0])
    np.testing.assert_allclose(bodies["base"]["inertia"][:3], [1, 1 + 2 / 3, 1 + 2 / 3])  # m1 m2 / (m1 + m2) at 1 m
    np.testing.assert_allclose(sorted(bodies["thin"]["inertia"][:3]), [0.15, 0.15, 0.3], rtol=1e-3)
    assert bodies["empty"]["mass"] == pytest.approx(1e-3)
    np.testing.assert_allclose(bodies["point"]["inertia"][:3], [4e-5, 4e-5, 4e-5])
    assert {note.name for note in scene.report.of("changed")} == {"thin", "empty", "point"}
    tippe.load(scene).step(0.001)
    path.write_text(urdf_of(urdf_link("odd", 1, (-1, 1, 1)) + urdf_joint("fixed", "base", "odd")))
    with pytest.raises(models.ModelError, match=r"r\.urdf:1: no body has the moments -1"):
        models.convert(path)


def test_urdf_packages_are_found_by_their_name(tmp_path: Path) -> None:
    """A clone may be called as its owner likes: package.xml says which package it is."""
    folder = tmp_path / "my_clone"
    (folder / "urdf").mkdir(parents=True)
    (folder / "meshes").mkdir()
    (folder / "package.xml").write_text("<package><name>robot_data</name></package>")
    (folder / "meshes" / "t.obj").write_text("v 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 1\nf 1 3 2\nf 1 2 4\nf 1 4 3\nf 2 3 4\n")
    shape = '<collision><geometry><mesh filename="package://robot_data/meshes/t.obj"/></geometry></collision>'
    (folder / "urdf" / "r.urdf").write_text(urdf_of("").replace("</link>", f"{shape}</link>"))
    scene = models.convert(folder / "urdf" / "r.urdf")
    assert scene["bodies"][0]["shapes"][0]["type"] == "hull"


def test_urdf_mimics_of_fixed_joints(tmp_path: Path) -> None:
    """A joint that follows a fixed one stands still, and that is told; one that follows nothing there is an error."""
    inertia = (0.1, 0.1, 0.1)
    follower = urdf_joint("continuous", "base", "b").replace("<origin", '<mimic joint="{}" offset="0.5"/><origin')
    text = urdf_of(urdf_link("a", 1, inertia) + urdf_joint("fixed", "base", "a") + urdf_link("b", 1, inertia) + follower)
    path = tmp_path / "r.urdf"
    path.write_text(text.replace("{}", "base_a"))
    scene = models.convert(path)
    assert scene["couplings"] == [{"name": "base_b_mimic", "of": [["base_b", 1.0]], "value": 0.5}]
    assert any(note.element == "mimic" for note in scene.report.of("changed"))
    path.write_text(text.replace("{}", "nowhere"))
    with pytest.raises(models.ModelError, match='"nowhere" is no joint'):
        models.convert(path)


def test_urdf_mimics_start_where_they_follow(tmp_path: Path) -> None:
    """A joint that follows another starts at its offset, so that nothing jumps; circles are refused."""
    inertia = (0.1, 0.1, 0.1)
    limit = '<limit lower="-1" upper="1" effort="0" velocity="1"/><axis xyz="0 0 2"/>'
    slider = urdf_joint("prismatic", "base", "a").replace("<origin", f'{limit}<mimic joint="base_c" multiplier="3" offset="0.25"/><origin')
    wheel = urdf_joint("continuous", "a", "b").replace("<origin", '<axis xyz="0 0 1"/><mimic joint="base_a" multiplier="2" offset="-0.1"/><origin')
    links = "".join(urdf_link(name, 1, inertia) for name in "abc")
    path = tmp_path / "r.urdf"
    path.write_text(urdf_of(links + urdf_joint("continuous", "base", "c") + slider + wheel))
    scene = models.convert(path)
    bodies = {body["name"]: body for body in scene["bodies"]}
    assert bodies["a"]["position"] == pytest.approx([1, 0, 0.25])
    assert bodies["b"]["position"] == pytest.approx([2, 0, 0.25])
    assert bodies["b"]["rotation"]["quaternion"] == pytest.approx([np.cos(0.2), 0, 0, np.sin(0.2)])
    assert {joint["name"]: joint.get("zero") for joint in scene["joints"]} == {"base_a": pytest.approx(0.25), "a_b": pytest.approx(0.4), "base_c": None}
    world = tippe.load({**scene, "gravity": [0, 0, 0]})
    world.step(0.01)
    assert world["b"].position == pytest.approx([2, 0, 0.25], abs=1e-9)
    path.write_text(urdf_of(links + urdf_joint("continuous", "base", "c").replace("<origin", '\n<mimic joint="a_b"/><origin') + slider + wheel))
    with pytest.raises(models.ModelError, match="in a circle"):
        models.convert(path)


def test_urdf_links_that_overlap(tmp_path: Path) -> None:
    """Links that reach into each other from the start do not collide, and that is told; others do."""
    shape = '<collision><geometry><sphere radius="{}"/></geometry></collision></link>'
    links = [urdf_link(name, 1, (0.1, 0.1, 0.1)).replace("</link>", shape.format(size)) for name, size in (("a", 0.3), ("b", 0.3), ("c", 0.01))]
    joints = urdf_joint("continuous", "base", "a") + urdf_joint("continuous", "a", "b") + urdf_joint("continuous", "b", "c")
    text = urdf_of("".join(links) + joints).replace("</link>", shape.format(1.9), 1)
    path = tmp_path / "r.urdf"
    path.write_text(text)
    scene = models.convert(path)
    pairs = [sorted(pair["bodies"]) for pair in scene["excludes"]]
    assert ["b", "base"] in pairs and ["a", "b"] not in pairs  # parents and children do not collide anyway
    assert not tippe.load(scene).overlaps(1e-4)
    notes = [note.message for note in scene.report.of("chosen") if note.element == "collision"]
    assert len(notes) == len(pairs) and "overlap by" in notes[0]


def test_axes_of_one_direction(tmp_path: Path) -> None:
    """Two slides along one line are no compound joint: a light body is between them, and told."""
    path = tmp_path / "m.xml"
    path.write_text(
        """<mujoco><worldbody><body name="b"><joint name="p" type="slide" axis="1 0 0"/><joint name="q" type="slide" axis="1 0 0"/>
        <geom size=".1"/></body></worldbody></mujoco>"""
    )
    scene = models.convert(path)
    assert {joint["name"]: joint["type"] for joint in scene["joints"]} == {"p": "prismatic", "q": "prismatic"}
    assert any(note.name == "b" for note in scene.report.of("changed"))
    tippe.load(scene).step(0.001)


@pytest.mark.parametrize("height", [0.1, 0.4])
def test_neighbours_that_overlap_do_not_collide(tmp_path: Path, height: float) -> None:
    """MuJoCo lets what is fixed collide with the link that turns on it: soft contacts bear an overlap of the two, rigid ones do not."""
    path = tmp_path / "r.xml"
    arm = f'<body name="arm" pos="0 0 {height}"><joint name="turn" axis="0 0 1"/><geom name="own" type="box" size=".1 .1 .1"/></body>'
    path.write_text(f'<mujoco><worldbody><body name="base"><geom type="box" size=".1 .1 .1"/>{arm}</body></worldbody></mujoco>')
    scene = models.convert(path)
    overlaps = height < 0.2
    assert scene["joints"][0].get("collide", False) == (not overlaps)
    assert any("do not collide here" in note.message for note in scene.report.of("changed")) == overlaps
    world = tippe.load(scene)
    for _ in range(20):
        assert world.step(0.005).certified


def test_overlaps_that_no_joint_can_undo_do_not_collide(tmp_path: Path) -> None:
    """A shoulder that turns about the vertical reaches into the floor, as in models whose parts are drawn generously; its arm does not."""
    (tmp_path / "model.xml").write_text(
        """<mujoco><worldbody><geom name="floor" type="plane" size="2 2 .1"/><body name="base"><geom size=".05" contype="0" conaffinity="0"/>
        <body name="shoulder" pos="0 0 .1"><joint name="pan" axis="0 0 1"/><geom type="capsule" fromto="0 0 0 0 0 -.08" size=".05"/>
        <body name="arm" pos=".3 0 0"><joint name="lift" axis="0 1 0"/><geom type="sphere" pos=".2 0 0" size=".11"/></body></body></body></worldbody></mujoco>"""
    )
    scene = models.convert(tmp_path / "model.xml")
    assert {"bodies": ["shoulder", "world"]} in scene["excludes"]
    assert not any("arm" in pair["bodies"] and "world" in pair["bodies"] for pair in scene["excludes"])
    notes = [note for note in scene.report.of("changed") if "no joint can take them apart" in note.message]
    assert [note.name for note in notes] == ["shoulder"]


@pytest.mark.parametrize("most", [0.0, 1.0])
def test_overlaps_that_a_limit_keeps_do_not_collide(tmp_path: Path, most: float) -> None:
    """A thumb at the end of its range, drawn a little into the palm: its limit and the contact ask for what cannot be."""
    (tmp_path / "model.xml").write_text(
        f"""<mujoco><compiler angle="radian"/><worldbody><body name="palm" pos="0 0 1"><freejoint/><geom type="box" size=".1 .1 .02"/>
        <body name="knuckle" pos=".15 0 .05"><joint name="spread" axis="0 0 1"/><geom size=".01" contype="0" conaffinity="0"/>
        <body name="thumb"><joint name="bend" axis="0 1 0" range="-1 {most}"/><geom type="capsule" fromto="0 0 0 -.1 0 -.0205" size=".01"/></body></body></body></worldbody></mujoco>"""
    )
    scene = models.convert(tmp_path / "model.xml")
    assert ({"bodies": ["palm", "thumb"]} in scene.get("excludes", [])) == (most == 0.0)
    world = tippe.load(scene)
    for _ in range(20):
        report = world.step(0.005)
    assert report.certified


def test_idle_terms_of_tendons_are_left_out(tmp_path: Path) -> None:
    (tmp_path / "model.xml").write_text(
        """<mujoco><worldbody><body name="a"><joint name="x" type="slide" axis="1 0 0"/><joint name="y" type="slide" axis="0 1 0"/><geom size=".1"/></body></worldbody>
        <tendon><fixed name="t1"><joint joint="x" coef="2"/><joint joint="y" coef="0"/></fixed><fixed name="t2"><joint joint="y" coef="0"/></fixed></tendon>
        <actuator><position tendon="t1" kp="5"/><motor tendon="t2"/></actuator></mujoco>"""
    )
    scene = models.convert(tmp_path / "model.xml")
    assert [coupling["of"] for coupling in scene["couplings"]] == [[["a.x", 2.0]]]
    assert any(note.name == "t2" for note in scene.report.notes)
    tippe.load(scene)


def test_new_names_of_sensors_are_told(tmp_path: Path) -> None:
    (tmp_path / "model.xml").write_text(
        """<mujoco><worldbody><body name="a"><joint name="j" axis="0 1 0"/><geom size=".1" pos=".2 0 0"/></body></worldbody>
        <sensor><jointpos name="F0/angle" joint="j"/></sensor></mujoco>"""
    )
    scene = models.convert(tmp_path / "model.xml")
    assert scene["sensors"][0]["name"] == "F0_angle" == scene.report.renamed["sensor F0/angle"]
    assert "sensor F0/angle -> F0_angle" in scene.report.text()


def test_motors_are_no_stiffer_than_their_effort(tmp_path: Path) -> None:
    """Held by motors, a joint gives way by 0.02 rad under all that the motor has."""
    (tmp_path / "model.xml").write_text(
        """<mujoco><worldbody><body name="a" pos="0 0 1"><freejoint/><geom type="box" size=".2 .2 .2" mass="50"/>
        <body name="hand" pos=".3 0 0"><joint name="wrist" axis="0 1 0"/><geom size=".05" mass=".2" pos=".1 0 0"/></body></body></worldbody>
        <actuator><motor joint="wrist" ctrlrange="-6 6"/></actuator></mujoco>"""
    )
    scene = models.convert(tmp_path / "model.xml")
    servo = next(joint["servo"] for joint in scene["joints"] if joint["name"] == "wrist")
    assert servo["effort"] == 6.0
    assert servo["stiffness"] == pytest.approx(300.0)


def test_axes_that_do_not_meet_move_as_in_mujoco(tmp_path: Path) -> None:
    """A light body stands between them: it has to start with the speed that its joints give it, since rotors on them are heavier than it is."""
    (tmp_path / "model.xml").write_text(
        """<mujoco><option timestep="1e-4" integrator="RK4"/><worldbody><body name="leg"><joint name="hip" axis="0 1 0" armature=".05"/>
        <joint name="knee" axis="1 0 0" pos="0 .1 -.2" armature=".02" damping=".1"/><joint name="reach" type="slide" axis="0 0 1" armature=".3"/>
        <geom type="capsule" fromto="0 0 0 .1 .1 -.4" size=".04" contype="0" conaffinity="0"/></body></worldbody></mujoco>"""
    )
    m = mujoco.MjModel.from_xml_path(str(tmp_path / "model.xml"))
    d = mujoco.MjData(m)
    d.qpos[:], d.qvel[:] = [0.3, -0.2, 0.05], [2.0, -3.0, 0.5]
    scene = models.convert(tmp_path / "model.xml", state=(d.qpos.copy(), d.qvel.copy()))
    assert any(body["name"].startswith("leg_link") for body in scene["bodies"])
    for _ in range(1000):
        mujoco.mj_step(m, d)
    mujoco.mj_forward(m, d)
    ends = []
    for step in (1e-3, 5e-4):
        world = tippe.load({**scene, "simulation": {"stepper": "anitescu", "step": step, "until": 1, "options": {"theta": 0.5, "energy_guard": False}}})
        for _ in range(round(0.1 / step)):
            world.step()
        ends.append(np.array(world["leg"].position))
    assert np.abs((4 * ends[1] - ends[0]) / 3 - d.xipos[1]).max() < 1e-6


def test_what_touches_is_hidden_behind_what_is_seen(tmp_path: Path) -> None:
    """Geoms of groups from 3 on are not shown by MuJoCo: they have no colour beside shapes that are only seen, and keep it where there are none."""
    (tmp_path / "model.xml").write_text(
        """<mujoco><worldbody><body name="a" pos="0 0 1"><freejoint/><geom size=".1" contype="0" conaffinity="0" rgba="1 0 0 1"/>
        <geom type="box" size=".1 .1 .1" group="3" rgba="0 1 0 1"/><geom size=".05" group="1" rgba="0 0 1 1"/></body>
        <body name="b" pos="0 1 1"><freejoint/><geom size=".1" group="3" rgba="0 1 0 1"/></body></worldbody></mujoco>"""
    )
    a, b = models.convert(tmp_path / "model.xml")["bodies"]
    assert [shape.get("color") for shape in a["shapes"]] == [[1, 0, 0], None, [0, 0, 1]]
    assert b["shapes"][0]["color"] == [0, 1, 0]
