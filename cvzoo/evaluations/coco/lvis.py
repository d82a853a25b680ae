"""LVIS' evaluation: like COCO's, for images that are annotated for some classes only (federated data sets)."""

import dataclasses
import pathlib
from collections.abc import Iterable, Mapping
from typing import Literal, NamedTuple

import msgspec
import numpy as np

from cvzoo.errors.exceptions import ConfigError, FileFormatError, ValueRangeError
from cvzoo.evaluations.coco.columns import refuse_first
from cvzoo.evaluations.coco.detections import COCODetections
from cvzoo.evaluations.coco.evaluate import match_coco, result_of_matches, take_detections
from cvzoo.evaluations.coco.ground_truth import COCOGroundTruth
from cvzoo.evaluations.coco.json_records import Integer, convert
from cvzoo.evaluations.coco.lookup import falling_ranks, lookup, places_in_runs, stable_order
from cvzoo.evaluations.coco.matches import COCOMatches
from cvzoo.evaluations.coco.parameters import COCOParameters
from cvzoo.evaluations.coco.read_detections import DetectionsSource, read_coco_detections
from cvzoo.evaluations.coco.read_ground_truth import GroundTruthSource, read_coco_ground_truth
from cvzoo.evaluations.coco.result import COCOResult
from cvzoo.typing.aliases import Array, ArrayLike

LVIS_KEYS = ("AP", "AP50", "AP75", "APs", "APm", "APl", "APr", "APc", "APf", "AR@300", "ARs@300", "ARm@300", "ARl@300")
"""The names of LVIS' 13 scores, in its order."""


@dataclasses.dataclass(frozen=True, eq=False)
class LVISLabelling:
    """LVIS' annotations in addition to objects.

    absent: (n, 2) int64, image and class: the negative set, where the class is known to be absent
    partial: (m, 2) int64, image and class: annotated not exhaustively, where unmatched detections are ignored
    frequency: by class id "r", "c" or "f": rare, common or frequent in the training set
    """

    absent: Array
    partial: Array
    frequency: dict[int, str]


@dataclasses.dataclass(frozen=True, eq=False)
class LVISResult:
    """The result of an LVIS evaluation: a COCOResult with one limit of detections, and LVIS' summary."""

    coco: COCOResult
    frequency: tuple[str, ...]

    @property
    def summary(self) -> dict[str, float]:
        """LVIS' 13 scores by name; -1 where there is nothing to average."""
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
    def stats(self) -> Array:
        """The scores of the summary in their order, (13,) float64."""
        return np.array(list(self.summary.values()))


class LVISMatches(NamedTuple):
    """Matched detections of LVIS' evaluation.

    gt: the objects, none of them a crowd region; dt: the detections that count, of classes annotated in their image
    parameters: of the evaluation
    """

    matches: COCOMatches
    gt: COCOGroundTruth
    dt: COCODetections
    parameters: COCOParameters


def evaluate_lvis(
    gt: COCOGroundTruth | GroundTruthSource,
    dt: COCODetections | DetectionsSource,
    *,
    iou_type: Literal["bbox", "segm"] = "bbox",
    max_det: int = 300,
    labelling: LVISLabelling | None = None,
    img_ids: ArrayLike | None = None,
) -> LVISResult:
    """The result of LVIS' evaluation, precision and recall bit for bit as the lvis package computes them.

    gt: the path, bytes or dictionary of an LVIS annotation file; or COCOGroundTruth, with the labelling
    dt: COCODetections, or the path, bytes or list of a results file
    max_det: maximum number of detections per image, of all classes together
    img_ids: the images to evaluate; None: all
    Detections count for classes that are in the image or in its negative set; unmatched ones of classes that are not
    annotated exhaustively are ignored. There are no crowd regions.
    Raises ValueRangeError with the index of the first record that is malformed.
    Source: "LVIS: A Dataset for Large Vocabulary Instance Segmentation" (Gupta, Dollar, Girshick, 2019).
    """
    parameters = lvis_parameters(iou_type, max_det=max_det, img_ids=img_ids)
    if not isinstance(gt, COCOGroundTruth):
        labelling = read_lvis_labelling(gt)
        gt = read_coco_ground_truth(gt, parameters)
    if labelling is None:
        raise ValueRangeError("evaluate_lvis needs the negative classes of images", hint="labelling=LVISLabelling(...)")
    if not isinstance(dt, COCODetections):
        dt = read_coco_detections(dt, parameters)
    matched = match_lvis(gt, dt, labelling, parameters)
    names = dict(zip(gt.cat_ids.tolist(), gt.cat_names or map(str, gt.cat_ids.tolist())))
    result = result_of_matches(matched.matches, parameters, cat_names=names)
    return LVISResult(coco=result, frequency=tuple(labelling.frequency.get(int(cat), "") for cat in result.cat_ids))


