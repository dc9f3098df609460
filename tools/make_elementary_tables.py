#!/usr/bin/env python3
"""Writes src/math/elementary_tables.c: numbers that the elementary functions look up, correct to their last bit.

Usage: tools/make_elementary_tables.py > src/math/elementary_tables.c

Everything is computed with 80 decimal digits of the decimal module; only the 1,200 bits of 2 / pi need more.
"""

from decimal import Decimal, getcontext
from fractions import Fraction

getcontext().prec = 80


def arctangent(x):
    """The series of atan, for |x| < 1 as a Decimal."""
    halvings = 0
    while abs(x) > Decimal("0.01"):
        x = x / (1 + (1 + x * x).sqrt())
        halvings += 1
    total, term, k = Decimal(0), x, 1
    while abs(term) > Decimal(10) ** -(getcontext().prec + 2):
        total += term / k
        term *= -x * x
        k += 2
    return total * 2**halvings


def pi():
    return 4 * (4 * arctangent(Decimal(1) / 5) - arctangent(Decimal(1) / 239))


def pair(value):
    """A number as a sum of two doubles."""
    high = float(value)
    low = float(value - Decimal(high))
    return f"{{ {high.hex()}, {low.hex()} }}"


def rounded_to(value, bits):
    """The nearest multiple of 2^-bits."""
    return (value * 2**bits).to_integral_value() / Decimal(2**bits)


def table(kind, name, entries, per_line):
    lines = [f"const {kind} {name}[{len(entries)}] = {{"]
    for start in range(0, len(entries), per_line):
        lines.append("    " + ", ".join(entries[start:start + per_line]) + ",")
    return "\n".join(lines + ["};"])


def exponentials():
    return [pair((Decimal(j) * Decimal(2).ln() / 64).exp()) for j in range(64)]


def logarithms():
    """For z in interval j of 128 of [1, 2): a factor of few bits near 1 / z, and minus its logarithm.

    Intervals from sqrt(2) on are halved first. The high part of a logarithm is a multiple of 2^-42, so that sums with
    multiples of the high part of ln 2 are exact.
    """
    entries = []
    for j in range(128):
        centre = Fraction(257 + 2 * j, 256) if j < 53 else Fraction(257 + 2 * j, 512)
        factor = Fraction(round(512 / centre), 512) if j > 0 and j < 127 else Fraction(1)
        value = -(Decimal(factor.numerator) / Decimal(factor.denominator)).ln()
        high = rounded_to(value, 42)
        low = float(value - high)
        entries.append(f"{{ {float(factor).hex()}, {float(high).hex()}, {low.hex()} }}")
    return entries


def arctangents():
    return [pair(arctangent(Decimal(j) / 64) if j < 64 else pi() / 4) for j in range(65)]


def two_over_pi(words):
    """The bits of 2 / pi after the point, in words of 32."""
    getcontext().prec = 450
    value = int(Fraction(2) / Fraction(pi()) * 2**(32 * words))
    getcontext().prec = 80
    return [f"0x{(value >> 32 * (words - 1 - k)) & 0xffffffff:08x}u" for k in range(words)]


def main():
    print("// Written by tools/make_elementary_tables.py; see there what the numbers are.\n")
    print('#include "math/elementary_tables.h"\n')
    print("// clang-format off")
    print(table("tpTwo", "tp_exponentials", exponentials(), 1))
    print()
    print(table("tpLogEntry", "tp_logarithms", logarithms(), 1))
    print()
    print(table("tpTwo", "tp_arctangents", arctangents(), 1))
    print()
    print(table("uint32_t", "tp_twoOverPi", two_over_pi(38), 7))
    print("// clang-format on")


main()
