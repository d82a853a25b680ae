"""The losses of regions against plain loops, and where there is nothing to learn from."""

import numpy as np
import pytest

from cvzoo.autodiff.variable import Variable
from cvzoo.config.switches import using_config
from cvzoo.links.model.faster_rcnn.faster_rcnn_vgg16 import FasterRCNNVGG16
from cvzoo.links.model.faster_rcnn.region_proposal_network import ProposalCreator
from cvzoo.links.model.faster_rcnn.targets import AnchorTargetCreator
from cvzoo.links.model.faster_rcnn.train_chain import FasterRCNNTrainChain, loc_loss, picked_locs, rpn_losses
from cvzoo.links.model.fcis.fcis_resnet101 import FCISResNet101
from cvzoo.links.model.fcis.train_chain import FCISTrainChain
from cvzoo.links.model.light_head_rcnn.light_head_rcnn_resnet101 import LightHeadRCNNResNet101
from cvzoo.links.model.light_head_rcnn.train_chain import LightHeadRCNNTrainChain

SMALL = {"min_size": 64, "max_size": 96, "proposal_creator": ProposalCreator(min_size=1e6)}  # no region is so large
NETWORKS = {
    "FasterRCNN": lambda: FasterRCNNTrainChain(
        FasterRCNNVGG16(3, base_channels=4, rpn_channels=4, fc_channels=8, **SMALL)
    ),
    "LightHeadRCNN": lambda: LightHeadRCNNTrainChain(
        LightHeadRCNNResNet101(3, n_layer=10, base_channels=4, rpn_channels=4, mid_channels=4, fc_channels=8, **SMALL)
    ),
    "FCIS": lambda: FCISTrainChain(
        FCISResNet101(3, n_layer=10, base_channels=4, rpn_channels=4, mid_channels=4, roi_size=6, group_size=3, **SMALL)
    ),
}


def test_offsets_of_objects_count_and_all_that_is_learned_from_divides():
    rng = np.random.default_rng(0)
    loc, gt_loc = rng.normal(size=(5, 4)).astype("f"), rng.normal(size=(5, 4)).astype("f")
    label, sigma = np.array([1, 0, -1, 3, 0]), 2.0
    total = 0.0
    for r in (0, 3):
        for d in np.abs(loc[r] - gt_loc[r]).tolist():
            total += d * d * sigma**2 / 2 if d < 1 / sigma**2 else d - 0.5 / sigma**2
    np.testing.assert_allclose(loc_loss(Variable(loc), gt_loc, label, sigma).array, total / 4, rtol=1e-5)


def test_of_each_region_the_offsets_of_its_class_are_picked():
    locs = np.arange(24, dtype="f").reshape(2, 12)
    np.testing.assert_array_equal(
        picked_locs(Variable(locs), np.array([2, 0])).array, [[8, 9, 10, 11], [12, 13, 14, 15]]
    )


def test_a_batch_s_anchors_are_learned_together():
    rng = np.random.default_rng(1)
    anchor = np.array([[0, 0, 10, 10], [5, 5, 25, 25], [20, 20, 60, 60]], "f")
    bboxes = [np.array([[1, 1, 11, 11]], "f"), np.array([[4, 4, 26, 26]], "f")]
    locs, scores = rng.normal(size=(2, 3, 4)).astype("f"), rng.normal(size=(2, 3, 2)).astype("f")
    # the third anchor sticks out of the second photo
    got = rpn_losses(Variable(locs), Variable(scores), anchor, bboxes, [(64, 64), (30, 30)], AnchorTargetCreator(), 3.0)
    label = np.array([[1, 0, 0], [0, 1, -1]])
    log_p = scores - np.log(np.exp(scores).sum(axis=2, keepdims=True))
    picked = [log_p[i, j, label[i, j]] for i, j in np.ndindex(2, 3) if label[i, j] >= 0]
    np.testing.assert_allclose(got[1].array, -np.mean(picked), rtol=1e-5)
    assert got[0].array > 0


@pytest.mark.parametrize("backend", ["numpy", "auto"])
@pytest.mark.parametrize("name", NETWORKS)
def test_a_photo_without_objects_and_regions_can_be_learned_from_and_predicted(name, backend):
    with using_config("backend", backend):
        chain = NETWORKS[name]()
        (model,) = chain.children()
        img = np.random.default_rng(0).integers(0, 255, (3, 60, 80)).astype("f")
        x = model.prepare(img)[None]
        empty = np.zeros((0, *x.shape[2:]), bool) if name == "FCIS" else np.zeros((0, 4), "f")
        loss = chain(x, [empty], [np.zeros(0, "i")])
        loss.backward()
        assert np.isfinite(loss.array)
        _, labels, _ = model.predict([img])
        assert labels[0].shape == (0,)
