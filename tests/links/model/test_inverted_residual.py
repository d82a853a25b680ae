"""The block of the mobile networks."""

import numpy as np
import pytest

import cvzoo.functions as F
from cvzoo.config.randomness import set_seed
from cvzoo.config.switches import no_backprop_mode, using_config
from cvzoo.links.connection.conv_2d_bn_activ import round_channels
from cvzoo.links.model.efficientnet.extractor import FusedInvertedResidual
from cvzoo.links.model.inverted_residual import InvertedResidual, sequential_places


def photo(b=2):
    return np.random.default_rng(0).standard_normal((b, 8, 7, 6), "float32")


@pytest.mark.parametrize(
    ("block", "shape", "added"),
    [
        (lambda: InvertedResidual(8, 16, 8), (2, 8, 7, 6), True),
        (lambda: InvertedResidual(8, 8, 8, 5), (2, 8, 7, 6), True),  # nothing to expand
        (lambda: InvertedResidual(8, 16, 8, squeezed=4), (2, 8, 7, 6), True),
        (lambda: InvertedResidual(8, 16, 8, stride=2), (2, 8, 4, 3), False),
        (lambda: InvertedResidual(8, 16, 12), (2, 12, 7, 6), False),
        (lambda: InvertedResidual(8, 16, 8, stride=2, dilate=2), (2, 8, 7, 6), False),
        (lambda: InvertedResidual(8, 16, 8, shortcut=False), (2, 8, 7, 6), False),
        (lambda: FusedInvertedResidual(8, 16, 8), (2, 8, 7, 6), True),
        (lambda: FusedInvertedResidual(8, 8, 8), (2, 8, 7, 6), True),
        (lambda: FusedInvertedResidual(8, 16, 8, stride=2), (2, 8, 4, 3), False),
        (lambda: FusedInvertedResidual(8, 8, 12), (2, 12, 7, 6), False),
    ],
)
def test_x_is_added_where_the_shapes_allow(block, shape, added):
    block = block()
    with using_config("train", False):
        y = block(photo())
        assert y.shape == shape
        with no_backprop_mode():
            np.testing.assert_allclose(block(photo()).array, y.array, rtol=1e-4, atol=1e-4)
        last = block.expand if getattr(block, "project", None) is None else block.project
        last.bn.gamma.array[...] = 0  # the branch gives nothing any more
        np.testing.assert_allclose(block(photo()).array, photo() if added else np.zeros(shape), atol=1e-6)


def test_what_comes_after_the_expansion_can_be_had_apart():
    block = InvertedResidual(8, 16, 12, 5, 2, squeezed=4)
    with using_config("train", False):
        h = block.expand(photo())
        np.testing.assert_array_equal(block.after_expand(h).array, block(photo()).array)


@pytest.mark.parametrize("block", [InvertedResidual, FusedInvertedResidual])
def test_a_dropped_block_leaves_x_while_training_only(block):
    set_seed(0)
    block = block(8, 16, 8, drop=0.5)
    x = photo(40)
    with using_config("train", True):
        left = np.isclose(block(x).array, x).all(axis=(1, 2, 3))
    assert 8 <= left.sum() <= 32
    with using_config("train", False):
        assert not np.isclose(block(x).array, x).all(axis=(1, 2, 3)).any()


def test_places_count_only_the_layers_that_there_are():
    places = dict(sequential_places("features.4.block", "blocks/3", expand=False, excite=True))
    assert places == {
        "features.4.block.0.0": "blocks/3/depthwise/conv",
        "features.4.block.0.1": "blocks/3/depthwise/bn",
        "features.4.block.1.fc1": "blocks/3/se/fc1",
        "features.4.block.1.fc2": "blocks/3/se/fc2",
        "features.4.block.2.0": "blocks/3/project/conv",
        "features.4.block.2.1": "blocks/3/project/bn",
    }


@pytest.mark.parametrize(("n", "rounded"), [(1, 8), (11, 8), (12, 16), (20, 24), (18, 24), (17, 16), (32, 32)])
def test_channels_are_rounded_but_not_by_more_than_a_tenth_down(n, rounded):
    assert round_channels(n) == (rounded if rounded >= 0.9 * n else rounded + 8)


def test_an_activation_without_a_kernel_is_called_by_itself():
    block = InvertedResidual(8, 16, 8, activ=F.elu)
    with using_config("train", False):
        y = block(photo())
        with no_backprop_mode():
            np.testing.assert_allclose(block(photo()).array, y.array, rtol=1e-4, atol=1e-4)
