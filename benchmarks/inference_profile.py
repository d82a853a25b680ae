"""Where a compiled network's time goes: its kernels, their GFLOP/s, and the most that this CPU does.

    python benchmarks/inference_profile.py --model resnet50 [--batch 1] [--threads 1] [--runs 9]

Networks are those of inference.py. A kernel's time is the CPU time of the process, the median over replays
(`CompiledGraph.profile`); equal kernels on equal shapes are one row. GFLOP/s count a convolution's multiplications and
additions as direct ones, so Winograd's may exceed the most, which is what a product of matrices reaches that fits in a
CPU's own cache.
"""

import argparse
import collections
import os
import statistics
import time
import types

import numpy as np
from inference import NETWORKS, images, input_shape, our_model

_SIDE = 768


def peak() -> float:
    """GFLOP/s of a product of matrices."""
    import cvzoo
    import cvzoo.functions as F

    a = np.random.default_rng(0).standard_normal((_SIDE, _SIDE), "float32")
    times = []
    with cvzoo.no_backprop_mode():
        for _ in range(50):
            start = time.process_time()
            F.matmul(a, a)
            times.append(time.process_time() - start)
    return 2 * _SIDE**3 / min(times) / 1e9


def flops(operation: str, reads: list[tuple[int, ...]], y: tuple[int, ...]) -> float:
    """How many a kernel does that computes an array of shape y."""
    if operation.startswith("convolution") and len(reads) > 1 and len(reads[1]) == len(y) == 4:
        return 2.0 * np.prod(reads[1][1:]) * np.prod(y)
    return 2.0 * reads[0][-1] * np.prod(y) if operation in ("matmul", "inner_product") else 0.0


def rows_of(graph, n_run: int) -> list[tuple[str, float, float]]:
    """What, seconds, and floating point operations, of each step of a compiled graph."""
    from cvzoo.graph import compiled_graph
    from cvzoo.graph.micro_batches import MicroBatches
    from cvzoo.graph.steps import Call

    compiled_graph.time = types.SimpleNamespace(perf_counter=time.process_time)
    rows, values = [], graph.program.graph.values
    n_part = graph.program.n if isinstance(graph.program, MicroBatches) else 1
    for step, seconds in zip(graph.program.lowered.steps, graph.profile(n_run=n_run), strict=True):
        reads = [tuple(values[value].shape) for value in step.record.reads]
        y = tuple(values[step.record.writes[0]].shape)
        operation = step.operation if isinstance(step, Call) else "Python"
        shapes = " ".join("x".join(map(str, shape)) for shape in (*reads[:2], y))
        rows.append((f"{operation}  {step.record.label}  {shapes}", seconds, n_part * flops(operation, reads, y)))
    return rows


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--model", choices=sorted(NETWORKS), default="resnet50", metavar="NAME")
    parser.add_argument("--batch", type=int, default=1)
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--runs", type=int, default=9)
    parser.add_argument("--top", type=int, default=25, help="so many rows")
    arguments = parser.parse_args()
    os.environ |= {key: str(arguments.threads) for key in ("CVZOO_NUM_THREADS", "OMP_NUM_THREADS")}
    import cvzoo

    model, x = our_model(arguments.model), images(arguments.batch, input_shape(arguments.model))
    times = []
    with cvzoo.using_config("train", False), cvzoo.no_backprop_mode():
        model(x)
        graph = model.compile(x)
        for _ in range(arguments.runs):
            start = time.process_time()
            model(x)
            times.append(time.process_time() - start)
        rows = rows_of(graph, arguments.runs)
    together = collections.defaultdict(lambda: [0, 0.0, 0.0])
    for what, seconds, work in rows:
        row = together[what]
        row[:] = row[0] + 1, row[1] + seconds, row[2] + work
    done, whole = sum(work for *_, work in rows), statistics.median(times)
    print(f"{arguments.model}, batch {arguments.batch}, threads {arguments.threads}: {whole * 1e3:.2f} ms")
    print(f"{done / 1e9:.2f} GFLOP at {done / whole / 1e9:.0f} GFLOP/s; the most here is {peak():.0f}")
    for what, (count, seconds, work) in sorted(together.items(), key=lambda row: -row[1][1])[: arguments.top]:
        speed = f"{work / seconds / 1e9:6.0f} GFLOP/s" if work else " " * 14
        print(f"{seconds * 1e3:8.3f} ms  {count:3d} x  {speed}  {what}")


if __name__ == "__main__":
    main()
