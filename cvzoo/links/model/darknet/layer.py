"""What every layer of a darknet network is made of, and what its builders share."""

import math
from collections.abc import Callable
from typing import Any, NamedTuple

import cvzoo.functions as F
from cvzoo.autodiff.variable import Variable
from cvzoo.errors.exceptions import FileFormatError, UnsupportedError
from cvzoo.links.connection.fused_convolution import leaky
from cvzoo.weights.formats.darknet import DarknetSection

Activation = Callable[[Variable], Variable]


def read_activation(section: DarknetSection, default: str) -> Activation | None:
    """The section's activation, or None for "linear". Raises UnsupportedError that names the line of another."""
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
    """One section of the cfg, ready to run.

    section: its section of the cfg
    sources: the indices of the layers whose outputs `run` takes, INPUT for the network's input
    run: a link or a function of Variables
    shape: (C, H, W) of its output
    """

    section: DarknetSection
    sources: tuple[int, ...]
    run: Callable[..., Any]
    shape: Shape


def keep(x: Any) -> Any:
    """x itself: what a layer of training only does in a trained network."""
    return x


def refuse_options(section: DarknetSection, *options: str) -> None:
    """Nothing, or UnsupportedError that names the first of the options which is switched on."""
    for option in options:
        if section.get_str(option, "0") not in ("0", "none"):
            line = section.option_lines.get(option, section.line)
            raise UnsupportedError(
                f"{section.cfg} line {line}, [{section.name}]: {option}={section.get_str(option)[:40]} is not supported"
            )


def get_size(section: DarknetSection, option: str, default: int, *, most: int = 1 << 16) -> int:
    """The option as a whole number in 1 .. most. Raises FileFormatError that names the line."""
    value = section.get_int(option, default)
    if not 1 <= value <= most:
        raise section.error(f"{option}={value} must lie in 1 .. {most}", option=option)
    return value


def check_n_weight(section: DarknetSection, *sizes: int) -> None:
    """Nothing, or FileFormatError that names the line if a layer would hold more than 2^30 numbers."""
    if math.prod(sizes) > 1 << 30:
        raise section.error(f"the layer would hold {' x '.join(map(str, sizes))} numbers")


def get_place(section: DarknetSection, number: int, index: int, *, option: str) -> int:
    """The place that a `from=` or `layers=` number means: counted from here if negative, else from the start."""
    place = index + number if number < 0 else number
    if not 0 <= place < index:
        raise section.error(
            f"{option}={number} means layer {place}, which does not come before layer {index}", option=option
        )
    return place


def check_fits(section: DarknetSection, shape: Shape) -> Shape:
    """The shape itself if every size is positive. Raises FileFormatError if the image has become too small."""
    if min(shape) < 1:
        raise section.error(f"nothing is left of the image here: {shape}", hint="a larger width= and height= in [net]")
    return shape


def same_size(section: DarknetSection, one: Shape, other: Shape) -> FileFormatError:
    """An error, to be raised by the caller: two layers differ in height or width."""
    return section.error(f"the layers have different sizes: {one} and {other} (C, H, W)")
