"""Kernels that only move memory: normalization, pooling, depthwise convolution; beside a plain copy, and PyTorch's.

    python benchmarks/gpu/memory_bound.py --batch 256 --dtype bfloat16 --out result.json

Each kernel is given the bytes that it cannot avoid (every array read or written once); bytes a second over those of a
copy is how good it is. Milliseconds are medians of events; repetitions take turns with arrays. Not yet run on a GPU.
"""

import argparse
import json
import time
from collections.abc import Callable

import numpy as np
from convolutions import milliseconds, photos

from cvzoo.backends.cuda.depthwise import depthwise_conv_2d, depthwise_input_grad, depthwise_weight_grad
from cvzoo.backends.cuda.normalization import batch_norm_forward, batch_norm_gradients, layer_norm, layer_norm_grad
from cvzoo.backends.cupy import pooling
from cvzoo.backends.cupy.library import cupy
from cvzoo.backends.float_types import bfloat16
from cvzoo.backends.numpy.windows import out_size

try:
    import torch
except ImportError:
    torch = None

ROTATED = 3
BATCH_NORMS = [(64, 112), (64, 56), (256, 56), (128, 28), (512, 28), (256, 14), (1024, 14), (512, 7), (2048, 7)]
POOLS = [(64, 112, 3, 2, 1)]
DEPTHWISE = [
    # channels, size, window, stride
    (32, 112, 3, 1),
    (96, 112, 3, 2),
    (144, 56, 3, 1),
    (144, 56, 5, 2),
    (240, 28, 5, 1),
    (672, 14, 5, 1),
    (960, 7, 3, 1),
    (96, 56, 7, 1),
    (384, 14, 7, 1),
]
LAYER_NORMS = [(197, 768), (3136, 96), (196, 384)]  # rows an image, numbers a row

Case = tuple[str, int, list[Callable[[], object]], list[Callable[[], object]]]  # name, bytes, ours, PyTorch's


def torchs(x):
    """x as PyTorch's, on the same memory."""
    return torch.from_dlpack(x)


def with_torch(make: Callable[[], Callable[[], object]]) -> list[Callable[[], object]]:
    """What `make` gives, if PyTorch sees the GPU."""
    return [make()] if torch is not None and torch.cuda.is_available() else []


def batch_norms(batch: int, dtype) -> list[Case]:
    """Learning with and without an addend, the ReLU behind both, and the way back."""
    cases, xp = [], cupy()
    for c, size in BATCH_NORMS:
        forward, added, back, theirs = [], [], [], []
        for _ in range(ROTATED):
            x, add = (photos((batch, c, size, size), dtype) for _ in range(2))
            gamma, beta = xp.ones(c, "float32"), xp.zeros(c, "float32")
            _, mean, var, mask = batch_norm_forward(x, gamma, beta, eps=1e-5, add=add, relu=True)
            given = {"eps": 1e-5, "mask": mask, "adds": True}
            forward.append(lambda x=x, g=gamma, b=beta: batch_norm_forward(x, g, b, eps=1e-5, relu=True))
            added.append(lambda x=x, a=add, g=gamma, b=beta: batch_norm_forward(x, g, b, eps=1e-5, add=a, relu=True))
            back.append(
                lambda x=x, a=add, g=gamma, m=mean, v=var, given=given: batch_norm_gradients(a, x, g, m, v, **given)
            )

            def make(x=x, gamma=gamma, beta=beta):
                x, w, b = torchs(x), torchs(gamma), torchs(beta)
                return lambda: torch.relu(torch.nn.functional.batch_norm(x, None, None, w, b, True))

            theirs += with_torch(make)
        nbytes = x.nbytes
        name = f"{c} x {size} x {size}"
        cases.append((f"batch norm, relu {name}", 3 * nbytes, forward, theirs))
        cases.append((f"batch norm, add, relu {name}", 4 * nbytes, added, []))
        cases.append((f"batch norm, add, relu, back {name}", 6 * nbytes, back, []))
    return cases


