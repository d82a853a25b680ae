"""What models predict on a made-up GPU: what they predict on the CPU, with one copy of results to the host a batch."""

import copy
import itertools

import numpy as np
import pytest
from host_cuda import thread_order
from host_cuda.module import ORDERS
from neighbour import neighbour
from PIL import Image

from cvzoo.backends.cuda import detection
from cvzoo.errors.exceptions import ImageError, ShapeError
from cvzoo.images.read_image import read_image
from cvzoo.links.model.darknet.detector import DarknetDetector
from cvzoo.links.model.espnet.espnet import ESPNet
from cvzoo.links.model.feature_predictor import FeaturePredictor
from cvzoo.links.model.predict_ten_crops import predict_ten_crops
from cvzoo.links.model.raw_outputs import seeded_page, seeded_photo
from cvzoo.links.model.retinanet.text import retinanet_text

detectors, instances, segmenters, classifiers = (
    neighbour(__file__, name)
    for name in (
        "test_detector_conformance",
        "test_instance_networks",
        "test_segmenter_conformance",
        "test_classifier_conformance",
    )
)

# host's steps lie between the first stage and the second
SEVERAL_COPIES = {"FCIS"}
# a deep network of random weights makes thousands of times more of what resizing and means round
TOLERANCES = {"SSDLite": (2e-3, 1e-2)}  # of scores and of boxes


@pytest.fixture
def machine(fake_gpu):
    with fake_gpu() as machine:
        yield machine


@pytest.fixture
def photos():
    """Of 8 bits; the first two have one size, so that they are one batch."""
    return [seeded_photo(size, seed).astype(np.uint8) for seed, size in enumerate(((60, 90), (60, 90), (75, 50)))]


def predicted_there(model, machine, photos, name, **options):
    """The result on the GPU; each of the batches copied once to the host, at the end."""
    model.to_device("gpu:0")
    model.predict(photos, **options)  # constants go there, filters are folded
    machine.recorder.clear()
    result = model.predict(photos, **options)
    copies = machine.recorder.of("d2h")
    shapes = [model.prepare(photo.astype(np.float32)).shape for photo in photos]
    n_batch = 1 + sum(one != two for one, two in itertools.pairwise(shapes))
    if name not in SEVERAL_COPIES:
        assert len(copies) == n_batch, copies
    return result


def assert_same_boxes(got, want, score_atol=1e-5, box_atol=2e-3):
    """The same objects; where scores are equal to rounding their order may differ."""
    for i, (scores, labels) in enumerate(zip(want.scores, want.labels)):
        assert len(got.scores[i]) == len(scores)
        np.testing.assert_allclose(got.scores[i], scores, rtol=0, atol=score_atol)
        for bb, label, score in zip(got.bboxes[i], got.labels[i], got.scores[i]):
            same = (labels == label) & (np.abs(scores - score) <= score_atol)
            assert same.any()
            assert np.abs(want.bboxes[i][same] - bb).max(axis=1).min() <= box_atol + 3e-5 * np.abs(bb).max()


@pytest.mark.parametrize("name", detectors.MAKERS)
def test_a_detector_finds_the_same_boxes(name, machine, photos):
    model = copy.deepcopy(detectors._made(name))
    detectors.conformance.let_boxes_through(model)
    want = model.predict(photos)
    assert any(map(len, want.scores))
    assert_same_boxes(predicted_there(model, machine, photos, name), want, *TOLERANCES.get(name, (1e-5, 2e-3)))


@pytest.mark.parametrize("name", instances.MODELS)
def test_a_model_of_instances_finds_the_same(name, machine, photos):
    model = copy.deepcopy(instances._made(name))
    instances.conformance.let_instances_through(model)
    want = model.predict(photos)
    assert any(map(len, want.scores))
    got = predicted_there(model, machine, photos, name)
    assert_same_boxes(got, want)
    if name == "KeypointRCNNFPN":
        assert [point.shape for point in got.points] == [point.shape for point in want.points]
    else:
        for i in range(len(photos)):
            assert (got.dense(i).sum(0) == want.dense(i).sum(0)).mean() > 0.995  # a pixel may lie on the threshold


