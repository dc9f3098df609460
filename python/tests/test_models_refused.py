"""Models that cannot be read, or not as they stand: a message with the place, and nothing written."""

from __future__ import annotations

from pathlib import Path

import pytest
from tippe import models
from tippe.models.command import main

BROKEN = {
    "no XML": ("<mujoco><worldbody>", ":1: "),
    "a circle of includes": ('<mujoco>\n<include file="model.xml"/></mujoco>', ":2: "),
    "a missing include": ('<mujoco>\n<include file="nowhere.xml"/></mujoco>', "nowhere.xml"),
    "a missing mesh": ('<mujoco><asset><mesh name="m" file="m.stl"/></asset><worldbody><geom type="mesh" mesh="m"/></worldbody></mujoco>', 'there is no file "m.stl"'),
    "a mass that is no number": ('<mujoco><worldbody><body><freejoint/>\n<geom size="1" mass="nan"/></body></worldbody></mujoco>', ':2: mass: "nan"'),
    "a huge gain": ('<mujoco><worldbody><body><joint name="j"/><geom size="1"/></body></worldbody><actuator><position joint="j" kp="1e300"/></actuator></mujoco>', ":1: kp: 1e300 is not"),
    "a damping below zero": ('<mujoco><worldbody><body>\n<joint damping="-5"/><geom size="1"/></body></worldbody></mujoco>', ":2: damping: must be zero or more"),
    "a step of zero": ('<mujoco>\n<option timestep="0"/><worldbody><body><joint/><geom size="1"/></body></worldbody></mujoco>', ":2: timestep: must be greater than zero"),
    "a friction below zero": ('<mujoco><worldbody><body><freejoint/>\n<geom size="1" friction="-1 0 0"/></body></worldbody></mujoco>', ":2: friction: must be zero or more"),
    "a keyframe with inputs of nobody": ('<mujoco><worldbody><body><joint/><geom size="1"/></body></worldbody><keyframe>\n<key ctrl="1 2 3"/></keyframe></mujoco>', ":2: "),
    "a million bodies": ('<mujoco><worldbody><replicate count="1000000" offset="1 0 0">\n<body><freejoint/><geom size=".1"/></body></replicate></worldbody></mujoco>', ":2: the model has more than"),
    "thousands of links": ('<robot name="r">' + "".join(f'\n<link name="l{i}"/>' for i in range(5001)) + "</robot>", ":5002: the model has more than"),
    "a huge height field": ('<mujoco><asset>\n<hfield name="h" nrow="100000" ncol="100000" size="1 1 1 1"/></asset></mujoco>', ":2: a height field of"),
    "a joint that follows itself": ('<robot name="r"><link name="a"/><link name="b"><inertial><mass value="1"/><inertia ixx="1" iyy="1" izz="1"/></inertial></link><joint name="x" type="continuous"><parent link="a"/><child link="b"/>\n<mimic joint="x"/></joint></robot>', ":2: "),
    "absurd numbers": ('<mujoco><worldbody><body pos="1e300 0 0"><freejoint/><geom size="1" mass="1"/></body></worldbody></mujoco>', ":1: pos: 1e300 is not"),
    "an entity": ('<!DOCTYPE mujoco [\n<!ENTITY b "<body/>">]><mujoco><worldbody>&b;</worldbody></mujoco>', ':2: the entity "b"'),
    "nothing": ("<mujoco><worldbody/></mujoco>", "nothing in the model"),
    "another root": ("<sdf/>", "neither MJCF"),
    "an effort below zero": ('<robot name="r"><link name="a"/><link name="b"><inertial><mass value="1"/><inertia ixx="1" iyy="1" izz="1"/></inertial></link><joint name="j" type="revolute"><parent link="a"/><child link="b"/>\n<limit lower="-1" upper="1" effort="-5" velocity="1"/></joint></robot>', ":2: an effort is not negative"),
    "no links": ('<robot name="r"/>', "without links"),
    "a link that is not there": ('<robot name="r"><link name="a"/><joint name="j" type="fixed"><parent link="a"/><child link="b"/></joint></robot>', '"b"'),
    "no number": ('<robot name="r"><link name="a"><inertial><mass value="x"/></inertial></link></robot>', "expected a number"),
    "a negative mass": ('<robot name="r"><link name="a"><inertial><mass value="-1"/></inertial></link></robot>', "negative"),
    "a mass that has no inverse": ('<robot name="r">\n<link name="a"><inertial><mass value="1e-320"/><inertia ixx="1" iyy="1" izz="1"/></inertial></link></robot>', ":2: 9.99989e-321 kg is not"),
    "a box without a thickness": ('<robot name="r"><link name="a"><collision><geometry>\n<box size="1 1 1e-320"/></geometry></collision></link></robot>', ":2: <box>: a length must be"),
    "digits that C does not know": ('<robot name="r">\n<link name="a"><inertial><mass value="\u0661"/></inertial></link></robot>', ":2: value: expected a number"),
    "digits in groups": ('<robot name="r">\n<link name="a"><visual><origin xyz="1_0 0 0"/><geometry><sphere radius="1"/></geometry></visual></link></robot>', ":2: xyz: expected numbers"),
    "billions of keyframes": ('<mujoco>\n<size nkey="2000000000"/><worldbody><body><freejoint/><geom size="1"/></body></worldbody></mujoco>', ":2: nkey: 10000 is the most"),
    "more memory than there is": ('<mujoco>\n<size memory="900000G"/><worldbody><body><freejoint/><geom size="1"/></body></worldbody></mujoco>', "allocate memory"),
    "a huge texture": ('<mujoco><asset>\n<texture name="t" type="2d" builtin="flat" width="200000" height="200000"/></asset></mujoco>', ":2: a texture of more than"),
    "a name that is too long": ('<robot name="r"><link name="a"><visual><geometry>\n<mesh filename="' + "x" * 5000 + '"/></geometry></visual></link></robot>', ":2: "),
    "no such mesh": ('<robot name="r"><link name="a"><visual><geometry><mesh filename="package://p/m.stl"/></geometry></visual></link></robot>', "m.stl"),
}


