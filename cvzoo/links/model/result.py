"""Base class of what models predict: its methods, its images, display in notebooks, labels by name."""

import abc
import importlib
import os
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from cvzoo.errors.exceptions import ImageError, MissingExtraError, ValueRangeError
from cvzoo.images.read_image import ImageSource, read_image
from cvzoo.reporting.counted import counted
from cvzoo.typing.aliases import Image, LabelNames
from cvzoo.visualizations.colors import check_class_name

if TYPE_CHECKING:
    from matplotlib.axes import Axes

SHOWN = 20  # images in a notebook's cell, rows in a repr


class AbstractResult(abc.ABC):
    """Base class of what models predict for images.

    label_names: names of the classes in order of label, or None
    sources: the images as passed to `predict` (paths, arrays ...), read only for drawing; None where they cannot be
        read again
    """

    label_names: tuple[str, ...] | None = None
    sources: Sequence[ImageSource | None] = ()

    def _describe(self, label_names: Sequence[str] | None, sources: Sequence[ImageSource | None]) -> None:
        self.label_names = None if label_names is None else tuple(label_names)
        self.sources = list(sources)

    @property
    @abc.abstractmethod
    def n_image(self) -> int:
        """The number of images."""

    @abc.abstractmethod
    def draw(self, i: int = 0, *, img: ImageSource | None = None) -> Image:
        """Image `i` with what was predicted, float32 RGB in [0, 255], a new array.

        img: the image, where it cannot be read again; anything that `read_image` takes
        Raises ValueRangeError if there is no image `i`, ImageError if it cannot be read.
        """

    @abc.abstractmethod
    def show(self, i: int = 0, *, img: ImageSource | None = None, ax: "Axes | None" = None) -> "Axes":
        """matplotlib's axes with image `i` and what was predicted, shown in a notebook's cell or in a window.

        ax: axes to draw on, which are then not shown; img, and errors: as in `draw`
        """

    @abc.abstractmethod
    def save(self, i: int, path: str | os.PathLike, *, img: ImageSource | None = None) -> os.PathLike:
        """Writes `draw(i)` and returns the path (.png, .jpg ...). Raises as `draw`, `write_image`."""

    @abc.abstractmethod
    def filter(self, *, classes: Sequence[int | str]) -> "AbstractResult":
        """The result of these classes (names or labels) alone. Raises ValueRangeError for an unknown class name."""

    @abc.abstractmethod
    def to_records(self) -> list[dict[str, Any]]:
        """Dicts of numbers and names, for JSON."""

    @abc.abstractmethod
    def to_coco(self) -> dict[str, Any]:
        """A COCO annotation file as a dict. Raises UnsupportedError for results without objects."""

    @abc.abstractmethod
    def to_voc(self) -> Sequence[str | bytes]:
        """Contents of each image's file in VOC's layout. Raises UnsupportedError for results without objects."""

    def to_df(self) -> Any:
        """A pandas DataFrame with the rows of `to_records`. Raises MissingExtraError without pandas."""
        try:
            pandas = importlib.import_module("pandas")  # what cvzoo itself never needs
        except ImportError as error:
            raise MissingExtraError("to_df needs pandas", hint="pip install pandas") from error
        return pandas.DataFrame.from_records(self.to_records())

    def check(self, i: int) -> None:
        """Raises ValueRangeError if there is no image `i`, counted from the front or, negative, from the back."""
        if not -self.n_image <= i < self.n_image:
            raise ValueRangeError("there is no such image", expected=f"0 .. {self.n_image - 1}", got=i)

    def indices(self, i: int | None) -> Sequence[int]:
        """The index of image `i`, not negative; None: those of all images. Raises ValueRangeError as `check`."""
        if i is None:
            return range(self.n_image)
        self.check(i)
        return [i % self.n_image]

    def image(self, i: int, img: ImageSource | None = None) -> np.ndarray:
        """Image `i`, (3, H, W) float32 RGB in [0, 255]: read from its source, or from `img`.

        Raises ValueRangeError if there is no image `i`, ImageError if it cannot be read.
        """
        self.check(i)
        source = img if img is not None else self.sources[i] if len(self.sources) else None
        if source is None:
            raise ImageError(f"image {i} cannot be read again", hint="pass the image: img=...")
        return read_image(source)


def notebook_html(n_image: int, shown: Callable[[int], str]) -> str | None:
    """HTML of the first images; None, so that a notebook shows the repr, without images or if one cannot be read again.

    shown: from an image's index its HTML
    """
    try:
        parts = [shown(i) for i in range(min(n_image, SHOWN))]
    except (ImageError, OSError):
        return None
    if n_image > SHOWN:
        parts.append(f"<p>... and {counted(n_image - SHOWN, 'more image')}</p>")
    return "\n".join(parts) or None


def notebook_png(n_image: int, shown: Callable[[int], bytes]) -> bytes | None:
    """A PNG of the first image, None as for `notebook_html`. shown: from an image's index the PNG"""
    try:
        return shown(0) if n_image else None
    except (ImageError, OSError):
        return None


def label_of(each: int | str, label_names: LabelNames | None) -> int:
    """The label of a class name, or the label itself. Raises ValueRangeError, with the most similar name."""
    if not isinstance(each, str):
        return int(each)
    if label_names is None:
        raise ValueRangeError(f"there is no class {each!r}", expected="numbers: the model has no class names")
    check_class_name(each, label_names)
    return label_names.index(each)
