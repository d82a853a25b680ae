"""Parameter: a trainable variable that is initialized at once or when its shape is known."""

import contextlib
import math
import threading
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np

from cvzoo.autodiff.prepared_weights import PreparedWeights
from cvzoo.autodiff.variable import Variable
from cvzoo.backends.device import Device, device_of, get_device
from cvzoo.backends.float_types import is_float
from cvzoo.config.switches import switches
from cvzoo.errors.exceptions import DtypeError, ShapeError
from cvzoo.typing.aliases import Array

Initializer = Callable[[Array], None]


class _Room(threading.local):
    """The number of elements that parameters initialized by this thread may still have."""

    left: float = math.inf


_room = _Room()


@contextlib.contextmanager
def parameters_within(n: int) -> Iterator[None]:
    """A block in which all parameters that are initialized have at most n elements together, in this thread.

    One that goes beyond raises ShapeError, before it is allocated.
    """
    before, _room.left = _room.left, n
    try:
        yield
    finally:
        _room.left = before


class SharedState:
    """State shared by all handles of one value: its prepared weights, None while there are none."""

    __slots__ = ("packs",)

    def __init__(self) -> None:
        self.packs: PreparedWeights | None = None


class Parameter(Variable):
    """A trainable array of a link.

    initializer: a function that fills an array it is given (see `cvzoo.initializers`), a number, or an array; None
        fills with NaN, so that its use is noticed
    shape: its shape, or None to defer initialization to the first call of the layer (`initialize`)

    Weights prepared for inference (`packs`) are cached. Reading `array` drops them, because the reader may write into
    it; after a write through another reference (an older view), call `touch()`.
    """

    __slots__ = ("_device", "_grad_cleared", "_initializer", "_shared", "update_rule")

    def __init__(
        self,
        initializer: Initializer | float | np.generic | Array | None = None,
        shape: int | Sequence[int] | None = None,
        name: str | None = None,
    ):
        self._array = None
        self._node = None
        self.name = name
        self._requires_grad = True
        self.update_rule: Any = None  # an AbstractUpdateRule of cvzoo.optimizers, which is a room above
        self._shared = SharedState()
        self._device: Device | None = None  # where it will be initialized; None: on config.device
        if isinstance(initializer, np.ndarray | np.generic) and np.ndim(initializer):
            if shape is not None and tuple(np.atleast_1d(shape)) != initializer.shape:
                raise ShapeError("Parameter: shape and the initial array differ", expected=shape, got=initializer.shape)
            shape = initializer.shape
        self._initializer = initializer
        if shape is not None:
            self.initialize((shape,) if isinstance(shape, int) else tuple(shape))

    @property
    def is_initialized(self) -> bool:
        """Whether it has a value."""
        return self._array is not None

    def initialize(self, shape: Sequence[int]) -> None:
        """Give it a value of this shape by its initializer."""
        shape = tuple(int(size) for size in shape)
        initializer = self._initializer
        dtype = "float64" if switches.dtype == "float64" else "float32"
        if isinstance(initializer, np.ndarray) and initializer.ndim:
            array = np.array(initializer, dtype if not is_float(initializer.dtype) else initializer.dtype)
            if array.shape != shape:
                raise ShapeError("Parameter: the initial array has another shape", expected=shape, got=array.shape)
        else:
            _room.left -= math.prod(shape)
            if _room.left < 0:
                raise ShapeError("Parameter: too many elements", got=shape)
            array = np.empty(shape, dtype)
            if initializer is None:
                # a value that should have been loaded and was not is then seen in every result
                array.fill(np.nan)
            elif callable(initializer):
                initializer(array)
            elif isinstance(initializer, int | float | np.generic | np.ndarray):
                array.fill(initializer)
            else:
                raise DtypeError(
                    "Parameter: the initializer must be callable, a number or an array", got=type(initializer).__name__
                )
        self._array = (self._device or get_device(switches.device)).asarray(array)
        self._node = None
        self._shared = SharedState()

    @property
    def _packs(self) -> PreparedWeights | None:
        return self._shared.packs

    @property
    def array(self) -> Array:
        """The value itself; reading it drops prepared copies, since the reader may change it."""
        if self._shared.packs is not None:
            self.touch()
        return self._array

    @array.setter
    def array(self, array: Array | np.generic) -> None:
        self.touch()
        self._shared = SharedState()  # other handles keep the old value
        Variable.array.fset(self, array)  # type: ignore[attr-defined]

    def touch(self) -> None:
        """Declare that the value was changed: prepared copies are dropped."""
        if self._shared.packs is not None:  # without packs, a read-only array was locked by the caller
            self._shared.packs = None
            if type(self._array) is np.ndarray:
                self._array.flags.writeable = True

    def packs(self) -> PreparedWeights | None:
        """The cache of weights prepared for inference, which kernels fill; None while gradients are recorded.

        The array is read-only as long as they exist, so that a write through an older reference raises; an array of a
        GPU cannot be locked, and its writers must call `touch()`. Where the array is read-only already, locked by
        another handle, nothing is cached: each call gets a table of its own, which gives the same kernels and the same
        bits as the other handle. Copies of this parameter with the same value share the cache and drop it together.
        """
        if switches.enable_backprop:
            return None
        shared = self._shared
        if shared.packs is None and type(self._array) is not np.ndarray:  # arrays of a GPU cannot be locked
            shared.packs = PreparedWeights()
        elif shared.packs is None:
            if not self._array.flags.writeable:  # locked by its owner; `touch` must not unlock it
                return PreparedWeights()
            shared.packs = PreparedWeights()
            self._array.flags.writeable = False
        return shared.packs

    @property
    def shape(self) -> tuple[int, ...]:
        """The shape; None before it is initialized, which the type leaves out, as most code reads it afterwards."""
        return None if self._array is None else self._array.shape  # type: ignore[return-value]

    def __copy__(self) -> "Parameter":
        """Another handle of the same value, with a gradient of its own."""
        copy = self._blank()
        copy._array = self._array
        if self._array is not None:
            # one array for both handles, so a change by one drops the prepared copies of both
            copy._shared = self._shared
        return copy

    def __deepcopy__(self, memo: dict) -> "Parameter":
        copy = self._blank()
        if self._array is not None:
            copy._array = self._array.copy(order="K")
            if self.grad is not None:
                copy.grad = self.grad.copy(order="K")
        return copy

    def _blank(self) -> "Parameter":
        # the constructor would copy an initial array at once
        copy = Parameter(self._initializer, name=self.name) if not _is_array(self._initializer) else Parameter()
        copy._initializer = self._initializer
        copy._array = None
        copy._node = None
        copy.requires_grad = self.requires_grad
        copy._device = self._device
        return copy

    @property
    def device(self) -> Device:
        """The device of the value, or where it will be initialized."""
        if self._array is not None:
            return device_of(self._array)
        return self._device or get_device(switches.device)

    def to_device(self, device: str | int | Device) -> None:
        """Move the value and the gradient; an uninitialized value will be created on that device."""
        self._device = get_device(device)
        Variable.to_device(self, self._device)

    def __reduce__(self) -> tuple:
        return _rebuild, (self._initializer, self._array, self.name, self.grad, self.requires_grad)


def _is_array(value: object) -> bool:
    return isinstance(value, np.ndarray) and value.ndim > 0


def _rebuild(
    initializer: Initializer | float | np.generic | Array | None,
    array: Array | None,
    name: str | None,
    grad: Array | None,
    requires_grad: bool,
) -> Parameter:
    parameter = Parameter(name=name)
    parameter._initializer = initializer
    parameter._array = array
    parameter.requires_grad = requires_grad
    if grad is not None:
        parameter.grad = grad
    return parameter
