"""Every function with floats of 16 bits gives what the one rule says, near float32's numbers: values, gradients."""

import importlib.util
import pathlib

import numpy as np
import pytest

import cvzoo.functions as F
from cvzoo.autodiff.function_hook import AbstractFunctionHook
from cvzoo.autodiff.grad import grad
from cvzoo.autodiff.parameter import Parameter
from cvzoo.autodiff.variable import Variable
from cvzoo.config.randomness import set_seed
from cvzoo.config.switches import no_backprop_mode, using_config
from cvzoo.errors.exceptions import DtypeError

ml_dtypes = pytest.importorskip("ml_dtypes")
BFLOAT16, FLOAT16 = np.dtype(ml_dtypes.bfloat16), np.dtype("float16")
MODES = {"mixed_bf16": BFLOAT16, "mixed_fp16": FLOAT16}
STEP = {BFLOAT16: 2.0**-8, FLOAT16: 2.0**-11}

_file = pathlib.Path(__file__).with_name("test_every_function.py")
_spec = importlib.util.spec_from_file_location("every_function", _file)
_every = importlib.util.module_from_spec(_spec)
_spec.loader.exec_module(_every)
BOXES = _every.BBOX.astype("f")
CASES = {
    **_every.CASES,
    "giou_loss": (lambda x: F.giou_loss(0.125 * x + Parameter(BOXES), BOXES[::-1].copy()), [_every.ROWS]),
}

# what gives float32, whatever it gets
FLOAT32 = {
    *("binary_cross_entropy", "focal_loss", "giou_loss", "huber_loss", "mean_absolute_error", "mean_squared_error"),
    *("sigmoid_cross_entropy", "sigmoid_focal_loss", "smooth_l1", "softmax_cross_entropy"),
    *(
        "absolute_error",
        "bernoulli_nll",
        "contrastive",
        "gaussian_kl_divergence",
        "gaussian_nll",
        "hinge",
        "negative_sampling",
        "squared_error",
        "triplet",
    ),
    *("channel_sum", "embed_id", "log_softmax", "softmax"),
}
# what has float32 parameters beside a 16-bit x: the number of its first inputs that have 16 bits
WITH_PARAMETERS = {
    **dict.fromkeys(("batch_normalization", "fixed_batch_normalization", "group_normalization"), 1),
    **dict.fromkeys(("convolution_2d", "deconvolution_2d", "depthwise_convolution_2d", "layer_normalization"), 1),
    **dict.fromkeys(("convolution_1d", "convolution_3d", "convolution_nd", "dilated_convolution_2d"), 1),
    **dict.fromkeys(("deconvolution_1d", "deconvolution_3d", "deconvolution_nd"), 1),
    "deformable_convolution_2d_sampler": 2,
    "linear": 1,
    "embed_id": 0,
}
ELSEWHERE = {"cast"}  # gives the dtype that it is asked for


class _DtypesMatch(AbstractFunctionHook):
    """Every gradient has the dtype of what it is the gradient of."""

    def backward_preprocess(self, function, target_input_indexes, grad_outputs):
        self.indexes = (*getattr(self, "indexes", ()), target_input_indexes)

    def gradients_made(self, function, grad_inputs):
        *self.indexes, indexes = self.indexes
        for i, gx in zip(indexes, grad_inputs):
            if gx is not None:
                assert gx.dtype == function.inputs[i].dtype, f"{function.label}, input {i}"


def _inputs(name, dtype):
    function, shapes = CASES[name]
    arrays = [x.astype("f") for x in _every._inputs(shapes)]
    n = WITH_PARAMETERS.get(name, len(arrays))
    narrow = [x.astype(dtype) if i < n else x for i, x in enumerate(arrays)]
    return function, narrow, [x.astype("f") for x in narrow]


def _first(ys):
    return ys if isinstance(ys, Variable) else ys[0]


