"""Everything that a COCO evaluation can be asked to do differently."""

import dataclasses
from typing import Literal

import numpy as np

from cvzoo.errors.exceptions import ConfigError, ShapeError, ValueRangeError

CORRECTIONS = {
    "gt_id_zero": "a match with the object whose id is 0 counts as a match",
    "ignore_field": "an object's own field `ignore` is honoured, as iscrowd is",
    "max_dets": "AP and AR are read at the third of max_dets (the last, if there are fewer) and not at 100",
    "empty_results": "results without a single detection score 0 instead of being refused",
    "missing_iscrowd": "an object without the field `iscrowd` is no crowd",
    "missing_area": "an object without the field `area` has its box's",
}
"""The names that `corrections=` takes, each with the rule that holds in its presence."""

OKS_SIGMAS = np.array([26, 25, 25, 35, 35, 79, 79, 72, 72, 62, 62, 107, 107, 87, 87, 89, 89]) / 100 / 10.0
"""(17,) float64: how far people place each of COCO's 17 points from one another, relative to an object's scale."""

_SMALL, _LARGE, _ALL = 32.0**2, 96.0**2, 1e5**2
_AREAS = {"all": (0.0, _ALL), "small": (0.0, _SMALL), "medium": (_SMALL, _LARGE), "large": (_LARGE, _ALL)}


@dataclasses.dataclass(frozen=True)
class COCOParameters:
    """What to evaluate and how; the defaults are pycocotools' for the kind of overlap.

    iou_type: overlap of boxes ("bbox"), of masks ("segm") or of points ("keypoints")
    iou_thrs: (T,) float64, the overlaps that count as a match; default 0.50, 0.55 ... 0.95
    rec_thrs: (R,) float64, rising, the recalls at which precision is read; default 0.00, 0.01 ... 1.00
    max_dets: how many detections of a class and a photo count, at most; default 1, 10, 100 (points: 20)
    area_rng, area_rng_lbl: A closed ranges of area in square pixels, and their names; default all, small, medium,
        large with borders 32**2 and 96**2 (points: no small)
    use_cats: whether a detection must have the object's class
    img_ids, cat_ids: the photos and classes to evaluate; None: all. Without use_cats the order of cat_ids is that of
        the objects and detections of a photo, which settles ties
    kpt_oks_sigmas: (P,) float64, one for each point
    corrections: names of CORRECTIONS; none: the numbers are pycocotools', bit for bit
    accept: kinds of malformed records that are dropped, as pycocotools drops them, and counted in the result's notes,
        instead of being refused: "unknown_class" (detections)
    Raises ConfigError for a name or a number that makes no sense.
    """

    iou_type: Literal["bbox", "segm", "keypoints"] = "bbox"
    iou_thrs: np.ndarray | tuple | None = None
    rec_thrs: np.ndarray | tuple | None = None
    max_dets: tuple[int, ...] | None = None
    area_rng: tuple[tuple[float, float], ...] | None = None
    area_rng_lbl: tuple[str, ...] | None = None
    use_cats: bool = True
    img_ids: np.ndarray | tuple | None = None
    cat_ids: np.ndarray | tuple | None = None
    kpt_oks_sigmas: np.ndarray | tuple | None = None
    corrections: tuple[str, ...] = ()
    accept: tuple[str, ...] = ()

    def __post_init__(self):
        if self.iou_type not in ("bbox", "segm", "keypoints"):
            raise ConfigError("iou_type", expected="bbox, segm or keypoints", got=repr(self.iou_type))
        points = self.iou_type == "keypoints"
        if points and not self.use_cats:
            raise ConfigError(
                "use_cats=False has no meaning for points",
                hint="rename all classes to one; pycocotools matches nothing",
            )
        _check_names("corrections", self.corrections, CORRECTIONS)
        _check_names("accept", self.accept, ("unknown_class",))
        # linspace and not i / 100: their last bits differ, and recalls lie exactly on these points
        self._set("iou_thrs", _numbers("iou_thrs", self.iou_thrs, np.linspace(0.5, 0.95, 10)))
        self._set("rec_thrs", _numbers("rec_thrs", self.rec_thrs, np.linspace(0.0, 1.0, 101)))
        if (np.diff(self.rec_thrs) < 0).any():
            raise ConfigError("rec_thrs must rise", got=self.rec_thrs)
        max_dets = ((20,) if points else (1, 10, 100)) if self.max_dets is None else self.max_dets
        self._set("max_dets", tuple(sorted(int(n) for n in max_dets)))
        if not self.max_dets or self.max_dets[0] < 0:
            raise ConfigError("max_dets", expected="one number or more, none negative", got=self.max_dets)
        labels = tuple(label for label in _AREAS if not (points and label == "small"))
        if self.area_rng is None:
            if self.area_rng_lbl is not None:
                raise ConfigError("area_rng_lbl names ranges that are not given", hint="give area_rng as well")
            self._set("area_rng", tuple(_AREAS[label] for label in labels))
            self._set("area_rng_lbl", labels)
        else:
            self._set("area_rng", tuple((float(low), float(high)) for low, high in self.area_rng))
            given = labels[: len(self.area_rng)] if self.area_rng_lbl is None else tuple(self.area_rng_lbl)
            self._set("area_rng_lbl", given)
        if not self.area_rng or len(self.area_rng) != len(self.area_rng_lbl):
            raise ConfigError("area_rng and area_rng_lbl differ in length", got=(self.area_rng, self.area_rng_lbl))
        for name in ("img_ids", "cat_ids"):
            ids = getattr(self, name)
            if ids is not None:
                self._set(name, self._ids(name, np.asarray(ids, np.int64)))
        sigmas = np.array(OKS_SIGMAS if self.kpt_oks_sigmas is None else self.kpt_oks_sigmas, np.float64)
        if sigmas.ndim != 1 or not (sigmas > 0).all():
            raise ConfigError("kpt_oks_sigmas", expected="(P,), all above 0", got=sigmas)
        self._set("kpt_oks_sigmas", sigmas)

    def _ids(self, name, ids):
        if self.use_cats or name == "img_ids":
            return np.unique(ids)
        # pycocotools leaves them as they are: their order settles ties, and it counts the objects of a class as often
        # as the class is named
        if np.unique(ids).size < ids.size:
            raise ConfigError("use_cats=False: a class stands twice among cat_ids", got=ids.tolist())
        return ids

    def _set(self, name, value):
        object.__setattr__(self, name, value)

    def corrects(self, name: str) -> bool:
        """Whether the correction of this name is asked for."""
        if name not in CORRECTIONS:
            raise ConfigError("no correction has this name", expected=", ".join(CORRECTIONS), got=name)
        return name in self.corrections

    def same_as(self, other: "COCOParameters") -> bool:
        """Whether two evaluations may be merged: everything but the photos must agree."""
        return all(
            np.array_equal(np.asarray(getattr(self, field.name)), np.asarray(getattr(other, field.name)))
            for field in dataclasses.fields(self)
            if field.name != "img_ids"
        )


def _check_names(argument, names, known):
    if isinstance(names, str):
        raise ConfigError(f"{argument} is a list of names", got=repr(names), hint=f"{argument}=({names!r},)")
    for name in names:
        if name not in known:
            raise ConfigError(f"{argument}: no such name", expected=", ".join(known), got=repr(name))


def _numbers(name, given, default):
    values = np.array(default if given is None else given, np.float64)
    if values.ndim != 1 or not values.size:
        raise ShapeError(f"{name} is a list of one number or more", got=values.shape)
    if not np.isfinite(values).all():
        raise ValueRangeError(f"{name} holds a NaN or an infinity", got=values)
    return values
