"""ResNet-50's convolutions on a GPU: cuDNN's first plans, its measured ones, PyTorch's if that is installed.

    python benchmarks/gpu/convolutions.py --batch 256 --dtype mixed_bf16 --out result.json

Milliseconds are medians of events; each repetition has its own arrays, so that no cache holds what it reads. `host` is
what a call costs the CPU. Under ten minutes on an H100; not yet run on one.
"""

import argparse
import json
import os
import statistics
import tempfile
import time
from collections.abc import Callable

import numpy as np

from cvzoo.backends.cudnn import conv
from cvzoo.backends.cudnn.library import library
from cvzoo.backends.cupy.library import cupy
from cvzoo.backends.float_types import bfloat16
from cvzoo.backends.numpy.windows import out_size
from cvzoo.config.switches import using_config

try:
    import torch
except ImportError:
    torch = None

DTYPES = {"float32": np.float32, "tf32": np.float32, "mixed_fp16": np.float16, "mixed_bf16": None}
ROTATED = 3


def layers():
    """(channels, size, filters, window, stride) of each different convolution, and how often it comes."""
    found = {(3, 224, 64, 7, 2): 1}
    c, size = 64, 56
    for width, count, first in ((64, 3, 1), (128, 4, 2), (256, 6, 2), (512, 3, 2)):
        for k in range(count):
            stride = first if k == 0 else 1
            block = [(c, size, width, 1, 1), (width, size, width, 3, stride), (width, size // stride, 4 * width, 1, 1)]
            if k == 0:
                block.append((c, size, 4 * width, 1, stride))
            for layer in block:
                found[layer] = found.get(layer, 0) + 1
            c, size = 4 * width, size // stride
    return found


def milliseconds(calls: list[Callable[[], object]], repeats: int) -> float:
    """The median time of one call, the calls taken in turn."""
    cuda = cupy().cuda
    for call in calls:
        call()
    events = []
    for k in range(repeats):
        start, end = cuda.Event(), cuda.Event()
        start.record()
        calls[k % len(calls)]()
        end.record()
        events.append((start, end))
    cuda.Device().synchronize()
    return statistics.median(cuda.get_elapsed_time(*pair) for pair in events)


def host_microseconds(call: Callable[[], object], count: int = 200) -> float:
    """What a call costs the CPU while the GPU is behind."""
    call()
    cupy().cuda.Device().synchronize()
    start = time.perf_counter()
    for _ in range(count):
        call()
    spent = time.perf_counter() - start
    cupy().cuda.Device().synchronize()
    return 1e6 * spent / count


def photos(shape, dtype):
    """Random numbers that lie channels-last; each image is the first one, darker or brighter."""
    b, c, h, w = shape
    rng = np.random.default_rng(0)
    photo, light = rng.standard_normal((h, w, c), np.float32), rng.standard_normal((b, 1, 1, 1), np.float32)
    return (cupy().array(photo) * cupy().array(light)).astype(dtype).transpose(0, 3, 1, 2)


def ours(layer, batch, dtype):
    """{what: calls} of one layer, each with arrays of its own."""
    c, size, o, k, stride = layer
    geometry = {"stride": (stride, stride), "pad": (k // 2,) * 4, "dilate": (1, 1), "groups": 1}
    out = out_size((size, size), (k, k), (stride, stride), (k // 2,) * 4)
    found = {"forward": [], "forward + add + bias + relu": [], "weight_grad": [], "input_grad": []}
    for _ in range(ROTATED):
        x, gy, add = (photos(shape, dtype) for shape in ((batch, c, size, size), *[(batch, o, *out)] * 2))
        w, b, pack = photos((o, c, k, k), dtype), photos((1, o, 1, 1), dtype).reshape(o), {}
        told = geometry | {"pack": pack}
        found["forward"].append(lambda x=x, w=w, told=told: conv.conv_2d(x, w, None, **told))
        found["forward + add + bias + relu"].append(
            lambda x=x, w=w, b=b, add=add, told=told: conv.conv_2d(x, w, b, add=add, activation="relu", **told)
        )
        found["weight_grad"].append(lambda x=x, gy=gy: conv.conv_2d_weight_grad(x, gy, (k, k), **geometry))
        if c > 3:
            found["input_grad"].append(lambda gy=gy, w=w: conv.conv_2d_input_grad(gy, w, (size, size), **geometry))
    return {what: calls for what, calls in found.items() if calls}


def pytorchs(layer, batch, dtype):
    """The same by PyTorch with cudnn.benchmark."""
    c, size, o, k, stride = layer
    kind = {"float32": torch.float32, "tf32": torch.float32, "mixed_fp16": torch.float16}.get(dtype, torch.bfloat16)
    torch.backends.cudnn.benchmark = True
    torch.backends.cudnn.allow_tf32 = dtype == "tf32"
    like = {"device": "cuda", "dtype": kind}
    last = {"memory_format": torch.channels_last}
    told = ([stride] * 2, [k // 2] * 2, [1, 1], False, [0, 0], 1)
    found = {"forward": [], "weight_grad": [], "input_grad": []}
    for _ in range(ROTATED):
        x, w = torch.randn(batch, c, size, size, **like).to(**last), torch.randn(o, c, k, k, **like).to(**last)
        gy = torch.randn_like(torch.convolution(x, w, None, *told))
        found["forward"].append(lambda x=x, w=w: torch.convolution(x, w, None, *told))
        for what, mask in (("input_grad", [True, False, False]), ("weight_grad", [False, True, False])):
            if what == "weight_grad" or c > 3:
                found[what].append(
                    lambda x=x, w=w, gy=gy, mask=mask: torch.ops.aten.convolution_backward(gy, x, w, None, *told, mask)
                )
    return {what: calls for what, calls in found.items() if calls}


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--batch", type=int, default=256)
    parser.add_argument("--dtype", choices=DTYPES, default="mixed_bf16")
    parser.add_argument("--repeats", type=int, default=20)
    parser.add_argument("--layers", type=int, default=None, help="only the first so many")
    parser.add_argument("--out")
    arguments = parser.parse_args()
    dtype = np.dtype(DTYPES[arguments.dtype] or bfloat16())
    os.environ["CVZOO_HOME"] = tempfile.mkdtemp()
    about = cupy().cuda.runtime.getDeviceProperties(0)["name"]
    rows = []
    start = time.perf_counter()
    for layer, count in list(layers().items())[: arguments.layers]:
        row = {"layer": layer, "times": count, "first": {}, "measured": {}, "PyTorch": {}, "host": {}}
        with using_config("dtype", arguments.dtype):
            for column, autotune in (("first", False), ("measured", True)):
                with using_config("autotune", autotune):
                    for what, calls in ours(layer, arguments.batch, dtype).items():
                        row[column][what] = milliseconds(calls, arguments.repeats)
                        row["host"][what] = host_microseconds(calls[0])
        if torch is not None and torch.cuda.is_available():
            for what, calls in pytorchs(layer, arguments.batch, arguments.dtype).items():
                row["PyTorch"][what] = milliseconds(calls, arguments.repeats)
        rows.append(row)
        for what in row["first"]:
            numbers = [row[column].get(what, float("nan")) for column in ("first", "measured", "PyTorch")]
            print(f"{layer!s:28s} x{count:2d} {what:28s}", *(f"{ms:8.3f}" for ms in numbers), flush=True)
    result = {
        "device": about.decode() if isinstance(about, bytes) else about,
        "cudnn": library().version,
        "pytorch": None if torch is None else torch.__version__,
        "batch": arguments.batch,
        "dtype": arguments.dtype,
        "seconds": round(time.perf_counter() - start, 1),
        "rows": rows,
    }
    for column in ("first", "measured", "PyTorch"):
        for what in dict.fromkeys(what for row in rows for what in row[column]):
            total = sum(row["times"] * row[column].get(what, 0) for row in rows)
            print(f"in all, {column:9s} {what:28s} {total:8.2f} ms")
    if arguments.out:
        with open(arguments.out, "w", encoding="utf-8") as file:
            json.dump(result, file, indent=1)


if __name__ == "__main__":
    main()
