"""Whether a GPU does what it must, and how fast it is at most: two minutes.

    python benchmarks/gpu/smoke.py --out result.json [--device-json FILE]

Copies (GB/s, counting bytes read and written), products of 8192 x 8192 matrices (TFLOP/s) in each dtype, what a launch
costs the CPU and the device, one capture and its replays, and cuDNN against float64 on a few convolutions.
--device-json: keep the device as cuDNN describes it, from which plans are made where there is no such device.
"""

import json
import pathlib
import time

import numpy as np
from bench import (
    PARITY,
    begin,
    cudnn_description,
    dtype_of,
    gpu,
    host,
    in_turn,
    milliseconds,
    parser,
    poison,
    relative_error,
)

from cvzoo.backends.capture import PrivatePool, captured, warmed_up
from cvzoo.backends.cuda.random_numbers import uniform
from cvzoo.backends.device import get_device
from cvzoo.backends.numpy import conv as reference
from cvzoo.config.switches import using_config

MODES = ("float32", "tf32", "mixed_fp16", "mixed_bf16")


def copies(n: int) -> dict:
    """GB/s of an array on the device copied to another."""
    xp = gpu()
    pairs = [(uniform(n), xp.empty(n, xp.float32)) for _ in range(2)]
    calls = [lambda a=a, b=b: xp.copyto(b, a) for a, b in pairs]
    (row,) = in_turn({"copy": calls}, rounds=5, count=5).values()
    return row | {"gbytes": round(2 * 4 * n / row["median_ms"] / 1e6, 1)}


def products(n: int, mode: str) -> dict:
    """TFLOP/s of a product of random matrices, and its error on a few rows."""
    xp, backend = gpu(), get_device("gpu:0").backend
    rng = np.random.default_rng(0)
    dtype = dtype_of(mode)
    pairs = [[xp.asarray(rng.standard_normal((n, n), np.float32)).astype(dtype) for _ in range(2)] for _ in range(2)]
    with using_config("dtype", mode):
        calls = [lambda a=a, b=b: backend.matmul(a, b) for a, b in pairs]
        (row,) = in_turn({"product": calls}, rounds=5, count=5).values()
        poison(1 << 20)
        a, b = pairs[0]
        got = host(backend.matmul(a, b)[:8])
    error = relative_error(got, host(a[:8]) @ host(b))
    return row | {"teraflops": round(2 * n**3 / row["median_ms"] / 1e9, 1), "error": error}


def launches(count: int) -> dict:
    """Microseconds of a small kernel: for the CPU, for the device, and in a graph of a hundred."""
    xp, backend = gpu(), get_device("gpu:0").backend
    x = xp.ones(256, xp.float32)

    def chain():
        y = x
        for _ in range(100):
            y = backend.eltwise("relu", y)
        return y

    milliseconds([chain], 3)
    start = time.perf_counter()
    for _ in range(count):
        chain()
    spent = time.perf_counter() - start
    xp.cuda.Device().synchronize()
    eager = milliseconds([chain], count)
    warmed_up(chain)
    graph = captured(chain, PrivatePool())
    graph.launch()
    assert (graph.result.get() == 1).all()
    return {
        "host_us_a_launch": round(1e6 * spent / count / 100, 3),
        "eager_us_a_launch": round(1e3 * eager / 100, 3),
        "replayed_us_a_launch": round(1e3 * milliseconds([graph.launch], count) / 100, 3),
    }


def convolutions(mode: str) -> dict:
    """The errors of one convolution, its gradients, its sums, against float64."""
    backend, xp = get_device("gpu:0").backend, gpu()
    rng = np.random.default_rng(0)
    x, w, gy = (rng.standard_normal(shape) for shape in ((2, 64, 14, 14), (64, 64, 3, 3), (2, 64, 14, 14)))
    b = rng.standard_normal(64)
    told = {"stride": (1, 1), "pad": (1, 1, 1, 1), "dilate": (1, 1), "groups": 1}
    dtype = dtype_of(mode)
    dx, dw, dgy, db = (xp.asarray(each.astype(np.float32)).astype(dtype) for each in (x, w, gy, b))
    x, w, gy, b = (host(each) for each in (dx, dw, dgy, db))
    with using_config("dtype", mode):
        poison(1 << 20)
        got = {
            "forward": backend.conv_2d(dx, dw, db, add=dgy, activation="relu", **told),
            "input": backend.conv_2d_input_grad(dgy, dw, (14, 14), add=dx, **told),
            "weight": backend.conv_2d_weight_grad(dx, dgy, (3, 3), **told),
        }
    want = {
        "forward": reference.conv_2d(x, w, b, add=gy, activation="relu", **told),
        "input": reference.conv_2d_input_grad(gy, w, (14, 14), **told) + x,
        "weight": reference.conv_2d_weight_grad(x, gy, (3, 3), **told),
    }
    errors = {what: relative_error(host(got[what]), want[what]) for what in want}
    return {"errors": errors, "backend": backend.name, "in bounds": max(errors.values()) <= PARITY[mode]}


def main() -> None:
    """Measure and print."""
    made = parser(__doc__)
    made.add_argument("--device-json", type=pathlib.Path, help="keep cuDNN's description of the device here")
    arguments = made.parse_args()
    report = begin("What this GPU reaches", arguments)
    description = cudnn_description()
    if description is not None:
        report.add({"case": "cuDNN's description", "device": json.loads(description).get("deviceName")})
        if arguments.device_json is not None:
            arguments.device_json.write_bytes(description)
    n, side, count = (1 << 16, 64, 2) if arguments.quick else (1 << 29, 8192, 20)
    report.try_each(["copy"], lambda case: report.add({"case": case, **copies(n)}))
    report.try_each(["launches"], lambda case: report.add({"case": case, **launches(count)}))
    for what, measure in (("convolution", convolutions), ("product", lambda mode: products(side, mode))):
        report.try_each(
            MODES, lambda mode, what=what, measure=measure: report.add({"case": f"{what} {mode}", **measure(mode)})
        )


if __name__ == "__main__":
    main()
