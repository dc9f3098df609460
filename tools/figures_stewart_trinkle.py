"""Figures 2 to 8 of Stewart and Trinkle 1996, from runs of our own."""
import math

import plot

STEPS = (0.0025, 0.005, 0.01, 0.02, 0.04)


def falling_rod(program):
    """Figure 2: the rod in places, with the time at one end."""
    rows = plot.run(program, "falling_rod")
    drawing = plot.Drawing((-0.75, -0.06), (0.75, 1.25), 420)
    drawing.polyline([(-0.72, 0), (0.72, 0)], "#444", 2)
    times = [0.0, 0.1, 0.2, 0.26, 0.32, 0.3625, 0.3875, 0.42, 0.45, 0.48, 0.51, 0.53, 0.5675]
    for i, time in enumerate(times):
        row = min(rows, key=lambda r: abs(r["time"] - time))
        angle = 2.0 * math.atan2(row["rod.qz"], row["rod.qw"])
        dx, dy = 0.25 * math.cos(angle), 0.25 * math.sin(angle)
        x, y = row["rod.x"], row["rod.y"]
        shade = 215 - int(160 * i / (len(times) - 1))
        drawing.polyline([(x - dx, y - dy), (x + dx, y + dy)], f"rgb({shade},{shade - 30},{max(shade - 90, 20)})", 42,
                         opacity=0.75)
        drawing.text(x + dx, y + dy - 0.01, f"{time:g}", "#fff" if i > 5 else "#333")
    drawing.polyline([(row["rod.x"], row["rod.y"]) for row in rows], plot.COLOURS[1], 1.5, "4 3")
    drawing.text(-0.72, -0.05, "seconds at one end of the rod; dashed: its centre of mass", plot.QUIET, "start")
    plot.save("falling_rod", drawing)


def rod_velocities(program):
    """Figures 3, 4 and 5: velocities of the rod for five steps."""
    charts = []
    for name, title in (("vy", "Figure 3: vertical velocity, m/s"), ("wz", "Figure 4: angular velocity, rad/s"),
                        ("vx", "Figure 5: horizontal velocity, m/s")):
        chart = plot.Chart("time, s", name, title)
        for step, dash in zip(STEPS, ("", "6 3", "2 2", "8 3 2 3", "3 5")):
            rows = plot.run(program, "falling_rod", "--step", str(step))
            chart.line(plot.column(rows, "time", "rod." + name), f"h = {step:g}", dash=dash)
        charts.append(chart)
    plot.save("stewart_trinkle_rod", charts, columns=3)


def ball_impulses(program):
    """Figure 6: impulses in the step in which the thrown ball meets the line of three."""
    contacts = plot.run(program, "four_balls", table="contacts")
    states = plot.run(program, "four_balls")
    hit = next(c["time"] for c in contacts if {c["bodyA"], c["bodyB"]} == {"ball0", "ball1"} and c["normal_impulse"] > 0)
    row = min(states, key=lambda r: abs(r["time"] - hit))
    drawing = plot.Drawing((0.55, -0.22), (1.75, 0.42), 520, f"Figure 6: impulses at the collision, t = {hit:g} s, seen from the side")
    drawing.polyline([(0.6, 0), (1.7, 0)], "#444", 2)
    for i in range(4):
        drawing.circle(row[f"ball{i}.x"], row[f"ball{i}.z"], 0.1, "#e9e2cf")
        drawing.text(row[f"ball{i}.x"], row[f"ball{i}.z"] - 0.01, ("thrown", "1", "2", "3")[i])
    scale = 0.16
    for c in contacts:
        if c["time"] != hit or c["normal_impulse"] <= 0:
            continue
        drawing.arrow(c["px"], c["pz"], scale * c["nx"] * c["normal_impulse"], scale * c["nz"] * c["normal_impulse"], plot.COLOURS[0])
        drawing.arrow(c["px"], c["pz"], scale * c["friction_impulse_x"], scale * c["friction_impulse_z"], plot.COLOURS[1], 2.5)
    drawing.text(0.6, -0.12, "blue: normal, red: friction, on the first body of each pair; 0.16 m a newton second", plot.QUIET, "start")
    plot.save("stewart_trinkle_impulses", drawing)


def ball_views(program):
    """Figures 7 and 8: the balls from the side and from above."""
    rows = plot.run(program, "four_balls", "--until", "1")
    views = []
    for low, high, vertical, title in (((-0.15, -0.05), (2.3, 1.15), "z", "Figure 7: elevation"),
                                       ((-0.15, -0.5), (2.3, 0.5), "y", "Figure 8: plan")):
        drawing = plot.Drawing(low, high, 300, title)
        if vertical == "z":
            drawing.polyline([(low[0], 0), (high[0], 0)], "#444", 2)
        for i in range(4):
            path = plot.column(rows, f"ball{i}.x", f"ball{i}.{vertical}")
            drawing.polyline(path, plot.COLOURS[i], 1.5)
            for time in (0.0, 0.25, 0.5, 0.75, 1.0):
                row = min(rows, key=lambda r: abs(r["time"] - time))
                drawing.circle(row[f"ball{i}.x"], row[f"ball{i}.{vertical}"], 0.1, "none", plot.COLOURS[i])
        views.append(drawing)
    plot.save("stewart_trinkle_balls", views)


def draw(program):
    falling_rod(program)
    rod_velocities(program)
    ball_impulses(program)
    ball_views(program)
