#!/usr/bin/env python3
"""Every public function has a caller in the tests.

Usage: check_callers.py SOURCE_DIR
"""
import os
import re
import sys


def texts(folder, endings):
    for place, _, files in os.walk(folder):
        for name in files:
            if name.endswith(endings):
                with open(os.path.join(place, name), encoding="utf-8", errors="replace") as file:
                    yield file.read()


def main():
    source = sys.argv[1]
    declared = set()
    for text in texts(os.path.join(source, "include"), (".h",)):
        declared |= {m.group(1) for m in re.finditer(r"TP_API[^;{]*?\b(tp\w+)\s*\(", text)}
    called = set()
    for folder in ("tests", "fuzz"):
        for text in texts(os.path.join(source, folder), (".c", ".h")):
            called |= set(re.findall(r"\btp\w+", text))
    missing = sorted(declared - called)
    for name in missing:
        print(f"{name} is public and no test calls it")
    if len(declared) < 300:
        print(f"found {len(declared)} public functions only: is the pattern right?")
        return 1
    return 1 if missing else 0


if __name__ == "__main__":
    sys.exit(main())
