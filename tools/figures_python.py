#!/usr/bin/env python3
"""Runs the Python of docs/python.md, which draws the pictures of that page. Needs the package: pip install .

Usage: tools/figures_python.py [FOLDER]      by default docs/figures
"""
import os
import re
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))


def draw(program, folder=os.path.join(ROOT, "docs", "figures")):
    """Called by tools/figures.py, too, whose Python may not have the package."""
    try:
        import matplotlib
        import tippe  # noqa: F401
    except ImportError as error:
        print(f"figures_python: skipped, {error}")
        return
    matplotlib.use("svg")
    matplotlib.rcParams["svg.hashsalt"] = "tippe"  # the same file each time
    with open(os.path.join(ROOT, "docs", "python.md"), encoding="utf-8") as stream:
        blocks = re.findall(r"```python\n(.*?)```", stream.read(), re.S)
    os.chdir(folder)
    names = {"__name__": "__main__"}
    for block in blocks:
        exec(compile(block, "docs/python.md", "exec"), names)


if __name__ == "__main__":
    draw(None, *sys.argv[1:])
