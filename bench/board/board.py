"""Runs laws x engines x step sizes and writes docs/board.md, docs/figures/board.svg and bench/results/board.csv.

    bench/board/board.py PROGRAM [--peers FOLDER PYTHON] [--only LAW ...] [--scenes] [--seconds N]

PROGRAM is tippe. FOLDER has the programs of the peers (board_bullet, board_ode, board_siconos), PYTHON runs board_mujoco.py. --scenes only
writes the scenes of scenes/board. A run that takes longer than N seconds (120) is given up, and the board says so.
"""
import argparse
import concurrent.futures
import csv
import json
import math
import os
import subprocess
import sys
import tempfile

import laws

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.normpath(os.path.join(HERE, "..", ".."))


def scene_path(name, make):
    folder = "scenes" if make is None else os.path.join("scenes", "board")
    return os.path.join(ROOT, folder, name + ".json")


def write_scenes():
    for name, make, *_ in laws.LAWS:
        if make is None:
            continue
        lines = json.dumps(make(), indent=1)
        path = scene_path(name, make)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "w", encoding="utf-8") as file:
            file.write(lines + "\n")


# Engines -----------------------------------------------------------------------------------------------------------

def tippe_steppers(program):
    listed = subprocess.run([program, "list", "steppers", "--names"], capture_output=True, text=True, check=True)
    names = listed.stdout.split()
    available = []
    for name in names:
        checked = subprocess.run([program, "run", os.path.join(ROOT, "scenes", "board", "free_fall.json"), "--quiet",
                                  "--stepper", name, "--until", "0"], capture_output=True, text=True, check=False)
        if checked.returncode == 0 and name != "free-flight":
            available.append(name)
    return available


def command_of(engine, options, path, step, table):
    if engine in options.steppers:
        return [options.program, "run", path, "--stepper", engine, "--step", repr(step), "--csv", table, "--json"]
    peer = {"Bullet": ["board_bullet"], "ODE quick": ["board_ode", "quick"], "ODE exact": ["board_ode", "exact"], "Siconos": ["board_siconos"]}
    if engine == "MuJoCo":
        return [options.python, os.path.join(HERE, "board_mujoco.py"), path, repr(step), table]
    name, *mode = peer[engine]
    return [os.path.join(options.folder, name), path, repr(step), table, *mode]


def read_rows(path):
    with open(path, newline="", encoding="utf-8") as file:
        return [{key: float(value) for key, value in row.items()} for row in csv.DictReader(file)]


def run_one(job, options):
    """One run: the law's figure, or the reason why there is none."""
    (name, make, ruler, _, _), engine, step = job
    result = {"law": name, "engine": engine, "step": step, "figure": math.nan, "residual": math.nan, "said": ""}
    with tempfile.TemporaryDirectory() as folder:
        table = os.path.join(folder, "run.csv")
        try:
            done = subprocess.run(command_of(engine, options, scene_path(name, make), step, table), capture_output=True,
                                  text=True, timeout=options.seconds, check=False)
        except subprocess.TimeoutExpired:
            return {**result, "said": f"not done in {options.seconds:g} s"}
        if done.returncode != 0:
            return {**result, "said": (done.stderr.strip().splitlines() or ["failed"])[-1].split(": ", 1)[-1]}
        try:
            result["figure"] = ruler(read_rows(table))
        except laws.NoFigure as trouble:
            result["said"] = str(trouble)
        except (ValueError, KeyError, ZeroDivisionError, IndexError) as trouble:
            result["said"] = f"no figure: {trouble!r}"
        if engine in options.steppers:
            result["residual"] = json.loads(done.stdout)["residual_max"]
    return result


def run_all(options):
    engines = options.steppers + options.peers
    jobs = [(law, engine, step) for law in laws.LAWS if not options.only or law[0] in options.only
            for engine in engines for step in law[4]]
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        results = []
        for i, result in enumerate(pool.map(lambda job: run_one(job, options), jobs)):
            if sys.stdout.isatty():
                print(f"\r{i + 1} of {len(jobs)}: {result['law']}, {result['engine']}".ljust(70), end="", flush=True)
            results.append(result)
    print(f"{len(jobs)} runs")
    return engines, results


# Writing -----------------------------------------------------------------------------------------------------------

def size_of(value):
    if math.isnan(value):
        return "–"
    return "0" if value == 0 else f"{value:.1e}".replace("e-0", "e-").replace("e+0", "e+").replace("e+0", "")


