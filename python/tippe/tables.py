"""Tables in files."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import pandas


def read_csv(path: str | os.PathLike[str]) -> pandas.DataFrame:
    """A CSV file, its numbers to the last bit: pandas before version 3 does so only when asked, and later ones always."""
    import pandas

    exact: dict[str, Any] = {"float_precision": "round_trip"} if int(pandas.__version__.split(".")[0]) < 3 else {}
    return pandas.read_csv(path, **exact)
