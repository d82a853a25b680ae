"""Notes on known pitfalls of pycocotools, for evaluations that they affect."""

import numpy as np

from cvzoo.evaluations.coco.detections import COCODetections
from cvzoo.evaluations.coco.ground_truth import COCOGroundTruth
from cvzoo.evaluations.coco.parameters import COCOParameters
from cvzoo.reporting.counted import counted


def traps(gt: COCOGroundTruth, dt: COCODetections, parameters: COCOParameters) -> tuple[str, ...]:
    """One sentence for each known pitfall of the reference that affects these objects, detections and parameters."""
    notes = []
    if np.any(gt.ids == 0):
        notes.append(
            "gt_id_zero: an object has the id 0; "
            + (
                "matches with it count (corrected)"
                if parameters.corrects("gt_id_zero")
                else "pycocotools counts a match with it as a miss, and so do these numbers"
            )
        )
    if gt.ignore is not None and (gt.ignore != gt.crowd).any():
        n = int((gt.ignore != gt.crowd).sum())
        notes.append(
            f"ignore_field: {counted(n, 'object has', 'objects have')} a field `ignore` different from iscrowd; "
            + ("it is respected (corrected)" if parameters.corrects("ignore_field") else "pycocotools overwrites it")
        )
    usual = 20 if parameters.iou_type == "keypoints" else 100
    last = parameters.max_dets[min(2, len(parameters.max_dets) - 1)]
    if last != usual:
        asked = f"max_dets: {parameters.max_dets}; "
        if parameters.corrects("max_dets"):
            notes.append(asked + f"all scores are computed at {last} (corrected)")
        elif usual in parameters.max_dets:
            notes.append(asked + f"pycocotools computes AP at {usual} and AP50 and the others at {last}")
        else:
            notes.append(asked + f"pycocotools computes AP at {usual}, which max_dets does not have: -1")
    if len(parameters.max_dets) < 3 and parameters.iou_type != "keypoints":
        notes.append("max_dets: fewer than three; AR1, AR10 and AR100 stand for the first, second and last of them")
    if not len(dt):
        notes.append("empty_results: no detections; every class scores 0 (corrected)")
    if parameters.iou_type == "segm" and dt.bbox is not None:
        notes.append(
            "segm_boxes: the results have boxes; "
            + (
                "they were rasterized, since there are no masks"
                if dt.masks is None
                else "detections have the areas of their boxes, and not of their masks, as in pycocotools"
            )
        )
    for name, masks, image_id in (("annotations", gt.masks, gt.image_id), ("detections", dt.masks, dt.image_id)):
        if masks is not None and gt.img_sizes is not None and len(masks):
            order = np.argsort(gt.img_ids)
            sizes = gt.img_sizes[order][np.searchsorted(gt.img_ids[order], image_id)]
            wrong = (masks.sizes != sizes).any(axis=1)
            if wrong.any():
                n, i = int(wrong.sum()), int(np.argmax(wrong))
                notes.append(
                    f"mask_size: {counted(n, 'mask does', 'masks do')} not have the size of their image "
                    f"({name}[{i}] first); masks of different "
                    "sizes never match"
                )
    if (gt.area < 0).any():
        n, i = int((gt.area < 0).sum()), int(np.argmax(gt.area < 0))
        notes.append(
            f"negative_area: {counted(n, 'object has', 'objects have')} an area below 0 (annotations[{i}] "
            f"first) and {'is' if n == 1 else 'are'} in no area range"
        )
    return tuple(notes)
