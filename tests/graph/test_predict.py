"""`predict` of compiled models: the same results, through the loops as they are."""

import numpy as np
import pytest

import cvzoo.links as L

RNG = np.random.default_rng(0)
SMALL, WIDE = (RNG.uniform(0, 255, (3, *size)).astype(np.float32) for size in ((60, 80), (50, 120)))


def arrays(results):
    return [np.asarray(each) for part in results for each in part]


def same(a, b):
    assert len(a) == len(b)
    for one, other in zip(a, b):
        np.testing.assert_allclose(one, other, rtol=1e-4, atol=1e-4)


def test_a_detector_of_one_stage_is_replayed_with_photos_of_several_sizes(shared):
    folder = shared / "weights" / "yolo_fastest_coco"
    model = L.DarknetDetector(folder / "yolo-fastest-1.1.cfg", folder / "yolo-fastest-1.1.weights")
    model.score_thresh = 0.05
    photos = [SMALL, WIDE, *sorted((shared / "data" / "tiny_coco" / "train2017").glob("*.jpg"))[:2]]
    expected = arrays(model.predict(photos, batch_size=1))
    model.compile()
    for _ in range(3):
        same(arrays(model.predict(photos, batch_size=1)), expected)
    (graph,) = model.graphs()
    assert graph.program.n_function == 0


def test_a_detector_of_two_stages_is_replayed_up_to_the_regions_and_behind_them():
    np.random.seed(0)
    model = L.FasterRCNNFPNMobileNetV3Large320(n_fg_class=3)
    model.score_thresh = 0.02
    expected = arrays(model.predict([SMALL]))
    model.compile()
    for _ in range(3):
        same(arrays(model.predict([SMALL])), expected)
    assert {graph.name for graph in model.graphs()} >= {"RegionNetwork.forward", "FPNRegionProposalNetwork.forward"}


@pytest.mark.parametrize(("make", "name"), [(lambda: L.ResNet50(n_class=4), "ResNet.scores")])
def test_a_classifier_is_replayed_through_its_scores(make, name):
    model = make()
    expected = model.predict([SMALL, SMALL], batch_size=1)
    model.compile()
    for _ in range(3):
        np.testing.assert_array_equal(model.predict([SMALL, SMALL], batch_size=1), expected)
    assert [graph.name for graph in model.graphs()] == [name]


def test_a_segmenter_is_replayed_through_its_coarse_scores(shared):
    model = L.ESPNet(pretrained_model=shared / "weights" / "espnet_camvid" / "espnet_p_2_q_8_camvid.pth")
    (expected,) = model.predict([SMALL])
    model.compile()
    for _ in range(3):
        (label,) = model.predict([SMALL])
        assert (label == expected).mean() > 0.999
    assert [graph.name for graph in model.graphs()] == ["ESPNet.coarse_scores"]


def test_a_model_of_fewer_bits_is_replayed():
    photos = [SMALL, WIDE]
    model = L.ResNet18(n_class=4).quantize(photos)
    expected = model.predict(photos)
    model.compile()
    for _ in range(3):
        np.testing.assert_array_equal(model.predict(photos), expected)
