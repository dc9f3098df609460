"""What the event-driven stepper costs, from bench/results/events.csv; and the ball on the platter, from a run of our own."""
import csv
import os

import plot


def measured(what):
    path = os.path.join(plot.ROOT, "bench", "results", "events.csv")
    with open(path, newline="", encoding="utf-8") as file:
        rows = csv.DictReader(line for line in file if not line.startswith("#"))
        return [(float(row["size"]), float(row["value"])) for row in rows if row["what"] == what]


def cost(_program):
    facets = plot.Chart("facets of each of two polyhedra", "microseconds a check", "A check against facets", x_log=True, y_range=(0, 2))
    facets.line(measured("facets"))
    bodies = plot.Chart("bodies that never meet", "microseconds a step", "A step against bodies", x_log=True, y_log=True)
    points = measured("bodies")
    bodies.line(points, "measured", plot.COLOURS[0])
    first, value = points[0]
    bodies.line([(x, value * x / first) for x, _ in points], "in proportion", plot.COLOURS[1], dash="4 3")
    plot.save("mirtich_canny_cost", [facets, bodies], columns=2)


def platter(program):
    rows = plot.run(program, "ball_platter")
    drawing = plot.Drawing((-1.05, -1.05), (1.05, 1.05), 220, "Figure 11: a ball on a spinning platter, ten seconds")
    drawing.circle(0, 0, 1.0, "#f4efe2", "#7a6a48")
    drawing.polyline([(row["ball.x"], row["ball.y"]) for row in rows], plot.COLOURS[0], 1.5)
    drawing.circle(0, 0, 0.01, "#444", "#444")
    plot.save("mirtich_canny_platter", drawing)


def draw(program):
    cost(program)
    platter(program)
