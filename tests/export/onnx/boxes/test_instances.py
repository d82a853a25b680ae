"""Files with masks and key points: several photos at once, nothing found, masks that regions vote on."""

import dataclasses
import pathlib

import numpy as np
import pytest
from neighbour import module_at

from cvzoo.export.onnx.agreement import compare_boxes_with_onnxruntime, photo_place
from cvzoo.export.onnx.write import export_onnx
from cvzoo.links.model.fcis.mask_voting import resize_map, rounded
from cvzoo.links.model.mask_rcnn.paste_mask import paste_masks

_TESTS = pathlib.Path(__file__).parents[3]
_INSTANCES = module_at(_TESTS / "links" / "model" / "test_instance_networks.py")
_DETECTORS = module_at(_TESTS / "links" / "model" / "test_detector_conformance.py")


def found_in(open_session, file, model, imgs):
    """Of each photo what the file gives, by name, boxes in the photo's own pixels."""
    x = np.stack([model.prepare(img) for img in imgs])
    places = np.stack([photo_place(model, img.shape[1:], x.shape[2:]) for img in imgs])
    feeds = {"x": x, "photo": places, "photo_size": np.float32([img.shape[1:] for img in imgs])}
    session = open_session(file)
    values = session.run(None, {port.name: feeds[port.name] for port in session.get_inputs()})
    out = dict(zip([port.name for port in session.get_outputs()], values))
    for port, value in zip(session.get_outputs(), values):  # is what the file says of its outputs true?
        assert all(told in (size, "found") for told, size in zip(port.shape, value.shape, strict=True))
    found = []
    for i, (img, place) in enumerate(zip(imgs, places)):
        mine = {name: value[out["photos"] == i] for name, value in out.items()}
        size = np.float32(img.shape[1:])
        scale = size / (place[2:] - place[:2])
        mine["boxes"] = (mine["boxes"] - np.tile(place[:2], 2)) * np.tile(scale, 2)
        if "points" in mine:
            mine["points"] = (mine["points"] - place[:2]) * scale
        found.append(mine)
    return found


def pasted(model, found, size):
    """(K, H, W) bool, by the model's own rules."""
    if "FCIS" not in type(model).__name__:
        how = {"thresh": model.mask_thresh, "how": model.mask_settings.paste}
        return paste_masks(found["masks"], found["boxes"], size, **how).to_masks()
    masks = np.zeros((len(found["masks"]), *size), bool)
    for mask, prob, (top, left, bottom, right) in zip(masks, found["masks"], rounded(found["boxes"], size)):
        mask[top:bottom, left:right] = resize_map(prob, (bottom - top, right - left)) > model.binary_thresh
    return masks


@pytest.fixture
def imgs(photos):
    return [photos[0], np.ascontiguousarray(photos[0][:, :, ::-1])]


@pytest.mark.slow
@pytest.mark.parametrize("name", _INSTANCES.MODELS)
def test_several_photos_at_once(name, imgs, open_session, tmp_path):
    model = _INSTANCES._made(name).copy("copy")
    model.score_thresh, model.limit = 0.01, 30
    if name == "FCIS":  # surer of its masks: so that votes differ
        model.head.cls_seg.W.array = model.head.cls_seg.W.array * 40
    file = tmp_path / "model.onnx"
    exported = export_onnx(file, model, boxes=True)
    assert (exported.batch, exported.size) == (None, None)
    ours = model.predict(imgs)
    for i, found in enumerate(found_in(open_session, file, model, imgs)):
        assert 5 < len(ours.scores[i]) == len(found["scores"])
        np.testing.assert_allclose(found["scores"], ours.scores[i], atol=1e-5)
        np.testing.assert_allclose(found["boxes"], ours.bboxes[i], atol=0.01)
        if "masks" in found:
            expected = ours.masks[i].to_masks()
            assert 0.05 < expected.mean() < 0.95
            assert (pasted(model, found, imgs[i].shape[1:]) != expected).mean() < 1e-5
        else:
            np.testing.assert_allclose(found["points"], ours.points[i], atol=0.01)
    agreement = compare_boxes_with_onnxruntime(file, model, imgs[0])
    assert agreement.ours == agreement.theirs == agreement.same


@pytest.mark.parametrize("name", _INSTANCES.MODELS)
def test_nothing_may_be_found(name, imgs, open_session, tmp_path):
    model = _INSTANCES._made(name).copy("copy")
    model.score_thresh = 1.0
    export_onnx(tmp_path / "model.onnx", model, boxes=True)
    for found in found_in(open_session, tmp_path / "model.onnx", model, imgs):
        shapes = {key: value.shape for key, value in found.items()}
        assert shapes["boxes"] == (0, 4)
        assert shapes.get("masks", (0, 1, 1))[1:] != (0,)
        assert shapes.get("points", (0, 17, 2)) == (0, 17, 2)


@pytest.mark.parametrize("name", ["FasterRCNNVGG16", "LightHeadRCNN", "FCIS"])
def test_nothing_may_be_proposed(name, imgs, open_session, tmp_path):
    suite = _INSTANCES if name == "FCIS" else _DETECTORS
    model = suite._made(name).copy("copy")
    model.score_thresh = 0.001
    model.rpn.proposal_creator = dataclasses.replace(model.rpn.proposal_creator, min_size=10_000)
    export_onnx(tmp_path / "model.onnx", model, boxes=True)
    for found in found_in(open_session, tmp_path / "model.onnx", model, imgs):
        assert found["boxes"].shape == (0, 4)
    assert not any(map(len, model.predict(imgs).scores))
