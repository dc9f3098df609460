"""The notebooks of python/examples run from beginning to end."""

from __future__ import annotations

from pathlib import Path

import pytest

NOTEBOOKS = sorted((Path(__file__).parent.parent / "examples").glob("*.ipynb"))


def test_there_are_notebooks():
    assert len(NOTEBOOKS) >= 5


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_notebooks_run(path: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    nbclient = pytest.importorskip("nbclient")
    nbformat = pytest.importorskip("nbformat")
    import os
    import sys

    monkeypatch.setenv("PYTHONPATH", os.pathsep.join(part for part in sys.path if part))
    book = nbformat.read(path, as_version=4)
    assert all(not cell.get("outputs") for cell in book.cells), "notebooks are kept without outputs"
    nbclient.NotebookClient(book, timeout=300, kernel_name="python3", resources={"metadata": {"path": str(tmp_path)}}).execute()


@pytest.mark.filterwarnings("ignore")
def test_the_cart_learns_to_balance(capsys: pytest.CaptureFixture[str]):
    pytest.importorskip("cma")
    import runpy

    train = runpy.run_path(str(Path(__file__).parent.parent / "examples" / "train.py"))["train"]
    _, earned = train(hopper=False, generations=12, candidates=16, steps=200)
    assert earned > 100  # a pole left alone falls after 20
    assert "generation 0" in capsys.readouterr().out


def test_gym_comes_with_the_package():
    import subprocess
    import sys

    subprocess.run([sys.executable, "-c", "import tippe; tippe.gym.Environment"], check=True)
