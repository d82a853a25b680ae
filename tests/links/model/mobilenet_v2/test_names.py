"""ChainerCV's files of MobileNetV2, which pad as TensorFlow does."""

import numpy as np
import pytest
from zoo_family import family_of

from cvzoo.errors.exceptions import WeightsMismatchError
from cvzoo.links.connection.batch_normalization import BatchNormalization
from cvzoo.links.connection.conv_2d_bn_activ import ConvNormActiv
from cvzoo.links.model.mobilenet_v2.mobilenet_v2 import MobileNetV2
from cvzoo.links.model.mobilenet_v2.weights import chainercv_places

WIDTH = 0.1


def chainercv_file(path, n_class):
    """A file of a narrow network by ChainerCV's names, and the same numbers by ours."""
    ours = MobileNetV2(n_class, arch="tf", width=WIDTH).state_arrays()
    rng = np.random.default_rng(0)
    ours = {name: a if np.ndim(a) == 0 else rng.uniform(0.1, 0.9, a.shape).astype("f") for name, a in ours.items()}
    arrays = {}
    for theirs, place in chainercv_places().items():
        for name, array in ours.items():
            link, _, leaf = name.rpartition("/")
            if link == place:
                arrays[f"{theirs}/{leaf}"] = array[:, :, None, None] if name == "fc/W" else array
    np.savez(path, **arrays)
    return arrays, ours


def test_a_file_of_chainercv_is_taken_whole(tmp_path):
    path = tmp_path / "mobilenet.npz"
    arrays, ours = chainercv_file(path, 1001)
    assert len(arrays) == 314  # as many as the published file has
    assert arrays["expanded_conv_15/depthwise/conv/conv/W"].shape[1:] == (1, 3, 3)
    assert arrays["logits_conv/conv/W"].shape[2:] == (1, 1)
    model = MobileNetV2(pretrained_model=path, arch="tf", width=WIDTH)
    assert model.load_report.is_clean
    assert model.n_class == 1001
    assert model.label_names[:2] == ("background", "tench")
    for name, array in model.state_arrays().items():
        np.testing.assert_array_equal(array, ours[name])
    probs = model.predict([np.zeros((3, 40, 50), np.float32)]).probs
    assert probs.shape == (1, 1001)


def test_published_shapes_are_those_of_the_references():
    model = MobileNetV2(1001, arch="tf")
    arrays = model.state_arrays()
    assert arrays["extractor/blocks/15/depthwise/conv/W"].shape == (960, 1, 3, 3)
    assert arrays["fc/W"].shape == (1001, 1280)
    assert sum(member.weights.source.startswith("TensorFlow") for member in family_of(MobileNetV2).members) == 2


def test_photos_are_seen_as_tensorflow_sees_them():
    x = MobileNetV2(3, arch="tf", width=WIDTH).prepare(np.full((3, 300, 400), 64, np.float32))
    np.testing.assert_allclose(x, (64 - 128) / 128, atol=1e-5)


def test_a_file_of_the_other_arch_is_refused(tmp_path):
    path = tmp_path / "mobilenet.npz"
    chainercv_file(path, 5)
    with pytest.raises(WeightsMismatchError, match="has a different padding"):
        MobileNetV2(pretrained_model=path, width=WIDTH)
    np.savez(path, **{"features.0.0.weight": np.zeros((8, 3, 3, 3), "f")})
    with pytest.raises(WeightsMismatchError, match="has a different padding"):
        MobileNetV2(pretrained_model=path, arch="tf", width=WIDTH)


def test_tensorflow_s_padding_and_eps_are_everywhere():
    extractor = MobileNetV2(3, arch="tf", width=WIDTH).extractor
    strided = [extractor.stem, *(extractor.blocks[i].depthwise for i in (1, 3, 6, 13))]
    assert [link for link in extractor.links() if isinstance(link, ConvNormActiv) and link.pad_end] == strided
    assert {link.eps for link in extractor.links() if isinstance(link, BatchNormalization)} == {1e-3}
    other = MobileNetV2(3, width=WIDTH).extractor
    assert not any(link.pad_end for link in other.links() if isinstance(link, ConvNormActiv))
