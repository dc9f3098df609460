"""What a step costs against the number of contacts, from bench/results/steppers.csv (bench/steppers/run.sh)."""
import csv
import os

import plot

RESULTS = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "bench", "results", "steppers.csv")


def draw(program):
    del program  # the benchmark has run already
    with open(RESULTS, encoding="utf-8") as file:
        rows = [row for row in csv.DictReader(line for line in file if not line.startswith("#")) if row["kind"] == "contacts"]
    chart = plot.Chart("contacts", "mean of a step, ms", "Pyramids of boxes at rest, one thread", x_log=True, y_log=True, width=620)
    for index, solver in enumerate(sorted({row["solver"] for row in rows})):
        points = [(float(row["contacts"]), float(row["mean_ms"])) for row in rows if row["solver"] == solver]
        chart.line(points, solver, plot.COLOURS[index], width=2.2)
    plot.save("step_cost", chart)
