"""The parameters of a COCO evaluation."""

import dataclasses
from collections.abc import Collection, Iterable, Sequence
from typing import Literal, TypeAlias

import numpy as np

from cvzoo.errors.exceptions import ConfigError, ShapeError, ValueRangeError
from cvzoo.typing.aliases import Array, ArrayLike

IoUType: TypeAlias = Literal["bbox", "segm", "keypoints"]

CORRECTIONS = {
    "gt_id_zero": "a match with the object whose id is 0 counts as a match",
    "ignore_field": "the field `ignore` of an object is respected, as iscrowd is",
    "max_dets": "AP and AR are computed at the third of max_dets (the last, if there are fewer) and not at 100",
    "empty_results": "results without detections score 0 instead of raising an error",
    "missing_iscrowd": "an object without the field `iscrowd` is not a crowd region",
    "missing_area": "an object without the field `area` has the area of its box",
}
"""The accepted names of `corrections=`, each with the rule that it switches on."""

OKS_SIGMAS = np.array([26, 25, 25, 35, 35, 79, 79, 72, 72, 62, 62, 107, 107, 87, 87, 89, 89]) / 100 / 10.0
"""(17,) float64, standard deviations of human annotations of COCO's 17 keypoints, relative to the object's scale."""

MEAN_OKS_SIGMA = 0.067
"""The mean of `OKS_SIGMAS`, for keypoints that are not COCO's."""

_SMALL, _LARGE, _ALL = 32.0**2, 96.0**2, 1e5**2
_AREAS = {"all": (0.0, _ALL), "small": (0.0, _SMALL), "medium": (_SMALL, _LARGE), "large": (_LARGE, _ALL)}


