"""Sums, means and normalizations against those of another checkout of cvzoo, in turn, by the processor's own time.

    python benchmarks/reductions.py --against FOLDER [--threads N] [--out benchmarks/results/FILE.json]

One run of a case is as many calls as make some milliseconds.
"""

import argparse
import pathlib
import sys
import time
from collections.abc import Callable

import numpy as np
from side_by_side import Worker, compare, machine, serve, write_results

SHAPES = [(8, 2048, 7), (8, 1024, 14), (8, 512, 28), (8, 256, 56), (8, 64, 112), (2, 32, 256), (4, 3, 512)]
NUMBERS = 4_000_000  # of a run of a case, about


def timed(call: Callable[[], object], size: int) -> Callable[[], float]:
    n = max(NUMBERS // size, 1)

    def run() -> float:
        start = time.process_time()
        for _ in range(n):
            call()
        return (time.process_time() - start) / n

    return run


def serve_cases() -> None:
    import cvzoo.functions as F
    from cvzoo.backends.dispatch import get_backend

    backend, cases = get_backend("onednn"), {}
    for b, c, size in SHAPES:
        rng = np.random.default_rng(0)
        first = rng.random((b, c, size, size), np.float32)
        x, gy = backend.channels_last(first), backend.channels_last(rng.random(first.shape, np.float32))
        v = rng.random(c, np.float32) + np.float32(0.5)
        window = {"ksize": (size, size), "stride": (1, 1), "pad": (0, 0, 0, 0), "count_pad": False}
        calls = {
            "batch norm train": lambda x=x, v=v: backend.batch_norm_train(x, v, v, eps=1e-5),
            "batch norm grad": lambda x=x, gy=gy, v=v: backend.batch_norm_grad(gy, x, v, v, v, eps=1e-5),
            "global mean": lambda x=x, window=window: backend.average_pool_2d(x, **window),
            "sum of maps": lambda x=x: F.sum(x, (2, 3)),
            "sum of maps, NCHW": lambda x=first: F.sum(x, (2, 3)),
            "average of channels": lambda x=x: F.average(x, (0, 2, 3)),
            "average of channels, NCHW": lambda x=first: F.average(x, (0, 2, 3)),
            "sum of columns": lambda x=x: F.sum(x, 2),
        }
        for name, call in calls.items():
            cases[f"{name} {b}x{c}x{size}x{size}"] = timed(call, first.size)
    serve(cases)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--against", type=pathlib.Path, metavar="FOLDER", help="the other checkout")
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--runs", type=int, default=7)
    parser.add_argument("--out")
    parser.add_argument("--serve", action="store_true", help=argparse.SUPPRESS)
    args = parser.parse_args()
    if args.serve:
        return serve_cases()
    here = pathlib.Path(__file__).parents[1]
    command = [sys.executable, __file__, "--serve"]
    threads = {"CVZOO_NUM_THREADS": str(args.threads), "OMP_NUM_THREADS": str(args.threads)}
    folders = {"now": here, "before": args.against.resolve()}
    workers = [Worker(name, command, {**threads, "PYTHONPATH": str(path)}) for name, path in folders.items()]
    rows = [compare(workers, case, runs=args.runs, warmup=1) for case in workers[0].cases]
    for worker in workers:
        worker.close()
    if args.out:
        title = f"reductions, {args.threads} threads, seconds of the processor"
        write_results(args.out, title=title, rows=rows, versions={"numpy": np.__version__})
    print(machine())


if __name__ == "__main__":
    main()
