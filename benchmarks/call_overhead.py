"""Time what Python adds to a kernel: one call of a function on tiny arrays, and the kernel alone, in one run.

    python benchmarks/call_overhead.py [--repeat 30] [--calls 500] [--out benchmarks/results]

For each function and each backend: a call that records the graph, a call in no_backprop_mode, and the backend's kernel
called directly on the same arrays, as each of the two calls it (with a graph a pooling keeps where its maxima are, and
reordered weights are not kept); medians in microseconds over `repeat` rounds of `calls` calls, rounds alternating.
What a call has more than its kernel is the overhead; it should stay under 15.
"""

import argparse
import datetime
import json
import os
import pathlib
import platform
import statistics
import time

os.environ.setdefault("CVZOO_NUM_THREADS", "1")
os.environ.setdefault("OMP_NUM_THREADS", "1")
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import numpy as np

import cvzoo.functions as F
from cvzoo.autodiff import FunctionNode, Parameter, Variable
from cvzoo.backends import get_backend
from cvzoo.config import no_backprop_mode, using_config
from cvzoo.errors import BackendError


class Identity(FunctionNode):
    """Nothing but the graph."""

    def forward(self, inputs):
        return inputs

    def backward(self, indexes, gys):
        return gys


def cases(backend):
    """Name, the function's call, the kernel's call; the last takes whether a graph is recorded."""
    random = np.random.default_rng(0)

    def array(*shape):
        return random.normal(size=shape).astype("f")

    x4, x2 = Variable(backend.channels_last(array(1, 8, 4, 4))), Variable(array(2, 16))
    a4, a2 = x4.array, x2.array
    w4, b4 = Parameter(array(8, 8, 1, 1)), Parameter(array(8))
    w2, b2 = Parameter(array(4, 16)), Parameter(array(4))
    gamma, beta, mean, var = (Parameter(np.ones(8, "f")) for _ in range(4))
    conv = {"stride": (1, 1), "pad": (0, 0, 0, 0), "dilate": (1, 1), "groups": 1}
    pool = {"ksize": (2, 2), "stride": (2, 2), "pad": (0, 0, 0, 0)}
    raw = [backend.asarray(p.array.copy()) for p in (w4, b4, w2, b2, gamma, beta, mean, var)]
    kernel_pack4, kernel_pack2 = {}, {}
    return [
        ("apply of an identity", lambda: Identity().apply((x4,)), lambda graph: None),
        ("add", lambda: F.add(x4, x4), lambda graph: backend.add(a4, a4)),
        ("relu", lambda: F.relu(x4), lambda graph: backend.eltwise("relu", a4)),
        (
            "convolution_2d 1x1",
            lambda: F.convolution_2d(x4, w4, b4),
            lambda graph: backend.conv_2d(a4, raw[0], raw[1], pack=None if graph else kernel_pack4, **conv),
        ),
        (
            "linear",
            lambda: F.linear(x2, w2, b2),
            lambda graph: backend.linear(a2, raw[2], raw[3], pack=None if graph else kernel_pack2),
        ),
        (
            "max_pooling_2d",
            lambda: F.max_pooling_2d(x4, 2, 2),
            lambda graph: backend.max_pool_2d(a4, keep=graph, **pool),
        ),
        (
            "fixed_batch_normalization",
            lambda: F.fixed_batch_normalization(x4, gamma, beta, mean, var),
            lambda graph: backend.batch_norm_fixed(a4, *raw[4:], eps=2e-5),
        ),
        (
            "batch_normalization",
            lambda: F.batch_normalization(x4, gamma, beta),
            lambda graph: backend.batch_norm_train(a4, *raw[4:6], eps=2e-5),
        ),
    ]


def microseconds(call, calls):
    """The mean of one round."""
    start = time.perf_counter()
    for _ in range(calls):
        call()
    return (time.perf_counter() - start) / calls * 1e6


def measure(function, kernel, repeat, calls):
    """Medians of the call and of its kernel alone, with a graph and without."""
    rounds = {"graph": [], "graph_kernel": [], "no_backprop": [], "no_backprop_kernel": []}
    for _ in range(repeat + 1):  # the first round warms caches
        rounds["graph"].append(microseconds(function, calls))
        rounds["graph_kernel"].append(microseconds(lambda: kernel(True), calls))
        with no_backprop_mode():
            rounds["no_backprop"].append(microseconds(function, calls))
            rounds["no_backprop_kernel"].append(microseconds(lambda: kernel(False), calls))
    return {name: round(statistics.median(times[1:]), 2) for name, times in rounds.items()}


def processor():
    """The CPU's name."""
    path = pathlib.Path("/proc/cpuinfo")
    names = [line.split(":")[1].strip() for line in path.read_text().splitlines() if line.startswith("model name")]
    return f"{names[0]}, {os.cpu_count()} cores" if names else platform.processor()


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--repeat", type=int, default=30)
    parser.add_argument("--calls", type=int, default=500)
    parser.add_argument("--out", type=pathlib.Path, help="folder for a dated JSON file")
    arguments = parser.parse_args()
    report = {
        "what": "one call on tiny arrays, one thread, microseconds, medians",
        "date": datetime.date.today().isoformat(),
        "machine": processor(),
        "python": platform.python_version(),
        "numpy": np.__version__,
        "cases": [],
    }
    print(f"{report['machine']}, Python {report['python']}, numpy {np.__version__}\n")
    print(f"{'':37} {'with a graph':^26} {'without':^26}")
    print(
        f"{'backend':8} {'function':28} {'call':>8} {'kernel':>8} {'added':>8} {'call':>8} {'kernel':>8} {'added':>8}"
    )
    for name in ("numpy", "onednn"):
        try:
            backend = get_backend(name)
        except BackendError as error:
            print(f"{name}: {error}")
            continue
        with using_config("backend", name):
            for label, function, kernel in cases(backend):
                times = measure(function, kernel, arguments.repeat, arguments.calls)
                report["cases"].append({"backend": name, "function": label, **times})
                row = []
                for mode in ("graph", "no_backprop"):
                    call, alone = times[mode], times[f"{mode}_kernel"]
                    row.append(f"{call:8.2f} {alone:8.2f} {call - alone:8.2f}")
                print(f"{name:8} {label:28} {' '.join(row)}")
    if arguments.out:
        arguments.out.mkdir(parents=True, exist_ok=True)
        path = arguments.out / f"call_overhead-{report['date']}.json"
        path.write_text(json.dumps(report, indent=1) + "\n")
        print(f"\nwritten to {path}")


if __name__ == "__main__":
    main()
