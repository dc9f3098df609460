"""MuJoCo on a scene of the board: board_mujoco.py SCENE STEP TABLE

Its defaults. Contacts are soft and have no restitution; torsional friction is on where the scene has it (condim 4). A
kinematic body is one of a million kilograms on a hinge without friction.
"""
import csv
import json
import math
import sys

import mujoco
import numpy


def vector(numbers):
    return " ".join(repr(float(x)) for x in numbers)


def rotation(body):
    given = body.get("rotation", {"quaternion": [1, 0, 0, 0]})
    if "quaternion" in given:
        return given["quaternion"]
    half = math.radians(given["degrees"]) / 2
    length = math.sqrt(sum(x * x for x in given["axis"]))
    return [math.cos(half)] + [math.sin(half) * x / length for x in given["axis"]]


def geom(body, friction, arm):
    shape = body["shapes"][0]
    sizes = {"plane": "0 0 1", "sphere": repr(shape.get("radius")),
             "box": vector(x / 2 for x in shape.get("size", []))}
    dimension = 4 if arm > 0 else 3
    return (f'<geom type="{shape["type"]}" size="{sizes[shape["type"]]}" friction="{friction} {friction * arm} 0" '
            f'condim="{dimension}" mass="0"/>')


def model_of(scene, step):
    material = next(iter(scene["materials"].values()))
    given = material["friction"]
    friction = given if not isinstance(given, dict) else given["dynamic"]
    arm = 0.0 if not isinstance(given, dict) else given.get("torsional", 0.0)
    if material.get("restitution", 0) > 0:
        print("has no restitution", file=sys.stderr)
        sys.exit(3)
    chained = {joint["bodies"][1]: joint for joint in scene.get("joints", [])}
    lines = ["<mujoco>", f'<option timestep="{step!r}" gravity="{vector(scene["gravity"])}"/>', "<worldbody>"]
    closing = 0
    for body in scene["bodies"]:
        place = body.get("position", [0, 0, 0])
        if body.get("kind") == "fixed":
            lines.append(geom(body, friction, arm))
            continue
        joint = chained.get(body["name"])
        parent = joint["bodies"][0] if joint else None
        origin = next((b["position"] for b in scene["bodies"] if b["name"] == parent), [0, 0, 0])
        if parent is None:
            lines.append("</body>" * closing)
            closing = 0
        lines.append(f'<body name="{body["name"]}" pos="{vector(a - b for a, b in zip(place, origin))}" '
                     f'quat="{vector(rotation(body))}">')
        closing += 1
        mass, inertia = body.get("mass", 1e6), body.get("inertia", [1e6] * 3)
        lines.append(f'<inertial pos="{vector(body.get("center_of_mass", [0, 0, 0]))}" mass="{mass!r}" '
                     f'diaginertia="{vector(inertia)}"/>')
        if body.get("kind") == "kinematic":
            lines.append('<joint type="hinge" axis="0 0 1"/>')
        elif joint is None:
            lines.append("<freejoint/>")
        else:
            kind = {"ball": "ball", "revolute": "hinge"}[joint["type"]]
            anchor = [a - b for a, b in zip(joint["anchor"], place)]
            lines.append(f'<joint type="{kind}" pos="{vector(anchor)}" axis="{vector(joint.get("axis", [0, 0, 1]))}"/>')
        lines.append(geom(body, friction, arm))
    lines += ["</body>" * closing, "</worldbody>", "</mujoco>"]
    return mujoco.MjModel.from_xml_string("\n".join(lines))


def state(model, data, index):
    """Centre of mass, orientation of the frame, velocities in world axes."""
    buffer = numpy.zeros(6)
    mujoco.mj_objectVelocity(model, data, mujoco.mjtObj.mjOBJ_BODY, index, buffer, 0)
    return [*data.xipos[index], *data.xquat[index], *buffer[3:], *buffer[:3]]


def main():
    with open(sys.argv[1], encoding="utf-8") as file:
        scene = json.load(file)
    step = float(sys.argv[2])
    model = model_of(scene, step)
    data = mujoco.MjData(model)
    moving = [body for body in scene["bodies"] if body.get("kind") != "fixed"]
    ids = [mujoco.mj_name2id(model, mujoco.mjtObj.mjOBJ_BODY, body["name"]) for body in moving]
    for body, index in zip(moving, ids):
        first = model.body_dofadr[index]
        spin = body.get("angular_velocity", [0, 0, 0])
        if body.get("kind") == "kinematic":
            data.qvel[first] = spin[2]
        elif model.body_dofnum[index] == 6:
            w, x, y, z = rotation(body)
            turned, out = numpy.zeros(3), numpy.zeros(3)
            mujoco.mju_rotVecQuat(turned, numpy.array(spin, dtype=float), numpy.array([w, -x, -y, -z]))
            offset = body.get("center_of_mass", [0, 0, 0])
            mujoco.mju_rotVecQuat(out, numpy.array(offset, dtype=float), numpy.array([w, x, y, z]))
            swing = numpy.cross(numpy.array(spin, dtype=float), out)  # the free joint moves the frame's origin
            data.qvel[first:first + 3] = numpy.array(body.get("velocity", [0, 0, 0]), dtype=float) - swing
            data.qvel[first + 3:first + 6] = turned
    mujoco.mj_forward(model, data)
    names = [f"{body['name']}.{c}" for body in moving for c in
             ("x", "y", "z", "qw", "qx", "qy", "qz", "vx", "vy", "vz", "wx", "wy", "wz")]
    with open(sys.argv[3], "w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(["time", *names])
        for k in range(round(scene["simulation"]["until"] / step) + 1):
            if k > 0:
                mujoco.mj_step(model, data)
                mujoco.mj_kinematics(model, data)
                mujoco.mj_comPos(model, data)
            writer.writerow([repr(k * step)] + [repr(float(v)) for index in ids for v in state(model, data, index)])


if __name__ == "__main__":
    main()
