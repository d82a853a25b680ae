"""FCIS: names of ChainerCV's files, its head and mask voting by plain loops, training, photos in and masks out."""

import numpy as np
import pytest
from few_steps import losses_of_steps
from zoo_family import family_of

from cvzoo.config.randomness import set_seed
from cvzoo.config.switches import no_backprop_mode, using_config
from cvzoo.errors.exceptions import ShapeError, WeightsMismatchError
from cvzoo.functions.array.resize_images import resize_images
from cvzoo.geometry.bbox_iou import bbox_iou
from cvzoo.labels.coco import coco_bbox_label_names
from cvzoo.labels.voc import voc_bbox_label_names
from cvzoo.links.model.faster_rcnn.region_proposal_network import ProposalCreator
from cvzoo.links.model.faster_rcnn.targets import ProposalTargetCreator, loc2bbox
from cvzoo.links.model.fcis import mask_voting as mask_voting_module
from cvzoo.links.model.fcis.fcis_resnet101 import FCISResNet101
from cvzoo.links.model.fcis.head import FCISResNet101Head
from cvzoo.links.model.fcis.mask_voting import mask_voting
from cvzoo.links.model.fcis.train_chain import FCISTrainChain
from cvzoo.optimizers.adam import Adam
from cvzoo.weights.formats.npz import write_npz

NARROW = {"n_layer": 50, "base_channels": 4, "rpn_channels": 8, "mid_channels": 6}


def tiny(n_fg_class=3, **settings):
    set_seed(2)
    creator = ProposalCreator(min_size=4, n_train_post_nms=60, n_test_post_nms=30)
    small = {"min_size": 64, "max_size": 120, "anchor_scales": (1, 2, 4), "proposal_creator": creator}
    narrow = NARROW | {"n_layer": 10, "roi_size": 6, "group_size": 3}
    return FCISResNet101(n_fg_class, **(narrow | small | settings))


def photo(height=60, width=90, seed=0):
    return np.random.default_rng(seed).integers(0, 255, (3, height, width)).astype(np.float32)


def with_chainercv_blocks(name):
    """Our name of a ResNet's array as ChainerCV spells it."""
    parts = name.split("/")
    if len(parts) > 2 and parts[0] == "extractor" and parts[1].startswith("res"):
        parts[2] = "a" if parts[2] == "0" else f"b{parts[2]}"
        parts[3] = parts[3].replace("shortcut", "residual_conv")
    return "/".join(parts)


def test_a_file_of_chainercv_loads_and_says_what_the_classes_are(tmp_path):
    model = FCISResNet101(80, **NARROW)
    assert model.anchor_scales == (4, 8, 16, 32)
    shapes = {name: np.shape(array) for name, array in model.state_arrays().items()}
    assert shapes["head/conv1/W"] == (6, 128, 1, 1)
    assert shapes["head/cls_seg/W"] == (7 * 7 * 81 * 2, 6, 1, 1)
    assert shapes["head/ag_loc/b"] == (7 * 7 * 8,)
    assert shapes["rpn/loc/b"] == (4 * 12,)
    rng = np.random.default_rng(0)
    arrays = {with_chainercv_blocks(name): rng.random(shape, "float32") for name, shape in shapes.items() if shape}
    arrays |= {with_chainercv_blocks(name): np.array(1) for name, shape in shapes.items() if not shape}
    assert "extractor/res4/b5/conv3/bn/avg_var" in arrays
    assert "extractor/res2/a/residual_conv/conv/W" in arrays
    path = tmp_path / "coco.npz"
    write_npz(path, arrays)
    again = FCISResNet101(pretrained_model=path, **NARROW)
    assert again.label_names == coco_bbox_label_names
    for name, array in again.state_arrays().items():
        np.testing.assert_array_equal(array, arrays[with_chainercv_blocks(name)])
    with pytest.warns(UserWarning, match="head/cls_seg/W"):
        other = FCISResNet101(2, path, **NARROW)
    assert set(other.load_report.mismatching) == {"head/cls_seg/W", "head/cls_seg/b"}
    with pytest.raises(WeightsMismatchError):
        FCISResNet101(pretrained_model=path, **NARROW | {"base_channels": 8})
    assert FCISResNet101(**NARROW).label_names == voc_bbox_label_names


