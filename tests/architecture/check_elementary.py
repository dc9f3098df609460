#!/usr/bin/env python3
"""The libraries call none of the C library's elementary functions: their last bits differ from system to system.

Usage: check_elementary.py NM ARCHIVE...

src/math/elementary.h has functions of our own. Functions of math.h whose result is exact (floor, ldexp, fmod, sqrt, ...)
may be called.
"""

import re
import subprocess
import sys

inexact = set("""acos acosh asin asinh atan atan2 atanh cbrt cos cosh erf erfc exp exp2 exp10 expm1 hypot j0 j1 jn lgamma log
log10 log1p log2 pow pow10 powi sin sincos sinh tan tanh tgamma y0 y1 yn""".split())


def main():
    nm, *archives = sys.argv[1:]
    wrong = []
    for archive in archives:
        listing = subprocess.run([nm, "-A", "--undefined-only", archive], check=True, capture_output=True, text=True).stdout
        if not listing:
            sys.exit(f"{archive} asks for nothing at all: that cannot be")
        for line in listing.splitlines():
            symbol = line.split()[-1]
            name = re.sub(r"^__|_finite$", "", symbol)
            if name in inexact or (name[-1:] in "fl" and name[:-1] in inexact):
                wrong.append(f"{line.split()[0]} calls {symbol}")
    if wrong:
        sys.exit("\n".join(wrong) + "\nuse src/math/elementary.h instead")
    print(f"{len(archives)} libraries call no inexact function of the C library")


main()
