"""UltraLightFace: priors, decoding, and the published weights."""

import hashlib

import numpy as np
import pytest

from cvzoo.config.switches import no_backprop_mode, using_config
from cvzoo.errors.exceptions import ValueRangeError, WeightsMismatchError
from cvzoo.geometry.bbox_iou import bbox_iou
from cvzoo.images.read_image import read_image
from cvzoo.links.model.caffe.caffe_function import CaffeFunction
from cvzoo.links.model.ultra_light_face.ultra_light_face import UltraLightFace, face_priors
from cvzoo.links.model.ultra_light_face.weights import WEIGHTS
from cvzoo.serializers import save_npz


@pytest.fixture(scope="module")
def folder(shared):
    return shared / "weights" / "ultralight_face_rfb320"


@pytest.fixture(scope="module")
def model(folder):
    return UltraLightFace(folder / "version-RFB-320.pth")


@pytest.fixture(scope="module")
def expected(shared):
    with np.load(shared / "weights" / "expected" / "ultralight_face_rfb320.npz") as arrays:
        return dict(arrays)


def net_input(expected, name):
    return (expected[f"{name}_u8"].astype(np.float32).transpose(2, 0, 1)[None] - 127) / 128


def test_there_are_4420_priors_in_the_published_order():
    priors = face_priors((240, 320))
    assert priors.shape == (4420, 4)
    assert priors.dtype == np.float32
    # 40 x 30 cells of 3 priors, 20 x 15 and 10 x 8 of 2, 5 x 4 of 3
    starts = np.cumsum([0, 3600, 600, 160])
    for start, cell, side in zip(starts, ((30, 40), (15, 20), (8, 10), (4, 5)), (10, 32, 64, 128)):
        box = priors[start] * [240, 320, 240, 320]
        center = (240 / cell[0] / 2, 320 / cell[1] / 2)
        np.testing.assert_allclose((box[:2] + box[2:]) / 2, center, rtol=1e-5)
        np.testing.assert_allclose(box[2:] - box[:2], side, rtol=1e-5)
    one_to_the_right = priors[3] - priors[0]
    np.testing.assert_allclose(one_to_the_right, [0, 1 / 40, 0, 1 / 40], atol=1e-7)


def test_sides_of_priors_are_cut_to_the_photo():
    last = face_priors((240, 320))[-1] * [240, 320, 240, 320]
    np.testing.assert_allclose(last[2:] - last[:2], [240, 256], rtol=1e-6)


def test_decoding_moves_and_grows_the_prior():
    net, row = UltraLightFace(), 1000
    score, offset = np.zeros((4420, 2), np.float32), np.zeros((4420, 4), np.float32)
    score[row, 1], offset[row] = 0.9, [1, -2, np.log(2) / 0.2, 0]  # dx dy dw dh
    top, left, bottom, right = face_priors((240, 320))[row] * [100, 200, 100, 200]
    height, width = bottom - top, right - left
    # 0.1 of a width to the right, 0.2 of a height up, twice as wide
    want = [top - 0.2 * height, left - 0.4 * width, bottom - 0.2 * height, right + 0.6 * width]
    bbox, label, _ = net.decode((score, offset), (100, 200))
    np.testing.assert_allclose(bbox, [want], rtol=1e-5)
    assert label.tolist() == [0]


@pytest.mark.parametrize("variant", list(WEIGHTS))
def test_both_variants_give_a_row_for_each_prior(variant):
    net = UltraLightFace(variant=variant)
    assert 250_000 < net.count_params() < 300_000
    with using_config("train", False), no_backprop_mode():
        scores, offsets = net(np.zeros((2, 3, 240, 320), np.float32))
    assert (scores.shape, offsets.shape) == ((2, 4420, 2), (2, 4420, 4))
    np.testing.assert_allclose(scores.array.sum(2), 1, rtol=1e-5)


