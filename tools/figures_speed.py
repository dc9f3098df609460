"""Growth of a step with the number of spheres, from bench/results/growth.csv (bench/engines/growth.py)."""
import csv
import os

import plot

TABLE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "bench", "results", "growth.csv")


def draw(program):
    del program  # the benchmark has run it
    with open(TABLE, encoding="utf-8") as file:
        rows = [{key: float(value) for key, value in row.items()} for row in csv.DictReader(file)]
    first = rows[0]
    time = plot.Chart("contacts", "CPU ms a step", "Time of a step", x_log=True, y_log=True)
    time.line([(row["contacts"], row["ms"]) for row in rows], "Tippe, one thread", plot.COLOURS[0], width=2.2)
    time.line([(row["contacts"], first["ms"] * row["contacts"] / first["contacts"]) for row in rows], "linear", plot.COLOURS[1])
    memory = plot.Chart("contacts", "MB", "Memory of the program", x_log=True, y_log=True)
    memory.line([(row["contacts"], row["bytes"] / 1e6) for row in rows], "Tippe", plot.COLOURS[0], width=2.2)
    plot.save("growth", [time, memory], columns=2)
