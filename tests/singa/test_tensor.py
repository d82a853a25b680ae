"""Tensors: what they hold, how they compute, what they refuse."""

import copy
import pickle

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import cvzoo.functions as F
from cvzoo.errors import DtypeError, ShapeError, ValueRangeError
from cvzoo.singa import autograd, device, tensor
from cvzoo.singa.tensor import Tensor

A = np.array([[1, 2, 3], [4, 5, 6]], np.float32)
B = np.array([[1, 2, 3]], np.float32)


def numbers(t):
    assert isinstance(t, Tensor)
    return tensor.to_numpy(t)


def test_arrays_go_in_and_come_out_as_copies():
    array = A.copy()
    t = tensor.from_numpy(array)
    array[:] = 0
    np.testing.assert_array_equal(numbers(t), A)
    out = numbers(t)
    out[:] = 0
    np.testing.assert_array_equal(numbers(t), A)


@pytest.mark.parametrize(
    ("dtype", "wanted"),
    [
        ("float64", tensor.float32),
        ("float32", tensor.float32),
        ("float16", tensor.float16),
        ("int64", tensor.int32),
        ("uint8", tensor.int32),
        ("bool", tensor.int32),
    ],
)
def test_dtypes_are_those_of_singa(dtype, wanted):
    assert tensor.from_numpy(np.ones(2, dtype)).dtype == wanted


def test_a_tensor_knows_its_shape_and_device():
    t = Tensor((2, 3, 4), device.get_default_device(), tensor.int32)
    assert (t.shape, t.ndim(), t.ndim, t.size(), t.size, t.memsize()) == ((2, 3, 4), 3, 3, 24, 24, 96)
    assert t.device is device.get_default_device()
    assert not numbers(t).any()
    assert t.is_dummy()
    assert Tensor().is_empty()
    assert not Tensor((1,), name="W").is_dummy()
    assert tensor.PlaceHolder is Tensor


