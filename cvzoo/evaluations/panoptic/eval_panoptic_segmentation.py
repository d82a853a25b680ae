"""Panoptic quality of many photos."""

from cvzoo.evaluations.panoptic.accumulator import PanopticAccumulator


def eval_panoptic_segmentation(pred_maps, pred_segments, gt_maps, gt_segments, *, categories):
    """Panoptic, segmentation and recognition quality: a dictionary of pq, sq, rq, pq/things, ..., pq/<name>, ...

    Iterables of one element a photo:
    pred_maps, gt_maps: (H, W) int, the id of each pixel's segment, 0 for none
    pred_segments: list of {'id', 'category_id'}, a segment each
    gt_segments: list of {'id', 'category_id', 'iscrowd', 'area'}; without the last two, no crowd, and its pixels
    categories: list of {'id', 'isthing', 'name'}
    Means leave out classes that are neither there nor predicted, which have NaN.
    Raises ShapeError, DtypeError or ValueRangeError with the photo's index if maps and lists do not fit together.

    Source: Panoptic Segmentation (Kirillov et al., 2019) and panopticapi; see `match_segments` for the rules.
    """
    accumulator = PanopticAccumulator(categories)
    accumulator.update(pred_maps, pred_segments, gt_maps, gt_segments)
    return accumulator.compute().to_dict()
