"""Sums, means, normalizations and their gradients against those of another checkout of cvzoo, in turn.

    python benchmarks/reductions.py --against FOLDER [--threads N] [--only PATTERN] [--out benchmarks/results/FILE.json]

A run of a case is the best of some bursts of a few milliseconds: of the CPU's own time where there is one thread,
else by the clock. Other programs on the machine only add to either, so that the least of all runs says most.
"""

import argparse
import os
import pathlib
import re
import sys
import time
from collections.abc import Callable, Iterator

import numpy as np
from side_by_side import Worker, compare, machine, serve, write_results

SHAPES = [(8, 2048, 7), (8, 1024, 14), (8, 512, 28), (8, 256, 56), (8, 64, 112), (2, 32, 256), (4, 3, 512)]
NUMBERS = 2_000_000  # of a burst of a case, about
BURSTS = 5
Calls = Iterator[tuple[str, Callable[[], object]]]


def timed(call: Callable[[], object], size: int, clock: Callable[[], float]) -> Callable[[], float]:
    n = max(NUMBERS // size, 1)

    def run() -> float:
        times = []
        for _ in range(BURSTS):
            start = clock()
            for _ in range(n):
                call()
            times.append((clock() - start) / n)
        return min(times)

    return run


def normalizations(x: np.ndarray, gy: np.ndarray) -> Calls:
    from cvzoo.backends.dispatch import get_backend
    from cvzoo.functions.normalization.group_normalization import GroupNormalization

    backend = get_backend("onednn")
    v = np.linspace(0.5, 1.5, x.shape[1], dtype=np.float32)
    _, mean, var, mask = backend.batch_norm_relu_train(x, v, v, eps=1e-5)
    rows, grows = (np.ascontiguousarray(each.transpose(0, 2, 3, 1)).reshape(-1, x.shape[1]) for each in (x, gy))
    m = np.linspace(0.5, 1.5, len(rows), dtype=np.float32)
    group = GroupNormalization(1 if x.shape[1] % 2 else x.shape[1] // 2, 1e-5)
    yield "batch norm train", lambda: backend.batch_norm_train(x, v, v, eps=1e-5)
    yield "batch norm and relu train", lambda: backend.batch_norm_relu_train(x, v, v, eps=1e-5)
    yield "batch norm grad", lambda: backend.batch_norm_grad(gy, x, v, mean, var, eps=1e-5)
    yield "batch norm and relu grad", lambda: backend.batch_norm_relu_grad(gy, x, v, mean, var, mask, eps=1e-5)
    yield "layer norm", lambda: backend.layer_norm(rows, v, v, eps=1e-5)
    yield "layer norm grad", lambda: backend.layer_norm_grad(grows, rows, v, m, m, eps=1e-5)
    yield "group norm", lambda: group.apply((x, v, v))


def poolings(x: np.ndarray) -> Calls:
    from cvzoo.backends.dispatch import get_backend

    backend, size = get_backend("onednn"), x.shape[2:]
    windows = {"global mean": (size, (1, 1), 0)}
    if min(size) > 7:
        for k, step, pad in [(3, 2, 1), (5, 1, 2), (6, 3, 0), (7, 1, 3), (7, 3, 3), (15, 7, 7), (7, 7, 0), (7, 7, 3)]:
            windows[f"mean {k}x{k} step {step} pad {pad}"] = (k, k), (step, step), pad
    for name, (ksize, step, pad) in windows.items():
        window = {"ksize": ksize, "stride": step, "pad": (pad,) * 4, "count_pad": False}
        yield name, lambda window=window: backend.average_pool_2d(x, **window)


def sums(x: np.ndarray) -> Calls:
    import cvzoo.functions as F

    flat = x.reshape(*x.shape[:2], -1)
    yield "sum of maps", lambda: F.sum(x, (2, 3))
    yield "sum of columns", lambda: F.sum(x, 2)
    yield "sum of rows", lambda: F.sum(x, 3)
    yield "sum of channels", lambda: F.sum(x, 1)
    yield "sum of all", lambda: F.sum(x)
    yield "average of channels", lambda: F.average(x, (0, 2, 3))
    yield "channel_sum", lambda: F.channel_sum(x)
    yield "norm of maps", lambda: F.norm(x, (2, 3))
    yield "logsumexp of maps", lambda: F.logsumexp(x, (2, 3))
    yield "softmax of pixels", lambda: F.softmax(flat, axis=2)
    yield "cumsum down", lambda: F.cumsum(x, 2)
    yield "cumsum along", lambda: F.cumsum(x, 3)
    yield "cumsum of channels", lambda: F.cumsum(x, 1)


def losses(x: np.ndarray) -> Calls:
    import cvzoo.functions as F

    zeros, b = np.zeros_like(x), x.shape[0]
    labels = np.zeros((b, *x.shape[2:]), np.int32)
    yield "mean_squared_error", lambda: F.mean_squared_error(x, zeros)
    yield "huber_loss", lambda: F.huber_loss(x, zeros, 1.0, reduce="mean")
    yield "softmax_cross_entropy", lambda: F.softmax_cross_entropy(x, labels)


def filters(x: np.ndarray, gy: np.ndarray) -> Calls:
    from cvzoo.backends.dispatch import get_backend

    backend = get_backend("onednn")
    for k, step in ((3, 1), (3, 2), (5, 1), (7, 1)):
        window = {"stride": (step, step), "pad": (k // 2,) * 4, "dilate": (1, 1), "groups": x.shape[1]}
        g = backend.channels_last(np.ascontiguousarray(gy[:, :, ::step, ::step]))
        name = f"depthwise {k}x{k} step {step} weight grad"
        yield name, lambda k=k, g=g, window=window: backend.conv_2d_weight_grad(x, g, (k, k), **window)


def serve_cases(only: str, threads: int) -> None:
    from cvzoo.backends.dispatch import get_backend

    backend, cases = get_backend("onednn"), {}
    for b, c, size in SHAPES:
        rng = np.random.default_rng(0)
        first = rng.random((b, c, size, size), np.float32)
        x, gy = backend.channels_last(first), backend.channels_last(rng.random(first.shape, np.float32))
        calls = [*normalizations(x, gy), *poolings(x), *sums(x), *losses(x), *filters(x, gy)]
        calls += [(f"{name}, NCHW", call) for name, call in sums(first)]
        for name, call in calls:
            if re.search(only, name):
                clock = time.process_time if threads == 1 else time.perf_counter
                cases[f"{name} {b}x{c}x{size}x{size}"] = timed(call, first.size, clock)
    serve(cases)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--against", type=pathlib.Path, metavar="FOLDER", help="the other checkout")
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--runs", type=int, default=5)
    parser.add_argument("--only", default="", metavar="PATTERN", help="cases whose names it matches")
    parser.add_argument("--out")
    parser.add_argument("--serve", action="store_true", help=argparse.SUPPRESS)
    args = parser.parse_args()
    if args.serve:
        return serve_cases(args.only, args.threads)
    here = pathlib.Path(__file__).parents[1]
    command = [sys.executable, __file__, "--serve", "--only", args.only, "--threads", str(args.threads)]
    threads = {"CVZOO_NUM_THREADS": str(args.threads), "OMP_NUM_THREADS": str(args.threads)}
    folders = {"now": here, "before": args.against.resolve()}
    workers = [Worker(name, command, {**threads, "PYTHONPATH": str(path)}) for name, path in folders.items()]
    rows = [compare(workers, case, runs=args.runs, warmup=1) for case in workers[0].cases]
    for worker in workers:
        worker.close()
    for row in rows:
        row["least_over_least"] = round(row["now"]["min_ms"] / row["before"]["min_ms"], 3)
    if args.out:
        names = ("CVZOO_NATIVE", "ONEDNN_MAX_CPU_ISA")
        title = " ".join([f"reductions, {args.threads} threads", *(f"{k}={os.environ.get(k, '')}" for k in names)])
        write_results(args.out, title=title, rows=rows, versions={"numpy": np.__version__})
    print(machine())


if __name__ == "__main__":
    main()
