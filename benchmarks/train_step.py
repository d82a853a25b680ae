"""A training step of ResNet-50: cvzoo eager, cvzoo compiled and PyTorch eager (channels-last), in turn.

    python benchmarks/train_step.py --torch-python ENV/bin/python [--out benchmarks/results/FILE.json]

ENV is an environment with the CPU build of torch; this one needs only cvzoo. All use the same number of threads. A step
is forward, softmax cross entropy, backward and an update by SGD with momentum 0.9, on the same images each time.

Memory is measured apart, each in a fresh process that does nothing else: `peak_mb` is the most memory that was resident
from the start to the end (compiling included, which runs the network eagerly), `step_peak_mb` the most after two steps.
The losses of the first steps are compared, eager with compiled.

Then, for cvzoo, where the time goes: oneDNN's own times by kind of primitive, as many GFLOP/s for products and
convolutions and GB/s for the rest, beside what this machine reaches in a large matrix product and a large sum.
"""

import argparse
import collections
import json
import os
import re
import resource
import statistics
import subprocess
import sys
import time

import numpy as np
from resnet50 import cvzoo_model, photos, torch_model
from side_by_side import Worker, compare, machine, serve, write_results

WORKERS = ("cvzoo", "compiled", "torch")
LR, MOMENTUM = 0.01, 0.9
STEP = "--- step ---"


def channels_last(batch: int) -> np.ndarray:
    return np.ascontiguousarray(photos(batch).transpose(0, 2, 3, 1)).transpose(0, 3, 1, 2)


def cvzoo_step(batch: int, *, compiled: bool, options: dict):
    """A function that makes a step and gives its loss."""
    import cvzoo
    import cvzoo.functions as F
    from cvzoo.optimizers import MomentumSGD

    cvzoo.set_seed(0)
    model = cvzoo_model()
    optimizer = MomentumSGD(lr=LR, momentum=MOMENTUM).setup(model)
    x, t = channels_last(batch), np.arange(batch, dtype="int32")
    if compiled:
        start = time.perf_counter()
        graph = model.compile(x, train=True, **options)
        seconds = time.perf_counter() - start
        print(
            f"compiled in {seconds:.1f} s: {graph.n_record} functions as {graph.n_step} calls; memory "
            f"{graph.eager_peak / 1e6:.0f} MB eager, {graph.planned_peak / 1e6:.0f} MB planned, "
            f"{graph.lower_bound / 1e6:.0f} MB at least; {graph.changed}",
            file=sys.stderr,
        )

    def step() -> float:
        loss = None

        def lossfun(x, t):
            nonlocal loss
            loss = F.softmax_cross_entropy(model(x), t)
            return loss

        optimizer.update(lossfun, x, t)
        return loss.item()

    return step


def torch_step(batch: int):
    import torch
    from torch import nn

    torch.set_num_threads(int(os.environ["CVZOO_NUM_THREADS"]))
    torch.manual_seed(0)
    model = torch_model().train()
    optimizer = torch.optim.SGD(model.parameters(), lr=LR, momentum=MOMENTUM)
    x, t = torch.from_numpy(photos(batch)).to(memory_format=torch.channels_last), torch.arange(batch)

    def step() -> float:
        optimizer.zero_grad()
        loss = nn.functional.cross_entropy(model(x), t)
        loss.backward()
        optimizer.step()
        return loss.item()

    return step


def make_step(worker: str, batch: int, options: dict):
    return torch_step(batch) if worker == "torch" else cvzoo_step(batch, compiled=worker == "compiled", options=options)


def serve_steps(worker: str, batch: int, options: dict) -> None:
    step = make_step(worker, batch, options)

    def timed() -> None:  # a loss is not to be taken for seconds
        step()

    serve({f"batch {batch}": timed})


# --- memory ---------------------------------------------------------------------------------------------------------
def resident_peak() -> float:
    """MB, since the start or since the peak was forgotten."""
    with open("/proc/self/status") as status:
        return next(int(line.split()[1]) / 1024 for line in status if line.startswith("VmHWM"))


def forget_peak() -> None:
    with open("/proc/self/clear_refs", "w") as file:
        file.write("5")


def remember(worker: str, batch: int, options: dict, n_step: int = 4) -> None:
    step = make_step(worker, batch, options)
    losses = [step(), step()]
    before = resident_peak()
    forget_peak()
    losses += [step() for _ in range(n_step)]
    after = resident_peak()
    peak = max(before, after, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024)
    print(json.dumps({"peak_mb": round(peak), "step_peak_mb": round(after), "losses": losses}))


