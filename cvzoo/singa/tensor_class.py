"""SINGA's Tensor: a Parameter of cvzoo with SINGA's methods."""

import operator
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from cvzoo.autodiff.parameter import Parameter, SharedState
from cvzoo.autodiff.variable import Variable
from cvzoo.backends.arrays import is_array, to_numpy
from cvzoo.backends.device import Device as Place
from cvzoo.backends.device import device_of
from cvzoo.config.randomness import random_generator
from cvzoo.errors.exceptions import DtypeError, ShapeError, ValueRangeError
from cvzoo.functions.array.axes import reshape, transpose
from cvzoo.functions.array.dtypes import cast
from cvzoo.functions.array.indexing import get_item, repeat
from cvzoo.functions.math.arithmetic import add, divide, multiply, negative, subtract
from cvzoo.functions.math.power import power
from cvzoo.functions.math.rounding import floor
from cvzoo.singa.device import Device, device_at
from cvzoo.singa.mode import entered, is_entered, is_training
from cvzoo.typing.aliases import Array, ArrayLike

float32 = np.dtype("float32")
float16 = np.dtype("float16")
int32 = np.dtype("int32")
_TYPES = {"int": int32, "float": float32}


class Count(int):
    """A callable int: SINGA writes `t.ndim()` where cvzoo writes `t.ndim`."""

    def __call__(self) -> int:
        return int(self)


