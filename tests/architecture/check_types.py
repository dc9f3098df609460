#!/usr/bin/env python3
"""No two types of the library and the program share a name. Usage: check_types.py SOURCE_DIR

A reader who meets a name in two rooms has to find out which of two things it is, and a debugger shows
either. Variants that are compiled one per file for the same thing are listed below with the reason.
"""

import collections
import pathlib
import re
import sys

# Variants of one type, of which every file has one.
VARIANTS = {
    "tpBroadPhase": "each kind of broad phase defines what the header only names",
    "wide": "numbers of a vector register, for each width of the machine",
    "wideMask": "their comparison",
    "light": "floats of a vector register, for each width of the machine",
    "lightMask": "their comparison",
}

COMMENT = re.compile(r"//[^\n]*|/\*.*?\*/|\"(?:\\.|[^\"\\])*\"", re.S)
TAGGED = re.compile(r"^(?:typedef )?(?:struct|union|enum) (\w+) \{", re.M)
CLOSED = re.compile(r"^\} (?:__attribute__\S* )?(\w+);", re.M)
FUNCTION = re.compile(r"^typedef [^;{]*\(\*?(\w+)\)\(", re.M)
ALIAS = re.compile(r"^typedef (?!struct \w+ \w+;)[^;{()]* (\w+);", re.M)


def types_of(text):
    text = COMMENT.sub("", text)
    # "} name;" also ends a table of a struct type that has no name: only types follow "typedef".
    names = set(TAGGED.findall(text)) | set(FUNCTION.findall(text)) | set(ALIAS.findall(text))
    for match in CLOSED.finditer(text):
        opening = text.rfind("\n}", 0, match.start())
        if "typedef" in text[opening : match.start()]:
            names.add(match.group(1))
    return names


def main():
    root = pathlib.Path(sys.argv[1])
    places = collections.defaultdict(list)
    count = 0
    for folder in ("include", "src", "app"):
        for path in sorted((root / folder).rglob("*.[ch]")):
            for name in types_of(path.read_text(encoding="utf-8")):
                places[name].append(str(path.relative_to(root)))
                count += 1
    wrong = {name: files for name, files in places.items() if len(files) > 1 and name not in VARIANTS}
    for name, files in sorted(wrong.items()):
        print(f"{name}: a type in {', '.join(files)}")
    if wrong:
        sys.exit(f"{len(wrong)} names have several types")
    assert count > 400, "the types were not found"
    print(f"{count} types with names of their own")


if __name__ == "__main__":
    main()
