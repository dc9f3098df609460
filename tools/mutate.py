#!/usr/bin/env python3
"""Judges the tests: changes one place of the source at a time and sees whether a test fails.

usage: tools/mutate.py [--count N] [--seed N] [--only SUBSTRING] [--work DIR] [--out FILE] [--jobs N] [--list]

A mutation is one wrong comparison, sign, factor, constant, condition or statement that was left out, at a random
place of the files below. It is made in a copy of the last commit (build/mutate, reused by the next run); the
working tree is not touched. Mutations that do not compile or give the same object code are drawn again. Tests of
the mutated room come first, then those that see the whole program; the first one that fails ends the try. A test
that does not end in ten times its usual time fails, too.

Results go to FILE (default build/mutate/results.jsonl), one line each; survivors are printed at the end. The exit
status is 0 if at least 95 of 100 were caught. --list prints the mutations without trying them.
"""
import argparse
import fnmatch
import json
import os
import random
import re
import subprocess
import sys
import time

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))

# Which files are mutated, and the tests that judge them: in stages, each a regular expression of ctest's names. The
# tests of a stage are built together, so the early ones are small.
ROOMS = [
    ("src/complementarity/*residual*.c", ["^complementarity/friction|^judge/", "^complementarity/"]),
    ("src/dynamics/*.c", ["^dynamics/", "^judge/|^determinism/repeats|^agreement/",
                          "^laws/(closed_forms|joined|work|swings|cradle|tumbling)|^steppers/|^world/", "^app/(state|compare)|^papers/"]),
    ("src/recording/*.c", ["^recording/(audit|table|recording|pairs|kept_frames|journal|number|shapes_text)|^judge/",
                           "^recording/|^app/(program|compare|run_data|live_world)"]),
    ("src/collision/*.c", ["^collision/", "^determinism/repeats|^agreement/", "^laws/(closed_forms|mesh_floor|leaning_cards)|^steppers/|^world/"]),
]

NUMBER = re.compile(r"(?<![\w.])(\d+\.\d*(?:e[-+]?\d+)?|\d+e[-+]?\d+|\d+)(?![\w.])")


def swaps(pattern, *others):
    """Each match of the pattern, replaced by each of the others."""
    compiled = re.compile(pattern)
    return lambda line: [(m.start(), m.end(), other) for m in compiled.finditer(line) for other in others]


def numbers(line):
    found = []
    for m in NUMBER.finditer(line):
        text = m.group(0)
        if re.search(r"[.e]", text):
            value = float(text)
            found += [(m.start(), m.end(), other) for other in ((repr(2.0 * value), repr(0.5 * value)) if value else ("1.0",))]
        else:
            found += [(m.start(), m.end(), str(int(text) + 1))]
    return found


def statement(line):
    """A whole statement on a line of its own, left out: a call or an assignment, not a declaration."""
    m = re.fullmatch(r"(\s+)((?:[\w.>\[\]*-]+\s*[-+*/|&^]?=[^=].*|\w+\(.*\));)", line)
    return [(m.start(2), m.end(2), ";")] if m and not m.group(2).startswith("return") else []


OPERATORS = [
    ("comparison", swaps(r" < ", " <= ", " > ")), ("comparison", swaps(r" <= ", " < ", " >= ")),
    ("comparison", swaps(r" > ", " >= ", " < ")), ("comparison", swaps(r" >= ", " > ", " <= ")),
    ("comparison", swaps(r" == ", " != ")), ("comparison", swaps(r" != ", " == ")),
    ("sign", swaps(r"(?<=[\w)\]]) \+ (?=[\w(])", " - ")), ("sign", swaps(r"(?<=[\w)\]]) - (?=[\w(])", " + ")),
    ("sign", swaps(r" \+= ", " -= ")), ("sign", swaps(r" -= ", " += ")),
    ("sign", swaps(r"(?<=[(,=] )-(?=[a-z])", "")), ("sign", swaps(r"\btpAdd\(", "tpSub(")), ("sign", swaps(r"\btpSub\(", "tpAdd(")),
    ("factor", swaps(r"(?<=[\w)\]]) \* (?=[\w(])", " / ")), ("factor", swaps(r"(?<=[\w)\]]) / (?=[\w(])", " * ")),
    ("extreme", swaps(r"\bfmax\(", "fmin(")), ("extreme", swaps(r"\bfmin\(", "fmax(")),
    ("extreme", swaps(r"\bfabs\(", "(")), ("extreme", swaps(r"\bsqrt\(", "(")),
    ("condition", swaps(r" && ", " || ")), ("condition", swaps(r" \|\| ", " && ")), ("condition", swaps(r"(?<=[( ])!(?=[\w(])", "")),
    ("constant", numbers), ("constant", swaps(r"\btrue\b", "false")), ("constant", swaps(r"\bfalse\b", "true")),
    ("left out", statement),
]


