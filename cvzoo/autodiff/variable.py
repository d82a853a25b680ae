"""Variable: an array that takes part in a computational graph."""

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any, TypeAlias, TypeVar, overload

import numpy as np
import numpy.typing as npt

from cvzoo.autodiff.backprop import backprop, unchain_behind
from cvzoo.autodiff.variable_node import VariableNode
from cvzoo.backends.arrays import to_numpy
from cvzoo.backends.device import Device, device_of, get_device, on_device_of
from cvzoo.backends.dispatch import backend_of
from cvzoo.backends.float_types import is_float
from cvzoo.errors.attributes import ReplacedAttribute
from cvzoo.errors.exceptions import DtypeError, GraphError, ShapeError
from cvzoo.typing.aliases import Array, ArrayModule

if TYPE_CHECKING:
    from cvzoo.autodiff.function_node import FunctionNode

    Operand: TypeAlias = "Variable | Array | np.generic | float"

T = TypeVar("T")

_KINDS = "fiub"


class Variable:
    """An array with its gradient and its node in the computational graph.

    array: any shape; of NumPy, or of the array module of a GPU (a list is refused: its dtype would be ambiguous)
    name: shown in graphs and errors
    grad: the gradient to start from, shape and dtype of `array`
    requires_grad: whether gradients are taken with respect to it; always False for integers and booleans

    Operators (`+ - * / // ** @ [] ...`) are functions of `cvzoo.functions`; comparisons are refused, compare
    `x.array`.
    """

    __slots__ = ("__weakref__", "_array", "_node", "_requires_grad", "name")
    __array_priority__ = 200
    __array_ufunc__ = None  # numpy leaves `ndarray + Variable` to us
    addgrad = ReplacedAttribute("x.grad_var = x.grad_var + y.grad_var")
    chx_array = ReplacedAttribute("array")
    copydata = ReplacedAttribute("x.array[...] = y.array")
    creator_node = ReplacedAttribute("creator")
    debug_print = ReplacedAttribute("repr(x) and x.array")
    layout = ReplacedAttribute("array.strides: channels-last arrays have the shape (B, C, H, W), too")
    raw_array = ReplacedAttribute("array")
    retain_data = ReplacedAttribute("FunctionNode.retain_inputs and retain_outputs")
    set_creator = ReplacedAttribute("FunctionNode.apply, which does it")
    set_creator_node = ReplacedAttribute("FunctionNode.apply, which does it")
    to_chx = ReplacedAttribute("to_device")
    to_intel64 = ReplacedAttribute("nothing: oneDNN is used by default")
    volatile = ReplacedAttribute("with cvzoo.no_backprop_mode(): ...")
    zerograd = ReplacedAttribute("cleargrad()")

    def __init__(
        self,
        array: Array | np.generic,
        *,
        name: str | None = None,
        grad: Array | None = None,
        requires_grad: bool = True,
    ):
        if isinstance(array, Variable):
            raise DtypeError("Variable takes an array, not a Variable", hint="Variable(x.array)")
        if isinstance(array, np.generic):
            array = np.asarray(array)
        backend_of(array)
        if array.dtype.kind not in _KINDS and not is_float(array.dtype):
            raise DtypeError("Variable takes an array of numbers or booleans", got=str(array.dtype))
        self._array: Array | Any = array  # Any stands for None, of a Parameter without a value
        self._node: VariableNode | None = None
        self.name = name
        self._requires_grad = requires_grad and is_float(array.dtype)
        if grad is not None:
            self.grad = grad

    # --- the value --------------------------------------------------------------------------------------------------
    @property
    def array(self) -> Array:
        """The value itself, not a copy."""
        return self._array

    @array.setter
    def array(self, array: Array | np.generic) -> None:
        if isinstance(array, np.generic):
            array = np.asarray(array)
        backend_of(array)
        self._array = array
        node = self._node
        if node is not None and (node.shape != array.shape or node.dtype != array.dtype):
            self._node = None  # graph and gradient belong to a value of another shape or dtype
        if not is_float(array.dtype):
            self._requires_grad = False

    @property
    def requires_grad(self) -> bool:
        """Whether gradients are taken with respect to it; assigning counts also for graphs it is part of already."""
        return self._requires_grad

    @requires_grad.setter
    def requires_grad(self, value: bool) -> None:
        if value and self._array is not None and not is_float(self._array.dtype):
            raise DtypeError("gradients are taken of floats only", got=str(self._array.dtype))
        self._requires_grad = bool(value)
        if self._node is not None:
            self._node.requires_grad = self._requires_grad

    @property
    def data(self) -> Array:
        """The same as `array`, by Chainer's older name."""
        return self.array

    @data.setter
    def data(self, array: Array | np.generic) -> None:
        self.array = array

    @property
    def shape(self) -> tuple[int, ...]:
        return self._array.shape

    @property
    def ndim(self) -> int:
        return self._array.ndim

    @property
    def size(self) -> int:
        return self._array.size

    @property
    def dtype(self) -> np.dtype[Any]:
        return self._array.dtype

    @property
    def xp(self) -> ArrayModule:
        """The module with NumPy's interface that the array belongs to."""
        return backend_of(self._array).xp

    @property
    def device(self) -> Device:
        """The device of the array."""
        return device_of(self._array)

    def to_device(self, device: str | int | Device) -> None:
        """Move the array and the gradient to "cpu" or "gpu:0", without a graph (`functions.copy` is differentiable).

        Raises BackendError if there is no such device.
        """
        target = get_device(device)
        if self._array is None or device_of(self._array) == target:
            return
        grad = self.grad
        self.array = target.asarray(self._array)
        self._node = None
        if grad is not None:
            self.grad = target.asarray(grad)

    def to_gpu(self, device: int | None = None) -> None:
        """Move it to the GPU of that number; None for the first. Chainer's name of `to_device`."""
        self.to_device(f"gpu:{device or 0}")

    def to_cpu(self) -> None:
        """Move it to the CPU's memory. Chainer's name of `to_device("cpu")`."""
        self.to_device("cpu")

    def item(self) -> float | int | bool:
        """The only element as a Python number.

        Raises ShapeError if there are more or fewer than one.
        """
        if self._array.size != 1:
            raise ShapeError("item() requires exactly one element", got=f"shape {self.shape}")
        return self._array.item()

    def __len__(self) -> int:
        return len(self._array)

    def __repr__(self) -> str:
        if self._array is None:
            return f"{type(self).__name__.lower()}({self.name or 'uninitialized'})"
        text = np.array2string(to_numpy(self._array), prefix="variable(", separator=", ")
        return f"variable({f'{self.name}: ' if self.name else ''}{text})"

    # --- the gradient -----------------------------------------------------------------------------------------------
    @property
    def node(self) -> VariableNode:
        """The node in the graph; created at the first access."""
        node = self._node
        if node is None:
            array = self._array
            if array is None:
                node = VariableNode(self, (), None, self._requires_grad)
            else:
                node = VariableNode(self, array.shape, array.dtype, self._requires_grad)
            node.name = self.name  # for graphs and errors after this handle was freed
            self._node = node
        return node

    @property
    def grad_var(self) -> "Variable | None":
        """The gradient as a Variable: differentiable again after `backward(enable_double_backprop=True)`."""
        return None if self._node is None else self._node.grad_var

    @grad_var.setter
    def grad_var(self, grad: "Variable | None") -> None:
        if grad is not None and self._array is not None and grad.shape != self._array.shape:
            raise ShapeError("a gradient has the shape of its variable", expected=self.shape, got=grad.shape)
        if grad is not None and self._array is not None and grad.dtype != self._array.dtype:
            raise DtypeError(
                "a gradient has the dtype of its variable",
                expected=str(self.dtype),
                got=str(grad.dtype),
                hint=f"grad.astype('{self.dtype}')",
            )
        self.node.grad_var = grad

    @property
    def grad(self) -> Array | Any:  # Any stands for None, for which programs do not look after each backward()
        """The gradient's array, or None."""
        grad = None if self._node is None else self._node.grad_var
        return None if grad is None else grad.array

    @grad.setter
    def grad(self, grad: Array | None) -> None:
        if grad is None:
            if self._node is not None:
                self._node.grad_var = None
        else:
            self.grad_var = Variable(grad, requires_grad=False)

    def cleargrad(self) -> None:
        """Set the gradient to None."""
        if self._node is not None:
            self._node.grad_var = None

    def backward(
        self, retain_grad: bool = False, enable_double_backprop: bool = False, retain_graph: bool | None = None
    ) -> None:
        """Backpropagation: add to `grad` of every leaf that this value depends on.

        retain_grad: also of intermediate values that are still referenced
        enable_double_backprop: the gradients can themselves be differentiated
        retain_graph: keep the graph so that backward() can be called again; by default only if one of the two above
            is set, else memory is freed during the backward pass
        A value of one element starts with gradient 1, any other with its `grad`.
        Raises GraphError if there is no gradient to start from, or an earlier backward() has released the graph.
        """
        if retain_graph is None:
            retain_graph = retain_grad or enable_double_backprop
        if self.grad_var is None:
            if self.size != 1:
                raise GraphError(
                    "backward() from more than one element has no gradient to start from",
                    got=f"shape {self.shape}",
                    hint="functions.sum(y).backward(), or set y.grad to an array of its shape",
                )
            with on_device_of(self._array):
                self.grad = backend_of(self._array).xp.ones_like(self._array)
        backprop(
            self.node,
            retain_grad=retain_grad,
            double=enable_double_backprop,
            retain_graph=retain_graph,
            make=make_output,
        )

    @property
    def creator(self) -> "FunctionNode | None":
        """The FunctionNode that this is an output of, or None."""
        return None if self._node is None else self._node.creator

    @property
    def rank(self) -> int:
        return 0 if self._node is None else self._node.rank

    def unchain(self) -> None:
        """Detach this value from its graph."""
        if self._node is not None:
            self._node.unchain()

    def unchain_backward(self) -> None:
        """Detach this value and all values before it from their graphs: they become leaves.

        After `loss.backward()` it cuts those parts of the graph that are still referenced, such as the state of a
        recurrent network: truncated backpropagation through time.
        """
        if self._node is not None:
            unchain_behind(self._node)

    # --- refused operations ------------------------------------------------------------------------------
    if TYPE_CHECKING:  # set by `cvzoo.functions`, see functions/math/operators.py

        def __add__(self, other: Operand) -> "Variable": ...
        def __radd__(self, other: Operand) -> "Variable": ...
        def __sub__(self, other: Operand) -> "Variable": ...
        def __rsub__(self, other: Operand) -> "Variable": ...
        def __mul__(self, other: Operand) -> "Variable": ...
        def __rmul__(self, other: Operand) -> "Variable": ...
        def __truediv__(self, other: Operand) -> "Variable": ...
        def __rtruediv__(self, other: Operand) -> "Variable": ...
        def __floordiv__(self, other: Operand) -> "Variable": ...
        def __rfloordiv__(self, other: Operand) -> "Variable": ...
        def __pow__(self, other: Operand) -> "Variable": ...
        def __rpow__(self, other: Operand) -> "Variable": ...
        def __matmul__(self, other: Operand) -> "Variable": ...
        def __rmatmul__(self, other: Operand) -> "Variable": ...
        def __neg__(self) -> "Variable": ...
        def __pos__(self) -> "Variable": ...
        def __abs__(self) -> "Variable": ...
        def __getitem__(self, index: Any) -> "Variable": ...
        def __iter__(self) -> Iterator["Variable"]: ...
        def reshape(self, *shape: int | Sequence[int]) -> "Variable": ...
        def transpose(self, *axes: int | Sequence[int] | None) -> "Variable": ...
        def flatten(self) -> "Variable": ...
        def sum(self, axis: int | Sequence[int] | None = None, keepdims: bool = False) -> "Variable": ...
        def mean(self, axis: int | Sequence[int] | None = None, keepdims: bool = False) -> "Variable": ...
        def max(self, axis: int | Sequence[int] | None = None, keepdims: bool = False) -> "Variable": ...
        def min(self, axis: int | Sequence[int] | None = None, keepdims: bool = False) -> "Variable": ...
        @property
        def T(self) -> "Variable": ...

    __hash__ = object.__hash__

    def __bool__(self) -> bool:
        raise DtypeError("a Variable has no truth value", hint="bool(x.array), or `x is not None`")

    def _refuse_comparison(self, other: object) -> bool:
        raise DtypeError("Variables are not compared", hint="compare the arrays: x.array > 0")

    __eq__ = __ne__ = __lt__ = __le__ = __gt__ = __ge__ = _refuse_comparison

    def __array__(self, dtype: npt.DTypeLike | None = None, copy: bool | None = None) -> Array:
        raise DtypeError("NumPy would lose the graph of a Variable", hint="numpy.asarray(x.array)")

    def __float__(self) -> float:
        raise DtypeError("a Variable is no Python number", hint="x.item()")

    __int__ = __float__

    def __setitem__(self, index: object, value: object) -> None:
        raise GraphError(
            "values in a graph are not written into",
            hint="functions.where or functions.scatter_add return new ones; x.array[...] = for an unused value",
        )

    def __contains__(self, item: object) -> bool:
        raise DtypeError("`in` would compare Variables", hint="item in x.array")

    # --- copies -----------------------------------------------------------------------------------------------------
    def __copy__(self) -> "Variable":
        return Variable(self._array, name=self.name, requires_grad=self.requires_grad)

    def __deepcopy__(self, memo: dict) -> "Variable":
        grad = self.grad
        return Variable(
            self._array.copy(order="K"),
            name=self.name,
            grad=None if grad is None else grad.copy(order="K"),
            requires_grad=self.requires_grad,
        )

    def __reduce__(self) -> tuple:
        return _rebuild, (self._array, self.name, self.grad, self.requires_grad)