@pytest.mark.parametrize("what", BROKEN)
def test_broken_models_are_refused(what: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    text, words = BROKEN[what]
    path = tmp_path / "model.xml"
    path.write_text(text)
    assert main([str(path), "--out", str(tmp_path / "scene.json")]) == 2
    message = capsys.readouterr().err
    assert words in message
    assert "model.xml" in message
    assert [p.name for p in tmp_path.iterdir()] == ["model.xml"]


def test_encodings_that_mujoco_does_not_read(tmp_path: Path) -> None:
    """MuJoCo takes bytes for UTF-8 whatever the file says; names in another encoding ended with an error of Python's."""
    path = tmp_path / "model.xml"
    model = '<mujoco><worldbody>\n<body name="h\u00fcfte"><freejoint/><geom size="1"/></body></worldbody></mujoco>'
    path.write_bytes(('<?xml version="1.0" encoding="latin-1"?>' + model).encode("latin-1"))
    with pytest.raises(models.ModelError, match=r"model\.xml:2: is not in UTF-8"):
        models.convert(path)
    path.write_text(model, encoding="utf-8")
    assert len(models.convert(path)["bodies"]) == 1


def test_circles_of_links(tmp_path: Path) -> None:
    path = tmp_path / "r.urdf"
    link = '<link name="{}"><inertial><mass value="1"/><inertia ixx="1" iyy="1" izz="1"/></inertial></link>'
    joint = '<joint name="{0}{1}" type="continuous"><parent link="{0}"/><child link="{1}"/></joint>'
    path.write_text(f"<robot name='r'>{link.format('a')}{link.format('b')}{joint.format('a', 'b')}{joint.format('b', 'a')}</robot>")
    with pytest.raises(models.ModelError, match="circle"):
        models.convert(path)


def test_includes_that_double_are_refused(tmp_path: Path) -> None:
    """Forty files, each of which includes the next one twice."""
    for i in range(40):
        inner = f'<include file="inc{i + 1}.xml"/>' * 2 if i < 39 else ""
        (tmp_path / f"inc{i}.xml").write_text(f"<mujocoinclude>{inner}</mujocoinclude>")
    (tmp_path / "model.xml").write_text('<mujoco><include file="inc0.xml"/><worldbody/></mujoco>')
    with pytest.raises(models.ModelError, match="included more than"):
        models.convert(tmp_path / "model.xml")


ROBOT = '<robot name="r"><link name="a"><inertial><mass value="1"/><inertia ixx="1" iyy="1" izz="1"/></inertial></link></robot>'


def test_urdf_meshes_that_cannot_be_read(tmp_path: Path) -> None:
    """One that collides is an error; one that is only seen is left out, and told."""
    (tmp_path / "empty.obj").write_text("# nothing\n")
    form = '<geometry><mesh filename="empty.obj"/></geometry>'
    path = tmp_path / "r.urdf"
    path.write_text(ROBOT.replace("</link>", f"\n<visual>{form}</visual></link>"))
    scene = models.convert(path)
    assert "shapes" not in scene["bodies"][0]
    assert any(note.line == 2 and "is not shown" in note.message for note in scene.report.of("looks"))
    path.write_text(ROBOT.replace("</link>", f"\n<collision>{form}</collision></link>"))
    with pytest.raises(models.ModelError, match=r'r\.urdf:2: "empty\.obj" cannot be read'):
        models.convert(path)


def test_urdf_meshes_without_a_hull(tmp_path: Path) -> None:
    """Corners in one plane, and bytes that are no mesh: told with the line, and not as a package that is missing."""
    (tmp_path / "flat.obj").write_text("v 0 0 0\nv 1 0 0\nv 0 1 0\nv 1 1 0\nf 1 2 3\nf 2 4 3\n")
    (tmp_path / "noise.stl").write_bytes(bytes((i * 7919) % 251 for i in range(500)))
    path = tmp_path / "r.urdf"
    for name, why in (("flat.obj", "its corners lie in one plane"), ("noise.stl", "")):
        form = f'<geometry><mesh filename="{name}"/></geometry>'
        path.write_text(ROBOT.replace("</link>", f"\n<collision>{form}</collision></link>"))
        with pytest.raises(models.ModelError, match=rf'r\.urdf:2: "{name}" cannot be read: {why}'):
            models.convert(path)


def test_keyframes_that_are_too_short_are_told(tmp_path: Path) -> None:
    path = tmp_path / "model.xml"
    model = '<mujoco><worldbody><body name="b"><freejoint/><geom size=".1"/></body></worldbody><keyframe>\n<key qpos="{}"/></keyframe></mujoco>'
    path.write_text(model.format("1 2 3 1 0 0 0"))
    assert not list(models.convert(path).report.of("changed"))
    path.write_text(model.format("1 2 3"))
    try:
        (note,) = models.convert(path).report.of("changed")
    except models.ModelError as error:  # older compilers refuse it
        assert "qpos" in str(error)
    else:
        assert (note.attribute, note.line) == ("qpos", 2)


def test_meshes_of_others_stay(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The folder of the scene's meshes may be the one where the robot has its own."""
    folder, path, out = tmp_path / "r_meshes", tmp_path / "r.urdf", tmp_path / "r.json"
    folder.mkdir()
    own = "v 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 1\nf 1 3 2\nf 1 2 4\nf 1 4 3\nf 2 3 4\n"
    (folder / "part.obj").write_text(own)
    form = '<{0}><geometry><mesh filename="r_meshes/part.obj"/></geometry></{0}>'
    path.write_text(ROBOT.replace("</link>", form.format("collision") + "</link>"))
    for _ in range(2):
        assert main([str(path), "--out", str(out), "--quiet"]) == 0
        assert sorted(p.name for p in folder.iterdir()) == ["part.obj", "part_hull.obj"]
        assert (folder / "part.obj").read_text() == own
    # What was written before and is not needed any more goes.
    path.write_text(ROBOT)
    assert main([str(path), "--out", str(out), "--quiet"]) == 0
    assert [p.name for p in folder.iterdir()] == ["part.obj"]
    # A mesh of the same name is not replaced, and nothing is written.
    out.unlink()
    path.write_text(ROBOT.replace("</link>", form.format("visual") + "</link>"))
    assert main([str(path), "--out", str(out), "--quiet"]) == 2
    assert "part.obj: is there, and tippe-import did not write it" in capsys.readouterr().err
    assert (folder / "part.obj").read_text() == own
    assert not out.exists()


def test_outputs_are_no_inputs(tmp_path: Path) -> None:
    path, out = tmp_path / "r.urdf", tmp_path / "r.json"
    path.write_text(ROBOT)
    for arguments in (["--out", str(path)], ["--out", str(out), "--report", str(path)], ["--out", str(out), "--report", str(out)]):
        with pytest.raises(SystemExit):
            main([str(path), *arguments, "--quiet"])
    assert path.read_text() == ROBOT
    assert not out.exists()
    (tmp_path / "r.d").mkdir()
    assert main([str(path), "--out", str(tmp_path / "r.d"), "--quiet"]) == 2
    assert sorted(p.name for p in tmp_path.iterdir()) == ["r.d", "r.urdf"]