def code_lines(text):
    """Lines that hold code: (number, line), comments, texts, declarations of headers and asserts left out."""
    for number, line in enumerate(text.split("\n")):
        bare = line.split("//")[0].rstrip()
        if not line.startswith(" ") and not re.match(r"static const double ", line):
            continue
        if not bare.strip() or '"' in bare or "assert" in bare.lower() or "#" in bare or re.match(r"\s+(static )?const char", bare):
            continue
        yield number, bare


def all_mutations(tree, only):
    found = []
    for pattern, stages in ROOMS:
        folder = os.path.join(tree, os.path.dirname(pattern))
        for name in sorted(os.listdir(folder)):
            path = os.path.join(os.path.dirname(pattern), name)
            if not fnmatch.fnmatch(path, pattern) or (only and only not in path):
                continue
            with open(os.path.join(tree, path), encoding="utf-8") as file:
                text = file.read()
            for number, line in code_lines(text):
                for kind, find in OPERATORS:
                    for start, end, new in find(line):
                        found.append({"file": path, "line": number + 1, "kind": kind, "start": start, "end": end, "new": new,
                                      "stages": stages})
    return found


def draw(mutations, rng):
    """At random: first the room's file by its number of code places, then a kind, so that none is drowned by another."""
    kinds = sorted({m["kind"] for m in mutations})
    kind = rng.choice(kinds)
    return rng.choice([m for m in mutations if m["kind"] == kind])


class Copy:
    """A copy of the last commit with a build of its own."""

    def __init__(self, work, jobs):
        self.tree, self.build, self.jobs = os.path.join(work, "tree"), os.path.join(work, "build"), jobs
        os.makedirs(work, exist_ok=True)
        if os.path.isdir(self.tree):
            self.git("checkout", "-q", "--detach", subprocess.check_output(["git", "-C", ROOT, "rev-parse", "HEAD"], text=True).strip())
            self.git("checkout", "-q", "--", ".")
        else:
            subprocess.run(["git", "-C", ROOT, "worktree", "add", "-q", "--detach", self.tree], check=True)
        subprocess.run(["cmake", "-S", self.tree, "-B", self.build, "-G", "Ninja", "-DCMAKE_BUILD_TYPE=Release", "-DTIPPE_TESTS=ON"],
                       check=True, stdout=subprocess.DEVNULL)
        # ctest tells the commands of tests that are there.
        if subprocess.run(["cmake", "--build", self.build, "-j", str(jobs)], stdout=subprocess.DEVNULL).returncode != 0:
            sys.exit("mutate: the unchanged source does not build")
        shown = subprocess.check_output(["ctest", "--show-only=json-v1"], cwd=self.build, text=True)
        self.tests = {}
        for test in json.loads(shown)["tests"]:
            self.tests[test["name"]] = test.get("command", [])
        self.usual = {}

    def git(self, *arguments):
        subprocess.run(["git", "-C", self.tree, *arguments], check=True)

    def names(self, stage):
        return [name for name in self.tests if re.search(stage, name) and not re.search("^(python|viewer|install)/", name)]

    def targets(self, names):
        """What must be built: the tests themselves, and the program if one of them is a script."""
        built = set()
        for name in names:
            for word in self.tests[name]:
                base = os.path.basename(word)
                if word.startswith(self.build) and re.match(r"test_|judge_", base):
                    built.add(base)
        return sorted(built) + ["tippe_app"]

    def make(self, targets):
        done = subprocess.run(["cmake", "--build", self.build, "-j", str(self.jobs), "--target", *targets], capture_output=True, text=True)
        return done.returncode == 0

    def run(self, name):
        """Whether the test passes; None: it took too long."""
        limit = max(20.0, 10.0 * self.usual.get(name, 12.0))
        start = time.time()
        try:
            done = subprocess.run(["ctest", "-R", f"^{re.escape(name)}$", "--timeout", str(int(limit))], cwd=self.build,
                                  capture_output=True, timeout=limit + 30)
        except subprocess.TimeoutExpired:
            return None
        self.usual.setdefault(name, time.time() - start)
        return done.returncode == 0

    def object_of(self, path):
        found = subprocess.check_output(["find", self.build, "-path", f"*{path}.o"], text=True).split()
        return b"".join(open(file, "rb").read() for file in sorted(found))


