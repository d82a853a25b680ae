"""Results of classifiers, with drawing and display in notebooks."""

import html
import os
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple, NoReturn

import numpy as np
import numpy.typing as npt

from cvzoo.errors.exceptions import ShapeError, ValueRangeError
from cvzoo.images.read_image import ImageSource
from cvzoo.images.write_image import write_image
from cvzoo.links.model.result import SHOWN, AbstractResult, label_of
from cvzoo.links.model.result_annotations import refuse
from cvzoo.reporting.counted import counted
from cvzoo.typing.aliases import Array, Image, Prob
from cvzoo.visualizations.draw_caption import draw_caption
from cvzoo.visualizations.show_axes import show_axes
from cvzoo.visualizations.vis_image import vis_image

if TYPE_CHECKING:
    from matplotlib.axes import Axes


class Top(NamedTuple):
    """The best classes of each image, best first.

    names: one list of str per image; a class without a name has its number
    probs: (B, k) float32
    labels: (B, k) int32
    """

    names: list[list[str]]
    probs: np.ndarray
    labels: np.ndarray


class Classifications(AbstractResult, Sequence[Prob]):
    """Probabilities of the classes, one row per image: `probs = model.predict(imgs)`, `probs[0]` is (n_class,).

    probs: (B, n_class) float32; each row sums to 1, unless classes were filtered
    label_names: names of the classes in order of label, or None
    sources: the images as passed to `predict`, None where they cannot be read again
    """

    def __init__(
        self, probs: np.ndarray, *, label_names: Sequence[str] | None = None, sources: Sequence[ImageSource | None] = ()
    ) -> None:
        if probs.ndim != 2:
            raise ShapeError(
                "Classifications: probs must have two dimensions", expected="(B, n_class)", got=probs.shape
            )
        if label_names is not None and len(label_names) != probs.shape[1]:
            raise ShapeError(
                "Classifications: label_names and probs differ in the number of classes",
                expected=counted(probs.shape[1], "name"),
                got=len(label_names),
            )
        self.probs = probs
        self._describe(label_names, sources)

    @property
    def n_image(self) -> int:
        """The number of images, `len`."""
        return len(self)

    def __len__(self) -> int:
        return len(self.probs)

    def __getitem__(self, i: int | slice | Array) -> np.ndarray:  # type: ignore[override]  # a slice of an array is no Sequence
        return self.probs[i]

    def __iter__(self) -> Iterator[np.ndarray]:
        return iter(self.probs)

    def __array__(self, dtype: npt.DTypeLike | None = None, copy: bool | None = None) -> np.ndarray:
        return np.array(self.probs, dtype=dtype, copy=copy) if copy else np.asarray(self.probs, dtype=dtype)

    @property
    def labels(self) -> np.ndarray:
        """(B,) int32: the most probable class of each image; the first of equal ones."""
        return self.probs.argmax(axis=1).astype(np.int32) if self.probs.size else np.zeros(len(self), np.int32)

    def top(self, k: int = 5) -> Top:
        """The k best classes of each image: `names, probs, labels = result.top(3)`; all classes if there are fewer.

        Raises ValueRangeError if k is not positive.
        """
        if k < 1:
            raise ValueRangeError("top: k must be positive", got=k)
        labels = np.argsort(-self.probs, axis=1, kind="stable")[:, :k].astype(np.int32)
        names = [[self._name(label) for label in row] for row in labels]
        return Top(names, np.take_along_axis(self.probs, labels, axis=1), labels)

    def _lines(self, i: int, k: int) -> list[str]:
        """The captions of image `i`."""
        one = Classifications(self.probs[self.indices(i)], label_names=self.label_names).top(k)
        return [f"{name} {prob:.3f}" for name, prob in zip(one.names[0], one.probs[0])]

    def _name(self, label: int) -> str:
        return str(label) if self.label_names is None else self.label_names[label]

    # --- pictures ---------------------------------------------------------------------------------------------------
    def draw(self, i: int = 0, *, img: ImageSource | None = None, k: int = 5) -> Image:
        """Image `i` below a line for each of its k best classes, as `show` writes them: (3, H + h, W) float32 RGB.

        img: the image, where it cannot be read again; anything that `read_image` takes
        Values are in [0, 255]; the lines are above the image, which becomes wider where they are.
        Raises ValueRangeError if there is no image `i` or k is not positive, ImageError if the image cannot be read.
        """
        return draw_caption(self.image(i, img), self._lines(i, k))

    def show(self, i: int = 0, *, img: ImageSource | None = None, k: int = 5, ax: "Axes | None" = None) -> "Axes":
        """matplotlib's axes with image `i` and its k best classes, shown in a notebook's cell or in a window.

        ax: axes to draw on, which are then not shown; other arguments, and errors: as in `draw`
        """
        picture, lines = self.image(i, img), self._lines(i, k)

        def plot(axes: "Axes") -> None:
            vis_image(picture, axes).set_title("\n".join(lines), fontsize=10, parse_math=False)

        return show_axes(plot, ax)

    def save(self, i: int, path: str | os.PathLike, *, img: ImageSource | None = None, k: int = 5) -> os.PathLike:
        """Writes `draw(i)` and returns the path (.png, .jpg ...). Raises as `draw`, `write_image`."""
        return write_image(self.draw(i, img=img, k=k), path)

    # --- a part of them, and tables ---------------------------------------------------------------------------------
    def filter(self, *, classes: Sequence[int | str]) -> "Classifications":
        """The probabilities of these classes (names or labels) alone, (B, len(classes)), in their order.

        They are not normalized again; `labels` are then positions in `classes`. Without class names, the names are the
        labels in this result.
        Raises ValueRangeError for a class that does not exist.
        """
        n_class = self.probs.shape[1]
        wanted = list(dict.fromkeys(label_of(each, self.label_names) for each in classes))
        for label in wanted:
            if not 0 <= label < n_class:
                raise ValueRangeError("filter: there is no such class", expected=f"0 .. {n_class - 1}", got=label)
        names = [self._name(label) for label in wanted]
        return Classifications(self.probs[:, wanted], label_names=names, sources=self.sources)

    def to_records(self, k: int = 5, *, i: int | None = None) -> list[dict[str, Any]]:
        """A dict for each of the k best classes of each image: `photo`, rank (from 1), label, name, score.

        i: of this image only; None: of all
        Raises ValueRangeError if there is no image `i` or k is not positive.
        """
        top = self.top(k)
        return [
            {"photo": image, "rank": rank + 1, "label": int(label), "name": name, "score": float(prob)}
            for image in self.indices(i)
            for rank, (name, prob, label) in enumerate(zip(top.names[image], top.probs[image], top.labels[image]))
        ]

    def to_coco(self) -> NoReturn:
        """Raises UnsupportedError: COCO's annotations are of objects."""
        raise refuse("the classes of whole images", "COCO")

    def to_voc(self) -> NoReturn:
        """Raises UnsupportedError: VOC's annotations are of objects."""
        raise refuse("the classes of whole images", "VOC's XML")

    def _rows(self) -> list[str]:
        top = Classifications(self.probs[:SHOWN], label_names=self.label_names).top(3)
        return [
            ", ".join(f"{name} {prob:.3f}" for name, prob in zip(names, probs))
            for names, probs in zip(top.names, top.probs)
        ]

    def __repr__(self) -> str:
        lines = [
            f"Classifications of {counted(len(self), 'image')}, {counted(self.probs.shape[1], 'class', 'classes')}"
        ]
        lines += [f"{i:>5}  {row}" for i, row in enumerate(self._rows())]
        if len(self) > SHOWN:
            lines.append(f"  ... and {len(self) - SHOWN} more")
        return "\n".join(lines)

    def _repr_html_(self) -> str:
        rows = "".join(f"<tr><td>{i}</td><td>{html.escape(row)}</td></tr>" for i, row in enumerate(self._rows()))
        more = f"<p>... and {counted(len(self) - SHOWN, 'more image')}</p>" if len(self) > SHOWN else ""
        return f"<table><tr><th>image</th><th>classes</th></tr>{rows}</table>{more}"
