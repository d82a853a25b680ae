"""Mean and variance of each channel: by our own kernel, or from oneDNN's statistics of short parts, merged in float64.

oneDNN sums statistics sequentially over the rows, with errors of 2e-6 from 1,500 rows on and of 4e-4 at a million. It
has no kernel for statistics only: its normalized output is written to a buffer within the cache and discarded.
"""

import math

import numpy as np

from cvzoo.backends.native.library import native
from cvzoo.backends.native.plans import BatchNormPlan
from cvzoo.backends.onednn.memory import new_vector
from cvzoo.backends.onednn.native_primitive import NativePrimitive
from cvzoo.backends.onednn.primitives import (
    DST,
    FORWARD_TRAINING,
    MEAN,
    SRC,
    VARIANCE,
    Primitive,
    attributes,
    describe,
    describe_image,
    local,
    primitive_descriptor,
    recall,
    supported,
)

_BLOCK = 1 << 20  # elements per call: few calls, as each synchronizes the threads; they fit a cache
_FEW = 1536  # rows for which the library's own statistics, in the normalizing pass, have an error of at most 2e-6
_LONG = 256  # the most rows of a part: the error of their sum is 8e-7, and errors of parts have either sign
_SHORT = 16  # the fewest rows of a part, and the fewest parts
_LANES = 16  # elements of a register; other widths have slower kernels


class _Statistics:
    """Division of rows (N, C): `groups` adjacent rows belong to as many parts, each of `length` such rows."""

    __slots__ = ("_blocks", "_c", "_parts", "_throwaway", "_weights", "_widest")

    def __init__(self, rows: int, c: int):
        length, groups = _cut(rows, c)
        sizes = [(length, groups)] * (rows // (length * groups))
        rest = rows % (length * groups)
        sizes += [each for each in ((rest // groups, groups), (rest % groups, 1)) if each[0]]
        plans = {size: _plan(size[0], size[1] * c) for size in set(sizes)}
        self._c = c
        self._blocks = []
        start = part = 0
        for length, groups in sizes:
            end = start + length * groups * c
            self._blocks.append((plans[length, groups], slice(start, end), groups * c, slice(part, part + groups)))
            start, part = end, part + groups
        self._parts = part
        self._throwaway = max(length * groups for length, groups in sizes) * c
        self._widest = max(groups for _, groups in sizes) * c
        self._weights = np.array([length / rows for length, groups in sizes for _ in range(groups)])[:, None]

    def __call__(self, image: np.ndarray, whole_mean: np.ndarray, whole_var: np.ndarray) -> None:
        numbers, c = image.transpose(0, 2, 3, 1).reshape(-1), self._c
        y = new_vector(self._throwaway)
        mean, var = new_vector(self._widest), new_vector(self._widest)  # each from its beginning: kernels want it so
        means, variances = np.zeros((2, self._parts, c))
        for run, some, width, parts in self._blocks:
            run(numbers[some], y, mean[:width], var[:width])
            means[parts] = mean[:width].reshape(-1, c)
            variances[parts] = var[:width].reshape(-1, c)
        middle = np.add.reduce(means * self._weights, 0)
        means -= middle
        means *= means
        # variances within parts plus the variance of their means: no large numbers are subtracted
        variances += means
        variances *= self._weights
        whole_mean[...] = middle
        whole_var[...] = np.add.reduce(variances, 0)


def _divisor(n: int, most: int, step: int = 1) -> int:
    """The largest divisor of n from most / 2 to `most` that is a multiple of `step`; `most` if there is none."""
    most = max(most, 1)
    length = next((k for k in range(most, most // 2, -1) if n % k == 0 and k % step == 0), None)
    return length or max(most - most % step, 1)


def _cut(rows: int, c: int) -> tuple[int, int]:
    """The rows of a part, and the number of parts that are interleaved in a block."""
    most = min(_LONG, max(rows // _SHORT, _SHORT), max(_BLOCK // c, 1))
    length = _divisor(rows, most)
    groups = min(max(_BLOCK // (length * c), 1), rows // length)
    return length, _divisor(rows // length, groups, _LANES // math.gcd(c, _LANES))


def _plan(length: int, width: int) -> Primitive:
    image, vector = describe_image((length, width, 1, 1)), describe((width,), (1,))
    operation = "batch_normalization_forward"
    plan = primitive_descriptor(operation, FORWARD_TRAINING, image, image, 1e-5, 0, attributes())
    return Primitive(supported(plan), [(SRC, image), (DST, image), (MEAN, vector), (VARIANCE, vector)])


def are_taken_apart(shape: tuple[int, ...]) -> bool:
    """Whether statistics of (B, C, H, W) are computed in a separate pass: not for few rows."""
    return native() is not None or shape[0] * shape[2] * shape[3] > _FEW


def batch_statistics(image: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """mean (C,), biased variance (C,) of a channels-last float32 image (B, C, H, W) that is not empty."""
    b, c, h, w = image.shape
    key = ("batch_statistics", b * h * w, c)
    run = local.young.get(key)
    if run is None:
        run = recall(key, _make, b * h * w, c)
    mean, var = new_vector(c), new_vector(c)
    run(image, mean, var)
    return mean, var


def _make(rows: int, c: int) -> NativePrimitive | _Statistics:
    if native() is None:
        return _Statistics(rows, c)
    return NativePrimitive("batch normalization", "batch_statistics", BatchNormPlan(rows, c), (SRC, MEAN, VARIANCE))
