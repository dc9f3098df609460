#!/usr/bin/env python3
"""Runs the commands of the documents, and holds what they print against what the documents show.

Usage: run_commands.py SOURCE_DIR PROGRAM [DOCUMENT...]

A command is a line of a code block that begins with `tippe`, `$ tippe` or `build/release/bin/tippe`. All commands
of a document run in one folder, in their order, where `scenes` are those of the source. After `$ ` the lines that follow are what the command prints: words
must agree, numbers to two per cent (below 1e-6 they need only be as small), lines of time and memory not at all;
`...` stands for any lines. A command with a placeholder in capitals (SCENE, FILE) is not run.

Comments of Markdown tell the rest, each on a line of its own and about the next block or command:
    <!-- file: name -->      the next code block is written to that file
    <!-- setup: COMMAND -->  runs first, by the shell; for what the text takes for granted
    <!-- with: WORDS -->     is put at the end of the next command, to make it shorter
    <!-- status: N -->       the next command ends with this status instead of 0
    <!-- not run: WHY -->    the commands of the next code block are not run
"""
import os
import re
import shlex
import signal
import subprocess
import sys
import tempfile
import time

COMMAND = re.compile(r"^(\$ )?(?:build/release/bin/)?tippe (.*)$")
COMMENT = re.compile(r"^<!-- (file|setup|with|status|not run): (.*?) ?-->$")
PLACEHOLDER = re.compile(r"(?<![\w-])(?:SCENE|FILE|RUN|PROBLEM|NAME|STATE|MODEL|IMPACTS|COMMAND)\b")
CHANGING = re.compile(r"wall time|peak memory|processor time|of CPU|  time  |seconds|^  [a-z-]+ +solved ")
NUMBER = re.compile(r"[-+]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?")


def blocks(text):
    """Pieces of a document in order: ("comment", kind, words, line) and ("code", lines, line)."""
    lines = text.split("\n")
    at = 0
    while at < len(lines):
        match = COMMENT.match(lines[at])
        if match:
            yield "comment", match.group(1), match.group(2), at + 1
            at += 1
        elif lines[at].startswith("```"):
            start = at + 1
            at = next(i for i in range(start, len(lines)) if lines[i].startswith("```"))
            yield "code", lines[start:at], start + 1, None
            at += 1
        elif lines[at].startswith("    ") and (at == 0 or lines[at - 1] == "" or COMMENT.match(lines[at - 1])):
            start = at
            while at < len(lines) and (lines[at].startswith("    ") or (lines[at] == "" and at + 1 < len(lines)
                                                                        and lines[at + 1].startswith("    "))):
                at += 1
            yield "code", [line[4:] for line in lines[start:at]], start + 1, None
        else:
            at += 1


def agrees(shown, printed):
    """Whether a printed line is what the document shows."""
    if shown == printed or CHANGING.search(shown):
        return CHANGING.search(shown) is None or NUMBER.sub("#", shown).split()[:2] == NUMBER.sub("#", printed).split()[:2]
    if NUMBER.sub("#", shown).split() != NUMBER.sub("#", printed).split():
        return False
    for a, b in zip(NUMBER.findall(shown), NUMBER.findall(printed)):
        a, b = float(a), float(b)
        small = abs(a) < 1e-6 and abs(b) < 1e-6
        if not small and abs(a - b) > 0.02 * max(abs(a), abs(b)):
            return False
    return True


def compare(shown, printed):
    """The first line that differs, or None. `...` stands for any number of lines."""
    shown = [line.rstrip() for line in shown]
    printed = [line.rstrip() for line in printed]
    while shown and shown[-1] == "":
        shown.pop()
    while printed and printed[-1] == "":
        printed.pop()
    at = 0
    for i, line in enumerate(shown):
        if line.strip() == "...":
            if i + 1 == len(shown):
                return None
            while at < len(printed) and not agrees(shown[i + 1], printed[at]):
                at += 1
            continue
        if at >= len(printed) or not agrees(line, printed[at]):
            return f"shown:   {line}\nprinted: {printed[at] if at < len(printed) else '(nothing more)'}"
        at += 1
    return None if at == len(printed) else f"printed beyond what is shown: {printed[at]}"