def test_the_head_reads_classes_masks_and_offsets_off_its_maps_by_place():
    set_seed(0)
    n_class, size, group = 3, 4, 2
    head = FCISResNet101Head(n_class, size, group, 1 / 4, in_channels=5, mid_channels=6)
    for link in (head.conv1, head.cls_seg, head.ag_loc):
        link.W.array = link.W.array * 40
    x = np.random.default_rng(0).normal(size=(2, 5, 9, 11)).astype("f")
    rois, indices = np.array([[4, 4, 20, 28], [0, 0, 36, 20]], "f"), np.array([1, 0], "i")
    h = np.maximum(head.conv1(x).array, 0)
    seg_map, loc_map = head.cls_seg(h).array, head.ag_loc(h).array

    def cells(maps, channel, roi):
        out = np.zeros((size, size))
        for y, x_ in np.ndindex(size, size):
            c = (channel * group + y * group // size) * group + x_ * group // size
            step = (roi[2:] - roi[:2]) / 4 / size
            low = np.floor((y, x_) * step + roi[:2] / 4).astype(int)
            high = np.ceil(np.add((y, x_), 1) * step + roi[:2] / 4).astype(int)
            out[y, x_] = maps[c, low[0] : high[0], low[1] : high[1]].mean()
        return out

    out = head(x, rois, indices, (36, 44), iter2=False)
    for r, (roi, i) in enumerate(zip(rois, indices)):
        seg = np.array([[cells(seg_map[i], 2 * c + k, roi) for k in (0, 1)] for c in range(n_class)])
        scores = seg.max(axis=1).mean(axis=(1, 2))
        np.testing.assert_allclose(out.cls_scores.array[r], scores, atol=1e-4)
        np.testing.assert_allclose(out.seg_scores.array[r], seg[scores.argmax()], atol=1e-4)
        loc = np.array([cells(loc_map[i], k, roi).mean() for k in range(8)]).reshape(2, 4)
        np.testing.assert_allclose(out.ag_locs.array[r], loc, atol=1e-4)
    given = head(x, rois, indices, (36, 44), np.array([0, 2]), iter2=False)
    seg = np.array([cells(seg_map[0], 4 + k, rois[1]) for k in (0, 1)])
    np.testing.assert_allclose(given.seg_scores.array[1], seg, atol=1e-4)

    twice = head(x, rois, indices, (36, 44))
    moved = loc2bbox(rois, out.ag_locs.array[:, 1] * np.array([0.2, 0.2, 0.5, 0.5], "f"))
    np.testing.assert_allclose(twice.rois[:2], rois)
    np.testing.assert_allclose(twice.rois[2:], np.clip(moved, 0, (36, 44, 36, 44)), rtol=1e-5)
    np.testing.assert_array_equal(twice.roi_indices, [1, 0, 1, 0])
    np.testing.assert_allclose(twice.cls_scores.array[:2], out.cls_scores.array, atol=1e-5)


def voted_slowly(prob, bbox, cls_prob, size, score_thresh, nms_thresh, merge, binary, limit):
    """The definition, with photo-sized masks."""

    def at(plane, h, w):
        return resize_images(plane[None, None].astype("f"), (h, w), align_corners=False).array[0, 0]

    kept = []
    for label in range(1, cls_prob.shape[1]):
        left = sorted(np.flatnonzero(cls_prob[:, label] > score_thresh), key=lambda r: -cls_prob[r, label])
        while left:
            first, *left = left
            kept.append((first, label))
            left = [r for r in left if bbox_iou(bbox[[first]], bbox[[r]])[0, 0] <= nms_thresh]
    kept = sorted(kept, key=lambda each: -cls_prob[each])[:limit]
    found = []
    for r, label in kept:
        near = [k for k in range(len(bbox)) if bbox_iou(bbox[[r]], bbox[[k]])[0, 0] >= merge]
        votes = np.zeros(size, "f")
        for k in near:
            top, left, bottom, right = np.round(bbox[k]).astype(int)
            if bottom > top and right > left:
                mask = at(prob[k], bottom - top, right - left) >= binary
                votes[top:bottom, left:right] += mask * (cls_prob[k, label] / sum(cls_prob[n, label] for n in near))
        rows, columns = np.nonzero(votes >= binary)
        if len(rows):
            box = rows.min(), columns.min(), rows.max() + 1, columns.max() + 1
            part = votes[box[0] : box[2], box[1] : box[3]]
            found.append((np.clip(at(part, *prob.shape[1:]), 0, 1), box, label - 1, cls_prob[r, label]))
    return found


@pytest.mark.parametrize("kept", [0, 1 << 26])
def test_mask_voting_is_the_definition_step_by_step(kept, monkeypatch):
    monkeypatch.setattr(mask_voting_module, "_KEPT", kept)
    rng = np.random.default_rng(0)
    corner = rng.uniform(0, 25, (24, 2))
    bbox = np.concatenate([corner, corner + rng.uniform(8, 25, (24, 2))], axis=1).clip(0, (40, 50, 40, 50)).astype("f")
    prob = rng.random((24, 5, 5)).astype("f")
    cls_prob = rng.dirichlet(np.ones(4), 24).astype("f")
    voted = mask_voting(
        prob, bbox, cls_prob, (40, 50), score_thresh=0.2, nms_thresh=0.3, mask_merge_thresh=0.4, limit=9
    )
    wanted = voted_slowly(prob, bbox, cls_prob, (40, 50), 0.2, 0.3, 0.4, 0.4, 9)
    assert len(wanted) > 4
    order = np.argsort(-voted.score, kind="stable")
    for got, want in zip(zip(*(each[order] for each in voted)), wanted, strict=True):
        np.testing.assert_allclose(got[0], want[0], atol=1e-5)
        np.testing.assert_array_equal(got[1], want[1])
        assert got[2] == want[2]
        assert got[3] == want[3]


def test_nothing_above_the_threshold_gives_nothing():
    voted = mask_voting(
        np.ones((2, 3, 3), "f"),
        np.array([[0, 0, 9, 9], [1, 1, 5, 5]], "f"),
        np.array([[1, 0], [1, 0]], "f"),
        (10, 10),
        score_thresh=0.1,
        nms_thresh=0.5,
    )
    assert [each.shape for each in voted] == [(0, 3, 3), (0, 4), (0,), (0,)]


def test_photos_in_and_masks_out_whatever_came_with_them():
    model = tiny()
    model.score_thresh, model.min_drop_size = 0.2, 2
    photos = [photo(), photo(40, 40, 1), photo(60, 90, 2)]
    masks, labels, scores = result = model.predict(photos)
    assert [len(mask) for mask in masks] == [len(label) for label in labels]
    assert sum(map(len, labels))
    for i, img in enumerate(photos):
        dense = result.dense(i)
        if len(labels[i]):
            assert dense.shape == (len(labels[i]), *img.shape[1:])
            assert (np.diff(scores[i]) <= 0).all()
        alone = model.predict([img])
        np.testing.assert_array_equal(alone.dense(0), dense)
        np.testing.assert_array_equal(alone.scores[0], scores[i])
    model.score_thresh = 2
    masks, labels, scores = model.predict(photos[:1])
    assert len(masks[0]) == len(labels[0]) == len(scores[0]) == 0


def test_a_photo_that_is_a_line_is_padded_and_found_in_its_own_pixels():
    model = tiny()
    model.score_thresh, model.min_drop_size = 0.0, 0
    x = model.prepare(photo(90, 2))
    assert x.shape == (3, 120, 8)
    assert not x[:, :, 2:].any()
    with using_config("train", False), no_backprop_mode():
        (found,) = model.find_instances(x[None], [(90, 2)])
    assert (found.bbox <= (90, 2, 90, 2)).all()


def test_it_is_described_by_its_settings():
    (architecture,) = family_of(FCISResNet101).architectures
    model = tiny(2, label_names=("a", "b"))
    again = architecture.build(architecture.settings(model), model.label_names)
    assert architecture.settings(again) == architecture.settings(model)
    again.load_arrays(model.state_arrays())
    x = model.prepare(photo())[None]
    with using_config("train", False), no_backprop_mode():
        np.testing.assert_array_equal(model(x).cls_scores.array, again(x).cls_scores.array)
    assert {member.task for member in family_of(FCISResNet101).members} == {"instance segmentation"}
    assert len(family_of(FCISResNet101).members) == 4


def rectangles(size):
    masks = np.zeros((2, *size), bool)
    masks[0, 5:50, 5:40] = True
    masks[1, 20:60, 50:85] = True
    masks[1, 20:40, 50:70] = False  # an L
    return masks


def test_training_two_photos_lowers_the_loss_and_reaches_every_parameter():
    model = tiny()
    chain = FCISTrainChain(model, proposal_target_creator=ProposalTargetCreator(24, 0.5))
    x = np.stack([model.prepare(photo(seed=seed)) for seed in (0, 1)])
    size = x.shape[2:]
    masks = [rectangles(size), np.zeros((0, *size), bool)]
    labels = [np.array([0, 2], "i"), np.zeros(0, "i")]
    losses = losses_of_steps(lambda: chain(x, masks, labels, 1.07), Adam(3e-3).setup(chain), 10)
    assert losses[-1] < 0.9 * losses[0]
    with pytest.raises(ShapeError, match="one element per image"):
        chain(x, masks[:1], labels)


def test_the_mask_to_learn_is_what_the_region_sees_of_the_object():
    chain = FCISTrainChain(tiny(), proposal_target_creator=ProposalTargetCreator(None, 0.9))
    mask = rectangles((64, 96))
    bbox = np.array([[5, 5, 50, 40], [20, 50, 60, 85]], "f")
    roi, loc, label, target = chain._sampled(np.array([[0, 60, 10, 80]], "f"), bbox, mask, np.array([0, 2], "i"))
    by_label = dict(zip(label.tolist(), target))
    np.testing.assert_array_equal(by_label[1], 1)
    assert by_label[3][0, 0] == 0
    assert by_label[3][-1, -1] == 1
    np.testing.assert_array_equal(by_label[0], -1)
    np.testing.assert_allclose(loc[label > 0], 0, atol=1e-6)
    assert len(roi) == 3
