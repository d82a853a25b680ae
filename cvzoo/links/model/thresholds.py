"""Thresholds that a model has as attributes, in presets for a purpose."""

import contextlib
from collections.abc import Iterator, Mapping
from typing import NamedTuple

from cvzoo.errors.exceptions import ValueRangeError


class Preset(NamedTuple):
    """Thresholds for a purpose."""

    nms_thresh: float
    score_thresh: float


class AbstractThresholds:
    """What a model that finds instances has beside its network.

    score_thresh: what scores this or less is dropped
    nms_thresh: of two boxes of one class whose IoU is greater, the lower score is dropped
    limit: how many instances a photo keeps at most, the best ones; None: all
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
