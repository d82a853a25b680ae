"""LVIS' scores: like COCO's, for photos whose objects are labelled for some classes only."""

import dataclasses
import pathlib
from collections.abc import Mapping
from typing import Literal

import msgspec
import numpy as np

from cvzoo.errors.exceptions import ConfigError, FileFormatError, ValueRangeError
from cvzoo.evaluations.coco.columns import refuse_first
from cvzoo.evaluations.coco.detections import COCODetections
from cvzoo.evaluations.coco.evaluate import match_coco, result_of_matches, take_detections
from cvzoo.evaluations.coco.ground_truth import COCOGroundTruth
from cvzoo.evaluations.coco.json_records import Integer, convert
from cvzoo.evaluations.coco.lookup import falling_ranks, lookup, places_in_runs, stable_order
from cvzoo.evaluations.coco.parameters import COCOParameters
from cvzoo.evaluations.coco.read_detections import read_coco_detections
from cvzoo.evaluations.coco.read_ground_truth import read_coco_ground_truth
from cvzoo.evaluations.coco.result import COCOResult

LVIS_KEYS = ("AP", "AP50", "AP75", "APs", "APm", "APl", "APr", "APc", "APf", "AR@300", "ARs@300", "ARm@300", "ARl@300")
"""The names of LVIS' 13 numbers, in its order."""


@dataclasses.dataclass(frozen=True, eq=False)
class LVISLabelling:
    """What LVIS says beside objects.

    absent: (n, 2) int64, photo and class: the class was looked for, and is not there
    partial: (m, 2) int64, photo and class: not all objects are labelled, so a detection too many is no mistake
    frequency: a class' id to "r", "c" or "f": rare, common or frequent in the training set
    """

    absent: np.ndarray
    partial: np.ndarray
    frequency: dict[int, str]


@dataclasses.dataclass(frozen=True, eq=False)
class LVISResult:
    """A COCOResult whose axes of numbers of detections are one long, and LVIS' own summary."""

    coco: COCOResult
    frequency: tuple[str, ...]

    @property
    def summary(self) -> dict[str, float]:
        """LVIS' 13 numbers by name; -1 where there is nothing to average."""
        precision, recall = self.coco.precision[..., 0], self.coco.recall[..., 0]
        thrs = self.coco.parameters.iou_thrs
        groups = [[k for k, each in enumerate(self.frequency) if each == name] for name in "rcf"]
        values = [precision[..., 0], precision[thrs == 0.5][..., 0], precision[thrs == 0.75][..., 0]]
        values += [precision[..., a] for a in (1, 2, 3)]
        values += [precision[:, :, group, 0] for group in groups]
        values += [recall[..., a] for a in range(4)]
        return {
            key: float(np.mean(each[each > -1])) if (each > -1).any() else -1.0
            for key, each in zip(LVIS_KEYS, values, strict=True)
        }

    @property
    def stats(self) -> np.ndarray:
        """The numbers of the summary in their order, (13,) float64."""
        return np.array(list(self.summary.values()))


def evaluate_lvis(
    gt, dt, *, iou_type: Literal["bbox", "segm"] = "bbox", max_det: int = 300, labelling: LVISLabelling | None = None
) -> LVISResult:
    """The result of LVIS' evaluation, precision and recall bit for bit as its own tool computes them.

    gt: the path, bytes or dictionary of an LVIS annotation file; or COCOGroundTruth, with the labelling
    dt: COCODetections, or the path, bytes or list of a results file
    max_det: detections of a photo, of all classes together, that count
    Detections count for classes that are in the photo or were looked for; unmatched ones of classes that are labelled
    in part are left out. Nothing is a crowd.
    Raises ValueRangeError with the index of the first record that makes no sense.
    Source: "LVIS: A Dataset for Large Vocabulary Instance Segmentation" (Gupta, Dollar, Girshick, 2019).
    """
    if iou_type not in ("bbox", "segm"):
        raise ConfigError("iou_type", expected="bbox or segm", got=repr(iou_type))
    parameters = COCOParameters(iou_type=iou_type, max_dets=(max_det,), corrections=("missing_iscrowd", "ignore_field"))
    if not isinstance(gt, COCOGroundTruth):
        labelling = _read_labelling(gt)
        gt = read_coco_ground_truth(gt, parameters)
    if labelling is None:
        raise ValueRangeError("LVIS needs to know which classes were looked for", hint="labelling=LVISLabelling(...)")
    if not isinstance(dt, COCODetections):
        dt = read_coco_detections(dt, parameters)
    gt = dataclasses.replace(gt, crowd=np.zeros(len(gt), bool))
    refuse_first(
        "detections",
        "image_id",
        dt.image_id,
        ~lookup(np.sort(gt.img_ids), dt.image_id)[1],
        "a photo of the ground truth",
    )
    surest = _surest(dt, max_det)
    dt = take_detections(dt, surest)
    present = np.stack((gt.image_id, gt.category_id), axis=1)
    of_interest = _among(dt.image_id, dt.category_id, np.concatenate((present, labelling.absent)))
    matches = match_coco(gt, take_detections(dt, np.flatnonzero(of_interest)), parameters)
    partial = _among(matches.image_id, matches.cat_ids[matches.cat], labelling.partial)
    matches = dataclasses.replace(matches, aside=matches.aside | partial)
    names = dict(zip(gt.cat_ids.tolist(), gt.cat_names or map(str, gt.cat_ids.tolist())))
    result = result_of_matches(matches, parameters, cat_names=names)
    return LVISResult(coco=result, frequency=tuple(labelling.frequency.get(int(cat), "") for cat in result.cat_ids))


def _surest(dt, max_det):
    """The rows of the surest detections of each photo, in their order."""
    img = np.unique(dt.image_id, return_inverse=True)[1].reshape(-1)
    order = stable_order(img, falling_ranks(dt.score))
    return np.sort(order[places_in_runs(img[order]) < max_det])


def _among(image_id, category_id, pairs):
    """(N,) bool: which (photo, class) are among the pairs."""
    place = np.unique(np.concatenate((image_id, pairs[:, 0])), return_inverse=True)[1]
    cats, cat = np.unique(np.concatenate((category_id, pairs[:, 1])), return_inverse=True)
    key = place.reshape(-1) * cats.size + cat.reshape(-1)
    return np.isin(key[: len(image_id)], key[len(image_id) :])


class _Image(msgspec.Struct, gc=False):
    id: Integer
    neg_category_ids: list[Integer]
    not_exhaustive_category_ids: list[Integer]


class _Category(msgspec.Struct, gc=False):
    id: int
    frequency: str = ""


class _File(msgspec.Struct):
    images: list[_Image]
    categories: list[_Category]


def _read_labelling(source):
    if isinstance(source, Mapping):
        file = convert({name: source.get(name) for name in ("images", "categories")}, _File, "ground truth")
    else:
        text = source if isinstance(source, bytes) else pathlib.Path(source).read_bytes()
        try:
            file = msgspec.json.decode(text, type=_File)
        except msgspec.ValidationError as error:
            raise ValueRangeError(f"ground truth: {error}", hint="is this an LVIS file?") from error
        except msgspec.DecodeError as error:
            raise FileFormatError(f"ground truth: no JSON: {error}") from error
    return LVISLabelling(
        absent=_pairs((image.id, cat) for image in file.images for cat in image.neg_category_ids),
        partial=_pairs((image.id, cat) for image in file.images for cat in image.not_exhaustive_category_ids),
        frequency={category.id: category.frequency for category in file.categories},
    )


def _pairs(pairs):
    return np.array(list(pairs), np.int64).reshape(-1, 2)
