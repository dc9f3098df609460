"""Figures 1 to 4 of Anitescu 2003, from runs of our own."""
import math

import plot


def wall(program):
    """Figure 1: velocity after the collision with the wall against the step; the scene has e = 0.4."""
    steps = [0.3 / 1.035 ** k for k in range(120)]
    paper, ours = [], []
    for h in steps:
        paper.append((h, -(1.0 + 1.0 / h - math.ceil(1.0 / h))))
        rows = plot.run(program, "ball_wall", "--step", repr(h), "--until", "1.7")
        ours.append((h, rows[-1]["ball.vx"] / 0.4))
    chart = plot.Chart("step, s", "velocity after the collision / e, m/s", "Figure 1: a ball of 1 m/s off a wall", x_log=True,
                       width=620)
    chart.line(paper, "without the correction (III.D)", plot.COLOURS[1])
    chart.line(ours, "ours, with (4.10)", plot.COLOURS[0], width=2.2)
    plot.save("anitescu_wall", chart)


def discs(program):
    """Figures 2 and 3: contacts, work, overlap and energy of the 66 discs."""
    rows = plot.run(program, "discs66", table="reports")[1:]
    contacts = plot.Chart("time, s", "active contacts", "Figure 2: contacts a step")
    contacts.line(plot.column(rows, "time", "contact_count"))
    work = plot.Chart("time, s", "iterations", "Figure 2: work of the solves a step", y_log=True)
    work.line(plot.column(rows, "time", "iteration_count"), colour=plot.COLOURS[1])
    overlap = plot.Chart("time, s", "deepest overlap, m", "Figure 3: overlap (the paper: up to 0.08 m)", y_log=True, y_range=(1e-16, 1))
    overlap.line([(row["time"], max(row["penetration"], 1e-16)) for row in rows], colour=plot.COLOURS[2])
    energy = plot.Chart("time, s", "energy, J", "Figure 3: total energy")
    energy.line([(row["time"], row["kinetic_after"] + row["potential_after"]) for row in rows], "total", plot.COLOURS[0])
    energy.line(plot.column(rows, "time", "kinetic_after"), "kinetic", plot.COLOURS[1])
    plot.save("anitescu_discs", [contacts, work, overlap, energy], columns=2)


def frames(program):
    """Figure 4: four frames."""
    rows = plot.run(program, "discs66")
    names = [key[:-2] for key in rows[0] if key.endswith(".x")]
    drawings = []
    for time in (0.0, 2.5, 5.0, 20.0):
        row = min(rows, key=lambda r: abs(r["time"] - time))
        drawing = plot.Drawing((-80, -4), (80, 62), 3.2, f"t = {time:g} s")
        rise = math.sqrt(3.0)
        drawing.polyline([(-80, 30 * rise), (-50, 0), (50, 0), (80, 30 * rise)], "#444", 2)
        for i, name in enumerate(names):
            drawing.circle(row[name + ".x"], row[name + ".y"], 3.0, "#d9c7a1" if i % 2 else "#e9e2cf", "#7a6a48")
            angle = 2.0 * math.atan2(row[name + ".qz"], row[name + ".qw"])
            x, y = row[name + ".x"], row[name + ".y"]
            drawing.polyline([(x, y), (x + 3 * math.cos(angle), y + 3 * math.sin(angle))], "#7a6a48", 1)
        drawings.append(drawing)
    plot.save("anitescu_frames", drawings, columns=2)


def draw(program):
    wall(program)
    discs(program)
    frames(program)
