#!/usr/bin/env python3
"""Includes only go down the house: each room sees the rooms below it and the public headers.

Usage: check_includes.py SOURCE_DIR. With --self-test it checks itself on a made-up tree.
"""
import os
import re
import sys
import tempfile

SEES = {
    "base": [],
    "math": ["base"],
    "geometry": ["math"],
    "complementarity": ["math"],
    "collision": ["geometry"],
    "sweeps": ["math"],
    "dynamics": ["collision", "complementarity", "sweeps"],
    "steppers": ["dynamics"],
    "world": ["steppers"],
    "scene": ["world"],
    "recording": ["world"],
    "problems": ["complementarity"],
}
# Public headers that belong to a room that not every room may see.
PUBLIC = {
    "base": "base", "math": "math", "geometry": "geometry", "collision": "collision",
    "solver": "complementarity", "lcp": "complementarity", "friction": "complementarity",
    "complementarity": "complementarity", "scene": "scene", "recording": "recording",
    "problems": "problems",
}
# Rooms below the world take its types (reports, joints) from its headers; among headers they stand above.
HEADERS = {**PUBLIC, "world": "world", "joints": "world", "state": "world", "sensors": "world", "queries": "world"}
INCLUDE = re.compile(r'\s*#\s*include\s*"([^"]+)"')


def reach(room):
    seen = {room}
    for below in SEES[room]:
        seen |= reach(below)
    return seen


def check(source):
    wrong = []
    rooms = os.path.join(source, "src")
    for room in sorted(os.listdir(rooms)):
        if not os.path.isdir(os.path.join(rooms, room)):
            continue
        if room not in SEES:
            wrong.append(f"src/{room}: no such room in the house")
            continue
        for folder, _, files in os.walk(os.path.join(rooms, room)):
            for name in sorted(files):
                if not name.endswith((".c", ".h")):
                    continue
                path = os.path.join(folder, name)
                for number, line in enumerate(open(path, encoding="utf-8"), 1):
                    match = INCLUDE.match(line)
                    if not match:
                        continue
                    where = f"{os.path.relpath(path, source)}:{number}"
                    parts = match.group(1).split("/")
                    if parts[0] == "tippe":
                        owner = PUBLIC.get(parts[1].removesuffix(".h"))
                        if owner and owner not in reach(room):
                            wrong.append(f"{where}: {room} may not see tippe/{parts[1]}")
                    elif len(parts) < 2 or parts[0] not in SEES:
                        wrong.append(f"{where}: include \"{match.group(1)}\" names no room")
                    elif parts[0] not in reach(room):
                        wrong.append(f"{where}: {room} may not see {parts[0]}")
    return wrong + check_headers(source) + check_program(source)


def includes(path):
    with open(path, encoding="utf-8") as file:
        for number, line in enumerate(file, 1):
            match = INCLUDE.match(line)
            if match:
                yield number, match.group(1)


def check_headers(source):
    """Public headers include public headers of their own room and of those below, and nothing else."""
    wrong = []
    folder = os.path.join(source, "include", "tippe")
    for name in sorted(os.listdir(folder)) if os.path.isdir(folder) else []:
        owner = HEADERS.get(name.removesuffix(".h"))
        for number, path in includes(os.path.join(folder, name)):
            where = f"include/tippe/{name}:{number}"
            below = HEADERS.get(path.removeprefix("tippe/").removesuffix(".h"))
            if not path.startswith("tippe/"):
                wrong.append(f"{where}: a public header includes \"{path}\", which is not installed")
            elif owner and below and below not in reach(owner):
                wrong.append(f"{where}: {name} may not see {path}")
    return wrong


def check_program(source):
    """The program includes its own files, public headers, and rooms; no room includes the program."""
    wrong = []
    app = os.path.join(source, "app")
    for folder, _, files in os.walk(app):
        for name in sorted(files):
            if not name.endswith((".c", ".h")):
                continue
            for number, path in includes(os.path.join(folder, name)):
                first = path.split("/")[0]
                isOwn = any(os.path.exists(os.path.join(place, path)) for place in (app, folder))
                if not isOwn and first != "tippe" and first not in SEES and not path.startswith("page_"):
                    wrong.append(f"{os.path.relpath(os.path.join(folder, name), source)}:{number}: \"{path}\" is neither the "
                                 "program's, nor public, nor of a room")
    return wrong


def self_test():
    with tempfile.TemporaryDirectory() as tree:
        os.makedirs(os.path.join(tree, "src", "math"))
        with open(os.path.join(tree, "src", "math", "bad.c"), "w", encoding="utf-8") as file:
            file.write('#include "base/memory.h"\n#include "world/world.h"\n')
        wrong = check(tree)
        assert wrong == ["src/math/bad.c:2: math may not see world"], wrong


if __name__ == "__main__":
    self_test()
    errors = check(sys.argv[1])
    print("\n".join(errors) or "includes only go down")
    sys.exit(1 if errors else 0)
