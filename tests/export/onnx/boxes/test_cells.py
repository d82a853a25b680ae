"""Pooling of regions in ONNX Runtime against our own functions."""

import io

import numpy as np
import pytest

import cvzoo.functions as F
from cvzoo.export.onnx.boxes.cells import Proposed, max_pooled, maxima_of_samples, means_of_pixels, position_maps
from cvzoo.export.onnx.model_proto import Port, model_message
from cvzoo.export.onnx.onnx_graph import OnnxGraph

H, W, SCALE = 11, 17, 1 / 16


@pytest.fixture
def regions():
    """200 boxes in a photo of 16 H x 16 W, and which of two photos: many on half pixels of the map, and at edges."""
    rng = np.random.default_rng(5)
    corner = rng.uniform(0, 1, (200, 2)) * (16 * H, 16 * W)
    bbox = np.concatenate([corner, corner + rng.exponential(60, (200, 2))], axis=1)
    bbox[::3] = np.round(bbox[::3] / 8) * 8  # halves of the map's pixels
    bbox = np.clip(bbox, 0, (16 * H, 16 * W) * 2).astype(np.float32)
    bbox[:4] = [(0, 0, 16 * H, 16 * W), (16 * H, 16 * W, 16 * H, 16 * W), (0, 0, 0, 0), (8, 24, 40, 56)]
    return bbox, rng.integers(0, 2, 200)


def _run(open_session, x, regions, add):
    g = OnnxGraph()
    shape = tuple([(size, size) for size in x.shape])
    g.record_shape("x", shape)
    made = add(g, "x", Proposed("rois", "photos"))
    inputs = [
        Port("x", "float32", ("b", x.shape[1], "h", "w")),
        Port("rois", "float32", ("r", 4)),
        Port("photos", "int64", ("r",)),
    ]
    output = Port(made, "float32", ("r", "c", "y", "x"))
    message = model_message("t", g.nodes, inputs, [output], g.constants, producer_version="", metadata={})
    file = io.BytesIO()
    message.write_to(file)
    bbox, photos = regions
    (found,) = open_session(file.getvalue()).run(None, {"x": x, "rois": bbox, "photos": photos.astype(np.int64)})
    return found


def test_maxima_of_rounded_regions(open_session, regions, noise):
    x = noise(2, 5, H, W)
    found = _run(open_session, x, regions, lambda g, x, rois: max_pooled(g, x, rois, 7, SCALE))
    expected = F.roi_max_pooling_2d(x, *regions, 7, SCALE, inclusive=True).array
    np.testing.assert_array_equal(found, expected)


def test_greatest_samples_of_cells_by_place(open_session, regions, noise):
    x = np.maximum(noise(2, 3 * 49, H, W), 0)
    add = lambda g, x, rois: maxima_of_samples(g, position_maps(g, x, 7), rois, 7, SCALE)  # noqa: E731
    found = _run(open_session, x, regions, add)
    expected = F.ps_roi_max_align_2d(x, *regions, (3, 7, 7), SCALE, 7, 2).array
    np.testing.assert_allclose(found, expected, atol=1e-5)


@pytest.mark.parametrize(("size", "group"), [(21, 7), (6, 3), (7, 7)])
def test_means_of_pixels_of_cells_by_place(size, group, open_session, regions, noise):
    x = noise(2, 3 * group**2, H, W)
    add = lambda g, x, rois: means_of_pixels(g, position_maps(g, x, group), rois, size, SCALE)  # noqa: E731
    found = _run(open_session, x, regions, add)
    expected = F.ps_roi_average_pooling_2d(x, *regions, (3, size, size), SCALE, group).array
    np.testing.assert_allclose(found, expected, atol=1e-6)


def test_no_regions_are_no_cells(open_session, noise):
    none = np.zeros((0, 4), np.float32), np.zeros(0, int)
    found = _run(open_session, noise(1, 5, H, W), none, lambda g, x, rois: max_pooled(g, x, rois, 7, SCALE))
    assert found.shape == (0, 5, 7, 7)
