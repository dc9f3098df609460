"""The commands `tippe fit` and `tippe score`: tippe.measured from the shell."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Sequence
from typing import Any

__all__ = ["COMMANDS", "main"]

COMMANDS = ("fit", "score")


def _parser(command: str) -> argparse.ArgumentParser:
    about = {
        "fit": "Identifies numbers of a scene from measured motions: values, intervals, held-out scores.",
        "score": "Simulates measured motions and prints how far the simulation is from them.",
    }
    parser = argparse.ArgumentParser(prog=f"tippe {command}", description=about[command])
    parser.add_argument("scene", help="a scene file, or the name of a scene that comes with Tippe")
    parser.add_argument("motions", help="a table of measured poses: time (or frame), x y z qw qx qy qz (or BODY.x ...), and a column for several motions")
    parser.add_argument("--body", help="the measured body, if columns do not name it")
    parser.add_argument("--rate", type=float, help="frames per second, if the table has frames instead of times")
    parser.add_argument("--scale", type=float, default=1.0, help="factor of all measured lengths")
    parser.add_argument("--point", choices=("center_of_mass", "frame"),
                        help="what x y z are: the centre of mass, or the origin of the body's frame, which markers show; by default the frame for columns x y z, "
                             "the centre of mass for BODY.x ...")
    parser.add_argument("--size", type=float, default=1.0, help="length that position errors are divided by, m")
    parser.add_argument("--stepper", help="instead of the scene's")
    parser.add_argument("--step", type=float, help="longest step, s")
    parser.add_argument("--threads", type=int, help="threads; all cores by default")
    parser.add_argument("--json", metavar="FILE", help="writes the result as JSON")
    if command == "fit":
        parser.add_argument("--vary", action="append", required=True, metavar="PATH=LOW:HIGH",
                            help="a number of the scene and its bounds, such as materials.wood.friction=0.1:0.6; PATH* is a factor; may be repeated")
        parser.add_argument("--trials", type=int, default=200, help="points at which all motions are simulated (200)")
        parser.add_argument("--folds", type=int, default=5, help="parts of the motions for the held-out scores (5)")
        parser.add_argument("--nested", action="store_true", help="search anew for each part, without it: as many trials again for each")
        parser.add_argument("--seed", type=int, default=0, help="of the search (0)")
    else:
        parser.add_argument("--set", action="append", default=[], metavar="PATH=VALUE", help="a number of the scene; may be repeated")
        parser.add_argument("--csv", metavar="FILE", help="writes a row per motion")
    return parser


def _bounds(texts: Sequence[str]) -> dict[str, tuple[float, float]]:
    made: dict[str, tuple[float, float]] = {}
    for text in texts:
        path, equals, ends = text.partition("=")
        low, colon, high = ends.partition(":")
        try:
            made[path] = (float(low), float(high))
        except ValueError:
            equals = ""
        if not (path and equals and colon):
            raise ValueError(f"--vary {text}: expected PATH=LOW:HIGH")
    return made


def _values(texts: Sequence[str]) -> dict[str, float]:
    made: dict[str, float] = {}
    for text in texts:
        path, _, value = text.partition("=")
        try:
            made[path] = float(value)
        except ValueError:
            raise ValueError(f"--set {text}: expected PATH=VALUE") from None
    return made


def _write(path: str | None, result: dict[str, Any]) -> None:
    if path is not None:
        with open(path, "w", encoding="utf-8") as stream:
            json.dump(result, stream, indent=2)
            stream.write("\n")


def _run(command: str, given: argparse.Namespace) -> None:
    from . import measured

    motions = measured.read(given.motions, body=given.body, rate=given.rate, scale=given.scale, point=given.point)
    common: dict[str, Any] = {"stepper": given.stepper, "step": given.step, "size": given.size, "threads": given.threads}
    if command == "score":
        table = measured.score(given.scene, motions, parameters=_values(given.set), **common)
        summary = measured.summarise(table)
        print(f"{len(motions)} motions; intervals of 95 percent by the bootstrap")
        print(summary.to_string(float_format=lambda value: f"{value:.4g}"))
        if given.csv:
            table.to_csv(given.csv)
        _write(given.json, {"motions": len(motions), "scores": summary.to_dict(orient="index")})
        return
    found = measured.fit(given.scene, motions, _bounds(given.vary), trials=given.trials, folds=given.folds, nested=given.nested, seed=given.seed,
                         progress=sys.stderr.isatty(), **common)
    print(found)
    scores = {name: measured.summarise(table).to_dict(orient="index")
              for name, table in (("scene", found.start_scores), ("identified", found.scores), ("held_out", found.held_out))}
    _write(given.json, {"values": found.values, "intervals": found.intervals, "scores": scores, "trials": len(found.trials)})


def main(arguments: Sequence[str]) -> int:
    """Runs a command of COMMANDS; returns the exit status."""
    command = arguments[0]
    given = _parser(command).parse_args(list(arguments[1:]))
    try:
        _run(command, given)
    except (ValueError, OSError) as error:
        print(f"tippe {command}: {error}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        return 130
    return 0
