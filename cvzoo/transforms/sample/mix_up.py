"""Two photos through one another, or a piece of one in the other: what classifiers are trained with."""

import dataclasses
import math

import numpy as np

from cvzoo.errors.exceptions import ShapeError, ValueRangeError
from cvzoo.transforms.as_rng import as_rng
from cvzoo.transforms.keep_dtype import keep_dtype
from cvzoo.transforms.sample.join import instances_of_all
from cvzoo.transforms.sample.moves import crop_sample
from cvzoo.transforms.sample.sample import settle


def mix_up(sample_a, sample_b, *, alpha=1.5, return_param=False, rng=None):
    """Two photos blended, `ratio * a + (1 - ratio) * b`, with the instances of both.

    sample_a, sample_b: of as many channels; where sizes differ both are set into the upper left of a frame that holds
        both, on black
    alpha: the ratio is drawn from the beta distribution of (alpha, alpha); 1.5 suits detectors, 0.2 classifiers
    rng: where to draw from; None is this thread's generator
    Returns a Sample whose weight is the ratio for the instances of a and 1 - ratio for those of b, of a's dtype;
    with return_param also a dictionary of ratio. A label of the whole photo becomes None: mix the losses by ratio.
    Raises ShapeError if the channels differ, ValueRangeError if alpha is not positive.

    Source: Zhang et al., "mixup: Beyond Empirical Risk Minimization", 2018; for detectors Zhang et al., "Bag of
    Freebies for Training Object Detection Neural Networks", 2019, section 3.1.
    """
    param = {"ratio": _draw_ratio(alpha, rng)}
    size = tuple(max(sides) for sides in zip(sample_a.size, sample_b.size))
    _check_channels(sample_a, sample_b)
    window = {"y_slice": slice(0, size[0]), "x_slice": slice(0, size[1])}
    first, second = (settle(crop_sample(sample, **window)) for sample in (sample_a, sample_b))
    ratio = np.float32(param["ratio"])
    img = first.img * ratio + second.img * (1 - ratio)
    first, second = _with_weight(first, ratio), _with_weight(second, 1 - ratio)
    joined = instances_of_all([first, second])
    mixed = dataclasses.replace(
        first, img=keep_dtype(img.astype(np.float32, copy=False), sample_a.img.dtype), label_map=None, **joined
    )
    return (mixed, param) if return_param else mixed


def cut_mix(sample_a, sample_b, *, alpha=1.0, return_param=False, rng=None):
    """The photo of a with a rectangle of b's in its place; for classifiers and label maps, instances are not kept.

    sample_a, sample_b: of one size and as many channels
    alpha: the part of a is drawn from the beta distribution of (alpha, alpha)
    rng: where to draw from; None is this thread's generator
    Returns a Sample of img and, if both have one, label_map; with return_param also a dictionary of y_slice, x_slice
    and ratio, the part of the pixels that are a's: mix the losses by it.
    Raises ShapeError if sizes or channels differ, ValueRangeError if alpha is not positive.

    Source: Yun et al., "CutMix: Regularization Strategy to Train Strong Classifiers with Localizable Features", 2019.
    """
    if sample_a.size != sample_b.size:
        raise ShapeError("both photos must be of one size", expected=sample_a.size, got=sample_b.size)
    _check_channels(sample_a, sample_b)
    rng = as_rng(rng)
    side = math.sqrt(1 - _draw_ratio(alpha, rng))
    # a rectangle around a random point, cut at the photo's edge: the ratio is what is left after that
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


def _draw_ratio(alpha, rng):
    if not alpha > 0:
        raise ValueRangeError("alpha must be positive", got=alpha)
    return float(as_rng(rng).beta(alpha, alpha))


def _check_channels(sample_a, sample_b):
    if len(sample_a.img) != len(sample_b.img):
        raise ShapeError("both photos must have as many channels", expected=len(sample_a.img), got=len(sample_b.img))


def _with_weight(sample, ratio):
    fields = sample.instances()
    if not fields:
        return sample
    n = len(next(iter(fields.values())))
    weight = np.ones(n, np.float32) if sample.weight is None else sample.weight
    return dataclasses.replace(sample, weight=weight * ratio)


def _around(middle, length, limit):
    return slice(max(int(middle - length / 2), 0), min(int(middle + length / 2), limit))