# --- where the time goes --------------------------------------------------------------------------------------------
def profile(worker: str, batch: int, options: dict, n_step: int) -> None:
    step = make_step(worker, batch, options)
    step()
    step()
    for _ in range(n_step):
        print(STEP, flush=True)
        start = time.perf_counter()
        step()
        print(f"seconds {time.perf_counter() - start}", flush=True)


def best(run, n: int = 15) -> float:
    run()
    times = []
    for _ in range(n):
        start = time.perf_counter()
        run()
        times.append(time.perf_counter() - start)
    return min(times)


def reach() -> None:
    """What this machine reaches: GFLOP/s in a product, GB/s in a sum of arrays that fit in no cache but the largest."""
    from cvzoo.backends import get_backend

    backend = get_backend()
    a = np.random.default_rng(0).standard_normal((2048, 2048), dtype="float32")
    products = 2 * 2048**3 / best(lambda: backend.matmul(a, a)) / 1e9
    x, y, z = (np.ones((1 << 26,), "float32") for _ in range(3))
    sums = 3 * x.nbytes / best(lambda: backend.add(x, y, out=z), 5) / 1e9
    print(json.dumps({"gflops": round(products, 1), "gbytes": round(sums, 1)}))


PASSES = {  # how often a primitive goes through an array of its size
    ("batch_normalization", "forward_training"): 4,
    ("batch_normalization", "forward_inference"): 2,
    ("batch_normalization", "backward"): 5,
    ("eltwise", "backward_data"): 3,
    ("binary", "undef"): 3,
    ("reorder", "undef"): 2,
}


def work_of(kind: str, prop: str, problem: str) -> tuple[float, float]:
    """GFLOP and GB of one call, as far as the problem tells; 0 where it does not."""
    if kind in ("convolution", "deconvolution"):
        sizes = {name: int(n) for name, n in re.findall(r"(mb|g|ic|oc|ih|oh|iw|ow|kh|kw)(\d+)", problem)}
        # of a deconvolution's input and output the other one is swept over
        area = sizes["oh"] * sizes["ow"] if kind == "convolution" else sizes["ih"] * sizes["iw"]
        products = sizes["mb"] * sizes["ic"] * sizes["oc"] * area * sizes["kh"] * sizes["kw"]
        return 2 * products / sizes.get("g", 1) / 1e9, 0.0
    if kind == "matmul":
        (m, k), (_, n) = ([int(n) for n in part.split("x")[-2:]] for part in problem.split(":")[:2])
        return 2 * m * k * n / 1e9, 0.0
    if (kind, prop) in PASSES:
        if kind == "batch_normalization":
            sizes = [int(n) for n in re.findall(r"(?:mb|ic|ih|iw)(\d+)", problem)]
        else:
            sizes = [int(n) for n in problem.split(":")[0].split("x")]
        return 0.0, 4 * float(np.prod(sizes)) * PASSES[kind, prop] / 1e9
    return 0.0, 0.0


