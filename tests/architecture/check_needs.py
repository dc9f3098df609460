#!/usr/bin/env python3
"""Public functions look at the object that they are given before they use it.

The first parameter of a public function, where it points to a type of the library, is tested for NULL in its definition: by
TP_NEED, or because NULL has a meaning there.

Usage: check_needs.py SOURCE_DIR
"""
import os
import re
import sys

FIRST = re.compile(r"(?:const )?tp(?!Error\b|Allocator\b)\w+\* ?(\w+)$")


def texts(folder, ending):
    for place, _, files in os.walk(folder):
        for name in sorted(files):
            if name.endswith(ending):
                path = os.path.join(place, name)
                with open(path, encoding="utf-8") as file:
                    yield path, file.read()


def main():
    source = sys.argv[1]
    public = set()
    for _, text in texts(os.path.join(source, "include"), ".h"):
        public |= {m.group(1) for m in re.finditer(r"TP_API[^;{]*?\b(tp\w+)\s*\(", re.sub(r"//.*", "", text))}
    seen, missing = 0, []
    for path, text in texts(os.path.join(source, "src"), ".c"):
        for m in re.finditer(r"^(?!static)[a-zA-Z][\w *]*?[ *](tp\w+)\(([^;{}]*?)\) \{\n(.*?)^\}", text, re.M | re.S):
            name, parameters, body = m.groups()
            first = FIRST.match(" ".join(parameters.split(",")[0].split()))
            if name not in public or not first:
                continue
            seen += 1
            argument = first.group(1)
            if not re.search(rf"TP_NEED\({argument},|\b{argument} [!=]= NULL|\(void\){argument};", body):
                missing.append(f"{os.path.relpath(path, source)}: {name} does not test {argument} for NULL")
    for line in missing:
        print(line)
    if seen < 250:
        print(f"found {seen} functions only: is the pattern right?")
        return 1
    return 1 if missing else 0


if __name__ == "__main__":
    sys.exit(main())
