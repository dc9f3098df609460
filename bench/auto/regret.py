#!/usr/bin/env python3
"""What `auto` costs and how right it is, beside the best fixed stepper and step in hindsight.

usage: python3 bench/auto/regret.py PROGRAM [SCENE ...] [--accuracies 1e-2,1e-3,1e-4] [--instructions] [--keep FOLDER] [--json FILE]

Without scenes: those of the repository that have a closed form or a reference, or whose paths can be followed. For every scene
and accuracy: the largest error of a position in parts of the accuracy times the length of the scene (1 or less: met), the wall
time of stepping, the time of the cheapest fixed run that is as accurate as was asked, their ratio (the regret), and the time
that a fixed step of `anitescu` needs in parts of that of `auto`: one that is as accurate as was asked, and one that is as
accurate as `auto` is ("as good"; if none of the steps is, there is no figure). Times are the least of several runs. A fixed step that is
longer than the scene's gives fewer states than `auto` does; "alike" is the regret of `auto` at that step, if it is as
accurate there: the same states for both.

With --instructions the cost is the instructions of stepping, counted by valgrind (callgrind) from the first step to the last:
other work on the machine does not change them. Fixed runs that take more than FAR times the time of the fastest one that is
as accurate are not counted. With --keep, truths and fixed runs are kept in a folder, and later runs of this program measure
`auto` alone: remove the folder when a fixed stepper has changed.

The truth is the closed form where a scene has one, or the positions that references.py, further.py and machines.py write beside a
scene with --write. Otherwise `anitescu`, `bender-schmitt` and `chakraborty-trinkle` are run at a
64th of the scene's step or less, and at twice that: the one whose two runs differ least is the truth, if another one agrees.
What is asked for below three times that difference is left out: nobody knows.
"""
import argparse
import csv
import hashlib
import json
import statistics
import subprocess
import tempfile
from pathlib import Path

FOLDER = Path(__file__).resolve().parents[2] / "scenes"
SCENES = """board/bounce board/free_fall board/hold board/hook board/platter board/stopping board/torsion board/stack10
board/double_pendulum board/t_handle bouncing_ball ball_wall block_ramp disc_slip disc_rolling sphere_spinning
double_pendulum heavy_top four_bar t_handle pendulum_wall door cart_pole falling_rod four_balls tippe_top euler_disc
ball_platter ellipsoid_on_ellipsoid thrust_bearing rattleback/rattleback lens""".split()
FIXED = "anitescu,stewart-trinkle,mirtich-canny,chakraborty-trinkle,bender-schmitt,penalty,small-steps".split(",")
REPEATS = 5
NOTHING = 1e-9  # m: errors below are rounding


LIMIT = 20  # s of a run
TRUTH_LIMIT = 120  # s of one that others are held against
COUNT_LIMIT = 400  # s of a run that is counted
WITNESSES = (("anitescu", 128), ("bender-schmitt", 64), ("chakraborty-trinkle", 64))  # of them truths; the step's parts
FAR = 4  # times: other fixed runs are not counted
COARSEST = 4  # steps of the scene: the largest fixed step, and the time between samples


def run(program, scene, stepper, step, every, *options, limit=None, names=None):
    """The sampled positions of all bodies, or of those that are named, and the summary, or None where the run did not end in time."""
    with tempfile.TemporaryDirectory() as folder:
        table = Path(folder) / "run.csv"
        command = [program, "run", str(scene), "--stepper", stepper, "--step", f"{step:.15g}", "--json", "--csv", str(table),
                   "--every", str(every), *options]
        try:
            text = subprocess.run(command, capture_output=True, text=True, timeout=limit or LIMIT).stdout
            summary = json.loads(text)
        except (subprocess.TimeoutExpired, json.JSONDecodeError):
            return None
        with table.open() as rows:
            reader = csv.reader(rows)
            head = next(reader)
            places = [i for i, name in enumerate(head) if name.endswith((".x", ".y", ".z"))
                      and (names is None or name[:-2] in names)]
            return [[float(row[i]) for i in places] for row in reader], summary


