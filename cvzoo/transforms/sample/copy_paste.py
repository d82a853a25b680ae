"""Objects of one photo in another."""

import dataclasses

import numpy as np

from cvzoo.errors.exceptions import ShapeError
from cvzoo.geometry.rle import RLEs
from cvzoo.transforms.as_rng import as_rng
from cvzoo.transforms.sample.join import instances_of_all
from cvzoo.transforms.sample.mask_forms import dense_masks
from cvzoo.transforms.sample.moves import crop_sample
from cvzoo.transforms.sample.sample import settle


def copy_paste(sample, source, *, prob=0.5, min_visible=0.1, return_param=False, rng=None):
    """The sample with objects of another photo on top of it, hiding what lies beneath them.

    sample, source: with masks, of as many channels and the same dtype; where the photos differ in size the upper left
        corners lie on each other and source is cut. Augment both before, by scale above all
    prob: of each object of source to be taken
    min_visible: objects of sample of whose mask less than this part is left are dropped
    rng: where to draw from; None is this thread's generator
    Returns a Sample with the objects of both; masks do not overlap and are run-length encoded if those of sample are,
    boxes, where both have them, are those of what is left of the masks, and points beneath become invisible. With
    return_param also a dictionary of index, which objects of source were taken.
    Raises ShapeError if a sample has no masks or the channels differ.

    Source: Ghiasi et al., "Simple Copy-Paste is a Strong Data Augmentation Method for Instance Segmentation", 2021.
    Where we differ: no blur along the seams, which the paper found to change nothing.
    """
    if sample.mask is None or source.mask is None:
        raise ShapeError("copy_paste needs masks", got="sample or source without mask")
    if len(sample.img) != len(source.img):
        raise ShapeError("both photos must have as many channels", expected=len(sample.img), got=len(source.img))
    encoded = isinstance(sample.mask, RLEs)
    sample, source = _dense(sample), _dense(source)
    param = {"index": (as_rng(rng).random(len(source.mask)) < prob).nonzero()[0]}
    height, width = sample.size
    taken = settle(crop_sample(source.take(param["index"]), y_slice=slice(0, height), x_slice=slice(0, width)))
    # what the box leaves in view the mask may not
    taken = taken.take(taken.mask.any(axis=(1, 2)))
    top = taken.mask.any(axis=0)
    img = np.where(top, taken.img, sample.img)
    before = sample.mask.sum(axis=(1, 2))
    left = sample.mask & ~top
    kept = left.sum(axis=(1, 2)) >= np.maximum(before * min_visible, 1)
    below = dataclasses.replace(sample, img=img, mask=left, label_map=_on_top(sample, taken, top))
    joined = instances_of_all([_hidden(below, top).take(kept), taken])
    if joined["bbox"] is not None:
        joined["bbox"] = _bbox_of(joined["mask"]).astype(joined["bbox"].dtype)
    if joined["area"] is not None:
        joined["area"] = joined["mask"].sum(axis=(1, 2)).astype(joined["area"].dtype)
    if encoded:
        joined["mask"] = RLEs.from_masks(joined["mask"])
    pasted = dataclasses.replace(below, **joined)
    return (pasted, param) if return_param else pasted


def _dense(sample):
    return dataclasses.replace(sample, mask=dense_masks(sample.mask, sample.size))


def _on_top(sample, taken, top):
    if sample.label_map is None or taken.label_map is None:
        return None
    return np.where(top, taken.label_map, sample.label_map)


def _hidden(sample, top):
    """The sample with points beneath invisible."""
    if sample.point is None:
        return sample
    y, x = np.moveaxis(np.floor(sample.point).astype(np.intp), 2, 0)
    inside = (y >= 0) & (x >= 0) & (y < top.shape[0]) & (x < top.shape[1])
    covered = np.zeros(inside.shape, bool)
    covered[inside] = top[y[inside], x[inside]]
    visible = inside if sample.visible is None else sample.visible
    return dataclasses.replace(sample, visible=visible & ~covered)


def _bbox_of(mask):
    """(R, 4) around masks of which none is empty."""
    bbox = np.zeros((len(mask), 4), np.float32)
    for axis, other in ((0, 2), (1, 1)):
        lit = mask.any(axis=other)  # (R, H) or (R, W)
        bbox[:, axis] = lit.argmax(axis=1)
        bbox[:, axis + 2] = lit.shape[1] - lit[:, ::-1].argmax(axis=1)
    return bbox
