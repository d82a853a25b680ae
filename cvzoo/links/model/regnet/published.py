"""The RegNets of the paper, by name and cost."""

import os
from collections.abc import Sequence

from cvzoo.links.model.regnet.regnet import RegNet


def RegNetX400MF(
    n_class: int | None = None,
    pretrained_model: str | os.PathLike | None = None,
    *,
    label_names: Sequence[str] | None = None,
) -> RegNet:
    """A `RegNet` X of 400 MF; arguments as there."""
    return RegNet("x_400mf", n_class, pretrained_model, label_names=label_names)


def RegNetX800MF(
    n_class: int | None = None,
    pretrained_model: str | os.PathLike | None = None,
    *,
    label_names: Sequence[str] | None = None,
) -> RegNet:
    """A `RegNet` X of 800 MF; arguments as there."""
    return RegNet("x_800mf", n_class, pretrained_model, label_names=label_names)


def RegNetX1_6GF(
    n_class: int | None = None,
    pretrained_model: str | os.PathLike | None = None,
    *,
    label_names: Sequence[str] | None = None,
) -> RegNet:
    """A `RegNet` X of 1.6 GF; arguments as there."""
    return RegNet("x_1_6gf", n_class, pretrained_model, label_names=label_names)


def RegNetX3_2GF(
    n_class: int | None = None,
    pretrained_model: str | os.PathLike | None = None,
    *,
    label_names: Sequence[str] | None = None,
) -> RegNet:
    """A `RegNet` X of 3.2 GF; arguments as there."""
    return RegNet("x_3_2gf", n_class, pretrained_model, label_names=label_names)


def RegNetX8GF(
    n_class: int | None = None,
    pretrained_model: str | os.PathLike | None = None,
    *,
    label_names: Sequence[str] | None = None,
) -> RegNet:
    """A `RegNet` X of 8 GF; arguments as there."""
    return RegNet("x_8gf", n_class, pretrained_model, label_names=label_names)


def RegNetX16GF(
    n_class: int | None = None,
    pretrained_model: str | os.PathLike | None = None,
    *,
    label_names: Sequence[str] | None = None,
) -> RegNet:
    """A `RegNet` X of 16 GF; arguments as there."""
    return RegNet("x_16gf", n_class, pretrained_model, label_names=label_names)


def RegNetX32GF(
    n_class: int | None = None,
    pretrained_model: str | os.PathLike | None = None,
    *,
    label_names: Sequence[str] | None = None,
) -> RegNet:
    """A `RegNet` X of 32 GF; arguments as there."""
    return RegNet("x_32gf", n_class, pretrained_model, label_names=label_names)


def RegNetY400MF(
    n_class: int | None = None,
    pretrained_model: str | os.PathLike | None = None,
    *,
    label_names: Sequence[str] | None = None,
) -> RegNet:
    """A `RegNet` Y of 400 MF; arguments as there."""
    return RegNet("y_400mf", n_class, pretrained_model, label_names=label_names)


def RegNetY800MF(
    n_class: int | None = None,
    pretrained_model: str | os.PathLike | None = None,
    *,
    label_names: Sequence[str] | None = None,
) -> RegNet:
    """A `RegNet` Y of 800 MF; arguments as there."""
    return RegNet("y_800mf", n_class, pretrained_model, label_names=label_names)


def RegNetY1_6GF(
    n_class: int | None = None,
    pretrained_model: str | os.PathLike | None = None,
    *,
    label_names: Sequence[str] | None = None,
) -> RegNet:
    """A `RegNet` Y of 1.6 GF; arguments as there."""
    return RegNet("y_1_6gf", n_class, pretrained_model, label_names=label_names)


def RegNetY3_2GF(
    n_class: int | None = None,
    pretrained_model: str | os.PathLike | None = None,
    *,
    label_names: Sequence[str] | None = None,
) -> RegNet:
    """A `RegNet` Y of 3.2 GF; arguments as there."""
    return RegNet("y_3_2gf", n_class, pretrained_model, label_names=label_names)


def RegNetY8GF(
    n_class: int | None = None,
    pretrained_model: str | os.PathLike | None = None,
    *,
    label_names: Sequence[str] | None = None,
) -> RegNet:
    """A `RegNet` Y of 8 GF; arguments as there."""
    return RegNet("y_8gf", n_class, pretrained_model, label_names=label_names)


def RegNetY16GF(
    n_class: int | None = None,
    pretrained_model: str | os.PathLike | None = None,
    *,
    label_names: Sequence[str] | None = None,
) -> RegNet:
    """A `RegNet` Y of 16 GF; arguments as there."""
    return RegNet("y_16gf", n_class, pretrained_model, label_names=label_names)


def RegNetY32GF(
    n_class: int | None = None,
    pretrained_model: str | os.PathLike | None = None,
    *,
    label_names: Sequence[str] | None = None,
) -> RegNet:
    """A `RegNet` Y of 32 GF; arguments as there."""
    return RegNet("y_32gf", n_class, pretrained_model, label_names=label_names)


def RegNetY128GF(
    n_class: int | None = None,
    pretrained_model: str | os.PathLike | None = None,
    *,
    label_names: Sequence[str] | None = None,
) -> RegNet:
    """A `RegNet` Y of 128 GF; arguments as there."""
    return RegNet("y_128gf", n_class, pretrained_model, label_names=label_names)