def lvis_parameters(
    iou_type: Literal["bbox", "segm"], *, max_det: int = 300, img_ids: ArrayLike | None = None
) -> COCOParameters:
    """The parameters of LVIS' evaluation, also for reading its files. The arguments are those of `evaluate_lvis`."""
    if iou_type not in ("bbox", "segm"):
        raise ConfigError("iou_type must be bbox or segm", got=repr(iou_type))
    return COCOParameters(
        iou_type=iou_type,
        max_dets=(max_det,),
        corrections=("missing_iscrowd", "ignore_field"),
        img_ids=None if img_ids is None else np.asarray(img_ids),
    )


def match_lvis(
    gt: COCOGroundTruth, dt: COCODetections, labelling: LVISLabelling, parameters: COCOParameters
) -> LVISMatches:
    """The matched detections of `evaluate_lvis`. parameters: of `lvis_parameters`"""
    # LVIS has no crowds
    gt = dataclasses.replace(gt, crowd=np.zeros(len(gt), bool))
    refuse_first(
        "detections",
        "image_id",
        dt.image_id,
        ~lookup(np.sort(gt.img_ids), dt.image_id)[1],
        "an image of the ground truth",
    )
    # LVIS limits the detections of an image over all classes, COCO those of each class
    dt = take_detections(dt, _highest_scoring(dt, parameters.max_dets[-1]))
    present = np.stack((gt.image_id, gt.category_id), axis=1)
    # a class that an image was not annotated for is neither present nor absent: its detections do not count
    of_interest = _among(dt.image_id, dt.category_id, np.concatenate((present, labelling.absent)))
    dt = take_detections(dt, np.flatnonzero(of_interest))
    matches = match_coco(gt, dt, parameters)
    # not all objects of these classes were annotated: an unmatched detection is no false positive
    partial = _among(matches.image_id, matches.cat_ids[matches.cat], labelling.partial)
    matches = dataclasses.replace(matches, aside=matches.aside | partial)
    return LVISMatches(matches, gt, dt, parameters)


def _highest_scoring(dt: COCODetections, max_det: int) -> Array:
    """The rows of the highest-scoring detections of each image, in their order."""
    img = np.unique(dt.image_id, return_inverse=True)[1].reshape(-1)
    order = stable_order(img, falling_ranks(dt.score))
    return np.sort(order[places_in_runs(img[order]) < max_det])


def _among(image_id: Array, category_id: Array, pairs: Array) -> Array:
    """(N,) bool, whether each (image, class) is among the pairs."""
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


def read_lvis_labelling(source: GroundTruthSource) -> LVISLabelling:
    """The labelling of the path, bytes or dictionary of an LVIS annotation file. Raises ValueRangeError, OSError."""
    if isinstance(source, Mapping):
        file = convert({name: source.get(name) for name in ("images", "categories")}, _File, "ground truth")
    else:
        text = source if isinstance(source, bytes) else pathlib.Path(source).read_bytes()
        try:
            file = msgspec.json.decode(text, type=_File)
        except msgspec.ValidationError as error:
            raise ValueRangeError(f"ground truth is malformed: {error}", hint="is this an LVIS file?") from error
        except msgspec.DecodeError as error:
            raise FileFormatError(f"ground truth is not JSON: {error}") from error
    return LVISLabelling(
        absent=_pairs((image.id, cat) for image in file.images for cat in image.neg_category_ids),
        partial=_pairs((image.id, cat) for image in file.images for cat in image.not_exhaustive_category_ids),
        frequency={category.id: category.frequency for category in file.categories},
    )


def _pairs(pairs: Iterable[tuple[int, int]]) -> Array:
    return np.array(list(pairs), np.int64).reshape(-1, 2)