def depthwise(batch: int, dtype) -> list[Case]:
    """Forward with a bias and a ReLU, and both gradients."""
    cases, xp = [], cupy()
    for c, size, k, stride in DEPTHWISE:
        given = {"stride": (stride, stride), "pad": (k // 2,) * 4, "dilate": (1, 1)}
        out = out_size((size, size), (k, k), (stride, stride), (k // 2,) * 4)
        forward, input_grad, weight_grad, theirs = [], [], [], []
        for _ in range(ROTATED):
            x, gy = photos((batch, c, size, size), dtype), photos((batch, c, *out), dtype)
            w, b, pack = xp.ones((c, 1, k, k), dtype), xp.ones(c, dtype), {}
            told = given | {"activation": "relu", "pack": pack}
            forward.append(lambda x=x, w=w, b=b, told=told: depthwise_conv_2d(x, w, b, **told))
            input_grad.append(
                lambda gy=gy, w=w, c=c, s=size, given=given: depthwise_input_grad(gy, w, (s, s), groups=c, **given)
            )
            weight_grad.append(lambda x=x, gy=gy, k=k, given=given: depthwise_weight_grad(x, gy, (k, k), **given))

            def make(x=x, w=w, b=b, c=c, k=k, stride=stride):
                x, w, b = torchs(x), torchs(w), torchs(b)
                return lambda: torch.relu(torch.nn.functional.conv2d(x, w, b, stride, k // 2, 1, c))

            theirs += with_torch(make)
        name = f"{c} x {size} x {size}, {k} x {k} / {stride}"
        nbytes = x.nbytes + gy.nbytes
        cases.append((f"depthwise {name}", nbytes, forward, theirs))
        cases.append((f"depthwise input grad {name}", nbytes, input_grad, []))
        cases.append((f"depthwise weight grad {name}", nbytes, weight_grad, []))
    return cases


def pools(batch: int, dtype) -> list[Case]:
    """Maxima, kept for the way back, and the way back."""
    cases = []
    for c, size, k, stride, pad in POOLS:
        given = {"ksize": (k, k), "stride": (stride, stride), "pad": (pad,) * 4}
        forward, back, theirs = [], [], []
        for _ in range(ROTATED):
            x = photos((batch, c, size, size), dtype)
            y, kept = pooling.max_pool_2d(x, keep=True, **given)
            forward.append(lambda x=x, given=given: pooling.max_pool_2d(x, keep=True, **given))
            back.append(
                lambda y=y, kept=kept, shape=x.shape, given=given: pooling.max_pool_2d_grad(y, kept, shape, **given)
            )

            def make(x=x, k=k, stride=stride, pad=pad):
                x = torchs(x)
                return lambda: torch.nn.functional.max_pool2d(x, k, stride, pad)

            theirs += with_torch(make)
        name = f"{c} x {size} x {size}, {k} x {k} / {stride}"
        nbytes = x.nbytes + y.nbytes + kept.nbytes
        cases.append((f"max pool {name}", nbytes, forward, theirs))
        cases.append((f"max pool, back {name}", nbytes, back, []))
    return cases


def layer_norms(batch: int, dtype) -> list[Case]:
    """Rows, and the way back."""
    cases, xp = [], cupy()
    for rows, length in LAYER_NORMS:
        forward, back, theirs = [], [], []
        for _ in range(ROTATED):
            x = photos((batch, length, rows, 1), dtype).transpose(0, 2, 3, 1).reshape(-1, length)
            gamma, beta = xp.ones(length, "float32"), xp.zeros(length, "float32")
            _, mean, var = layer_norm(x, gamma, beta, eps=1e-5)
            forward.append(lambda x=x, g=gamma, b=beta: layer_norm(x, g, b, eps=1e-5))
            back.append(lambda x=x, g=gamma, m=mean, v=var: layer_norm_grad(x, x, g, m, v, eps=1e-5))

            def make(x=x, length=length):
                x = torchs(x)
                like = {"device": x.device, "dtype": x.dtype}
                w, b = torch.ones(length, **like), torch.zeros(length, **like)
                return lambda: torch.nn.functional.layer_norm(x, (length,), w, b)

            theirs += with_torch(make)
        cases.append((f"layer norm {rows} x {length}", 2 * x.nbytes, forward, theirs))
        cases.append((f"layer norm, back {rows} x {length}", 3 * x.nbytes, back, []))
    return cases


def copy_rate(repeats: int, nbytes: int) -> float:
    """Bytes a second that a copy reads and writes."""
    xp = cupy()
    pairs = [(xp.zeros(nbytes, "uint8"), xp.empty(nbytes, "uint8")) for _ in range(ROTATED)]
    calls = [lambda a=a, b=b: b.data.copy_from_device_async(a.data, nbytes) for a, b in pairs]
    return 2 * nbytes / (milliseconds(calls, repeats) / 1e3)


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--batch", type=int, default=256)
    parser.add_argument("--dtype", choices=("float32", "float16", "bfloat16"), default="bfloat16")
    parser.add_argument("--repeats", type=int, default=20)
    parser.add_argument("--copy", type=int, default=1 << 30, help="bytes of the plain copy")
    parser.add_argument("--out")
    arguments = parser.parse_args()
    dtype = bfloat16() if arguments.dtype == "bfloat16" else np.dtype(arguments.dtype)
    start = time.perf_counter()
    best = copy_rate(arguments.repeats, arguments.copy)
    print(f"a copy: {best / 1e9:.0f} GB/s")
    rows = []
    for group in (batch_norms, depthwise, pools, layer_norms):
        for name, nbytes, ours, theirs in group(arguments.batch, dtype):
            spent = milliseconds(ours, arguments.repeats)
            row = {"name": name, "bytes": nbytes, "ms": spent, "of a copy": nbytes / (spent / 1e3) / best}
            row["PyTorch ms"] = milliseconds(theirs, arguments.repeats) if theirs else None
            rows.append(row)
            other = f"{row['PyTorch ms']:8.3f}" if theirs else ""
            print(f"{name:52s} {spent:8.3f} ms {100 * row['of a copy']:5.0f} % {other}", flush=True)
    about = cupy().cuda.runtime.getDeviceProperties(0)["name"]
    result = {
        "device": about.decode() if isinstance(about, bytes) else about,
        "pytorch": None if torch is None else torch.__version__,
        "batch": arguments.batch,
        "dtype": arguments.dtype,
        "copy": best,
        "seconds": round(time.perf_counter() - start, 1),
        "rows": rows,
    }
    if arguments.out:
        with open(arguments.out, "w", encoding="utf-8") as file:
            json.dump(result, file, indent=1)


if __name__ == "__main__":
    main()