def apart(first, second):
    """The largest distance of a body in two tables."""
    worst = 0.0
    for a, b in zip(first, second):
        for k in range(0, len(a), 3):
            worst = max(worst, sum((x - y) ** 2 for x, y in zip(a[k:k + 3], b[k:k + 3])) ** 0.5)
    return worst


def by_closed_form(program, scene, stepper, step, *options):
    """The error that `compare` finds, or None."""
    command = [program, "compare", str(scene), "--steppers", stepper, "--json", "--quiet", "--jobs", "1", "--limit",
               str(LIMIT), "--steps", f"{step:.15g}", "--against", "closed-form", *options]
    answer = json.loads(subprocess.run(command, capture_output=True, text=True).stdout)
    runs = [entry for entry in answer["runs"] if not entry["is_truth"] and entry["status"] == "done"]
    return runs[0]["error_position"] if runs else None


def counted(program, scene, stepper, step, *options):
    """The instructions of stepping, or infinity where counting takes too long."""
    command = ["valgrind", "--tool=callgrind", "--toggle-collect=tpWorld_Step", "--callgrind-out-file=/dev/null", program, "run",
               str(scene), "--stepper", stepper, "--step", f"{step:.12g}", "--json", *options]
    try:
        told = subprocess.run(command, capture_output=True, text=True, timeout=COUNT_LIMIT).stderr
    except subprocess.TimeoutExpired:
        return float("inf")
    return float(told.split("Collected :")[1].split()[0])


def timed(program, scene, stepper, step, *options):
    """The least wall time of stepping."""
    command = [program, "run", str(scene), "--stepper", stepper, "--step", f"{step:.12g}", "--json", *options]
    least, spent = float("inf"), 0.0
    for _ in range(REPEATS):
        time = json.loads(subprocess.run(command, capture_output=True, text=True).stdout)["wall_time"]
        least, spent = min(least, time), spent + time
        if spent > 4.0:
            break
    return least


def summary_of(program, scene, *options):
    """What `auto` says of its run."""
    command = [program, "run", str(scene), "--stepper", "auto", "--json", *options]
    return json.loads(subprocess.run(command, capture_output=True, text=True).stdout)


def length_of(program, scene):
    """The length that accuracies are parts of, and the scene's step."""
    summary = summary_of(program, scene, "--set", "accuracy=1e-2")
    return summary["error_asked"] / 1e-2, summary["simulated_time"] / summary["steps"]


class Shelf:
    """What truths and fixed runs gave, kept from run to run of this script."""

    def __init__(self, folder):
        self.folder = Path(folder) if folder else None
        if self.folder:
            self.folder.mkdir(parents=True, exist_ok=True)

    def get(self, make, *key):
        """What was kept under the key, or what `make` gives now."""
        if not self.folder:
            return make()
        path = self.folder / (hashlib.sha256(repr(key).encode()).hexdigest()[:24] + ".json")
        if path.exists():
            return json.loads(path.read_text())
        value = make()
        path.write_text(json.dumps(value))
        return value


