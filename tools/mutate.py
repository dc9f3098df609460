#!/usr/bin/env python3
"""Judges the tests: changes one place of the source at a time and sees whether a test fails.

usage: tools/mutate.py [--count N] [--seed N] [--only REGEX] [--budget S] [--work DIR] [--out FILE] [--jobs N] [--built] [--carry]
                       [--counted REGEX] [--quick] [--list]
       tools/mutate.py --at FILE:LINE:OLD:NEW [--work DIR]

A mutation is one wrong comparison, sign, factor, constant, condition or statement that was left out, at a random
place of the files below. Sources and build are a copy of the last commit (build/mutate, reused by the next run); the
working tree is not touched. A mutation costs one compilation and one link, because tests and program share one
library there; --jobs N tries N at a time. --built takes copy and build as they are (on a machine that has the
compiler, but neither CMake nor git).

Not every change is a mutation. Drawn again, and counted apart, is what does not compile and what gives the same
object code, which is proof that nothing changed. By rule the following are never made:
- ties of two doubles decided the other way (< for <=), and bounds of rounding merely doubled (by their constant, by a term or
  a sign of the sum that it is a part of, or by the sign of a name that they have): they are changed a thousandfold; so are, a hundredfold, constants with a name of their own (static const double): they are settings of
  a method, of which twice as much is another choice, not a mistake;
- whole numbers from 16 on made one more, which are limits of work and block sizes: they become an eighth;
- assertions, prefetches, sizes of memory (room, capacity, growth, the length of an array that is declared, scratch that is one larger), and from
  when on threads help (tasks, helpers), on which no result depends: they decide about speed or about nothing;
- a release or close that is left out: the sanitized tests see leaks, these do not.

First every test runs with a library that counts which lines it runs (gcov; kept in lines.json, done again for tests
that have changed, and for all if the library has; --carry takes earlier counts at their places in the present sources
instead, and tests that are new or have changed as if they ran every line; --counted REGEX counts only tests of such names and takes
the others to run every line: a first count in minutes). A mutation is tried only by tests that run its line, because the others cannot
notice it; so a try is cheap, and --budget leaves out few. The test of the mutated source comes first, then all that run code
of the library: those before the others whose sources share more of the rarer words of the lines around, that caught most in
the least time, and that are of the same room. The first one that fails ends the try. A line that no test runs survives at once, and the verdict says so. What passes them
is held to the known bits of runs (collision/known, determinism/known): they tell that something is another, not that it
is wrong, so that what they alone catch is told apart. A test that needs ten times its usual processor time fails, too.
What passes them all is compiled once more with the address and undefined-behaviour sanitizers, as the tests of the
preset "asan" are, with guards behind every piece of scratch, and tried by the tests of its room; where one of them fails, the unchanged source has to pass it in
the same way. --budget S ends the tests of a try, and those with sanitizers, after S seconds of processor time each: what
was not caught by then counts as survived, and the verdict says that not all tests were tried.

Results go to FILE (default build/mutate/results.jsonl), one line each; survivors are printed at the end. The exit
status is 0 if at least 95 of 100 were caught. --quick leaves out known bits and sanitizers, to look for gaps; its counts are
too low. --list prints the mutations without trying them; --at tries one.
"""
import argparse
import bisect
import collections
import concurrent.futures
import difflib
import fnmatch
import glob
import gzip
import hashlib
import json
import math
import os
import random
import re
import resource
import shlex
import shutil
import signal
import struct
import subprocess
import sys
import threading
import time

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))

# Which files are mutated, and the tests that judge them: in stages, each a regular expression of ctest's names.
ROOMS = [
    ("src/complementarity/*residual*.c", ["^complementarity/friction|^judge/", "^complementarity/"]),
    ("src/dynamics/*.c", ["^dynamics/", "^judge/|^determinism/|^agreement/",
                          "^laws/(closed_forms|joined|work|swings|cradle|tumbling)|^steppers/|^world/", "^app/(state|compare)|^papers/"]),
    ("src/recording/*.c", ["^recording/(audit|table|recording|pairs|kept_frames|journal|number|shapes_text)|^judge/",
                           "^recording/|^app/(program|compare|run_data|live_world)"]),
    ("src/collision/*.c", ["^collision/", "^determinism/|^agreement/", "^laws/(closed_forms|mesh_floor|leaning_cards)|^steppers/|^world/"]),
    ("src/sweeps/*.c", ["^sweeps/", "^steppers/small_steps", "^dynamics/|^determinism/|^agreement/", "^laws/|^steppers/|^world/"]),
    ("src/steppers/small_steps/*.c", ["^steppers/small_steps", "^sweeps/|^determinism/|^agreement/", "^laws/|^steppers/|^world/"]),
]

