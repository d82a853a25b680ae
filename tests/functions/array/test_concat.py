"""Joining and cutting."""

import numpy as np
import pytest

import cvzoo.functions as F
from cvzoo.autodiff.gradient_check import assert_allclose, check_backward, check_double_backward
from cvzoo.autodiff.variable import Variable
from cvzoo.errors.exceptions import DtypeError, ShapeError


def _arrays(*shapes, dtype="float64"):
    random = np.random.default_rng(0)
    return tuple(random.normal(size=shape).astype(dtype) for shape in shapes)


@pytest.mark.parametrize(
    ("shapes", "axis"),
    [
        (((2, 3), (2, 1)), 1),
        (((2, 3), (1, 3), (2, 3)), 0),
        (((2, 3), (2, 0)), -1),
        (((2, 3),), 1),
        (((2, 3, 4, 4), (2, 5, 4, 4)), 1),
        (((2, 3, 4, 4), (2, 3, 1, 4)), 2),
        (((1,), (3,)), 0),
    ],
    ids=str,
)
def test_concat_is_numpys(shapes, axis, backend):
    for dtype in ("float32", "float64", "int32"):
        xs = _arrays(*shapes, dtype=dtype)
        y = F.concat(xs, axis)
        assert y.dtype == dtype
        assert_allclose(y, np.concatenate(xs, axis))
    xs = _arrays(*shapes)
    check_backward(lambda *xs: F.concat(xs, axis), xs)
    check_double_backward(lambda *xs: F.concat(xs, axis) ** 2, xs, rtol=1e-3, atol=1e-4)


def test_concat_takes_any_strides(backend):
    a, b = _arrays((2, 3, 4, 5), (2, 3, 4, 5), dtype="float32")
    b = np.ascontiguousarray(b.transpose(0, 2, 3, 1)).transpose(0, 3, 1, 2)
    for axis in range(4):
        assert_allclose(
            F.concat([a[:, :, ::2], b[:, :, ::-2]], axis), np.concatenate([a[:, :, ::2], b[:, :, ::-2]], axis)
        )


@pytest.mark.parametrize("cut", [3, [1, 4], [0, 6], [2, 2], [], (5,)], ids=str)
@pytest.mark.parametrize("axis", [1, -2])
def test_split_axis_is_numpys(cut, axis, backend):
    (x,) = _arrays((2, 6, 2))
    ys = F.split_axis(x, cut, axis)
    for y, expected in zip(ys, np.split(x, cut, axis), strict=True):
        assert_allclose(y, expected)
    check_backward(lambda x: F.split_axis(x, cut, axis), x)
    check_double_backward(lambda x: tuple(y**2 for y in F.split_axis(x, cut, axis)), x, rtol=1e-3, atol=1e-4)


def test_a_part_that_is_not_used_gets_zeros():
    x = Variable(np.ones((2, 3)))
    first, _, last = F.split_axis(x, 3, 1)
    F.sum(first + last * 2).backward()
    assert x.grad.tolist() == [[1, 0, 2]] * 2


def test_split_axis_into_one_part_gives_a_tuple_unless_told():
    x = Variable(np.ones((2, 3)))
    assert isinstance(F.split_axis(x, 1, 1), tuple)
    assert isinstance(F.split_axis(x, 1, 1, force_tuple=False), Variable)


@pytest.mark.parametrize("axis", [0, 1, 2, -1])
def test_stack_and_separate_undo_each_other(axis, backend):
    xs = _arrays((2, 3), (2, 3), (2, 3))
    y = F.stack(xs, axis)
    assert_allclose(y, np.stack(xs, axis))
    for x, back in zip(xs, F.separate(y, axis), strict=True):
        assert_allclose(back, x)
    check_backward(lambda *xs: F.stack(xs, axis), xs)
    check_backward(lambda y: F.separate(y, axis), y.array)
    check_double_backward(lambda *xs: F.stack(xs, axis) ** 2, xs, rtol=1e-3, atol=1e-4)


def test_separate_of_nothing_is_nothing():
    assert F.separate(np.zeros((0, 3))) == ()


@pytest.mark.parametrize("shapes", [((2,), (3,)), ((2, 3), (2, 1)), ((), ())], ids=str)
def test_hstack_is_numpys(shapes):
    xs = _arrays(*shapes)
    assert_allclose(F.hstack(xs), np.hstack(xs))
    check_backward(lambda *xs: F.hstack(xs), xs)


@pytest.mark.parametrize("shapes", [((2,), (2,)), ((2, 3), (1, 3)), ((), ())], ids=str)
def test_vstack_is_numpys(shapes):
    xs = _arrays(*shapes)
    assert_allclose(F.vstack(xs), np.vstack(xs))
    check_backward(lambda *xs: F.vstack(xs), xs)


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (lambda x: F.concat([]), ShapeError, "nothing"),
        (lambda x: F.concat(Variable(x)), DtypeError, "several"),
        (lambda x: F.stack(Variable(x)), DtypeError, "several"),
        (lambda x: F.concat([x, x[:1]], 1), ShapeError, "axis 1"),
        (lambda x: F.concat([x, x[0]], 0), ShapeError, "axis 0"),
        (lambda x: F.concat([x, x], 2), ShapeError, "no axis 2"),
        (lambda x: F.concat([x, x.astype("float32")]), DtypeError, "one dtype"),
        (lambda x: F.stack([x, x[:1]]), ShapeError, "stack"),
        (lambda x: F.split_axis(x, 2, 1), ShapeError, "equal parts"),
        (lambda x: F.split_axis(x, 0, 1), ShapeError, "equal parts"),
        (lambda x: F.split_axis(x, [2, 1], 1), ShapeError, "ascending"),
        (lambda x: F.split_axis(x, [4], 1), ShapeError, "ascending"),
        (lambda x: F.split_axis(x, 3, 5), ShapeError, "no axis"),
    ],
)
def test_what_does_not_fit_is_refused_in_words(call, error, message):
    with pytest.raises(error, match=message):
        call(np.zeros((2, 3)))