def table_of(output: str) -> dict:
    """Milliseconds of a step, of what oneDNN runs in it, and of each kind of primitive."""
    steps = output.split(STEP)[1:]
    found: dict = collections.defaultdict(lambda: [0, 0.0, 0.0, 0.0])
    for line in "".join(steps).splitlines():
        fields = line.split(",")
        if not line.startswith("onednn_verbose") or "exec" not in fields:
            continue
        kind, _, prop = fields[fields.index("exec") + 2 :][:3]
        flop, byte = work_of(kind, prop, fields[-2])
        for k, value in enumerate((1, float(fields[-1]), flop, byte)):
            found[kind, prop][k] += value
    n = len(steps)
    rows = []
    for (kind, prop), (calls, ms, flop, byte) in sorted(found.items(), key=lambda item: -item[1][1]):
        row = {"primitive": f"{kind} {prop}", "calls": calls // n, "ms": round(ms / n, 1)}
        if flop:
            row["gflops"] = round(flop / ms * 1e3)
        if byte:
            row["gbytes"] = round(byte / ms * 1e3, 1)
        rows.append(row)
    seconds = [float(number) for number in re.findall(r"^seconds (\S+)$", output, re.MULTILINE)]
    whole = round(statistics.median(seconds) * 1e3, 1)
    return {"step_ms": whole, "primitives_ms": round(sum(row["ms"] for row in rows), 1), "primitives": rows}


# --- driver ---------------------------------------------------------------------------------------------------------
def child(python: str, environment: dict[str, str], *arguments: str) -> str:
    command = [python, __file__, *arguments]
    return subprocess.run(
        command, env={**os.environ, **environment}, stdout=subprocess.PIPE, text=True, check=True
    ).stdout


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--torch-python", help="the python of an environment with torch")
    parser.add_argument("--threads", type=int, default=len(os.sched_getaffinity(0)))
    parser.add_argument("--batches", type=int, nargs="*", default=[16, 32])
    parser.add_argument("--runs", type=int, default=10)
    parser.add_argument("--options", default="{}", help="further arguments of compile, as JSON")
    parser.add_argument("--no-times", action="store_true", help="memory and losses only")
    parser.add_argument("--no-profile", action="store_true")
    parser.add_argument("--out", help="write a JSON file of results")
    parser.add_argument("--serve", choices=WORKERS, help=argparse.SUPPRESS)
    parser.add_argument("--remember", choices=WORKERS, help=argparse.SUPPRESS)
    parser.add_argument("--profile", choices=WORKERS, help=argparse.SUPPRESS)
    parser.add_argument("--reach", action="store_true", help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    options = json.loads(arguments.options)
    batch = arguments.batches[0]
    if arguments.serve:
        return serve_steps(arguments.serve, batch, options)
    if arguments.remember:
        return remember(arguments.remember, batch, options)
    if arguments.profile:
        return profile(arguments.profile, batch, options, n_step=3)
    if arguments.reach:
        return reach()

    threads = str(arguments.threads)
    environment = {"CVZOO_NUM_THREADS": threads, "OMP_NUM_THREADS": threads}
    pythons = dict.fromkeys(WORKERS[:2], sys.executable)
    if arguments.torch_python:
        pythons["torch"] = arguments.torch_python
    print(machine(), f"threads {threads}")
    rows = []
    for batch in arguments.batches:
        common = ["--batches", str(batch), "--options", arguments.options]
        row: dict = {"case": f"batch {batch}"}
        if not arguments.no_times:
            workers = [
                Worker(name, [python, __file__, "--serve", name, *common], environment)
                for name, python in pythons.items()
            ]
            row = compare(workers[::-1], f"batch {batch}", runs=arguments.runs)
            for worker in workers:
                worker.close()
        for name, python in pythons.items():
            row.setdefault(name, {}).update(json.loads(child(python, environment, "--remember", name, *common)))
        for name in pythons:
            eager = row["cvzoo"]
            row[name]["step_peak_of_eager"] = round(row[name]["step_peak_mb"] / eager["step_peak_mb"], 3)
            row[name]["peak_of_eager"] = round(row[name]["peak_mb"] / eager["peak_mb"], 3)
            print(f"  {name:9s} peak {row[name]['peak_mb']} MB, of steps {row[name]['step_peak_mb']} MB")
        row["same_losses"] = row["cvzoo"]["losses"] == row["compiled"]["losses"]
        print("  losses of eager and compiled", "are the same" if row["same_losses"] else "DIFFER")
        if not arguments.no_profile:
            row["reach"] = json.loads(child(sys.executable, environment, "--reach"))
            for name in WORKERS[:2]:
                verbose = {**environment, "ONEDNN_VERBOSE": "1"}
                row[name]["profile"] = table_of(child(sys.executable, verbose, "--profile", name, *common))
                show(name, row[name]["profile"], row["reach"])
        rows.append(row)
    if arguments.out:
        import cvzoo

        versions = {"cvzoo": cvzoo.__version__, "numpy": np.__version__, "threads": threads}
        write_results(arguments.out, title="ResNet-50, a training step", rows=rows, versions=versions, notes=__doc__)


def show(name: str, table: dict, reached: dict) -> None:
    print(f"  {name}: {table['step_ms']} ms a step, {table['primitives_ms']} of them in oneDNN; {reached}")
    for row in table["primitives"]:
        share = ""
        if "gflops" in row:
            share = f"{row['gflops']} GFLOP/s, {row['gflops'] / reached['gflops']:.0%}"
        elif "gbytes" in row:
            share = f"{row['gbytes']} GB/s, {row['gbytes'] / reached['gbytes']:.0%}"
        print(f"    {row['ms']:8.1f} ms {row['calls']:4d} calls  {row['primitive']:42s} {share}")


if __name__ == "__main__":
    main()
