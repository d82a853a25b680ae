"""The training recipe of RetinaNet."""

import dataclasses
from collections.abc import Mapping
from types import MappingProxyType
from typing import Any, Literal

from cvzoo.errors.exceptions import ValueRangeError
from cvzoo.links.model.retinanet.config import RetinaNetConfig

# metrics and their keys in the log
METRICS: Mapping[str, str] = MappingProxyType(
    {"voc": "validation/main/map", "coco": "validation/main/map/iou=0.50:0.95/area=all/max_dets=100"}
)


@dataclasses.dataclass(frozen=True, kw_only=True)
class RetinaNetRecipe:
    """All hyperparameters of a training; they are saved in the run's folder.

    data: specification of both data sets, for `bbox_splits`
    settings: of the network; its min_size and max_size are those of inference, and of training, too
    pretrained: a name or a path, as for RetinaNet; None: random initialization
    epochs, batch_size: number of epochs, images per batch
    lr, weight_decay, clip: learning rate and weight decay of AdamW, maximum norm of all gradients
    warmup: number of warm-up updates; None: 300, or a third of a run of fewer than 900 updates
    scales: short sides in training, as fractions of min_size
    jitter: strength of the color jitter
    metric: that selects the best model and is reported at the end: "voc", the mAP at an IoU of 0.5 by Pascal VOC's
        rules, or "coco", the AP over IoUs of 0.50 to 0.95 by COCO's
    seed: random seed
    processes: number of data-loading workers
    Raises ValueRangeError for an invalid value.
    """

    data: str
    settings: RetinaNetConfig
    pretrained: str | None = None
    epochs: int = 50
    batch_size: int = 4
    lr: float = 1e-3
    weight_decay: float = 5e-5
    warmup: int | None = None
    clip: float = 10.0
    scales: tuple[float, ...] = (0.8, 0.9, 1.0)
    jitter: float = 0.2
    metric: Literal["voc", "coco"] = "voc"
    seed: int = 0
    processes: int = 2

    def __post_init__(self) -> None:
        for name in ("epochs", "batch_size", "lr", "clip", "processes"):
            if not getattr(self, name) > 0:
                raise ValueRangeError(f"RetinaNetRecipe: {name} must be positive", got=getattr(self, name))
        if not self.scales or min(self.scales) <= 0:
            raise ValueRangeError("RetinaNetRecipe: scales must be positive", got=self.scales)
        if self.metric not in METRICS:
            raise ValueRangeError(
                "RetinaNetRecipe: metric is unknown", expected=" or ".join(METRICS), got=repr(self.metric)
            )
        if self.warmup is not None and self.warmup < 1:
            raise ValueRangeError("RetinaNetRecipe: warmup must be positive", got=self.warmup)

    @property
    def best(self) -> str:
        """The key of the metric in the log, which selects the best model."""
        return METRICS[self.metric]

    def n_update(self, n_example: int) -> int:
        """The number of updates of a training on n_example images."""
        return -(-self.epochs * n_example // self.batch_size)

    def resolved(self, n_example: int) -> "RetinaNetRecipe":
        """The recipe with an explicit warm-up. Raises ValueRangeError if that is not shorter than the training."""
        n = self.n_update(n_example)
        if self.warmup is None:
            return dataclasses.replace(self, warmup=max(min(300, n // 3), 1))
        if self.warmup >= n:
            raise ValueRangeError(
                "the warm-up is not shorter than the training: the learning rate would never be reached",
                expected=f"fewer than its {n} updates",
                got=self.warmup,
            )
        return self

    @property
    def shorts(self) -> tuple[int, ...]:
        """Short sides in training, pixels."""
        return tuple(max(round(scale * self.settings.min_size), 32) for scale in self.scales)

    def lines(self) -> list[tuple[str, Any]]:
        """(name, value) of all hyperparameters, the network's settings last, for printing."""
        own = [(field.name, getattr(self, field.name)) for field in dataclasses.fields(self)]
        return [(name, value) for name, value in own if name != "settings"] + [
            (f"settings.{name}", value) for name, value in dataclasses.asdict(self.settings).items()
        ]
