"""Combinations that models seldom have: tendons that share joints, laws that are switched off, motors of tendons, starts beyond limits."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import tippe
from tippe import models

mujoco = pytest.importorskip("mujoco")

FINGER = """<mujoco>{option}<worldbody><body name="a"><joint name="a" axis="0 1 0"{joint}/><geom type="capsule" size=".01" fromto="0 0 0 .1 0 0"/>
<body name="b" pos=".1 0 0"><joint name="b" axis="0 1 0" ref=".1"/><geom type="capsule" size=".01" fromto="0 0 0 .1 0 0"/>
<body name="c" pos=".1 0 0"><joint name="c" {ball}/><geom type="capsule" size=".01" fromto="0 0 0 .1 0 0"/></body></body></body></worldbody>
<tendon><fixed name="t1"{tendon}><joint joint="a" coef="1"/><joint joint="b" coef="-.5"/></fixed><fixed name="t2"><joint joint="b" coef="1"/></fixed><fixed name="t3"><joint joint="b" coef="2"/></fixed></tendon>{rest}</mujoco>"""


def finger(folder: Path, option: str = "", joint: str = "", ball: str = "", tendon: str = "", rest: str = "", **options: Any) -> Any:
    path = folder / "finger.xml"
    path.write_text(FINGER.format(option=option, joint=joint, ball=ball, tendon=tendon, rest=rest))
    return models.convert(path, **options)


def told(scene: Any, kind: str, word: str) -> bool:
    return any(word in note.message and note.line for note in scene.report.of(kind))


def test_tendons_of_an_equality_may_share_a_joint(tmp_path: Path) -> None:
    scene = finger(tmp_path, rest='<equality><tendon tendon1="t2" tendon2="t1" polycoef=".05 .5 0 0 0"/></equality>')
    (coupling,) = scene["couplings"]
    m = mujoco.MjModel.from_xml_path(str(tmp_path / "finger.xml"))
    d = mujoco.MjData(m)
    for seed in range(3):
        d.qpos[:] = np.random.default_rng(seed).uniform(-1, 1, m.nq)
        mujoco.mj_forward(m, d)
        places = {m.joint(j).name: d.qpos[m.jnt_qposadr[j]] for j in range(m.njnt)}
        total = sum(factor * places[name] for name, factor in coupling["of"])
        assert total - coupling["value"] == pytest.approx(d.efc_pos[0], abs=1e-15)


def test_an_equality_in_which_nothing_moves_is_told(tmp_path: Path) -> None:
    scene = finger(tmp_path, rest='<equality><tendon tendon1="t3" tendon2="t2" polycoef="0 2 0 0 0"/></equality>')
    assert "couplings" not in scene
    assert told(scene, "changed", "nothing can move")


def test_laws_that_are_switched_off_are_not_there(tmp_path: Path) -> None:
    flag = '<option><flag limit="disable" damper="disable" frictionloss="disable" spring="disable"/></option>'
    laws = ' limited="true" range="-.1 .1" stiffness="20" damping="2" frictionloss=".1"'
    scene = finger(tmp_path, flag, ball='type="ball" damping="1" frictionloss=".1"', tendon=laws)
    ball = next(joint for joint in scene["joints"] if joint["name"] == "c")
    assert not {"damping", "friction"} & set(ball)
    assert "couplings" not in scene
    assert not list(scene.report.of("missing"))
    for law in ("limits", "springs", "damping", "dry friction"):
        assert told(scene, "chosen", f"{law} of the model are switched off")


def test_flags_that_switch_something_off_are_told(tmp_path: Path) -> None:
    rest = '<equality><joint joint1="a" joint2="b"/></equality><actuator><position joint="a" kp="3"/></actuator>'
    flag = '<option><flag equality="disable" actuation="disable" contact="disable"/></option>'
    scene = finger(tmp_path, flag, rest=rest)
    for law in ("equalities", "actuators", "contacts"):
        assert told(scene, "chosen", f"{law} of the model are switched off")
    assert "couplings" not in scene and not any("servo" in joint for joint in scene["joints"])
#What a model does not have is not told.
    assert not told(scene, "chosen", "springs") and not told(finger(tmp_path, rest=rest), "chosen", "switched off")


def test_a_motor_of_six_gears_is_told(tmp_path: Path) -> None:
    path = tmp_path / "free.xml"
    body = '<body><freejoint name="f"/><geom size=".1"/></body>'
    path.write_text(f'<mujoco><worldbody>{body}</worldbody><actuator><motor joint="f" gear="0 0 1 .1 0 0"/></actuator></mujoco>')
    scene = models.convert(path)
    assert told(scene, "missing", "left out") and not told(scene, "chosen", "gear of zero")


def test_a_motor_of_a_tendon_is_told_whatever_its_input(tmp_path: Path) -> None:
    scene = finger(tmp_path, rest='<actuator><motor tendon="t1"/></actuator>', hold=False)
    assert told(scene, "missing", "pulls at a tendon")
    assert not any("servo" in coupling for coupling in scene.get("couplings", []))


def test_a_motor_of_a_tendon_holds_the_start(tmp_path: Path) -> None:
    scene = finger(tmp_path, rest='<actuator><motor tendon="t1" gear="2" ctrllimited="true" ctrlrange="-9 9"/></actuator><keyframe><key qpos=".3 .2"/></keyframe>')
    assert told(scene, "chosen", "a motor that pulls at a tendon holds 0.2")
    coupling = next(coupling for coupling in scene["couplings"] if coupling["name"] == "t1")
    assert coupling["servo"]["target"] == pytest.approx(0.3 - 0.5 * 0.2)
    assert coupling["servo"]["effort"] == 18
    length = lambda world: world.couplings["t1"].value  # noqa: E731
    world = tippe.load(scene)
    world.run(until=3.0)
    assert length(world) == pytest.approx(0.2, abs=0.02)  # under its own weight it gives way by no more than is told


@pytest.mark.skipif(not hasattr(mujoco.MjModel, "tendon_stiffnesspoly"), reason="this MuJoCo has no polynomials")
def test_polynomials_of_a_tendon_are_told(tmp_path: Path) -> None:
    scene = finger(tmp_path, tendon=' stiffness="2 3" damping="1"')
    assert told(scene, "missing", "linear part")


def test_gains_that_change_with_the_input_are_told(tmp_path: Path) -> None:
    general = '<general joint="a" gaintype="affine" gainprm="1 -2 0" biastype="affine" biasprm="0 -3 0"/>'
    scene = finger(tmp_path, rest=f'<actuator>{general}</actuator><keyframe><key ctrl=".5"/></keyframe>')
    servo = scene["joints"][0]["servo"]
    assert servo["stiffness"] == 4 and servo["target"] == 0.125  # .5 (1 - 2 q) - 3 q
    assert told(scene, "changed", "input of the start alone")


def test_a_gear_of_zero_is_no_motor(tmp_path: Path) -> None:
    scene = finger(tmp_path, rest='<actuator><position joint="a" kp="3" gear="0"/></actuator>')
    assert "servo" not in scene["joints"][0]
    assert told(scene, "chosen", "gear of zero")


def test_a_start_beyond_the_limits_is_told(tmp_path: Path) -> None:
    scene = finger(tmp_path, joint=' limited="true" range=".3 1"', tendon=' limited="true" range="1 2"')
    messages = [note.message for note in scene.report.of("rigid")]
    assert sum("starts at" in message and "beyond its limits" in message for message in messages) == 2


LINK = '<link name="{name}"><inertial><mass value="1"/><inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial></link>'


def test_a_urdf_holds_what_it_may(tmp_path: Path) -> None:
    joint = '<joint name="{child}" type="revolute"><parent link="{parent}"/><child link="{child}"/><axis xyz="0 0 1"/><limit lower="{low}" upper="1" effort="5"/>{mimic}</joint>'
    path = tmp_path / "robot.urdf"
    follows = '<mimic joint="x" multiplier="1"/>'
    links = "".join(LINK.format(name=name) for name in ("base", "x", "y"))
    joints = joint.format(child="x", parent="base", low=0.3, mimic="") + joint.format(child="y", parent="x", low=-1, mimic=follows)
    path.write_text(f'<robot name="r">{links}{joints}</robot>')
    scene = models.convert(path)
    servos = {j["name"]: j.get("servo") for j in scene["joints"]}
    assert servos["x"]["target"] == 0.3 and servos["y"] is None
    assert told(scene, "chosen", "its own effort 5 drives nothing")
    assert told(scene, "chosen", "it starts at 0.3")
    turned = scene["bodies"][1]["rotation"]["quaternion"]
    assert turned == pytest.approx([np.cos(0.15), 0, 0, np.sin(0.15)], abs=1e-15)  # where its limits allow it to be
    assert scene["joints"][0]["zero"] == 0.3


@pytest.mark.parametrize(
    ("part", "message"),
    [
        ('joint=" stiffness=\'-5\'"', "stiffness: must be zero or more"),
        ('joint=" stiffness=\'inf\'"', "stiffness: inf is not a number that a robot can have"),
        ('option="<option gravity=\'0 0 1e120\'/>"', "gravity: 1e120 is not"),
        ('rest="<keyframe><key qvel=\'inf 0 0\'/></keyframe>"', "qvel: inf is not"),
        ('rest="<keyframe><key qpos=\'1 2 3 4 5\'/></keyframe>"', "invalid qpos size"),
        ('rest="<actuator><position joint=\'a\' gear=\'1e200\'/></actuator>"', "gear: 1e200 is not"),
    ],
)
def test_absurd_numbers_are_refused_with_their_line(tmp_path: Path, part: str, message: str) -> None:
    key, _, text = part.partition("=")
    with pytest.raises(models.ModelError, match=message) as caught:
        finger(tmp_path, **{key: text.strip('"')})
    assert caught.value.line


def test_the_time_of_a_keyframe_is_told(tmp_path: Path) -> None:
    """Scenes start at zero, whatever the clock of the keyframe says."""
    scene = finger(tmp_path, rest='<keyframe><key name="home" qpos="0 0 0" time="3"/><key name="other" qpos="0 0 1" time="0"/></keyframe>')
    assert [note.name for note in scene.report.of("solver") if note.attribute == "time"] == ["home"]


def test_parts_without_a_name_are_told_by_their_line(tmp_path: Path) -> None:
    rest = """
<actuator><position joint="a" kp="1"/>
<general joint="b" dyntype="filter" dynprm=".1" gainprm="2" biastype="affine" biasprm="0 -2 0"/></actuator>
<equality><joint joint1="a" joint2="b"/>
<joint joint1="b" joint2="a" polycoef="0 1 1 0 0" active="false"/></equality>
<sensor><jointpos joint="a"/>
<clock/></sensor>"""
    scene = finger(tmp_path, rest=rest)
    lines = {note.element: note.line for note in scene.report.notes if note.element in ("actuator", "equality", "sensor")}
    first = FINGER.count("\n") + 1
    assert lines == {"actuator": first + 2, "equality": first + 4, "sensor": first + 6}


def test_copies_are_told_where_they_are_used(tmp_path: Path) -> None:
    path = tmp_path / "copies.xml"
    path.write_text("""<mujoco><worldbody><replicate count="2" euler="0 0 1"><body pos="1 0 0"><joint name="j"/><geom size=".1"/></body></replicate></worldbody>
<actuator>
<motor joint="j1"/></actuator></mujoco>""")
    scene = models.convert(path)
    assert [note.line for note in scene.report.of("chosen")] == [3]
