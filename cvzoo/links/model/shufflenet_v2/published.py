"""The ShuffleNetV2s of the paper, by name."""

import os
from collections.abc import Sequence

from cvzoo.links.model.shufflenet_v2.shufflenet_v2 import ShuffleNetV2


def ShuffleNetV2X0_5(
    n_class: int | None = None,
    pretrained_model: str | os.PathLike | None = None,
    *,
    label_names: Sequence[str] | None = None,
) -> ShuffleNetV2:
    """A `ShuffleNetV2` of width 0.5; arguments as there."""
    return ShuffleNetV2(0.5, n_class, pretrained_model, label_names=label_names)


def ShuffleNetV2X1_0(
    n_class: int | None = None,
    pretrained_model: str | os.PathLike | None = None,
    *,
    label_names: Sequence[str] | None = None,
) -> ShuffleNetV2:
    """A `ShuffleNetV2` of width 1.0; arguments as there."""
    return ShuffleNetV2(1.0, n_class, pretrained_model, label_names=label_names)


def ShuffleNetV2X1_5(
    n_class: int | None = None,
    pretrained_model: str | os.PathLike | None = None,
    *,
    label_names: Sequence[str] | None = None,
) -> ShuffleNetV2:
    """A `ShuffleNetV2` of width 1.5; arguments as there."""
    return ShuffleNetV2(1.5, n_class, pretrained_model, label_names=label_names)


def ShuffleNetV2X2_0(
    n_class: int | None = None,
    pretrained_model: str | os.PathLike | None = None,
    *,
    label_names: Sequence[str] | None = None,
) -> ShuffleNetV2:
    """A `ShuffleNetV2` of width 2.0; arguments as there."""
    return ShuffleNetV2(2.0, n_class, pretrained_model, label_names=label_names)
