"""A convolution that takes in the batch normalization behind it."""

import copy
import pickle
import sys

import numpy as np
import pytest

import cvzoo.functions as F
from cvzoo.autodiff.prepared_weights import PreparedWeights
from cvzoo.config.randomness import set_seed
from cvzoo.config.switches import no_backprop_mode, using_config
from cvzoo.links.chain import Chain
from cvzoo.links.connection.batch_normalization import BatchNormalization, FrozenBatchNormalization
from cvzoo.links.connection.conv_2d_bn_activ import Conv2DActiv, Conv2DBNActiv, ConvNormActiv
from cvzoo.links.connection.convolution_2d import Convolution2D
from cvzoo.links.connection.fused_convolution import can_fold, filters_of, fused_convolution
from cvzoo.links.connection.group_normalization import GroupNormalization
from cvzoo.links.model.resnet.resnet import ResNet18


def layers(kind=BatchNormalization, nobias=True, eps=1e-5):
    rng = np.random.default_rng(3)
    conv = Convolution2D(3, 5, 3, 2, 1, nobias, initial_bias=0.3)
    norm = kind(5, eps=eps)
    norm.avg_mean[:], norm.avg_var[:] = rng.standard_normal(5), 0.5 + rng.random(5)
    for name in ("gamma", "beta"):
        value = norm.__dict__[name]
        array = value if isinstance(value, np.ndarray) else value.array
        array[:] = rng.standard_normal(5)
    return conv, norm, rng.standard_normal((2, 3, 8, 6), "float32")


@pytest.mark.parametrize("nobias", [True, False])
@pytest.mark.parametrize(
    ("kind", "eps"), [(BatchNormalization, 1e-5), (FrozenBatchNormalization, 1e-3), (FrozenBatchNormalization, 0.0)]
)
def test_it_is_normalization_after_convolution(kind, eps, nobias):
    conv, norm, x = layers(kind, nobias, eps)
    with using_config("train", False), no_backprop_mode():
        plain = norm(conv(x))
        np.testing.assert_allclose(fused_convolution(conv, norm)(x).array, plain.array, atol=1e-5)
        add = np.ones(plain.shape, np.float32)
        fused = fused_convolution(conv, norm)(x, add=add, activation="relu")
        np.testing.assert_allclose(fused.array, F.relu(plain + add).array, atol=1e-5)


@pytest.mark.parametrize("what", ["W", "b", "gamma", "beta", "avg_mean", "avg_var"])
@pytest.mark.parametrize("kind", [BatchNormalization, FrozenBatchNormalization])
def test_what_changes_is_seen(kind, what):
    conv, norm, x = layers(kind, nobias=False)
    with using_config("train", False), no_backprop_mode():
        first = fused_convolution(conv, norm)(x).array
        again = fused_convolution(conv, norm)(x).array
        np.testing.assert_array_equal(first, again)
        value = getattr(conv if what in ("W", "b") else norm, what)
        value = value if isinstance(value, np.ndarray) else value.array
        value *= 2
        changed = fused_convolution(conv, norm)(x).array
        assert np.abs(changed - first).max() > 0.01
        np.testing.assert_allclose(changed, norm(conv(x)).array, atol=1e-5)


def test_another_eps_is_seen():
    conv, norm, x = layers(eps=1e-5)
    with using_config("train", False), no_backprop_mode():
        fused_convolution(conv, norm)(x)
        norm.eps = 1.0
        np.testing.assert_allclose(fused_convolution(conv, norm)(x).array, norm(conv(x)).array, atol=1e-5)


@pytest.mark.parametrize("value", ["W", "b", "gamma", "beta"])
def test_a_write_through_a_handle_from_before_fails_loudly_or_is_seen(value):
    conv, norm, x = layers(nobias=False)
    parameter = getattr(conv if value in ("W", "b") else norm, value)
    handle = parameter.array
    with using_config("train", False), no_backprop_mode():
        fused_convolution(conv, norm)(x)
        with pytest.raises(ValueError, match="read-only"):
            handle *= 2
        parameter.array[...] *= 2
        np.testing.assert_allclose(fused_convolution(conv, norm)(x).array, norm(conv(x)).array, atol=1e-5)


def test_the_product_is_made_once_and_again_for_another_normalization():
    conv, norm, _ = layers()
    _, other, _ = layers()
    with using_config("train", False), no_backprop_mode():
        first, _, _ = filters_of(conv, norm)
        assert filters_of(conv, norm)[0] is first
        other.avg_var *= 2
        assert np.abs(filters_of(conv, other)[0] - first).max() > 1e-3
        assert filters_of(conv, norm)[0] is first


def arrays_of(table):
    """The arrays in a table of prepared weights, and in the tables that it has made."""
    for value in table.values():
        yield value
    for entry in table.made.values():
        for value in entry[2]:
            if isinstance(value, PreparedWeights):
                yield from arrays_of(value)
            elif isinstance(value, np.ndarray):
                yield value


def test_the_product_is_not_kept_next_to_what_kernels_read():
    model, x = ResNet18(n_class=3), np.ones((1, 3, 64, 64), np.float32)
    with using_config("train", False), no_backprop_mode():
        model(x)
        convs = [link for link in model.links() if isinstance(link, Convolution2D)]
        assert len(convs) == 20
        for conv in convs:
            in_formats = [each for each in arrays_of(conv.W.packs()) if each.nbytes >= conv.W._array.nbytes]
            assert len(in_formats) <= 1
            assert all(each.nbytes <= 2 * conv.W._array.nbytes for each in in_formats)