class Truth:
    """What a scene's runs are held against."""

    def __init__(self, program, scene, step, shelf):
        self.program, self.scene, self.step, self.shelf = program, scene, step, shelf
        self.text = Path(scene).read_text()
        # A closed form may tell nothing of positions.
        self.is_closed = '"closed_form"' in self.text and by_closed_form(program, scene, "anitescu", step) is not None
        self.doubt, self.table, self.names = 0.0, None, None
        known = Path(scene).with_suffix(".truth")
        if not self.is_closed and known.exists():
            self.read(json.loads(known.read_text()))
        elif not self.is_closed:
            self.doubt, self.table = shelf.get(self.find, "truth", self.text, step)

    def read(self, known):
        """What a script that knows the motion has written."""
        places, every = known["places"], round(COARSEST * self.step / known["step"])
        head = [body["name"] for body in json.loads(self.text)["bodies"]]
        self.names = [name for name in head if name in places]
        count = len(places[self.names[0]])
        self.table = [[x for name in self.names for x in places[name][k]] for k in range(0, count, every)]

    def find(self):
        """By small steps: their doubt and the positions. Each of some steppers is run with two steps; the one whose runs differ
        least tells, if another one agrees with it within three times what the runs of both differ by."""
        found = []
        for stepper, parts in WITNESSES:
            tables = [run(self.program, self.scene, stepper, self.step / part, part * COARSEST, limit=TRUTH_LIMIT)
                      for part in (parts, parts // 2)]
            if None not in tables and len(tables[0][0]) == len(tables[1][0]):
                found.append((apart(tables[0][0], tables[1][0]), tables[0][0]))
        found.sort(key=lambda pair: pair[0])
        if len(found) < 2:
            return float("inf"), None
        doubt, table = found[0]
        agrees = any(apart(table, other) <= 3.0 * (doubt + more) for more, other in found[1:])
        return (doubt, table) if agrees else (float("inf"), None)

    def error(self, stepper, step, *options):
        if self.is_closed:
            return by_closed_form(self.program, self.scene, stepper, step, *options)
        found = run(self.program, self.scene, stepper, step, round(COARSEST * self.step / step), *options,
                    names=self.names)
        return apart(found[0], self.table) if found else None

    def fixed_errors(self):
        """Errors of all fixed runs that end; a stepper that took too long is not tried at smaller steps."""
        errors = {}
        for stepper in FIXED:
            for k in range(2, -7, -1):
                size = self.step * 2.0 ** k
                error = self.shelf.get(lambda: self.error(stepper, size), "error", self.text, stepper, size)
                if error is None:
                    break
                errors[(stepper, size)] = error
        return errors


class Costs:
    """What runs of a scene cost: seconds, or instructions."""

    def __init__(self, truth, counts):
        self.truth, self.measure = truth, counted if counts else timed
        self.counts = counts

    def fixed(self, stepper, step, measure=None):
        truth, measure = self.truth, measure or self.measure
        return truth.shelf.get(lambda: measure(truth.program, truth.scene, stepper, step),
                               measure.__name__, truth.text, stepper, step)

    def own(self, step, *options):
        """Of `auto`."""
        return self.measure(self.truth.program, self.truth.scene, "auto", step, *options)

    def cheapest(self, errors, allowed):
        """The least cost of a run whose error is allowed: of every stepper the largest such step."""
        sizes = {}
        for (stepper, size), error in errors.items():
            if error <= allowed:
                sizes[stepper] = max(size, sizes.get(stepper, 0.0))
        if self.counts and sizes:
            times = {stepper: self.fixed(stepper, size, timed) for stepper, size in sizes.items()}
            near = FAR * min(times.values())
            sizes = {stepper: size for stepper, size in sizes.items() if times[stepper] <= near}
        found = [(self.fixed(stepper, size), stepper, size) for stepper, size in sizes.items()]
        return min(found) if found else (float("inf"), None, None)


def look_at(program, scene, accuracies, shelf, counts):
    length, step = length_of(program, scene)
    truth = Truth(program, scene, step, shelf)
    known = [accuracy for accuracy in accuracies if 3.0 * truth.doubt <= max(accuracy * length, NOTHING)]
    errors = truth.fixed_errors() if known else {}
    costs = Costs(truth, counts)
    rows = []
    for accuracy in accuracies:
        if accuracy not in known:
            rows.append({"accuracy": accuracy, "status": f"left out: the truth is known to {truth.doubt / length:.1e}"})
            continue
        allowed = max(accuracy * length, NOTHING)
        option = ["--set", f"accuracy={accuracy:g}"]
        own = truth.error("auto", step, *option)
        if own is None:
            rows.append({"accuracy": accuracy, "status": "not ended"})
            continue
        summary = summary_of(program, scene, *option)
        spent = costs.own(step, *option)
        least, stepper, fixed = costs.cheapest(errors, allowed)
        alike = spent
        if stepper and fixed > 1.01 * step:
            coarse = truth.error("auto", fixed, *option)
            alike = costs.own(fixed, *option) if coarse is not None and coarse <= allowed else spent
        usual = [size for (name, size), error in errors.items() if name == "anitescu" and error <= allowed]
        small = costs.fixed("anitescu", max(usual)) if usual else None
        fine = [size for (name, size), error in errors.items() if name == "anitescu" and error <= max(own, NOTHING)]
        good = costs.fixed("anitescu", max(fine)) if fine else None
        rows.append({"accuracy": accuracy, "error": own / allowed, "estimate": summary["error_estimate"] / allowed,
                     "cost": spent, "best": least, "stepper": stepper, "step": fixed,
                     "regret": spent / least if stepper else None, "alike": alike / least if stepper else None,
                     "anitescu": small / spent if small else None, "as good": good / spent if good else None,
                     "notes": list(summary["notes"])})
    return {"scene": str(scene), "closed": truth.is_closed, "doubt": truth.doubt, "length": length, "rows": rows,
            "counts": counts}


def show(found):
    name = Path(found["scene"]).relative_to(FOLDER) if FOLDER in Path(found["scene"]).parents else found["scene"]
    unit, scale = ("M", 1e-6) if found["counts"] else ("ms", 1e3)
    for row in found["rows"]:
        if "error" not in row:
            print(f"{str(name)[:30]:30} {row['accuracy']:7g} {row['status']}")
            continue
        fixed = f"{row['stepper']} at {row['step']:.3g} s" if row["stepper"] else "none"
        regret = f"{row['regret']:6.2f}, alike {row['alike']:6.2f}" if row["regret"] else "     -"
        gain = f"{row['anitescu']:6.2f}" if row["anitescu"] else "     -"
        gain += f", as good {row['as good']:6.2f}" if row["as good"] else ", as good      -"
        print(f"{str(name)[:30]:30} {row['accuracy']:7g} error {row['error']:9.2g} estimate {row['estimate']:9.2g} "
              f"{scale * row['cost']:8.2f} {unit}, regret {regret} (best {fixed}), anitescu {gain}", flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("program")
    parser.add_argument("scenes", nargs="*")
    parser.add_argument("--accuracies", default="1e-2,1e-3,1e-4")
    parser.add_argument("--instructions", action="store_true", help="count instructions instead of taking times")
    parser.add_argument("--keep", metavar="FOLDER", help="keep truths and fixed runs there")
    parser.add_argument("--json")
    arguments = parser.parse_args()
    accuracies = [float(text) for text in arguments.accuracies.split(",")]
    scenes = [Path(name) for name in arguments.scenes] or [FOLDER / f"{name}.json" for name in SCENES]
    all_found = []
    for scene in scenes:
        all_found.append(look_at(arguments.program, scene, accuracies, Shelf(arguments.keep),
                                 arguments.instructions))
        show(all_found[-1])
    rows = [row for found in all_found for row in found["rows"] if not row.get("status", "").startswith("left out")]
    met = [row for row in rows if "error" in row and row["error"] <= 1.0]
    told = [row for row in rows if "error" in row and row["error"] > 1.0 >= row["estimate"] and not row["notes"]]
    regrets, alike = (sorted(row[key] for row in rows if row.get(key)) for key in ("regret", "alike"))
    gains, good = ([row[key] for row in rows if row.get(key)] for key in ("anitescu", "as good"))
    print(f"met: {len(met)} of {len(rows)}; missed and not said: {len(told)}")
    if regrets:
        within = [sum(value <= mark for value in regrets) for mark in (1.3, 2.5)]
        print(f"regret: median {statistics.median(regrets):.2f}, worst {regrets[-1]:.2f}; at most 1.3 in {within[0]}, 2.5 in "
              f"{within[1]} of {len(regrets)} cases")
        print(f"with the same states: median {statistics.median(alike):.2f}, worst {alike[-1]:.2f}")
    if gains:
        print(f"anitescu at a fixed step: {statistics.median(gains):.2f} times the cost of auto, in the median")
    if good:
        none = len([row for row in rows if "error" in row]) - len(good)
        print(f"anitescu at a fixed step that is as good: {statistics.median(good):.2f} times, in the median of {len(good)}; in "
              f"{none} more none of the steps is")
    if arguments.json:
        Path(arguments.json).write_text(json.dumps(all_found, indent=1))


if __name__ == "__main__":
    main()
