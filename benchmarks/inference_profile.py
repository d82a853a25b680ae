"""Where a compiled network's time goes: each kernel of oneDNN, its GFLOP/s, and the most that this processor does.

    python benchmarks/inference_profile.py --model resnet50 [--batch 1] [--threads 1]

The library reports each call itself (ONEDNN_VERBOSE); times are medians over replays. The most is what a product of
matrices or a convolution reaches that fit in a processor's own cache, with as many threads. Kernels
that compute nothing (copies, pooling) have no GFLOP/s.
"""

import argparse
import collections
import math
import os
import re
import statistics
import subprocess
import sys
import time

import numpy as np
from inference import MODELS, our_model, photos

_MARK = "cvzoo replay"
_SIDE = 768


def serve(name: str, batch: int, runs: int) -> None:
    """Replays, each behind a line that says so."""
    import cvzoo

    model, x = our_model(name), photos(batch, MODELS[name][2])
    with cvzoo.using_config("train", False), cvzoo.no_backprop_mode():
        model.compile(x)
        for _ in range(runs):
            print(_MARK, flush=True)
            start = time.perf_counter()
            model(x)
            print(_MARK, time.perf_counter() - start, flush=True)


def peak() -> float:
    """GFLOP/s of the better of a product of matrices and a convolution that fit in a processor's own cache."""
    import cvzoo.functions as F
    from cvzoo import Parameter, no_backprop_mode

    generator = np.random.default_rng(0)
    a = generator.standard_normal((_SIDE, _SIDE), "float32")
    x = np.ascontiguousarray(generator.standard_normal((1, 28, 28, 128), "float32")).transpose(0, 3, 1, 2)
    w = Parameter(generator.standard_normal((128, 128, 3, 3), "float32"))
    cases = {
        2 * _SIDE**3: lambda: F.matmul(a, a),
        2 * 128 * 128 * 9 * 28 * 28: lambda: F.convolution_2d(x, w, pad=1),
    }
    most = 0.0
    with no_backprop_mode():
        for work, run in cases.items():
            times = []
            for _ in range(100):
                start = time.perf_counter()
                run()
                times.append(time.perf_counter() - start)
            most = max(most, work / min(times) / 1e9)
    return most


def flops(kind: str, problem: str) -> float:
    """How many a call does, from the library's words for its shape."""
    if kind == "convolution":
        n = collections.defaultdict(lambda: 1, {k: int(v) for k, v in re.findall(r"([a-z]+)(\d+)", problem)})
        return 2.0 * n["mb"] * n["oc"] * n["oh"] * n["ow"] * n["ic"] / n["g"] * n["kh"] * n["kw"]
    if kind == "matmul":
        a, b = ([int(v) for v in part.split("x")] for part in problem.split(":")[:2])
        return 2.0 * math.prod(a) * b[-1] * max(math.prod(b[:-2]) // max(math.prod(a[:-2]), 1), 1)
    return 0.0


def read(lines: list[str]) -> tuple[list[list[tuple]], list[float]]:
    """Of each replay its calls (kind, kernel, shape, ms), and its seconds."""
    replays, seconds, calls = [], [], None
    for line in lines:
        if line.startswith(_MARK):
            if calls is None:
                calls = []
            else:
                replays.append(calls)
                seconds.append(float(line[len(_MARK) :]))
                calls = None
        elif calls is not None and "verbose," in line and ",exec," in line:
            part = line.strip().split(",")
            at = part.index("exec")
            calls.append((part[at + 2], part[at + 3], part[-2], float(part[-1])))
    return replays, seconds


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--model", choices=sorted(MODELS), default="resnet50")
    parser.add_argument("--batch", type=int, default=1)
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--runs", type=int, default=15)
    parser.add_argument("--top", type=int, default=25, help="so many rows")
    parser.add_argument("--serve", choices=("replays", "peak"), help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.serve == "replays":
        return serve(arguments.model, arguments.batch, arguments.runs)
    if arguments.serve == "peak":
        return print(peak())
    threads = {key: str(arguments.threads) for key in ("CVZOO_NUM_THREADS", "OMP_NUM_THREADS")}
    command = [sys.executable, __file__, "--model", arguments.model, "--batch", str(arguments.batch)]
    command += ["--runs", str(arguments.runs), "--serve"]

    def run(what: str, **environment: str) -> str:
        environment = {**os.environ, **threads, **environment}
        return subprocess.run([*command, what], env=environment, text=True, stdout=subprocess.PIPE, check=True).stdout

    most = float(run("peak"))
    replays, seconds = read(run("replays", ONEDNN_VERBOSE="1").splitlines())
    whole = statistics.median(seconds) * 1e3
    rows = collections.defaultdict(lambda: [0, 0.0, 0.0])
    for calls in zip(*replays):
        kind, kernel, problem, _ = calls[0]
        row = rows[kind, kernel, problem]
        row[0] += 1
        row[1] += statistics.median([ms for *_, ms in calls])
        row[2] += flops(kind, problem)
    inside = sum(ms for _, ms, _ in rows.values())
    done = sum(work for *_, work in rows.values())
    print(f"{arguments.model}, batch {arguments.batch}, threads {arguments.threads}")
    print(f"{whole:.2f} ms, in kernels {inside:.2f} ms")
    print(f"{done / 1e9:.2f} GFLOP at {done / whole / 1e6:.0f} GFLOP/s; the most here is {most:.0f}")
    for (kind, kernel, problem), (count, ms, work) in sorted(rows.items(), key=lambda row: -row[1][1])[: arguments.top]:
        speed = f"{work / ms / 1e6:6.0f} GFLOP/s" if work else " " * 14
        print(f"{ms:8.3f} ms  {count:3d} x  {speed}  {kind}  {kernel}  {problem}")


if __name__ == "__main__":
    main()
