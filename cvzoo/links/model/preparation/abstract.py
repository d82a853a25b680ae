"""Base classes of the descriptions of image preprocessing."""

import abc
import dataclasses
from collections.abc import Sequence
from typing import Any, Literal, NamedTuple, get_args

import numpy as np

from cvzoo.backends.dispatch import get_backend
from cvzoo.backends.image_plan import ImagePlan, Resampling
from cvzoo.errors.exceptions import ValueRangeError
from cvzoo.transforms.pillow_passes import rows_first


class Placement(NamedTuple):
    """The placement of an image in a network's input, in pixels of the input.

    resized: (H, W) of the whole image
    input_size: (H, W) of the network's input
    offset: (y, x) of the image's upper left corner; negative for a crop
    """

    resized: tuple[int, int]
    input_size: tuple[int, int]
    offset: tuple[int, int] = (0, 0)


IMAGENET_MEAN = (0.485, 0.456, 0.406)
IMAGENET_STD = (0.229, 0.224, 0.225)
# of values in [0, 255], in float32
MEAN_OF_255 = 255 * np.array(IMAGENET_MEAN, np.float32)
STD_OF_255 = 255 * np.array(IMAGENET_STD, np.float32)
# the same in headers of model files
FACTS_OF_255 = (("mean", (123.675, 116.28, 103.53)), ("std", (58.395, 57.12, 57.375)))


Arithmetic = Literal["(x - mean) / std", "x / std - mean / std", "x * (1 / std) - mean / std", "(x - mean) / std / 255"]
Three = tuple[float, float, float]
Size = tuple[int, int]
Fact = str | tuple[str, Any]
_PILLOW = (Resampling.PILLOW, Resampling.PILLOW_CUBIC, Resampling.PILLOW_FLOATS)
# in `to_program`: the filter, and the dtype that it is applied to
_FILTERS = {
    Resampling.PILLOW: ("bilinear, antialiased", "bytes"),
    Resampling.PILLOW_CUBIC: ("bicubic, antialiased", "bytes"),
    Resampling.PILLOW_FLOATS: ("bilinear, antialiased", "floats"),
    Resampling.BILINEAR: ("bilinear", "floats"),
    Resampling.ANTIALIASED: ("bilinear, antialiased", "floats"),
    Resampling.CORNERS: ("bilinear, corners on corners", "floats"),
}


