"""Runs all engines on the benchmark scenes, interleaved, and writes bench/results/engines.{csv,md}.

Every step does the same work in every repetition, so that what a step costs is the least CPU time it took in any
of them; the table has the mean of these minima over the steps. All run on one thread with sleeping off. How deep
bodies overlap is measured by one ruler, Tippe's collider, on poses that every engine writes down.

    compare.py BUILD PYTHON_WITH_MUJOCO [SCENE...]

TIPPE_BENCH_REPEATS (3), TIPPE_BENCH_PART (1: of the steps of each scene), TIPPE_BENCH_SECONDS (120: a run of
MuJoCo at most) and TIPPE_BENCH_ENGINES (tippe,bullet,ode,mujoco) may be set.
"""

import csv
import json
import os
import pathlib
import subprocess
import sys
import tempfile

import numpy

ROOT = pathlib.Path(__file__).resolve().parents[2]
RESULTS = ROOT / "bench" / "results"

# Steps of each scene, how often poses are written down, and Tippe's options.
SCENES = {
    "funnel1ms": (6000, 20, ["push_out_speed=3"]),
    "funnel60": (360, 1, ["push_out_speed=3"]),
    "pyramid50": (900, 10, ["push_out_speed=3"]),
    "spherepile": (360, 6, ["push_out_speed=3"]),
}


def commands(build, python, seconds):
    """Name, program and further arguments of each engine."""
    bench = pathlib.Path(build) / "bench"
    script = str(ROOT / "bench" / "engines" / "run_mujoco.py")
    return {
        "tippe": ([str(bench / "run_tippe")], []),
        "bullet": ([str(bench / "run_bullet")], []),
        "ode": ([str(bench / "run_ode")], []),
        "mujoco": ([python, script], [str(seconds)]),
    }


def run(program, scene, steps, every, out, more):
    command = [*program, scene, str(steps), str(every), out, *more]
    environment = dict(os.environ, TIPPE_STEPPER="small-steps")
    done = subprocess.run(command, capture_output=True, text=True, check=False, env=environment)
    if done.returncode != 0:
        raise SystemExit(f"{' '.join(command)}: {done.stderr}")
    return json.loads(done.stdout.splitlines()[-1])


def measure(build, name, engines, table, repeats, part, folder):
    steps, every, options = SCENES[name]
    steps = max(every, int(steps * part))
    scene = str(ROOT / "scenes" / "bench" / f"{name}.json")
    least, rows = {}, {}
    for repeat in range(repeats):
        for engine in engines:
            program, more = table[engine]
            out = str(pathlib.Path(folder) / f"{name}.{engine}")
            more = options if engine == "tippe" else more
            rows[engine] = run(program, scene, steps, every, out, more)
            times = numpy.fromfile(out + ".times").reshape(-1, 2)[:, 1]
            if engine in least:
                both = min(len(times), len(least[engine]))
                times = numpy.minimum(times[:both], least[engine][:both])
            least[engine] = times
            print(f"{name} {engine} {repeat}: {1e3 * times.mean():.3f} ms", file=sys.stderr)
    for engine in engines:
        out = str(pathlib.Path(folder) / f"{name}.{engine}.poses")
        ruler = subprocess.run(
            [str(pathlib.Path(build) / "bench" / "ruler"), scene, out],
            capture_output=True,
            text=True,
            check=True,
        )
        rows[engine].update(json.loads(ruler.stdout))
        rows[engine]["ms"] = 1e3 * float(least[engine].mean())
        rows[engine]["ms_median"] = 1e3 * float(numpy.median(least[engine]))
        rows[engine]["scene"] = name
    return rows


COLUMNS = [
    "scene",
    "engine",
    "ms",
    "ms_median",
    "steps",
    "contacts_mean",
    "penetration_max",
    "penetration_deepest_mean",
    "penetration_mean",
    "top",
    "lost",
    "residual_max",
    "residual_mean",
    "iterations_mean",
    "peak_memory_bytes",
]


def about(build):
    def say(*command):
        return subprocess.run(command, capture_output=True, text=True, check=False).stdout.strip()

    model = [line for line in open("/proc/cpuinfo", encoding="utf-8") if "model name" in line]
    return [
        model[0].split(":", 1)[1].strip(),
        say("cc", "--version").splitlines()[0],
        "Bullet " + say("dpkg-query", "-W", "-f", "${Version}", "libbullet-dev"),
        "ODE " + say("dpkg-query", "-W", "-f", "${Version}", "libode-dev"),
        "commit " + say("git", "-C", str(ROOT), "rev-parse", "--short", "HEAD"),
    ]


def write(rows, head):
    RESULTS.mkdir(exist_ok=True)
    with open(RESULTS / "engines.csv", "w", encoding="utf-8", newline="") as file:
        file.write("# " + "; ".join(head) + "\n")
        table = csv.DictWriter(file, COLUMNS, restval="", extrasaction="ignore", lineterminator="\n")
        table.writeheader()
        for row in rows:
            table.writerow({k: f"{v:.6g}" if isinstance(v, float) else v for k, v in row.items()})
    with open(RESULTS / "engines.md", "w", encoding="utf-8") as file:
        file.write("# Steps of whole scenes\n\n" + "; ".join(head) + ". One thread, sleeping off; `bench/engines/run.sh`.\n\n")
        file.write("| scene | engine | steps | ms/step | x Tippe | contacts | overlap max / mean mm | top m | residual mean | MB |\n")
        file.write("|---|---|---|---|---|---|---|---|---|---|\n")
        ours = {row["scene"]: row["ms"] for row in rows if row["engine"] == "tippe"}
        for row in rows:
            ratio = row["ms"] / ours[row["scene"]] if row["scene"] in ours else float("nan")
            residual = f"{row['residual_mean']:.1e}" if "residual_mean" in row else ""
            file.write(
                f"| {row['scene']} | {row['engine']} | {row['steps']:.0f} | {row['ms']:.3g} | {ratio:.2f} | {row['contacts_mean']:.0f} "
                f"| {1e3 * row['penetration_max']:.3g} / {1e3 * row['penetration_mean']:.3g} "
                f"| {row['top']:.2f} | {residual} | {row['peak_memory_bytes'] / 1e6:.0f} |\n"
            )


def earlier(names):
    """Rows of scenes that are not run this time."""
    if not (RESULTS / "engines.csv").exists():
        return []
    with open(RESULTS / "engines.csv", encoding="utf-8") as file:
        kept = [row for row in csv.DictReader(line for line in file if line[0] != "#") if row["scene"] not in names]
    for row in kept:
        for key in [key for key in row if key not in ("scene", "engine")]:
            if row[key] == "":
                del row[key]
            else:
                row[key] = float(row[key])
    return kept


def main():
    build, python, *names = sys.argv[1:]
    repeats = int(os.environ.get("TIPPE_BENCH_REPEATS", "3"))
    part = float(os.environ.get("TIPPE_BENCH_PART", "1"))
    seconds = float(os.environ.get("TIPPE_BENCH_SECONDS", "120"))
    engines = os.environ.get("TIPPE_BENCH_ENGINES", "tippe,bullet,ode,mujoco").split(",")
    table = commands(build, python, seconds)
    rows = earlier(names or SCENES)
    with tempfile.TemporaryDirectory() as folder:
        for name in names or SCENES:
            rows += measure(build, name, engines, table, repeats, part, folder).values()
            write(rows, about(build))


main()
