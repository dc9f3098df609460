"""Pages in notebooks and in the browser."""

from __future__ import annotations

import os
import tempfile
import webbrowser
from typing import Any

__all__ = ["show_page"]


class Page:
    """A page that a notebook shows inline, in a frame of its own."""

    def __init__(self, text: str, height: int) -> None:
        self.text = text
        self.height = height

    def _repr_html_(self) -> str:
        from html import escape

        return (
            f'<iframe srcdoc="{escape(self.text)}" width="100%" height="{self.height}" '
            'style="border: 0" sandbox="allow-scripts" allowfullscreen></iframe>'
        )

    def __repr__(self) -> str:
        return f"Page({len(self.text) / 1e6:.1f} MB)"


def in_notebook() -> bool:
    """Whether output goes to a notebook."""
    try:
        from IPython import get_ipython  # type: ignore[import-not-found,attr-defined,unused-ignore]
    except ImportError:
        return False
    shell: Any = get_ipython()
    return shell is not None and shell.__class__.__name__ == "ZMQInteractiveShell"


def show_page(text: str, height: int) -> Any:
    """Shows a page of HTML; see Run.show."""
    page = Page(text, height)
    if in_notebook():
        return page
    file, path = tempfile.mkstemp(prefix="tippe_", suffix=".html")
    with os.fdopen(file, "w", encoding="utf-8") as stream:
        stream.write(text)
    webbrowser.open("file://" + path)
    return path
