"""Products of matrices."""

import numpy as np
import pytest

import cvzoo.functions as F
from cvzoo.autodiff.gradient_check import assert_allclose, check_backward, check_double_backward
from cvzoo.autodiff.parameter import Parameter
from cvzoo.errors.exceptions import DtypeError, GraphError, ShapeError

SHAPES = [
    ((2, 3), (3, 4)),
    ((3,), (3,)),  # a scalar product
    ((2, 3), (3,)),  # a matrix and a column
    ((3,), (3, 2)),  # a row and a matrix
    ((2, 2, 3), (2, 3, 4)),
    ((2, 1, 2, 3), (3, 3, 2)),  # leading axes broadcast
    ((2, 3), (4, 3, 2)),
    ((3,), (2, 3, 2)),
    ((2, 2, 3), (3,)),
    ((1, 1), (1, 1)),
]


def _pair(shapes, dtype="float64"):
    random = np.random.default_rng(0)
    return tuple(random.normal(size=shape).astype(dtype) for shape in shapes)


@pytest.mark.parametrize("shapes", SHAPES, ids=str)
def test_products_and_their_gradients(shapes, backend):
    for dtype, rtol in (("float32", 1e-5), ("float64", 1e-12)):
        a, b = _pair(shapes, dtype)
        y = F.matmul(a, b)
        assert y.dtype == dtype
        assert_allclose(y, np.asarray(a @ b), rtol=rtol, atol=1e-6)
    check_backward(F.matmul, (a, b))
    check_double_backward(F.matmul, (a, b), rtol=1e-3, atol=1e-4)


@pytest.mark.parametrize("transa", [False, True])
@pytest.mark.parametrize("transb", [False, True])
@pytest.mark.parametrize("lead", [(), (2,)])
def test_either_side_may_be_transposed(transa, transb, lead, backend):
    a, b = _pair(((*lead, 2, 3), (*lead, 3, 4)))
    x = np.ascontiguousarray(a.swapaxes(-1, -2)) if transa else a
    y = np.ascontiguousarray(b.swapaxes(-1, -2)) if transb else b

    def product(x, y):
        return F.matmul(x, y, transa, transb)

    assert_allclose(product(x, y), a @ b)
    check_backward(product, (x, y))
    check_double_backward(product, (x, y), rtol=1e-3, atol=1e-4)
    if lead:
        assert_allclose(F.batch_matmul(x, y, transa, transb), a @ b)


def test_views_of_any_strides_are_multiplied(backend):
    a, b = _pair(((4, 6), (8, 6)), "float32")
    for x, y in ((a.T, b.T[:, ::2][:4]), (a[::-1, ::2], b[::2, 3:].T)):
        assert_allclose(F.matmul(x, y), x @ y, rtol=1e-5)
    assert_allclose(F.matmul(np.broadcast_to(a[:1], (4, 6)), b.T), np.broadcast_to(a[:1], (4, 6)) @ b.T, rtol=1e-5)


def test_empty_matrices_give_zeros(backend):
    assert F.matmul(np.zeros((2, 0), "float32"), np.zeros((0, 3), "float32")).array.tolist() == [[0] * 3] * 2
    assert F.matmul(np.zeros((0, 2), "float32"), np.zeros((2, 3), "float32")).shape == (0, 3)


def test_batches_of_vectors_are_columns():
    a, b = _pair(((4, 2, 3), (4, 3)))
    assert_allclose(F.batch_matmul(a, b), a @ b[..., None])
    check_backward(F.batch_matmul, (a, b))
    with pytest.raises(ShapeError, match="batch_matmul"):
        F.batch_matmul(a, b[:2])


def test_shapes_and_dtypes_that_do_not_fit_are_refused():
    a = np.zeros((2, 3), "float32")
    with pytest.raises(ShapeError, match=r"(?s)3 columns.*2 rows.*\(2, 3\) and \(2, 3\).*transb"):
        F.matmul(a, a)
    with pytest.raises(ShapeError, match="leading"):
        F.matmul(np.zeros((2, 2, 3)), np.zeros((3, 3, 2)))
    with pytest.raises(ShapeError, match="vector or a matrix"):
        F.matmul(a, np.float32(3) * np.ones((), "float32"))
    with pytest.raises(DtypeError, match="float32 and float64"):
        F.matmul(a, np.zeros((3, 2)))
    with pytest.raises(DtypeError, match="list"):
        F.matmul(a, [[1.0]])
    with pytest.raises(GraphError, match="no value yet"):
        F.matmul(a, Parameter(0.5))
