"""Figure 4 of Bender and Schmitt 2006: what the steps of the funnel take, from a run of our own."""
import plot


def draw(program):
    every = 10  # counts of a frame are sums over its steps, but for the contacts, which are those of the last
    rows = plot.run(program, "bench/funnel1ms", "--until", "2.5", "--every", str(every), table="reports")[1:]
    for row in rows:
        row["collision_count"] /= every
        row["iteration_count"] /= every
    counts = plot.Chart("time, s", "a step", "Figure 4: collisions and contacts of 1,000 cubes, h = 0.001 s", width=620, legend="top left")
    counts.line(plot.column(rows, "time", "contact_count"), "contacts")
    counts.line(plot.column(rows, "time", "collision_count"), "collisions", plot.COLOURS[1])
    work = plot.Chart("time, s", "sweeps a step", "Figure 4: work", width=420, legend="top left")
    work.line(plot.column(rows, "time", "iteration_count"), colour=plot.COLOURS[2])
    plot.save("bender_schmitt_funnel", [counts, work], columns=2)
