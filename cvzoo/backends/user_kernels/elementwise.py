"""A user's kernel that computes element by element."""

import functools
from collections.abc import Callable
from typing import TypeAlias

import numpy as np

from cvzoo.backends.arrays import is_device_array
from cvzoo.backends.cupy.library import cupy
from cvzoo.backends.user_kernels.c_expressions import CExpressions
from cvzoo.backends.user_kernels.parameters import bind, read_parameters
from cvzoo.errors.exceptions import DtypeError, ShapeError, ValueRangeError
from cvzoo.typing.aliases import Array

KernelFunction: TypeAlias = Callable[..., Array | tuple[Array, ...]]  # of arrays and numbers, as a kernel


class ElementwiseKernel:
    """Assignments in C that are computed for each element of arrays that broadcast; made by `elementwise`.

    kernel(*inputs) or kernel(*inputs, *outputs) gives the output, or a tuple of several. On a GPU CuPy compiles the
    text; on the CPU NumPy evaluates it, or `on_cpu` is called.
    """

    def __init__(
        self,
        in_params: str,
        out_params: str,
        operation: str,
        name: str,
        on_cpu: KernelFunction | None = None,
    ):
        self.name = name
        self._texts = (in_params, out_params, operation)
        self._on_cpu = on_cpu
        self._inputs = read_parameters(in_params)
        self._outputs = read_parameters(out_params)
        if not self._outputs:
            raise ValueRangeError(f"{name}: a kernel needs an output", hint='out_params="T y"')
        if {p.name for p in self._inputs} & {p.name for p in self._outputs}:
            raise ValueRangeError(f"{name}: an input and an output have one name", got=f"{in_params}; {out_params}")

    @functools.cached_property
    def _on_gpu(self) -> KernelFunction:
        return cupy().ElementwiseKernel(*self._texts, self.name)

    def __call__(self, *arguments: Array | float, size: int | None = None) -> Array | tuple[Array, ...]:
        """The outputs, arrays of the shape that the inputs broadcast to.

        arguments: arrays and numbers, one per input; then, optionally, the arrays to write into, one per output
        size: the number of threads, where all inputs are raw; for GPUs and `on_cpu`
        Raises DtypeError or ShapeError if arguments do not fit.
        """
        n_in, n_out = len(self._inputs), len(self._outputs)
        if len(arguments) not in (n_in, n_in + n_out):
            raise ShapeError(
                f"{self.name}: wrong number of arguments", expected=f"{n_in} or {n_in + n_out}", got=len(arguments)
            )
        compute = self._on_gpu if any(is_device_array(x) for x in arguments) else self._on_cpu
        if compute is not None:
            return compute(*arguments) if size is None else compute(*arguments, size=size)
        given = arguments[n_in:]
        bound = bind(self.name, self._inputs, arguments[:n_in], list(zip(self._outputs, given)))
        outputs = [] if given else [np.zeros(bound.shape, bound.dtype_of(self.name, p)) for p in self._outputs]
        for parameter, array in zip(self._outputs, given):
            if not isinstance(array, np.ndarray):
                raise DtypeError(f"{self.name}: {parameter.name} must be an array", got=type(array).__name__)
            if array.shape != bound.shape:
                raise ShapeError(
                    f"{self.name}: {parameter.name} has another shape", expected=bound.shape, got=array.shape
                )
            outputs.append(array)
        start = {p.name: array for p, array in zip(self._outputs, outputs)}
        values = CExpressions(self._texts[2], {**bound.variables, **start}, bound.types).run()
        for parameter, array in zip(self._outputs, outputs):
            array[...] = values[parameter.name]
        return outputs[0] if n_out == 1 else tuple(outputs)


@functools.lru_cache(512)
def elementwise(
    in_params: str,
    out_params: str,
    operation: str,
    name: str,
    on_cpu: KernelFunction | None = None,
) -> ElementwiseKernel:
    """An element-wise kernel for the CPU and for GPUs; the same one for the same text.

    >>> muladd = elementwise("T x, T y, T z", "T w", "w = x * y + z", "muladd")
    >>> muladd(a, b, c)

    in_params, out_params: types and names; a type is C's or NumPy's, or one letter that stands for any; "raw" before it
        lets the kernel index the array, in C order, by `name[k]`
    operation: statements of C on the parameters; `i` is the index of the element, `n` the number of elements
    name: the kernel's, in errors and profiles
    on_cpu: a function of the same arguments that computes on NumPy arrays what `operation` does; needed for raw arrays,
        loops and branches, which only a GPU's compiler understands
    Raises ValueRangeError if the parameters cannot be read; the operation is read at the first call.
    Source: cuda.elementwise of Chainer's tutorial, CuPy's ElementwiseKernel. Where we differ: NumPy arrays are taken.
    """
    return ElementwiseKernel(in_params, out_params, operation, name, on_cpu)
