"""mixup and CutMix augmentation."""

import dataclasses
import math
from typing import Any, Literal, overload

import numpy as np

from cvzoo.errors.exceptions import ShapeError, ValueRangeError
from cvzoo.transforms.as_rng import as_rng
from cvzoo.transforms.crop import Slices
from cvzoo.transforms.keep_dtype import keep_dtype
from cvzoo.transforms.sample.geometric import crop_sample
from cvzoo.transforms.sample.join import instances_of_all
from cvzoo.transforms.sample.sample import Sample, settle


@overload
def mix_up(
    sample_a: Sample,
    sample_b: Sample,
    *,
    alpha: float = ...,
    return_param: Literal[False] = False,
    rng: np.random.Generator | None = ...,
) -> Sample: ...
@overload
def mix_up(
    sample_a: Sample,
    sample_b: Sample,
    *,
    alpha: float = ...,
    return_param: Literal[True],
    rng: np.random.Generator | None = ...,
) -> tuple[Sample, dict[str, float]]: ...
def mix_up(
    sample_a: Sample,
    sample_b: Sample,
    *,
    alpha: float = 1.5,
    return_param: bool = False,
    rng: np.random.Generator | None = None,
) -> Sample | tuple[Sample, dict[str, float]]:
    """mixup: two images blended, `ratio * a + (1 - ratio) * b`, with the instances of both.

    sample_a, sample_b: of the same number of channels; if the sizes differ, both are padded with black at the bottom
        and right to the larger height and width
    alpha: the ratio is drawn from the beta distribution of (alpha, alpha); 1.5 suits detectors, 0.2 classifiers
    rng: random generator; None is this thread's
    Returns a Sample whose weight is the ratio for the instances of a and 1 - ratio for those of b, of a's dtype;
    with return_param, also a dictionary of ratio. A label of the whole image becomes None: mix the losses by ratio.
    Raises ShapeError if the numbers of channels differ, ValueRangeError if alpha is not positive.

    Source: Zhang et al., "mixup: Beyond Empirical Risk Minimization", 2018; for detectors Zhang et al., "Bag of
    Freebies for Training Object Detection Neural Networks", 2019, section 3.1.
    """
    param = {"ratio": _draw_ratio(alpha, rng)}
    size = tuple(max(sides) for sides in zip(sample_a.size, sample_b.size))
    _check_channels(sample_a, sample_b)
    window: Slices = {"y_slice": slice(0, size[0]), "x_slice": slice(0, size[1])}
    first, second = (settle(crop_sample(sample, **window)) for sample in (sample_a, sample_b))
    ratio = np.float32(param["ratio"])
    img = first.img * ratio + second.img * (1 - ratio)
    first, second = _with_weight(first, ratio), _with_weight(second, 1 - ratio)
    joined = instances_of_all([first, second])
    mixed = dataclasses.replace(
        first, img=keep_dtype(img.astype(np.float32, copy=False), sample_a.img.dtype), label_map=None, **joined
    )
    return (mixed, param) if return_param else mixed


@overload
def cut_mix(
    sample_a: Sample,
    sample_b: Sample,
    *,
    alpha: float = ...,
    return_param: Literal[False] = False,
    rng: np.random.Generator | None = ...,
) -> Sample: ...
@overload
def cut_mix(
    sample_a: Sample,
    sample_b: Sample,
    *,
    alpha: float = ...,
    return_param: Literal[True],
    rng: np.random.Generator | None = ...,
) -> tuple[Sample, dict[str, Any]]: ...
def cut_mix(
    sample_a: Sample,
    sample_b: Sample,
    *,
    alpha: float = 1.0,
    return_param: bool = False,
    rng: np.random.Generator | None = None,
) -> Sample | tuple[Sample, dict[str, Any]]:
    """CutMix: the image of a with a rectangle of b pasted in; for classifiers and label maps, instances are dropped.

    sample_a, sample_b: of the same size and number of channels
    alpha: the area ratio of a is drawn from the beta distribution of (alpha, alpha)
    rng: random generator; None is this thread's
    Returns a Sample of img and, if both have one, label_map; with return_param, also a dictionary of y_slice, x_slice
    and ratio, the fraction of the pixels that are from a: mix the losses by it.
    Raises ShapeError if sizes or numbers of channels differ, ValueRangeError if alpha is not positive.

    Source: Yun et al., "CutMix: Regularization Strategy to Train Strong Classifiers with Localizable Features", 2019.
    """
    if sample_a.size != sample_b.size:
        raise ShapeError("both images must have the same size", expected=sample_a.size, got=sample_b.size)
    _check_channels(sample_a, sample_b)
    rng = as_rng(rng)
    side = math.sqrt(1 - _draw_ratio(alpha, rng))
    # a rectangle around a random point, clipped to the image: the ratio is computed after that
    slices = [_around(rng.uniform(0, length), length * side, length) for length in sample_a.size]
    area = math.prod(each.stop - each.start for each in slices)
    param = {"y_slice": slices[0], "x_slice": slices[1], "ratio": 1 - area / math.prod(sample_a.size)}
    img = sample_a.img.copy("K")
    img[:, slices[0], slices[1]] = sample_b.img[:, slices[0], slices[1]]
    label_map = None
    if sample_a.label_map is not None and sample_b.label_map is not None:
        label_map = sample_a.label_map.copy()
        label_map[slices[0], slices[1]] = sample_b.label_map[slices[0], slices[1]]
    mixed = type(sample_a)(img=img, label_map=label_map)
    return (mixed, param) if return_param else mixed


def _draw_ratio(alpha: float, rng: np.random.Generator | None) -> float:
    if not alpha > 0:
        raise ValueRangeError("alpha must be positive", got=alpha)
    return float(as_rng(rng).beta(alpha, alpha))


def _check_channels(sample_a: Sample, sample_b: Sample) -> None:
    if len(sample_a.img) != len(sample_b.img):
        raise ShapeError(
            "both images must have the same number of channels", expected=len(sample_a.img), got=len(sample_b.img)
        )


def _with_weight(sample: Sample, ratio: np.float32) -> Sample:
    fields = sample.instances()
    if not fields:
        return sample
    n = len(next(iter(fields.values())))
    weight = np.ones(n, np.float32) if sample.weight is None else sample.weight
    return dataclasses.replace(sample, weight=weight * ratio)


def _around(middle: float, length: float, limit: int) -> slice:
    return slice(max(int(middle - length / 2), 0), min(int(middle + length / 2), limit))