class Tensor(Parameter):
    """An array with SINGA's methods that takes part in the computational graph.

    shape: its shape, if there is no `data`
    device: None: the CPU
    dtype: `tensor.float32`, `tensor.float16` or `tensor.int32`
    data: a numpy array to copy; float64 becomes float32, other integers and booleans become int32
    requires_grad: False freezes a parameter
    stores_grad: whether it is a parameter: `autograd.backward` returns its gradient, optimizers update it
    name: in states and optimizers; set by the layer whose attribute it becomes

    Raises ShapeError for an invalid shape, ValueRangeError for integers beyond 32 bits.

    Without `data` it is filled with zeros. Arithmetic is that of `autograd`, and differentiable.
    Where we differ from SINGA: only parameters have gradients, and `requires_grad` is False for an input; `creator` is
    the FunctionNode.
    """

    __slots__ = ("_is_trainable", "_source", "_stores")

    def __init__(
        self,
        shape: Sequence[int] = (),
        device: Device | None = None,
        dtype: npt.DTypeLike = float32,
        data: np.ndarray | None = None,
        requires_grad: bool = True,
        stores_grad: bool = False,
        name: str | None = None,
    ):
        if device is not None and not isinstance(device, Device):
            raise DtypeError("Tensor: no device", got=type(device).__name__, hint="device.get_default_device()")
        if stores_grad and not requires_grad:
            raise ValueRangeError("a Tensor that stores its gradient requires one: stores_grad, but not requires_grad")
        if data is None:
            array: Array = np.zeros(_as_shape(shape), as_dtype(dtype))
        else:
            data = np.asarray(data)
            array = np.array(data, dtype_of(data), order="C")
            _check_range(data, array.dtype)
        if device is not None:
            array = device.place.asarray(array)
        self._fill(array, requires_grad, stores_grad, name)

    def _fill(self, array: np.ndarray, is_trainable: bool, stores_grad: bool, name: str | None) -> None:
        self._array = array
        self._node = None
        self.name = name
        self._initializer = None
        self._shared = SharedState()
        self.update_rule = None
        self._source: Variable | None = None
        self._is_trainable = is_trainable
        self._device = None
        self._stores = stores_grad
        self._requires_grad = is_trainable and stores_grad and array.dtype.kind == "f"

    @property
    def device(self) -> Device:  # type: ignore[override]  # SINGA's own class
        """The device of the array."""
        return device_at(device_of(self._array).index)

    # --- what it is -------------------------------------------------------------------------------------------------
    @property
    def ndim(self) -> Count:
        """The number of axes; `t.ndim` or `t.ndim()`."""
        return Count(self._array.ndim)

    @property
    def size(self) -> Count:
        """The number of elements; `t.size` or `t.size()`."""
        return Count(self._array.size)

    @property
    def requires_grad(self) -> bool:
        """Whether it has gradients: it is a parameter that is not frozen, or computed from one."""
        return self._requires_grad

    @requires_grad.setter
    def requires_grad(self, value: bool) -> None:
        self._is_trainable = bool(value)
        self._update_requires_grad()

    @property
    def stores_grad(self) -> bool:
        """Whether `autograd.backward` returns its gradient."""
        return self._stores

    @stores_grad.setter
    def stores_grad(self, value: bool) -> None:
        self._stores = bool(value)
        self._update_requires_grad()

    def _update_requires_grad(self) -> None:
        if self.creator is None:  # of a computed Tensor it follows from the function's inputs
            self._requires_grad = self._is_trainable and self._stores and self._array.dtype.kind == "f"
            if self._node is not None:
                self._node.requires_grad = self._requires_grad

    @property
    def data(self) -> np.ndarray:
        """The array itself, not a copy."""
        self._report_read()
        return self.array

    @data.setter
    def data(self, array: np.ndarray | np.generic) -> None:
        self.array = array

    def _report_read(self) -> None:
        """Report a read of values to a capture in progress: a replay would not repeat it."""
        if self._source is not None:
            _ = self._source.array

    def item(self) -> float | int | bool:
        """The only element as a Python number."""
        self._report_read()
        return super().item()

    def is_dummy(self) -> bool:
        """Whether it has no name."""
        return self.name is None

    def is_empty(self) -> bool:
        """Whether it has no axes."""
        return self._array.ndim == 0

    def is_transpose(self) -> bool:
        """Whether the memory is not in C order."""
        return not self._array.flags.c_contiguous

    def memsize(self) -> int:
        """The size of the values in bytes."""
        return self._array.nbytes

    def l1(self) -> float:
        """The mean of the absolute values, as SINGA has it."""
        self._report_read()
        return float(np.abs(to_numpy(self._array)).mean())

    def l2(self) -> float:
        """The root of the sum of squares, divided by the number of elements, as SINGA has it."""
        self._report_read()
        return float(np.sqrt(np.square(to_numpy(self._array), dtype=np.float64).sum()) / self._array.size)

    def __bool__(self) -> bool:
        return True  # SINGA's layers write `if self.b:` for `if self.b is not None:`

    def __repr__(self) -> str:
        self._report_read()
        return f"{np.array2string(to_numpy(self._array))}, {self._array.dtype}"

    # --- other arrays of it -----------------------------------------------------------------------------------------
    def clone(self) -> "Tensor":
        """A Tensor with a copy of the values, detached from the graph."""
        self._report_read()
        return hold(self._array.copy(order="K"))

    copy = deepcopy = contiguous = clone

    def as_type(self, dtype: npt.DTypeLike) -> "Tensor":
        """A Tensor with the values as `dtype`: `tensor.float32`, "float", ..."""
        return apply(cast, self, as_dtype(dtype))

    def to_type(self, dtype: npt.DTypeLike) -> "Tensor":
        """This Tensor, converted to `dtype`."""
        self.array = self._array.astype(as_dtype(dtype))
        return self

    def to_device(self, device: Device) -> None:  # type: ignore[override]
        """Move the array and the gradient."""
        if not isinstance(device, Device | Place):
            raise DtypeError("to_device: no device", got=type(device).__name__, hint="device.get_default_device()")
        super().to_device(device.place if isinstance(device, Device) else device)

    def to_host(self) -> None:
        """Move the array to the CPU."""
        self.to_device(device_at(-1))

    def reshape(self, shape: Sequence[int]) -> "Tensor":  # type: ignore[override]
        """The same elements in another shape."""
        return apply(reshape, self, tuple(shape))

    def transpose(self, axes: Sequence[int] | None = None) -> "Tensor":  # type: ignore[override]
        """The axes in another order, by default the reverse."""
        return apply(transpose, self) if axes is None else apply(transpose, self, tuple(axes))

    def T(self) -> "Tensor":  # type: ignore[override]  # a method in SINGA
        """The axes in the reverse order."""
        return self.transpose()

    def repeat(self, repeats: int | Sequence[int], axis: int | None) -> "Tensor":
        """Each element repeated consecutively, along an axis or of the flattened Tensor."""
        return apply(repeat, self, repeats, axis)

    # --- new numbers ------------------------------------------------------------------------------------------------
    def set_value(self, x: float, inplace: bool = True) -> "Tensor":
        """This Tensor, each element now x."""
        with self.device.place:
            self._in_place(inplace)[...] = x
        return self

    def gaussian(self, mean: float, std: float, inplace: bool = True) -> "Tensor":
        """This Tensor, its elements now drawn from a normal distribution."""
        return self._draw(inplace, random_generator().normal(mean, std, self.shape))

    def uniform(self, low: float, high: float, inplace: bool = True) -> "Tensor":
        """This Tensor, its elements now drawn from [low, high)."""
        return self._draw(inplace, random_generator().uniform(low, high, self.shape))

    def bernoulli(self, p: float, inplace: bool = True) -> "Tensor":
        """This Tensor, each element now 1 with probability p, else 0."""
        return self._draw(inplace, random_generator().random(self.shape) < p)

    def _draw(self, inplace: bool, values: np.ndarray) -> "Tensor":
        self._in_place(inplace)[...] = self.device.place.asarray(values.astype(self.dtype))
        return self

    def _in_place(self, inplace: bool) -> Array:
        if not inplace:
            raise ValueRangeError("only in place, as in SINGA", expected="inplace=True", hint="t.clone() first")
        return self.array

    def copy_from_numpy(self, np_array: np.ndarray, offset: int = 0) -> None:
        """Copy the values of an array with the same number of elements.

        offset: 0; other values are rejected
        Raises ShapeError for another number of elements, DtypeError where integers would lose a fraction,
        ValueRangeError for integers beyond 32 bits.
        """
        array = to_numpy(np_array)
        if array.size != self._array.size or offset:
            raise ShapeError(
                "copy_from_numpy: another number of elements",
                expected=f"{self._array.size}, of shape {self.shape}, and offset 0",
                got=f"{array.size}, of shape {array.shape}, and offset {offset}",
            )
        if array.dtype.kind not in "fiub":
            raise DtypeError("copy_from_numpy takes real numbers", got=array.dtype)
        if self._array.dtype.kind == "i" and array.dtype.kind == "f" and not (array == np.trunc(array)).all():
            raise DtypeError("copy_from_numpy: fractions do not go into a Tensor of integers", got=array.dtype)
        _check_range(array, self._array.dtype)
        array = self.device.place.asarray(array.reshape(self.shape), self.dtype)
        with self.device.place:
            self.array[...] = array

    def copy_data(self, t: "Tensor") -> None:
        """Copy the values of another Tensor."""
        self.copy_from_numpy(t._array)

    def copy_from(self, t: Variable | Array, offset: int = 0) -> None:
        """Copy the values of a Tensor or an array."""
        if not (isinstance(t, Variable) or is_array(t)):
            raise DtypeError("copy_from takes a Tensor or an array", got=type(t).__name__)
        self.copy_from_numpy(t._array if isinstance(t, Variable) else t, offset)

    def reset_like(self, t: "Tensor") -> None:
        """Zeros of t's shape and dtype."""
        with t.device.place:
            self.array = t.xp.zeros_like(t._array)

    # --- arithmetic -------------------------------------------------------------------------------------------------
    def __add__(self, other: Variable | ArrayLike) -> "Tensor":
        return apply(add, self, other)

    __radd__ = __add__

    def __sub__(self, other: Variable | ArrayLike) -> "Tensor":
        return apply(subtract, self, other)

    def __rsub__(self, other: Variable | ArrayLike) -> "Tensor":
        return apply(subtract, other, self)

    def __mul__(self, other: Variable | ArrayLike) -> "Tensor":
        return apply(multiply, self, other)

    __rmul__ = __mul__

    def __truediv__(self, other: Variable | ArrayLike) -> "Tensor":
        return apply(divide, self, other)

    def __rtruediv__(self, other: Variable | ArrayLike) -> "Tensor":
        return apply(divide, other, self)

    def __floordiv__(self, other: Variable | ArrayLike) -> "Tensor":
        return apply(floor, self / other)

    def __pow__(self, other: Variable | ArrayLike) -> "Tensor":
        return apply(power, self, other)

    def __rpow__(self, other: Variable | ArrayLike) -> "Tensor":
        return apply(power, other, self)

    def __neg__(self) -> "Tensor":
        return apply(negative, self)

    def __getitem__(self, keys: int | slice | tuple[int | slice, ...]) -> "Tensor":
        """A part of the Tensor; an integer index keeps an axis of size 1, as in SINGA."""
        keys = keys if isinstance(keys, tuple) else (keys,)
        indexes = []
        for axis, key in enumerate(keys):
            if isinstance(key, int) and axis < self._array.ndim:
                n = self.shape[axis]
                if not -n <= key < n:
                    raise ValueRangeError(f"there is no number {key} on axis {axis}", expected=f"{-n} to {n - 1}")
                key = slice(key % n, key % n + 1)
            elif not isinstance(key, slice) or axis >= self._array.ndim:
                raise ValueRangeError("a Tensor is indexed by numbers and slices, one an axis", got=repr(keys))
            indexes.append(key)
        return apply(get_item, self, tuple(indexes))

    def __iadd__(self, other: Variable | ArrayLike) -> "Tensor":
        return self._change("add", other)

    def __isub__(self, other: Variable | ArrayLike) -> "Tensor":
        return self._change("subtract", other)

    def __imul__(self, other: Variable | ArrayLike) -> "Tensor":
        return self._change("multiply", other)

    def __itruediv__(self, other: Variable | ArrayLike) -> "Tensor":
        return self._change("divide", other)

    def _change(self, ufunc: str, other: Variable | ArrayLike) -> "Tensor":
        array = self.array
        other = self._fitting(other)
        if np.broadcast_shapes(array.shape, np.shape(other)) != array.shape:
            raise ShapeError("in place a Tensor keeps its shape", expected=array.shape, got=np.shape(other))
        with self.device.place:
            getattr(self.xp, ufunc)(array, other, out=array, casting="same_kind")
        return self

    def _fitting(self, other: Variable | ArrayLike) -> ArrayLike:
        other = other._array if isinstance(other, Variable) else other
        try:
            np.broadcast_shapes(self._array.shape, np.shape(other))
        except ValueError:
            raise ShapeError("shapes do not fit", got=f"{self._array.shape} and {np.shape(other)}") from None
        return self.device.place.asarray(other) if np.ndim(other) else other

    def _compare(self, ufunc: np.ufunc, other: Variable | ArrayLike) -> "Tensor":
        self._report_read()
        with self.device.place:
            return hold(ufunc(self._array, self._fitting(other)).astype(float32))

    def __lt__(self, other: Variable | ArrayLike) -> "Tensor":  # type: ignore[override]
        return self._compare(np.less, other)

    def __le__(self, other: Variable | ArrayLike) -> "Tensor":  # type: ignore[override]
        return self._compare(np.less_equal, other)

    def __gt__(self, other: Variable | ArrayLike) -> "Tensor":  # type: ignore[override]
        return self._compare(np.greater, other)

    def __ge__(self, other: Variable | ArrayLike) -> "Tensor":  # type: ignore[override]
        return self._compare(np.greater_equal, other)

    def __eq__(self, other: Any) -> "Tensor | bool":  # type: ignore[override]
        return False if other is None else self._compare(np.equal, other)

    def __ne__(self, other: Any) -> "Tensor | bool":  # type: ignore[override]
        return True if other is None else self._compare(np.not_equal, other)

    __hash__ = object.__hash__

    # --- copies and pickles -----------------------------------------------------------------------------------------
    def _blank(self) -> "Tensor":
        twin = object.__new__(Tensor)
        twin._fill(self._array, self._is_trainable, self._stores, self.name)
        return twin

    def __reduce__(self) -> tuple:
        return _rebuild, (to_numpy(self._array), self._is_trainable, self._stores, self.name)


