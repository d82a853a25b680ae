"""Residual blocks that begin as if they were not there."""

import numpy as np
import pytest

import cvzoo.functions as F
from cvzoo.config.switches import using_config
from cvzoo.errors.exceptions import ValueRangeError
from cvzoo.links.connection.linear import Linear
from cvzoo.links.model.resnet.extractor import zero_last_gamma
from cvzoo.links.model.resnet.resnet import ResNet


@pytest.mark.parametrize(("n_layer", "se", "n_block"), [(10, 0, 4), (18, 16, 8), (50, 0, 16)])
def test_a_block_gives_what_its_shortcut_gives(n_layer, se, n_block):
    model = ResNet(n_layer, 3, base_channels=16, stem="cifar", se=se)
    assert zero_last_gamma(model) == n_block
    rng = np.random.default_rng(0)
    for train in (True, False):
        with using_config("train", train):
            for stage in (model.extractor.res2, model.extractor.res4):
                for block in stage:
                    first = block.conv1.conv.W.shape[1]
                    x = rng.normal(size=(2, first, 6, 6)).astype(np.float32)
                    kept = x if block.shortcut is None else block.shortcut(x).array
                    np.testing.assert_allclose(block(x).array, np.maximum(kept, 0), atol=1e-6)


def test_the_factors_learn_from_there():
    model = ResNet(10, 3, base_channels=8, insize=32)
    zero_last_gamma(model)
    x = np.random.default_rng(0).normal(size=(4, 3, 32, 32)).astype(np.float32)
    F.softmax_cross_entropy(model(x), np.array([0, 1, 2, 0], np.int32)).backward()
    block = model.extractor.res3[0]
    assert not block.conv2.bn.gamma.array.any()
    assert block.conv2.bn.gamma.grad.any()
    assert (block.conv1.bn.gamma.array == 1).all()
    assert (block.shortcut.bn.gamma.array == 1).all()


def test_group_normalization_begins_so_too():
    model = ResNet(10, 3, base_channels=8, norm="group")
    assert zero_last_gamma(model) == 4
    assert not model.extractor.res5[0].conv2.bn.gamma.array.any()


def test_factors_that_would_stay_0_are_refused():
    with pytest.raises(ValueRangeError, match="would stay 0"):
        zero_last_gamma(ResNet(10, 3, base_channels=8, norm="frozen"))


def test_a_link_without_blocks_is_refused():
    with pytest.raises(ValueRangeError, match="no residual block"):
        zero_last_gamma(Linear(3, 2))