@dataclasses.dataclass(frozen=True, init=False)
class COCOParameters:
    """Parameters of a COCO evaluation; the defaults are pycocotools' for the iou_type.

    iou_type: IoU of boxes ("bbox"), of masks ("segm") or object keypoint similarity ("keypoints")
    iou_thrs: (T,) float64, IoU thresholds of a match; default 0.50, 0.55 ... 0.95
    rec_thrs: (R,) float64, ascending, recall thresholds of the interpolated precision; default 0.00, 0.01 ... 1.00
    max_dets: maximum numbers of detections per class and image; default 1, 10, 100 (keypoints: 20)
    area_rng, area_rng_lbl: A closed area ranges in square pixels, and their names; default all, small, medium, large
        with limits 32**2 and 96**2 (keypoints: no small)
    use_cats: whether a detection must have the class of the object
    img_ids, cat_ids: the images and classes to evaluate; None: all. Without use_cats the order of cat_ids is that of
        the objects and detections of an image, which breaks ties
    kpt_oks_sigmas: (P,) float64, one per keypoint
    corrections: names of CORRECTIONS; without any, the scores are pycocotools' bit for bit
    accept: kinds of malformed records that are dropped, as by pycocotools, and counted in the notes of the result,
        instead of raising an error: "unknown_class" (detections)
    Raises ConfigError for an unknown name or an invalid value.
    """

    iou_type: IoUType
    iou_thrs: Array
    rec_thrs: Array
    max_dets: tuple[int, ...]
    area_rng: tuple[tuple[float, float], ...]
    area_rng_lbl: tuple[str, ...]
    use_cats: bool
    img_ids: Array | None
    cat_ids: Array | None
    kpt_oks_sigmas: Array
    corrections: tuple[str, ...]
    accept: tuple[str, ...]

    # written out, and not by dataclass, since the fields have arrays of what may be given as lists
    def __init__(
        self,
        iou_type: IoUType = "bbox",
        iou_thrs: ArrayLike | None = None,
        rec_thrs: ArrayLike | None = None,
        max_dets: Iterable[int] | None = None,
        area_rng: Iterable[tuple[float, float]] | None = None,
        area_rng_lbl: Iterable[str] | None = None,
        use_cats: bool = True,
        img_ids: ArrayLike | None = None,
        cat_ids: ArrayLike | None = None,
        kpt_oks_sigmas: ArrayLike | None = None,
        corrections: tuple[str, ...] = (),
        accept: tuple[str, ...] = (),
    ) -> None:
        if iou_type not in ("bbox", "segm", "keypoints"):
            raise ConfigError("iou_type is unknown", expected="bbox, segm or keypoints", got=repr(iou_type))
        if iou_type == "keypoints" and not use_cats:
            raise ConfigError(
                "use_cats=False has no meaning for keypoints",
                hint="rename all classes to one; pycocotools matches nothing",
            )
        _check_names("corrections", corrections, CORRECTIONS)
        _check_names("accept", accept, ("unknown_class",))
        self._set("iou_type", iou_type)
        self._set("use_cats", use_cats)
        self._set("corrections", corrections)
        self._set("accept", accept)
        self._set_thresholds(iou_thrs, rec_thrs)
        self._set_max_dets(max_dets)
        self._set_areas(area_rng, area_rng_lbl)
        for name, ids in (("img_ids", img_ids), ("cat_ids", cat_ids)):
            self._set(name, None if ids is None else self._ids(name, np.asarray(ids, np.int64)))
        sigmas = np.array(OKS_SIGMAS if kpt_oks_sigmas is None else kpt_oks_sigmas, np.float64)
        if sigmas.ndim != 1 or not (sigmas > 0).all():
            raise ConfigError("kpt_oks_sigmas must be (P,), all above 0", got=sigmas)
        self._set("kpt_oks_sigmas", sigmas)

    def _set_thresholds(self, iou_thrs: ArrayLike | None, rec_thrs: ArrayLike | None) -> None:
        # linspace and not i / 100: their last bits differ, and recalls are exactly at these points
        self._set("iou_thrs", _numbers("iou_thrs", iou_thrs, np.linspace(0.5, 0.95, 10)))
        self._set("rec_thrs", _numbers("rec_thrs", rec_thrs, np.linspace(0.0, 1.0, 101)))
        if (np.diff(self.rec_thrs) < 0).any():
            raise ConfigError("rec_thrs must ascend", got=self.rec_thrs)

    def _set_max_dets(self, max_dets: Iterable[int] | None) -> None:
        if max_dets is None:
            max_dets = (20,) if self.iou_type == "keypoints" else (1, 10, 100)
        self._set("max_dets", tuple(sorted(int(n) for n in max_dets)))
        if not self.max_dets or self.max_dets[0] < 0:
            raise ConfigError("max_dets must be one integer or more, none negative", got=self.max_dets)

    def _set_areas(self, area_rng: Iterable[tuple[float, float]] | None, area_rng_lbl: Iterable[str] | None) -> None:
        labels = tuple(label for label in _AREAS if not (self.iou_type == "keypoints" and label == "small"))
        if area_rng is None:
            if area_rng_lbl is not None:
                raise ConfigError("area_rng_lbl is given without area_rng", hint="give area_rng as well")
            self._set("area_rng", tuple(_AREAS[label] for label in labels))
            self._set("area_rng_lbl", labels)
        else:
            self._set("area_rng", tuple((float(low), float(high)) for low, high in area_rng))
            given = labels[: len(self.area_rng)] if area_rng_lbl is None else tuple(area_rng_lbl)
            self._set("area_rng_lbl", given)
        if not self.area_rng or len(self.area_rng) != len(self.area_rng_lbl):
            raise ConfigError("area_rng and area_rng_lbl differ in length", got=(self.area_rng, self.area_rng_lbl))

    def _ids(self, name: str, ids: Array) -> Array:
        if self.use_cats or name == "img_ids":
            return np.unique(ids)
        # as in pycocotools, not sorted: their order breaks ties, and the objects of a class would count as often as
        # the class is listed
        if np.unique(ids).size < ids.size:
            raise ConfigError("with use_cats=False cat_ids must not repeat a class", got=ids.tolist())
        return ids

    def _set(self, name: str, value: object) -> None:
        object.__setattr__(self, name, value)

    def corrects(self, name: str) -> bool:
        """Whether the correction of this name is requested."""
        if name not in CORRECTIONS:
            raise ConfigError("the correction is unknown", expected=", ".join(CORRECTIONS), got=name)
        return name in self.corrections

    def same_as(self, other: "COCOParameters") -> bool:
        """Whether two evaluations may be merged: all parameters but img_ids must be equal."""
        return all(
            np.array_equal(np.asarray(getattr(self, field.name)), np.asarray(getattr(other, field.name)))
            for field in dataclasses.fields(self)
            if field.name != "img_ids"
        )


def _check_names(argument: str, names: Sequence[str], known: Collection[str]) -> None:
    if isinstance(names, str):
        raise ConfigError(f"{argument} must be a tuple of names", got=repr(names), hint=f"{argument}=({names!r},)")
    for name in names:
        if name not in known:
            raise ConfigError(f"{argument} has an unknown name", expected=", ".join(known), got=repr(name))


def _numbers(name: str, given: ArrayLike | None, default: Array) -> Array:
    values = np.array(default if given is None else given, np.float64)
    if values.ndim != 1 or not values.size:
        raise ShapeError(f"{name} must be a list of one number or more", got=values.shape)
    if not np.isfinite(values).all():
        raise ValueRangeError(f"{name} must be finite", got=values)
    return values
