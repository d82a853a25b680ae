"""A user's kernel that reduces arrays along axes."""

import functools
import math
from collections.abc import Callable, Mapping, Sequence

import numpy as np

from cvzoo.backends.arrays import is_device_array
from cvzoo.backends.cupy.library import cupy
from cvzoo.backends.user_kernels.c_arithmetic import convert
from cvzoo.backends.user_kernels.c_expressions import CExpressions
from cvzoo.backends.user_kernels.parameters import bind, read_parameters
from cvzoo.errors.exceptions import ShapeError, ValueRangeError
from cvzoo.typing.aliases import Array


class ReductionKernel:
    """C expressions that map elements, combine two, and finish; made by `reduce`.

    kernel(*inputs, axis=None, keepdims=False) gives the output. On the CPU elements are combined as a tree, on a GPU in
    CuPy's order: sums of floats differ by rounding.
    """

    def __init__(
        self,
        in_params: str,
        out_params: str,
        map_expr: str,
        reduce_expr: str,
        post_map_expr: str,
        identity: str,
        name: str,
    ):
        self.name = name
        self._texts = (in_params, out_params, map_expr, reduce_expr, post_map_expr, identity)
        self._inputs = read_parameters(in_params)
        outputs = read_parameters(out_params)
        if len(outputs) != 1 or outputs[0].raw:
            raise ValueRangeError(f"{name}: a reduction has one output, and not a raw one", got=out_params)
        if not self._inputs or any(p.name in ("a", "b") for p in (*self._inputs, *outputs)):
            raise ValueRangeError(f"{name}: a reduction needs inputs, not called a or b", got=in_params)
        self._output = outputs[0]

    @functools.cached_property
    def _on_gpu(self) -> Callable[..., Array]:
        return cupy().ReductionKernel(*self._texts, self.name)

    def __call__(
        self, *arguments: Array | float, axis: int | Sequence[int] | None = None, keepdims: bool = False
    ) -> Array:
        """The output: the inputs' common shape without `axis`.

        arguments: arrays and numbers, one per input
        axis: one or several axes; None for all
        keepdims: keep the axes with length 1
        Raises DtypeError or ShapeError if arguments do not fit.
        """
        if len(arguments) != len(self._inputs):
            raise ShapeError(f"{self.name}: wrong number of arguments", expected=len(self._inputs), got=len(arguments))
        if any(is_device_array(x) for x in arguments):
            axes = axis if axis is None or isinstance(axis, int) else tuple(axis)
            return self._on_gpu(*arguments, axis=axes, keepdims=keepdims)
        bound = bind(self.name, self._inputs, arguments)
        _, _, mapped, combined, finished, identity = self._texts
        dtype = bound.dtype_of(self.name, self._output)
        values = convert(CExpressions(mapped, bound.variables, bound.types).value(), dtype)
        summed = self._axes(axis, len(bound.shape))
        remaining = [k for k in range(len(bound.shape)) if k not in summed]
        shape = tuple(bound.shape[k] for k in remaining)
        rows = np.broadcast_to(values, bound.shape).transpose(*remaining, *summed)
        rows = rows.reshape(*shape, math.prod([bound.shape[k] for k in summed]))
        if not rows.shape[-1]:
            start = convert(CExpressions(identity, {}, bound.types).value(), dtype)
            rows = np.full((*shape, 1), start)
        total = _combine(rows, combined, bound.types)
        variables = {"a": total, self._output.name: np.zeros(shape, dtype)}
        y = np.array(np.broadcast_to(CExpressions(finished, variables, bound.types).run()[self._output.name], shape))
        return np.expand_dims(y, tuple(summed)) if keepdims else y

    def _axes(self, axis: int | Sequence[int] | None, ndim: int) -> list[int]:
        given = range(ndim) if axis is None else [axis] if isinstance(axis, int) else axis
        for each in given:
            if not -ndim <= each < ndim:
                raise ShapeError(f"{self.name}: no such axis", expected=f"{-ndim} to {ndim - 1}", got=each)
        return sorted({each % ndim for each in given})


def _combine(rows: Array, expression: str, types: Mapping[str, np.dtype]) -> Array:
    """The last axis, reduced in pairs of halves."""
    while rows.shape[-1] > 1:
        half = rows.shape[-1] // 2
        pair = {"a": rows[..., :half], "b": rows[..., half : 2 * half]}
        both = convert(CExpressions(expression, pair, types).value(), rows.dtype)
        rows = np.concatenate([np.broadcast_to(both, pair["a"].shape), rows[..., 2 * half :]], -1)
    return rows[..., 0]


@functools.lru_cache(512)
def reduce(
    in_params: str, out_params: str, map_expr: str, reduce_expr: str, post_map_expr: str, identity: str, name: str
) -> ReductionKernel:
    """A reduction kernel for the CPU and for GPUs; the same one for the same text.

    >>> norm = reduce("T x", "T y", "x * x", "a + b", "y = sqrt(a)", "0", "norm")
    >>> norm(x, axis=1)

    in_params, out_params: as in `elementwise`; one output
    map_expr: an expression of the inputs; its value is converted to the output's type
    reduce_expr: an expression that combines `a` and `b`
    post_map_expr: assignments that compute the output from `a`
    identity: the `a` of an empty axis
    name: the kernel's, in errors and profiles
    Source: cuda.reduce of Chainer's tutorial, CuPy's ReductionKernel.
    """
    return ReductionKernel(in_params, out_params, map_expr, reduce_expr, post_map_expr, identity, name)
