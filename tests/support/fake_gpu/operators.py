"""The operators and methods of arrays that are functions, too."""

from collections.abc import Callable
from typing import Any

import numpy as np

from fake_gpu.array import SCALARS, CudaArray, launch
from fake_gpu.functions import FUNCTIONS, around, clip, full
from fake_gpu.ufuncs import UFUNCS, Ufunc, words

_METHODS = "sum prod mean max min any all var std argmax argmin cumsum cumprod repeat nonzero searchsorted argsort"
for _name in words(_METHODS):
    setattr(CudaArray, _name, FUNCTIONS[_name])


def _method_clip(self: CudaArray, min: Any = None, max: Any = None, out: Any = None) -> CudaArray:
    return clip(self, min, max, out)


def _method_round(self: CudaArray, decimals: int = 0, out: Any = None) -> CudaArray:
    return around(self, decimals, out)


def _method_sort(self: CudaArray, axis: int = -1, kind: Any = None) -> None:
    launch("sort", lambda x: np.sort(x, axis, kind="stable"), [self], out=self)


def _method_dot(self: CudaArray, b: CudaArray, out: Any = None) -> CudaArray:
    return FUNCTIONS["dot"](self, b, out)


CudaArray.clip = _method_clip
CudaArray.round = _method_round
CudaArray.sort = _method_sort
CudaArray.dot = _method_dot


# --- operators ------------------------------------------------------------------------------------------------------
def _operator(ufunc: Ufunc, swapped: bool) -> Callable:
    def operate(self: CudaArray, other: Any) -> Any:
        if isinstance(other, np.ndarray) and not other.ndim and ufunc.is_comparison:
            other = other.item()
        if not isinstance(other, (*SCALARS, CudaArray, np.ndarray)):
            if ufunc.is_comparison and ufunc.name in ("equal", "not_equal") and other is None:
                return full(self.shape, ufunc.name == "not_equal", bool)
            return NotImplemented
        return ufunc(other, self) if swapped else ufunc(self, other)

    return operate


def _inplace(ufunc: Ufunc) -> Callable:
    def operate(self: CudaArray, other: Any) -> Any:
        return ufunc(self, other, out=self)

    return operate


_OPERATORS = {
    "add": "add",
    "sub": "subtract",
    "mul": "multiply",
    "truediv": "true_divide",
    "floordiv": "floor_divide",
    "mod": "remainder",
    "pow": "power",
    "and": "bitwise_and",
    "or": "bitwise_or",
    "xor": "bitwise_xor",
    "lshift": "left_shift",
    "rshift": "right_shift",
}
for _name, _ufunc in _OPERATORS.items():
    setattr(CudaArray, f"__{_name}__", _operator(UFUNCS[_ufunc], False))
    setattr(CudaArray, f"__r{_name}__", _operator(UFUNCS[_ufunc], True))
    setattr(CudaArray, f"__i{_name}__", _inplace(UFUNCS[_ufunc]))
for _name, _ufunc in {
    "lt": "less",
    "le": "less_equal",
    "eq": "equal",
    "ne": "not_equal",
    "gt": "greater",
    "ge": "greater_equal",
}.items():
    setattr(CudaArray, f"__{_name}__", _operator(UFUNCS[_ufunc], False))
for _name, _ufunc in {"neg": "negative", "pos": "positive", "abs": "absolute", "invert": "invert"}.items():
    setattr(CudaArray, f"__{_name}__", lambda self, _call=UFUNCS[_ufunc]: _call(self))


def _matmul_operator(self: CudaArray, other: Any) -> Any:
    return FUNCTIONS["matmul"](self, other)


CudaArray.__matmul__ = _matmul_operator
