"""What several threads gain on the wall clock: threads.py BUILD [THREADS [SCENE [STEPS]]]

Runs a scene (10,000 spheres) on one thread and on several (2), in turn, TIPPE_BENCH_REPEATS (5) times, and prints the
ratio of the wall times of a step: the least of each step over the repetitions, summed over the last half of the
steps. On a machine that does other things the answer is too small.
"""

import os
import pathlib
import subprocess
import sys
import tempfile

import numpy

ROOT = pathlib.Path(__file__).resolve().parents[2]


def main():
    build, threads, scene, steps = (sys.argv[1:] + ["2", "spherepile", "120"][len(sys.argv) - 2 :])[:4]
    repeats = int(os.environ.get("TIPPE_BENCH_REPEATS", "5"))
    least, hashes = {}, set()
    with tempfile.TemporaryDirectory() as folder:
        out = str(pathlib.Path(folder) / "run")
        program = [str(pathlib.Path(build) / "bench" / "run_tippe"), str(ROOT / "scenes" / "bench" / f"{scene}.json")]
        for _ in range(repeats):
            for count in ("1", threads):
                command = [*program, steps, steps, out, "push_out_speed=3"]
                environment = dict(os.environ, TIPPE_STEPPER="small-steps", TIPPE_THREADS=count, OPENBLAS_NUM_THREADS="1")
                done = subprocess.run(command, capture_output=True, text=True, check=True, env=environment)
                hashes.add(done.stdout.split('"hash"')[1])
                times = numpy.fromfile(out + ".times").reshape(-1, 2)[int(steps) // 2 :, 0]
                least[count] = numpy.minimum(times, least.get(count, times))
    one, several = (1e3 * least[count].mean() for count in ("1", threads))
    same = "the same bits" if len(hashes) == 1 else "DIFFERENT BITS"
    print(f"{scene}: {one:.2f} ms a step on 1 thread, {several:.2f} on {threads}: {one / several:.2f} times, {same}")


main()
