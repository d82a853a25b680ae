"""A user's kernel that computes number by number."""

import functools
from typing import Any

import numpy as np

from cvzoo.backends.cupy.library import cupy
from cvzoo.backends.user_kernels.arguments import any_on_device, bind, read_parameters
from cvzoo.backends.user_kernels.c_syntax import CReader
from cvzoo.backends.user_kernels.machine import Machine
from cvzoo.errors.exceptions import DtypeError, ShapeError, ValueRangeError

Array = Any


class ElementwiseKernel:
    """Statements of C that are run for each place of arrays that broadcast; made by `elementwise`.

    kernel(*inputs) or kernel(*inputs, *outputs), with `size=` where all inputs are raw, gives the output, or a tuple of
    several. On a GPU CuPy compiles them; on the CPU NumPy runs them for all places at once, with C's types.
    """

    def __init__(self, in_params: str, out_params: str, operation: str, name: str):
        self.name = name
        self._texts = (in_params, out_params, operation)
        self._inputs = read_parameters(in_params)
        self._outputs = read_parameters(out_params)
        if not self._outputs:
            raise ValueRangeError(f"{name}: a kernel without outputs does nothing", hint='out_params="T y"')
        names = {p.name for p in self._inputs} & {p.name for p in self._outputs}
        if names:
            raise ValueRangeError(f"{name}: parameters of one name", got=", ".join(sorted(names)))

    @functools.cached_property
    def _statements(self) -> tuple:
        types = frozenset(p.type_name for p in (*self._inputs, *self._outputs) if p.dtype is None)
        return CReader(self._texts[2], types).statements()

    @functools.cached_property
    def _on_gpu(self) -> Any:
        return cupy().ElementwiseKernel(*self._texts, self.name)

    def __call__(self, *arguments: Any, size: int | None = None) -> Any:
        """The outputs, arrays of the shape that the inputs broadcast to (those that are not raw).

        arguments: arrays and numbers, one an input; then, if wanted, the arrays to write into, one an output
        size: how many threads there are, where all inputs are raw
        Raises DtypeError or ShapeError if arguments do not fit, ValueRangeError if an index lies outside of an array
        (on the CPU; a GPU does not look).
        """
        n_in, n_out = len(self._inputs), len(self._outputs)
        if len(arguments) not in (n_in, n_in + n_out):
            raise ShapeError(
                f"{self.name}: wrong number of arguments", expected=f"{n_in} or {n_in + n_out}", got=len(arguments)
            )
        if any_on_device(arguments):
            return self._on_gpu(*arguments) if size is None else self._on_gpu(*arguments, size=size)
        given = arguments[n_in:]
        bound = bind(self.name, self._inputs, arguments[:n_in], list(zip(self._outputs, given)))
        raw_only = all(p.raw for p in self._inputs)
        if raw_only and size is None and not given:
            raise ValueRangeError(f"{self.name}: how many threads?", hint="kernel(x, size=x.size)")
        shape = (size,) if raw_only and size is not None else bound.shape
        if raw_only and given:
            shape = given[0].shape if size is None else (size,)
        outputs = self._prepared(given, bound.types, shape)
        variables = {"i": np.arange(int(np.prod(shape))).reshape(shape), "n": np.asarray(int(np.prod(shape)))}
        arrays = {}
        for parameter, array in [*zip(self._inputs, bound.inputs), *zip(self._outputs, outputs)]:
            if parameter.raw:
                arrays[parameter.name] = array.reshape(-1)
            else:
                variables[parameter.name] = array
        machine = Machine(shape, bound.types, variables, arrays)
        machine.run(self._statements)
        for parameter, array in zip(self._outputs, outputs):
            if not parameter.raw:
                array[...] = machine.variables[parameter.name]
            elif not np.shares_memory(arrays[parameter.name], array):
                array[...] = arrays[parameter.name].reshape(array.shape)
        return outputs[0] if n_out == 1 else tuple(outputs)

    def _prepared(self, given: tuple, types: dict[str, np.dtype], shape: tuple[int, ...]) -> list[np.ndarray]:
        if given:
            for parameter, array in zip(self._outputs, given):
                if not isinstance(array, np.ndarray):
                    raise DtypeError(f"{self.name}: {parameter.name} is written into", got=type(array).__name__)
                if not parameter.raw and array.shape != shape:
                    raise ShapeError(
                        f"{self.name}: {parameter.name} has another shape", expected=shape, got=array.shape
                    )
            return list(given)
        made = []
        for parameter in self._outputs:
            dtype = parameter.dtype or types.get(parameter.type_name)
            if dtype is None:
                raise DtypeError(f"{self.name}: what {parameter.type_name} is, no input says")
            made.append(np.zeros(shape, dtype))
        return made


@functools.lru_cache(512)
def elementwise(in_params: str, out_params: str, operation: str, name: str) -> ElementwiseKernel:
    """A kernel that runs `operation` for each place of arrays, on the CPU and on GPUs; the same one for the same text.

    >>> muladd = elementwise("T x, T y, T z", "T w", "w = x * y + z", "muladd")
    >>> muladd(a, b, c)

    in_params, out_params: types and names; a type is C's or NumPy's, or one letter that stands for any; "raw" before it
        lets the kernel index the array, in C order, by `name[k]`
    operation: statements of C on the parameters; `i` is the place's number, `n` how many there are
    name: the kernel's, in errors and profiles
    Raises ValueRangeError if the parameters cannot be read; the operation is read at the first call.
    Source: cuda.elementwise of Chainer's tutorial, CuPy's ElementwiseKernel. Where we differ: NumPy arrays are taken,
        and the CPU knows the subset of C that `CReader` names.
    """
    return ElementwiseKernel(in_params, out_params, operation, name)
