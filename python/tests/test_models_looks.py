"""Meshes of URDF: files of one name, colours of the files, their units; bases that are fixed; and where joints of a model without keyframes start."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from tippe import models

TETRAHEDRON = "v 0 0 0\nv {0} 0 0\nv 0 {0} 0\nv 0 0 {0}\nf 1 3 2\nf 1 2 4\nf 1 4 3\nf 2 3 4\n"
INERTIAL = '<inertial><mass value="1"/><inertia ixx="1" iyy="1" izz="1"/></inertial>'


def urdf(path: Path, *forms: str) -> Any:
    path.write_text('<robot name="r"><link name="a">' + INERTIAL + "".join(forms) + "</link></robot>")
    return models.convert(path)


def visual(file: str, inner: str = "") -> str:
    return f'<visual><geometry><mesh filename="{file}"/></geometry>{inner}</visual>'


def extent(shape: dict[str, Any]) -> float:
    return max(float(line.split()[1]) for line in Path(shape["file"]).read_text().splitlines() if line.startswith("v "))


def test_meshes_of_one_name_in_two_folders_are_two(tmp_path: Path) -> None:
    for folder, size in (("left", 1.0), ("right", 2.0)):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "finger.obj").write_text(TETRAHEDRON.format(size))
    scene = urdf(tmp_path / "r.urdf", visual("left/finger.obj"), visual("right/finger.obj"), visual("left/finger.obj"))
    shapes = scene["bodies"][0]["shapes"]
    assert [extent(shape) for shape in shapes] == [1.0, 2.0, 1.0]
    assert shapes[0]["file"] == shapes[2]["file"]


def test_a_base_that_is_fixed(tmp_path: Path) -> None:
    assert urdf(tmp_path / "r.urdf")["bodies"][0].get("kind", "dynamic") == "dynamic"
    assert models.convert(tmp_path / "r.urdf", fixed_base=True)["bodies"][0]["kind"] == "fixed"


def collada(unit: float, colors: list[str]) -> str:
    """A tetrahedron for each colour, beside each other."""
    material = '''<effect id="e{k}"><profile_COMMON><technique sid="common"><lambert><diffuse><color>{c}</color></diffuse></lambert></technique></profile_COMMON></effect>'''
    geometry = '''<geometry id="g{k}"><mesh><source id="p{k}"><float_array id="f{k}" count="12">{x} 0 0 {y} 0 0 {x} 1 0 {x} 0 1</float_array><technique_common>
        <accessor source="#f{k}" count="4" stride="3"><param name="X" type="float"/><param name="Y" type="float"/><param name="Z" type="float"/></accessor></technique_common></source>
        <vertices id="v{k}"><input semantic="POSITION" source="#p{k}"/></vertices>
        <triangles count="4" material="s"><input semantic="VERTEX" source="#v{k}" offset="0"/><p>0 2 1 0 1 3 0 3 2 1 2 3</p></triangles></mesh></geometry>'''
    node = '''<node id="n{k}"><instance_geometry url="#g{k}"><bind_material><technique_common><instance_material symbol="s" target="#m{k}"/></technique_common></bind_material></instance_geometry></node>'''
    each = [{"k": k, "c": color, "x": 2 * k, "y": 2 * k + 1} for k, color in enumerate(colors)]
    parts = {name: "".join(text.format(**one) for one in each) for name, text in (("e", material), ("g", geometry), ("n", node))}
    materials = "".join(f'<material id="m{k}"><instance_effect url="#e{k}"/></material>' for k in range(len(colors)))
    return (
        '<?xml version="1.0"?><COLLADA xmlns="http://www.collada.org/2005/11/COLLADASchema" version="1.4.1">'
        f'<asset><unit name="u" meter="{unit}"/><up_axis>Z_UP</up_axis></asset><library_effects>{parts["e"]}</library_effects>'
        f'<library_materials>{materials}</library_materials><library_geometries>{parts["g"]}</library_geometries>'
        f'<library_visual_scenes><visual_scene id="s">{parts["n"]}</visual_scene></library_visual_scenes><scene><instance_visual_scene url="#s"/></scene></COLLADA>'
    )


def test_colours_and_units_of_mesh_files(tmp_path: Path) -> None:
    (tmp_path / "m.dae").write_text(collada(0.01, ["1 0 0 1", "0 0 1 1", "1 0 0 1"]))
    red, blue = urdf(tmp_path / "r.urdf", visual("m.dae"))["bodies"][0]["shapes"]
    assert (red["color"], blue["color"]) == ([1, 0, 0], [0, 0, 1])
    assert (extent(red), extent(blue)) == (pytest.approx(0.05), pytest.approx(0.03))
    scene = urdf(tmp_path / "r.urdf", visual("m.dae", '<material name="g"><color rgba="0 1 0 1"/></material>'))
    assert [shape["color"] for shape in scene["bodies"][0]["shapes"]] == [[1, 0, 0], [0, 0, 1]]
    assert any(note.element == "material" and "of its own" in note.message for note in scene.report.of("looks"))
    (tmp_path / "m.obj").write_text(TETRAHEDRON.format(1))
    scene = urdf(tmp_path / "r.urdf", visual("m.obj", '<material name="g"><color rgba="0 1 0 1"/></material>'))
    assert [shape["color"] for shape in scene["bodies"][0]["shapes"]] == [[0, 1, 0]]
    hull = urdf(tmp_path / "r.urdf", "<collision><geometry><mesh filename='m.dae'/></geometry></collision>")["bodies"][0]["shapes"]
    assert [extent(shape) for shape in hull] == [pytest.approx(0.05)]


def test_joints_without_a_keyframe_start_within_their_limits(tmp_path: Path) -> None:
    """Rigid limits would throw them back in the first step, which was not certified. A keyframe is kept as it is, and so are joints that others hold."""
    path = tmp_path / "m.xml"
    model = (
        '<mujoco><compiler angle="radian"/><worldbody><body name="b"><joint name="j" axis="0 1 0" limited="true" range=".3 1"/><geom size=".1" pos="0 0 .5"/>'
        '<body name="c" pos="0 0 1"><joint name="k" axis="0 1 0" limited="true" range="-1 -.2"/><geom size=".1"/></body></body></worldbody>{}</mujoco>'
    )
    path.write_text(model.format(""))
    scene = models.convert(path)
    assert {joint["name"]: joint.get("zero") for joint in scene["joints"]} == {"j": 0.3, "k": -0.2}
    assert [note.message for note in scene.report.notes if note.attribute == "range"] == [
        "0 is beyond its limits: it starts at 0.3", "0 is beyond its limits: it starts at -0.2"]
    path.write_text(model.format('<keyframe><key name="home" qpos="0 0"/></keyframe>'))
    assert all("zero" not in joint for joint in models.convert(path)["joints"])
    path.write_text(model.format('<equality><joint joint1="j" joint2="k"/></equality>'))
    assert all("zero" not in joint for joint in models.convert(path)["joints"])
    json.dumps(scene)
