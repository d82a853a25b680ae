"""A user's kernel that brings many numbers down to one."""

import functools
import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from cvzoo.backends.cupy.library import cupy
from cvzoo.backends.user_kernels import c_math
from cvzoo.backends.user_kernels.arguments import any_on_device, bind, read_parameters
from cvzoo.backends.user_kernels.c_syntax import CReader
from cvzoo.backends.user_kernels.machine import Machine
from cvzoo.errors.exceptions import ShapeError, ValueRangeError


class ReductionKernel:
    """Expressions of C that map, join two, and finish; made by `reduce`.

    kernel(*inputs, axis=None, keepdims=False) gives the output. On the CPU numbers are joined as a tree, on a GPU as
    CuPy likes: sums of floats differ by rounding.
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
    def _read(self) -> tuple:
        types = frozenset(p.type_name for p in (*self._inputs, self._output) if p.dtype is None)
        _, _, mapped, joined, finished, identity = self._texts
        return (
            CReader(mapped, types).expression_alone(),
            CReader(joined, types).expression_alone(),
            CReader(finished, types).statements(),
            CReader(identity, types).expression_alone(),
        )

    @functools.cached_property
    def _on_gpu(self) -> Any:
        return cupy().ReductionKernel(*self._texts, self.name)

    def __call__(self, *arguments: Any, axis: int | Sequence[int] | None = None, keepdims: bool = False) -> Any:
        """The output: the inputs' common shape without `axis`.

        arguments: arrays and numbers, one an input
        axis: one or several axes; None for all
        keepdims: leave the axes, of length 1
        Raises DtypeError or ShapeError if arguments do not fit.
        """
        if len(arguments) != len(self._inputs):
            raise ShapeError(f"{self.name}: wrong number of arguments", expected=len(self._inputs), got=len(arguments))
        if any_on_device(arguments):
            axes = axis if axis is None or isinstance(axis, int) else tuple(axis)
            return self._on_gpu(*arguments, axis=axes, keepdims=keepdims)
        bound = bind(self.name, self._inputs, arguments)
        mapped, joined, finished, identity = self._read
        dtype = self._output.dtype or bound.types.get(self._output.type_name)
        if dtype is None:
            raise ValueRangeError(f"{self.name}: what {self._output.type_name} is, no input says")
        variables = {
            "i": np.arange(math.prod(bound.shape)).reshape(bound.shape),
            "n": np.asarray(math.prod(bound.shape)),
        }
        arrays = {}
        for parameter, array in zip(self._inputs, bound.inputs):
            if parameter.raw:
                arrays[parameter.name] = array.reshape(-1)
            else:
                variables[parameter.name] = array
        machine = Machine(bound.shape, bound.types, variables, arrays)
        values = np.broadcast_to(c_math.convert(machine.value(mapped), dtype), bound.shape)
        axes = self._axes(axis, len(bound.shape))
        kept = [k for k in range(len(bound.shape)) if k not in axes]
        shape = tuple(bound.shape[k] for k in kept)
        rows = values.transpose(*kept, *axes).reshape(*shape, -1)
        total = self._joined(rows, joined, c_math.convert(Machine((), bound.types, {}, {}).value(identity), dtype))
        last = Machine(shape, bound.types, {"a": total, self._output.name: np.zeros(shape, dtype)}, {})
        last.run(finished)
        y = np.array(np.broadcast_to(last.variables[self._output.name], shape))
        return np.expand_dims(y, tuple(axes)) if keepdims else y

    def _joined(self, rows: np.ndarray, joined: Any, identity: np.ndarray) -> np.ndarray:
        if rows.shape[-1] == 0:
            return np.full(rows.shape[:-1], identity)
        while rows.shape[-1] > 1:
            half = rows.shape[-1] // 2
            pair = {"a": rows[..., :half], "b": rows[..., half : 2 * half]}
            rest = rows[..., 2 * half :]
            both = c_math.convert(Machine(pair["a"].shape, {}, pair, {}).value(joined), rows.dtype)
            rows = np.concatenate([both, rest], -1) if rest.shape[-1] else both
        return rows[..., 0]

    def _axes(self, axis: int | Sequence[int] | None, ndim: int) -> list[int]:
        given = range(ndim) if axis is None else [axis] if isinstance(axis, int) else axis
        for each in given:
            if not -ndim <= each < ndim:
                raise ShapeError(f"{self.name}: no such axis", expected=f"{-ndim} to {ndim - 1}", got=each)
        return sorted({each % ndim for each in given})


@functools.lru_cache(512)
def reduce(
    in_params: str, out_params: str, map_expr: str, reduce_expr: str, post_map_expr: str, identity: str, name: str
) -> ReductionKernel:
    """A kernel that maps each place, joins all of an axis and finishes, on the CPU and on GPUs.

    >>> norm = reduce("T x", "T y", "x * x", "a + b", "y = sqrt(a)", "0", "norm")
    >>> norm(x, axis=1)

    in_params, out_params: as in `elementwise`; one output
    map_expr: an expression on the inputs; its value is converted to the output's type
    reduce_expr: an expression that joins `a` and `b`
    post_map_expr: statements that make the output of `a`
    identity: what an empty axis gives as `a`
    name: the kernel's, in errors and profiles
    Source: cuda.reduce of Chainer's tutorial, CuPy's ReductionKernel.
    """
    return ReductionKernel(in_params, out_params, map_expr, reduce_expr, post_map_expr, identity, name)