def try_mutation(copy, mutation, log):
    path = os.path.join(copy.tree, mutation["file"])
    with open(path, encoding="utf-8") as file:
        original = file.read()
    lines = original.split("\n")
    line = lines[mutation["line"] - 1]
    mutation["was"] = line.strip()
    lines[mutation["line"] - 1] = line[: mutation["start"]] + mutation["new"] + line[mutation["end"]:]
    mutation["is"] = lines[mutation["line"] - 1].strip()
    before = copy.object_of(mutation["file"])
    try:
        with open(path, "w", encoding="utf-8") as file:
            file.write("\n".join(lines))
        if not copy.make(["tippe"] if not mutation["file"].startswith("src/recording") else ["tippe_io"]):
            return "does not compile"
        if copy.object_of(mutation["file"]) == before:
            return "the same code"
        for stage in mutation["stages"]:
            names = copy.names(stage)
            if not copy.make(copy.targets(names)):
                return "does not compile"
            for name in sorted(names, key=lambda name: copy.usual.get(name, 0.0)):
                passed = copy.run(name)
                if passed is None or not passed:
                    return f"caught by {name}" + (" (does not end)" if passed is None else "")
        return "survived"
    finally:
        with open(path, "w", encoding="utf-8") as file:
            file.write(original)


def measure(copy, rooms):
    """Checks that all tests pass on the unchanged source, and how long they take."""
    names = sorted({name for _, stages in rooms for stage in stages for name in copy.names(stage)})
    bad = [name for name in names if not copy.run(name)]
    for name in bad:
        print(f"mutate: {name} fails without any mutation; left out", flush=True)
        del copy.tests[name]
    if len(bad) > 0.1 * len(names):
        sys.exit("mutate: too many tests fail without any mutation")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--count", type=int, default=100)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--only", default="")
    parser.add_argument("--work", default=os.path.join(ROOT, "build", "mutate"))
    parser.add_argument("--out")
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--list", action="store_true")
    options = parser.parse_args()
    rng = random.Random(options.seed)
    if options.list:
        mutations = all_mutations(ROOT, options.only)
        for _ in range(options.count):
            m = draw(mutations, rng)
            print(f"{m['file']}:{m['line']}: {m['kind']}: {m['new']!r}")
        return 0
    copy = Copy(os.path.abspath(options.work), options.jobs)
    mutations = all_mutations(copy.tree, options.only)
    print(f"{len(mutations)} places; {len(copy.tests)} tests", flush=True)
    measure(copy, [room for room in ROOMS if any(m["file"].startswith(os.path.dirname(room[0])) for m in mutations)])
    results, survivors = 0, []
    with open(options.out or os.path.join(options.work, "results.jsonl"), "a", encoding="utf-8") as log:
        while results < options.count:
            mutation = draw(mutations, rng)
            mutation["verdict"] = try_mutation(copy, mutation, log)
            if mutation["verdict"] in ("does not compile", "the same code"):
                continue
            results += 1
            log.write(json.dumps({key: mutation[key] for key in ("file", "line", "kind", "was", "is", "verdict")}) + "\n")
            log.flush()
            print(f"{results:4d} {mutation['file']}:{mutation['line']}: {mutation['was']}\n     -> {mutation['is']}\n     {mutation['verdict']}",
                  flush=True)
            if mutation["verdict"] == "survived":
                survivors.append(mutation)
    print(f"\n{results - len(survivors)} of {results} caught")
    for m in survivors:
        print(f"survived: {m['file']}:{m['line']}: {m['was']}\n          -> {m['is']}")
    return 0 if results - len(survivors) >= 0.95 * results else 1


if __name__ == "__main__":
    sys.exit(main())
