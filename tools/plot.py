"""Plots as plain SVG, without libraries: charts with axes, sheets of several charts, and runs of the program to draw.

    chart = Chart("time, s", "height, m")
    chart.line(points, "label")
    save("name", [chart, other], columns=2)        # docs/figures/name.svg
"""
import csv
import math
import os
import subprocess
import tempfile

ROOT = os.path.normpath(os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
COLOURS = ["#2b6cb0", "#b3422c", "#2f855a", "#8a5cc2", "#b7791f", "#0f8b8d", "#c2407f", "#555555"]
GROUND, INK, QUIET, GRID = "#fbfaf7", "#23262b", "#6b7078", "#e4e1d8"


# Runs --------------------------------------------------------------------------------------------------------------

def read_table(path):
    """Rows of a CSV file; numbers where they are numbers."""
    def value(text):
        try:
            return float(text)
        except ValueError:
            return text
    with open(path, newline="", encoding="utf-8") as file:
        return [{key: value(text) for key, text in row.items()} for row in csv.DictReader(file)]


def run(program, scene, *arguments, table="csv"):
    """The rows of a table of `tippe run`: "csv" (states), "contacts", or "reports"."""
    with tempfile.TemporaryDirectory() as folder:
        path, recording = os.path.join(folder, "run.csv"), os.path.join(folder, "run.h5")
        scene_path = scene if os.path.exists(scene) else os.path.join(ROOT, "scenes", scene + ".json")
        output = ["--out", recording] if table == "reports" else ["--" + table, path]
        subprocess.run([program, "run", scene_path, *output, "--quiet", *arguments], check=True)
        if table == "reports":
            subprocess.run([program, "export", recording, "--reports", path], check=True)
        return read_table(path)


def column(rows, *names):
    return [tuple(row[name] for name in names) for row in rows]


# Charts ------------------------------------------------------------------------------------------------------------

def word(value):
    if value == 0:
        return "0"
    size = abs(value)
    return f"{value:.5g}" if 1e-3 <= size < 1e5 else f"{value:.0e}".replace("e-0", "e-").replace("e+0", "e")


def ticks(low, high, is_log):
    if is_log:
        factors = [1, 2, 5] if high - low < 2.0 else [1]
        skip = max(1, math.ceil((high - low) / 7))
        found = [k + math.log10(f) for k in range(math.floor(low), math.ceil(high) + 1, skip) for f in factors]
        return [(v, word(10.0 ** v)) for v in found if low <= v <= high]
    raw = (high - low) / 6
    power = 10.0 ** math.floor(math.log10(raw))
    spacing = next(k * power for k in (1, 2, 5, 10) if k * power >= raw * 0.999)
    first = math.ceil(low / spacing - 1e-9)
    last = math.floor(high / spacing + 1e-9)
    return [(k * spacing, word(round(k * spacing, 12))) for k in range(first, last + 1)]


class Chart:
    """Lines and marks in one pair of axes; scales are logarithmic where asked for, equal where `equal` is set."""

    def __init__(self, x_name, y_name, title="", x_log=False, y_log=False, equal=False, width=460, height=300,
                 x_range=None, y_range=None, legend="top right"):
        self.names, self.title, self.logs = (x_name, y_name), title, (x_log, y_log)
        self.equal, self.size, self.ranges = equal, (width, height), [x_range, y_range]
        self.corner = legend
        self.lines = []

    def line(self, points, label="", colour=None, dash="", width=1.6, marks=False):
        colour = colour or COLOURS[sum(1 for entry in self.lines if entry["label"]) % len(COLOURS)]
        kept = [p for p in points if all(math.isfinite(v) for v in p) and
                all(v > 0 or not log for v, log in zip(p, self.logs))]
        self.lines.append({"points": kept, "label": label, "colour": colour, "dash": dash, "width": width,
                           "marks": marks})
        return self

    def marks(self, points, label="", colour=None):
        return self.line(points, label, colour, width=0, marks=True)

    def scaled(self, point):
        return [math.log10(v) if log else v for v, log in zip(point, self.logs)]

    def limits(self, axis):
        if self.ranges[axis]:
            return [math.log10(v) if self.logs[axis] else v for v in self.ranges[axis]]
        values = [self.scaled(p)[axis] for entry in self.lines for p in entry["points"]] or [0.0, 1.0]
        low, high = min(values), max(values)
        pad = 0.05 * (high - low) or 0.05 * abs(high) or 0.5
        return [low - pad, high + pad]

    def svg(self, x0=0, y0=0):
        width, height = self.size
        left, right, top, bottom = 64, 14, 30 if self.title else 14, 44
        (xa, xb), (ya, yb) = self.limits(0), self.limits(1)
        inner = (width - left - right, height - top - bottom)
        if self.equal:
            scale = min(inner[0] / (xb - xa), inner[1] / (yb - ya))
            middle, half = (xa + xb) / 2, inner[0] / scale / 2
            xa, xb = middle - half, middle + half
            middle, half = (ya + yb) / 2, inner[1] / scale / 2
            ya, yb = middle - half, middle + half

        def px(v):
            return x0 + left + (v - xa) / (xb - xa) * inner[0]

        def py(v):
            return y0 + top + inner[1] - (v - ya) / (yb - ya) * inner[1]

        out = [f'<rect x="{x0 + left}" y="{y0 + top}" width="{inner[0]}" height="{inner[1]}" fill="#fff" stroke="{GRID}"/>']
        if self.title:
            out.append(f'<text x="{x0 + left}" y="{y0 + 20}" fill="{INK}" font-size="13" font-weight="600">{self.title}</text>')
        for v, label in ticks(xa, xb, self.logs[0]):
            out.append(f'<line x1="{px(v):.1f}" x2="{px(v):.1f}" y1="{y0 + top}" y2="{y0 + top + inner[1]}" stroke="{GRID}"/>')
            out.append(f'<text x="{px(v):.1f}" y="{y0 + height - bottom + 16}" text-anchor="middle" fill="{QUIET}">{label}</text>')
        for v, label in ticks(ya, yb, self.logs[1]):
            out.append(f'<line x1="{x0 + left}" x2="{x0 + width - right}" y1="{py(v):.1f}" y2="{py(v):.1f}" stroke="{GRID}"/>')
            out.append(f'<text x="{x0 + left - 6}" y="{py(v) + 4:.1f}" text-anchor="end" fill="{QUIET}">{label}</text>')
        out.append(f'<text x="{x0 + left + inner[0] / 2:.0f}" y="{y0 + height - 10}" text-anchor="middle" fill="{QUIET}">{self.names[0]}</text>')
        centre = y0 + top + inner[1] / 2
        out.append(f'<text x="{x0 + 14}" y="{centre:.0f}" text-anchor="middle" fill="{QUIET}" '
                   f'transform="rotate(-90 {x0 + 14} {centre:.0f})">{self.names[1]}</text>')
        clip = f"c{x0}_{y0}"
        out.append(f'<clipPath id="{clip}"><rect x="{x0 + left}" y="{y0 + top}" width="{inner[0]}" height="{inner[1]}"/></clipPath>')
        for entry in self.lines:
            places = [(px(a), py(b)) for a, b in map(self.scaled, entry["points"])]
            if entry["width"] > 0:
                text = " ".join(f"{a:.1f},{b:.1f}" for a, b in thinned(places))
                out.append(f'<polyline points="{text}" fill="none" stroke="{entry["colour"]}" stroke-width="{entry["width"]}" '
                           f'stroke-dasharray="{entry["dash"]}" clip-path="url(#{clip})"/>')
            if entry["marks"]:
                out += [f'<circle cx="{a:.1f}" cy="{b:.1f}" r="3.2" fill="{entry["colour"]}"/>' for a, b in places]
        out += self.legend((x0 + left + 8, y0 + top + 8), (x0 + width - right - 8, y0 + top + inner[1] - 8))
        return out

    def legend(self, low, high):
        entries = [entry for entry in self.lines if entry["label"]]
        if not entries:
            return []
        wide = max(6.3 * len(entry["label"]) for entry in entries) + 34
        tall = 16 * len(entries) + 6
        x = high[0] if "right" in self.corner else low[0] + wide
        y = low[1] if "top" in self.corner else high[1] - tall
        out = [f'<rect x="{x - wide:.0f}" y="{y}" width="{wide:.0f}" height="{tall}" fill="#fff" fill-opacity="0.85" rx="3"/>']
        for i, entry in enumerate(entries):
            at = y + 14 + 16 * i
            out.append(f'<line x1="{x - wide + 6:.0f}" x2="{x - wide + 26:.0f}" y1="{at - 4}" y2="{at - 4}" stroke="{entry["colour"]}" '
                       f'stroke-width="{max(entry["width"], 2)}" stroke-dasharray="{entry["dash"]}"/>')
            out.append(f'<text x="{x - wide + 31:.0f}" y="{at}" fill="{INK}">{entry["label"]}</text>')
        return out


def thinned(places):
    """Leaves out points that lie within a fifth of a pixel of the last one kept."""
    kept = places[:1]
    for place in places[1:]:
        if abs(place[0] - kept[-1][0]) > 0.2 or abs(place[1] - kept[-1][1]) > 0.2:
            kept.append(place)
    return kept


class Drawing:
    """A picture of one's own with the y axis up: world coordinates in [low, high], `scale` pixels a metre."""

    def __init__(self, low, high, scale, title=""):
        self.low, self.high, self.scale, self.title = low, high, scale, title
        self.top = 26 if title else 8
        self.size = (round((high[0] - low[0]) * scale) + 16, round((high[1] - low[1]) * scale) + self.top + 8)
        self.parts = []

    def at(self, x, y):
        return 8 + (x - self.low[0]) * self.scale, self.top + (self.high[1] - y) * self.scale

    def polyline(self, points, colour, width=1.5, dash="", opacity=1.0):
        text = " ".join(f"{a:.1f},{b:.1f}" for a, b in (self.at(*p) for p in points))
        self.parts.append(f'<polyline points="{text}" fill="none" stroke="{colour}" stroke-width="{width}" '
                          f'stroke-dasharray="{dash}" stroke-linecap="round" stroke-opacity="{opacity}"/>')

    def circle(self, x, y, radius, fill, stroke=INK, opacity=1.0):
        a, b = self.at(x, y)
        self.parts.append(f'<circle cx="{a:.1f}" cy="{b:.1f}" r="{radius * self.scale:.1f}" fill="{fill}" stroke="{stroke}" '
                          f'fill-opacity="{opacity}"/>')

    def arrow(self, x, y, dx, dy, colour, width=2.0):
        (a, b), (c, d) = self.at(x, y), self.at(x + dx, y + dy)
        length = math.hypot(c - a, d - b)
        if length < 1.0:
            return
        ux, uy, head = (c - a) / length, (d - b) / length, min(7.0, 0.5 * length)
        tip = f"{c:.1f},{d:.1f} {c - head * ux + head / 2 * uy:.1f},{d - head * uy - head / 2 * ux:.1f} " \
              f"{c - head * ux - head / 2 * uy:.1f},{d - head * uy + head / 2 * ux:.1f}"
        self.parts.append(f'<line x1="{a:.1f}" y1="{b:.1f}" x2="{c - head * ux:.1f}" y2="{d - head * uy:.1f}" stroke="{colour}" '
                          f'stroke-width="{width}"/><polygon points="{tip}" fill="{colour}"/>')

    def text(self, x, y, words, colour=INK, anchor="middle"):
        a, b = self.at(x, y)
        self.parts.append(f'<text x="{a:.1f}" y="{b:.1f}" text-anchor="{anchor}" fill="{colour}">{words}</text>')

    def svg(self, x0=0, y0=0):
        title = f'<text x="8" y="17" fill="{INK}" font-size="13" font-weight="600">{self.title}</text>'
        return [f'<g transform="translate({x0} {y0})">', title if self.title else "", *self.parts, "</g>"]


def save(name, charts, columns=1):
    """One or several charts and drawings as docs/figures/NAME.svg."""
    charts = charts if isinstance(charts, list) else [charts]
    rows = [charts[i:i + columns] for i in range(0, len(charts), columns)]
    width = max(sum(chart.size[0] for chart in row) for row in rows)
    body, y = [], 0
    for row in rows:
        x = 0
        for chart in row:
            body += chart.svg(x, y)
            x += chart.size[0]
        y += max(chart.size[1] for chart in row)
    head = f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {y}" font-family="sans-serif" font-size="11.5">'
    lines = [head, f'<rect width="{width}" height="{y}" fill="{GROUND}"/>', *body, "</svg>", ""]
    with open(os.path.join(ROOT, "docs", "figures", name + ".svg"), "w", encoding="utf-8") as file:
        file.write("\n".join(lines))
