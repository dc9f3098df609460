#!/usr/bin/env python3
"""Draws the figures of the documents from runs of our own. Usage: tools/figures.py PROGRAM

Plain SVG, no libraries: docs/figures/falling_rod.svg.
"""
import csv
import math
import os
import subprocess
import sys
import tempfile

ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..")


def run(program, scene, *arguments):
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "run.csv")
        subprocess.run([program, "run", os.path.join(ROOT, "scenes", scene + ".json"), "--csv", path, "--quiet",
                        *arguments], check=True, stdout=subprocess.DEVNULL)
        with open(path, newline="", encoding="utf-8") as file:
            return [{key: float(value) for key, value in row.items()} for row in csv.DictReader(file)]


def falling_rod(program):
    rows = run(program, "falling_rod")
    scale, left, top = 420.0, 330.0, 30.0
    height = top + 1.25 * scale

    def point(x, y):
        return f"{left + scale * x:.1f},{height - 40 - scale * y:.1f}"

    lines = [f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 660 {height:.0f}" font-family="sans-serif" '
             'font-size="12">', f'<rect width="660" height="{height:.0f}" fill="#fbfaf7"/>',
             f'<line x1="20" x2="640" y1="{height - 40:.1f}" y2="{height - 40:.1f}" stroke="#444" stroke-width="2"/>']
    times = [0.0, 0.1, 0.2, 0.26, 0.32, 0.3625, 0.3875, 0.42, 0.45, 0.48, 0.51, 0.53, 0.5675]
    for i, time in enumerate(times):
        row = min(rows, key=lambda r: abs(r["time"] - time))
        angle = 2.0 * math.atan2(row["rod.qz"], row["rod.qw"])
        dx, dy = 0.25 * math.cos(angle), 0.25 * math.sin(angle)
        x, y = row["rod.x"], row["rod.y"]
        shade = 215 - int(160 * i / (len(times) - 1))
        lines.append(f'<polyline points="{point(x - dx, y - dy)} {point(x + dx, y + dy)}" fill="none" '
                     f'stroke="rgb({shade},{shade - 30},{max(shade - 90, 20)})" stroke-width="{0.1 * scale:.0f}" '
                     'stroke-linecap="round" stroke-opacity="0.75"/>')
        end = point(x + dx, y + dy).split(",")
        lines.append(f'<text x="{float(end[0]):.1f}" y="{float(end[1]) + 4:.1f}" text-anchor="middle" '
                     f'fill="{"#fff" if i > 5 else "#333"}">{time:g}</text>')
    trail = " ".join(point(r["rod.x"], r["rod.y"]) for r in rows)
    lines.append(f'<polyline points="{trail}" fill="none" stroke="#b3422e" stroke-width="1.5" stroke-dasharray="4 3"/>')
    lines.append(f'<text x="20" y="{height - 14:.0f}" fill="#444">seconds at one end of the rod; dashed: its centre of '
                 'mass</text>')
    lines.append("</svg>")
    with open(os.path.join(ROOT, "docs", "figures", "falling_rod.svg"), "w", encoding="utf-8") as file:
        file.write("\n".join(lines) + "\n")


if __name__ == "__main__":
    falling_rod(sys.argv[1])
