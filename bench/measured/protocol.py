"""The protocol of docs/measured.md: all engines on the tosses of a cube, through one driver.

    pip install . mujoco pybullet
    python bench/measured/protocol.py TOSSES.csv.gz                   the table of engines, in pairs
    python bench/measured/protocol.py TOSSES.csv.gz --refinements     what each part of the model is worth
    python bench/measured/protocol.py TOSSES.csv.gz --identify        the search for Tippe's numbers, anew for each of five folds
    python bench/measured/protocol.py TOSSES.csv.gz --search mujoco   the search for a peer's numbers; or bullet
    python bench/measured/protocol.py TOSSES.csv.gz --pictures docs/figures

The table has the columns toss, frame, x y z (m, the middle of the cube), qw qx qy qz. The program says what it finds wrong with the data before anything
else: a free fall that is not 9.81 m/s^2, or a cube that does not rest at half its width.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import tippe
from tippe import measured
from tippe.measured.scores import values_of
from tippe.measured.starts import adapt_starts
from tippe.scene_files import with_paths

SCENE = Path(__file__).parent / "cube.json"
WIDTH, MASS, INERTIA, FRICTION, RESTITUTION = 0.1048, 0.37, 0.00081, 0.18, 0.125
IDENTIFIED: dict[str, Any] = {
    "bodies.cube.center_of_mass.2": 0.0057, "bodies.cube.inertia*": 1.309, "materials.acrylic.friction.dynamic": 0.225,
    "materials.acrylic.friction.impact": 0.162, "materials.acrylic.restitution": 0.242, "bodies.cube.shapes.0.radius": 0.003,
}
"""On 100 tosses (docs/measured.md)."""
STEPPER, LAW = "stewart-trinkle", {"options.impact_law": "poisson"}
BEST = "stewart-trinkle, Poisson, identified"
BOUNDS = {
    "bodies.cube.center_of_mass.2": (-0.01, 0.01), "bodies.cube.inertia*": (0.8, 1.6), "materials.acrylic.friction.dynamic": (0.1, 0.3),
    "materials.acrylic.friction.impact": (0.1, 0.3), "materials.acrylic.restitution": (0.0, 0.5),
}
PEERS: dict[str, tuple[tuple[str, ...], tuple[float, ...], tuple[float, ...]]] = {
    "mujoco": (("inertia", "friction", "time constant", "damping ratio", "impratio", "centre of mass"),
               (0.0010, 0.18, 0.006, 0.6, 1.0, 0.0), (0.0001, 0.015, 0.003, 0.15, 0.5, 0.003)),
    "bullet": (("inertia", "friction", "restitution", "centre of mass"), (0.0010, 0.18, 0.2, 0.0), (0.0001, 0.015, 0.06, 0.003)),
}
"""What is searched of a peer: names, where the search begins, and its spread."""
FOUND: dict[str, tuple[float, ...]] = {
    "mujoco": (0.00110, 0.181, 0.00706, 0.785, 0.734, 0.0056),
    "bullet": (0.00107, 0.180, 0.219, 0.0054),
}
"""What --search found on the 100 tosses."""
Starts = list[tuple[dict[str, measured.Start], float]]


def check_scale(motions: list[measured.Motion], starts: Starts) -> dict[str, float]:
    """Free fall and the height at rest, in parts of what they should be."""
    falls, heights = [], []
    for motion, (start, _) in zip(motions, starts):
        poses = next(iter(motion.bodies.values()))
        count = next(iter(start.values())).poses
        if count >= 8:
            falls.append(-2 * np.polyfit(motion.time[:count], poses.position[:count, 2], 2)[0] / 9.81)
        heights.append(poses.position[-1, 2] / (WIDTH / 2))
    return {"free fall": float(np.median(falls)), "height at rest": float(np.median(heights))}


def center_in_flight(motions: list[measured.Motion], starts: Starts, resamples: int = 300) -> tuple[np.ndarray, np.ndarray]:
    """The centre of mass from free flight alone, m, with standard errors: it flies along a parabola, the middle of the cube about it."""
    from tippe.measured.turns import turn_vectors

    parts = []
    for motion, (start, _) in zip(motions, starts):
        (name, given), = start.items()
        count, poses = given.poses, motion.bodies[name]
        t = motion.time[:count] - motion.time[0]
        line = np.stack([np.ones(count), t], axis=1)
        rest = np.eye(count) - line @ np.linalg.pinv(line)  # takes straight motion away
        fall = poses.position[:count] - 0.5 * np.outer(t**2, [0, 0, -9.81])
        turned = np.stack([turn_vectors(poses.rotation[:count], axis) for axis in np.eye(3)], axis=2)  # (count, world, body)
        design = np.concatenate([rest @ turned[:, k] for k in range(3)])
        parts.append((design.T @ design, design.T @ np.concatenate([rest @ fall[:, k] for k in range(3)])))
    random = np.random.default_rng(0)

    def solve(chosen: Sequence[int]) -> np.ndarray:
        return -np.linalg.solve(sum(parts[k][0] for k in chosen), sum(parts[k][1] for k in chosen))

    again = [solve(random.integers(0, len(parts), len(parts)).tolist()) for _ in range(resamples)]
    return solve(range(len(parts))), np.std(again, axis=0)


class Protocol:
    """The tosses, their starts, and what was scored."""

    def __init__(self, path: str, rate: float, scale: float) -> None:
        self.frame = 1 / rate
        self.motions = measured.read(path, body="cube", rate=rate, scale=scale, point="frame")
        self.starts = measured.starts_of(str(SCENE), self.motions)
        self.tables: dict[str, pd.DataFrame] = {}

    def starts_with(self, center: float) -> Starts:
        """Starts of a cube whose centre of mass lies beside its middle, for engines that are not Tippe."""
        document = json.loads(SCENE.read_text())
        document["bodies"][1]["center_of_mass"] = [0.0, 0.0, center]
        world = tippe.load(document)
        return [(dict(adapt_starts(world, motion, start)), touch) for motion, (start, touch) in zip(self.motions, self.starts)]

    def check(self) -> None:
        scale = check_scale(self.motions, self.starts)
        print(f"{len(self.motions)} tosses; free fall {scale['free fall']:.4f} of 9.81 m/s^2, height at rest {scale['height at rest']:.4f} of half the width")
        if max(abs(value - 1) for value in scale.values()) > 0.01:
            print("lengths seem to be wrong: see --scale", file=sys.stderr)
        noise = np.median([next(iter(start.values())).position_noise for start, _ in self.starts]) / WIDTH
        print(f"noise of positions in free flight: {100 * noise:.2f} percent of the width")
        center, error = center_in_flight(self.motions, self.starts)
        print("centre of mass beside the middle, from free flight alone: " + ", ".join(f"{1e3 * c:.1f} +- {1e3 * e:.1f} mm" for c, e in zip(center, error)))

    def run(self, name: str, engine: Any, starts: Starts | None = None, **arguments: Any) -> pd.DataFrame:
        began = time.process_time()
        table = measured.score(engine, self.motions, starts=starts or self.starts, size=WIDTH, **arguments)
        self.tables[name] = table
        per_toss = (time.process_time() - began) / len(self.motions)
        medians = table[["position", "angle", "final_position", "final_angle"]].median()
        print(f"{name:44s} {100 * medians['position']:6.2f} %  {medians['angle']:6.2f} deg   final {100 * medians['final_position']:6.2f} %  "
              f"{medians['final_angle']:6.2f} deg   {1e3 * per_toss:7.1f} ms a toss", flush=True)
        return table

    def peer(self, which: str, numbers: Sequence[float]) -> tuple[Any, Starts]:
        import peers

        if which == "mujoco":
            inertia, friction, constant, ratio, impratio, center = numbers
            step = self.frame / 8  # a contact spring needs a time constant of two steps
            return peers.mujoco(WIDTH, MASS, inertia, friction, step, cone="elliptic", solref=(max(constant, 2 * step), ratio), impratio=max(impratio, 0.1),
                                center=(0, 0, center)), self.starts_with(center)
        inertia, friction, restitution, center = numbers
        return peers.bullet(WIDTH, MASS, inertia, friction, max(restitution, 0), self.frame / 10, center=(0, 0, center)), self.starts_with(center)


def loss_of(table: pd.DataFrame) -> float:
    return float(np.log(table[["position", "angle"]].to_numpy(float)).sum(axis=1).mean())


def compare_engines(protocol: Protocol) -> None:
    frame = protocol.frame
    for stepper in ("stewart-trinkle", "anitescu", "bender-schmitt", "chakraborty-trinkle"):
        protocol.run(f"{stepper}, given numbers", str(SCENE), stepper=stepper, step=frame / 4)
    best = protocol.run(BEST, str(SCENE), parameters={**IDENTIFIED, **LAW}, stepper=STEPPER, step=frame / 4)
    protocol.run(f"{BEST}, step 1/2", str(SCENE), parameters={**IDENTIFIED, **LAW}, stepper=STEPPER, step=frame / 8)
    for stepper in ("anitescu", "bender-schmitt"):
        protocol.run(f"{stepper}, identified", str(SCENE), parameters=IDENTIFIED, stepper=stepper, step=frame / 4)
    try:
        import peers

        for cone in ("pyramidal", "elliptic"):
            protocol.run(f"MuJoCo, {cone} cone, given numbers", peers.mujoco(WIDTH, MASS, INERTIA, FRICTION, frame / 8, cone=cone))
        protocol.run("MuJoCo, elliptic cone, searched", *protocol.peer("mujoco", FOUND["mujoco"]))
        protocol.run("Bullet, given numbers", peers.bullet(WIDTH, MASS, INERTIA, FRICTION, RESTITUTION, frame / 10))
        protocol.run("Bullet, searched", *protocol.peer("bullet", FOUND["bullet"]))
    except ImportError as error:
        print(f"left out: {error}")
    print(f"\n{BEST}, less the others, in pairs: median of the difference, and its interval of 95 percent")
    for name, table in protocol.tables.items():
        if table is not best:
            print(f"{name:44s} {difference(best, table)}")


def show_toss(protocol: Protocol) -> tuple[measured.Motion, dict[str, measured.Poses]]:
    """The toss whose error is the median one, as it was measured and as it is predicted."""
    table = protocol.tables[BEST]
    row = int((table["position"] - table["position"].median()).abs().to_numpy().argmin())
    motion, (start, _) = protocol.motions[row], protocol.starts[row]
    document = json.loads(SCENE.read_text())
    made = {}
    for name, parameters in (("given numbers", {}), ("identified numbers", {**IDENTIFIED, **LAW})):
        world = tippe.load(with_paths(document, values_of(document, parameters)), stepper=STEPPER)
        made[name] = measured.simulate(world, motion, start, protocol.frame / 4)["cube"]
    return motion, made


def difference(a: pd.DataFrame, b: pd.DataFrame) -> str:
    place, angle = measured.paired_difference(a, b), measured.paired_difference(a, b, "angle")
    return (f"{100 * place['median']:6.2f} % [{100 * place['low']:6.2f}, {100 * place['high']:6.2f}]   "
            f"{angle['median']:6.2f} deg [{angle['low']:6.2f}, {angle['high']:6.2f}]")


REFINEMENTS: dict[str, list[dict[str, Any]]] = {
    "without the centre of mass": [{"bodies.cube.center_of_mass.2": 0.0}],
    "without friction of impacts": [{"materials.acrylic.friction.dynamic": mu, "materials.acrylic.friction.impact": mu} for mu in (0.17, 0.18, 0.19)],
    "without the inertia": [{"bodies.cube.inertia*": 1.0}],
    "without rounded edges": [{"bodies.cube.shapes.0.radius": 0.0003}],
    "restitution as given": [{"materials.acrylic.restitution": 0.125}],
    "centre of mass sideways": [{f"bodies.cube.center_of_mass.{axis}": shift} for axis in (0, 1) for shift in (-0.0005, 0.0005)],
    "inertia of one axis": [{"bodies.cube.inertia": [0.00106 * (1.04 if axis == k else 0.98) for k in range(3)]} for axis in range(3)],
    "no bounce of slow impacts": [{"options.restitution_threshold": speed} for speed in (0.2, 0.4, 0.7, 1.0)],
    "tilt of the plane": [{f"gravity.{axis}": shift} for axis in (0, 1) for shift in (-0.03, 0.03)],
    "torsional friction": [{"materials.acrylic.friction.torsional": arm} for arm in (0.001, 0.003)],
    "static friction above dynamic": [{"materials.acrylic.friction.static": mu} for mu in (0.25, 0.3)],
    "width of the cube": [{"bodies.cube.shapes.0.size*": factor} for factor in (0.995, 1.005)],
}
"""Changes of the identified model; of each the one with the least loss is told."""
LAWS: dict[str, list[tuple[str, dict[str, Any]]]] = {
    "Newton's restitution": [("stewart-trinkle", {"options.impact_law": "newton"})],
    "Newton's restitution, anitescu": [("anitescu", {})],
    "Poisson's restitution, exact path of impacts": [("mirtich-canny", {"options.restitution_law": "poisson"})],
    "Stronge's restitution, exact path of impacts": [("mirtich-canny", {"options.restitution_law": "stronge"})],
    "compliance of contacts (penalty)": [("penalty", {"options.stiffness": k, "options.exponent": 1.0, "options.damping": d}) for k, d in ((2e4, 0.5), (1e5, 0.5))],
}


def refine(protocol: Protocol, names: Sequence[str] = ()) -> dict[str, Any]:
    """What each change of the identified model is worth: its error less that of the identified model; above zero it loses."""
    step = protocol.frame / 2
    best = measured.score(str(SCENE), protocol.motions, starts=protocol.starts, parameters={**IDENTIFIED, **LAW}, stepper=STEPPER, step=step, size=WIDTH)
    found: dict[str, Any] = {}
    trials = {name: [(STEPPER, {**LAW, **change}) for change in changes] for name, changes in REFINEMENTS.items()}
    for name, tried in {**trials, **LAWS}.items():
        if names and name not in names:
            continue
        results = []
        for stepper, change in tried:
            given = {path: value for path, value in IDENTIFIED.items() if not (path.endswith("inertia*") and "bodies.cube.inertia" in change)}
            try:
                table = measured.score(str(SCENE), protocol.motions, starts=protocol.starts, parameters={**given, **change}, stepper=stepper,
                                       step=step / 4 if stepper == "penalty" else step, size=WIDTH)
            except (ValueError, RuntimeError) as error:
                print(f"{name}: {error}", file=sys.stderr)
                continue
            results.append((loss_of(table), json.dumps(change), table))
        if results:
            _, change, table = min(results, key=lambda result: result[0])
            print(f"{name:46s} {difference(table, best)}   {100 * table['position'].median():5.2f} % {table['angle'].median():5.2f} deg   {change}", flush=True)
            found[name] = {"change": change, "position": measured.paired_difference(table, best), "angle": measured.paired_difference(table, best, "angle")}
    return found


def identify(protocol: Protocol, trials: int, stepper: str) -> None:
    """Tippe's numbers, from those of the source; and held-out scores with a search of its own for each fold."""
    document = json.loads(SCENE.read_text())
    document["bodies"][1]["shapes"][0]["radius"] = IDENTIFIED["bodies.cube.shapes.0.radius"]
    document["materials"]["acrylic"]["friction"]["impact"] = FRICTION
    found = measured.fit(document, protocol.motions, BOUNDS, starts=protocol.starts, stepper=stepper, step=protocol.frame, size=WIDTH, trials=trials,
                         explore=0.0, nested=True)
    print(found)
    print(found.fold_values.to_string(float_format=lambda value: f"{value:.4g}"))
    for column, unit in (("position", 100.0), ("angle", 1.0)):
        row = measured.summarise(found.held_out).loc[column]
        print(f"held out: {column} {unit * row['median']:.2f} [{unit * row['low']:.2f}, {unit * row['high']:.2f}]")


