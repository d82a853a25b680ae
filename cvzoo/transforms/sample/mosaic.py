"""Mosaic augmentation: four images in one."""

import dataclasses
from collections.abc import Sequence
from typing import Literal, overload

import numpy as np

from cvzoo.errors.exceptions import ShapeError
from cvzoo.geometry.as_size import as_size
from cvzoo.transforms.as_rng import as_rng
from cvzoo.transforms.sample.geometric import crop_sample
from cvzoo.transforms.sample.join import instances_of_all
from cvzoo.transforms.sample.sample import Sample, settle
from cvzoo.typing.aliases import ArrayLike, Size


@overload
def mosaic(
    samples: Sequence[Sample],
    size: Sequence[int],
    *,
    center_range: tuple[float, float] = ...,
    fill: ArrayLike = ...,
    min_visible: float = ...,
    return_param: Literal[False] = False,
    rng: np.random.Generator | None = ...,
) -> Sample: ...
@overload
def mosaic(
    samples: Sequence[Sample],
    size: Sequence[int],
    *,
    center_range: tuple[float, float] = ...,
    fill: ArrayLike = ...,
    min_visible: float = ...,
    return_param: Literal[True],
    rng: np.random.Generator | None = ...,
) -> tuple[Sample, dict[str, Size]]: ...
def mosaic(
    samples: Sequence[Sample],
    size: Sequence[int],
    *,
    center_range: tuple[float, float] = (0.25, 0.75),
    fill: ArrayLike = 0,
    min_visible: float = 0,
    return_param: bool = False,
    rng: np.random.Generator | None = None,
) -> Sample | tuple[Sample, dict[str, Size]]:
    """Four samples around one point of a new image, each cropped to its quadrant.

    samples: four, of images with the same number of channels and dtype: top left, top right, bottom left, bottom right.
        Resize them before to the scale that they are to have
    size: (H, W) of the new image, at least (2, 2)
    center_range: range of the point, in fractions of height and width
    fill: value of the padding where an image is smaller than its quadrant, one or one per channel
    min_visible: instances with less than this fraction of their box in their quadrant are dropped; at 0, those of which
        nothing is visible
    rng: random generator; None is this thread's
    Returns a Sample with the instances of all four; a field is None unless all four samples have it. With return_param,
    also a dictionary of center, (y, x).
    Raises ShapeError if there are not four samples or the new image is too small.

    Source: Bochkovskiy et al., "YOLOv4: Optimal Speed and Accuracy of Object Detection", 2020, section 3.3.
    """
    size = as_size(size)
    if len(samples) != 4 or min(size) < 2:
        raise ShapeError(
            "mosaic needs four samples and a size of at least (2, 2)", got=f"{len(samples)} samples, {size}"
        )
    rng = as_rng(rng)
    y, x = (min(max(int(side * rng.uniform(*center_range)), 1), side - 1) for side in size)
    center = y, x
    parts, quarters = [], []
    for index, sample in enumerate(samples):
        lower_right = divmod(index, 2)
        edges = zip(lower_right, center, size)
        quarter = [slice(point, side) if far else slice(0, point) for far, point, side in edges]
        lengths = [each.stop - each.start for each in quarter]
        # the corner of each sample that is next to the point is placed on it
        starts = [0 if far else own - length for far, own, length in zip(lower_right, sample.size, lengths)]
        cut = _window_of(_visible(sample, starts, lengths, min_visible), starts, lengths, fill)
        parts.append(_window_of(cut, [-each.start for each in quarter], size, fill))
        quarters.append(tuple(quarter))
    img = parts[0].img.copy()
    label_maps = [part.label_map for part in parts if part.label_map is not None]
    label_map = label_maps[0].copy() if len(label_maps) == len(parts) else None
    for index, (part, (rows, columns)) in enumerate(zip(parts, quarters)):
        img[:, rows, columns] = part.img[:, rows, columns]
        if label_map is not None:
            label_map[rows, columns] = label_maps[index][rows, columns]
    joined = dataclasses.replace(parts[0], img=img, label_map=label_map, **instances_of_all(parts))
    return (joined, {"center": center}) if return_param else joined


def _visible(sample: Sample, starts: Sequence[int], lengths: Sequence[int], min_visible: float) -> Sample:
    """The sample without the instances of whose box less than a fraction is in the window."""
    if sample.bbox is None or min_visible <= 0:
        return sample
    low, high = sample.bbox[:, :2], sample.bbox[:, 2:]
    left = np.clip(np.minimum(high, np.add(starts, lengths)) - np.maximum(low, starts), 0, None).prod(axis=1)
    return sample.take(left >= np.maximum((high - low).prod(axis=1) * min_visible, np.finfo(np.float32).tiny))


def _window_of(sample: Sample, starts: Sequence[int], lengths: Sequence[int], fill: ArrayLike) -> Sample:
    y_slice, x_slice = (slice(start, start + length) for start, length in zip(starts, lengths))
    return settle(crop_sample(sample, y_slice=y_slice, x_slice=x_slice, fill=fill))