def test_another_variant_and_unknown_weights_are_refused():
    with pytest.raises(ValueRangeError, match="slim_320"):
        UltraLightFace(variant="fat_320")
    with pytest.raises(ValueRangeError, match="wider_face"):
        UltraLightFace("wider")


def test_a_photo_with_nothing_in_it_gives_empty_arrays():
    net = UltraLightFace(variant="slim_320")
    net.score_thresh = 1.0
    bboxes, labels, scores = net.predict([np.zeros((3, 50, 60), np.float32)])
    assert (bboxes[0].shape, labels[0].shape, scores[0].shape) == ((0, 4), (0,), (0,))


def test_records_point_at_one_commit():
    for records in WEIGHTS.values():
        assert "/dffdddda9794a50607cba8f318507a28c1c27cab/" in records["wider_face"].url


def test_a_file_of_its_own_comes_back(tmp_path):
    net = UltraLightFace(variant="slim_320")
    save_npz(tmp_path / "net.npz", net)
    twin = UltraLightFace(tmp_path / "net.npz", "slim_320")
    np.testing.assert_array_equal(twin.extra[0].conv.W.array, net.extra[0].conv.W.array)


def test_the_record_is_that_of_the_file(folder):
    record = WEIGHTS["rfb_320"]["wider_face"]
    data = (folder / "version-RFB-320.pth").read_bytes()
    assert (record.size, record.sha256) == (len(data), hashlib.sha256(data).hexdigest())


def test_weights_of_the_other_variant_are_refused(folder):
    with pytest.raises(WeightsMismatchError, match="branch0"):
        UltraLightFace(folder / "version-RFB-320.pth", "slim_320")


@pytest.mark.parametrize("name", ["img1", "img13"])
def test_the_published_network_gives_the_scores_and_boxes_that_it_should(model, expected, name):
    with using_config("train", False), no_backprop_mode():
        scores, offsets = model(net_input(expected, name))
    np.testing.assert_allclose(scores.array[0], expected[f"{name}_scores"], atol=1e-5)
    np.testing.assert_allclose(offsets.array[0], expected[f"{name}_boxes"], atol=1e-4)


def test_the_caffemodel_finds_the_same_faces(model, folder, expected):
    func = CaffeFunction(folder / "RFB-320.caffemodel", folder / "RFB-320.prototxt")
    x = net_input(expected, "img1")
    with using_config("train", False), no_backprop_mode():
        theirs = func(inputs={"input": x}, outputs=["scores", "boxes"])
        ours = model(x)
    found = [model.decode(tuple(y.array[0] for y in ys), (480, 640)) for ys in (theirs, ours)]
    assert len(found[0][0]) == len(found[1][0]) > 90
    for a, b in zip(*found):
        np.testing.assert_allclose(a, b, rtol=1e-4, atol=1e-2)


def test_it_finds_the_faces_in_the_group_photo(model, shared):
    photos = shared / "data" / "photos"
    bboxes, labels, scores = model.predict([photos / "faces_1.jpg", photos / "faces_13.jpg", photos / "dog.jpg"])
    assert 45 <= len(bboxes[0]) <= 50  # 51 persons, some half hidden
    assert len(bboxes[1]) == 2
    assert len(bboxes[2]) == 0
    assert all((label == 0).all() for label in labels)
    # the two men who shake hands, measured by eye
    men = np.array([[17, 89, 104, 155], [82, 301, 171, 363]], np.float32)
    order = bboxes[1][:, 1].argsort()
    assert (np.diag(bbox_iou(bboxes[1][order], men)) > 0.8).all()
    assert scores[1].min() > 0.99


def test_a_photo_turned_into_an_array_gives_the_same(model, shared):
    path = shared / "data" / "photos" / "faces_13.jpg"
    a, b = model.predict([path]), model.predict([read_image(path)])
    np.testing.assert_array_equal(a.bboxes[0], b.bboxes[0])
