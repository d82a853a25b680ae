"""Products of matrices."""

from cvzoo.autodiff.function_node import FunctionNode
from cvzoo.autodiff.variable import Variable, as_variable
from cvzoo.backends.dispatch import backend_of
from cvzoo.errors.exceptions import DtypeError, ShapeError
from cvzoo.functions.array.axes import reshape
from cvzoo.functions.array.broadcast import sum_to
from cvzoo.functions.array.dtypes import agreed_pair, for_product
from cvzoo.functions.math.arithmetic import check_broadcast
from cvzoo.typing.aliases import Array


class MatMul(FunctionNode):
    def __init__(self, transa: bool, transb: bool):
        self.transa = transa
        self.transb = transb

    def forward(self, inputs: tuple[Array, ...]) -> tuple[Array, ...]:
        a, b = inputs
        if self.transa:
            a = a.swapaxes(-1, -2)
        if self.transb:
            b = b.swapaxes(-1, -2)
        if a.shape[-1] != b.shape[-2]:
            raise ShapeError(
                f"matmul: a has {a.shape[-1]} columns, b has {b.shape[-2]} rows",
                expected="(..., N, K) and (..., K, M)",
                got=f"{a.shape} and {b.shape}, after transposition"
                if self.transa or self.transb
                else f"{a.shape} and {b.shape}",
                hint="transb=True, or b.T",
            )
        if a.shape[:-2] != b.shape[:-2]:
            check_broadcast(a.shape[:-2], b.shape[:-2], "matmul, leading axes")
        self.retain_inputs((0, 1))
        return (backend_of(a).matmul(a, b),)

    def backward(self, indexes: tuple[int, ...], gys: tuple[Variable, ...]) -> tuple[Variable | None, ...]:
        a, b = self.get_retained_inputs()
        (gy,) = gys
        transa, transb = self.transa, self.transb
        gxs = []
        for i in indexes:
            if i == 0:
                # transposes are flags of the product, so that no operand is copied
                gx = _product(b, gy, transb, True) if transa else _product(gy, b, False, not transb)
                gxs.append(sum_to(gx, a.shape))
            else:
                gx = _product(gy, a, True, transa) if transb else _product(a, gy, not transa, False)
                gxs.append(sum_to(gx, b.shape))
        return tuple(gxs)


def _product(a: Variable, b: Variable, transa: bool, transb: bool) -> Variable:
    return MatMul(transa, transb).apply((a, b))[0]


def matmul(a: Variable | Array, b: Variable | Array, transa: bool = False, transb: bool = False) -> Variable:
    """The matrix product a @ b by NumPy's rules: leading axes broadcast, a vector is a row on the left and a column
    on the right and gives no axis to the result.

    a: (..., N, K), or (..., K, N) with `transa`, or (K,)
    b: (..., K, M), or (..., M, K) with `transb`, or (K,)
    Raises ShapeError if the shapes do not fit, DtypeError if dtypes differ.
    """
    for name, x in (("a", a), ("b", b)):
        if not isinstance(x, Variable):
            backend_of(x)
        elif x.shape is None:  # an uninitialized parameter, for which `apply` raises
            return MatMul(transa, transb).apply((a, b))[0]
        if not x.ndim:
            raise ShapeError(f"matmul: {name} must be a vector or a matrix", got="a single number", hint="a * b")
    a, b = agreed_pair(for_product(a), for_product(b))
    if a.dtype != b.dtype:
        raise DtypeError("matmul: both sides must have one dtype", got=f"{a.dtype} and {b.dtype}")
    if a.ndim > 1 and b.ndim > 1:
        return MatMul(transa, transb).apply((a, b))[0]
    shape = ((*_lead(a), a.shape[-1 if transa else -2]) if a.ndim > 1 else _lead(b)) + (
        (b.shape[-2 if transb else -1],) if b.ndim > 1 else ()
    )
    if a.ndim == 1:
        a, transa = reshape(a, (1, a.shape[0])), False
    if b.ndim == 1:
        b, transb = reshape(b, (b.shape[0], 1)), False
    return reshape(MatMul(transa, transb).apply((a, b))[0], shape)


def _lead(x: Variable | Array) -> tuple[int, ...]:
    return x.shape[:-2]


def batch_matmul(a: Variable | Array, b: Variable | Array, transa: bool = False, transb: bool = False) -> Variable:
    """The matrix products of B pairs: (B, N, M) of a (B, N, K) and b (B, K, M).

    A two-dimensional operand (B, K) is a batch of columns (B, K, 1). Transposition as in `matmul`.
    Raises ShapeError if the shapes do not fit.
    """
    a, b = as_variable(a), as_variable(b)
    a, b = [reshape(x, (*x.shape, 1)) if x.ndim == 2 else x for x in (a, b)]
    if a.ndim != 3 or b.ndim != 3 or a.shape[0] != b.shape[0]:
        raise ShapeError(
            "batch_matmul: needs two batches of B matrices",
            expected="(B, N, K) and (B, K, M)",
            got=f"{a.shape} and {b.shape}",
        )
    return matmul(a, b, transa, transb)


class FusedMatMul(FunctionNode):
    """a, b and perhaps what is added, to scale * (a @ b) + add. Not differentiable: inserted by graph passes.

    transa, transb: whether the matrices of a, of b are turned first, as in `matmul`
    """

    def __init__(self, transa: bool, transb: bool, scale: float):
        self.transa = transa
        self.transb = transb
        self.scale = scale

    def forward(self, inputs: tuple[Array, ...]) -> tuple[Array, ...]:
        a, b, *rest = inputs
        a = a.swapaxes(-1, -2) if self.transa else a
        b = b.swapaxes(-1, -2) if self.transb else b
        return (backend_of(a).matmul(a, b, scale=self.scale, add=rest[0] if rest else None),)
