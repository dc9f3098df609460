#!/usr/bin/env python3
"""Judges the tests: changes one place of the source at a time and sees whether a test fails.

usage: tools/mutate.py [--count N] [--seed N] [--only SUBSTRING] [--budget S] [--work DIR] [--out FILE] [--jobs N] [--list]
       tools/mutate.py --at FILE:LINE:OLD:NEW [--work DIR]

A mutation is one wrong comparison, sign, factor, constant, condition or statement that was left out, at a random
place of the files below. It is made in a copy of the last commit (build/mutate, reused by the next run); the
working tree is not touched. Mutations that do not compile or give the same object code are drawn again; two kinds
are not made because no test could tell them: a tie of two doubles decided the other way (< for <=), and a
tolerance of rounding that is merely doubled (tolerances are changed a thousandfold).

Tests and program share one library in that build, so a mutation costs one compilation and one link. The test of
the mutated source comes first, then those of its room, those that caught most in the least time before the others,
then those that see the whole program; the first one that fails ends the try. A test that needs ten times its usual
processor time fails, too. --budget S ends a try after S seconds of processor time: what was not caught by then
counts as survived.

Results go to FILE (default build/mutate/results.jsonl), one line each; survivors are printed at the end. The exit
status is 0 if at least 95 of 100 were caught. --list prints the mutations without trying them; --at tries one.
"""
import argparse
import fnmatch
import json
import os
import random
import re
import resource
import subprocess
import sys
import time

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))

# Which files are mutated, and the tests that judge them: in stages, each a regular expression of ctest's names.
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


WHOLE = re.compile(r"\w*([cC]ount|[iI]ndex|[pP]lace|[nN]umber)|[ijkn]")


def bounds(sign, other):
    """A comparison of whole numbers with a bound that is one off."""
    compiled = re.compile(rf"(\w+)(?:\[\w+\])? {sign} (?:[\w.>-]*(?:->|\.))?(\w+)(?![\w.(])")

    def find(line):
        return [(m.start(0) + m.group(0).index(f" {sign} "), m.start(0) + m.group(0).index(f" {sign} ") + len(sign) + 2, f" {other} ")
                for m in compiled.finditer(line) if WHOLE.fullmatch(m.group(1)) or WHOLE.fullmatch(m.group(2))]

    return find


def numbers(line):
    found = []
    for m in NUMBER.finditer(line):
        text = m.group(0)
        if re.search(r"[.e]", text):
            value = float(text)
            factor = 1000.0 if 0.0 < value <= 1e-6 else 2.0
            found += [(m.start(), m.end(), other) for other in ((repr(factor * value), repr(value / factor)) if value else ("1.0",))]
        else:
            found += [(m.start(), m.end(), str(int(text) + 1))]
    return found


def statement(line):
    """A whole statement on a line of its own, left out: a call or an assignment, not a declaration."""
    m = re.fullmatch(r"(\s+)((?:[\w.>\[\]*-]+\s*[-+*/|&^]?=[^=].*|\w+\(.*\));)", line)
    return [(m.start(2), m.end(2), ";")] if m and not m.group(2).startswith("return") else []


