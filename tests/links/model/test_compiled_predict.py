"""What detectors, segmenters and models of instances predict when they are compiled, on photos of two sizes in turn."""

import numpy as np
import pytest
from neighbour import neighbour

from cvzoo.graph.compiled_graph import CompiledGraph

detectors, instances, segmenters = (
    neighbour(__file__, name)
    for name in ("test_detector_conformance", "test_instance_networks", "test_segmenter_conformance")
)

PHOTOS = ("000000005802.jpg", "000000012448.jpg")  # lying, 640 x 479, and standing, 427 x 640
ROUNDS = 6  # of which two are waited for or recorded
EAGER = {"SegNetBasic": "settings of Upsampling2D"}  # where the maxima were is no array for the functions behind


@pytest.fixture
def photos(shared):
    return [shared / "data" / "tiny_coco" / "train2017" / name for name in PHOTOS]


@pytest.fixture
def replays(monkeypatch):
    """The names of the graphs that were replayed, one for each replay."""
    names = []
    replay = CompiledGraph.__call__

    def counted(self, arrays):
        names.append(self.name)
        return replay(self, arrays)

    monkeypatch.setattr(CompiledGraph, "__call__", counted)
    return names


def assert_compiled_is_eager(model, photos, replays):
    """Boxes to a thousandth of a pixel, scores to 1e-5, as many of the same classes; and graphs are in use."""
    eager = [model.predict([photo]) for photo in photos]
    assert any(len(found.scores[0]) for found in eager)
    model.compile()
    try:
        for _ in range(ROUNDS):
            for photo, want in zip(photos, eager):
                got = model.predict([photo])
                np.testing.assert_array_equal(got.labels[0], want.labels[0])
                np.testing.assert_allclose(got.scores[0], want.scores[0], rtol=0, atol=1e-5)
                # networks of random weights may find boxes of a million pixels, of which one edge is near 0
                extent = np.abs(want.bboxes[0]).max(axis=1, keepdims=True, initial=0)
                assert (np.abs(got.bboxes[0] - want.bboxes[0]) <= 1e-3 + 3e-5 * extent).all()
        assert model.graphs()
        assert len(replays) >= ROUNDS
    finally:
        model.uncompile()


@pytest.mark.slow
@pytest.mark.parametrize("name", detectors.MAKERS)
def test_a_detector_finds_the_same(name, photos, replays):
    model = detectors._made(name)
    detectors.conformance.let_boxes_through(model)
    assert_compiled_is_eager(model, photos, replays)


@pytest.mark.parametrize("name", instances.MODELS)
def test_a_model_of_instances_finds_the_same(name, photos, replays):
    model = instances._made(name)
    instances.conformance.let_instances_through(model)
    assert_compiled_is_eager(model, photos, replays)


@pytest.mark.slow
@pytest.mark.parametrize("name", segmenters.SEGMENTERS)
def test_a_segmenter_says_the_same(name, photos, replays):
    model = segmenters._made(name)
    eager = [model.predict([photo], with_probs=True) for photo in photos]
    model.compile()
    if name in EAGER:
        with pytest.warns(RuntimeWarning, match=EAGER[name]):
            model.predict(photos * 2, batch_size=1)
    try:
        for _ in range(ROUNDS):
            for photo, want in zip(photos, eager):
                got = model.predict([photo], with_probs=True)
                np.testing.assert_allclose(got.probs[0], want.probs[0], rtol=0, atol=1e-5)
                assert (got[0] == want[0]).mean() > 0.999  # of equals, rounding may choose
        assert model.graphs()
        assert len(replays) >= ROUNDS
    finally:
        model.uncompile()


def test_photos_of_many_sizes_leave_the_graphs_as_they_are(replays):
    model = detectors._made("FasterRCNNFPN")
    img = np.random.default_rng(0).integers(0, 256, (3, 64, 96)).astype(np.float32)
    model.compile()
    try:
        for width in range(64, 97, 2):
            model.predict([img, img[:, :, :width]], batch_size=1)
        assert replays.count("RegionNetwork.forward") >= 15
        assert len(model.regions.forward.graphs()) <= 3
    finally:
        model.uncompile()
