"""Inference of one image beside other work: one thread against all, by how long idle threads spin, in turn.

    python benchmarks/busy_threads.py [--neighbours 0 2 4] [--peers-python ENV/bin/python] [--out FILE.json]

Neighbours are processes that never wait. Spins are libgomp's GOMP_SPINCOUNT, which cvzoo sets when it loads the
library, unless OMP_WAIT_POLICY is set. ENV is an environment with onnxruntime.
"""

import argparse
import os
import pathlib
import subprocess
import sys
import tempfile
from collections.abc import Sequence

import numpy as np
from inference import NETWORKS, case_name, write_onnx
from side_by_side import Worker, compare, machine, write_results

SPINS = ("0", "100", "1000", "20000")


def start_workers(arguments: argparse.Namespace, folder: pathlib.Path) -> list[Worker]:
    """One of a thread, then those of all threads."""
    script = str(pathlib.Path(__file__).with_name("inference.py"))
    tail = ["--folder", str(folder), "--repeat", "1", "--batch", "1", "--model", *arguments.model]
    all_threads = str(len(os.sched_getaffinity(0)))
    kinds = [("1 thread", "cvzoo", sys.executable, "1", {})]
    kinds += [
        (f"{all_threads} threads, spins {spins}", "cvzoo", sys.executable, all_threads, {"GOMP_SPINCOUNT": spins})
        for spins in arguments.spins
    ]
    if arguments.peers_python:
        kinds += [
            (f"ONNX Runtime, {threads}", "onnxruntime", arguments.peers_python, threads, {})
            for threads in ("1", all_threads)
        ]
    return [
        Worker(
            name,
            [python, script, "--serve", program, *tail],
            {"CVZOO_NUM_THREADS": threads, "OMP_NUM_THREADS": threads, **more},
        )
        for name, program, python, threads, more in kinds
    ]


def beside(workers: Sequence[Worker], n_neighbour: int, arguments: argparse.Namespace) -> list[dict]:
    """A row per network with so many neighbours."""
    busy = [subprocess.Popen([sys.executable, "-c", "while True: pass"]) for _ in range(n_neighbour)]
    try:
        print(f"{n_neighbour} neighbours, load {os.getloadavg()[0]:.1f}", flush=True)
        return [
            {
                "neighbours": n_neighbour,
                "load": os.getloadavg()[0],
                **compare(workers, case_name(name, 1), runs=arguments.runs, warmup=2, seconds=arguments.seconds),
            }
            for name in arguments.model
        ]
    finally:
        for process in busy:
            process.kill()
            process.wait()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--model", nargs="+", choices=list(NETWORKS), default=["mobilenet_v2", "resnet50"])
    parser.add_argument("--neighbours", nargs="+", type=int, default=[0, 2, 4])
    parser.add_argument("--spins", nargs="+", default=SPINS)
    parser.add_argument("--runs", type=int, default=31)
    parser.add_argument("--seconds", type=float, default=30.0, help="at most for one case, after three runs")
    parser.add_argument("--peers-python", help="the python of an environment with onnxruntime")
    parser.add_argument("--out", help="write a JSON file of results")
    arguments = parser.parse_args()
    print(machine(), flush=True)
    with tempfile.TemporaryDirectory() as place:
        folder = pathlib.Path(place)
        write_onnx(folder, [(name, 1) for name in arguments.model])
        workers = start_workers(arguments, folder)
        rows = [row for count in arguments.neighbours for row in beside(workers, count, arguments)]
        for worker in workers:
            worker.close()
    if arguments.out:
        versions = {"numpy": np.__version__}
        write_results(arguments.out, title="Threads on a busy machine", rows=rows, versions=versions, notes=__doc__)


if __name__ == "__main__":
    main()