OPERATORS = [
    ("comparison", swaps(r" < ", " > ")), ("comparison", swaps(r" <= ", " >= ")),
    ("comparison", swaps(r" > ", " < ")), ("comparison", swaps(r" >= ", " <= ")),
    ("comparison", bounds("<", "<=")), ("comparison", bounds("<=", "<")), ("comparison", bounds(">", ">=")), ("comparison", bounds(">=", ">")),
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


def limits():
    """Of a test: no core files, and no more memory than the machine can spare."""
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    resource.setrlimit(resource.RLIMIT_AS, (6 << 30, 6 << 30))


class Copy:
    """A copy of the last commit with a build of its own, and what is known of its tests."""

    def __init__(self, work, jobs):
        self.tree, self.build, self.jobs = os.path.join(work, "tree"), os.path.join(work, "tree", "build", "mutate"), jobs
        os.makedirs(work, exist_ok=True)
        commit = subprocess.check_output(["git", "-C", ROOT, "rev-parse", "HEAD"], text=True).strip()
        if os.path.isdir(self.tree):
            self.git("checkout", "-q", "--", ".")
            self.git("checkout", "-q", "--detach", commit)
        else:
            subprocess.run(["git", "-C", ROOT, "worktree", "add", "-q", "--detach", self.tree], check=True)
        subprocess.run(["cmake", "-S", self.tree, "-B", self.build, "-G", "Ninja", "-DCMAKE_BUILD_TYPE=Release", "-DTIPPE_TESTS=ON",
                        "-DTIPPE_ONE_LINK=ON"], check=True, stdout=subprocess.DEVNULL)
        self.environment = dict(os.environ, LD_LIBRARY_PATH=":".join([self.build, os.path.join(self.build, "lib")]))
        # ctest tells the commands of tests that are there.
        if not self.make(["all"]):
            sys.exit("mutate: the unchanged source does not build")
        shown = subprocess.check_output(["ctest", "--show-only=json-v1"], cwd=self.build, text=True)
        self.tests = [test["name"] for test in json.loads(shown)["tests"]]
        self.known = os.path.join(work, "tests.json")  # name: usual processor time, how often it caught and was tried
        self.usual, self.caught = {}, {}
        if os.path.exists(self.known):
            with open(self.known, encoding="utf-8") as file:
                self.usual, self.caught = json.load(file)

    def git(self, *arguments):
        subprocess.run(["git", "-C", self.tree, *arguments], check=True)

    def remember(self):
        with open(self.known, "w", encoding="utf-8") as file:
            json.dump([self.usual, self.caught], file, indent=1)

    def names(self, stage):
        return [name for name in self.tests if re.search(stage, name) and not re.search("^(python|viewer|install)/", name)]

    def ordered(self, names, source):
        """The test of the source first, then by what they caught in their time."""
        own = os.path.splitext(os.path.basename(source))[0]

        def worth(name):
            caught, tried = self.caught.get(name, (0, 0))
            return (os.path.basename(name) != own, -(caught + 1.0) / (tried + 4.0) / (0.2 + self.usual.get(name, 1.0)))

        return sorted(names, key=worth)

    def make(self, targets):
        done = subprocess.run(["cmake", "--build", self.build, "-j", str(self.jobs), "--target", *targets], capture_output=True, text=True)
        return done.returncode == 0

    def run(self, name):
        """Whether the test passes; None: it took too long. On the unchanged source, how long it takes."""
        limit = 10.0 + 10.0 * self.usual.get(name, 30.0)
        before = resource.getrusage(resource.RUSAGE_CHILDREN)

        def prepare():
            limits()
            resource.setrlimit(resource.RLIMIT_CPU, (int(limit), int(limit) + 2))

        done = subprocess.run(["ctest", "-R", f"^{re.escape(name)}$", "--timeout", str(int(40.0 + 4.0 * limit))], cwd=self.build,
                              capture_output=True, preexec_fn=prepare, env=self.environment)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        self.spent = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
        if done.returncode != 0 and self.spent >= limit:
            return None
        return done.returncode == 0

    def measure(self, rooms):
        """Checks that all tests pass on the unchanged source, and how long they take."""
        names = sorted({name for _, stages in rooms for stage in stages for name in self.names(stage)})
        bad = []
        for name in names:
            if name in self.usual:
                continue
            if self.run(name):
                self.usual[name] = self.spent
            else:
                bad.append(name)
                print(f"mutate: {name} fails without any mutation; left out", flush=True)
                self.tests.remove(name)
            self.remember()
        if len(bad) > 0.1 * len(names):
            sys.exit("mutate: too many tests fail without any mutation")

    def object_of(self, path):
        found = subprocess.check_output(["find", self.build, "-path", f"*{path}.o"], text=True).split()
        return b"".join(open(file, "rb").read() for file in sorted(found))


def try_mutation(copy, mutation, budget):
    path = os.path.join(copy.tree, mutation["file"])
    with open(path, encoding="utf-8") as file:
        original = file.read()
    lines = original.split("\n")
    line = lines[mutation["line"] - 1]
    mutation["was"] = line.strip()
    lines[mutation["line"] - 1] = line[: mutation["start"]] + mutation["new"] + line[mutation["end"]:]
    mutation["is"] = lines[mutation["line"] - 1].strip()
    library = "tippe_io" if mutation["file"].startswith("src/recording") else "tippe"
    before = copy.object_of(mutation["file"])
    try:
        with open(path, "w", encoding="utf-8") as file:
            file.write("\n".join(lines))
        if not copy.make([library]):
            return "does not compile"
        if copy.object_of(mutation["file"]) == before:
            return "the same code"
        for stage in mutation["stages"]:
            for name in copy.ordered(copy.names(stage), mutation["file"]):
                if budget <= 0.0:
                    return "survived"
                passed = copy.run(name)
                budget -= copy.spent
                caught, tried = copy.caught.get(name, (0, 0))
                copy.caught[name] = (caught + (not passed), tried + 1)
                if not passed:
                    return f"caught by {name}" + (" (does not end)" if passed is None else "")
        return "survived"
    finally:
        with open(path, "w", encoding="utf-8") as file:
            file.write(original)
        copy.remember()


def mutation_at(text, tree):
    """FILE:LINE:OLD:NEW as a mutation, the first occurrence of OLD in the line."""
    path, number, old, new = text.split(":", 3)
    with open(os.path.join(tree, path), encoding="utf-8") as file:
        line = file.read().split("\n")[int(number) - 1]
    if old not in line:
        sys.exit(f"mutate: {path}:{number} is: {line}")
    stages = [stages for pattern, stages in ROOMS if fnmatch.fnmatch(path, pattern)]
    if not stages:
        sys.exit(f"mutate: no tests are known for {path}")
    start = line.index(old)
    return {"file": path, "line": int(number), "kind": "given", "start": start, "end": start + len(old), "new": new, "stages": stages[0]}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--count", type=int, default=100)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--only", default="")
    parser.add_argument("--work", default=os.path.join(ROOT, "build", "mutate"))
    parser.add_argument("--out")
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--budget", type=float, default=float("inf"))
    parser.add_argument("--at")
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
    mutations = [mutation_at(options.at, copy.tree)] if options.at else all_mutations(copy.tree, options.only)
    print(f"{len(mutations)} places; {len(copy.tests)} tests", flush=True)
    copy.measure([room for room in ROOMS if any(m["file"].startswith(os.path.dirname(room[0])) for m in mutations)])
    results, survivors = 0, []
    with open(options.out or os.path.join(options.work, "results.jsonl"), "a", encoding="utf-8") as log:
        while results < (1 if options.at else options.count):
            mutation = draw(mutations, rng)
            mutation["verdict"] = try_mutation(copy, mutation, options.budget)
            if options.at and mutation["verdict"] in ("does not compile", "the same code"):
                sys.exit(f"mutate: {mutation['verdict']}")
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
