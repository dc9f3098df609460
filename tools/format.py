#!/usr/bin/env python3
"""The format of the sources: clang-format for C and C++, and no line over 100 columns.

usage: tools/format.py [--check] [FILE...]

clang-format (.clang-format) lays out the code and leaves comments alone, because it would break tables
and derivations. The comments are wrapped here: a comment line that is too long is broken at a word, and
the rest goes to the front of the next line of the same paragraph. A line with two columns keeps its
second column. Without files: all sources. --check changes nothing and lists what differs.
Versions of clang-format differ in details: with another one than VERSION the layout of the code is
left alone, and only the columns are looked at.
"""

import os
import re
import shutil
import subprocess
import sys
import tempfile

LIMIT = 100
VERSION = "14"
ENDINGS = (".c", ".h", ".cpp")
SKIPPED = {"build", "node_modules"}
WHOLE = re.compile(r"^(\s*)//(/?!?<?)( *)(.*)$")  # a line that is all comment: indent, mark, space, text
TRAILING = re.compile(r"^(\s*\S.*?)(\s*)// (.*)$")
RULE = re.compile(r"-{8,}$")
COLUMNS = re.compile(r"^(.*\S {2,})\S")
ITEM = re.compile(r"^([-*] |\d+\. |\([a-z0-9]\) )")
DEEPEST = 56  # columns further to the right are left to their author
MIDST = re.compile(r"^([-+*/=<>|]|<=|>=|\d+[.)]) ")  # no line starts with these: they would read as an item
PARAGRAPH = 60  # a shorter line was ended on purpose, and what stands after it is not its continuation


def hanging(text):
    """How far the lines after the first one of this text are indented; None if too far."""
    columns = COLUMNS.match(text)
    if columns:
        return len(columns.group(1)) if len(columns.group(1)) < DEEPEST else None
    item = ITEM.match(text)
    return len(item.group(1)) if item else 0


def split(text, width):
    """The text up to a word that ends within the width, and the rest."""
    place = text.rfind(" ", 0, width + 1)
    while place > 0 and MIDST.match(text[place + 1 :]):
        place = text.rfind(" ", 0, place)
    head = text[:place].rstrip() if place > 0 else ""
    if not head:
        place = text.find(" ", width)
        if place < 0:
            return text, ""
        head = text[:place].rstrip()
    return head, text[place:].lstrip()


def goes_on(line, following, indent, inner):
    """Whether `following` continues the paragraph of `line`, whose further lines start at `inner`."""
    match = WHOLE.match(following)
    if not match or match.group(1) != indent or len(match.group(3)) != inner:
        return False
    text = match.group(4)
    return bool(text) and not ITEM.match(text) and not COLUMNS.match(text) and len(line) > PARAGRAPH


def wrap_whole(lines, index):
    """Breaks the comment line at `index`; the rest is joined to the next line or becomes one."""
    line = lines[index]
    indent, mark, space, text = WHOLE.match(line).groups()
    if RULE.search(text):
        lines[index] = line[:LIMIT]
        return
    if hanging(text) is None:
        return
    start = len(indent) + 2 + len(mark)
    inner = len(space) + hanging(text)
    head, rest = split(text, LIMIT - start - len(space))
    if not rest:
        return
    lines[index] = f"{indent}//{mark}{space}{head}"
    if index + 1 < len(lines) and goes_on(line, lines[index + 1], indent, inner):
        following = WHOLE.match(lines[index + 1])
        lines[index + 1] = f"{indent}//{mark}{' ' * inner}{rest} {following.group(4)}"
    else:
        lines.insert(index + 1, f"{indent}//{mark}{' ' * inner}{rest}")


def wrap_trailing(lines, index):
    """Breaks a comment after code: the rest stands under it, or all of it above if there is no room."""
    code, gap, text = TRAILING.match(lines[index]).groups()
    if code.count('"') % 2 == 1:  # the slashes are inside a string
        return
    column = len(code) + len(gap)
    if column <= 64:
        head, rest = split(text, LIMIT - column - 3)
        lines[index] = f"{code}{gap}// {head}"
        if rest:
            lines.insert(index + 1, f"{' ' * column}// {rest}")
    else:
        indent = code[: len(code) - len(code.lstrip())]
        lines[index] = code
        lines.insert(index, f"{indent}// {text}")


def wrap(text):
    """The text with its comments wrapped."""
    lines = text.split("\n")
    index = 0
    while index < len(lines):
        if len(lines[index]) > LIMIT:
            if WHOLE.match(lines[index]):
                wrap_whole(lines, index)
            elif TRAILING.match(lines[index]):
                wrap_trailing(lines, index)
        index += 1
    return "\n".join(lines)


def is_known_version():
    """Whether clang-format is the one whose layout the sources have."""
    text = subprocess.run(["clang-format", "--version"], capture_output=True, text=True, check=True).stdout
    found = re.search(r"version (\d+)\.", text)
    if not found or found.group(1) != VERSION:
        print(f"format: this is not version {VERSION} but {text.strip()}: the code's layout is not checked")
        return False
    return True


def laid_out(files):
    """What clang-format makes of the files with wrapped comments, by their names."""
    with tempfile.TemporaryDirectory() as folder:
        shutil.copy(".clang-format", folder)
        places = []
        for file in files:
            place = os.path.join(folder, file)
            os.makedirs(os.path.dirname(place), exist_ok=True)
            with open(file, encoding="utf-8") as source, open(place, "w", encoding="utf-8") as target:
                target.write(wrap(source.read()))
            places.append(place)
        half = (len(places) + 1) // 2 if is_known_version() else 0
        runs = [subprocess.Popen(["clang-format", "-i", *part]) for part in (places[:half], places[half:2 * half]) if part]
        if any(run.wait() for run in runs):
            sys.exit("format: clang-format failed")
        return {file: open(place, encoding="utf-8").read() for file, place in zip(files, places)}


def all_sources():
    """The sources of the repository, whether git knows them yet or not."""
    for folder, folders, names in os.walk("."):
        folders[:] = sorted(f for f in folders if f not in SKIPPED and not f.startswith("."))
        yield from (os.path.join(folder, name)[2:] for name in sorted(names) if name.endswith(ENDINGS))


def main():
    arguments = sys.argv[1:]
    is_check = "--check" in arguments
    files = [argument for argument in arguments if not argument.startswith("--")]
    if not files:
        os.chdir(os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
        files = list(all_sources())
    if not shutil.which("clang-format"):
        sys.exit("format: clang-format is missing; tools/setup.sh test installs it")

    wrong = []
    for file, text in laid_out(files).items():
        with open(file, encoding="utf-8") as source:
            was = source.read()
        if was != text:
            changed = next((i for i, (a, b) in enumerate(zip(was.split("\n"), text.split("\n"))) if a != b), 0)
            wrong.append(f"{file}:{changed + 1}: is laid out otherwise")
            if not is_check:
                with open(file, "w", encoding="utf-8") as target:
                    target.write(text)
        for number, line in enumerate(text.split("\n"), 1):
            if len(line) > LIMIT:
                wrong.append(f"{file}:{number}: {len(line)} columns")
                if not is_check:
                    print(wrong[-1])
    if is_check and wrong:
        print("\n".join(wrong))
        sys.exit(f"format: {len(wrong)} places; tools/format.py mends what it can")


if __name__ == "__main__":
    main()
