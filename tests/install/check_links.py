#!/usr/bin/env python3
"""Every library that a program loads is one of docs/dependencies.md, under a licence that is not the GPL.

Usage: check_links.py DEPENDENCIES.md PREFIX PROGRAM... : PREFIX is an installation (its pkg-config files are
read), each PROGRAM is listed by readelf (what it names) and ldd (what that brings along).
"""
import pathlib
import re
import subprocess
import sys


def stem(name):
    """libhdf5_serial.so.103 -> libhdf5_serial; libldap-2.5.so.0 -> libldap."""
    name = pathlib.PurePath(name).name
    name = re.sub(r"\.(so(\.[0-9]+)*|a)$", "", name)
    return re.sub(r"-[0-9]+\.[0-9.]+$", "", name)


def tables(text):
    """Licences by library, and the libraries that may be named directly (section Linked)."""
    licences, direct, section = {}, set(), ""
    for line in text.splitlines():
        if line.startswith("## "):
            section = line[3:].strip()
        cells = [cell.strip() for cell in line.strip().strip("|").split("|")]
        if not line.startswith("| ") or section not in ("Linked", "Reached through the system's HDF5"):
            continue
        if cells[0] == "library":
            continue
        for library in cells[0].split(","):
            licences[library.strip()] = cells[1]
            if section == "Linked":
                direct.add(library.strip())
    return licences, direct


def judge(licences, direct, named, loaded):
    wrong = []
    for library in sorted(set(named)):
        if library not in direct:
            wrong.append(f"{library} is linked, but not in the table of linked libraries")
    for library in sorted(set(loaded)):
        if library not in licences:
            wrong.append(f"{library} is loaded, but in no table")
    for library, licence in sorted(licences.items()):
        if re.match(r"A?GPL", licence):
            wrong.append(f"{library} has the licence {licence}")
    return wrong


def run(*command):
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout


def named_by(program):
    return [stem(name) for name in re.findall(r"\(NEEDED\).*\[(.*)\]", run("readelf", "-d", program))]


def loaded_by(program):
    lines = [line.split() for line in run("ldd", program).splitlines() if line.split()]
    missing = [words[0] for words in lines if "not" in words and "found" in words]
    assert not missing, f"{program}: not found: {missing}"
    return [stem(words[0]) for words in lines]


def named_by_packages(prefix):
    """What the pkg-config files make a user link: absolute names and -l."""
    names = []
    for path in pathlib.Path(prefix).rglob("*.pc"):
        for line in path.read_text(encoding="utf-8").splitlines():
            if line.startswith(("Libs:", "Libs.private:")):
                for word in line.split()[1:]:
                    if word.startswith("-l"):
                        names.append("lib" + word[2:])
                    elif not word.startswith("-"):
                        names.append(stem(word))
    return [name for name in names if name not in ("libtippe", "lib:libtippe.a", "libtippe_io")]


def self_test():
    text = "## Linked\n| library | licence |\n|---|---|\n| liba, libb | MIT |\n## Reached through the system's HDF5\n| libc2 | X |\n"
    licences, direct = tables(text)
    assert licences == {"liba": "MIT", "libb": "MIT", "libc2": "X"} and direct == {"liba", "libb"}
    assert judge(licences, direct, ["liba"], ["liba", "libc2"]) == []
    assert len(judge(licences, direct, ["libumfpack"], ["libumfpack"])) == 2
    assert len(judge(licences, direct, ["libc2"], [])) == 1
    assert len(judge({"libz": "GPL-2+"}, set(), [], [])) == 1
    assert stem("/lib/libldap-2.5.so.0") == "libldap" and stem("libhdf5_serial.so.103") == "libhdf5_serial"
    assert stem("/lib64/ld-linux-x86-64.so.2") == "ld-linux-x86-64"


def main():
    self_test()
    page, prefix, *programs = sys.argv[1:]
    licences, direct = tables(pathlib.Path(page).read_text(encoding="utf-8"))
    named = named_by_packages(prefix)
    loaded = []
    for program in programs:
        named += named_by(program)
        loaded += loaded_by(program)
    for library in sorted(set(loaded)):
        print(f"{library:24} {licences.get(library, 'unknown'):40} {'linked' if library in named else ''}")
    wrong = judge(licences, direct, named, loaded)
    print("\n".join(wrong))
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
