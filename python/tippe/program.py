"""The program `tippe` that came with the package."""

from __future__ import annotations

import subprocess
from collections.abc import Sequence
from pathlib import Path

from .errors import UnsupportedError

__all__ = ["program_path", "run_program"]


def program_path() -> Path:
    """The program that came with the package."""
    path = Path(__file__).parent / "bin" / "tippe"
    if not path.exists():
        raise UnsupportedError("this installation of the package has no program `tippe`")
    return path


def run_program(arguments: Sequence[str]) -> str:
    """Runs the program and returns what it printed; raises UnsupportedError with its message if it fails."""
    done = subprocess.run([program_path(), *arguments], capture_output=True, text=True, check=False)
    if done.returncode != 0:
        message = done.stderr.strip() or f"tippe {arguments[0]}: exit status {done.returncode}"
        raise UnsupportedError(message)
    return done.stdout
