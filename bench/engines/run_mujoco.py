"""MuJoCo on a benchmark scene: run_mujoco.py SCENE STEPS EVERY OUT [SECONDS]

Its defaults (Newton solver, pyramidal cones, soft contacts) with the scene's step and friction; the default
contact stiffness, which has no restitution. Bodies are free, one geom each. Stops after SECONDS (300): the
steps done so far are what it says it did.
"""

import json
import resource
import sys
import time

import mujoco
import numpy


def vector(numbers):
    return " ".join(repr(float(x)) for x in numbers)


def rotation(body):
    given = body.get("rotation", {"quaternion": [1, 0, 0, 0]})
    if "quaternion" in given:
        return given["quaternion"]
    half = numpy.radians(given["degrees"]) / 2
    axis = numpy.array(given["axis"], dtype=float)
    return [numpy.cos(half), *(numpy.sin(half) * axis / numpy.linalg.norm(axis))]


def model_of(scene):
    lines = [
        "<mujoco>",
        f'<option timestep="{scene["simulation"]["step"]!r}" gravity="{vector(scene["gravity"])}"/>',
        '<size memory="4G"/>',
        "<worldbody>",
    ]
    for body in scene["bodies"]:
        shape = body["shapes"][0]
        material = scene["materials"][body["material"]]
        if shape["type"] == "box":
            size = vector(x / 2 for x in shape["size"])
        else:
            size = vector([shape["radius"]])
        place = f'pos="{vector(body["position"])}" quat="{vector(rotation(body))}"'
        geom = (
            f'<geom type="{shape["type"]}" size="{size}" density="{body.get("density", 1)}" '
            f'friction="{material["friction"]} 0.005 0.0001"'
        )
        if body.get("kind") == "fixed":
            lines.append(f"{geom} {place}/>")
        else:
            lines.append(f'<body {place}><freejoint/>{geom}/></body>')
    lines += ["</worldbody>", "</mujoco>"]
    return mujoco.MjModel.from_xml_string("\n".join(lines))


def main():
    path, steps, every, out = sys.argv[1], int(sys.argv[2]), int(sys.argv[3]), sys.argv[4]
    seconds = float(sys.argv[5]) if len(sys.argv) > 5 else 300.0
    with open(path, encoding="utf-8") as file:
        scene = json.load(file)
    model = model_of(scene)
    data = mujoco.MjData(model)
    frame = numpy.zeros((len(scene["bodies"]), 7))
    movable = []
    for i, body in enumerate(scene["bodies"]):
        frame[i] = [*body["position"], *rotation(body)]
        if body.get("kind") != "fixed":
            movable.append(i)
    times, contacts = [], 0
    with open(out + ".poses", "wb") as poses:
        begin = time.monotonic()
        for step in range(1, steps + 1):
            wall, cpu = time.monotonic(), time.process_time()
            mujoco.mj_step(model, data)
            times.append((time.monotonic() - wall, time.process_time() - cpu))
            contacts += data.ncon
            if step % every == 0:
                frame[movable] = data.qpos.reshape(-1, 7)
                frame.tofile(poses)
            if time.monotonic() - begin > seconds:
                break
    times = numpy.array(times)
    times.tofile(out + ".times")
    wall, cpu = 1e3 * times.mean(axis=0)
    print(
        json.dumps(
            {
                "engine": "MuJoCo",
                "version": mujoco.__version__,
                "steps": len(times),
                "contacts_mean": contacts / len(times),
                "wall_ms": wall,
                "cpu_ms": cpu,
                "peak_memory_bytes": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024,
            }
        )
    )


main()
