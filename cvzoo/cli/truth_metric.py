"""Converts ground truth between COCO's and VOC's, for COCO's metrics on a VOC folder and vice versa."""

import pathlib

import numpy as np

from cvzoo.cli.truth import COCOTruth, VOCTruth
from cvzoo.evaluations.coco.ground_truth import COCOGroundTruth

_LAST = np.array([0, 0, 1, 1])


def as_coco(truth: COCOTruth | VOCTruth) -> COCOTruth:
    """The ground truth for COCO's scores.

    Images are numbered from 1, difficult objects have COCO's field `ignore`, boxes end where their last pixel ends, and
    an object's area is its box's.
    """
    if isinstance(truth, COCOTruth):
        return truth
    n = len(truth.photo_names)
    image = np.repeat(np.arange(1, n + 1), [len(label) for label in truth.labels])
    bbox = np.concatenate([np.zeros((0, 4)), *truth.bboxes]) + truth.last_pixel * _LAST
    y_min, x_min, y_max, x_max = bbox.T
    xywh = np.stack((x_min, y_min, x_max - x_min, y_max - y_min), axis=1)
    gt = COCOGroundTruth(
        img_ids=np.arange(1, n + 1),
        cat_ids=np.arange(1, len(truth.names) + 1),
        image_id=image,
        category_id=np.concatenate([np.zeros(0, np.int64), *truth.labels]) + 1,
        bbox=xywh,
        area=xywh[:, 2] * xywh[:, 3],
        crowd=np.zeros(len(image), bool),
        ignore=np.concatenate([np.zeros(0, bool), *truth.difficults]),
        cat_names=truth.names,
        notes=("the objects are VOC's: difficult ones count neither way, areas are those of boxes",),
    )
    return COCOTruth(truth.path, gt, dict(enumerate(truth.photo_names, 1)), truth.photo_paths)


def as_voc(truth: COCOTruth | VOCTruth, paths: list[pathlib.Path] | None) -> VOCTruth:
    """The ground truth for VOC's scores: crowds and what has COCO's field `ignore` are difficult.

    paths: where the images of COCO's annotations are, if that is known
    """
    if isinstance(truth, VOCTruth):
        return truth
    gt = truth.gt
    order = np.argsort(gt.cat_ids)
    names = gt.cat_names or tuple(map(str, gt.cat_ids.tolist()))
    label = np.searchsorted(gt.cat_ids[order], gt.category_id)
    x, y, width, height = gt.bbox.T
    bbox = np.stack((y, x, y + height, x + width), axis=1)
    difficult = gt.crowd if gt.ignore is None else gt.crowd | gt.ignore
    places = [np.flatnonzero(gt.image_id == number) for number in truth.file_names]
    return VOCTruth(
        path=truth.path,
        names=tuple(names[k] for k in order),
        photo_names=[name or str(number) for number, name in truth.file_names.items()],
        photo_paths=paths or truth.known_paths or [None] * len(places),
        bboxes=[bbox[rows] for rows in places],
        labels=[label[rows] for rows in places],
        difficults=[difficult[rows] for rows in places],
        last_pixel=0,
    )