# Sources that are in none of the libraries of this build: a test compiles them for itself.
ELSEWHERE = ("src/recording/without_hdf5.c",)

# After the stages of a room: whatever else runs code of the library. Pages, packages, prose and layout do not.
OTHERS = "^(?!python/|viewer/|install/|architecture/|docs/|base/|math/|geometry/|scene/)"
# At the very end: bits that are only known, of which no law says that they are right. What they alone catch is counted apart.
KNOWN = ("collision/known", "determinism/known")
SCRATCH_SOURCE = "src/base/memory.c"
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


RELEASE = r"(?:free|close|TP_FREE_ARRAY|\w+close|\w+_destroy|tpRelease|tp\w+_(?:Destroy|Release|Close))\("


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

# Scratch of an arena that is larger than it need be; smaller is a mistake, which the sanitized tests see.
SCRATCH = re.compile(r"\b(TP_SCRATCH\w*|tpArena_Get\w*)\(")


ROUNDING = re.compile(r"(?<![\w.])\d+(?:\.\d*)?e-(?:9|[1-9]\d+) \* ([^;?<>&|]*)$")


def is_bound(line, kind, start):
    """Whether such a change is within what a bound of rounding is multiplied by: it changes it by a factor of about two."""
    m = ROUNDING.search(line[:start])
    return kind in ("sign", "extreme") and m is not None and (not m.group(1) or m.group(1).count("(") > m.group(1).count(")"))


SMALL = re.compile(r"double (\w{4,}) = [^;]*(?<![\w.])\d+(?:\.\d*)?e-(?:9|[1-9]\d+) \* ")


def is_named_bound(lines, number, kind, end):
    """Whether the sign of a bound of rounding is changed that has a name: its definition is among the lines before."""
    m = re.match(r"\w+\b(?![(.\[]|->)", lines[number][end:])
    return kind == "sign" and m is not None and any(m.group(0) in SMALL.findall(line) for line in lines[max(0, number - 30): number])


def is_idle(line, kind):
    """Whether such a change decides about speed or memory alone."""
    if re.search(r"\b(tasks|helpers)\b", line) and kind in ("comparison", "constant", "condition"):
        return True
    if SCRATCH.search(line) and kind == "constant":
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
            if not fnmatch.fnmatch(path, pattern) or path in ELSEWHERE or not re.search(only, path):
                continue
            with open(os.path.join(tree, path), encoding="utf-8") as file:
                text = file.read()
            lines = text.split("\n")
            for number, line in code_lines(text):
                for kind, find in OPERATORS:
                    if is_idle(line, kind):
                        continue
                    for start, end, new in find(line):
                        if is_bound(line, kind, start) or is_named_bound(lines, number, kind, end):
                            continue
                        found.append({"file": path, "line": number + 1, "kind": kind, "start": start, "end": end, "new": new,
                                      "stages": stages})
    return found


def draw(mutations, rng):
    """At random: first a kind, so that none is drowned by another, then a place."""
    kinds = sorted({m["kind"] for m in mutations})
    kind = rng.choice(kinds)
    return rng.choice([m for m in mutations if m["kind"] == kind])


def has_counts(path):
    """Whether a file of gcov counts anything: a record of zeros alone has a negative length."""
    with open(path, "rb") as file:
        data = file.read()
    place = 16  # magic, version, stamp, checksum
    while place + 8 <= len(data):
        tag, length = struct.unpack_from("<Ii", data, place)
        if tag == 0x01A10000 and length > 0:
            return True
        place += 8 + max(0, length)
    return False


def words_in(text):
    """The words that names are made of, in small letters."""
    return {word.lower() for word in re.findall(r"[A-Z]?[a-z]{3,}", text)}


