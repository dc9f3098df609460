"""Types: a strict checker finds nothing in programs as users write them, and the programs run."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

PROGRAMS = Path(__file__).parent / "typed"


@pytest.mark.parametrize("name", sorted(path.stem for path in PROGRAMS.glob("*.py")))
def test_programs_run(name: str, tmp_path: Path):
    done = subprocess.run(
        [sys.executable, PROGRAMS / f"{name}.py"], cwd=tmp_path, env={**_environment(), "MPLBACKEND": "agg"},
        capture_output=True, text=True, check=False,
    )
    assert done.returncode == 0, done.stderr


def _environment() -> dict[str, str]:
    import os

    return {**os.environ, "PYTHONPATH": os.pathsep.join(path for path in sys.path if path)}


def test_pyright_finds_nothing(tmp_path: Path):
    pytest.importorskip("pyright")
    import tippe

    for path in PROGRAMS.glob("*.py"):
        shutil.copy(path, tmp_path)
    folder = str(Path(tippe.__file__).parent.parent)
    settings = {"typeCheckingMode": "strict", "extraPaths": [folder]}
    (tmp_path / "pyrightconfig.json").write_text(json.dumps(settings))
    command = [sys.executable, "-m", "pyright", "--outputjson", "--pythonpath", sys.executable]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    if not done.stdout.startswith("{"):
        pytest.skip(f"pyright does not run here: {done.stdout[-300:]} {done.stderr[-300:]}")
    answer = json.loads(done.stdout)
    found = [f"{item['file']}:{item['range']['start']['line'] + 1}: {item['message']}" for item in answer["generalDiagnostics"]]
    assert answer["summary"]["filesAnalyzed"] == len(list(PROGRAMS.glob("*.py")))
    assert not found, "\n".join(found)