PlaceHolder = Tensor


def _rebuild(array: np.ndarray, is_trainable: bool, stores_grad: bool, name: str | None) -> Tensor:
    tensor = object.__new__(Tensor)
    tensor._fill(array, is_trainable, stores_grad, name)
    return tensor


def _as_shape(shape: int | Sequence[int]) -> tuple[int, ...]:
    try:
        sizes = tuple([operator.index(n) for n in ((shape,) if isinstance(shape, int | np.integer) else shape)])
    except TypeError:
        sizes = (-1,)
    if any(n < 0 for n in sizes):
        raise ShapeError("a shape must consist of non-negative integers", got=repr(shape))
    return sizes


def _check_range(array: np.ndarray, dtype: np.dtype) -> None:
    """Raise ValueRangeError if values exceed the range of the integer `dtype`: NumPy would wrap them."""
    if dtype.kind != "i" or array.dtype == dtype or not array.size or array.dtype.kind == "b":
        return
    info = np.iinfo(dtype)
    low, high = array.min(), array.max()
    if low < info.min or high > info.max:
        raise ValueRangeError(
            "numbers do not fit into a Tensor of int32", expected=f"{info.min} to {info.max}", got=f"{low} to {high}"
        )


def hold(array: np.ndarray) -> Tensor:
    """A Tensor that shares the array's memory, without gradients."""
    return _rebuild(array, True, False, None)


