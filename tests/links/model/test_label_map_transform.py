"""Photos and label maps changed together for training."""

import numpy as np
import pytest
from by_our_names import by_our_names

from cvzoo.errors.exceptions import ShapeError, ValueRangeError
from cvzoo.links.model.deeplab.deeplab_v3 import DeepLabV3
from cvzoo.links.model.dense_backbone import DenseBackbone, backbone_names, backbone_records
from cvzoo.links.model.label_map_transform import LabelMapTransform, ResizeExamples
from cvzoo.links.model.segnet.segnet_basic import SegNetBasic


@pytest.fixture(scope="module")
def segnet():
    return SegNetBasic(3, channels=2)  # its prepare leaves a photo as it is


def _example(height=12, width=20):
    """A photo whose red is 50 times the class: rows of 0, 1, 2."""
    label = np.repeat(np.arange(height) % 3, width).reshape(height, width).astype(np.int32)
    img = np.zeros((3, height, width), np.float32)
    img[0] = 50 * label
    return img, label


def test_nothing_asked_nothing_changed(segnet):
    img, label = _example()
    x, t = LabelMapTransform(segnet, None, x_flip=False)((img, label))
    np.testing.assert_array_equal(x, img)
    np.testing.assert_array_equal(t, label)
    assert t.dtype == np.int32


def test_a_window_and_a_mirror_take_photo_and_map_along(segnet):
    transform = LabelMapTransform(segnet, (7, 9))
    starts = set()
    for seed in range(30):
        x, t = transform(_example(), np.random.default_rng(seed))
        assert x.shape == (3, 7, 9)
        np.testing.assert_array_equal(x[0], 50 * t)
        starts.add(t[0, 0])
    assert starts == {0, 1, 2}


def test_beside_a_small_photo_nobody_knows(segnet):
    transform = LabelMapTransform(segnet, (20, 30), x_flip=False)
    for seed in range(10):
        x, t = transform(_example(), np.random.default_rng(seed))
        assert x.shape[1:] == t.shape == (20, 30)
        known = t >= 0
        assert known.sum() == 12 * 20
        np.testing.assert_array_equal(x[0][known], 50 * t[known])
        np.testing.assert_allclose(x[:, ~known].T, np.broadcast_to((123.68, 116.779, 103.939), (360, 3)), rtol=1e-6)


def test_scaled_and_turned_the_two_still_fit(segnet):
    img, label = np.zeros((3, 60, 60), np.float32), np.zeros((60, 60), np.int32)
    img[:, 20:40, 20:40], label[20:40, 20:40] = 255, 1
    transform = LabelMapTransform(segnet, (60, 60), scale_range=(0.5, 2.0), angle=10)
    for seed in range(20):
        x, t = transform((img, label), np.random.default_rng(seed))
        assert set(np.unique(t)) <= {-1, 0, 1}
        bright = (x[0] > 200) & (t >= 0)
        if bright.sum() > 50:
            assert (t[bright] == 1).mean() > 0.9


@pytest.mark.parametrize("settings", [{"scale_range": (2, 1)}, {"scale_range": (0, 1)}, {"angle": -1}])
def test_settings_that_make_no_sense_are_refused(segnet, settings):
    with pytest.raises(ValueRangeError):
        LabelMapTransform(segnet, (8, 8), **settings)


def test_a_prepare_that_changes_the_size_is_told():
    model = DeepLabV3("mobilenet_v3_large", 3, width=0.1, short=32)
    with pytest.raises(ShapeError, match="changes the size"):
        LabelMapTransform(model, (24, 24))(_example(48, 48))
    x, t = LabelMapTransform(model, (32, 32))(_example(48, 48))
    assert x.shape[1:] == t.shape == (32, 32)


def test_examples_are_stretched():
    img, label = ResizeExamples((6, 10))(_example())
    assert img.shape[1:] == label.shape == (6, 10)
    example = _example()
    assert ResizeExamples(None)(example) is example


@pytest.mark.parametrize("kind", ["resnet18", "resnet50", "mobilenet_v3_large"])
def test_a_backbone_takes_all_of_a_classifier_s_file_but_its_last_layers(kind, seeds, shared):
    arrays = seeds.empty_network(shared, kind)
    backbone = DenseBackbone(kind)
    assert backbone.load_arrays(by_our_names(arrays, backbone_names(kind))).is_clean
    assert "imagenet" in backbone_records(kind)
    with pytest.raises(ValueRangeError, match="no such backbone"):
        DenseBackbone("resnet51")
    assert backbone_records("resnet51") == {}
