"""Thresholds of models, as attributes, and presets of them."""

import contextlib
from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

import numpy as np

from cvzoo.errors.exceptions import UnsupportedError, ValueRangeError
from cvzoo.links.model.typed_value import NO_LIMITS, Limits, expected_words, typed_value
from cvzoo.typing.aliases import Array


class Preset(NamedTuple):
    """Thresholds for a purpose."""

    nms_thresh: float
    score_thresh: float


class ClassPreset(NamedTuple):
    """Thresholds for a purpose, with one for the scores of each class; `score_thresh` is the least of them."""

    nms_thresh: float
    score_thresh: float
    class_score_thresh: tuple[float, ...]


class AbstractThresholds:
    """Thresholds of a model that detects instances.

    n_fg_class: the number of classes, without a background; set by each network
    score_thresh: instances with scores of at most this are dropped
    class_score_thresh: the same for each class, in order of label, after `score_thresh`, NMS and `limit`; None: no
        thresholds of classes
    nms_thresh: IoU threshold of NMS within a class
    limit: maximum number of instances per image, the highest-scoring ones; None: all
    presets: the thresholds for "visualize" (the default) and "evaluate"; `cvzoo evaluate --find-thresholds` adds
        "deploy", with a threshold for each class

    The thresholds belong to the model, not to a thread: set them before predicting in several threads.
    """

    n_fg_class: int
    presets: Mapping[str, Preset | ClassPreset] = {"visualize": Preset(0.5, 0.5), "evaluate": Preset(0.5, 0.05)}
    score_thresh: float = 0.5
    nms_thresh: float = 0.5
    class_score_thresh: tuple[float, ...] | None = None
    limit: int | None = 100

    def use_preset(self, name: str) -> None:
        """Set the thresholds of a preset: "visualize" or "evaluate". Raises ValueRangeError for an unknown one."""
        if name not in self.presets:
            raise ValueRangeError(
                "there is no such preset",
                expected=" or ".join(map(repr, self.presets)),
                got=repr(name),
                hint="cvzoo evaluate --find-thresholds f1 --save-model FILE" if name == "deploy" else None,
            )
        preset = self.presets[name]
        self.nms_thresh, self.score_thresh, *_ = preset
        self.class_score_thresh = preset.class_score_thresh if isinstance(preset, ClassPreset) else None

    def add_preset(self, name: str, preset: Preset | ClassPreset) -> None:
        """Add or replace a preset of this model, which `save_model` stores."""
        self.presets = {**self.presets, name: preset}

    @contextlib.contextmanager
    def using_preset(self, name: str) -> Iterator[None]:
        """A block with the thresholds of a preset, which are restored afterwards."""
        before = self.nms_thresh, self.score_thresh, self.class_score_thresh
        self.use_preset(name)
        try:
            yield
        finally:
            self.nms_thresh, self.score_thresh, self.class_score_thresh = before

    @contextlib.contextmanager
    def using_score(self, score: str | float | None) -> Iterator[None]:
        """A block with the thresholds of the argument `score` of `predict`, which are restored afterwards.

        score: the name of a preset; or the score above which instances are kept, of any class; None: as they are
        Raises ValueRangeError for an unknown preset or a score outside of [0, 1].
        """
        if isinstance(score, str):
            with self.using_preset(score):
                yield
            return
        if score is None:
            yield  # and nothing is assigned: a compiled network would compare all its settings
            return
        if not 0 <= score <= 1:
            raise ValueRangeError("score must be a preset's name or in [0, 1]", got=score)
        before = self.score_thresh, self.class_score_thresh
        self.score_thresh, self.class_score_thresh = float(score), None
        try:
            yield
        finally:
            self.score_thresh, self.class_score_thresh = before

    def above_class_thresholds(self, label: Array, score: Array) -> Array:
        """Whether each instance scores above the threshold of its class, (R,) bool; all of them without thresholds.

        label: (R,) int; score: (R,) float
        Raises ValueRangeError if a class has no threshold.
        """
        if self.class_score_thresh is None:
            return np.ones(len(label), bool)
        thresholds = np.asarray(self.class_score_thresh)
        if label.max(initial=-1) >= len(thresholds):
            raise ValueRangeError(
                "class_score_thresh must have a threshold for each class",
                expected=f"{int(label.max()) + 1} or more",
                got=len(thresholds),
            )
        above: Array = score > thresholds[label]
        return above


def using_score_of(model: object, score: str | float | None) -> contextlib.AbstractContextManager[None]:
    """`using_score` of a model that may have no thresholds. Raises UnsupportedError if it has none to set."""
    if isinstance(model, AbstractThresholds):
        return model.using_score(score)
    if score is not None:
        raise UnsupportedError(f"score= applies to detectors, which a {type(model).__name__} is not")
    return contextlib.nullcontext()


def threshold_settings(model: AbstractThresholds) -> dict[str, Any]:
    """presets (name -> nms_thresh, score_thresh and, if given, those of classes) and limit, as JSON values."""
    return {
        "presets": {name: _preset_as_json(preset) for name, preset in model.presets.items()},
        "limit": None if model.limit is None else int(model.limit),
    }


def stored_presets(settings: Mapping[str, Any]) -> dict[str, Preset | ClassPreset] | None:
    """The presets in the output of `threshold_settings`; None for older files. Raises ValueRangeError if invalid."""
    if "presets" not in settings:
        return None
    kind = Mapping[str, tuple[float, float] | tuple[float, float, tuple[float, ...]]]
    presets = _stored(settings, "presets", kind)
    by_name: dict[str, Preset | ClassPreset] = {}
    for name, (nms_thresh, score_thresh, *of_classes) in presets.items():
        pair = float(nms_thresh), float(score_thresh)
        by_name[name] = ClassPreset(*pair, tuple(map(float, of_classes[0]))) if of_classes else Preset(*pair)
    return by_name


def stored_limit(settings: Mapping[str, Any]) -> int | None:
    """The limit in the output of `threshold_settings`. Raises ValueRangeError if invalid."""
    return _stored(settings, "limit", int | None, Limits(at_least=0))


def _preset_as_json(preset: Preset | ClassPreset) -> list[Any]:
    nms_thresh, score_thresh, *of_classes = preset
    return [float(nms_thresh), float(score_thresh), *([float(each) for each in row] for row in of_classes)]


def _stored(settings: Mapping[str, Any], name: str, kind: Any, limits: Limits = NO_LIMITS) -> Any:
    value = settings.get(name)
    try:
        return typed_value(kind, value, limits)
    except (TypeError, ValueError, OverflowError) as error:
        raise ValueRangeError(name, expected=expected_words(kind, limits), got=repr(value)[:80]) from error


def use_stored_thresholds(model: AbstractThresholds, settings: Mapping[str, Any]) -> None:
    """Set the model's presets and limit from the output of `threshold_settings`, and use the preset "visualize".

    settings: of a file; an older one has neither presets nor limit, and the model keeps its own
    Raises ValueRangeError for invalid settings.
    """
    presets = stored_presets(settings)
    if presets is not None:
        model.presets = presets
    if "limit" in settings:
        model.limit = stored_limit(settings)
    model.use_preset("visualize")
