"""Figures 3 to 8 of Chakraborty, Berard, Akella and Trinkle 2007, from runs of our own."""
import math

import plot


def spinning_sphere(program):
    """Figures 3 and 4: velocities and friction of the sphere that spins on the spot."""
    rows = plot.run(program, "sphere_spinning")
    contacts = plot.run(program, "sphere_spinning", table="contacts")
    velocities = plot.Chart("time, s", "m/s, rad/s", "Figure 3: velocities, h = 0.07 s")
    velocities.line([(0, 1.962), (1, 0), (1.4, 0)], "closed form", "#bbb", width=5)
    velocities.line(plot.column(rows, "time", "sphere.wz"), "spin about z", plot.COLOURS[0], marks=True)
    largest = [(row["time"], max(abs(row["sphere." + k]) for k in ("vx", "vy", "vz", "wx", "wy"))) for row in rows]
    velocities.line(largest, "largest of the others", plot.COLOURS[1])
    forces = plot.Chart("time, s", "N, N m", "Figure 4: friction, mean over each step", legend="bottom right", x_range=(0, 1.45),
                        y_range=(-1.1, 0.05))
    step = rows[1]["time"]
    forces.line([(c["time"], c["torsional_impulse"] / step) for c in contacts], "moment about the normal", plot.COLOURS[0], marks=True)
    forces.line([(c["time"], math.hypot(c["friction_impulse_x"], c["friction_impulse_y"]) / step) for c in contacts],
                "tangential force", plot.COLOURS[1])
    plot.save("chakraborty_trinkle_sphere", [velocities, forces], columns=2)


def two_spheres(program):
    """Figures 5 to 8: the small sphere on two large ones."""
    rows = plot.run(program, "sphere_on_two_spheres")
    contacts = plot.run(program, "sphere_on_two_spheres", table="contacts")
    step = rows[1]["time"]
    picture = plot.Drawing((-11, -10.5), (21, 10.5), 14, "Figure 5: at the start, seen along x")
    picture.circle(0, 0, 10, "#e9e2cf")
    picture.circle(11.4, 0, 9, "#d9c7a1")
    picture.circle(rows[0]["small.y"], rows[0]["small.z"], 1, plot.COLOURS[1])
    picture.polyline([(row["small.y"], row["small.z"]) for row in rows if row["time"] < 3.75], plot.COLOURS[1], 1.5)
    velocities = plot.Chart("time, s", "m/s, rad/s", "Figure 6: velocities of the small sphere", height=310, legend="bottom left")
    for name in ("vx", "vy", "vz", "wx", "wy", "wz"):
        velocities.line(plot.column(rows, "time", "small." + name), name)
    charts = [picture, velocities]
    for number, body in ((7, "large"), (8, "other")):
        chart = plot.Chart("time, s", "N, m/s", f"Figure {number}: contact {number - 6}", x_range=(0, 5.2))
        own = [c for c in contacts if body in (c["bodyA"], c["bodyB"])]

        def friction(c):
            force = math.sqrt(sum(c["friction_impulse_" + k] ** 2 for k in "xyz"))
            return math.hypot(force, c["torsional_impulse"] / 0.3) / step

        chart.line([(c["time"], c["normal_impulse"] / step) for c in own], "normal force")
        chart.line([(c["time"], c["sliding_speed"]) for c in own], "sliding speed")
        chart.line([(c["time"], 0.2 * c["normal_impulse"] / step) for c in own], "0.2 x normal force", "#bbb", width=5)
        chart.line([(c["time"], friction(c)) for c in own], "friction force", plot.COLOURS[2])
        charts.append(chart)
    plot.save("chakraborty_trinkle_spheres", charts, columns=2)


def draw(program):
    spinning_sphere(program)
    two_spheres(program)