@pytest.mark.parametrize("name", segmenters.SEGMENTERS)
def test_a_segmenter_says_the_same(name, machine, photos):
    model = copy.deepcopy(segmenters._made(name))
    want = model.predict(photos, with_probs=True)
    got = predicted_there(model, machine, photos, name, with_probs=True)
    for one, two, label, other in zip(got.probs, want.probs, got, want):
        np.testing.assert_allclose(one, two, rtol=0, atol=1e-3)
        assert (label == other).mean() > 0.99  # of equals, rounding may choose
        assert label.dtype == np.int32


@pytest.mark.parametrize("name", classifiers.CLASSIFIERS)
def test_a_classifier_says_the_same(name, machine, photos):
    model = copy.deepcopy(classifiers._made(name))
    want = model.predict(photos)
    got = predicted_there(model, machine, photos, name)
    np.testing.assert_allclose(got.probs, want.probs, rtol=0, atol=1e-3)


def test_where_more_boxes_score_than_kernels_look_at_the_host_finds_them(machine, photos, monkeypatch):
    monkeypatch.setattr(detection, "MOST_CANDIDATES", 5)
    for name in ("YOLOv3", "SSD", "FasterRCNNFPN", "FasterRCNNVGG16"):
        model = copy.deepcopy(detectors._made(name))
        detectors.conformance.let_boxes_through(model)
        want = model.predict(photos)
        assert max(map(len, want.scores)) > 5
        model.to_device("gpu:0")
        assert_same_boxes(model.predict(photos), want)
    for name in ("MaskRCNNFPN", "KeypointRCNNFPN"):
        model = copy.deepcopy(instances._made(name))
        instances.conformance.let_instances_through(model)
        want = model.predict(photos)
        assert max(map(len, want.scores)) > 5
        model.to_device("gpu:0")
        assert_same_boxes(model.predict(photos), want)


def test_a_photo_finer_than_eight_bits_stays_so(machine):
    photo = seeded_photo((50, 70), 3) + np.float32(0.37)
    model = copy.deepcopy(detectors._made("RetinaNet"))
    detectors.conformance.let_boxes_through(model)
    want = model.predict([photo.clip(0, 255)])
    model.to_device("gpu:0")
    assert_same_boxes(model.predict([photo.clip(0, 255)]), want)


def test_files_and_grey_photos_are_read_as_on_the_cpu(machine, tmp_path):
    img = seeded_photo((50, 70), 3).astype(np.uint8)
    Image.fromarray(img.transpose(1, 2, 0)).save(tmp_path / "photo.png")
    sources = [tmp_path / "photo.png", img[:1], Image.fromarray(img[0])]
    model = copy.deepcopy(detectors._made("RetinaNet"))
    detectors.conformance.let_boxes_through(model)
    want = model.predict(sources)
    model.to_device("gpu:0")
    assert_same_boxes(model.predict(sources), want)
    each = list(model.predict_each(sources))
    assert [len(found.scores[0]) for found in each] == [len(score) for score in want.scores]


def test_a_model_on_the_second_gpu_predicts_there(fake_gpu, photos):
    with fake_gpu(devices=2) as machine:
        model = copy.deepcopy(detectors._made("RetinaNet"))
        detectors.conformance.let_boxes_through(model)
        want = model.predict(photos)
        model.to_device("gpu:1")
        machine.recorder.clear()
        assert_same_boxes(model.predict(photos), want)
        assert {entry.device for entry in machine.recorder.of("launch")} == {1}


def darknet(shared, folder):
    (cfg,) = (shared / "weights" / folder).glob("*.cfg")
    return DarknetDetector(cfg, cfg.with_suffix(".weights"))


@pytest.mark.parametrize("preset", ["visualize", "evaluate"])
@pytest.mark.parametrize("folder", ["yolo_fastest_coco", "mobilenetv2_yolov3_nano_voc"])
def test_real_weights_find_the_same_in_real_photos(folder, preset, machine, shared):
    model = darknet(shared, folder)
    model.use_preset(preset)
    photos = [read_image(shared / "data" / "photos" / f"{name}.jpg", dtype=np.uint8) for name in ("dog", "horses")]
    want = model.predict(photos)
    assert all(map(len, want.scores))
    assert_same_boxes(predicted_there(model, machine, photos, folder), want, 1e-4)


