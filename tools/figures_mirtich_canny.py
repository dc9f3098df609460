"""Figures 5, 7 and 11 of Mirtich and Canny 1995, and what the event-driven stepper costs, from bench/results/events.csv."""
import csv
import math
import os
import subprocess
import tempfile

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


# A body of one kilogram with this inertia hits a fixed one with the corner at ARM; 0.55 is the friction of the paper's figure.
INERTIA, ARM, FRICTION = ((0.02, 0.004, 0.0), (0.004, 0.05, -0.006), (0.0, -0.006, 0.04)), (0.2, 0.1, -0.15), 0.55


def cross(a, b):
    return [a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]]


def solve3(a, b):
    """a x = b by Cramer's rule."""
    columns = list(zip(*a))
    det = sum(x * y for x, y in zip(columns[0], cross(columns[1], columns[2])))
    parts = [[b, columns[1], columns[2]], [columns[0], b, columns[2]], [columns[0], columns[1], b]]
    return [sum(x * y for x, y in zip(p[0], cross(p[1], p[2]))) / det for p in parts]


def response(impulse):
    """The change of the contact's velocity."""
    spin = solve3(INERTIA, cross(ARM, impulse))
    return [x + y for x, y in zip(impulse, cross(spin, ARM))]


def path(start, restitution):
    """Equation (9) by small steps of the normal impulse, until sliding ends or the restitution is done."""
    u, gamma, end, step, points = list(start), 0.0, math.inf, 2e-4, [tuple(start)]
    while gamma < end:
        speed = math.hypot(u[0], u[1])
        if speed < 2e-3:
            break
        force = [-FRICTION * u[0] / speed, -FRICTION * u[1] / speed, 1.0]
        u = [x + step * y for x, y in zip(u, response(force))]
        gamma += step
        if end == math.inf and u[2] >= 0.0:
            end = (1.0 + restitution) * gamma
        points.append(tuple(u))
    return points


def ends(program, starts, restitution):
    """Velocities after the collisions as `tippe collide` has them."""
    columns = ["id"]
    for b in "12":
        columns += ["m" + b] + [f"J{b}{k}" for k in ("xx", "yy", "zz", "xy", "xz", "yz")]
        columns += [f"{q}{b}{k}" for q in "rvw" for k in "xyz"]
    columns += ["mu", "e"]
    j = INERTIA
    with tempfile.TemporaryDirectory() as folder:
        impacts, out = os.path.join(folder, "impacts.csv"), os.path.join(folder, "out.csv")
        with open(impacts, "w", newline="", encoding="utf-8") as file:
            writer = csv.writer(file, lineterminator="\n")
            writer.writerow(columns)
            for i, u in enumerate(starts):
                writer.writerow([i, 1, j[0][0], j[1][1], j[2][2], j[0][1], j[0][2], j[1][2], *ARM, *u, 0, 0, 0,
                                 "inf"] + [0] * 15 + [FRICTION, restitution])
        subprocess.run([program, "collide", impacts, "--out", out], check=True)
        return [[x + y for x, y in zip(u, response((row["px"], row["py"], row["pz"])))]
                for u, row in zip(starts, plot.read_table(out))]


def impacts(program):
    """Figure 5: sliding velocities on their way through collisions; Figure 7: three of them with the normal velocity."""
    starts = [(r * math.cos(a), r * math.sin(a), -1.0) for r in (0.5, 1.1, 1.7) for a in [math.pi * (k + 0.3) / 8 for k in range(16)]]
    plane = plot.Chart("u_x, m/s", "u_y, m/s", "Figure 5: sliding velocity, friction 0.55", equal=True, width=480, height=440)
    for start in starts:
        plane.line([(u[0], u[1]) for u in path(start, 0.5)], colour=plot.COLOURS[0], width=1)
    plane.marks([(u[0], u[1]) for u in starts], "before", plot.COLOURS[1])
    plane.marks([(u[0], u[1]) for u in ends(program, starts, 0.5)], "after, by tippe collide", plot.COLOURS[2])
    space = plot.Chart("sliding speed, m/s", "u_z, m/s", "Figure 7: three collisions, with the normal velocity", width=480, height=440,
                       legend="bottom right")
    chosen = [starts[16 * 2 + 1], starts[16 * 0 + 6], starts[16 * 0 + 13]]
    for start, end, colour in zip(chosen, ends(program, chosen, 0.5), plot.COLOURS):
        way = [(math.hypot(u[0], u[1]), u[2]) for u in path(start, 0.5)]
        way.append((math.hypot(end[0], end[1]), end[2]))
        space.line(way, f"from ({start[0]:.2f}, {start[1]:.2f})", colour)
        space.marks([way[-1]], colour=colour)
    plot.save("mirtich_canny_impacts", [plane, space], columns=2)


def draw(program):
    impacts(program)
    cost(program)
    platter(program)