class AbstractPreparation(abc.ABC):
    """Base class of image preprocessing, an immutable value; a subclass defines resizing and placement.

    mean, std: of the channels, in the network's order
    value_range: whether mean and std are of values in [0, 255] (255) or in [0, 1] (1)
    arithmetic: order of the operations of the normalization, which affects rounding
    resampling: interpolation of the resize
    normalize_first: whether the normalization precedes the resize
    channels: their order
    fill: padding value in [0, 255]; None: zeros in the network's input
    header: entries of the header of a model file, in order: names of facts, or names with values of the model's own;
        None: `usual_header`
    """

    mean: Three = (0.0, 0.0, 0.0)
    std: Three = (1.0, 1.0, 1.0)
    value_range: float = 255.0
    arithmetic: Arithmetic = "(x - mean) / std"
    resampling: Resampling = Resampling.PILLOW_FLOATS
    normalize_first: bool = False
    channels: Literal["RGB", "BGR"] = "RGB"
    fill: float | None = None
    header: tuple[Fact, ...] | None = None
    usual_header: tuple[str, ...] = ()

    # --- defined by subclasses --------------------------------------------------------------------------------------
    @abc.abstractmethod
    def placement(self, size: Size) -> Placement:
        """The placement of an image of `size` (H, W) in the network's input."""

    @abc.abstractmethod
    def fit(self) -> dict[str, Any]:
        """The resize as JSON: the entries of `to_program` other than values and filter."""

    @abc.abstractmethod
    def facts(self) -> dict[str, Any]:
        """Entries about the size for a header, by name, as JSON; None: omitted."""

    @abc.abstractmethod
    def fit_in_words(self) -> str:
        """A description of the resize."""

    def part(self, size: Size) -> tuple[float, float, float, float]:
        """y, x, height and width of an image of `size` (H, W) in the network's input, in pixels of the input.

        A box in the input minus (y, x), times size / (height, width), is in the image's own pixels.
        """
        (height, width), _, (y, x) = self.placement(size)
        return y, x, height, width

    # --- readers ----------------------------------------------------------------------------------------------------
    def __call__(self, img: np.ndarray) -> np.ndarray:
        """The network's input (3, H', W') float32, a new channels-last array, of an image (3, H, W) RGB in [0, 255]."""
        img = img.astype(np.float32, copy=False) if img.dtype != np.uint8 else img
        return get_backend().prepare_images([img], [self.plan(img.shape[1:])])[0]

    def plan(self, size: Size) -> ImagePlan:
        """The preprocessing of an image of `size` (H, W), for a backend's `prepare_images`."""
        resized, frame, offset = self.placement(size)
        numbers = self._numbers()
        beside = np.zeros(3, np.float32)
        if self.fill is not None:
            mean, std, factor, divisor, shift = (
                np.asarray(numbers[name], np.float32) for name in ("mean", "std", "factor", "divisor", "shift")
            )
            beside = (np.asarray(self.fill, np.float32) - mean) / std * factor / divisor - shift
        red, green, blue = beside.tolist()
        pillow = self.resampling in _PILLOW
        return ImagePlan(
            resized,
            frame,
            self.resampling,
            offset=offset,
            **numbers,
            before=self.normalize_first,
            fill=(red, green, blue),
            horizontal_first=not pillow or rows_first(size, resized) is not False,
            bgr=self.channels == "BGR",
        )

    def to_program(self) -> dict[str, Any]:
        """The preprocessing as JSON, for implementations in programs without cvzoo.

        fit: "none", "stretch" (to `size`), "letterbox" (in `size`, padded with `fill`), "short side" (to `short`,
            keeping the aspect ratio), "sides" (the short one to `short` unless the long one would exceed `long`; both
            `cut off`, that is rounded down, or `rounded`)
        filter: interpolation; of: the dtype that it is applied to, "bytes" or "floats"
        crop: side of the square center crop, or none
        channels: their order; mean, std: of [0, 255], in that order
        pad: zeros at the bottom and right, to sides that are multiples of it, and at_least this long
        """
        how, of = _FILTERS[self.resampling]
        mean, std = self._of_255()
        values = {"sides": "cut off", "fill": 0.0, "filter": how, "of": of, "channels": self.channels}
        values |= {"mean": mean, "std": std, "pad": 1, "at_least": 1} | self.fit()
        order = ("fit", "size", "short", "long", "sides", "fill", "filter", "of", "crop", "channels", "mean", "std")
        return {name: values[name] for name in (*order, "pad", "at_least") if name in values}

    def to_header(self) -> dict[str, Any]:
        """The preprocessing as JSON, for the headers of model files."""
        facts = {"channels": self.channels, "mean": self.mean, "std": self.std}
        facts |= {"interpolation": _FILTERS[self.resampling][0]} | self.facts()
        header = self.usual_header if self.header is None else self.header
        values = [(fact, facts[fact]) if isinstance(fact, str) else fact for fact in header]
        return {name: list(value) if isinstance(value, tuple) else value for name, value in values if value is not None}

    def describe(self) -> str:
        """A description, for records of weights."""
        fit = self.fit_in_words()
        return f"{fit + ', ' if fit else ''}{self.channels}{self._formula()}"

    def filter_in_words(self) -> str:
        """A description of the interpolation."""
        how, _ = _FILTERS[self.resampling]
        return f"{how} without antialiasing" if self.resampling is Resampling.BILINEAR else how

    # --- the numbers ------------------------------------------------------------------------------------------------
    def _numbers(self) -> dict[str, Any]:
        """mean, std, factor, divisor and shift of a `ImagePlan`."""
        scale = np.float32(255 / self.value_range)
        mean, std = (scale * np.array(three, np.float32) for three in (self.mean, self.std))
        numbers: dict[str, Any] = {"factor": 1.0, "divisor": 1.0, "shift": 0.0}
        if self.arithmetic.startswith("(x - mean) / std"):
            numbers["divisor"] = 255.0 if self.arithmetic.endswith("/ 255") else 1.0
            return numbers | {"mean": tuple(mean.tolist()), "std": tuple(std.tolist())}
        numbers["shift"] = float(mean[0] / std[0])
        if self.arithmetic.startswith("x * "):
            numbers["factor"] = float(np.float32(1 / float(std[0])))
            std = np.ones(3, np.float32)
        return numbers | {"mean": (0.0, 0.0, 0.0), "std": tuple(std.tolist())}

    def mean_and_std(self) -> tuple[np.ndarray, np.ndarray]:
        """(3, 1, 1) float32 each, of values in [0, 255]."""
        scale = np.float32(255 / self.value_range)
        mean, std = (scale * np.array(three, np.float32).reshape(3, 1, 1) for three in (self.mean, self.std))
        return mean, std

    def _of_255(self) -> tuple[list[float], list[float]]:
        """mean and std of values in [0, 255], as floats."""
        if self.value_range == 255:
            times = 255 if self.arithmetic.endswith("/ 255") else 1
            return list(self.mean), [times * value for value in self.std]
        scale = np.float32(255 / self.value_range)
        mean, std = ((scale * np.array(three, np.float32)).tolist() for three in (self.mean, self.std))
        return mean, std

    def _formula(self) -> str:
        """The range or formula that follows the channels' order."""
        mean, std = (self._in_words(three) for three in (self.mean, self.std))
        if mean == "0" and std in ("1", "255"):
            return f" in [0, {self.value_range / self.std[0]:g}]"
        x = "x / 255" if self.value_range == 1 else "x"
        if not self.arithmetic.startswith("("):
            return f"; {x} / {std} - {self.mean[0] / self.std[0]:.5g}"
        less = f"{x} - {mean}" if std == "1" else f"({x} - {mean}) / {std}"
        return f"; {less}{' / 255' if self.arithmetic.endswith('255') else ''}"

    def _in_words(self, three: Three) -> str:
        """The values in parentheses, for [0, 255]; a single one if all three are equal."""
        in_one = self.value_range == 1
        numbers = [f"{value:.{5 if in_one else 7}g}" for value in three]
        return numbers[0] if len(set(numbers)) == 1 and not in_one else f"({', '.join(numbers)})"

    def _check_numbers(self) -> None:
        """Raises ValueRangeError that names mean, std or arithmetic if it is invalid; single numbers become tuples."""
        name = type(self).__name__
        for field, positive in (("mean", False), ("std", True)):
            numbers = checked_numbers(f"{name}: {field}", getattr(self, field), positive=positive)
            object.__setattr__(self, field, numbers)
        if self.value_range not in (1, 255):
            raise ValueRangeError(f"{name}: value_range is invalid", expected="1 or 255", got=self.value_range)
        if self.arithmetic not in get_args(Arithmetic):
            raise ValueRangeError(
                f"{name}: arithmetic is unknown",
                expected=" or ".join(map(repr, get_args(Arithmetic))),
                got=self.arithmetic,
            )
        one_each = len(set(self.mean)) == len(set(self.std)) == 1
        if self.arithmetic.startswith("x") and not one_each:
            raise ValueRangeError(f"{name}: mean and std must be one number for {self.arithmetic!r}", got=self.mean)


