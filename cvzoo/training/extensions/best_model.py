"""Checkpoint of the best model."""

import json
import math
import os
import sys
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, cast

from cvzoo.errors.exceptions import UnsupportedError, ValueRangeError
from cvzoo.links.chain import Chain
from cvzoo.links.link import Link
from cvzoo.serializers.model_file import save_model
from cvzoo.serializers.safetensors import save_safetensors
from cvzoo.training.extension import AbstractExtension
from cvzoo.training.output_folder import write_or_warn
from cvzoo.typing.aliases import LabelNames

if TYPE_CHECKING:
    from cvzoo.training.trainer import Trainer


class BestModel(AbstractExtension):
    """Saves the model whenever a score is at least as good as ever before.

    model: a model that `cvzoo.serializers.load_model` supports is saved with its class names and preprocessing; of any
        other link only the parameters are saved, and `label_names` if given
    key: of the observation, such as "validation/main/map"; iterations without it are skipped. The value itself counts,
        not its mean over an interval
    best_is: "largest" or "smallest"
    filename: in the trainer's folder
    half: save weights in float16
    label_names: for a link whose file would not have them

    value, iteration: of the best so far; NaN and None before the first
    Of equal scores the last counts: once the mAP is 1, training still raises the scores of the objects found.
    If the file cannot be written, a warning is given, the older one is kept, and the next better model is saved.
    """

    priority = -900  # after all that report or change values, before the snapshot, which has the state of this one

    def __init__(
        self,
        model: Link,
        key: str,
        best_is: str = "largest",
        *,
        filename: str = "best.safetensors",
        half: bool = False,
        label_names: LabelNames | None = None,
    ):
        if best_is not in ("largest", "smallest"):
            raise ValueRangeError(
                "BestModel: best_is is unknown", expected="'largest' or 'smallest'", got=repr(best_is)
            )
        self._model = model
        self._key = key
        self._sign = 1 if best_is == "largest" else -1
        self._filename = filename
        self._half = half
        self._label_names = None if label_names is None else tuple(map(str, label_names))
        self._seen = False
        self.value = math.nan
        self.iteration: int | None = None

    def __call__(self, trainer: "Trainer") -> None:
        if self._key not in trainer.observation:
            return
        self._seen = True
        value = float(trainer.observation[self._key])
        # comparisons with NaN, the first value, are false: the first finite score is the best
        if not math.isfinite(value) or self._sign * value < self._sign * self.value:
            return
        path = os.path.join(trainer.out, self._filename)
        metadata = {
            "training": json.dumps(
                {"metric": self._key, "value": value, "iteration": trainer.updater.iteration}, sort_keys=True
            )
        }
        if write_or_warn(path, lambda: self._write(path, metadata)):
            self.value, self.iteration = value, trainer.updater.iteration

    def _write(self, path: str, metadata: Mapping[str, str]) -> None:
        try:
            # a link that is not a Chain raises UnsupportedError, too
            save_model(path, cast(Chain, self._model), half=self._half, metadata=metadata)
        except UnsupportedError:
            names = {} if self._label_names is None else {"label_names": json.dumps(self._label_names)}
            save_safetensors(path, self._model, metadata={**names, **metadata})

    def finalize(self) -> None:
        if not self._seen:
            print(f"no {self._filename} yet: no validation reported {self._key!r}", file=sys.stderr)

    def state(self) -> dict[str, Any]:
        return {"key": self._key, "value": self.value, "iteration": self.iteration, "seen": self._seen}

    def load_state(self, state: Mapping[str, Any]) -> None:
        if state.get("key", self._key) != self._key:
            return  # the state is of a different score, which cannot be compared
        self.value = float(state["value"])
        self.iteration = state["iteration"]
        self._seen = bool(state["seen"])