def _rebuild(array: Array, name: str | None, grad: Array | None, requires_grad: bool) -> Variable:
    return Variable(array, name=name, grad=grad, requires_grad=requires_grad)


def as_variable(value: Variable | Array) -> Variable:
    """`value` itself if it is a Variable, else a Variable that requires no gradient."""
    if isinstance(value, Variable):
        return value
    return Variable(value, requires_grad=False)


@overload
def as_array(value: Variable | Array) -> Array: ...
@overload
def as_array(value: T) -> T: ...
def as_array(value: Any) -> Any:
    """The array of a Variable; other values unchanged."""
    return value.array if isinstance(value, Variable) else value


def make_output(array: Array, requires_grad: bool) -> Variable:
    """A Variable of a kernel's result: no checks, since it is made for every output of every function."""
    variable = object.__new__(Variable)
    variable._array = np.asarray(array) if isinstance(array, np.generic) else array
    variable._node = None
    variable.name = None
    variable._requires_grad = requires_grad
    return variable


def variable_of(node: VariableNode, array: Array) -> Variable:
    """The Variable of `node` with the value `array`: the user's handle if it is alive and holds it, else a new one."""
    variable = node.variable()
    if variable is not None and variable._array is array:
        return variable
    variable = make_output(array, node.requires_grad)
    variable._node = node
    if node.variable() is None:
        node.bind(variable)
    return variable


def variables_of(arrays: Sequence[Array]) -> tuple[Variable, ...]:
    """Variables that require no gradient, one per array."""
    return tuple([make_output(array, False) for array in arrays])
