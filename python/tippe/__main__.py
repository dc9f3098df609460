"""The program `tippe`, as pip installs it: hands the command line to the program that came with the package."""

from __future__ import annotations

import os
import sys
from pathlib import Path


def program() -> Path:
    """The program that came with the package."""
    return Path(__file__).parent / "bin" / "tippe"


def main() -> int:
    path = program()
    if not path.exists():
        print("tippe: this installation has no program; install the package again", file=sys.stderr)
        return 2
    os.execv(path, ["tippe", *sys.argv[1:]])


if __name__ == "__main__":
    sys.exit(main())
