"""Files with boxes find in real photos what the detectors find."""

import dataclasses
import itertools
import pathlib

import numpy as np
import pytest
from neighbour import module_at

from cvzoo.config.randomness import set_seed
from cvzoo.export.onnx.agreement import image_extent
from cvzoo.export.onnx.write import export_onnx
from cvzoo.geometry.bbox_iou import bbox_iou
from cvzoo.images.read_image import read_image
from cvzoo.links.model.darknet.detector import DarknetDetector
from cvzoo.links.model.faster_rcnn_fpn.faster_rcnn_fpn import FasterRCNNFPN
from cvzoo.links.model.retinanet.text import retinanet_text
from cvzoo.links.model.ultra_light_face.ultra_light_face import UltraLightFace
from cvzoo.links.model.yolo.yolo_v2 import YOLOv2

ROOT = pathlib.Path(__file__).parents[4]
_SUITE = module_at(ROOT / "tests" / "links" / "model" / "test_detector_conformance.py")


def found_in_onnx(open_session, file, model, imgs):
    """(bbox, label, score) of each photo, in its own pixels; all photos go through the file at once."""
    x = np.stack([model.prepare(img) for img in imgs])
    places = np.stack([image_extent(model, img.shape[1:], x.shape[2:]) for img in imgs])
    session = open_session(file)
    feeds = {"x": x, "photo": places, "photo_size": np.float32([img.shape[1:] for img in imgs])}
    boxes, scores, labels, photos = session.run(None, {each.name: feeds[each.name] for each in session.get_inputs()})
    found = []
    for i, img in enumerate(imgs):
        mine = photos == i
        offset, part = places[i, :2], places[i, 2:] - places[i, :2]
        in_photo = (boxes[mine] - np.tile(offset, 2)) * np.tile(np.array(img.shape[1:]) / part, 2)
        found.append((in_photo, labels[mine], scores[mine]))
    return found


def check_same(ours, theirs, *, slack=0):
    """All but `slack` boxes of each are in the other, with their labels and scores."""
    for (a, a_label, a_score), (b, b_label, b_score) in ((ours, theirs), (theirs, ours)):
        same = (bbox_iou(a.astype(np.float32), b.astype(np.float32)) > 0.99) & (a_label[:, None] == b_label)
        same &= abs(a_score[:, None] - b_score) < 1e-4
        assert (~same.any(axis=1)).sum() <= slack


def check_file(open_session, model, imgs, file, *, slack=0, size=None):
    """The file finds the same in all photos; those of one prepared size that follow each other go through together."""
    exported = export_onnx(file, model, boxes=True, size=size)
    predicted = model.predict(imgs)
    found, count = [], 0
    for _, together in itertools.groupby(imgs, lambda img: model.prepare(img).shape):
        found += found_in_onnx(open_session, file, model, list(together))
    for bbox, label, score, theirs in zip(*predicted, found):
        check_same((bbox, label, score), theirs, slack=slack)
        assert (np.diff(theirs[2]) <= 0).all(), "best first"
        count += len(bbox)
    return exported, count


# default boxes for one size
ONE_SIZE = {"SSD", "SSDLite"}


@pytest.mark.slow
@pytest.mark.parametrize("name", sorted(_SUITE.MAKERS))
def test_a_narrow_detector_finds_the_same(name, photos, open_session, tmp_path):
    model = _SUITE._made(name).copy("copy")
    model.score_thresh, model.nms_thresh, model.limit = 0.002, 0.45, 50
    mirrored = np.ascontiguousarray(photos[0][:, :, ::-1])
    file = tmp_path / "model.onnx"
    for imgs, size in (([photos[0], mirrored, *photos[1:]], None), ([photos[0], mirrored], "its own")):
        size = size and model.prepare(imgs[0]).shape[1:]
        # numbers drawn at random make boxes thinner than a rounding error, too
        exported, count = check_file(open_session, model, imgs, file, slack=2, size=size)
        assert count
        assert exported.batch is None
        assert (exported.size is None) == (size is None and name not in ONE_SIZE)


# how published detectors on a pyramid differ from each other
PYRAMIDS = {
    "as detectron2": {"anchor_style": "detectron2", "sampling_ratio": None, "roi_aligned": True, "antialias": True},
    "as chainercv": {"anchor_style": "chainercv", "arch": "he", "norm": "frozen", "sampling_ratio": 2},
    "deep heads": {"fpn_norm": "batch", "rpn_depth": 2, "head_convs": 1, "head_fcs": 1},
    "few proposals": {"n_proposal": 5, "rpn_score_thresh": 0.05},
    "on a MobileNet": {"backbone": "mobilenet_v3_large", "width": 0.25, "anchor_sizes": ((16, 32, 64),) * 3},
}


@pytest.mark.slow
@pytest.mark.parametrize("how", PYRAMIDS)
def test_detectors_on_pyramids_of_all_kinds_find_the_same(how, photos, open_session, tmp_path):
    set_seed(2)
    settings = dataclasses.replace(_SUITE.FPN, **PYRAMIDS[how])
    model = _SUITE.network.settle_norms(FasterRCNNFPN(4, settings=settings), _SUITE.LOSSES["FasterRCNNFPN"])
    conf = model.regions.box_head.conf
    conf.W.array = conf.W.array * 0.1  # less sure: on maps of two by three places rounding is not small
    model.score_thresh, model.limit = 0.002, 50
    exported, count = check_file(open_session, model, photos[:2], tmp_path / "model.onnx", slack=2)
    assert count
    assert exported.size is None


def test_a_region_head_with_shared_classes_finds_the_same(photos, open_session, tmp_path):
    set_seed(3)
    model = YOLOv2(4, insize=96, base_channels=2)
    model.score_thresh, model.limit = 0.002, 50
    exported, count = check_file(open_session, model, photos[:2], tmp_path / "model.onnx", slack=2)
    assert count
    assert exported.size_step == 32


def _darknet(shared, folder, stem, names):
    path = shared / "weights" / folder
    return DarknetDetector(path / f"{stem}.cfg", path / f"{stem}.weights", label_names=path / names)


@pytest.mark.parametrize("preset", ["visualize", "evaluate"])
def test_yolo_fastest_finds_the_same(preset, shared, photos, open_session, tmp_path):
    model = _darknet(shared, "yolo_fastest_coco", "yolo-fastest-1.1", "coco.names")
    model.use_preset(preset)
    assert check_file(open_session, model, photos, tmp_path / "model.onnx")[1] > 5


def test_faces_are_found(shared, open_session, tmp_path):
    model = UltraLightFace(shared / "weights" / "ultralight_face_rfb320" / "version-RFB-320.pth")
    imgs = [read_image(shared / "data" / "photos" / f"faces_{i}.jpg") for i in (1, 13)]
    assert check_file(open_session, model, imgs, tmp_path / "model.onnx")[1] > 5


@pytest.mark.slow
def test_text_is_found_on_a_receipt(open_session, tmp_path):
    receipt = read_image(ROOT / "examples" / "receipt.png")
    model = retinanet_text()
    model.use_preset("evaluate")
    assert check_file(open_session, model, [receipt], tmp_path / "model.onnx")[1] > 20


@pytest.mark.slow
def test_nothing_is_found_on_a_blank_sheet(open_session, tmp_path):
    blank = np.full((3, 300, 200), 250, np.float32)
    assert check_file(open_session, retinanet_text(), [blank, blank], tmp_path / "model.onnx")[1] == 0
