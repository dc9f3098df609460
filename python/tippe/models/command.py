"""The command tippe-import."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from . import convert
from .errors import ModelError

__all__ = ["main"]


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="tippe-import",
        description="Makes a scene of a robot in MJCF or URDF, and says what the scene does not carry.",
        epilog="Exit status: 0; 1 if the model is not carried over whole and --strict is given; 2 if it cannot be read. Nothing is written then.",
    )
    parser.add_argument("model", help="an MJCF or URDF file")
    parser.add_argument("--out", required=True, metavar="SCENE.json", help="the scene; meshes go to a folder beside it")
    parser.add_argument(
        "--strict",
        nargs="?",
        const="all",
        choices=("all", "missing"),
        help="fail if anything that concerns motion is left out; `missing`: what rigid contacts have no use for may be",
    )
    parser.add_argument("--report", metavar="FILE", help="write the report: JSON if the name ends in .json, else text")
    parser.add_argument("--keyframe", help="name or number of the keyframe to start from, or none (default: home, or the first)")
    parser.add_argument("--free-motors", action="store_true", help="torque motors do nothing; by default they hold the start")
    parser.add_argument("--floor", action="store_true", help="put a level floor under the lowest shape")
    parser.add_argument("--fixed-base", action="store_true", help="the root of a URDF stays where it is (default: it flies freely if it has a mass)")
    parser.add_argument("--merge", action="store_true", help="bodies without a joint become one with their parents")
    parser.add_argument("--no-visual", action="store_true", help="leave out what is only seen")
    parser.add_argument("--triangles", type=int, default=20000, metavar="N", help="at most so many in a mesh that is only seen (default: 20000)")
    parser.add_argument("--step", type=float, metavar="SECONDS", help="of the scene (default: the model's)")
    parser.add_argument("--package", action="append", default=[], metavar="NAME=FOLDER", help="where package://NAME of a URDF is")
    parser.add_argument("--quiet", action="store_true", help="print no report")
    return parser


def main(arguments: list[str] | None = None) -> int:
    parser = _parser()
    options = parser.parse_args(arguments)
    if options.step is not None and not 0 < options.step < 1e6:
        parser.error("--step: expected a time greater than zero")
    if options.triangles < 4:
        parser.error("--triangles: expected 4 or more")
    files = {"the model": options.model, "--out": options.out, "--report": options.report}
    places: dict[Path, str] = {}
    for name, file in files.items():
        if file and (other := places.setdefault(Path(file).resolve(), name)) != name:
            parser.error(f"{name}: the same file as {other}")
    packages: dict[str, str] = {}
    for item in options.package:
        name, _, folder = item.partition("=")
        if not name or not folder:
            parser.error(f'--package: expected NAME=FOLDER, found "{item}"')
        packages[name] = folder
    try:
        scene = convert(
            options.model,
            keyframe=options.keyframe,
            hold=not options.free_motors,
            merge=options.merge,
            visual=not options.no_visual,
            triangles=options.triangles,
            step=options.step,
            packages=packages,
            floor=options.floor,
            fixed_base=options.fixed_base,
        )
        text = scene.report.text()
        if not options.quiet:
            sys.stderr.write(text)
        kinds = {"all": ("missing", "changed", "rigid"), "missing": ("missing", "changed")}.get(options.strict or "", ())
        refused = sum(1 for _ in scene.report.of(*kinds))
        if options.report:
            Path(options.report).write_text(scene.report.json() if options.report.endswith(".json") else text, encoding="utf-8")
        if refused:
            print(f"tippe-import: {options.model}: {refused} notes, and --strict; nothing was written", file=sys.stderr)
            return 1
        scene.save(options.out)
    except ModelError as error:
        print(f"tippe-import: {error}", file=sys.stderr)
        return 2
    except OSError as error:
        print(f"tippe-import: {error.filename}: {error.strerror}", file=sys.stderr)
        return 2
    return 0


if __name__ == "__main__":
    sys.exit(main())
