"""Base class of SINGA's layers: a chain that registers its attributes and creates parameters at the first call."""

import functools
import threading
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

from cvzoo.autodiff.parameter import Parameter
from cvzoo.autodiff.variable import Variable
from cvzoo.backends.arrays import is_array, to_numpy
from cvzoo.backends.device import device_of, get_device, on_device_of
from cvzoo.config.switches import no_backprop_mode
from cvzoo.errors.exceptions import DtypeError, ShapeError, ValueRangeError, WeightsMismatchError
from cvzoo.links.chain import Chain
from cvzoo.links.link import Link
from cvzoo.singa.device import Device
from cvzoo.singa.mode import entered, is_entered, is_training
from cvzoo.singa.tensor_class import Tensor, as_tensor, hold
from cvzoo.typing.aliases import ArrayLike


class _Called(threading.local):
    """The layers called during `Model.compile` in this thread; None outside of it."""

    layers: "list[Layer] | None" = None


called = _Called()

Self = TypeVar("Self", bound="Layer")


class Layer(Chain):
    """Base class of layers: assign layers and parameters to attributes, and implement `forward`; `initialize` creates
    parameters that depend on the input, and is called before the first `forward` with the same arguments.

    >>> class Scale(layer.Layer):
    ...     def initialize(self, x):
    ...         self.W = tensor.Tensor((x.shape[1],), stores_grad=True).set_value(1.0)
    ...     def forward(self, x):
    ...         return autograd.mul(x, self.W)

    An attribute that is a Tensor with `stores_grad` is a parameter, one without is not saved with the layer. Links of
    cvzoo can be used as layers. `name` is the path from the outermost layer: "block.conv1".
    """

    name: str  # pyright: ignore[reportIncompatibleVariableOverride]  # every layer gets one, unlike a link
    _initialized: bool

    def __new__(cls: type[Self], *args: Any, **kwargs: Any) -> Self:
        self = super().__new__(cls)
        self.__dict__["_within_init_scope"] = True  # every attribute that is assigned is registered
        self.__dict__["_initialized"] = False
        return self

    def __init_subclass__(cls) -> None:
        super().__init_subclass__()
        if "forward" in cls.__dict__:
            cls.forward = _prepared(cls.__dict__["forward"])  # type: ignore[method-assign]

    def __setattr__(self, name: str, value: Any) -> None:
        if isinstance(value, Tensor) and not value.stores_grad:
            self._params.pop(name, None)
            object.__setattr__(self, name, value)
            self._walk.note(tree=True)
            return
        super().__setattr__(name, value)
        if isinstance(value, Parameter | Link):
            _rename(value, self._prefix() + name)

    def _prefix(self) -> str:
        return f"{self.name}." if self.name else ""

    def register_layers(self, *args: Any) -> None:
        """Register the layers of a list, or of one dictionary by name, with this layer; in a list they are named by
        class and number: "BasicBlock_0"."""
        named = args[0] if len(args) == 1 and isinstance(args[0], Mapping) else None
        if named is None:
            named = {f"{type(layer).__name__}_{k}": layer for k, layer in enumerate(args)}
        for name, layer in named.items():
            if not isinstance(layer, Link):
                raise DtypeError("register_layers takes layers", got=f"{name}: {type(layer).__name__}")
            setattr(self, name, layer)

    # --- calling ----------------------------------------------------------------------------------------------------
    if TYPE_CHECKING:
        initialize: Callable[..., None]  # subclasses write their inputs out
    else:

        def initialize(self, *inputs: Any) -> None:
            """Create parameters for such inputs; optional for layers without parameters."""

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        if is_entered():
            return as_tensor(self.forward(*args, **kwargs))
        with entered(is_training()):
            return as_tensor(self.forward(*args, **kwargs))

    # --- parameters and states --------------------------------------------------------------------------------------
    def get_params(self) -> dict[str, Tensor]:
        """The parameters by name ("conv1.W"): this layer's and those of the layers in it."""
        params = {self._prefix() + name: self.__dict__[name] for name in self._params}
        for name, child in self.named_children():
            params.update(child.get_params() if isinstance(child, Layer) else _of_link(child, self._prefix() + name))
        return {name: value for name, value in params.items() if value.is_initialized}

    def set_params(self, parameters: Mapping[str, Variable | ArrayLike]) -> None:
        """Load values by name; other parameters keep theirs.

        parameters: name -> Tensor or array, of the shape that `get_params` has
        Raises WeightsMismatchError for unknown names, ShapeError for shapes that differ; then nothing is changed.
        """
        _copy(self.get_params(), parameters)

    def get_states(self) -> dict[str, Tensor]:
        """The parameters and the buffers, such as running means, by name, not copied."""
        states: dict[str, Tensor] = {}
        for name, child in self.named_children():
            states.update(child.get_states() if isinstance(child, Layer) else _states_of(child, self._prefix() + name))
        for name in self._persistents:
            if _is_array(self.__dict__[name]):
                states[self._prefix() + name] = hold(self.__dict__[name])
        states.update(self.get_params())
        return states

    def set_states(self, states: Mapping[str, Variable | ArrayLike]) -> None:
        """As `set_params`, with the names of `get_states`."""
        _copy(self.get_states(), states)

    # --- for compatibility with SINGA's layers ------------------------------------------------------------------------
    def device_check(self, *inputs: Any) -> None:
        """No-op: functions check the devices of their arguments."""

    def dtype_check(self, *inputs: Tensor) -> None:
        """Convert all Tensors to the dtype of the first."""
        for each in inputs[1:]:
            if each.dtype != inputs[0].dtype:
                each.to_type(inputs[0].dtype)

    def to(self, device: Device) -> "Layer":
        """This layer, moved to the device; parameters without a value will be created on the device of the input."""
        if not isinstance(device, Device):
            raise DtypeError("to: no device", got=type(device).__name__, hint="device.get_default_device()")
        self.to_device(device.place)
        return self


