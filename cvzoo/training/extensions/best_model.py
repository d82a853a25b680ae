"""The model at its best, in a file that says what it is."""

import json
import math
import os
import sys
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from cvzoo.errors.exceptions import UnsupportedError, ValueRangeError
from cvzoo.links.link import Link
from cvzoo.serializers.model_file import save_model
from cvzoo.serializers.safetensors import save_safetensors
from cvzoo.training.extension import AbstractExtension
from cvzoo.training.output_folder import write_or_warn

if TYPE_CHECKING:
    from cvzoo.training.trainer import Trainer


class BestModel(AbstractExtension):
    """Writes the model whenever a score is better than it ever was.

    model: what is stored: a model that `cvzoo.serializers.load_model` knows goes with its names of classes and its
        preprocessing; of any other link the numbers alone, and its `label_names` if it is given
    key: of the observation, such as "validation/main/map"; iterations without it are passed over. The value itself
        counts, not its mean over an interval
    best_is: "largest" or "smallest"
    filename: in the trainer's folder
    half: store filters and matrices in float16
    label_names: for a link whose file would not know them

    value, iteration: of the best so far; NaN and None before the first
    A file that cannot be written is told by a warning; the older one is kept then, and the next one as good is tried.
    """

    priority = -900  # after all who report or change values, before the snapshot, which holds what is best

    def __init__(
        self,
        model: Link,
        key: str,
        best_is: str = "largest",
        *,
        filename: str = "best.safetensors",
        half: bool = False,
        label_names: Any = None,
    ):
        if best_is not in ("largest", "smallest"):
            raise ValueRangeError("BestModel: best_is", expected="'largest' or 'smallest'", got=repr(best_is))
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
        if not math.isfinite(value) or self._sign * value <= self._sign * self.value:
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
            save_model(path, self._model, half=self._half, metadata=metadata)
        except UnsupportedError:
            names = {} if self._label_names is None else {"label_names": json.dumps(self._label_names)}
            save_safetensors(path, self._model, metadata={**names, **metadata})

    def finalize(self) -> None:
        if not self._seen:
            print(f"no {self._filename} yet: there was no validation that reports {self._key!r}", file=sys.stderr)

    def state(self) -> dict[str, Any]:
        return {"key": self._key, "value": self.value, "iteration": self.iteration, "seen": self._seen}

    def load_state(self, state: Mapping[str, Any]) -> None:
        if state.get("key", self._key) != self._key:
            return  # chosen by another score until now: values of two scores cannot be compared
        self.value = float(state["value"])
        self.iteration = state["iteration"]
        self._seen = bool(state["seen"])
