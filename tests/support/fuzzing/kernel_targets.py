"""oneDNN's kernels against NumPy's, on arrays that lie in memory in odd ways."""

import pathlib
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from cvzoo.backends.abstract import ELTWISE_KINDS, AbstractBackend
from cvzoo.backends.numpy import backend as numpy_backend
from cvzoo.backends.onednn import backend as onednn_backend
from cvzoo.backends.onednn.library import why_no_onednn
from fuzzing.byte_mutations import cut, flip_bits, set_bytes
from fuzzing.choices import Choices, random_choices
from fuzzing.target import MB, Target, WrongResultError

TOLERANCE = 2e-5  # of the largest number
_REFERENCE = numpy_backend
_PARTIAL = ("log", "sqrt")  # NaN for negative numbers
Kernel = Callable[[AbstractBackend], Any]


def _laid(choices: Choices, *shape: int) -> np.ndarray:
    """Random numbers of the shape, in one of many layouts."""
    x = choices.generator().standard_normal(shape).astype("f4")
    way = choices.below(10)
    if way == 1:  # an address that is no multiple of 16, or not even of 4
        raw = np.zeros(x.nbytes + 128, "u1")
        start = -raw.ctypes.data % 64 + choices.one_of((4, 8, 12, 1, 2, 3, 20))
        laid = np.ndarray(shape, "f4", raw, start)
    elif way == 2:  # a field of records, whose strides may be no multiple of 4
        pad = choices.one_of(("V1", "V2", "V3", "V4", "V12"))
        laid = np.zeros(shape, [("v", "f4"), ("w", pad)])["v"]
    elif way == 3:
        laid = np.zeros(shape[::-1], "f4").T
    elif way == 4:  # another order of the axes
        order = choices.generator().permutation(len(shape))
        laid = np.zeros([shape[i] for i in order], "f4").transpose(np.argsort(order))
    elif way == 5:  # every second, or third
        step = choices.one_of((2, 3))
        laid = np.zeros([size * step for size in shape], "f4")[tuple(slice(None, None, step) for _ in shape)]
    elif way == 6:
        laid = np.zeros(shape, "f4")[tuple(slice(None, None, -1) for _ in shape)]
    elif way == 7 and x.size:  # all the same numbers along some axes
        some = tuple(slice(0, 1) if choices.yes() else slice(None) for _ in shape)
        return np.broadcast_to(x[some], shape)
    elif way == 8 and x.size:  # overlapping
        flat = choices.generator().standard_normal(sum(shape) + 8).astype("f4")
        return np.lib.stride_tricks.as_strided(flat, shape, (4,) * len(shape), writeable=False)
    elif way == 9:
        return x.astype("f4").view(np.dtype("f4").newbyteorder("<"))
    else:
        return x
    laid[...] = x
    return laid


