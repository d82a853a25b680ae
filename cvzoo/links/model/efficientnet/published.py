"""The EfficientNets of the papers, by name."""

import os
from collections.abc import Sequence

from cvzoo.links.model.efficientnet.efficientnet import EfficientNet


def EfficientNetB0(
    n_class: int | None = None,
    pretrained_model: str | os.PathLike | None = None,
    *,
    label_names: Sequence[str] | None = None,
) -> EfficientNet:
    """An `EfficientNet` B0; arguments as there."""
    return EfficientNet("b0", n_class, pretrained_model, label_names=label_names)


def EfficientNetB1(
    n_class: int | None = None,
    pretrained_model: str | os.PathLike | None = None,
    *,
    label_names: Sequence[str] | None = None,
) -> EfficientNet:
    """An `EfficientNet` B1; arguments as there."""
    return EfficientNet("b1", n_class, pretrained_model, label_names=label_names)


def EfficientNetB2(
    n_class: int | None = None,
    pretrained_model: str | os.PathLike | None = None,
    *,
    label_names: Sequence[str] | None = None,
) -> EfficientNet:
    """An `EfficientNet` B2; arguments as there."""
    return EfficientNet("b2", n_class, pretrained_model, label_names=label_names)


def EfficientNetB3(
    n_class: int | None = None,
    pretrained_model: str | os.PathLike | None = None,
    *,
    label_names: Sequence[str] | None = None,
) -> EfficientNet:
    """An `EfficientNet` B3; arguments as there."""
    return EfficientNet("b3", n_class, pretrained_model, label_names=label_names)


def EfficientNetB4(
    n_class: int | None = None,
    pretrained_model: str | os.PathLike | None = None,
    *,
    label_names: Sequence[str] | None = None,
) -> EfficientNet:
    """An `EfficientNet` B4; arguments as there."""
    return EfficientNet("b4", n_class, pretrained_model, label_names=label_names)


def EfficientNetB5(
    n_class: int | None = None,
    pretrained_model: str | os.PathLike | None = None,
    *,
    label_names: Sequence[str] | None = None,
) -> EfficientNet:
    """An `EfficientNet` B5; arguments as there."""
    return EfficientNet("b5", n_class, pretrained_model, label_names=label_names)


def EfficientNetB6(
    n_class: int | None = None,
    pretrained_model: str | os.PathLike | None = None,
    *,
    label_names: Sequence[str] | None = None,
) -> EfficientNet:
    """An `EfficientNet` B6; arguments as there."""
    return EfficientNet("b6", n_class, pretrained_model, label_names=label_names)


def EfficientNetB7(
    n_class: int | None = None,
    pretrained_model: str | os.PathLike | None = None,
    *,
    label_names: Sequence[str] | None = None,
) -> EfficientNet:
    """An `EfficientNet` B7; arguments as there."""
    return EfficientNet("b7", n_class, pretrained_model, label_names=label_names)


def EfficientNetV2S(
    n_class: int | None = None,
    pretrained_model: str | os.PathLike | None = None,
    *,
    label_names: Sequence[str] | None = None,
) -> EfficientNet:
    """An `EfficientNet` V2-S; arguments as there."""
    return EfficientNet("v2_s", n_class, pretrained_model, label_names=label_names)


def EfficientNetV2M(
    n_class: int | None = None,
    pretrained_model: str | os.PathLike | None = None,
    *,
    label_names: Sequence[str] | None = None,
) -> EfficientNet:
    """An `EfficientNet` V2-M; arguments as there."""
    return EfficientNet("v2_m", n_class, pretrained_model, label_names=label_names)


def EfficientNetV2L(
    n_class: int | None = None,
    pretrained_model: str | os.PathLike | None = None,
    *,
    label_names: Sequence[str] | None = None,
) -> EfficientNet:
    """An `EfficientNet` V2-L; arguments as there."""
    return EfficientNet("v2_l", n_class, pretrained_model, label_names=label_names)
