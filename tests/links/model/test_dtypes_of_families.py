"""Every family computes in 16 bits: it predicts float32, its outputs and gradients are near those of float32."""

import builtins
import functools

import numpy as np
import pytest
from neighbour import neighbour

from cvzoo.autodiff.function_hook import AbstractFunctionHook
from cvzoo.autodiff.parameter import Parameter
from cvzoo.autodiff.variable import Variable
from cvzoo.backends.float_types import is_float
from cvzoo.config.randomness import set_seed
from cvzoo.config.switches import no_backprop_mode, using_config
from cvzoo.functions.array.dtypes import widened
from cvzoo.functions.math.sum import sum
from cvzoo.links.model.raw_outputs import named_results

ml_dtypes = pytest.importorskip("ml_dtypes")
FAMILIES = neighbour(__file__, "test_quantized_families").FAMILIES
MODES = {"mixed_bf16": np.dtype(ml_dtypes.bfloat16), "mixed_fp16": np.dtype("float16")}
STEPS = {"mixed_bf16": 2.0**-8, "mixed_fp16": 2.0**-11}
SMALLEST = [name for name in FAMILIES if not name.startswith("SwinTransformer,") and ", " not in name] + [
    *("DeepLabV3, MobileNetV3", "a cfg, letterboxed", "PSPNet, gluon"),
]
LIGHT = ("CIFARResNet", "ViT", "RetinaNet", "a cfg, letterboxed", "PSPNet, gluon", "SSD")
# where a number a little different makes another region, or another pixel of a window, the one that is looked at
CHOOSING = {"FCIS", "FasterRCNNVGG16", "LightHeadRCNN", "SegNetBasic"}


@functools.cache
def _made(name):
    room, of_room, let_through = FAMILIES[name]
    model = room._made(of_room)
    if let_through is not None:
        let_through(model)
    return model


@functools.cache
def _photo():
    return np.random.default_rng(0).integers(0, 256, (3, 70, 90)).astype("f")


def _outputs(model, x):
    ys = model.forward(x)
    return [y for y in (ys if isinstance(ys, tuple) else (ys,)) if isinstance(y, Variable)]


def _arrays(model, x):
    with using_config("train", False), no_backprop_mode():
        return [widened(y).array for y in _outputs(model, x)]


def _off(got, wanted):
    """The largest of the outputs' relative errors, root mean square."""
    return max(
        float(np.sqrt(np.mean(np.square(a - b)) / max(np.mean(np.square(b)), 1e-12))) for a, b in zip(got, wanted)
    )


def _with_rounded_weights(model, dtype, function):
    """What `function` gives of the float32 network whose weights were rounded: how well-conditioned it is."""
    params = [p for p in model.params() if isinstance(p, Parameter) and p.is_initialized]
    before = [p.array.copy() for p in params]
    try:
        for p in params:
            p.array = p.array.astype(dtype).astype("f")
        return function()
    finally:
        for p, array in zip(params, before):
            p.array = array


def _angle(got, wanted):
    """How far apart the directions of all gradients of two computations are, 0 to 2."""
    a, b = (np.concatenate([each[path].ravel() for path in wanted]).astype(float) for each in (got, wanted))
    return float(np.linalg.norm(a / np.linalg.norm(a) - b / np.linalg.norm(b)))


def _gradients(model, x, scale):
    """Those of the outputs' mean squares, the loss scaled as in training with float16."""
    set_seed(3)
    model.cleargrads()
    loss = None
    for y, factor in zip(map(widened, _outputs(model, x)), scale):
        one = sum(y * y) * factor
        loss = one if loss is None else loss + one
    loss.backward()
    return {path: p.grad for path, p in model.namedparams() if p.grad is not None}


def _check_prediction(model, mode):
    with using_config("dtype", mode):
        found = named_results(model.predict([_photo()]))
    for photo in found:
        for what, value in photo.items():
            array = np.asarray(value)
            if array.dtype.kind not in "iubO":
                assert array.dtype == np.float32, what
                assert np.isfinite(array).all(), what


class _Widths(AbstractFunctionHook):
    """Counts the numbers that functions give in 16 and in 32 bits."""

    def __init__(self):
        self.count = {2: 0, 4: 0}

    def outputs_made(self, function, outputs):
        for y in outputs:
            if is_float(y.dtype):
                self.count[y.dtype.itemsize] += y.size


def _check_outputs(model, x, mode, exact):
    wanted = _arrays(model, x)
    with using_config("dtype", mode), _Widths() as widths:
        got = _arrays(model, x)
    # what is computed is half as large as in float32, but for little: shares of attention, norms of a whole vector
    in_float32 = widths.count[4] - builtins.sum(y.size for y in got)  # the last thing is to widen the outputs
    assert in_float32 < 0.13 * widths.count[2]
    assert all(np.isfinite(each).all() for each in got)
    if exact:
        # a network drawn at random may make much of little; one whose weights are rounded shows how much
        rounding = _off(_with_rounded_weights(model, MODES[mode], lambda: _arrays(model, x)), wanted)
        off = _off(got, wanted)
        assert off < max(20 * rounding, 4 * STEPS[mode])


def _check_gradients(model, x, mode, exact):
    with using_config("train", False):  # the statistics of so few pixels would make anything of them
        scale = [64 / max(float(np.square(y).sum()), 1e-6) for y in _arrays(model, x)]
        wanted = _gradients(model, x, scale)
        with using_config("dtype", mode):
            got = _gradients(model, x, scale)
        rounding = _angle(_with_rounded_weights(model, MODES[mode], lambda: _gradients(model, x, scale)), wanted)
    assert got.keys() == wanted.keys()
    for path, gradient in got.items():
        assert gradient.dtype == np.float32, path
        assert np.isfinite(gradient).all(), path
    if exact:
        angle = _angle(got, wanted)
        # numbers near 0 that round to the other side of a relu change a gradient wholly: 0.08 was seen in float16
        assert angle < max(40 * rounding, 0.15)


@pytest.mark.slow
@pytest.mark.parametrize("name", SMALLEST)
def test_it_computes_in_16_bits(name):
    model, exact = _made(name), name not in CHOOSING
    x = model.prepare(_photo())[None]
    for mode in MODES:
        _check_outputs(model, x, mode, exact)
    _check_prediction(model, "mixed_bf16")


@pytest.mark.parametrize(
    "name", [name if name in LIGHT else pytest.param(name, marks=pytest.mark.slow) for name in SMALLEST]
)
def test_its_gradients_are_float32_and_near_those_of_float32(name):
    model, exact = _made(name), name not in CHOOSING
    for mode in MODES:
        _check_gradients(model, model.prepare(_photo())[None], mode, exact)


@pytest.mark.slow
@pytest.mark.parametrize("name", SMALLEST)
def test_it_predicts_in_float16(name):
    _check_prediction(_made(name), "mixed_fp16")


@pytest.mark.parametrize("name", ["CIFARResNet", "ViT", "MobileNetV2"])
def test_a_compiled_network_gives_the_same_in_16_bits(name):
    model = FAMILIES[name][0]._made(FAMILIES[name][1])
    xs = [model.prepare(np.roll(_photo(), k, 2))[None] for k in range(4)]
    with using_config("dtype", "mixed_bf16"), using_config("train", False), no_backprop_mode():
        wanted = [model.forward(x).array for x in xs]
        model.compile()
        for x, y in zip(xs, wanted):
            np.testing.assert_array_equal(model(x).array, y)
