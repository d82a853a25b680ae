import pickle

import numpy as np
import PIL
import pytest
from rendered_documents import RenderedDocuments

from cvzoo.datasets import assert_is_bbox_dataset
from cvzoo.errors.exceptions import ValueRangeError


def test_it_is_a_data_set_like_the_others():
    dataset = RenderedDocuments(6, seed=1, size=500)
    assert len(dataset) == 6
    assert dataset.label_names == ("text",)
    assert_is_bbox_dataset(dataset, 1)


def test_an_example_depends_on_seed_and_index_alone():
    some, all_ = RenderedDocuments(3, seed=5), RenderedDocuments(90, seed=5)
    all_[0]
    for mine, its in zip(some[2][:3], all_[2][:3]):
        np.testing.assert_array_equal(mine, its)
    assert some[2][3] == all_[2][3]
    assert not np.array_equal(some[1][1], some[2][1])
    assert not np.array_equal(RenderedDocuments(3, seed=6)[2][1], some[2][1])


def test_size_is_the_longer_side():
    assert max(RenderedDocuments(1, size=640)[0][0].shape) == 640


@pytest.mark.parametrize(("n", "seed", "size"), [(-1, 0, None), (1, -1, None), (1, 0, 10)])
def test_numbers_out_of_range_are_told(n, seed, size):
    with pytest.raises(ValueRangeError, match="out of range"):
        RenderedDocuments(n, seed, size=size)


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["receipt", "invoice", "form", "page"])
def test_each_kind_keeps_the_rules(kind):
    dataset = RenderedDocuments(8, seed=2, size=400, kinds=(kind,))
    assert_is_bbox_dataset(dataset, 1)
    assert sum(len(bbox) for bbox in dataset.slice[:, "bbox"]) > 40


@pytest.mark.parametrize("kinds", ["receipt", (), ("letter",), ("form", "form")])
def test_unknown_kinds_are_told(kinds):
    with pytest.raises(ValueRangeError, match="kinds"):
        RenderedDocuments(1, kinds=kinds)


def test_another_process_draws_the_same():
    dataset = RenderedDocuments(4, seed=3, size=400)
    again = pickle.loads(pickle.dumps(dataset))
    for mine, its in zip(dataset[3], again[3]):
        np.testing.assert_array_equal(mine, its)


def test_quads_lie_around_their_boxes_parallel_to_the_text():
    dataset = RenderedDocuments(5, seed=4, size=500)
    dataset.keys = ("img", "bbox", "quad")
    for img, bbox, quad in dataset:
        assert quad.shape == (len(bbox), 4, 2)
        assert quad.dtype == np.float32
        low, high = quad.min(axis=1), quad.max(axis=1)
        assert (np.maximum(low, 0) <= bbox[:, :2] + 0.01).all()
        assert (np.minimum(high, img.shape[1:]) >= bbox[:, 2:] - 0.01).all()


@pytest.mark.slow
def test_photos_vary_in_size_and_boxes_do_not_overlap_much():
    dataset = RenderedDocuments(20, seed=7, kinds=("receipt",))
    longs = []
    for img, bbox, *_ in dataset:
        longs.append(max(img.shape))
        if len(bbox):
            height = bbox[:, 2] - bbox[:, 0]
            assert np.median(height) > 3.9
    assert min(longs) < 650
    assert max(longs) > 1000


def test_fonts_can_be_given_and_stand_in_the_fingerprint():
    own = RenderedDocuments(2, seed=1, size=300, fonts=())
    assert own.fingerprint == RenderedDocuments(5, seed=9, fonts=()).fingerprint
    assert len(own.fingerprint) == 64
    assert_is_bbox_dataset(own, 1)


def test_a_file_that_is_no_font_is_told(tmp_path):
    (tmp_path / "no.ttf").write_bytes(b"no font")
    with pytest.raises((OSError, PIL.UnidentifiedImageError)):
        RenderedDocuments(1, fonts=[tmp_path / "no.ttf"])
