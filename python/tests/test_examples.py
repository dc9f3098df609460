"""The notebooks of python/examples run from beginning to end."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest
import tippe

NOTEBOOKS = sorted((Path(__file__).parent.parent / "examples").glob("*.ipynb"))


def test_there_are_notebooks():
    assert len(NOTEBOOKS) >= 5


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_notebooks_run(path: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    nbclient = pytest.importorskip("nbclient")
    nbformat = pytest.importorskip("nbformat")
    import os

    monkeypatch.setenv("PYTHONPATH", os.pathsep.join(part for part in sys.path if part))
    book = nbformat.read(path, as_version=4)
    assert all(not cell.get("outputs") for cell in book.cells), "notebooks are kept without outputs"
    nbclient.NotebookClient(book, timeout=300, kernel_name="python3", resources={"metadata": {"path": str(tmp_path)}}).execute()


def test_the_page_of_the_documents_runs(tmp_path: Path):
    script = Path(__file__).resolve().parents[2] / "tools" / "figures_python.py"
    if not script.exists():
        pytest.skip("the documents are not here")
    subprocess.run([sys.executable, str(script), str(tmp_path)], check=True)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["python_plot.svg", "python_sweep.svg"]


def test_first_lines_run():
    """Those of the README and of help(tippe)."""
    readme = Path(__file__).resolve().parents[2] / "README.md"
    texts = re.findall(r"```python\n(.*?)```", readme.read_text(encoding="utf-8"), re.DOTALL) if readme.exists() else []
    lines = (tippe.__doc__ or "").splitlines()
    texts.append("\n".join(line.strip() for line in lines if line.startswith("    ")))
    assert all("run.plot(" in text for text in texts)
    for text in texts:
        exec(text, {})


@pytest.mark.filterwarnings("ignore")
def test_the_cart_learns_to_balance(capsys: pytest.CaptureFixture[str]):
    pytest.importorskip("cma")
    import runpy

    train = runpy.run_path(str(Path(__file__).parent.parent / "examples" / "train.py"))["train"]
    _, done = train(hopper=False, generations=12, candidates=16, steps=200)
    assert done.earned.mean() > 100  # a pole left alone falls after 20
    assert "generation 0" in capsys.readouterr().out


def test_gym_comes_with_the_package():
    subprocess.run([sys.executable, "-c", "import tippe; tippe.gym.Environment"], check=True)
