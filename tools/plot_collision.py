#!/usr/bin/env python3
"""Cost of a distance query against the number of faces, from bench/results/collision.csv, as SVG.

    tools/plot_collision.py collision.csv collision.svg
"""
import csv
import math
import sys

WIDTH, HEIGHT, LEFT, RIGHT, TOP, BOTTOM = 720, 440, 80, 200, 40, 60


def read_lines(path):
    """Curves as {label: [(faces, nanoseconds)]}."""
    with open(path) as file:
        rows = list(csv.DictReader(line for line in file if not line.startswith("#")))
    curves = {}
    for row in rows:
        if row["what"] != "hull distance":
            continue
        faces, turn = float(row["size"]), float(row["parameter"])
        curves.setdefault(f"Tippe, {turn:g} rad a step", []).append(
            (faces, 1e9 * float(row["seconds_least"])))
        if turn == 0.01:
            curves.setdefault("Tippe, nothing remembered", []).append(
                (faces, 1e9 * float(row["seconds_cold"])))
        if float(row["opponent_seconds_least"] or 0) > 0:
            curves.setdefault("FCL, 0.01 rad a step", []).append(
                (faces, 1e9 * float(row["opponent_seconds_least"])))
    return curves


def main():
    source, target = sys.argv[1:3]
    curves = read_lines(source)
    points = [p for curve in curves.values() for p in curve]
    x_low, x_high = math.log10(min(p[0] for p in points)), math.log10(max(p[0] for p in points))
    y_low = math.floor(math.log10(min(p[1] for p in points)))
    y_high = math.ceil(math.log10(max(p[1] for p in points)))

    def place(faces, cost):
        x = LEFT + (math.log10(faces) - x_low) / (x_high - x_low) * (WIDTH - LEFT - RIGHT)
        y = HEIGHT - BOTTOM - (math.log10(cost) - y_low) / (y_high - y_low) * (HEIGHT - TOP - BOTTOM)
        return x, y

    out = [f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" '
           'font-family="sans-serif" font-size="13">',
           f'<rect width="{WIDTH}" height="{HEIGHT}" fill="white"/>',
           f'<text x="{LEFT}" y="24" font-size="15">Distance of two convex hulls in motion</text>']
    for decade in range(y_low, y_high + 1):
        x, y = place(10 ** x_low, 10 ** decade)
        out.append(f'<line x1="{x}" y1="{y:.1f}" x2="{WIDTH - RIGHT}" y2="{y:.1f}" stroke="#ddd"/>')
        out.append(f'<text x="{x - 8}" y="{y + 4:.1f}" text-anchor="end">{10 ** decade:,} ns</text>')
    for faces in (20, 162, 1280, 5000, 20000):
        x, y = place(faces, 10 ** y_low)
        out.append(f'<text x="{x:.1f}" y="{y + 20:.1f}" text-anchor="middle">{faces:,}</text>')
    out.append(f'<text x="{(LEFT + WIDTH - RIGHT) / 2}" y="{HEIGHT - 14}" text-anchor="middle">'
               'faces of each hull</text>')
    colours = ["#1b6ca8", "#2a9d8f", "#888888", "#c8553d"]
    for i, (label, curve) in enumerate(sorted(curves.items())):
        colour = colours[i % len(colours)]
        places = [place(*p) for p in sorted(curve)]
        line = " ".join(f"{x:.1f},{y:.1f}" for x, y in places)
        out.append(f'<polyline points="{line}" fill="none" stroke="{colour}" stroke-width="2"/>')
        out += [f'<circle cx="{x:.1f}" cy="{y:.1f}" r="3" fill="{colour}"/>' for x, y in places]
        x, y = places[-1]
        y = min(max(y, TOP), HEIGHT - BOTTOM) + 4
        out.append(f'<text x="{x + 8:.1f}" y="{y:.1f}" fill="{colour}">{label}</text>')
    out.append("</svg>")
    with open(target, "w") as file:
        file.write("\n".join(out) + "\n")


if __name__ == "__main__":
    main()
