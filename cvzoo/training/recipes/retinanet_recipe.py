"""What a training of RetinaNet is decided by."""

import dataclasses
from typing import Any

from cvzoo.errors.exceptions import ValueRangeError
from cvzoo.links.model.retinanet.settings import RetinaNetSettings


@dataclasses.dataclass(frozen=True, kw_only=True)
class RetinaNetRecipe:
    """All numbers of a training; the run's folder keeps them.

    data: what names both data sets, for `bbox_splits`
    settings: of the network; its min_size and max_size are those of use, and of training, too
    pretrained: a name or a path, as RetinaNet takes it; None: random values
    epochs, batch_size: how often each photo is seen, and how many at once
    lr, weight_decay, warmup, clip: of AdamW, its first updates, and the largest norm of all gradients
    scales: short sides in training, as shares of min_size
    jitter: strength of changes of colours
    seed: of everything
    processes: that read and change photos
    Raises ValueRangeError for a number that cannot be.
    """

    data: str
    settings: RetinaNetSettings
    pretrained: str | None = None
    epochs: int = 50
    batch_size: int = 4
    lr: float = 1e-3
    weight_decay: float = 5e-5
    warmup: int = 300
    clip: float = 10.0
    scales: tuple[float, ...] = (0.8, 0.9, 1.0)
    jitter: float = 0.2
    seed: int = 0
    processes: int = 2

    def __post_init__(self) -> None:
        for name in ("epochs", "batch_size", "lr", "clip", "processes"):
            if not getattr(self, name) > 0:
                raise ValueRangeError(f"RetinaNetRecipe: {name} must be positive", got=getattr(self, name))
        if not self.scales or min(self.scales) <= 0:
            raise ValueRangeError("RetinaNetRecipe: scales must be positive", got=self.scales)

    @property
    def shorts(self) -> tuple[int, ...]:
        """Short sides in training, pixels."""
        return tuple(max(round(scale * self.settings.min_size), 32) for scale in self.scales)

    def lines(self) -> list[tuple[str, Any]]:
        """(name, value) of all that is decided, the network's settings behind the rest, for printing."""
        own = [(field.name, getattr(self, field.name)) for field in dataclasses.fields(self)]
        return [(name, value) for name, value in own if name != "settings"] + [
            (f"settings.{name}", value) for name, value in dataclasses.asdict(self.settings).items()
        ]
