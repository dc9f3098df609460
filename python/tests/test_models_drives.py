"""Actuators whose laws or limits are not quite those of a servo: what is carried over, and that the rest is told."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from tippe import models

pytest.importorskip("mujoco")

ARM = """<mujoco>{extension}<worldbody><body name="arm"><joint name="j" axis="0 1 0"{joint}/><geom type="capsule" size=".02" fromto="0 0 0 .3 0 0"/>
<body name="hand" pos=".3 0 0"><joint name="k" axis="0 1 0"/><geom size=".03"/></body></body></worldbody>
{tendon}<actuator>{actuators}</actuator></mujoco>"""


def arm(folder: Path, actuators: str, joint: str = "", tendon: str = "", extension: str = "", **options: Any) -> Any:
    path = folder / "arm.xml"
    path.write_text(ARM.format(actuators=actuators, joint=joint, tendon=tendon, extension=extension))
    return models.convert(path, **options)


def told(scene: Any, kind: str, word: str) -> bool:
    return any(word in note.message for note in scene.report.of(kind))


def test_uneven_limits_of_a_joints_actuators_are_told(tmp_path: Path) -> None:
    scene = arm(tmp_path, '<position joint="j" kp="3"/>', joint=' actuatorfrcrange="-3 5" actuatorfrclimited="true"')
    assert scene["joints"][0]["servo"]["effort"] == 5
    assert told(scene, "changed", "from -3 to 5")


def test_limits_that_not_all_actuators_have_are_told(tmp_path: Path) -> None:
    scene = arm(tmp_path, '<position joint="j" kp="3" forcerange="-2 2"/><position joint="j" kp="4"/>')
    assert "effort" not in scene["joints"][0]["servo"]
    assert told(scene, "changed", "without limits")


def test_a_single_limit_is_no_change(tmp_path: Path) -> None:
    scene = arm(tmp_path, '<position joint="j" kp="3" forcerange="-2 2"/>')
    assert scene["joints"][0]["servo"]["effort"] == 2
    assert not list(scene.report.of("changed"))


def test_limits_of_a_tendons_actuators(tmp_path: Path) -> None:
    fixed = '<tendon><fixed name="t" actuatorfrcrange="-.5 .5" actuatorfrclimited="true"><joint joint="j" coef="1"/><joint joint="k" coef="1"/></fixed></tendon>'
    scene = arm(tmp_path, '<position tendon="t" kp="3"/>', tendon=fixed)
    assert scene["couplings"][0]["servo"]["effort"] == 0.5


def test_a_pid_plugin_is_a_servo(tmp_path: Path) -> None:
    config = '<config key="kp" value="2.5"/><config key="ki" value="4"/><config key="kd" value=".02"/>'
    extension = f'<extension><plugin plugin="mujoco.pid"><instance name="i">{config}</instance></plugin></extension>'
    scene = arm(tmp_path, '<plugin name="p" plugin="mujoco.pid" instance="i" joint="j" actdim="1"/>', extension=extension)
    servo = scene["joints"][0]["servo"]
    assert (servo["stiffness"], servo["damping"], servo["target"]) == (2.5, 0.02, 0)
    assert told(scene, "changed", "ki = 4")
    assert not list(scene.report.of("missing"))