def _run(function, arrays, double=False):
    set_seed(5)
    xs = [Variable(x) for x in arrays]
    y = _first(function(*xs))
    gy = np.random.default_rng(3).normal(size=y.shape).astype("f").astype(y.dtype)
    with _DtypesMatch():
        gxs = grad([y], xs, [gy], enable_double_backprop=double)
        if double:
            again = [gx for gx in gxs if gx is not None and gx.creator is not None]
            random = np.random.default_rng(4)
            ggxs = [random.normal(size=gx.shape).astype("f").astype(gx.dtype) for gx in again]
            gxs = grad(again, xs, ggxs) if again else []
    return y.array, [None if gx is None else gx.array for gx in gxs]


def _near(got, wanted, steps, dtype, what):
    wanted = np.asarray(wanted, "f")
    largest = max(float(np.abs(wanted).max(initial=0)), 1e-3)
    np.testing.assert_allclose(np.asarray(got, "f"), wanted, rtol=0, atol=steps * STEP[dtype] * largest, err_msg=what)


@pytest.mark.parametrize("dtype", MODES.values(), ids=str)
@pytest.mark.parametrize("name", [name for name in CASES if name not in ELSEWHERE])
def test_values_and_gradients_are_float32s_up_to_rounding(name, dtype, backend):
    function, narrow, wide = _inputs(name, dtype)
    with np.errstate(all="ignore"):
        y, gxs = _run(function, narrow)
        wanted_y, wanted = _run(function, wide)
    assert y.dtype == ("float32" if name in FLOAT32 else dtype)
    _near(y, wanted_y, 4, dtype, "value")
    for i, (gx, expected, x) in enumerate(zip(gxs, wanted, narrow)):
        if expected is None:
            continue
        assert gx.dtype == x.dtype
        _near(gx, expected, 16, dtype, f"gradient {i}")


@pytest.mark.parametrize("dtype", MODES.values(), ids=str)
@pytest.mark.parametrize("name", [name for name in CASES if name not in ELSEWHERE])
def test_gradients_can_be_taken_twice(name, dtype):
    function, narrow, wide = _inputs(name, dtype)
    with using_config("backend", "numpy"), np.errstate(all="ignore"):
        _, gxs = _run(function, narrow, double=True)
        _, wanted = _run(function, wide, double=True)
    for i, (gx, expected) in enumerate(zip(gxs, wanted)):
        if gx is not None:
            _near(gx, expected, 64, dtype, f"gradient {i}")


@pytest.mark.parametrize("name", ["argmax", "argmin", "ceil", "fix", "floor", "sign"])
@pytest.mark.parametrize("dtype", MODES.values(), ids=str)
def test_functions_without_a_gradient_look_at_16_bits(name, dtype):
    x = np.array([[1.5, -2.25, 3.75, 0.5]] * 3, dtype)
    y = getattr(F, name)(x).array
    np.testing.assert_array_equal(y.astype("f"), getattr(F, name)(x.astype("f")).array)
    assert y.dtype == (dtype if name[:3] != "arg" else y.dtype)


@pytest.mark.parametrize("dtype", MODES.values(), ids=str)
def test_accuracy_is_a_number_of_float32(dtype):
    share = F.accuracy(np.eye(3).astype(dtype), np.array([0, 1, 0]))
    assert share.dtype == np.float32
    assert share.array == np.float32(2 / 3)


PRODUCTS = {
    "convolution_2d": [(2, 4, 6, 5), (6, 4, 3, 3), (6,)],
    "deconvolution_2d": [(2, 4, 6, 5), (4, 6, 3, 3), (6,)],
    "linear": [(3, 8), (5, 8), (5,)],
    "matmul": [(3, 8), (8, 5)],
    "scaled_dot_product_attention": [(3, 8), (5, 8), (5, 4)],
}


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("name", PRODUCTS)
def test_products_of_float32_are_made_in_16_bits_and_their_gradients_are_float32(name, mode, backend):
    random = np.random.default_rng(2)
    arrays = [random.normal(size=shape).astype("f") for shape in PRODUCTS[name]]
    with using_config("dtype", mode):
        y, gxs = _run(getattr(F, name), arrays)
    wanted_y, wanted = _run(getattr(F, name), arrays)
    assert y.dtype == MODES[mode]
    _near(y, wanted_y, 8, MODES[mode], "value")
    for gx, expected in zip(gxs, wanted):
        assert gx.dtype == np.float32
        _near(gx, expected, 8, MODES[mode], "gradient")


