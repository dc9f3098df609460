"""The program `tippe`, as pip installs it: hands the command line to the program that came with the package, but for the commands that are
written in Python."""

from __future__ import annotations

import os
import sys
from pathlib import Path


def program() -> Path:
    """The program that came with the package."""
    return Path(__file__).parent / "bin" / "tippe"


def main() -> int:
    from .fit_command import COMMANDS
    from .fit_command import main as run_command

    if len(sys.argv) > 1 and sys.argv[1] in COMMANDS:
        return run_command(sys.argv[1:])
    if len(sys.argv) == 3 and sys.argv[1] == "help" and sys.argv[2] in COMMANDS:
        return run_command([sys.argv[2], "--help"])
    path = program()
    if not path.exists():
        print("tippe: this installation has no program; install the package again", file=sys.stderr)
        return 2
    os.execv(path, ["tippe", *sys.argv[1:]])


if __name__ == "__main__":
    sys.exit(main())
