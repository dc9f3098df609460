#!/usr/bin/env python3
"""Each source of dynamics/ and of the rooms of sweeps and small steps has a test. Usage: check_tests.py SOURCE_DIR

The test of src/ROOM/file.c is tests/ROOM/test_file.c. A source without a header of its own (a part of a
larger one, such as time_step_motion.c) is tested with the header that declares its functions. The
table below has tests with other names; each must call a function that its source defines.
"""

import pathlib
import re
import sys

ROOMS = ("dynamics", "sweeps")

# Sources whose test has another name.
ELSEWHERE = {
    "dynamics/contact_info": "dynamics/test_tally",  # contacts are made into infos there
    "dynamics/figures": "dynamics/test_report",  # figures by name
    "sweeps/kernels": "sweeps/test_sweeper",  # all widths of the machine against each other
}

# Folders of steppers: their sources are parts of one step, and their tests run whole steps.
STEPPERS = {"small_steps": "test_small_steps*.c", "auto": "test_auto*.c"}

FUNCTION = re.compile(r"^(?!static)[\w* ]+?\b(tp\w+)\([^;{]*\) \{", re.M)


def defined(path):
    return set(FUNCTION.findall(path.read_text(encoding="utf-8")))


def header_of(path, functions):
    """The header of the room that declares a function of the source."""
    for header in sorted(path.parent.glob("*.h")):
        text = header.read_text(encoding="utf-8")
        if any(re.search(rf"\b{name}\(", text) for name in functions):
            return header.stem
    return None


def test_of(root, room, source):
    """The file with the tests of a source, or None."""
    tests = root / "tests" / room
    name = f"{room}/{source.stem}"
    if name in ELSEWHERE:
        test = root / "tests" / f"{ELSEWHERE[name]}.c"
        text = test.read_text(encoding="utf-8") if test.exists() else ""
        return test if any(re.search(rf"\b{f}\(", text) for f in defined(source)) else None
    own = tests / f"test_{source.stem}.c"
    if own.exists():
        return own
    if source.with_suffix(".h").exists():
        return None
    header = header_of(source, defined(source))
    # Kernels for one width of the machine define a table alone; the room's name says whose.
    stems = [header] if header else [source.stem.rsplit("_", 1)[0], f"{source.stem.rsplit('_', 1)[0]}_pack"]
    for stem in stems:
        for folder in (tests, root / "tests" / "steppers"):
            if (folder / f"test_{stem}.c").exists():
                return folder / f"test_{stem}.c"
    return None


def main():
    root = pathlib.Path(sys.argv[1])
    wrong, count = [], 0
    for room in ROOMS:
        for source in sorted((root / "src" / room).glob("*.c")):
            test = test_of(root, room, source)
            count += 1
            if test is None or "cmocka_unit_test(" not in test.read_text(encoding="utf-8"):
                wrong.append(f"{source.relative_to(root)}: no test tests/{room}/test_{source.stem}.c")
    for folder, pattern in STEPPERS.items():
        if not list((root / "tests" / "steppers").glob(pattern)):
            wrong.append(f"src/steppers/{folder}: no test tests/steppers/{pattern}")
    if wrong:
        print("\n".join(wrong))
        sys.exit(f"{len(wrong)} sources have no test of their own")
    assert count > 50, "the sources were not found"
    print(f"{count} sources with tests")


if __name__ == "__main__":
    main()
