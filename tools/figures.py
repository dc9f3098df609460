#!/usr/bin/env python3
"""Draws the figures of the documents from runs of our own. Usage: tools/figures.py PROGRAM [MODULE...]

Each module figures_NAME.py has a function draw(program) that writes into docs/figures; without names all are drawn.
"""
import glob
import importlib
import os
import sys

HERE = os.path.dirname(os.path.abspath(__file__))


def main():
    program, *names = sys.argv[1:]
    found = sorted(os.path.basename(path)[len("figures_"):-len(".py")] for path in glob.glob(os.path.join(HERE, "figures_*.py")))
    for name in names or found:
        importlib.import_module("figures_" + name).draw(program)


if __name__ == "__main__":
    main()
