"""The ConvNeXts of the paper, by name."""

import os
from collections.abc import Sequence

from cvzoo.links.model.convnext.convnext import ConvNeXt

Source = str | os.PathLike | None


def ConvNeXtTiny(
    n_class: int | None = None, pretrained_model: Source = None, *, label_names: Sequence[str] | None = None
) -> ConvNeXt:
    """A tiny `ConvNeXt`, 29 million parameters; arguments as there."""
    return ConvNeXt("tiny", n_class, pretrained_model, label_names=label_names)


def ConvNeXtSmall(
    n_class: int | None = None, pretrained_model: Source = None, *, label_names: Sequence[str] | None = None
) -> ConvNeXt:
    """A small `ConvNeXt`, 50 million parameters; arguments as there."""
    return ConvNeXt("small", n_class, pretrained_model, label_names=label_names)


def ConvNeXtBase(
    n_class: int | None = None, pretrained_model: Source = None, *, label_names: Sequence[str] | None = None
) -> ConvNeXt:
    """A `ConvNeXt` of the paper's base size, 89 million parameters; arguments as there."""
    return ConvNeXt("base", n_class, pretrained_model, label_names=label_names)


def ConvNeXtLarge(
    n_class: int | None = None, pretrained_model: Source = None, *, label_names: Sequence[str] | None = None
) -> ConvNeXt:
    """A large `ConvNeXt`, 198 million parameters; arguments as there."""
    return ConvNeXt("large", n_class, pretrained_model, label_names=label_names)