def step_word(step):
    return f"1/{round(1 / step)}" if abs(1 / step - round(1 / step)) < 1e-6 else f"{step:g}"


def write_table(results):
    path = os.path.join(ROOT, "bench", "results", "board.csv")
    with open(path, "w", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, ["law", "engine", "step", "figure", "residual", "said"], lineterminator="\n")
        writer.writeheader()
        writer.writerows(results)


def write_page(engines, results, options):
    find = {(r["law"], r["engine"], r["step"]): r for r in results}
    head = open(os.path.join(HERE, "head.md"), encoding="utf-8").read()
    lines = [head.rstrip("\n"), ""]
    for name, _, _, figure, steps in laws.LAWS:
        if (name, engines[0], steps[0]) not in find:
            continue
        lines += [f"## {name}: {figure}", "", "| engine | " + " | ".join("h = " + step_word(s) for s in steps) + " | residual | remark |",
                  "|---|" + "---|" * (len(steps) + 2)]
        for engine in engines:
            runs = [find[name, engine, step] for step in steps]
            said = "; ".join(dict.fromkeys(r["said"] for r in runs if r["said"]))
            residuals = [r["residual"] for r in runs if not math.isnan(r["residual"])]
            residual = size_of(max(residuals)) if residuals else "–"
            lines.append(f"| {engine} | " + " | ".join(size_of(r["figure"]) for r in runs) + f" | {residual} | {said} |")
        lines.append("")
    with open(os.path.join(ROOT, "docs", "board.md"), "w", encoding="utf-8") as file:
        file.write("\n".join(lines))
    write_picture(engines, find)


def shade(value):
    """From deep green (1e-12 and less) through pale to red (1 and more)."""
    if math.isnan(value):
        return "#d9d6ce"
    part = min(max((math.log10(abs(value) + 1e-300) + 12) / 12, 0.0), 1.0)
    low, middle, high = (38, 112, 74), (244, 232, 193), (178, 60, 40)
    a, b, t = (low, middle, 2 * part) if part < 0.5 else (middle, high, 2 * part - 1)
    return "#" + "".join(f"{round(x + t * (y - x)):02x}" for x, y in zip(a, b))


def write_picture(engines, find):
    names = [law for law in laws.LAWS if (law[0], engines[0], law[4][0]) in find]
    wide, high, left, top = 92, 26, 150, 96
    width, height = left + wide * len(engines) + 20, top + high * len(names) + 20
    lines = [f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" font-family="sans-serif" font-size="12">',
             f'<rect width="{width}" height="{height}" fill="#fbfaf7"/>']
    for i, engine in enumerate(engines):
        x = left + wide * (i + 0.5)
        lines.append(f'<text x="{x}" y="{top - 10}" transform="rotate(-35 {x} {top - 10})" fill="#333">{engine}</text>')
    for k, (name, _, _, _, steps) in enumerate(names):
        y = top + high * k
        lines.append(f'<text x="{left - 10}" y="{y + 17}" text-anchor="end" fill="#333">{name}</text>')
        for i, engine in enumerate(engines):
            result = find[name, engine, steps[-1]]
            value = result["figure"]
            dark = not math.isnan(value) and (abs(value) < 1e-9 or abs(value) > 0.05)
            text = size_of(abs(value)) if not math.isnan(value) else "none"
            lines.append(f'<rect x="{left + wide * i}" y="{y}" width="{wide - 2}" height="{high - 2}" rx="3" fill="{shade(value)}"/>')
            lines.append(f'<text x="{left + wide * (i + 0.5)}" y="{y + 16}" text-anchor="middle" '
                         f'fill="{"#fff" if dark else "#333"}">{text}</text>')
    with open(os.path.join(ROOT, "docs", "figures", "board.svg"), "w", encoding="utf-8") as file:
        file.write("\n".join(lines + ["</svg>", ""]))


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("program")
    parser.add_argument("--peers", nargs=2, metavar=("FOLDER", "PYTHON"))
    parser.add_argument("--only", nargs="*", default=[])
    parser.add_argument("--scenes", action="store_true")
    parser.add_argument("--seconds", type=float, default=120.0)
    options = parser.parse_args()
    write_scenes()
    if options.scenes:
        return
    options.steppers = tippe_steppers(options.program)
    options.folder, options.python = options.peers or (None, None)
    options.peers = ["Bullet", "ODE quick", "ODE exact", "MuJoCo", "Siconos"] if options.folder else []
    engines, results = run_all(options)
    write_table(results)
    write_page(engines, results, options)


if __name__ == "__main__":
    main()
