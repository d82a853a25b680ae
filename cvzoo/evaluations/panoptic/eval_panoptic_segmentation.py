"""Panoptic quality of many images."""

from collections.abc import Iterable, Mapping
from typing import Any

from cvzoo.evaluations.panoptic.accumulator import PanopticAccumulator
from cvzoo.evaluations.panoptic.match_segments import Segments
from cvzoo.typing.aliases import ArrayLike


def eval_panoptic_segmentation(
    pred_maps: Iterable[ArrayLike],
    pred_segments: Iterable[Segments],
    gt_maps: Iterable[ArrayLike],
    gt_segments: Iterable[Segments],
    *,
    categories: Iterable[Mapping[str, Any]],
) -> dict[str, float]:
    """Panoptic, segmentation and recognition quality: a dictionary of pq, sq, rq, pq/things, ..., pq/<name>, ...

    Iterables of one element an image:
    pred_maps, gt_maps: (H, W) int, the id of each pixel's segment, 0 for none
    pred_segments: list of {'id', 'category_id'}, a segment each
    gt_segments: list of {'id', 'category_id', 'iscrowd', 'area'}; without the last two, no crowd, and its pixels
    categories: list of {'id', 'isthing', 'name'}
    Means omit classes that neither occur nor are predicted, whose values are NaN.
    Raises ShapeError, DtypeError or ValueRangeError with the image's index if maps and lists do not fit together.

    Source: Panoptic Segmentation (Kirillov et al., 2019) and panopticapi; see `match_segments` for the rules.
    """
    accumulator = PanopticAccumulator(categories)
    accumulator.update(pred_maps, pred_segments, gt_maps, gt_segments)
    return accumulator.compute().to_dict()
