"""Layers of darknet networks, and validation of their options."""

import math
from collections.abc import Callable
from typing import NamedTuple

import cvzoo.functions as F
from cvzoo.autodiff.variable import Variable
from cvzoo.errors.exceptions import FileFormatError, UnsupportedError
from cvzoo.links.connection.fused_convolution import leaky
from cvzoo.weights.formats.darknet import DarknetSection

Activation = Callable[[Variable], Variable]


def read_activation(section: DarknetSection, default: str) -> Activation | None:
    """The section's activation, or None for "linear". Raises UnsupportedError that names the line of an unknown one."""
    name = section.get_str("activation", default)
    match name:
        case "linear":
            return None
        case "leaky":
            return leaky
        case "relu":
            return F.relu
        case "relu6":
            return F.relu6
        case "logistic":
            return F.sigmoid
        case "tanh":
            return F.tanh
        case "elu":
            return F.elu
        case "swish":
            return F.silu
        case "mish":
            return mish
    line = section.option_lines.get("activation", section.line)
    raise UnsupportedError(
        f"{section.cfg} line {line}, [{section.name}]: activation={name} is not supported",
        expected="linear, leaky, relu, relu6, logistic, tanh, elu, swish or mish",
    )


def mish(x: Variable) -> Variable:
    """x * tanh(softplus(x)). Source: Misra, Mish, BMVC 2020."""
    return x * F.tanh(F.softplus(x))


INPUT = -1  # the index of the network's input among its layers

Shape = tuple[int, int, int]


class DarknetLayer(NamedTuple):
    """A layer built from a section of the cfg.

    section: its section of the cfg
    sources: the indices of the layers whose outputs are the arguments of `run`, INPUT for the network's input
    run: a link or a function of Variables
    shape: (C, H, W) of its output
    """

    section: DarknetSection
    sources: tuple[int, ...]
    run: Callable[..., Variable]
    shape: Shape


def keep(x: Variable) -> Variable:
    """x itself: layers for training only are the identity in inference."""
    return x


def refuse_options(section: DarknetSection, *options: str) -> None:
    """Raises UnsupportedError that names the first of the options that is enabled."""
    for option in options:
        if section.get_str(option, "0") not in ("0", "none"):
            line = section.option_lines.get(option, section.line)
            raise UnsupportedError(
                f"{section.cfg} line {line}, [{section.name}]: {option}={section.get_str(option)[:40]} is not supported"
            )


def get_size(section: DarknetSection, option: str, default: int, *, most: int = 1 << 16) -> int:
    """The option as an integer in 1 .. most. Raises FileFormatError that names the line."""
    value = section.get_int(option, default)
    if not 1 <= value <= most:
        raise section.error(f"{option}={value} must lie in 1 .. {most}", option=option)
    return value


def check_n_weight(section: DarknetSection, *sizes: int) -> None:
    """Raises FileFormatError that names the line if a layer would have more than 2^30 values."""
    if math.prod(sizes) > 1 << 30:
        raise section.error(f"the layer would hold {' x '.join(map(str, sizes))} numbers")


def layer_index(section: DarknetSection, number: int, index: int, *, option: str) -> int:
    """The index of the layer that `from=` or `layers=` refers to: relative to this one if negative, else absolute."""
    place = index + number if number < 0 else number
    if not 0 <= place < index:
        raise section.error(
            f"{option}={number} means layer {place}, which does not come before layer {index}", option=option
        )
    return place


def check_fits(section: DarknetSection, shape: Shape) -> Shape:
    """The shape itself if every size is positive. Raises FileFormatError if the map has become too small."""
    if min(shape) < 1:
        raise section.error(f"nothing is left of the image here: {shape}", hint="a larger width= and height= in [net]")
    return shape


def same_size(section: DarknetSection, one: Shape, other: Shape) -> FileFormatError:
    """The error to raise if two layers differ in height or width."""
    return section.error(f"the layers have different sizes: {one} and {other} (C, H, W)")
