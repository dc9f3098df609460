#!/usr/bin/env python3
"""Measures Tippe's friction solvers on a folder of problems and draws the performance profiles of docs/solvers.md.

    bench/complementarity/profiles.py [DIR] [--program build/release/bin/tippe] [--limit 0.2]

DIR is what collection.py has made; its figures go to bench/results/solvers.csv. Without DIR the profiles are drawn from the
figures that are there. The other chart is that of bench/complementarity/run.sh: problems of Siconos, Tippe and Siconos.
"""
import argparse
import csv
import json
import os
import signal
import subprocess
import sys

ROOT = os.path.normpath(os.path.join(os.path.dirname(os.path.abspath(__file__)), "../.."))
sys.path.insert(0, os.path.join(ROOT, "tools"))
import plot  # noqa: E402

RESULTS = os.path.join(ROOT, "bench/results/solvers.csv")
AGAINST = os.path.join(ROOT, "bench/results/complementarity.csv")
SOLVERS = ["auto", "proximal", "interior", "newton", "nncg", "apgd", "gauss-seidel"]
TOLERANCE = 1e-8
FIELDS = ["problem", "contacts", "solver", "outcome", "residual", "iterations", "seconds"]


def measure(program, path, solver, limit):
    """One solve within `limit` seconds of CPU; beyond it the process is ended by its own timer."""
    done = subprocess.run([program, "solve", path, "--solver", solver, "--json"], capture_output=True, text=True, check=False,
                          preexec_fn=lambda: signal.setitimer(signal.ITIMER_PROF, limit))
    name = os.path.basename(path).removesuffix(".hdf5")
    if done.returncode in (0, 1) and done.stdout:
        answer = json.loads(done.stdout)
        return dict(zip(FIELDS, [name, answer["contacts"], solver, answer["status"], answer["residual"], answer["iterations"],
                                 answer["time"]]))
    if done.returncode == -signal.SIGPROF:
        return dict(zip(FIELDS, [name, 0, solver, "out of time", "", "", limit]))
    sys.exit(f"{path}: {done.stderr.strip()}")


def measure_all(program, folder, limit):
    listed = subprocess.run([program, "list"], capture_output=True, text=True, check=True).stdout.split()
    rows = []
    for file in sorted(os.listdir(folder)):
        of_file = [measure(program, os.path.join(folder, file), solver, limit) for solver in SOLVERS if solver in listed]
        contacts = max(row["contacts"] for row in of_file)
        rows += [dict(row, contacts=contacts) for row in of_file]
    with open(RESULTS, "w", newline="", encoding="utf-8") as out:
        out.write(f"# CPU seconds of the solve alone from a cold start, limit {limit} s, residual {TOLERANCE}\n")
        table = csv.DictWriter(out, FIELDS)
        table.writeheader()
        table.writerows(rows)


def read(path):
    with open(path, newline="", encoding="utf-8") as file:
        return list(csv.DictReader(line for line in file if not line.startswith("#")))


def profile(times):
    """Performance profile: for each solver the share of problems that it solves within a factor of the fastest on each.

    times: problem -> solver -> seconds, of what was solved; problems that no solver solves count too."""
    solvers = sorted({solver for of_problem in times.values() for solver in of_problem})
    curves = {}
    for solver in solvers:
        ratios = sorted(of_problem[solver] / min(of_problem.values()) for of_problem in times.values() if solver in of_problem)
        points, share = [(1.0, 0.0)], 0.0
        for k, ratio in enumerate(ratios):
            points += [(ratio, share), (ratio, (k + 1) / len(times))]
            share = (k + 1) / len(times)
        curves[solver] = points + [(1e4, share)]
    return curves


def chart(title, times, order):
    picture = plot.Chart("time over that of the fastest", "share of problems solved", title, x_log=True, x_range=(1.0, 1e4),
                         y_range=(0.0, 1.02), width=520, height=340, legend="bottom right")
    curves = profile(times)
    for solver in sorted(curves, key=lambda name: order.index(name) if name in order else len(order)):
        picture.line(curves[solver], solver, width=2.6 if solver in ("auto", "tippe auto") else 1.4)
    return picture


def collected(rows):
    times = {}
    for row in rows:
        of_problem = times.setdefault(row["problem"], {})
        if row["outcome"] == "solved":
            of_problem[row["solver"]] = max(float(row["seconds"]), 1e-6)
    return times


def against(rows):
    times = {}
    for row in rows:
        if row["kind"] == "fc3d":
            of_problem = times.setdefault(row["problem"], {})
            if row["outcome"] == "solved":
                of_problem[f"{row['program']} {row['solver']}"] = max(float(row["seconds_min"]), 1e-6)
    return times


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", nargs="?")
    parser.add_argument("--program", default=os.path.join(ROOT, "build/release/bin/tippe"))
    parser.add_argument("--limit", type=float, default=0.2)
    arguments = parser.parse_args()
    if arguments.folder:
        measure_all(arguments.program, arguments.folder, arguments.limit)
    rows, theirs = read(RESULTS), against(read(AGAINST))
    ours = collected(rows)
    problems = len(ours)
    plot.save("solver_profiles", [chart(f"Problems of Siconos ({len(theirs)})", theirs, ["tippe auto"]),
                                  chart(f"Problems of Tippe's scenes ({problems})", ours, SOLVERS)], columns=1)
    for solver in SOLVERS:
        solved = [float(row["seconds"]) for row in rows if row["solver"] == solver and row["outcome"] == "solved"]
        if any(row["solver"] == solver for row in rows):
            print(f"| {solver} | {len(solved)} of {problems} | {sum(solved):.3g} |")


if __name__ == "__main__":
    main()
