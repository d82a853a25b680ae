"""A complete COCO evaluation of ground truth and detections."""

import dataclasses
from collections.abc import Mapping, Sequence
from typing import Any, cast

import numpy as np

from cvzoo.errors.exceptions import ValueRangeError
from cvzoo.evaluations.coco.accumulate import accumulate
from cvzoo.evaluations.coco.columns import refuse_first
from cvzoo.evaluations.coco.detections import COCODetections
from cvzoo.evaluations.coco.ground_truth import COCOGroundTruth
from cvzoo.evaluations.coco.groups import group_by_class_and_image
from cvzoo.evaluations.coco.lookup import lookup
from cvzoo.evaluations.coco.matches import COCOMatches
from cvzoo.evaluations.coco.matching import match_pairs
from cvzoo.evaluations.coco.overlapping import overlapping
from cvzoo.evaluations.coco.parameters import COCOParameters
from cvzoo.evaluations.coco.read_detections import DetectionsSource, read_coco_detections
from cvzoo.evaluations.coco.read_ground_truth import GroundTruthSource, read_coco_ground_truth
from cvzoo.evaluations.coco.result import COCOResult
from cvzoo.evaluations.coco.traps import traps
from cvzoo.reporting.counted import counted
from cvzoo.typing.aliases import Array


def evaluate_coco(
    gt: COCOGroundTruth | GroundTruthSource,
    dt: COCODetections | DetectionsSource,
    parameters: COCOParameters | None = None,
) -> COCOResult:
    """The result of COCO's evaluation, bit for bit as pycocotools computes it.

    gt: COCOGroundTruth, or the path, bytes or dictionary of an annotation file
    dt: COCODetections, or the path, bytes or list of a results file
    parameters: what to evaluate and how; None: boxes, COCO's thresholds
    Raises ValueRangeError with the index of the first record that is malformed; also for results without a
    detection, where pycocotools fails, unless the correction `empty_results` is requested.

    Ties of equal scores are broken by the order of the records of an image, then by the lower image id.
    """
    parameters = COCOParameters() if parameters is None else parameters
    if not isinstance(gt, COCOGroundTruth):
        gt = read_coco_ground_truth(gt, parameters)
    if not isinstance(dt, COCODetections):
        dt = read_coco_detections(dt, parameters)
    if not len(dt) and not parameters.corrects("empty_results"):
        raise ValueRangeError(
            "the results have no detections",
            hint='corrections=("empty_results",) scores them 0; the reference fails',
        )
    dt, notes = known_detections(gt, dt, parameters)
    matches = match_coco(gt, dt, parameters)
    names = dict(zip(gt.cat_ids.tolist(), gt.cat_names or map(str, gt.cat_ids.tolist())))
    return result_of_matches(
        matches, parameters, cat_names=names, notes=(*gt.notes, *notes, *traps(gt, dt, parameters))
    )


def match_coco(gt: COCOGroundTruth, dt: COCODetections, parameters: COCOParameters) -> COCOMatches:
    """The matched detections of the images of gt (of those in parameters.img_ids, if given)."""
    img_ids, cat_ids = _evaluated_ids(gt, parameters)
    groups = group_by_class_and_image(
        (gt.image_id, gt.category_id),
        (dt.image_id, dt.category_id, dt.score),
        img_ids=img_ids,
        cat_ids=cat_ids,
        use_cats=parameters.use_cats,
        max_det=parameters.max_dets[-1],
    )
    pairs = overlapping(
        gt,
        dt,
        groups,
        iou_type=parameters.iou_type,
        # as pycocotools: a threshold of 1 accepts an IoU that rounding left just below
        lowest=min(parameters.iou_thrs.min(), 1 - 1e-10),
        sigmas=parameters.kpt_oks_sigmas,
    )
    low, high = np.array(parameters.area_rng).T[:, :, None]
    area, crowd = gt.area[groups.gt], gt.crowd[groups.gt]
    set_aside = (_ignored(gt, parameters)[groups.gt] | (area < low) | (area > high)).reshape(low.size, -1)
    # pycocotools writes the object's id where 0 means "no match"
    zero = cast(Array, gt.ids)[groups.gt] == 0
    candidate, verdict = match_pairs(
        *pairs,
        dt_group=groups.dt_group,
        crowd=crowd,
        set_aside=set_aside,
        not_evaluable=zero if zero.any() and not parameters.corrects("gt_id_zero") else None,
        iou_thrs=parameters.iou_thrs,
    )
    area = cast(Array, dt.area)[groups.dt]
    return COCOMatches(
        img_ids=img_ids,
        cat_ids=cat_ids if parameters.use_cats else np.array([-1]),
        n_kept=np.stack([np.bincount(groups.gt_cat[~row], minlength=groups.n_cat) for row in set_aside]),
        cat=groups.dt_cat.astype(np.int32),
        image_id=dt.image_id[groups.dt],
        rank=groups.dt_rank.astype(np.int32),
        score=dt.score[groups.dt],
        aside=(area < low) | (area > high),
        candidate=candidate,
        verdict=verdict,
    )


