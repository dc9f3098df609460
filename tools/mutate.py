#!/usr/bin/env python3
"""Judges the tests: changes one place of the source at a time and sees whether a test fails.

usage: tools/mutate.py [--count N] [--seed N] [--only SUBSTRING] [--budget S] [--work DIR] [--out FILE] [--jobs N] [--built] [--list]
       tools/mutate.py --at FILE:LINE:OLD:NEW [--work DIR]

A mutation is one wrong comparison, sign, factor, constant, condition or statement that was left out, at a random
place of the files below. Sources and build are a copy of the last commit (build/mutate, reused by the next run); the
working tree is not touched. A mutation costs one compilation and one link, because tests and program share one
library there; --jobs N tries N at a time. --built takes copy and build as they are (on a machine that has the
compiler, but neither CMake nor git).

Not every change is a mutation. Drawn again, and counted apart, is what does not compile and what gives the same
object code, which is proof that nothing changed. By rule the following are never made:
- ties of two doubles decided the other way (< for <=), and bounds of rounding merely doubled (by their constant, or by
  a term or a sign of the sum that it is a part of): they are changed a thousandfold; so are, a hundredfold, constants with a name of their own (static const double): they are settings of
  a method, of which twice as much is another choice, not a mistake;
- whole numbers from 16 on made one more, which are limits of work and block sizes: they become an eighth;
- assertions, prefetches, sizes of memory (room, capacity, growth, the length of an array that is declared), and from
  when on threads help (tasks, helpers), on which no result depends: they decide about speed or about nothing;
- a release or close that is left out: the sanitized tests see leaks, these do not.

The test of the mutated source comes first, then those of its room, those that caught most in the least time before
the others, then those that see the whole program, then all others that run code of the library; the first one that
fails ends the try. What passes them is held to the known bits of runs (collision/known, determinism/known): they tell that something
is another, not that it is wrong, so that what they alone catch is told apart. A test that needs ten times its usual processor time fails, too. What passes them all is compiled
once more with the address and undefined-behaviour sanitizers, as the tests of the preset "asan" are, and tried by the
tests of its room; where one of them fails, the unchanged source has to pass it in the same way. --budget S ends a try
after S seconds of processor time: what was not caught by then counts as survived.

Results go to FILE (default build/mutate/results.jsonl), one line each; survivors are printed at the end. The exit
status is 0 if at least 95 of 100 were caught. --list prints the mutations without trying them; --at tries one.
"""
import argparse
import concurrent.futures
import fnmatch
import json
import os
import random
import re
import resource
import shlex
import shutil
import signal
import subprocess
import sys
import threading

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))

# Which files are mutated, and the tests that judge them: in stages, each a regular expression of ctest's names.
ROOMS = [
    ("src/complementarity/*residual*.c", ["^complementarity/friction|^judge/", "^complementarity/"]),
    ("src/dynamics/*.c", ["^dynamics/", "^judge/|^determinism/|^agreement/",
                          "^laws/(closed_forms|joined|work|swings|cradle|tumbling)|^steppers/|^world/", "^app/(state|compare)|^papers/"]),
    ("src/recording/*.c", ["^recording/(audit|table|recording|pairs|kept_frames|journal|number|shapes_text)|^judge/",
                           "^recording/|^app/(program|compare|run_data|live_world)"]),
    ("src/collision/*.c", ["^collision/", "^determinism/|^agreement/", "^laws/(closed_forms|mesh_floor|leaning_cards)|^steppers/|^world/"]),
]

# After the stages of a room: whatever else runs code of the library. Pages, packages, prose and layout do not.
OTHERS = "^(?!python/|viewer/|install/|architecture/|docs/|base/|math/|geometry/|scene/)"
# At the very end: bits that are only known, of which no law says that they are right. What they alone catch is counted apart.
KNOWN = ("collision/known", "determinism/known")
SANITIZERS = ["-O1", "-fsanitize=address,undefined", "-fno-sanitize-recover=all", "-U_FORTIFY_SOURCE"]

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


DECLARED_LENGTH = r"^\s+(?:static |const |struct )*\w+\*? (?:[^=()]*, )*\w+\[[^\]=]*$"