def source_of(name):
    """The source of a test of a room."""
    room, _, test = name.partition("/")
    return f"tests/{room}/test_{test}.c"


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
        self.known = os.path.join(work, "tests.json")  # name: usual processor time; how often it caught and was tried; those in `stuck`
        self.usual, self.caught, self.objects, self.lock = {}, {}, {}, threading.Lock()
        self.words = None
        self.counted = time.monotonic()
        self.stuck = set()  # tests that do not end with the sanitizers
        self.seen, self.reached, self.texts = {}, {}, {}  # name: what it was made of; name: {source: [lines it runs, lines it does not]}; source: its text then
        if os.path.exists(self.known):
            with open(self.known, encoding="utf-8") as file:
                self.usual, self.caught, *stuck = json.load(file)
                self.stuck.update(*stuck)

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
        cache = shutil.which("ccache")
        launchers = [f"-DCMAKE_{language}_COMPILER_LAUNCHER={cache}" for language in ("C", "CXX") if cache]
        subprocess.run(["cmake", "-S", self.tree, "-B", self.build, "-G", "Ninja", "-DCMAKE_BUILD_TYPE=Release", "-DTIPPE_TESTS=ON",
                        "-DTIPPE_ONE_LINK=ON", "-DCMAKE_EXPORT_COMPILE_COMMANDS=ON", *launchers], check=True, stdout=subprocess.DEVNULL)
        # ctest tells the commands of tests that are there.
        if subprocess.run(["ninja", "-C", self.build, "-j", str(self.jobs)], stdout=subprocess.DEVNULL).returncode != 0:
            sys.exit("mutate: the unchanged source does not build")
        with open(os.path.join(self.build, "compile_commands.json"), encoding="utf-8") as file:
            entries = json.load(file)
        # Tests compile some sources once more, for themselves.
        # A mutant is compiled once: the cache is for the copy alone.
        compilations = {os.path.relpath(entry["file"], self.tree): [part for part in shlex.split(entry["command"]) if part != cache] for entry in entries
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
            json.dump([self.usual, self.caught, sorted(self.stuck)], file, indent=1)

    def names(self, stage):
        return [name for name in self.tests if re.search(stage, name) and not re.search("^(python|viewer|install)/", name) and name not in KNOWN]

    def words_of_tests(self):
        """{test: words of its source}, {word: how much it tells}."""
        if self.words is None:
            found = {}
            for name, command in self.tests.items():
                files = [source_of(name), *(os.path.relpath(part, self.tree) for part in command if part.startswith(self.tree) and part.endswith(".py"))]
                found[name] = set().union(*(words_in(self.text_of(path)) for path in files if os.path.isfile(os.path.join(self.tree, path))))
            count = collections.Counter(word for words in found.values() for word in words)
            self.words = found, {word: math.log(len(found) / number) for word, number in count.items()}
        return self.words

    def ordered(self, names, source, line=None, first=()):
        """The test of the source first, then those that speak of the same things as the lines around, have caught more and cost less;
        those of `first` count twice."""
        own = os.path.splitext(os.path.basename(source))[0]
        of_tests, tells = self.words_of_tests()
        lines = self.text_of(source).split("\n")
        near = words_in("\n".join(lines if line is None else lines[max(0, line - 15): line + 15])) | words_in(own)

        def worth(name):
            caught, tried = self.caught.get(name, (0, 0))
            words = of_tests.get(name, set())
            likeness = 0.3 + sum(tells.get(word, 0.0) for word in near & words) / (50.0 + len(words)) ** 0.5
            worth = likeness**2 * ((caught + 1.0) / (tried + 4.0) / (0.3 + self.usual.get(name, 1.0))) ** 0.5
            return (os.path.basename(name) != own, -worth * (2.0 if name in first else 1.0))

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

    def link(self, path, folder, more=(), others=None):
        """The library with the object of the folder in place of the source's; others: objects in place of those of other sources."""
        library = "libtippe_io.so" if path.startswith("src/recording") else "libtippe.so"
        compiled = self.compilations[path]
        object_file = compiled[compiled.index("-o") + 1]
        places = {object_file: os.path.join(folder, "mutant.o"), **(others or {})}
        command = [places.get(part, part) for part in self.links[library]]
        command[command.index("-o") + 1] = os.path.join(folder, library)
        if os.path.join(folder, "mutant.o") not in command:
            sys.exit(f"mutate: {object_file} is not part of {library}")
        subprocess.run(command + list(more), cwd=self.build, check=True, capture_output=True)

    def run(self, name, folder, sanitizers=None, counted=None):
        """Whether the test passes with the libraries of the folder (None: it took too long), and its processor time.

        Libraries that count lines write their counts to the folder counted."""
        limit = int(10.0 + 10.0 * self.usual.get(name, 30.0))
        place = self.folder("place")
        # Set before the test starts, by a shell: a function between fork and exec is not safe beside other threads.
        memory = "unlimited" if sanitizers else 6 << 20  # shadow memory is address space, not memory
        command = ["sh", "-c", f'ulimit -c 0; ulimit -v {memory}; ulimit -t {limit}; exec "$@"', "sh", *self.tests[name]]
        environment = dict(os.environ, LD_LIBRARY_PATH=":".join([folder, self.build, os.path.join(self.build, "lib")]), TMPDIR=place)
        if sanitizers:
            environment.update(LD_PRELOAD=sanitizers, ASAN_OPTIONS="detect_leaks=0:hard_rss_limit_mb=4096")
        if counted:
            environment.update(GCOV_PREFIX=counted, GCOV_PREFIX_STRIP="100")
        process = subprocess.Popen(command, cwd=place, env=environment, start_new_session=True, stdin=subprocess.DEVNULL,
                                   stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        alarm = threading.Timer(60.0 + (1.0 if sanitizers else 4.0) * limit, lambda: os.killpg(process.pid, signal.SIGKILL))
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
        # Under a sanitizer scratch has guards: src/base/memory.c.
        memory = self.compilations[SCRATCH_SOURCE]
        guarded = os.path.join(folder, "memory.o")
        if self.compile(SCRATCH_SOURCE, self.text_of(SCRATCH_SOURCE), folder, SANITIZERS) is None:
            return None
        os.replace(os.path.join(folder, "mutant.o"), guarded)
        if self.compile(path, text, folder, SANITIZERS) is None:
            return None
        self.link(path, folder, SANITIZERS, {memory[memory.index("-o") + 1]: guarded})
        compiler = self.compilations[path][0]
        return ":".join(subprocess.check_output([compiler, f"-print-file-name={library}"], text=True).strip()
                        for library in ("libasan.so", "libubsan.so"))

    def counting(self):
        """Libraries whose sources of the rooms count how often each line runs, in a folder of their own."""
        folder = os.path.join(self.work, "counting")
        if self.seen.get("") == self.mark(""):
            return folder
        shutil.rmtree(folder, ignore_errors=True)
        os.makedirs(folder)
        sources = [path for path in self.compilations if any(fnmatch.fnmatch(path, pattern) for pattern, _ in ROOMS)]
        objects = {path: os.path.join(folder, path.replace("/", "-")[:-2] + ".o") for path in sources}

        def one(path):
            command = list(self.compilations[path])
            command[command.index("-o") + 1] = objects[path]
            subprocess.run(command + ["--coverage", "-O1", "-fno-early-inlining"], cwd=self.build, check=True, capture_output=True)

        with concurrent.futures.ThreadPoolExecutor(self.jobs) as pool:
            list(pool.map(one, sources))
        places = {self.compilations[path][self.compilations[path].index("-o") + 1]: objects[path] for path in sources}
        for library, link in self.links.items():
            command = [places.get(part, part) for part in link] + ["--coverage"]
            command[command.index("-o") + 1] = os.path.join(folder, library)
            subprocess.run(command, cwd=self.build, check=True, capture_output=True)
        self.seen = {"": self.mark("")}
        return folder

    def mark(self, name):
        """What a test, or with no name the library, is made of: as long as this is the same, so are the lines it runs."""
        files = [part for part in self.tests[name] if os.path.isfile(part)] if name else [os.path.join(self.build, library) for library in self.links]
        digest = hashlib.sha256()
        for path in files:
            with open(path, "rb") as file:
                digest.update(file.read())
        return digest.hexdigest()

    def lines_of(self, counted, notes):
        """{source: [lines that ran, lines that did not]}, from the counts that a test left in a folder."""
        found, full = {}, [path for path in glob.glob(os.path.join(counted, "*.gcda")) if has_counts(path)]
        if not full:
            return found
        out = os.path.join(counted, "gcov")
        os.makedirs(out)
        for path in full:
            shutil.copy(os.path.join(notes, os.path.basename(path)[:-5] + ".gcno"), counted)
        subprocess.run(["gcov", "--json-format", "-o", counted, *full], cwd=out, capture_output=True, check=True)
        for path in glob.glob(os.path.join(out, "*.gz")):
            with gzip.open(path) as file:
                for source in json.load(file)["files"]:
                    name = os.path.relpath(os.path.join(self.build, source["file"]), self.tree)
                    if name in self.compilations:
                        ran = {line["line_number"] for line in source["lines"] if line["count"] > 0}
                        found[name] = [sorted(ran), sorted({line["line_number"] for line in source["lines"]} - ran)]
        return found

    def carry_over(self):
        """Lines that were counted in earlier sources, at their places in the present ones."""
        for path in {path for lines in self.reached.values() if lines for path in lines}:
            old = self.texts.get(path)
            if old is None or not os.path.exists(os.path.join(self.tree, path)):
                continue
            now = self.text_of(path)
            if old == now:
                continue
            places = {}
            for a, b, size in difflib.SequenceMatcher(None, old.split("\n"), now.split("\n"), autojunk=False).get_matching_blocks():
                places.update({a + k + 1: b + k + 1 for k in range(size)})
            for lines in self.reached.values():
                if lines and path in lines:
                    lines[path] = [sorted(places[line] for line in part if line in places) for part in lines[path]]

    def text_of(self, path):
        with open(os.path.join(self.tree, path), encoding="utf-8") as file:
            return file.read()

    def keep_lines(self):
        """Writes down which lines tests run, so that a count that is interrupted goes on where it was."""
        with self.lock:
            self.counted = time.monotonic()
            reached = dict(self.reached)
            paths = {path for found in reached.values() if found for path in found} | {source_of(name) for name in reached}
            self.texts = {path: self.text_of(path) for path in paths if os.path.exists(os.path.join(self.tree, path))}
            with open(os.path.join(self.work, "lines.json"), "w", encoding="utf-8") as file:
                json.dump([dict(self.seen), reached, self.texts], file)

    def measure(self, rooms, carries=False, wanted=""):
        """Checks that all tests pass on the unchanged source, how long they take, and which lines they run."""
        turns = {name: 0 for name in KNOWN if name in self.tests}  # those that come first in a try are counted first
        for turn, stage in sorted((turn, stage) for _, stages in rooms for turn, stage in enumerate([*stages, OTHERS])):
            for name in self.names(stage):
                turns.setdefault(name, turn)
        names = sorted(turns, key=lambda name: (turns[name], name))
        lines = os.path.join(self.work, "lines.json")
        if os.path.exists(lines):
            with open(lines, encoding="utf-8") as file:
                self.seen, self.reached, self.texts = json.load(file)
        if carries and self.seen and self.seen.get("") != self.mark(""):
            self.carry_over()
        bad, libraries = [], None if carries else self.counting()

        def one(name):
            if self.seen.get(name) == self.mark(name):
                return
            if carries:
                source = source_of(name)
                if name not in self.reached or (source in self.texts and self.texts[source] != self.text_of(source)):
                    self.reached[name] = None
                return
            if not re.search(wanted, name):
                self.reached[name] = None
                return
            counted = self.folder("counted")
            passed, spent = self.run(name, libraries, counted=counted)
            lines = self.lines_of(counted, libraries) if passed else None
            if not passed:  # a test that counts writes or memory may not bear being counted: it is taken to run every line
                passed, spent = self.run(name, self.folder())
            if passed:
                self.usual[name], self.reached[name], self.seen[name] = spent, lines, self.mark(name)
                if time.monotonic() > self.counted + 60.0:
                    self.keep_lines()
                    self.remember()
            else:
                bad.append(name)
                print(f"mutate: {name} fails without any mutation; left out", flush=True)
                del self.tests[name]

        with concurrent.futures.ThreadPoolExecutor(self.jobs) as pool:
            list(pool.map(one, names))
        self.remember()
        if not carries:
            self.keep_lines()
        if len(bad) > 0.1 * len(names):
            sys.exit("mutate: too many tests fail without any mutation")

    def reaches(self, name, path, line, is_constant):
        """Whether a test runs a line, or a line next to it if none but those are counted; of a constant outside of functions, whether it
        runs the source at all."""
        if name in self.reached and self.reached[name] is None:
            return True
        ran, others = self.reached.get(name, {}).get(path, [[], []])
        if is_constant or not ran:
            return bool(ran)
        counted = sorted([*ran, *others])
        place = bisect.bisect_left(counted, line)
        near = [line] if place < len(counted) and counted[place] == line else counted[max(0, place - 1): place + 1]
        return any(other in ran for other in near)

    def folder(self, name="mutant"):
        """An empty folder of this thread."""
        folder = os.path.join(self.work, "tries", str(threading.get_ident()), name)
        shutil.rmtree(folder, ignore_errors=True)
        os.makedirs(folder)
        return folder


def try_sanitized(copy, path, original, text, names, budget):
    """The test that fails under the sanitizers with this text, and passes so with the original; or None."""
    folder, before = copy.folder(), copy.folder("before")
    loaded = copy.sanitized(path, text, folder)
    is_linked = False
    for name in copy.ordered([name for name in names if name not in copy.stuck], path) if loaded else []:
        if budget <= 0.0:
            break
        passed, spent = copy.run(name, folder, loaded)
        budget -= spent
        if passed is None:
            copy.stuck.add(name)  # it passed without them: some tests wait for ever under preloaded sanitizers
        if passed or passed is None:
            continue
        is_linked = is_linked or copy.sanitized(path, original, before) is not None
        if is_linked and copy.run(name, before, loaded)[0]:
            return name
    return None


def try_mutation(copy, mutation, budget, is_wanted, is_quick=False):
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
    # Only tests that run the line can notice.
    runs_it = {name for name in copy.tests if copy.reaches(name, path, mutation["line"], not line.startswith(" "))}
    if not runs_it:
        return "survived (no test runs this line)"
    copy.link(path, folder)
    left = budget
    names = [name for name in copy.names("|".join([*mutation["stages"], OTHERS])) if name in runs_it]
    for name in copy.ordered(names, path, mutation["line"], copy.names(mutation["stages"][0])):
        if left <= 0.0:
            break
        passed, spent = copy.run(name, folder)
        left -= spent
        if passed:
            copy.usual.setdefault(name, spent)  # of a test whose lines were not counted
        caught, tried = copy.caught.get(name, (0, 0))
        copy.caught[name] = (caught + (not passed), tried + 1)
        if not passed:
            return f"caught by {name}" + (" (does not end)" if passed is None else "")
    if is_quick:
        return "survived" if left > 0.0 else "survived (not all tests that run this line were tried)"
    for name in KNOWN:
        if name in runs_it and not copy.run(name, folder)[0]:
            return f"caught by {name} alone"
    names = [name for name in copy.names(mutation["stages"][0]) if name in runs_it]
    name = try_sanitized(copy, path, original, "\n".join(lines), names, budget)
    if name:
        return f"caught by {name} (sanitized)"
    return "survived" if left > 0.0 else "survived (not all tests that run this line were tried)"


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
            mutation["verdict"] = try_mutation(self.copy, mutation, self.options.budget, self.take, self.options.quick)
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
    parser.add_argument("--carry", action="store_true")
    parser.add_argument("--counted", default="")
    parser.add_argument("--quick", action="store_true")
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
    copy.measure([room for room in ROOMS if any(m["file"].startswith(os.path.dirname(room[0])) for m in mutations)], options.carry,
                 options.counted)
    with open(options.out or os.path.join(options.work, "results.jsonl"), "a", encoding="utf-8") as log:
        series = Series(copy, mutations, options, log)
        series.run()
    shutil.rmtree(os.path.join(copy.work, "tries"), ignore_errors=True)
    survivors = [m for m in series.results if m["verdict"].startswith("survived")]
    caught = len(series.results) - len(survivors)
    known = sum(m["verdict"].endswith(" alone") for m in series.results)
    print(f"\n{caught} of {len(series.results)} caught, {known} of them by known bits alone; not counted: {series.same} with the same code, {series.broken} that do not compile")
    for m in survivors:
        print(f"{m['verdict']}: {m['file']}:{m['line']}: {m['was']}\n          -> {m['is']}")
    return 0 if series.results and caught >= 0.95 * len(series.results) else 1


if __name__ == "__main__":
    sys.exit(main())