def as_dtype(dtype: npt.DTypeLike) -> np.dtype:
    """The dtype of SINGA's constants and names."""
    dtype = _TYPES.get(dtype, dtype) if isinstance(dtype, str) else dtype
    if dtype not in (float32, float16, int32):
        raise DtypeError(
            "no dtype of a Tensor", expected="tensor.float32, tensor.float16 or tensor.int32", got=repr(dtype)
        )
    return np.dtype(dtype)


def dtype_of(array: np.ndarray) -> np.dtype:
    """The dtype of a Tensor made from such an array."""
    kind = array.dtype.kind
    if array.dtype == float16:
        return float16
    if kind not in "fiub":
        raise DtypeError("a Tensor holds real numbers", got=array.dtype)
    return float32 if kind == "f" else int32


def as_tensor(value: Any) -> Any:
    """A Variable as a Tensor with the same node in the graph; a tuple or list element by element; other values and
    parameters of cvzoo's links as they are."""
    if isinstance(value, Parameter):
        return value
    if isinstance(value, Variable):
        tensor = object.__new__(Tensor)
        tensor._fill(value._array, value._requires_grad, False, value.name)
        tensor._requires_grad = value._requires_grad
        node = tensor._node = value._node
        if node is not None:
            node.bind(tensor)
        if type(value) is not Variable:
            tensor._source = value  # a subclass, such as of a capture in progress, that reports reads of its values
        return tensor
    if type(value) in (tuple, list):
        return type(value)([as_tensor(each) for each in value])
    return value


def apply(function: Callable[..., Any], *args: Any) -> Any:
    """Apply a function of cvzoo in the mode of `autograd.training`; returns Tensors."""
    if is_entered():
        return as_tensor(function(*args))
    with entered(is_training()):
        return as_tensor(function(*args))
