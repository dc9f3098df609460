#!/usr/bin/env python3
"""The manual page of tippe, from the program's own help.

Usage: man_page.py PROGRAM > docs/tippe.1. tools/update_docs.sh runs it.
"""
import re
import subprocess
import sys

HEAD = r""".\" Made by tools/man_page.py from the program's help.
.TH TIPPE 1 "" "tippe {version}" "User Commands"
.SH NAME
tippe \- simulate rigid bodies with contact and friction
.SH SYNOPSIS
.B tippe
.I COMMAND
[\fIoptions\fR]
.SH DESCRIPTION
Tippe simulates rigid bodies that touch. A scene is a JSON file; a command runs it, checks it, compares
methods on it or shows it in a browser. Five published methods of stepping bodies with contact and
friction are behind one interface, and every step comes with a certificate of how exactly the laws of
contact were met.
.SH COMMANDS
"""

TAIL = r""".SH FILES
.TP
.I PREFIX/share/tippe/scenes
The scenes that came with Tippe.
.BR "tippe list scenes" " names them."
.TP
.I PREFIX/share/tippe/scene.schema.json
The JSON Schema of scene files.
.TP
.I PREFIX/share/doc/tippe
Documents: README.md first.
.SH EXAMPLES
.nf
tippe run falling_rod \-\-csv rod.csv
tippe view card_house
tippe compare bouncing_ball
tippe check my_scene.json
.fi
"""


def run(*command):
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout


def escape(text):
    text = text.replace("\\", r"\e").replace("-", r"\-")
    return re.sub(r"^([.'])", r"\\&\1", text, flags=re.MULTILINE)


def command_part(program, name):
    usage, summary, rest = run(program, name, "--help").split("\n\n", 2)
    page = [f".SS {escape(usage.removeprefix('usage: '))}", escape(summary) + "."]
    entries, _, notes = rest.partition("\n\n")
    # An entry starts at two blanks; what continues it is further in.
    for entry in re.split(r"\n(?=  \S)", entries.strip("\n")):
        label, _, about = entry.strip().partition("  ")
        if not about and "\n" in label:
            label, _, about = label.partition("\n")
        page += [".TP", r"\fB" + escape(label.strip()) + r"\fR", escape(" ".join(about.split()))]
    for paragraph in notes.strip("\n").split("\n\n") if notes.strip() else []:
        page += [".PP", ".nf" if re.search(r"^  ", paragraph, re.MULTILINE) else ".", escape(paragraph)]
        if page[-2] == ".nf":
            page.append(".fi")
    return "\n".join(line for line in page if line != ".")


def main():
    program = sys.argv[1]
    text = run(program, "--help")
    commands = re.findall(r"^  ([a-z]+)  +", text, re.MULTILINE)
    version = run(program, "--version").split()[1]
    status = text[text.index("Exit status: ") + len("Exit status: "):]
    print(HEAD.format(version=version), end="")
    for name in commands:
        print(command_part(program, name))
    print(".SH EXIT STATUS\n" + escape(" ".join(status.split())))
    print(TAIL, end="")


if __name__ == "__main__":
    main()