def search_peer(protocol: Protocol, which: str, trials: int) -> None:
    """A peer's numbers on the same tosses: CMA-ES on the same loss as Tippe's."""
    import cma

    names, begin, spread = PEERS[which]

    def numbers(point: np.ndarray) -> np.ndarray:
        return np.array(begin) + np.array(spread) * point

    def score(point: np.ndarray) -> tuple[float, pd.DataFrame]:
        engine, starts = protocol.peer(which, np.maximum(numbers(point), [1e-4] * (len(names) - 1) + [-0.05]).tolist())
        table = measured.score(engine, protocol.motions, starts=starts, size=WIDTH)
        return loss_of(table), table

    strategy: Any = cma.CMAEvolutionStrategy(np.zeros(len(names)), 1.0, {"popsize": 8, "seed": 1, "verbose": -9})
    done, best = 0, (np.inf, np.zeros(len(names)))
    while done < trials:
        points = strategy.ask()
        losses = [score(point)[0] for point in points]
        strategy.tell(points, losses)
        done += len(points)
        best = min(best, (min(losses), points[int(np.argmin(losses))]), key=lambda pair: pair[0])
    for what, point in (("best", best[1]), ("mean of the search", strategy.mean)):
        loss, table = score(np.asarray(point))
        print(f"{which}, {what}: loss {loss:.4f}, {100 * table['position'].median():.2f} %, {table['angle'].median():.2f} deg: "
              + ", ".join(f"{name} {value:.5g}" for name, value in zip(names, numbers(np.asarray(point)))), flush=True)


