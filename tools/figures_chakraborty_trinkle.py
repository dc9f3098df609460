"""Figures 1 and 3 to 8 of Chakraborty, Berard, Akella and Trinkle 2007, from runs of our own."""
import json
import math
import os
import tempfile

import plot


def polygon_scene(folder, corners):
    """The disc of Example 1 cut to a regular polygon, a corner down."""
    angles = [2 * math.pi * k / corners for k in range(corners)]
    scene = {
        "tippe": 1, "name": f"Polygon of {corners}", "planar": True, "gravity": [0, -9.81, 0],
        "materials": {"rough": {"friction": 0.4}},
        "bodies": [
            {"name": "table", "kind": "fixed", "material": "rough", "shapes": [{"type": "plane", "normal": [0, 1, 0], "offset": 0}]},
            {"name": "disc", "mass": 1, "inertia": [0.5, 0.5, 0.5], "material": "rough",
             "shapes": [{"type": "prism", "points": [[math.sin(a), -math.cos(a)] for a in angles], "length": 1}],
             "position": [0, 1, 0], "velocity": [-3, 0, 0], "angular_velocity": [0, 0, 3]}],
        "simulation": {"stepper": "stewart-trinkle", "step": 0.01, "until": 2, "options": {"cone": "pyramid", "linearise": "current"}},
    }
    path = os.path.join(folder, f"polygon{corners}.json")
    with open(path, "w", encoding="utf-8") as file:
        json.dump(scene, file)
    return path


def rolling_disc(program):
    """Figure 1: kinetic energy of polygons in the place of a disc, and of the disc itself."""
    def kinetic(rows):
        return [(r["time"], 0.5 * (r["disc.vx"] ** 2 + r["disc.vy"] ** 2) + 0.25 * r["disc.wz"] ** 2) for r in rows]

    disc = kinetic(plot.run(program, "disc_rolling"))
    edges = plot.Chart("time, s", "kinetic energy, J", "Figure 1(a): more edges, h = 0.01 s", y_range=(0, 7.6), x_range=(0, 3.3))
    steps = plot.Chart("time, s", "kinetic energy, J", "Figure 1(b): shorter steps, 1000 edges", y_range=(0, 7.6), x_range=(0, 3.3))
    with tempfile.TemporaryDirectory() as folder:
        for corners in (10, 20, 30, 50, 100, 1000):
            edges.line(kinetic(plot.run(program, polygon_scene(folder, corners))), f"{corners} edges")
        fine = polygon_scene(folder, 1000)
        for h in (0.05, 0.02, 0.01, 0.005, 0.001, 0.0005):
            every = max(1, round(0.01 / h))
            steps.line(kinetic(plot.run(program, fine, "--step", str(h), "--every", str(every))), f"h = {h}")
    for chart in (edges, steps):
        chart.line(disc, "the disc, implicit", plot.INK, dash="6 3")
    plot.save("chakraborty_trinkle_disc", [edges, steps], columns=2)


def smoothed(points, width):
    """A running mean over `width`, ends shortened."""
    step = points[1][0] - points[0][0]
    half = round(0.5 * width / step)
    sums = [0.0]
    for _, y in points:
        sums.append(sums[-1] + y)
    result = []
    for i, (x, _) in enumerate(points):
        low, high = max(0, i - half), min(len(points), i + half + 1)
        result.append((x, (sums[high] - sums[low]) / (high - low)))
    return result


def tippe_top(program):
    """The tippe top with both values of theta, against the limit of short steps."""
    def tilt(*arguments):
        rows = plot.run(program, "tippe_top", *arguments)
        return [(r["time"], math.degrees(math.acos(1 - 2 * (r["top.qx"] ** 2 + r["top.qy"] ** 2)))) for r in rows]

    def time_to(points, angle):
        for (t0, y0), (t1, y1) in zip(points, points[1:]):
            if y1 >= angle:
                return t0 + (angle - y0) / (y1 - y0) * (t1 - t0)
        return None

    chart = plot.Chart("time, s", "tilt, degrees", "The tippe top at h = 0.0005 s", legend="bottom right", x_range=(0, 4))
    exact = tilt("--step", "5e-5", "--every", "20")
    chart.line(smoothed(smoothed(exact, 0.1), 0.1), "short steps, smoothed", "#bbb", width=5)
    chart.line(tilt("--every", "5"), "theta = 0.5", plot.COLOURS[0])
    chart.line(tilt("--every", "5", "--set", "theta=1"), "theta = 1, the paper's", plot.COLOURS[1])
    errors = plot.Chart("step, s", "error of the time to 90 degrees", "Error against the step", x_log=True, y_log=True, legend="bottom right")
    for theta, label, steps in (("0.5", "theta = 0.5", (2e-3, 1e-3, 5e-4, 2.5e-4)), ("1", "theta = 1", (1e-3, 5e-4, 2e-4, 1e-4, 5e-5))):
        points = []
        for h in steps:
            every = max(1, round(5e-4 / h))
            found = time_to(smoothed(smoothed(tilt("--step", repr(h), "--every", str(every), "--set", "theta=" + theta), 0.1), 0.1), 90)
            if found is not None:
                points.append((h, abs(found / 1.8162 - 1)))
        errors.line(points, label, plot.COLOURS[0 if theta == "0.5" else 1], marks=True)
    plot.save("tippe_top", [chart, errors], columns=2)


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
    rolling_disc(program)
    tippe_top(program)
    spinning_sphere(program)
    two_spheres(program)
