"""The protocol of docs/measured.md: all engines on the tosses of a cube, through one driver.

    pip install . mujoco pybullet
    python bench/measured/protocol.py TOSSES.csv.gz --rate 148 [--scale 1.0217] [--json results.json]

The table has the columns toss, frame, x y z (m), qw qx qy qz. The program says what it finds wrong with the data before anything else: a free fall that is
not 9.81 m/s^2, or a cube that does not rest at half its width.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from tippe import measured

SCENE = Path(__file__).parent / "cube.json"
WIDTH, MASS, INERTIA, FRICTION, RESTITUTION = 0.1048, 0.37, 0.00081, 0.18, 0.125
IDENTIFIED = {
    "materials.acrylic.friction.dynamic": 0.218, "materials.acrylic.friction.impact": 0.158, "materials.acrylic.restitution": 0.21,
    "bodies.cube.inertia*": 1.235, "bodies.cube.shapes.0.radius": 0.003,
}
"""On 100 tosses (docs/measured.md)."""


def check_scale(motions: list[measured.Motion], starts: list[Any]) -> dict[str, float]:
    """Free fall and the height at rest, in parts of what they should be."""
    falls, heights = [], []
    for motion, (start, _) in zip(motions, starts):
        poses = next(iter(motion.bodies.values()))
        count = next(iter(start.values())).poses
        if count >= 8:
            falls.append(-2 * np.polyfit(motion.time[:count], poses.position[:count, 2], 2)[0] / 9.81)
        heights.append(poses.position[-1, 2] / (WIDTH / 2))
    return {"free fall": float(np.median(falls)), "height at rest": float(np.median(heights))}


def main() -> int:
    parser = argparse.ArgumentParser(description="Holds engines against measured tosses of a cube.")
    parser.add_argument("tosses")
    parser.add_argument("--rate", type=float, default=148.0)
    parser.add_argument("--scale", type=float, default=1.0)
    parser.add_argument("--json")
    given = parser.parse_args()
    motions = measured.read(given.tosses, body="cube", rate=given.rate, scale=given.scale)
    starts = measured.starts_of(str(SCENE), motions)
    scale = check_scale(motions, starts)
    print(f"{len(motions)} tosses; free fall {scale['free fall']:.4f} of 9.81 m/s^2, height at rest {scale['height at rest']:.4f} of half the width")
    if max(abs(value - 1) for value in scale.values()) > 0.01:
        print("lengths seem to be wrong: see --scale", file=sys.stderr)
    noise = np.median([next(iter(start.values())).position_noise for start, _ in starts]) / WIDTH
    print(f"noise of positions in free flight: {100 * noise:.2f} percent of the width")

    tables: dict[str, pd.DataFrame] = {}

    def run(name: str, engine: Any, **arguments: Any) -> None:
        began = time.process_time()
        table = measured.score(engine, motions, starts=starts, size=WIDTH, **arguments)
        tables[name] = table
        per_toss = (time.process_time() - began) / len(motions)
        medians = table[["position", "angle", "final_position", "final_angle"]].median()
        print(f"{name:44s} {100 * medians['position']:6.2f} %  {medians['angle']:6.2f} deg   final {100 * medians['final_position']:6.2f} %  "
              f"{medians['final_angle']:6.2f} deg   {1e3 * per_toss:7.1f} ms a toss", flush=True)

    frame = 1 / given.rate
    for stepper in ("stewart-trinkle", "anitescu", "bender-schmitt", "chakraborty-trinkle"):
        run(f"{stepper}, given numbers", str(SCENE), stepper=stepper, step=frame / 4)
    run("anitescu, identified", str(SCENE), parameters=IDENTIFIED, step=frame / 4)
    run("anitescu, identified, step 1/2", str(SCENE), parameters=IDENTIFIED, step=frame / 8)
    try:
        import peers

        for cone in ("pyramidal", "elliptic"):
            run(f"MuJoCo, {cone} cone", peers.mujoco(WIDTH, MASS, INERTIA, FRICTION, frame / 8, cone=cone))
        run("MuJoCo, elliptic, stiff, identified inertia", peers.mujoco(WIDTH, MASS, INERTIA * 1.235, FRICTION, frame / 16, cone="elliptic", solref=(0.004, 0.6)))
        run("Bullet, given numbers", peers.bullet(WIDTH, MASS, INERTIA, FRICTION, RESTITUTION, frame / 10))
        run("Bullet, identified inertia and restitution", peers.bullet(WIDTH, MASS, INERTIA * 1.235, FRICTION, 0.2, frame / 10))
    except ImportError as error:
        print(f"left out: {error}")
    best = tables["anitescu, identified"]
    print("\nanitescu, identified, less the others, in pairs: median of the difference, and its interval of 95 percent")
    for name, table in tables.items():
        if name != "anitescu, identified":
            place, angle = measured.paired_difference(best, table), measured.paired_difference(best, table, "angle")
            print(f"{name:44s} {100 * place['median']:6.2f} % [{100 * place['low']:6.2f}, {100 * place['high']:6.2f}]   "
                  f"{angle['median']:6.2f} deg [{angle['low']:6.2f}, {angle['high']:6.2f}]")
    if given.json:
        summary = {name: measured.summarise(table).to_dict(orient="index") for name, table in tables.items()}
        Path(given.json).write_text(json.dumps({"tosses": len(motions), "scale": scale, "scores": summary}, indent=2) + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
