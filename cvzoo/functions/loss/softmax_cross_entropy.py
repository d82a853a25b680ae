"""Softmax cross entropy: the negative log-likelihood of the true class."""

from cvzoo.autodiff.function_node import FunctionNode
from cvzoo.autodiff.on_device_of_arguments import on_device_of_arguments
from cvzoo.autodiff.variable import Variable, as_array
from cvzoo.backends.dispatch import backend_of
from cvzoo.backends.float_types import is_float
from cvzoo.backends.interface import State
from cvzoo.backends.label_weights import known_and_weight
from cvzoo.errors.exceptions import DtypeError, ShapeError, ValueRangeError
from cvzoo.functions.activation.softmax import log_softmax, softmax
from cvzoo.functions.array.axes import reshape
from cvzoo.functions.array.dtypes import widened
from cvzoo.functions.loss.reduction import beside, check_labels, check_reduce, reduced
from cvzoo.functions.math.arithmetic import multiply, subtract
from cvzoo.functions.math.sum import sum
from cvzoo.typing.aliases import Array


class SoftmaxCrossEntropy(FunctionNode):
    """x (B, C, ...) to losses (B, ...).

    t: (B, ...) integers, as they came
    class_weight: (C,) in x's dtype, or None
    """

    def __init__(self, t: Array, class_weight: Array | None, ignore_label: int):
        self._t = t
        self._class_weight = class_weight
        self._ignore_label = ignore_label

    def forward(self, inputs: tuple[Array, ...]) -> tuple[Array, ...]:
        (x,) = inputs
        self.retain_inputs((0,))
        loss, self._saved = backend_of(x).softmax_cross_entropy(
            x, self._t, self._class_weight, ignore_label=self._ignore_label
        )
        return (loss,)

    def backward(self, indexes: tuple[int, ...], gys: tuple[Variable, ...]) -> tuple[Variable | None, ...]:
        (x,) = self.get_retained_inputs()
        grad = SoftmaxCrossEntropyGrad(self._t, self._class_weight, self._ignore_label, self._saved)
        return grad.apply((x, gys[0]))


class SoftmaxCrossEntropyGrad(FunctionNode):
    """x (B, C, ...), gy (B, ...) to weight * gy * (softmax(x) - onehot(t)); saved: what the loss kernel returned."""

    def __init__(self, t: Array, class_weight: Array | None, ignore_label: int, saved: State):
        self._t = t
        self._class_weight = class_weight
        self._ignore_label = ignore_label
        self._saved = saved

    def forward(self, inputs: tuple[Array, ...]) -> tuple[Array, ...]:
        x, gy = inputs
        self.retain_inputs((0, 1))
        gx = backend_of(x).softmax_cross_entropy_grad(
            gy, x, self._t, self._class_weight, self._saved, ignore_label=self._ignore_label
        )
        return (gx,)

    def backward(self, indexes: tuple[int, ...], gys: tuple[Variable, ...]) -> tuple[Variable | None, ...]:
        x, gy = self.get_retained_inputs()
        known, weight = known_and_weight(x.xp, self._t, self._class_weight, self._ignore_label, x.dtype, x.shape[1])
        return _second_grads(indexes, x, gy, gys[0], known[:, None], weight)


def _second_grads(
    indexes: tuple[int, ...], x: Variable, gy: Variable, ggx: Variable, t: Array, weight: Array
) -> tuple[Variable, ...]:
    """The gradients of SoftmaxCrossEntropyGrad by x (0) and gy (1), those of `indexes`; t: (B, 1, ...)."""
    xp = x.xp
    with_class_axis = (x.shape[0], 1) + x.shape[2:]
    p = softmax(x, axis=1)
    inner = sum(multiply(p, ggx), axis=1, keepdims=True)
    grads = []
    for i in indexes:
        if i == 0:
            scale = reshape(multiply(gy, weight), with_class_axis)
            grads.append(multiply(multiply(p, subtract(ggx, inner)), scale))
        else:
            # a comparison instead of indexing: ignored labels select no class, and a GPU need not check indices
            classes = xp.arange(x.shape[1]).reshape((-1,) + (1,) * (x.ndim - 2))
            picked = sum(multiply(ggx, (t == classes).astype(x.dtype)), axis=1)
            grads.append(multiply(subtract(reshape(inner, gy.shape), picked), weight))
    return tuple(grads)


@on_device_of_arguments
def softmax_cross_entropy(
    x: Variable | Array,
    t: Variable | Array,
    *,
    class_weight: Variable | Array | None = None,
    ignore_label: int = -1,
    reduce: str = "mean",
    normalize: bool = True,
) -> Variable:
    """-log(softmax(x)[t]): a number, or (B, ...) with reduce="no".

    x: (B, C, ...) scores
    t: (B, ...) integers, 0 to C - 1 or ignore_label; or soft labels, x's shape in floating-point numbers, the classes'
        probabilities: -sum(t log(softmax(x))), without class_weight and ignore_label
    class_weight: (C,), multiplies the loss where t is that class; the mean is not divided by it
    ignore_label: counts nothing where t is this number
    reduce: "mean", "sum" or "no"
    normalize: the mean is over the labels that are not ignored (0 if all are); else the sum is divided by B
    Raises ShapeError or DtypeError if x and t do not fit, ValueRangeError that names the first label out of range;
    labels on a GPU are not checked: one out of range makes its loss and its gradient NaN.
    """
    x = widened(x)
    t = as_array(t)
    backend_of(t)
    check_reduce(reduce, function="softmax_cross_entropy")
    if x.ndim >= 2 and t.shape == x.shape and is_float(t.dtype) and is_float(x.dtype):
        return _of_soft_labels(x, t, class_weight, reduce)
    if x.ndim < 2 or t.shape != x.shape[:1] + x.shape[2:]:
        raise ShapeError(
            "softmax_cross_entropy: t needs one label where x has C scores",
            expected="x (B, C, ...), t (B, ...)",
            got=f"x {x.shape}, t {t.shape}",
            hint="t.argmax(axis=1) of one-hot labels" if t.shape == x.shape else None,
        )
    if t.dtype.kind not in "iu" or not is_float(x.dtype):
        raise DtypeError(
            "softmax_cross_entropy: x must be floating and t of integers",
            got=f"x {x.dtype}, t {t.dtype}",
            hint="t.astype('int32')" if t.dtype.kind not in "iu" else None,
        )
    n_class = x.shape[1]
    check_labels(t, t != ignore_label, n_class, function="softmax_cross_entropy")
    if class_weight is not None:
        class_weight = beside(as_array(class_weight), x)
        backend_of(class_weight)
        if class_weight.shape != (n_class,):
            raise ShapeError(
                "softmax_cross_entropy: class_weight needs one number a class",
                expected=(n_class,),
                got=class_weight.shape,
            )
        class_weight = class_weight.astype(x.dtype)
    t = beside(t, x)
    loss = SoftmaxCrossEntropy(t, class_weight, ignore_label).apply((x,))[0]
    return reduced(loss, reduce, t != ignore_label if normalize else x.shape[0])


def _of_soft_labels(x: Variable, t: Array, class_weight: Variable | Array | None, reduce: str) -> Variable:
    if class_weight is not None:
        raise ValueRangeError("softmax_cross_entropy: soft labels have no class_weight", hint="multiply t by it")
    products = multiply(log_softmax(x, axis=1), beside(t, x).astype(x.dtype))
    loss = multiply(sum(products, axis=1), -1.0)
    return reduced(loss, reduce, loss.size)
