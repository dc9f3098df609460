#!/usr/bin/env python3
"""Programs load nothing from the current folder and are hardened, and libraries are compiled that way.

Usage: check_hardening.py [--library FILE.a]... PROGRAM... : each is looked at with readelf and nm.
"""
import re
import subprocess
import sys


def run(*command):
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout


def runpath_faults(dynamic):
    """What is wrong with the RPATH and RUNPATH that `readelf -d` prints."""
    wrong = []
    for kind, path in re.findall(r"\((RPATH|RUNPATH)\).*\[(.*)\]", dynamic):
        for entry in path.split(":"):
            if entry == "":
                wrong.append(f"{kind} has an empty entry: [{path}]")
            elif not entry.startswith(("/", "$ORIGIN/")):
                wrong.append(f"{kind} has a relative entry: {entry}")
    return wrong


def program_faults(program):
    dynamic = run("readelf", "-dW", program)
    segments = run("readelf", "-lW", program)
    header = run("readelf", "-hW", program)
    symbols = run("nm", "-D", program)
    wrong = runpath_faults(dynamic)
    if "GNU_RELRO" not in segments or not re.search(r"BIND_NOW|Flags:.*\bNOW\b", dynamic):
        wrong.append("no full RELRO")
    stack = re.search(r"GNU_STACK.*", segments)
    if stack is None or "E" in stack.group(0).split()[-2]:
        wrong.append("an executable stack")
    if not re.search(r"Type:\s+DYN", header):
        wrong.append("not position independent")
    if "__stack_chk_fail" not in symbols:
        wrong.append("no stack protector")
    if not re.search(r"__\w+_chk\b", symbols.replace("__stack_chk_fail", "")):
        wrong.append("no _FORTIFY_SOURCE")
    return wrong


def library_faults(library):
    symbols = run("nm", library)
    wrong = []
    if "U __stack_chk_fail" not in symbols:
        wrong.append("no stack protector")
    if not re.search(r"U __\w+printf_chk", symbols):
        wrong.append("no _FORTIFY_SOURCE")
    return wrong


def self_test():
    assert runpath_faults("0x1d (RUNPATH) Library runpath: [/usr/lib/x:]")
    assert runpath_faults("0x1d (RUNPATH) Library runpath: [lib:/usr/lib]")
    assert not runpath_faults("0x1d (RUNPATH) Library runpath: [/usr/lib/x]")


def main():
    self_test()
    arguments, wrong = sys.argv[1:], []
    while arguments:
        name = arguments.pop(0)
        if name == "--library":
            name = arguments.pop(0)
            wrong += [f"{name}: {fault}" for fault in library_faults(name)]
        else:
            wrong += [f"{name}: {fault}" for fault in program_faults(name)]
    print("\n".join(wrong) or "nothing is loaded from the current folder; stacks, strings and addresses are guarded")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
