"""Copy-paste augmentation for instance segmentation."""

import dataclasses
from typing import Literal, overload

import numpy as np

from cvzoo.errors.exceptions import ShapeError
from cvzoo.geometry.mask_to_bbox import mask_to_bbox
from cvzoo.geometry.rle import RLEs
from cvzoo.transforms.as_rng import as_rng
from cvzoo.transforms.sample.geometric import crop_sample
from cvzoo.transforms.sample.join import instances_of_all
from cvzoo.transforms.sample.mask_formats import dense_masks
from cvzoo.transforms.sample.sample import Sample, settle
from cvzoo.typing.aliases import Array, ClassMap, Mask


@overload
def copy_paste(
    sample: Sample,
    source: Sample,
    *,
    prob: float = ...,
    min_visible: float = ...,
    return_param: Literal[False] = False,
    rng: np.random.Generator | None = ...,
) -> Sample: ...
@overload
def copy_paste(
    sample: Sample,
    source: Sample,
    *,
    prob: float = ...,
    min_visible: float = ...,
    return_param: Literal[True],
    rng: np.random.Generator | None = ...,
) -> tuple[Sample, dict[str, Array]]: ...
def copy_paste(
    sample: Sample,
    source: Sample,
    *,
    prob: float = 0.5,
    min_visible: float = 0.1,
    return_param: bool = False,
    rng: np.random.Generator | None = None,
) -> Sample | tuple[Sample, dict[str, Array]]:
    """The sample with objects of another image pasted on top of it, which occlude its own.

    sample, source: with masks, of the same number of channels and dtype; if the images differ in size, they are aligned
        at the upper left corner and source is cropped. Augment both before, above all by scale
    prob: probability of each object of source to be pasted
    min_visible: objects of sample with less than this fraction of their mask visible are dropped
    rng: random generator; None is this thread's
    Returns a Sample with the objects of both; masks do not overlap and are run-length encoded if those of sample are,
    boxes, where both have them, are the bounding boxes of the visible masks, and occluded points become invisible.
    With return_param, also a dictionary of index, the indices of the pasted objects of source.
    Raises ShapeError if a sample has no masks or the numbers of channels differ.

    Source: Ghiasi et al., "Simple Copy-Paste is a Strong Data Augmentation Method for Instance Segmentation", 2021.
    Where we differ: no blurring of the pasted objects, which the paper found to have no effect.
    """
    encoded = isinstance(sample.mask, RLEs)
    sample, source = (dataclasses.replace(each, mask=_dense_mask(each)) for each in (sample, source))
    if len(sample.img) != len(source.img):
        raise ShapeError(
            "both images must have the same number of channels", expected=len(sample.img), got=len(source.img)
        )
    param = {"index": (as_rng(rng).random(len(_dense_mask(source))) < prob).nonzero()[0]}
    height, width = sample.size
    taken = settle(crop_sample(source.take(param["index"]), y_slice=slice(0, height), x_slice=slice(0, width)))
    # the crop drops objects by their boxes: a mask may be empty although its box is not
    taken = taken.take(np.any(_dense_mask(taken), axis=(1, 2)))
    top = np.any(_dense_mask(taken), axis=0)
    img = np.where(top, taken.img, sample.img)
    mask = _dense_mask(sample)
    before = mask.sum(axis=(1, 2))
    left = mask & ~top
    kept = left.sum(axis=(1, 2)) >= np.maximum(before * min_visible, 1)
    below = dataclasses.replace(sample, img=img, mask=left, label_map=_on_top(sample, taken, top))
    joined = instances_of_all([_hidden(below, top).take(kept), taken])
    if joined["bbox"] is not None:
        joined["bbox"] = mask_to_bbox(joined["mask"]).astype(joined["bbox"].dtype)
    if joined["area"] is not None:
        joined["area"] = joined["mask"].sum(axis=(1, 2)).astype(joined["area"].dtype)
    if encoded:
        joined["mask"] = RLEs.from_masks(joined["mask"])
    pasted = dataclasses.replace(below, **joined)
    return (pasted, param) if return_param else pasted


def _dense_mask(sample: Sample) -> Mask:
    if sample.mask is None:
        raise ShapeError("copy_paste needs samples with masks", got="sample or source without mask")
    return dense_masks(sample.mask, sample.size)


def _on_top(sample: Sample, taken: Sample, top: Array) -> ClassMap | None:
    if sample.label_map is None or taken.label_map is None:
        return None
    return np.where(top, taken.label_map, sample.label_map)


def _hidden(sample: Sample, top: Array) -> Sample:
    """The sample with occluded points marked invisible."""
    if sample.point is None:
        return sample
    y, x = np.moveaxis(np.floor(sample.point).astype(np.intp), 2, 0)
    inside = (y >= 0) & (x >= 0) & (y < top.shape[0]) & (x < top.shape[1])
    covered = np.zeros(inside.shape, bool)
    covered[inside] = top[y[inside], x[inside]]
    visible = inside if sample.visible is None else sample.visible
    return dataclasses.replace(sample, visible=visible & ~covered)