def _prepared(forward: Callable[..., Any]) -> Callable[..., Any]:
    """Decorator: calls `initialize` first, and `forward` with Tensors in the mode of `autograd.training`."""

    @functools.wraps(forward)
    def prepared(self: Layer, *args: Any, **kwargs: Any) -> Any:
        if called.layers is not None:
            called.layers.append(self)
        args = tuple([as_tensor(each) for each in args])
        if not self._initialized:
            with no_backprop_mode():
                self.initialize(*args, **kwargs)
            _move_beside(self, args)
            self.__dict__["_initialized"] = True
            self._walk.note(tree=False)
        if is_entered():
            return forward(self, *args, **kwargs)
        with entered(is_training()):
            return forward(self, *args, **kwargs)

    return prepared


def _move_beside(layer: Layer, args: tuple[Any, ...]) -> None:
    """Move a layer's new parameters to the device of its first Tensor argument."""
    for each in args:
        if isinstance(each, Variable):
            place = device_of(each._array)
            if place != get_device("cpu"):
                layer.to_device(place)
            return


def _rename(value: Parameter | Link, name: str) -> None:
    if isinstance(value, Layer):
        value.__dict__["name"] = name
        for each in value._params:
            value.__dict__[each].name = f"{name}.{each}"
        for each, child in value.named_children():
            _rename(child, f"{name}.{each}")
    elif isinstance(value, Tensor):
        value.name = name


def _of_link(link: Link, name: str) -> dict[str, Any]:
    return {name + path.replace("/", "."): parameter for path, parameter in link.namedparams()}


def _is_array(value: Any) -> bool:
    return is_array(value)


def _states_of(link: Link, name: str) -> dict[str, Any]:
    persistents = {
        name + path.replace("/", "."): hold(value) for path, value in link.namedpersistents() if _is_array(value)
    }
    return {**persistents, **_of_link(link, name)}


def _copy(current: Mapping[str, Parameter], values: Mapping[str, Variable | ArrayLike]) -> None:
    if not isinstance(values, Mapping):
        raise DtypeError("parameters are loaded by name", expected="a dictionary", got=type(values).__name__)
    unknown = [name for name in values if name not in current]
    if unknown:
        known = ", ".join(current) or "none; the model creates them when it is compiled"
        raise WeightsMismatchError(f"there are no such names: {', '.join(unknown)}", expected=known)
    arrays = {
        name: value._array if isinstance(value, Variable) else np.asarray(value) for name, value in values.items()
    }
    for name, array in arrays.items():
        if array.shape != current[name].shape:
            raise ShapeError(f"{name} has another shape", expected=current[name].shape, got=array.shape)
    for name, array in arrays.items():
        place = current[name].array
        with on_device_of(place):
            place[...] = device_of(place).asarray(to_numpy(array))


def check_input(layer: str, x: Tensor, n_axis: int, channels: int | None = None) -> None:
    """Raise ShapeError unless x has n_axis axes and, if given, this number of channels."""
    if len(x.shape) != n_axis or (channels is not None and x.shape[1] != channels):
        axes = "B C H W"[: 2 * n_axis - 1] if n_axis > 2 else "B C"
        raise ShapeError(
            f"{layer}: the input does not fit",
            expected=f"({', '.join(axes.split())})" + ("" if channels is None else f" with C = {channels}"),
            got=x.shape,
            hint="layer.Flatten() before it" if n_axis == 2 and len(x.shape) > 2 else None,
        )


def check_count(layer: str, name: str, value: Any) -> None:
    """Raise ValueRangeError unless it is a positive integer."""
    if not isinstance(value, int | np.integer) or value < 1:
        raise ValueRangeError(f"{layer}: {name} must be a positive integer", got=repr(value))
