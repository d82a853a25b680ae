"""Stands for cupy.ufunc: functions that go element by element."""

from typing import Any

import numpy as np

from fake_gpu.array import CudaArray, launch, scatter
from fake_gpu.indexing import resolve
from fake_gpu.machine import machine


def words(text: str) -> list[str]:
    """The words of a text."""
    return text.split()


_COMPARISONS = ("equal", "greater", "greater_equal", "less", "less_equal", "not_equal")
_UFUNC_NAMES = (
    *_COMPARISONS,
    *words("absolute add arccos arccosh arcsin arcsinh arctan arctan2 arctanh bitwise_and bitwise_or bitwise_xor cbrt"),
    *words("ceil copysign cos cosh deg2rad divide exp exp2 expm1 floor floor_divide fmax fmin fmod hypot invert"),
    *words("isfinite isinf isnan left_shift log log10 log1p log2 logaddexp logaddexp2 logical_and logical_not"),
    *words("logical_or logical_xor maximum minimum multiply negative nextafter positive power rad2deg reciprocal"),
    *words("remainder right_shift rint sign signbit sin sinh sqrt square subtract tan tanh true_divide trunc"),
    *words("float_power heaviside ldexp"),
)
_SCATTERS = {"add": "add", "maximum": "max", "minimum": "min"}


class Ufunc:
    """Stands for cupy.ufunc."""

    def __init__(self, name: str):
        self.__name__ = self.name = name
        self._numpy = getattr(np, name)
        self.nin, self.nout = self._numpy.nin, self._numpy.nout
        self.is_comparison = name in _COMPARISONS

    def __repr__(self) -> str:
        return f"<ufunc 'cupy_{self.name}'>"

    def __call__(
        self, *args: Any, out: Any = None, where: Any = None, casting: str = "same_kind", dtype: Any = None
    ) -> Any:
        if len(args) > self.nin:
            (out,) = args[self.nin :]
            args = args[: self.nin]
        if len(args) != self.nin:
            raise TypeError(f"Wrong number of arguments for {self.name!r}")
        if isinstance(out, tuple):
            (out,) = out
        if out is not None and not isinstance(out, CudaArray):
            raise TypeError("Output arguments type must be cupy.ndarray")
        operands = list(args)

        def compute(*hosts: Any) -> Any:
            return self._numpy(*hosts, dtype=None if dtype is None else np.dtype(dtype))

        if where is None or where is True:
            return launch(self.name, compute, operands, out=out, cast=casting)
        if out is None:
            raise NotImplementedError("the fake wants `out` beside `where`")

        def chosen(mask: Any, before: Any, *hosts: Any) -> Any:
            return np.where(mask, compute(*hosts), before)

        return launch(self.name, chosen, [where, out, *operands], out=out, cast=casting)

    def at(self, a: CudaArray, indices: Any, b: Any = None) -> None:
        if self.name not in _SCATTERS:
            raise NotImplementedError(f"`{self.name}.at` is not supported yet")
        sizes = {"add": "iuf", "maximum": "iuf", "minimum": "iuf"}[self.name]
        small = a.dtype.itemsize < 4 and not (self.name == "add" and a.dtype == np.float16)
        if a.dtype.kind not in sizes or small:
            raise TypeError(f"cupy.{self.name}.at does not support {a.dtype}")
        index = resolve(indices, a.shape)
        if index.basic is not None:
            part = a[indices]
            self(part, b, out=part)
            return
        if index.counts:
            machine().sync("scattering by a mask")
        scatter(a, index, b, _SCATTERS[self.name])

    def reduce(
        self, array: CudaArray, axis: Any = 0, dtype: Any = None, out: Any = None, keepdims: bool = False
    ) -> Any:
        if self.name not in ("add", "multiply"):
            raise NotImplementedError(f"`{self.name}.reduce` is not supported yet")
        return getattr(array, "sum" if self.name == "add" else "prod")(axis, dtype, out, keepdims)

    def accumulate(self, array: CudaArray, axis: int = 0, dtype: Any = None, out: Any = None) -> Any:
        if self.name not in ("add", "multiply"):
            raise NotImplementedError(f"`{self.name}.accumulate` is not supported yet")
        return getattr(array, "cumsum" if self.name == "add" else "cumprod")(axis, dtype, out)

    def outer(self, a: CudaArray, b: CudaArray) -> Any:
        return self(a.reshape(a.shape + (1,) * b.ndim), b)


UFUNCS = {name: Ufunc(name) for name in _UFUNC_NAMES}
UFUNCS["bitwise_not"] = UFUNCS["invert"]
UFUNCS["abs"] = UFUNCS["absolute"]
UFUNCS["mod"] = UFUNCS["remainder"]
UFUNCS["pow"] = UFUNCS["power"]