def test_arithmetic_broadcasts():
    a, b = tensor.from_numpy(A), tensor.from_numpy(B)
    table = [
        (a + 1, A + 1),
        (1 + a, A + 1),
        (a - b, A - B),
        (1 - a, 1 - A),
        (a * b, A * B),
        (2 * a, 2 * A),
        (a / b, A / B),
        (1 / a, 1 / A),
        (a / 5, A / 5),
        (a // 2, A // 2),
        (a**2, A**2),
        (-a, -A),
        (a < 3, A < 3),
        (a <= 3, A <= 3),
        (a > b, A > B),
        (a >= b, A >= B),
        (a == b, A == B),
        (a != b, A != B),
    ]
    for found, wanted in table:
        np.testing.assert_allclose(numbers(found), wanted, rtol=1e-6)
        assert found.dtype == tensor.float32
    assert (a == None) is False  # noqa: E711 - SINGA's layers ask so
    assert (a != None) is True  # noqa: E711
    assert bool(Tensor((1,)))


def test_in_place_arithmetic_changes_the_tensor():
    a = t = tensor.from_numpy(A)
    a += 1
    a *= tensor.from_numpy(B)
    a -= tensor.from_numpy(B)
    a /= 2.0
    assert a is t
    np.testing.assert_allclose(numbers(t), ((A + 1) * B - B) / 2)


def test_parts_keep_their_axes():
    a = tensor.from_numpy(A)
    np.testing.assert_array_equal(numbers(a[1]), A[1:2])
    np.testing.assert_array_equal(numbers(a[-1, 1:]), A[1:, 1:])
    np.testing.assert_array_equal(numbers(a[:, 0]), A[:, :1])
    for bad in (2, -3, "a", (0, 0, 0), None):
        with pytest.raises(ValueRangeError):
            a[bad]


def test_shapes_change():
    a = tensor.random((2, 3, 4, 5, 6, 7))
    assert a.reshape((2, 3, 4, 5, 7, 6)).transpose((3, 2, 1, 0, 4, 5)).shape == (5, 4, 3, 2, 7, 6)
    t = tensor.from_numpy(A)
    np.testing.assert_array_equal(numbers(t.transpose([1, 0])), A.T)
    np.testing.assert_array_equal(numbers(t.T()), A.T)
    assert t.T().is_transpose()
    assert not t.contiguous().is_transpose()
    np.testing.assert_array_equal(numbers(t.repeat(2, 1)), np.repeat(A, 2, 1))
    np.testing.assert_array_equal(numbers(tensor.repeat(t, [1, 2], 0)), np.repeat(A, [1, 2], 0))
    np.testing.assert_array_equal(numbers(t.repeat(2, None)), np.repeat(A, 2))
    np.testing.assert_array_equal(numbers(tensor.concatenate([t, t], 0)), np.concatenate([A, A]))


def test_types_change():
    t = tensor.from_numpy(A)
    assert t.as_type("int").dtype == tensor.int32
    assert t.dtype == tensor.float32
    assert t.to_type(tensor.int32) is t
    assert t.dtype == tensor.int32
    with pytest.raises(DtypeError):
        t.as_type("double")
    assert [tensor.sizeof(each) for each in (tensor.float32, tensor.float16, tensor.int32)] == [4, 2, 4]


def test_values_are_set_and_drawn():
    t = Tensor((40, 50))
    assert t.set_value(3) is t
    assert (numbers(t) == 3).all()
    t.gaussian(1.0, 2.0)
    assert abs(numbers(t).mean() - 1) < 0.2
    assert abs(numbers(t).std() - 2) < 0.2
    t.uniform(2.0, 3.0)
    assert numbers(t).min() >= 2
    assert numbers(t).max() < 3
    t.bernoulli(0.25)
    assert set(np.unique(numbers(t))) == {0.0, 1.0}
    assert abs(numbers(t).mean() - 0.25) < 0.05
    with pytest.raises(ValueRangeError):
        t.gaussian(0, 1, inplace=False)
    for fill in (tensor.gaussian, tensor.uniform):
        assert fill(0.0, 1.0, t) is t
    assert tensor.bernoulli(0.5, t) is t


def test_seeds_of_the_device_repeat_the_draws():
    def draw():
        device.get_default_device().SetRandSeed(3)
        return numbers(Tensor((4,)).gaussian(0, 1))

    np.testing.assert_array_equal(draw(), draw())


def test_numbers_are_taken_over():
    t, whole = Tensor((2, 3)), Tensor((2, 3), dtype=tensor.int32)
    t.copy_from_numpy(np.arange(6))
    np.testing.assert_array_equal(numbers(t), np.arange(6).reshape(2, 3))
    whole.copy_from_numpy(np.arange(6, dtype=np.float64).reshape(3, 2))
    np.testing.assert_array_equal(numbers(whole), np.arange(6).reshape(2, 3))
    t.copy_from(whole)
    t.copy_data(tensor.from_numpy(A))
    tensor.copy_from_numpy(t, A + 1)
    np.testing.assert_array_equal(numbers(t), A + 1)
    tensor.copy_data_to_from(t, whole, 2, dst_offset=1, src_offset=4)
    np.testing.assert_array_equal(numbers(t), [[2, 4, 5], [5, 6, 7]])
    t.reset_like(Tensor((4,), dtype=tensor.int32))
    assert (t.shape, t.dtype) == ((4,), tensor.int32)


@pytest.mark.parametrize(
    ("use", "error"),
    [
        (lambda t: t.copy_from_numpy(np.zeros(5)), ShapeError),
        (lambda t: t.copy_from_numpy(np.zeros(6), offset=1), ShapeError),
        (lambda t: t.copy_from_numpy(np.array(["a"] * 6)), DtypeError),
        (lambda t: t.copy_from([0] * 6), DtypeError),
        (lambda t: Tensor((2,), dtype=tensor.int32).copy_from_numpy(np.array([0.5, 1])), DtypeError),
        (lambda t: tensor.copy_data_to_from(t, t, 7), ShapeError),
        (lambda t: tensor.copy_data_to_from(t, t, -1), ShapeError),
        (lambda t: tensor.from_numpy([1, 2]), DtypeError),
        (lambda t: tensor.to_numpy([1, 2]), DtypeError),
        (lambda t: Tensor((2,), "cpu"), DtypeError),
        (lambda t: Tensor((2,), dtype="float128"), DtypeError),
        (lambda t: Tensor(data=np.array(["a"])), DtypeError),
        (lambda t: Tensor((2,), requires_grad=False, stores_grad=True), ValueRangeError),
        (lambda t: t.to_device("cpu"), DtypeError),
        (lambda t: tensor.from_numpy(np.array([1, 2**40])), ValueRangeError),
        (lambda t: Tensor(data=np.array([-(2**31) - 1])), ValueRangeError),
        (lambda t: Tensor((1,), dtype=tensor.int32).copy_from_numpy(np.array([2**31])), ValueRangeError),
        (lambda t: Tensor((1,), dtype=tensor.int32).copy_from_numpy(np.array([np.inf])), ValueRangeError),
        (lambda t: Tensor((1,), dtype=tensor.int32).copy_from_numpy(np.array([np.nan])), DtypeError),
        (lambda t: Tensor((-2, 3)), ShapeError),
        (lambda t: Tensor("ab"), ShapeError),
        (lambda t: Tensor((2.5,)), ShapeError),
        (lambda t: t < np.zeros(4), ShapeError),
        (lambda t: t.__iadd__(np.zeros(4)), ShapeError),
        (lambda t: t.__imul__(Tensor((3, 3, 3))), ShapeError),
        (lambda t: t + np.zeros(4, np.float32), ShapeError),
    ],
)
def test_what_does_not_fit_is_refused(use, error):
    with pytest.raises(error):
        use(Tensor((2, 3)))


def test_functions_of_the_module():
    t, b = tensor.from_numpy(A), tensor.from_numpy(B)
    table = [
        (tensor.log(t + 1), np.log(A + 1)),
        (tensor.exp(t), np.exp(A)),
        (tensor.abs(-t), A),
        (tensor.ceil(t / 2), np.ceil(A / 2)),
        (tensor.sign(t - 3), np.sign(A - 3)),
        (tensor.sqrt(t), np.sqrt(A)),
        (tensor.square(t), A * A),
        (tensor.tanh(t), np.tanh(A)),
        (tensor.sigmoid(t), 1 / (1 + np.exp(-A))),
        (tensor.softmax(t), np.exp(A) / np.exp(A).sum(1, keepdims=True)),
        (tensor.add(t, b), A + B),
        (tensor.sub(t, 1.0), A - 1),
        (tensor.eltwise_mult(t, b), A * B),
        (tensor.div(t, b), A / B),
        (tensor.pow(t, 2.0), A**2),
        (tensor.pow(t, b), A**B),
        (tensor.lt(t, 3), A < 3),
        (tensor.le(t, 3), A <= 3),
        (tensor.gt(t, 3), A > 3),
        (tensor.ge(t, 3), A >= 3),
        (tensor.eq(t, 3), A == 3),
        (tensor.sum(t), [A.sum()]),
        (tensor.sum(t, 0), A.sum(0)),
        (tensor.sum(t, -1), A.sum(1)),
        (tensor.sum(t, (0, 1)), [A.sum()]),
        (tensor.sum_columns(t), A.sum(1)),
        (tensor.sum_rows(t), A.sum(0)),
        (tensor.average(t, 0), A.mean(0)),
        (tensor.average(t, 1), A.mean(1)),
        (tensor.mult(t, tensor.transpose(b)), A @ B.T),
        (tensor.einsum("ij,kj->ik", t, b), A @ B.T),
        (tensor.tensordot(t, t, 2), [(A * A).sum()]),
        (tensor.tensordot(t, b, ([1], [1])), A @ B.T),
        (tensor.zeros((2,)), [0, 0]),
        (tensor.ones((2,)), [1, 1]),
        (tensor.zeros_like(t), A * 0),
        (tensor.ones_like(t), A * 0 + 1),
        (tensor.to_host(t), A),
        (tensor.contiguous(t), A),
        (tensor.reshape(t, (3, 2)), A.reshape(3, 2)),
    ]
    for found, wanted in table:
        assert np.shape(wanted) == found.shape
        np.testing.assert_allclose(numbers(found), wanted, rtol=1e-5)
    assert tensor.average(t) == pytest.approx(3.5)
    assert tensor.product((2, 3)) == 6


def test_results_go_where_they_are_asked_to():
    t, out = tensor.from_numpy(A), Tensor((2, 3))
    for function, wanted in (
        (tensor.add, A + A),
        (tensor.sub, A * 0),
        (tensor.eltwise_mult, A * A),
        (tensor.div, A / A),
    ):
        assert function(t, t, out) is out
        np.testing.assert_allclose(numbers(out), wanted)
    C = Tensor((2, 2)).set_value(1.0)
    assert tensor.mult(t, tensor.transpose(t), C, alpha=2.0, beta=3.0) is C
    np.testing.assert_allclose(numbers(C), 2 * A @ A.T + 3)
    np.testing.assert_allclose(numbers(tensor.mult(t, tensor.transpose(t), C)), A @ A.T)
    y = Tensor((2, 3)).set_value(1.0)
    assert tensor.axpy(2.0, t, y) is y
    np.testing.assert_allclose(numbers(y), 2 * A + 1)
    assert tensor.mult(tensor.random((2, 2, 2, 3)), tensor.random((2, 3, 4))).shape == (2, 2, 2, 4)


def test_norms_are_divided_by_the_number_of_elements():
    t = tensor.from_numpy(np.array([3.0, -4.0]))
    assert (t.l1(), t.l2()) == (3.5, 2.5)


def test_it_shows_its_numbers():
    assert repr(tensor.from_numpy(A)) == "[[1. 2. 3.]\n [4. 5. 6.]], float32"


def test_copies_and_pickles_are_tensors():
    W = Tensor(data=A, stores_grad=True, name="W")
    for twin in (copy.deepcopy(W), pickle.loads(pickle.dumps(W))):
        assert (type(twin), twin.name, twin.stores_grad, twin.requires_grad) == (Tensor, "W", True, True)
        twin.set_value(0.0)
        np.testing.assert_array_equal(numbers(W), A)
    clone = W.clone()
    assert not clone.stores_grad
    clone.set_value(0.0)
    np.testing.assert_array_equal(numbers(W), A)


def test_gradients_go_through_arithmetic_and_stop_at_what_is_no_parameter():
    autograd.training = True
    W, x = Tensor(data=A, stores_grad=True), tensor.from_numpy(B)
    loss = tensor.sum((W * x - 1.0)[0] ** 2.0)
    assert W.requires_grad
    assert loss.requires_grad
    assert not x.requires_grad
    ((parameter, grad),) = autograd.backward(loss)
    assert parameter is W
    wanted = np.zeros_like(A)
    wanted[0] = 2 * (A[0] * B[0] - 1) * B[0]
    np.testing.assert_allclose(numbers(grad), wanted)
    x.stores_grad = True
    assert x.requires_grad
    x.requires_grad = False
    assert not x.requires_grad


def test_functions_of_cvzoo_take_tensors():
    t = tensor.from_numpy(A)
    np.testing.assert_array_equal(F.relu(t - 3.0).array, np.maximum(A - 3, 0))


@given(st.lists(st.integers(1, 4), min_size=1, max_size=4), st.integers(0, 9))
def test_numbers_survive_the_way_there_and_back(shape, seed):
    array = np.random.default_rng(seed).normal(size=shape).astype(np.float32)
    t = Tensor(tuple(shape))
    t.copy_from_numpy(array)
    assert t.size() == array.size
    np.testing.assert_array_equal(tensor.to_numpy(t), array)
