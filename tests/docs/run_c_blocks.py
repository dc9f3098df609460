#!/usr/bin/env python3
"""Compiles and runs every C block of the documents that is a whole program.

Usage: run_c_blocks.py SOURCE_DIR COMPILER FLAGS... -- LIBRARIES...
A block without main is compiled inside a function, with the public headers in front.
"""
import os
import re
import subprocess
import sys
import tempfile

BLOCK = re.compile(r"^```c\n(.*?)^```", re.M | re.S)


def documents(source):
    yield os.path.join(source, "README.md")
    for name in sorted(os.listdir(os.path.join(source, "docs"))):
        if name.endswith(".md"):
            yield os.path.join(source, "docs", name)


def main():
    source = sys.argv[1]
    split = sys.argv.index("--")
    compile_command, libraries = sys.argv[2:split], sys.argv[split + 1:]
    ran = failed = 0
    with tempfile.TemporaryDirectory() as folder:
        for path in documents(source):
            text = open(path, encoding="utf-8").read()
            for match in BLOCK.finditer(text):
                code = match.group(1)
                line = text.count("\n", 0, match.start()) + 2
                where = f"{os.path.relpath(path, source)}:{line}"
                if "int main(" not in code:
                    code = ("#include <stdio.h>\n#include <tippe/tippe.h>\nint main(void) {\n" + code + "return 0;\n}\n")
                file = os.path.join(folder, f"block{ran}.c")
                with open(file, "w", encoding="utf-8") as out:
                    out.write(code)
                program = os.path.join(folder, f"block{ran}")
                ran += 1
                built = subprocess.run([*compile_command, file, "-o", program, *libraries], capture_output=True, text=True)
                if built.returncode:
                    failed += 1
                    print(f"{where}: does not compile\n{built.stderr}")
                    continue
                result = subprocess.run([program], capture_output=True, text=True, timeout=60, cwd=folder)
                if result.returncode:
                    failed += 1
                    print(f"{where}: ends with {result.returncode}\n{result.stdout}{result.stderr}")
    print(f"{ran} blocks, {failed} failed")
    return 1 if failed or ran == 0 else 0


if __name__ == "__main__":
    sys.exit(main())