def coco_positives(gt: COCOGroundTruth, parameters: COCOParameters) -> tuple[Array, Array]:
    """The class and the image of each object that is not ignored, of the first area range: their indices, (G,) int64.

    The indices are those of `COCOMatches.cat_ids` and of `COCOMatches.img_ids`.
    """
    img_ids, cat_ids = _evaluated_ids(gt, parameters)
    image, image_known = lookup(img_ids, gt.image_id)
    cat, cat_known = lookup(cat_ids, gt.category_id)
    low, high = parameters.area_rng[0]
    kept = image_known & cat_known & ~_ignored(gt, parameters) & (gt.area >= low) & (gt.area <= high)
    return (cat if parameters.use_cats else np.zeros_like(cat))[kept], image[kept]


def result_of_matches(
    matches: COCOMatches, parameters: COCOParameters, *, cat_names: Mapping[int, str], notes: Sequence[str] = ()
) -> COCOResult:
    """The result of matched detections. cat_names: names by class id."""
    precision, recall, scores = accumulate(matches, rec_thrs=parameters.rec_thrs, max_dets=parameters.max_dets)
    return COCOResult(
        precision=precision,
        recall=recall,
        scores=scores,
        cat_ids=matches.cat_ids,
        cat_names=tuple(cat_names.get(cat, str(cat)) for cat in matches.cat_ids.tolist()),
        parameters=parameters,
        n_images=matches.img_ids.size,
        n_objects=matches.n_kept[0],
        n_detections=matches.score.size,
        notes=tuple(notes),
    )


def known_detections(
    gt: COCOGroundTruth, dt: COCODetections, parameters: COCOParameters
) -> tuple[COCODetections, tuple[str, ...]]:
    """The detections of known classes, and notes about those that were dropped.

    Raises ValueRangeError with the index of the first detection of an unknown image, or of an unknown class unless
    parameters.accept has "unknown_class".
    """
    known = lookup(np.sort(gt.img_ids), dt.image_id)[1]
    refuse_first("detections", "image_id", dt.image_id, ~known, "the id of an image of the ground truth")
    known = lookup(np.sort(gt.cat_ids), dt.category_id)[1]
    if known.all():
        return dt, ()
    if "unknown_class" not in parameters.accept:
        refuse_first(
            "detections", "category_id", dt.category_id, ~known, "the id of a class of the ground truth",
            hint='accept=("unknown_class",) drops such detections, as pycocotools does silently',
        )  # fmt: skip
    note = f"unknown_class: {counted(int((~known).sum()), 'detection')} of classes that the ground truth lacks dropped"
    return take_detections(dt, np.flatnonzero(known)), (note,)


def take_detections(dt: COCODetections, rows: Array) -> COCODetections:
    """The detections of the given rows."""
    columns = {field.name: dt.__dict__[field.name] for field in dataclasses.fields(dt)}
    taken: dict[str, Any] = {name: None if column is None else column[rows] for name, column in columns.items()}
    return COCODetections(**taken)


def _evaluated_ids(gt: COCOGroundTruth, parameters: COCOParameters) -> tuple[Array, Array]:
    img_ids, cat_ids = np.sort(gt.img_ids), np.sort(gt.cat_ids)
    if parameters.img_ids is not None:
        known = lookup(img_ids, parameters.img_ids)[1]
        refuse_first("parameters", "img_ids", parameters.img_ids, ~known, "images of the ground truth")
        img_ids = parameters.img_ids
    if parameters.cat_ids is not None:
        known = lookup(cat_ids, parameters.cat_ids)[1]
        refuse_first("parameters", "cat_ids", parameters.cat_ids, ~known, "classes of the ground truth")
        cat_ids = parameters.cat_ids
    return img_ids, cat_ids


def _ignored(gt: COCOGroundTruth, parameters: COCOParameters) -> Array:
    ignored = gt.crowd
    if parameters.corrects("ignore_field") and gt.ignore is not None:
        ignored = ignored | gt.ignore
    if parameters.iou_type == "keypoints" and gt.num_keypoints is not None:
        ignored = ignored | (gt.num_keypoints == 0)
    return ignored
