"""Thresholds that a model has as attributes, in presets for a purpose."""

import contextlib
from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

from cvzoo.errors.exceptions import ValueRangeError
from cvzoo.links.model.typed_value import NO_LIMITS, Limits, expected_words, typed_value


class Preset(NamedTuple):
    """Thresholds for a purpose."""

    nms_thresh: float
    score_thresh: float


class AbstractThresholds:
    """Thresholds of a model that detects instances.

    score_thresh: what scores this or less is dropped
    nms_thresh: of two boxes of one class whose IoU is greater, the lower score is dropped
    limit: how many instances an image keeps at most, the best ones; None: all
    presets: the thresholds for "visualize" (what a new model has) and "evaluate"

    The thresholds belong to the model, not to a thread: who predicts in several threads sets them before.
    """

    presets: Mapping[str, Preset] = {"visualize": Preset(0.5, 0.5), "evaluate": Preset(0.5, 0.05)}
    score_thresh: float = 0.5
    nms_thresh: float = 0.5
    limit: int | None = 100

    def use_preset(self, name: str) -> None:
        """Set the thresholds for a purpose: "visualize" or "evaluate". Raises ValueRangeError for another."""
        if name not in self.presets:
            raise ValueRangeError(
                "there is no such preset", expected=" or ".join(map(repr, self.presets)), got=repr(name)
            )
        self.nms_thresh, self.score_thresh = self.presets[name]

    @contextlib.contextmanager
    def using_preset(self, name: str) -> Iterator[None]:
        """A block with the thresholds for a purpose; afterwards they are what they were."""
        before = self.nms_thresh, self.score_thresh
        self.use_preset(name)
        try:
            yield
        finally:
            self.nms_thresh, self.score_thresh = before


def threshold_settings(model: AbstractThresholds) -> dict[str, Any]:
    """presets (name -> nms_thresh, score_thresh) and limit, as JSON has them."""
    return {
        "presets": {name: [float(value) for value in preset] for name, preset in model.presets.items()},
        "limit": None if model.limit is None else int(model.limit),
    }


def stored_presets(settings: Mapping[str, Any]) -> dict[str, Preset] | None:
    """What `threshold_settings` wrote; None if an old file has none. Raises ValueRangeError for anything else."""
    if "presets" not in settings:
        return None
    pairs = _stored(settings, "presets", Mapping[str, tuple[float, float]])
    return {name: Preset(*map(float, pair)) for name, pair in pairs.items()}


def stored_limit(settings: Mapping[str, Any]) -> int | None:
    """How many instances an image keeps at most. Raises ValueRangeError."""
    return _stored(settings, "limit", int | None, Limits(at_least=0))


def _stored(settings: Mapping[str, Any], name: str, kind: Any, limits: Limits = NO_LIMITS) -> Any:
    value = settings.get(name)
    try:
        return typed_value(kind, value, limits)
    except (TypeError, ValueError, OverflowError) as error:
        raise ValueRangeError(name, expected=expected_words(kind, limits), got=repr(value)[:80]) from error


def use_stored_thresholds(model: AbstractThresholds, settings: Mapping[str, Any]) -> None:
    """Give the model what `threshold_settings` wrote, and the preset "visualize".

    settings: of a file; an old one has neither presets nor limit, and the model keeps its own
    Raises ValueRangeError for what it did not write.
    """
    presets = stored_presets(settings)
    if presets is not None:
        model.presets = presets
    if "limit" in settings:
        model.limit = stored_limit(settings)
    model.use_preset("visualize")