@pytest.mark.parametrize("mode", ["float32", "tf32", "float64"])
def test_other_modes_leave_products_as_they_are(mode):
    x = np.ones((2, 3), "f")
    with using_config("dtype", mode):
        assert F.linear(x, x).dtype == np.float32
        assert F.matmul(x, x.T).dtype == np.float32


@pytest.mark.parametrize("mode", MODES)
def test_a_layer_keeps_its_rounded_weight_until_it_changes(mode):
    W = Parameter(np.random.default_rng(0).normal(size=(3, 3, 1, 1)).astype("f"))
    x = np.random.default_rng(1).normal(size=(1, 3, 4, 4)).astype("f")
    with using_config("dtype", mode), no_backprop_mode():
        first = F.convolution_2d(x, W).array
        (kept, _) = W.packs().made[MODES[mode]]
        again = F.convolution_2d(x, W).array
        assert W.packs().made[MODES[mode]][0] is kept
        np.testing.assert_array_equal(again, first)
        W.array[...] *= 2
        np.testing.assert_array_equal(F.convolution_2d(x, W).array, first * MODES[mode].type(2))
    assert W.dtype == np.float32


def test_copies_of_weights_for_16_bits_do_not_serve_float32():
    W = Parameter(np.random.default_rng(0).normal(size=(16, 16, 3, 3)).astype("f"))
    x = np.random.default_rng(1).normal(size=(1, 16, 8, 8)).astype("f")
    with no_backprop_mode():
        alone = F.convolution_2d(x, W, pad=1).array
        with using_config("dtype", "mixed_bf16"):
            F.convolution_2d(x, W, pad=1)
        np.testing.assert_array_equal(F.convolution_2d(x, W, pad=1).array, alone)
        W.touch()
        with using_config("dtype", "mixed_bf16"):
            F.convolution_2d(x, W, pad=1)
        np.testing.assert_array_equal(F.convolution_2d(x, W, pad=1).array, alone)


@pytest.mark.parametrize("dtype", MODES.values(), ids=str)
@pytest.mark.parametrize(
    "function", [F.add, F.subtract, F.multiply, F.divide, F.maximum, F.arctan2, lambda a, b: F.concat([a, b], 0)]
)
def test_float32_wins_over_16_bits_but_a_parameter_takes_what_it_meets(function, dtype):
    narrow, wide = np.ones((2, 3), dtype), np.ones((2, 3), "f")
    assert function(narrow, wide).dtype == np.float32
    assert function(wide, Variable(narrow)).dtype == np.float32
    assert function(Variable(narrow), Parameter(wide)).dtype == dtype
    assert function(Parameter(wide), narrow).dtype == dtype
    assert function(Parameter(wide), wide).dtype == np.float32


def test_other_pairs_of_dtypes_are_refused_as_ever():
    for a, b in (("float32", "float64"), (BFLOAT16, "float16"), (BFLOAT16, "float64"), (BFLOAT16, "int32")):
        with pytest.raises(DtypeError, match="the same dtype"):
            F.add(np.ones(3, a), np.ones(3, b))


def test_gradients_of_a_value_used_in_both_widths_add_up():
    x = Variable(np.full((2, 2), 0.5, BFLOAT16))
    y = F.sum(F.softmax(x)) + F.sum(F.cast(x * x, "float32"))
    y.backward()
    assert x.grad.dtype == BFLOAT16
    np.testing.assert_array_equal(x.grad.astype("f"), np.ones((2, 2), "f"))