def _convolution(choices: Choices) -> Kernel:
    groups = choices.one_of((1, 1, 1, 2, 4))
    c, o = groups * choices.one_of((1, 2, 3, 8, 16)), groups * choices.one_of((1, 2, 5, 8, 16))
    k, size = choices.one_of((1, 3, 3, 5)), (choices.one_of((5, 6, 9, 17)), choices.one_of((5, 7, 16)))
    x = _laid(choices, choices.one_of((1, 2, 3, 0)), c, *size)
    w, b = _laid(choices, o, c // groups, k, k), _laid(choices, o)
    pad = tuple(choices.one_of((0, 1, 2)) for _ in range(4))
    settings: dict[str, Any] = {"stride": (choices.one_of((1, 2)), 1), "pad": pad, "dilate": (1, 1), "groups": groups}
    deed = choices.below(3)
    if deed == 0:
        bias = b if choices.yes() else None
        return lambda backend: backend.conv_2d(x, w, bias, **settings)
    gy = _laid(choices, *_REFERENCE.conv_2d(x, w, None, **settings).shape)
    if deed == 1:
        return lambda backend: backend.conv_2d_input_grad(gy, w, size, **settings)
    return lambda backend: backend.conv_2d_weight_grad(x, gy, (k, k), **settings)


def _pooling(choices: Choices) -> Kernel:
    x = _laid(choices, choices.one_of((1, 2, 0)), choices.one_of((1, 3, 8, 16, 24)), choices.one_of((3, 7, 12)), 8)
    k, stride, pad = choices.one_of((2, 3)), choices.one_of((1, 2)), choices.below(2)
    settings: dict[str, Any] = {"ksize": (k, k), "stride": (stride, stride), "pad": (pad,) * 4}
    if choices.yes():
        return lambda backend: backend.max_pool_2d(x, **settings, keep=False)[0]
    settings["count_pad"] = choices.yes()
    return lambda backend: backend.average_pool_2d(x, **settings)


def _matrices(choices: Choices) -> Kernel:
    n, m, k = (choices.one_of((0, 1, 2, 7, 16, 33)) for _ in range(3))
    deed = choices.below(3)
    if deed == 0:
        x, w, b = _laid(choices, n, k), _laid(choices, m, k), _laid(choices, m)
        bias = b if choices.yes() else None
        return lambda backend: backend.linear(x, w, bias)
    batch = () if deed == 1 else (choices.one_of((1, 2, 3)),)
    a, b = _laid(choices, *batch, n, k), _laid(choices, *batch, k, m)
    return lambda backend: backend.matmul(a, b)


def _normalization(choices: Choices) -> Kernel:
    c = choices.one_of((1, 3, 8, 16))
    x = _laid(choices, choices.one_of((1, 2, 4)), c, choices.one_of((1, 5, 9)), 6)
    gamma, beta, mean, var = (_laid(choices, c) for _ in range(4))
    var = np.abs(var) + 0.1
    deed = choices.below(4)
    if deed == 0:
        return lambda backend: backend.batch_norm_fixed(x, gamma, beta, mean, var, eps=1e-3)
    if deed == 1:
        return lambda backend: backend.batch_norm_train(x, gamma, beta, eps=1e-3)
    if deed == 2:
        n = choices.one_of((2, 7, 16))
        rows, g, b = _laid(choices, 5, n), _laid(choices, n), _laid(choices, n)
        return lambda backend: backend.layer_norm(rows, g, b, eps=1e-3)
    return lambda backend: backend.local_response_norm(x, n=5, k=2.0, alpha=1e-3, beta=0.75)


def _elements(choices: Choices) -> Kernel:
    shape = tuple(choices.one_of((1, 2, 5, 8, 0)) for _ in range(choices.one_of((1, 2, 3, 4))))
    x, y = _laid(choices, *shape), _laid(choices, *shape)
    deed = choices.below(6)
    if deed == 0:
        kind = choices.one_of([kind for kind in ELTWISE_KINDS if kind not in _PARTIAL])
        return lambda backend: backend.eltwise(kind, x, alpha=0.5, beta=0.25)
    if deed == 1:
        return lambda backend: backend.add(x, y)
    if deed == 2:
        return lambda backend: backend.multiply(x, y)
    axis = choices.below(len(shape))
    if deed == 3:
        rest = _laid(choices, *(size + (i == axis) for i, size in enumerate(shape)))
        return lambda backend: backend.concat([x, rest, y], axis=axis)
    name = choices.one_of(("softmax", "log_softmax"))
    if 0 in shape:
        return lambda backend: backend.multiply(x, y)
    return lambda backend: getattr(backend, name)(x, axis=axis)


def _resizing(choices: Choices) -> Kernel:
    shape = choices.one_of((1, 2)), choices.one_of((1, 3, 8)), choices.one_of((3, 8)), choices.one_of((5, 8))
    x = _laid(choices, *shape)
    size = choices.one_of((3, 7, 16)), choices.one_of((4, 9, 20))
    mode = choices.one_of(("bilinear", "nearest"))
    aligned = mode == "bilinear" and choices.yes()
    settings: dict[str, Any] = {"mode": mode, "align_corners": aligned, "antialias": False}
    if choices.yes(3):
        gy = _laid(choices, *x.shape[:2], *size)
        return lambda backend: backend.resize_2d_grad(gy, x.shape[2:], **settings)
    return lambda backend: backend.resize_2d(x, size, **settings)


def _compare(make: Callable[[Choices], Kernel], data: bytes) -> None:
    kernel = make(Choices(data))
    results = kernel(onednn_backend), kernel(_REFERENCE)
    for fast, slow in zip(*(each if isinstance(each, tuple) else (each,) for each in results)):
        if fast.shape != slow.shape or fast.dtype != slow.dtype:
            raise WrongResultError(f"{fast.dtype} {fast.shape} instead of {slow.dtype} {slow.shape}")
        if slow.size:
            off = float(np.max(np.abs(fast.astype("f8") - slow)))
            largest = max(float(np.max(np.abs(slow))), 1e-3)
            if not off <= TOLERANCE * largest:
                raise WrongResultError(f"off by {off:.3g} where the largest number is {largest:.3g}")


def _run(make: Callable[[Choices], Kernel]) -> Callable[[pathlib.Path, bytes], None]:
    return lambda folder, data: _compare(make, data)


_MAKERS = {
    "convolution": _convolution,
    "pooling": _pooling,
    "matrices": _matrices,
    "normalization": _normalization,
    "elements": _elements,
    "resizing": _resizing,
}


def _seeds() -> Sequence[bytes]:
    return random_choices(64, 24)


TARGETS = tuple(
    Target(
        name=f"kernels-{name}",
        seeds=_seeds,
        run=_run(make),
        mutations=(flip_bits, set_bytes, set_bytes, cut),
        allowed=(),
        memory=1024 * MB,  # oneDNN compiles for each new shape, and keeps it
        seconds=20.0,
    )
    for name, make in _MAKERS.items()
    if why_no_onednn() is None
)