def main() -> int:
    parser = argparse.ArgumentParser(description="Holds engines against measured tosses of a cube.")
    parser.add_argument("tosses")
    parser.add_argument("--rate", type=float, default=148.0, help="frames a second (148)")
    parser.add_argument("--scale", type=float, default=1.0, help="factor of all lengths")
    parser.add_argument("--json", metavar="FILE", help="writes the scores of the engines")
    parser.add_argument("--refinements", action="store_true")
    parser.add_argument("--identify", action="store_true")
    parser.add_argument("--search", choices=list(PEERS))
    parser.add_argument("--trials", type=int, default=120, help="of a search (120)")
    parser.add_argument("--stepper", default="anitescu", help="of --identify")
    parser.add_argument("--pictures", metavar="FOLDER")
    given = parser.parse_args()
    protocol = Protocol(given.tosses, given.rate, given.scale)
    protocol.check()
    if given.refinements:
        gains = refine(protocol)
        if given.pictures:
            import pictures

            pictures.draw_gains(gains, Path(given.pictures) / "measured_gains.svg")
    elif given.identify:
        identify(protocol, given.trials, given.stepper)
    elif given.search:
        search_peer(protocol, given.search, given.trials)
    else:
        compare_engines(protocol)
        if given.pictures:
            import pictures

            drawn = [name for name in protocol.tables if not any(word in name for word in ("step 1/2", "pyramidal", "chakraborty", "bender", "stewart-trinkle, given"))]
            pictures.draw_errors({name: protocol.tables[name] for name in drawn}, BEST, Path(given.pictures) / "measured_errors.svg")
            pictures.draw_toss(*show_toss(protocol), Path(given.pictures) / "measured_toss.svg")
        if given.json:
            summary = {name: measured.summarise(table).to_dict(orient="index") for name, table in protocol.tables.items()}
            Path(given.json).write_text(json.dumps({"tosses": len(protocol.motions), "scores": summary}, indent=2) + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