def run_view(program, words, folder):
    """`tippe view`: must say its address, and end when it is told to."""
    process = subprocess.Popen([program, "view", *words, "--no-browser"], cwd=folder, text=True,
                               stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    line = process.stdout.readline()
    time.sleep(0.2)
    process.send_signal(signal.SIGTERM)
    process.stdout.read()
    process.wait(timeout=60)
    return None if "http://" in line else f"it said: {line}"


class Document:
    def __init__(self, path, where, program, folder):
        self.path, self.where, self.program, self.folder = path, where, program, folder
        self.ran, self.wrong = 0, []
        self.pending = {}

    def complain(self, line, words):
        self.wrong.append(f"{self.where}:{line}: {words}")

    def shell(self, command, line):
        environment = dict(os.environ, PATH=os.path.dirname(self.program) + os.pathsep + os.environ["PATH"])
        result = subprocess.run(command, shell=True, cwd=self.folder, env=environment, text=True,
                                stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=300)
        if result.returncode:
            self.complain(line, f"set-up '{command}' ends with {result.returncode}:\n{result.stdout}")

    def command(self, words, shown, line):
        words = re.sub(r"\s+#.*$", "", words)
        expected = int(self.pending.pop("status", 0))
        if PLACEHOLDER.search(words):
            return
        words = f"{words} {self.pending.pop('with', '')}"
        self.ran += 1
        arguments = shlex.split(words)
        if arguments[0] == "view":
            fault = run_view(self.program, arguments[1:], self.folder)
            if fault:
                self.complain(line, f"tippe {words}: {fault}")
            return
        environment = dict(os.environ, PATH=os.path.dirname(self.program) + os.pathsep + os.environ["PATH"])
        result = subprocess.run(f"tippe {words}", shell=True, cwd=self.folder, env=environment, text=True,
                                stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=300)
        if result.returncode != expected:
            self.complain(line, f"tippe {words} ends with {result.returncode}:\n{result.stdout}")
        elif shown is not None:
            fault = compare(shown, result.stdout.split("\n"))
            if fault:
                self.complain(line, f"tippe {words}\n{fault}")

    def code(self, lines, line):
        if "file" in self.pending:
            name = os.path.join(self.folder, self.pending.pop("file"))
            os.makedirs(os.path.dirname(name), exist_ok=True)
            with open(name, "w", encoding="utf-8") as file:
                file.write("\n".join(lines) + "\n")
            return
        if self.pending.pop("not run", None):
            return
        at = 0
        while at < len(lines):
            match = COMMAND.match(lines[at])
            start = at
            at += 1
            if not match:
                continue
            words = match.group(2)
            while words.endswith("\\"):
                words = words[:-1] + lines[at].strip()
                at += 1
            shown = None
            if match.group(1):
                end = at
                while end < len(lines) and not lines[end].startswith("$ "):
                    end += 1
                shown, at = lines[at:end], end
            self.command(words, shown, line + start)

    def run(self):
        for kind, first, second, line in blocks(open(self.path, encoding="utf-8").read()):
            if kind == "code":
                self.code(first, second)
            elif first == "setup":
                self.shell(second, line)
            else:
                self.pending[first] = second or "yes"


def self_test():
    assert agrees("  contacts  1.07 mean", "  contacts  1.071 mean")
    assert not agrees("  contacts  1.07 mean", "  contacts  1.2 mean")
    assert not agrees("right: 2 bodies", "valid: 2 bodies")
    assert agrees("residual 3e-15", "residual 7e-16") and not agrees("residual 3e-15", "residual 1")
    assert compare(["a", "...", "d"], ["a", "b", "c", "d"]) is None
    assert compare(["a"], ["a", "b"]) is not None and compare(["a", "b"], ["a"]) is not None
    found = list(blocks("<!-- file: x -->\n```json\n{}\n```\n\n    $ tippe x\n    y\n\ntext\n"))
    assert [piece[0] for piece in found] == ["comment", "code", "code"] and found[2][1] == ["$ tippe x", "y"]


def main():
    self_test()
    source, program, *documents = sys.argv[1:]
    if not documents:
        documents = ["README.md"] + sorted("docs/" + name for name in os.listdir(os.path.join(source, "docs"))
                                           if name.endswith(".md"))
    ran, wrong = 0, []
    for name in documents:
        with tempfile.TemporaryDirectory() as folder:
            os.symlink(os.path.join(os.path.abspath(source), "scenes"), os.path.join(folder, "scenes"))
            document = Document(os.path.join(source, name), name, os.path.abspath(program), folder)
            document.run()
            ran += document.ran
            wrong += document.wrong
    print("\n".join(wrong))
    print(f"{ran} commands, {len(wrong)} wrong")
    return 1 if wrong or ran == 0 else 0


if __name__ == "__main__":
    sys.exit(main())
