"""What the training scripts of segmenters read."""

import numpy as np
import pytest
from PIL import Image

from cvzoo.datasets.label_map_splits import label_map_splits
from cvzoo.datasets.median_frequency_weights import median_frequency_weights
from cvzoo.errors.exceptions import ConfigError, DatasetError


def test_camvid_is_read_from_a_folder(tmp_path):
    Image.new("RGB", (6, 4)).save(tmp_path / "a.png")
    Image.fromarray(np.full((4, 6), 11, np.uint8)).save(tmp_path / "b.png")
    for split, n in (("train", 2), ("val", 1)):
        (tmp_path / f"{split}.txt").write_text("/SegNet/CamVid/a.png /SegNet/CamVid/b.png\n" * n)
    train, val, label_names = label_map_splits(f"camvid:{tmp_path}")
    assert (len(train), len(val), len(label_names)) == (2, 1, 11)
    img, label = val[0]
    assert img.shape == (3, 4, 6)
    assert (label == -1).all()


def test_a_word_that_names_no_data_is_refused(tmp_path):
    with pytest.raises(ConfigError, match="camvid"):
        label_map_splits("mars:here")
    for kind in ("cityscapes", "voc", "ade20k"):
        with pytest.raises(DatasetError):
            label_map_splits(f"{kind}:{tmp_path}")


def test_rare_classes_weigh_more_than_common_ones():
    first = np.array([[0, 0, 0, 1], [0, 0, 0, -1]], np.int32)
    second = np.array([[0, 0], [2, 2]], np.int32)
    # shares where shown: 8 of 12, 1 of 8, 2 of 4; their median is 0.5
    weights = median_frequency_weights([first, second], 4)
    np.testing.assert_allclose(weights, [0.5 * 12 / 8, 0.5 * 8, 1, 0], rtol=1e-6)
    assert weights.dtype == np.float32
    with pytest.raises(DatasetError, match="no label map"):
        median_frequency_weights([np.full((2, 2), -1, np.int32)], 3)
