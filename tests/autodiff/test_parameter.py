"""Parameters: made by initializers, sometimes late; copies; the reordered copies that kernels keep."""

import copy
import pickle

import numpy as np
import pytest

import cvzoo.functions as F
import cvzoo.links as L
from cvzoo import optimizers
from cvzoo.autodiff.parameter import Parameter
from cvzoo.config.switches import no_backprop_mode, using_config
from cvzoo.errors.exceptions import DtypeError, GraphError, ShapeError


def ramp(array):
    array[...] = np.arange(array.size).reshape(array.shape)


@pytest.mark.parametrize(
    ("start", "value"),
    [
        (ramp, [0, 1, 2]),
        (2, [2, 2, 2]),
        (0.5, [0.5, 0.5, 0.5]),
        (np.float32(3), [3, 3, 3]),
        (np.array([4, 5, 6]), [4, 5, 6]),  # integers become floats
    ],
)
def test_initializers_fill_the_array(start, value):
    p = Parameter(start, 3)
    assert p.array.tolist() == value
    assert p.dtype == np.float32
    assert p.is_initialized
    assert p.requires_grad


def test_without_initializer_it_is_nan_so_that_nobody_computes_with_it_unnoticed():
    assert np.isnan(Parameter(shape=(2, 2)).array).all()


def test_the_shape_may_come_late():
    p = Parameter(ramp, name="W")
    assert not p.is_initialized
    assert p.shape is None
    assert p.array is None
    assert repr(p) == "parameter(W)"
    with pytest.raises(GraphError, match="parameter W has no value yet"):
        p * 2.0
    p.initialize((2,))
    assert (p * 2.0).array.tolist() == [0, 2]


def test_an_array_is_copied():
    array = np.ones(3, "float32")
    p = Parameter(array)
    p.array[0] = 5
    assert array.tolist() == [1, 1, 1]
    assert Parameter(np.ones(2, "float64")).dtype == np.float64


def test_the_switch_decides_the_dtype():
    with using_config("dtype", "float64"):
        assert Parameter(0, 3).dtype == np.float64
    with using_config("dtype", "mixed_bf16"):
        assert Parameter(0, 3).dtype == np.float32


def test_wrong_beginnings_are_refused():
    with pytest.raises(ShapeError, match="differ"):
        Parameter(np.ones(3), (4,))
    with pytest.raises(ShapeError, match="another shape"):
        Parameter(np.ones(3)).initialize((4,))
    with pytest.raises(DtypeError, match="callable, a number or an array"):
        Parameter("he", 3)


def test_copies_share_the_value_and_deep_copies_everything_their_own():
    p = Parameter(ramp, 3, name="W")
    p.grad = np.ones(3, "float32")
    p.requires_grad = False
    shallow, deep = copy.copy(p), copy.deepcopy(p)
    assert shallow.array is p.array
    assert shallow.grad is None
    assert deep.array is not p.array
    assert deep.array.tolist() == [0, 1, 2]
    assert deep.grad.tolist() == [1, 1, 1]
    assert not shallow.requires_grad
    assert not deep.requires_grad
    late = copy.deepcopy(Parameter(ramp))
    late.initialize((2,))
    assert late.array.tolist() == [0, 1]
    from_array = copy.deepcopy(Parameter(np.ones(2, "float32")))
    assert from_array.array.tolist() == [1, 1]


def test_pickles_come_back():
    p = Parameter(np.arange(3, dtype="float32"), name="W")
    p.grad = np.ones(3, "float32")
    twin = pickle.loads(pickle.dumps(p))
    assert (twin.name, twin.array.tolist(), twin.grad.tolist()) == ("W", [0, 1, 2], [1, 1, 1])
    late = pickle.loads(pickle.dumps(Parameter(3)))
    late.initialize((2,))
    assert late.array.tolist() == [3, 3]


# --- reordered copies -----------------------------------------------------------------------------------------------


def packed(p):
    with no_backprop_mode():
        packs = p.packs()
    packs["order"] = "copy"
    return packs


def test_reordered_copies_are_kept_in_inference_only():
    p = Parameter(0, 3)
    assert p.packs() is None
    packed(p)
    with no_backprop_mode():
        assert p.packs() == {"order": "copy"}


@pytest.mark.parametrize(
    "change",
    [
        lambda p: p.array.fill(1),
        lambda p: setattr(p, "array", np.ones(3, "float32")),
        lambda p: p.touch(),
        lambda p: p.initialize((3,)),
        lambda p: copy.copy(p).array.fill(1),
    ],
)
def test_who_may_change_the_value_makes_it_forget_them(change):
    p = Parameter(0, 3)
    packed(p)
    change(p)
    with no_backprop_mode():
        assert p.packs() == {}


def test_writing_through_an_older_handle_fails_loudly():
    p = Parameter(0, 3)
    array = p.array
    packed(p)
    with pytest.raises(ValueError, match="read-only"):
        array[0] = 1
    p.touch()
    array[0] = 1
    assert p.array[0] == 1


def test_a_replaced_array_is_writable_again():
    p = Parameter(0, 3)
    array = p.array
    packed(p)
    p.array = np.ones(3, "float32")
    array[0] = 7


def test_read_only_memory_of_others_stays_so():
    p = Parameter(0, 3)
    array = np.ones(3, "float32")
    array.flags.writeable = False
    p.array = array
    with no_backprop_mode():
        p.packs()["order"] = "copy"
        assert p.packs() == {}  # nothing is kept beside it
    p.touch()
    assert not array.flags.writeable


def test_a_copy_that_predicts_sees_what_is_learned_in_between():
    """An evaluator of `model.copy()` in a training, as Chainer's recurrent example has it."""
    model = L.Linear(20, 30)
    shown = model.copy()
    x = np.ones((4, 20), "float32")
    optimizer = optimizers.SGD(0.1).setup(model)
    for _ in range(3):
        with no_backprop_mode():
            before = shown(x).array
        optimizer.update(lambda: F.mean(model(x) ** 2))
        with no_backprop_mode():
            np.testing.assert_array_equal(shown(x).array, model(x).array)
            assert not np.array_equal(shown(x).array, before)


def test_copies_forget_together_and_part_with_a_new_value():
    p = Parameter(0, 3)
    twin = copy.copy(p)
    packed(twin)
    with no_backprop_mode():
        assert p.packs() is twin.packs()
    p.array.fill(1)
    with no_backprop_mode():
        assert twin.packs() == {}
    p.array = np.ones(3, "float32")
    packed(p)
    twin.array.fill(2)
    with no_backprop_mode():
        assert p.packs() == {"order": "copy"}