def test_real_weights_find_the_same_words_on_a_page(machine):
    model = retinanet_text()
    page = seeded_page((200, 150)).astype(np.uint8)
    want = model.predict([page])
    assert len(want.scores[0])
    assert_same_boxes(predicted_there(model, machine, [page], "RetinaNet"), want, 1e-4)


def test_real_weights_name_the_same_pixels(machine, shared):
    model = ESPNet(pretrained_model=shared / "weights" / "espnet_camvid" / "espnet_p_2_q_8_camvid.pth")
    photos = [read_image(shared / "data" / "camvid_sample" / "image.png", dtype=np.uint8)]
    want = model.predict(photos)
    got = predicted_there(model, machine, photos, "ESPNet")
    assert (got[0] == want[0]).mean() > 0.999


@pytest.mark.parametrize("crop", ["center", "10"])
def test_features_are_those_of_the_cpu(machine, photos, crop):
    model = FeaturePredictor(copy.deepcopy(classifiers._made("ResNet")), crop_size=32, scale_size=40, crop=crop)
    model.extractor.pick = ("res2", "fc6")
    want = model.predict(photos)
    model.to_device("gpu:0")
    machine.recorder.clear()
    for one, two in zip(model.predict(photos), want):
        np.testing.assert_allclose(one, two, rtol=0, atol=1e-4)
    assert len(machine.recorder.of("d2h")) == 1


def test_ten_crops_give_the_probabilities_of_the_cpu(machine, photos):
    model = copy.deepcopy(classifiers._made("ResNet"))
    want = predict_ten_crops(model, photos)
    model.to_device("gpu:0")
    np.testing.assert_allclose(predict_ten_crops(model, photos).probs, want.probs, rtol=0, atol=1e-4)


@pytest.mark.parametrize("name", ["ResNet", "RetinaNet"])
def test_the_next_photos_are_read_and_sent_before_results_are_waited_for(name, machine, photos):
    model = copy.deepcopy((classifiers if name == "ResNet" else detectors)._made(name))
    model.to_device("gpu:0")
    model.predict(photos, batch_size=1)
    machine.recorder.clear()
    model.predict(photos[:2], batch_size=1)
    steps = [entry.name for entry in machine.recorder if entry.name.startswith("prepare") or entry.kind == "d2h"]
    assert steps == ["prepare_u8_f32", "prepare_u8_f32", "memcpyAsync", "memcpyAsync"]


@pytest.mark.parametrize("name", ["RetinaNet", "FCOS", "SSD", "YOLOv3", "FasterRCNNFPN"])
def test_no_order_of_threads_changes_a_box(name, machine, photos):
    model = copy.deepcopy(detectors._made(name))
    detectors.conformance.let_boxes_through(model)
    model.to_device("gpu:0")
    seen = set()
    for order in ORDERS:
        with thread_order(order):
            found = model.predict(photos[:1])
        seen.add(tuple(each[0].tobytes() for each in (found.bboxes, found.labels, found.scores)))
    assert len(found.scores[0])
    assert len(seen) == 1


def test_a_source_may_write_the_next_photo_into_the_same_array(machine, photos):
    model = copy.deepcopy(classifiers._made("ResNet"))
    want = model.predict(photos[:2])
    model.to_device("gpu:0")
    frame = np.empty_like(photos[0])

    def camera():
        for photo in photos[:2]:
            frame[...] = photo
            yield frame

    np.testing.assert_allclose(model.predict(camera()).probs, want.probs, rtol=0, atol=1e-4)


@pytest.mark.parametrize("wrong", [np.zeros((3, 0, 5), np.uint8), np.zeros((4, 4, 4), np.uint8)], ids=["empty", "rgba"])
def test_photos_that_the_cpu_refuses_are_refused(machine, wrong):
    model = copy.deepcopy(classifiers._made("ResNet"))
    model.to_device("gpu:0")
    with pytest.raises((ImageError, ShapeError)):
        model.predict([wrong])
    with pytest.raises(ShapeError, match="several"):
        model.predict(np.zeros((3, 8, 8), np.uint8))