def numbers(line):
    found = []
    for m in NUMBER.finditer(line):
        text = m.group(0)
        if re.search(r"[.e]", text):
            value = float(text)
            factor = 1000.0 if 0.0 < value <= 1e-6 else 100.0 if re.match(r"\s*static const double ", line) else 2.0
            found += [(m.start(), m.end(), other) for other in ((repr(factor * value), repr(value / factor)) if value else ("1.0",))]
        elif not re.search(DECLARED_LENGTH, line[: m.start()]):
            found += [(m.start(), m.end(), str(int(text) + 1 if int(text) < 16 else int(text) // 8))]
    return found


RELEASE = r"(?:free|close|\w+close|\w+_destroy|tpRelease|tp\w+_(?:Destroy|Release|Close))\("


def statement(line):
    """A whole statement on a line of its own, left out: a call or an assignment, not a declaration."""
    m = re.fullmatch(r"(\s+)((?:[\w.>\[\]*-]+\s*[-+*/|&^]?=[^=].*|\w+\(.*\));)", line)
    return [(m.start(2), m.end(2), ";")] if m and not re.match(r"return|" + RELEASE, m.group(2)) else []


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


MEMORY = re.compile(r"\b(room|\w*Room|\w*[cC]apacity|grown?|TP_RESERVE|tp\w+_Reserve)\b")


ROUNDING = re.compile(r"(?<![\w.])\d+(?:\.\d*)?e-(?:9|[1-9]\d+) \* ([^;?<>&|]*)$")


def is_bound(line, kind, start):
    """Whether such a change is within what a bound of rounding is multiplied by: it changes it by a factor of about two."""
    m = ROUNDING.search(line[:start])
    return kind in ("sign", "extreme") and m is not None and (not m.group(1) or m.group(1).count("(") > m.group(1).count(")"))


def is_idle(line, kind):
    """Whether such a change decides about speed or memory alone."""
    if re.search(r"\b(tasks|helpers)\b", line) and kind in ("comparison", "constant", "condition"):
        return True
    return "prefetch" in line or (bool(MEMORY.search(line)) and kind in ("constant", "factor", "sign", "extreme", "comparison"))


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
                    if is_idle(line, kind):
                        continue
                    for start, end, new in find(line):
                        if is_bound(line, kind, start):
                            continue
                        found.append({"file": path, "line": number + 1, "kind": kind, "start": start, "end": end, "new": new,
                                      "stages": stages})
    return found


def draw(mutations, rng):
    """At random: first a kind, so that none is drowned by another, then a place."""
    kinds = sorted({m["kind"] for m in mutations})
    kind = rng.choice(kinds)
    return rng.choice([m for m in mutations if m["kind"] == kind])


class Copy:
    """A copy of the last commit with a build of its own, and what is known of its tests."""

    def __init__(self, work, jobs, built):
        self.work, self.tree, self.jobs = work, os.path.join(work, "tree"), jobs
        self.build = os.path.join(self.tree, "build", "mutate")
        os.makedirs(work, exist_ok=True)
        if not built:
            self.make()
        with open(os.path.join(work, "commands.json"), encoding="utf-8") as file:
            self.compilations, self.links, self.tests = json.load(file)
        self.known = os.path.join(work, "tests.json")  # name: usual processor time, how often it caught and was tried
        self.usual, self.caught, self.objects, self.lock = {}, {}, {}, threading.Lock()
        if os.path.exists(self.known):
            with open(self.known, encoding="utf-8") as file:
                self.usual, self.caught = json.load(file)

    def git(self, *arguments):
        subprocess.run(["git", "-C", self.tree, *arguments], check=True)

    def make(self):
        """Copies, configures, builds, and writes down how a source is compiled, a library linked, a test called."""
        commit = subprocess.check_output(["git", "-C", ROOT, "rev-parse", "HEAD"], text=True).strip()
        if os.path.isdir(self.tree):
            self.git("checkout", "-q", "--", ".")
            self.git("checkout", "-q", "--detach", commit)
        else:
            subprocess.run(["git", "-C", ROOT, "worktree", "add", "-q", "--detach", self.tree], check=True)
        subprocess.run(["cmake", "-S", self.tree, "-B", self.build, "-G", "Ninja", "-DCMAKE_BUILD_TYPE=Release", "-DTIPPE_TESTS=ON",
                        "-DTIPPE_ONE_LINK=ON", "-DCMAKE_EXPORT_COMPILE_COMMANDS=ON"], check=True, stdout=subprocess.DEVNULL)
        # ctest tells the commands of tests that are there.
        if subprocess.run(["ninja", "-C", self.build, "-j", str(self.jobs)], stdout=subprocess.DEVNULL).returncode != 0:
            sys.exit("mutate: the unchanged source does not build")
        with open(os.path.join(self.build, "compile_commands.json"), encoding="utf-8") as file:
            entries = json.load(file)
        # Tests compile some sources once more, for themselves.
        compilations = {os.path.relpath(entry["file"], self.tree): shlex.split(entry["command"]) for entry in entries
                        if "/src/" in entry["file"] and " -o tests/" not in entry["command"]}
        links = {}
        for library in ("libtippe.so", "libtippe_io.so"):
            last = subprocess.check_output(["ninja", "-C", self.build, "-t", "commands", library], text=True).strip().split("\n")[-1]
            links[library] = shlex.split(last.split("&&")[1] if "&&" in last else last)
        shown = subprocess.check_output(["ctest", "--show-only=json-v1"], cwd=self.build, text=True)
        tests = {test["name"]: test["command"] for test in json.loads(shown)["tests"] if "command" in test}
        with open(os.path.join(self.work, "commands.json"), "w", encoding="utf-8") as file:
            json.dump([compilations, links, tests], file)

    def remember(self):
        with self.lock, open(self.known, "w", encoding="utf-8") as file:
            json.dump([self.usual, self.caught], file, indent=1)

    def names(self, stage):
        return [name for name in self.tests if re.search(stage, name) and not re.search("^(python|viewer|install)/", name) and name not in KNOWN]

    def ordered(self, names, source):
        """The test of the source first, then by what they caught in their time."""
        own = os.path.splitext(os.path.basename(source))[0]

        def worth(name):
            caught, tried = self.caught.get(name, (0, 0))
            return (os.path.basename(name) != own, -(caught + 1.0) / (tried + 4.0) / (0.2 + self.usual.get(name, 1.0)))

        return sorted(names, key=worth)

    def compile(self, path, text, folder, more=()):
        """The object of a source with this text; None if it does not compile."""
        source, target = os.path.join(folder, os.path.basename(path)), os.path.join(folder, "mutant.o")
        with open(source, "w", encoding="utf-8") as file:
            file.write(text)
        command = list(self.compilations[path])
        command[command.index("-o") + 1] = target
        command[command.index("-c") + 1] = source
        command += ["-iquote", os.path.join(self.tree, os.path.dirname(path)), *more]
        if subprocess.run(command, cwd=self.build, capture_output=True).returncode != 0:
            return None
        with open(target, "rb") as file:
            return file.read()

    def unchanged(self, path, text, folder):
        """The object of the unchanged source, compiled in the same way."""
        if path not in self.objects:
            self.objects[path] = self.compile(path, text, folder)
        return self.objects[path]

    def link(self, path, folder, more=()):
        """The library with the object of the folder in place of the source's."""
        library = "libtippe_io.so" if path.startswith("src/recording") else "libtippe.so"
        compiled = self.compilations[path]
        object_file = compiled[compiled.index("-o") + 1]
        command = [os.path.join(folder, "mutant.o") if part == object_file else part for part in self.links[library]]
        command[command.index("-o") + 1] = os.path.join(folder, library)
        if os.path.join(folder, "mutant.o") not in command:
            sys.exit(f"mutate: {object_file} is not part of {library}")
        subprocess.run(command + list(more), cwd=self.build, check=True, capture_output=True)

    def run(self, name, folder, sanitizers=None):
        """Whether the test passes with the libraries of the folder (None: it took too long), and its processor time."""
        limit = int(10.0 + 10.0 * self.usual.get(name, 30.0))
        place = os.path.join(folder, "place")
        shutil.rmtree(place, ignore_errors=True)
        os.makedirs(place)
        # Set before the test starts, by a shell: a function between fork and exec is not safe beside other threads.
        memory = "unlimited" if sanitizers else 6 << 20  # shadow memory is address space, not memory
        command = ["sh", "-c", f'ulimit -c 0; ulimit -v {memory}; ulimit -t {limit}; exec "$@"', "sh", *self.tests[name]]
        environment = dict(os.environ, LD_LIBRARY_PATH=":".join([folder, self.build, os.path.join(self.build, "lib")]), TMPDIR=place)
        if sanitizers:
            environment.update(LD_PRELOAD=sanitizers, ASAN_OPTIONS="detect_leaks=0:hard_rss_limit_mb=4096")
        process = subprocess.Popen(command, cwd=place, env=environment, start_new_session=True, stdin=subprocess.DEVNULL,
                                   stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        alarm = threading.Timer(60.0 + 4.0 * limit, lambda: os.killpg(process.pid, signal.SIGKILL))
        alarm.start()
        _, status, usage = os.wait4(process.pid, 0)
        alarm.cancel()
        try:
            os.killpg(process.pid, signal.SIGKILL)  # what it left running
        except ProcessLookupError:
            pass
        process.returncode = os.waitstatus_to_exitcode(status)
        spent = usage.ru_utime + usage.ru_stime
        if process.returncode in (0, 77):
            return True, spent
        return (None if spent >= limit or process.returncode == -signal.SIGKILL else False), spent

    def sanitized(self, path, text, folder):
        """Links the library with a source compiled with the sanitizers; what to load before a test then."""
        if self.compile(path, text, folder, SANITIZERS) is None:
            return None
        self.link(path, folder, SANITIZERS)
        compiler = self.compilations[path][0]
        return ":".join(subprocess.check_output([compiler, f"-print-file-name={library}"], text=True).strip()
                        for library in ("libasan.so", "libubsan.so"))

    def measure(self, rooms):
        """Checks that all tests pass on the unchanged source, and how long they take."""
        names = sorted({name for _, stages in rooms for stage in [*stages, OTHERS] for name in self.names(stage)} | (set(KNOWN) & self.tests.keys()))
        bad = []

        def one(name):
            if name in self.usual:
                return
            passed, spent = self.run(name, self.folder())
            if passed:
                self.usual[name] = spent
            else:
                bad.append(name)
                print(f"mutate: {name} fails without any mutation; left out", flush=True)
                del self.tests[name]
            self.remember()

        with concurrent.futures.ThreadPoolExecutor(self.jobs) as pool:
            list(pool.map(one, names))
        if len(bad) > 0.1 * len(names):
            sys.exit("mutate: too many tests fail without any mutation")

    def folder(self, name="mutant"):
        """An empty folder of this thread."""
        folder = os.path.join(self.work, "tries", str(threading.get_ident()), name)
        shutil.rmtree(folder, ignore_errors=True)
        os.makedirs(folder)
        return folder


def try_sanitized(copy, path, original, text, stage):
    """The test of the stage that fails under the sanitizers with this text, and passes so with the original; or None."""
    folder, before = copy.folder(), copy.folder("before")
    loaded = copy.sanitized(path, text, folder)
    is_linked = False
    for name in copy.ordered(copy.names(stage), path) if loaded else []:
        if copy.run(name, folder, loaded)[0]:
            continue
        is_linked = is_linked or copy.sanitized(path, original, before) is not None
        if is_linked and copy.run(name, before, loaded)[0]:
            return name
    return None


def try_mutation(copy, mutation, budget, is_wanted):
    """The verdict. is_wanted tells, once the mutation is known to be one, whether it still counts."""
    path = mutation["file"]
    with open(os.path.join(copy.tree, path), encoding="utf-8") as file:
        original = file.read()
    lines = original.split("\n")
    line = lines[mutation["line"] - 1]
    mutation["was"] = line.strip()
    lines[mutation["line"] - 1] = line[: mutation["start"]] + mutation["new"] + line[mutation["end"]:]
    mutation["is"] = lines[mutation["line"] - 1].strip()
    folder = copy.folder()
    before, after = copy.unchanged(path, original, folder), copy.compile(path, "\n".join(lines), folder)
    if after is None:
        return "does not compile"
    if after == before:
        return "the same code"
    if not is_wanted():
        return "not wanted"
    copy.link(path, folder)
    done = set()
    for stage in [*mutation["stages"], OTHERS]:
        for name in copy.ordered([name for name in copy.names(stage) if name not in done], path):
            done.add(name)
            if budget <= 0.0:
                break
            passed, spent = copy.run(name, folder)
            budget -= spent
            caught, tried = copy.caught.get(name, (0, 0))
            copy.caught[name] = (caught + (not passed), tried + 1)
            if not passed:
                return f"caught by {name}" + (" (does not end)" if passed is None else "")
    for name in KNOWN:
        if name in copy.tests and not copy.run(name, folder)[0]:
            return f"caught by {name} alone"
    name = try_sanitized(copy, path, original, "\n".join(lines), mutation["stages"][0])
    return f"caught by {name} (sanitized)" if name else "survived"


class Series:
    """Mutations in the order in which they are drawn, tried by several at a time until enough were."""

    def __init__(self, copy, mutations, options, log):
        self.copy, self.mutations, self.options, self.log = copy, mutations, options, log
        self.rng, self.lock = random.Random(options.seed), threading.Lock()
        self.count = 1 if options.at else options.count
        self.wanted = self.broken = self.same = 0
        self.drawn, self.results = set(), []

    def next(self):
        with self.lock:
            while self.wanted < self.count and len(self.drawn) < len(self.mutations):
                mutation = draw(self.mutations, self.rng)
                key = (mutation["file"], mutation["line"], mutation["start"], mutation["new"])
                if key not in self.drawn:
                    self.drawn.add(key)
                    return dict(mutation)
        return None

    def take(self):
        with self.lock:
            is_wanted = self.wanted < self.count
            self.wanted += is_wanted
            return is_wanted

    def note(self, mutation):
        with self.lock:
            verdict = mutation["verdict"]
            self.broken += verdict == "does not compile"
            self.same += verdict == "the same code"
            if verdict in ("does not compile", "the same code", "not wanted"):
                return
            self.results.append(mutation)
            self.log.write(json.dumps({key: mutation[key] for key in ("file", "line", "kind", "was", "is", "verdict")}) + "\n")
            self.log.flush()
            print(f"{len(self.results):4d} {mutation['file']}:{mutation['line']}: {mutation['was']}\n     -> {mutation['is']}\n"
                  f"     {verdict}", flush=True)
        self.copy.remember()

    def work(self):
        while (mutation := self.next()) is not None:
            mutation["verdict"] = try_mutation(self.copy, mutation, self.options.budget, self.take)
            self.note(mutation)

    def run(self):
        with concurrent.futures.ThreadPoolExecutor(self.copy.jobs) as pool:
            for worker in [pool.submit(self.work) for _ in range(self.copy.jobs)]:
                worker.result()


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
    parser.add_argument("--built", action="store_true")
    parser.add_argument("--list", action="store_true")
    options = parser.parse_args()
    if options.list:
        rng, mutations = random.Random(options.seed), all_mutations(ROOT, options.only)
        for _ in range(options.count):
            m = draw(mutations, rng)
            print(f"{m['file']}:{m['line']}: {m['kind']}: {m['new']!r}")
        return 0
    copy = Copy(os.path.abspath(options.work), options.jobs, options.built)
    mutations = [mutation_at(options.at, copy.tree)] if options.at else all_mutations(copy.tree, options.only)
    print(f"{len(mutations)} places; {len(copy.tests)} tests", flush=True)
    copy.measure([room for room in ROOMS if any(m["file"].startswith(os.path.dirname(room[0])) for m in mutations)])
    with open(options.out or os.path.join(options.work, "results.jsonl"), "a", encoding="utf-8") as log:
        series = Series(copy, mutations, options, log)
        series.run()
    shutil.rmtree(os.path.join(copy.work, "tries"), ignore_errors=True)
    survivors = [m for m in series.results if m["verdict"] == "survived"]
    caught = len(series.results) - len(survivors)
    known = sum(m["verdict"].endswith(" alone") for m in series.results)
    print(f"\n{caught} of {len(series.results)} caught, {known} of them by known bits alone; not counted: {series.same} with the same code, {series.broken} that do not compile")
    for m in survivors:
        print(f"survived: {m['file']}:{m['line']}: {m['was']}\n          -> {m['is']}")
    return 0 if series.results and caught >= 0.95 * len(series.results) else 1


if __name__ == "__main__":
    sys.exit(main())
