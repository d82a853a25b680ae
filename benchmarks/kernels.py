"""Single kernels of ResNet-50, cvzoo's oneDNN backend against PyTorch on channels-last arrays, in turn.

    python benchmarks/kernels.py --torch-python ENV/bin/python [--threads N] [--out benchmarks/results/FILE.json]

ENV is an environment with the CPU build of torch. One run of a case is ten calls, so that what surrounds them counts
for little; both sides allocate their outputs. Weights are reordered in each call, as in training; "kept" says that the
reordered copy is kept, as in inference (torch has no eager counterpart, it reorders).
"""

import argparse
import os
import sys
from collections.abc import Callable

import numpy as np
from side_by_side import Worker, compare, machine, serve, write_results

CALLS = 10
BATCH = 8
CONVS = [  # channels in, size, channels out, window, stride
    (3, 224, 64, 7, 2),
    (64, 56, 64, 3, 1),
    (256, 56, 64, 1, 1),
    (128, 28, 128, 3, 1),
    (512, 28, 128, 1, 1),
    (256, 14, 256, 3, 1),
    (512, 7, 512, 3, 1),
    (512, 28, 1024, 1, 2),
]
MAPS = [(64, 112), (256, 56), (2048, 7)]  # channels, size


def repeated(call: Callable[[], object]) -> Callable[[], None]:
    def run() -> None:
        for _ in range(CALLS):
            call()

    return run


def draw(*shape: int) -> np.ndarray:
    return np.random.default_rng(0).standard_normal(shape, "float32")


def serve_cvzoo() -> None:
    from cvzoo.backends import get_backend

    backend = get_backend("onednn")
    cases = {}
    for c, size, o, k, s in CONVS:
        x, w = backend.channels_last(draw(BATCH, c, size, size)), draw(o, c, k, k)
        pad = k // 2
        how = {"stride": (s, s), "pad": (pad, pad, pad, pad), "dilate": (1, 1), "groups": 1}
        gy = backend.channels_last(draw(*backend.conv_2d(x, w, None, **how).shape))
        name = f"conv {k}x{k}/{s} {c}x{size}x{size}>{o}"
        cases[f"{name} forward"] = lambda x=x, w=w, how=how: backend.conv_2d(x, w, None, **how)
        cases[f"{name} kept"] = lambda x=x, w=w, how=how, pack={}: backend.conv_2d(x, w, None, pack=pack, **how)
        cases[f"{name} input grad"] = lambda x=x, w=w, gy=gy, how=how: backend.conv_2d_input_grad(
            gy, w, x.shape[2:], **how
        )
        cases[f"{name} weight grad"] = lambda x=x, gy=gy, k=k, how=how: backend.conv_2d_weight_grad(
            x, gy, (k, k), **how
        )
    for c, size in MAPS:
        x, y = (backend.channels_last(draw(BATCH, c, size, size)) for _ in range(2))
        v = np.abs(draw(c)) + 1
        name = f"{c}x{size}x{size}"
        cases[f"relu {name}"] = lambda x=x: backend.eltwise("relu", x)
        cases[f"add {name}"] = lambda x=x, y=y: backend.add(x, y)
        cases[f"batch norm fixed {name}"] = lambda x=x, v=v: backend.batch_norm_fixed(x, v, v, v, v, eps=1e-5)
        cases[f"batch norm train {name}"] = lambda x=x, v=v: backend.batch_norm_train(x, v, v, eps=1e-5)
        if size > 7:
            cases[f"max pool {name}"] = lambda x=x: backend.max_pool_2d(
                x, ksize=(3, 3), stride=(2, 2), pad=(1, 1, 1, 1), keep=False
            )
    x, w, b = draw(BATCH, 2048), draw(1000, 2048), draw(1000)
    cases["linear 2048>1000"] = lambda: backend.linear(x, w, b)
    serve({name: repeated(call) for name, call in cases.items()})


def serve_torch() -> None:
    import torch
    import torch.nn.functional as T

    torch.set_num_threads(int(os.environ["CVZOO_NUM_THREADS"]))
    torch.set_grad_enabled(False)

    def photo(*shape: int) -> torch.Tensor:
        return torch.from_numpy(draw(*shape)).contiguous(memory_format=torch.channels_last)

    cases = {}
    for c, size, o, k, s in CONVS:
        x, w, pad = photo(BATCH, c, size, size), photo(o, c, k, k), k // 2
        gy = photo(*T.conv2d(x, w, None, s, pad).shape)
        name = f"conv {k}x{k}/{s} {c}x{size}x{size}>{o}"

        def grad(wanted, x=x, w=w, gy=gy, s=s, pad=pad):
            return torch.ops.aten.convolution_backward(
                gy, x, w, None, [s, s], [pad, pad], [1, 1], False, [0, 0], 1, wanted
            )

        cases[f"{name} forward"] = lambda x=x, w=w, s=s, pad=pad: T.conv2d(x, w, None, s, pad)
        cases[f"{name} kept"] = cases[f"{name} forward"]
        cases[f"{name} input grad"] = lambda grad=grad: grad([True, False, False])
        cases[f"{name} weight grad"] = lambda grad=grad: grad([False, True, False])
    for c, size in MAPS:
        x, y = photo(BATCH, c, size, size), photo(BATCH, c, size, size)
        v = torch.from_numpy(np.abs(draw(c)) + 1)
        name = f"{c}x{size}x{size}"
        cases[f"relu {name}"] = lambda x=x: T.relu(x)
        cases[f"add {name}"] = lambda x=x, y=y: x + y
        cases[f"batch norm fixed {name}"] = lambda x=x, v=v: T.batch_norm(x, v, v, v, v)
        cases[f"batch norm train {name}"] = lambda x=x, v=v: T.batch_norm(x, None, None, v, v, True)
        if size > 7:
            cases[f"max pool {name}"] = lambda x=x: T.max_pool2d(x, 3, 2, 1)
    x, w, b = (torch.from_numpy(draw(*shape)) for shape in ((BATCH, 2048), (1000, 2048), (1000,)))
    cases["linear 2048>1000"] = lambda: T.linear(x, w, b)
    serve({name: repeated(call) for name, call in cases.items()})


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--torch-python", help="the python of an environment with torch")
    parser.add_argument("--threads", type=int, default=len(os.sched_getaffinity(0)))
    parser.add_argument("--runs", type=int, default=11)
    parser.add_argument("--cases", nargs="*", help="only those that contain one of these words")
    parser.add_argument("--out", help="write a JSON file of results")
    parser.add_argument("--serve", choices=("cvzoo", "torch"), help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.serve:
        return serve_cvzoo() if arguments.serve == "cvzoo" else serve_torch()
    environment = {"CVZOO_NUM_THREADS": str(arguments.threads), "OMP_NUM_THREADS": str(arguments.threads)}
    workers = [Worker("cvzoo", [sys.executable, __file__, "--serve", "cvzoo"], environment)]
    if arguments.torch_python:
        workers.append(Worker("torch", [arguments.torch_python, __file__, "--serve", "torch"], environment))
    print(machine(), f"threads {arguments.threads}, {CALLS} calls a run")
    wanted = [case for case in workers[0].cases if not arguments.cases or any(word in case for word in arguments.cases)]
    rows = [compare(workers, case, runs=arguments.runs) for case in wanted]
    for worker in workers:
        worker.close()
    if arguments.out:
        versions = {"numpy": np.__version__, "threads": str(arguments.threads)}
        write_results(arguments.out, title="Kernels of ResNet-50", rows=rows, versions=versions, notes=__doc__)


if __name__ == "__main__":
    main()