@dataclasses.dataclass(frozen=True, kw_only=True)
class AbstractNormalizedPreparation(AbstractPreparation):
    """A preparation with the fields of `AbstractPreparation`, by name. Raises ValueRangeError that names the field."""

    mean: Three = (0.0, 0.0, 0.0)
    std: Three = (1.0, 1.0, 1.0)
    value_range: float = 255.0
    arithmetic: Arithmetic = "(x - mean) / std"
    resampling: Resampling = Resampling.PILLOW_FLOATS
    normalize_first: bool = False
    channels: Literal["RGB", "BGR"] = "RGB"
    header: tuple[Fact, ...] | None = dataclasses.field(default=None, compare=False)

    def __post_init__(self) -> None:
        self._check_numbers()


def checked_side(name: str, value: object) -> int:
    """value. Raises ValueRangeError, which names it, unless it is a positive integer."""
    if isinstance(value, bool) or not isinstance(value, int) or value < 1:
        raise ValueRangeError(f"{name} must be a positive integer", got=repr(value))
    return value


def checked_size(name: str, value: Sequence[int]) -> tuple[int, int]:
    """(H, W) as a tuple. Raises ValueRangeError, which names it, unless it is two positive integers."""
    if not isinstance(value, Sequence) or len(value) != 2:
        raise ValueRangeError(f"{name} must be two positive integers (H, W)", got=repr(value)[:80])
    height, width = (checked_side(name, side) for side in value)
    return height, width


def checked_numbers(name: str, value: object, *, positive: bool = False) -> tuple[float, float, float]:
    """Three floats, from one number or three. Raises ValueRangeError, which names it, for anything else."""
    try:
        array = np.asarray(value, np.float64)
    except (TypeError, ValueError):
        array = np.full(1, np.nan)
    if array.shape not in ((), (3,)) or not np.isfinite(array).all() or (positive and not (array > 0).all()):
        raise ValueRangeError(f"{name} must be three numbers", got=repr(value)[:80])
    red, green, blue = np.broadcast_to(array, 3).tolist()
    return red, green, blue