@pytest.mark.parametrize("backend", ["numpy", "auto"])
@pytest.mark.parametrize("dtype", ["float32", "mixed_bf16"])
def test_two_normalizations_of_one_convolution_are_not_mixed_up(backend, dtype):
    conv, norm, x = layers()
    _, other, _ = layers()
    other.avg_var *= 4
    with using_config("train", False), using_config("backend", backend), no_backprop_mode():
        expected = [each(conv(x)).array for each in (norm, other)]
        with using_config("dtype", dtype):
            tolerance = 1e-5 if dtype == "float32" else 0.1
            for _ in range(2):
                for each, y in zip((norm, other), expected):
                    got = fused_convolution(conv, each)(x).array.astype(np.float32)
                    np.testing.assert_allclose(got, y, atol=tolerance)


class Fork(Chain):
    """Two normalizations without a shift of one convolution: their filters differ only by the scale."""

    def __init__(self):
        with self.init_scope():
            self.conv, self.norm, _ = layers()
            self.other = copy.deepcopy(self.norm)
        for norm in (self.norm, self.other):
            norm.beta.array[:], norm.avg_mean[:] = 0, 0
        self.other.avg_var *= 4

    def forward(self, x):
        return F.concat([fused_convolution(self.conv, self.norm)(x), fused_convolution(self.conv, self.other)(x)])


def test_a_graph_keeps_both_normalizations_of_one_convolution():
    model, x = Fork(), layers()[2]
    with using_config("train", False), no_backprop_mode():
        expected = model(x).array
        assert np.abs(expected[:, :5] - expected[:, 5:]).max() > 0.1
        graph = model.compile(x)
        np.testing.assert_array_equal(graph([x]).array, expected)


def test_copies_prepare_their_weights_themselves():
    conv, norm, x = layers()
    with using_config("train", False), no_backprop_mode():
        first = fused_convolution(conv, norm)(x).array
        for twin, twin_norm in ((copy.deepcopy(conv), copy.deepcopy(norm)), pickle.loads(pickle.dumps((conv, norm)))):
            assert twin.W._packs is None
            np.testing.assert_array_equal(fused_convolution(twin, twin_norm)(x).array, first)


def files_on_the_stack(block, x):
    """The files of cvzoo whose functions are being run when the first convolution's kernel is called."""
    found = []

    def profile(frame, event, _):
        code = frame.f_code
        if event == "call" and code.co_name == "conv_2d" and not found:
            while frame is not None and frame.f_globals["__name__"].startswith("cvzoo."):
                found.append(frame.f_globals["__name__"])
                frame = frame.f_back

    sys.setprofile(profile)
    try:
        block(x)
    finally:
        sys.setprofile(None)
    return set(found)


@pytest.mark.parametrize("kind", [ConvNormActiv, Conv2DBNActiv, Conv2DActiv, Convolution2D])
def test_from_a_layer_to_its_kernel_there_are_five_files(kind):
    block = kind(3, 4, 3)
    x = np.zeros((1, 3, 6, 6), "float32")
    with using_config("train", False), no_backprop_mode():
        assert (
            3 < len(files_on_the_stack(block, x)) <= 5
        )  # its own, Link's, the function's, FunctionNode's, the kernel's


def test_it_folds_only_where_nothing_is_learned():
    conv, norm, _ = layers()
    _, frozen, _ = layers(FrozenBatchNormalization)
    assert not can_fold(conv, frozen)  # gradients are being taken
    with no_backprop_mode():
        assert can_fold(conv, frozen)
        assert not can_fold(conv, norm)  # the batch's own statistics count
        with using_config("train", False):
            assert can_fold(conv, norm)
            assert not can_fold(conv, GroupNormalization(1, 5))
            assert not can_fold(conv, BatchNormalization(5, use_gamma=False))
            assert not can_fold(conv, BatchNormalization())
            assert not can_fold(Convolution2D(None, 5, 3), norm)


def test_training_goes_on_after_a_look_at_the_results():
    set_seed(0)
    block = ConvNormActiv(3, 4, 3)
    x = np.random.default_rng(0).standard_normal((2, 3, 6, 6), "float32")
    with using_config("train", False), no_backprop_mode():
        before = block(x).array
    F.sum(block(x)).backward()
    block.conv.W.array -= block.conv.W.grad
    with using_config("train", False):
        plain = block(x).array
        with no_backprop_mode():
            folded = block(x).array
    np.testing.assert_allclose(folded, plain, atol=1e-5)
    assert np.abs(folded - before).max() > 1e-3


@pytest.mark.parametrize("activ", [F.relu, None, F.sigmoid])
@pytest.mark.parametrize("settings", [{}, {"dilate": 2, "pad": 2}, {"groups": 2}])
def test_blocks_are_the_same_in_one_kernel_and_in_several(activ, settings):
    x = np.random.default_rng(0).standard_normal((2, 4, 9, 8), "float32")
    settings = {"initial_bias": 0.2, **settings}
    for block in (
        Conv2DActiv(4, 6, 3, 2, activ=activ, **settings),
        Conv2DBNActiv(4, 6, 3, 2, activ=activ, nobias=False, **settings),
        Conv2DActiv(None, 6, 3, activ=activ),  # the first call initializes it
    ):
        with using_config("train", False):
            if block.conv.W.is_initialized:
                several = block(x).array
                with no_backprop_mode():
                    np.testing.assert_allclose(block(x).array, several, atol=1e-5)
            else:
                with no_backprop_mode():
                    first = block(x).array
                    np.testing.assert_allclose(block(x).array, first, atol=1e-5)
