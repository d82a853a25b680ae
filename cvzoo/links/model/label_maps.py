"""Results of semantic segmentation, with drawing and display in notebooks."""

import html
import math
import os
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from cvzoo.errors.exceptions import ShapeError
from cvzoo.files.atomic_write import atomic_write
from cvzoo.images.read_image import ImageSource
from cvzoo.images.write_image import encode_png, write_image
from cvzoo.links.model.result import SHOWN, AbstractResult, label_of, notebook_html, notebook_png
from cvzoo.links.model.result_annotations import coco_of, label_map_png, voc_label_map
from cvzoo.reporting.counted import counted
from cvzoo.transforms.label_maps import resize_label_map
from cvzoo.transforms.resize import resize
from cvzoo.transforms.scale import scaled_size
from cvzoo.typing.aliases import ClassMap
from cvzoo.visualizations.colors import Colors, class_color, label_color
from cvzoo.visualizations.draw_mask import draw_label_map
from cvzoo.visualizations.html import LONG_SIDE, inline_jpeg
from cvzoo.visualizations.show_axes import show_axes
from cvzoo.visualizations.vis_semantic_segmentation import vis_semantic_segmentation

if TYPE_CHECKING:
    from matplotlib.axes import Axes

LEGEND_ROWS = 24  # in a figure of matplotlib's usual height


class LabelMaps(AbstractResult, list[ClassMap]):
    """A list with one label map per image, (H, W) int32 of the image's own size: `labels = model.predict(imgs)`.

    probs: (n_class, H, W) float32 per image, if `predict(..., with_probs=True)` was called; else None
    label_names: class names in order of label, or None
    sources: the images as passed to `predict`, None where they cannot be read again
    """

    def __init__(
        self,
        labels: Iterable[np.ndarray] = (),
        *,
        probs: Sequence[np.ndarray] | None = None,
        label_names: Sequence[str] | None = None,
        sources: Sequence[ImageSource | None] = (),
    ) -> None:
        super().__init__(labels)
        for label in self:
            if label.ndim != 2:
                raise ShapeError("LabelMaps: a label map", expected="(H, W)", got=label.shape)
        self.probs = None if probs is None else list(probs)
        self._describe(label_names, sources)

    @property
    def n_image(self) -> int:
        """The number of images, `len`."""
        return len(self)

    # --- pictures ---------------------------------------------------------------------------------------------------
    def draw(
        self, i: int = 0, *, img: ImageSource | None = None, opacity: float = 0.5, colors: Colors | None = None
    ) -> np.ndarray:
        """Image `i` tinted in the colors of its classes: (3, H, W) float32 RGB in [0, 255], a new array.

        img: the image, where it cannot be read again; anything that `read_image` takes
        opacity: of the tint, 0 to 1; colors: as for `visualizations.draw_bbox`
        Raises ValueRangeError if there is no image `i`, or for unknown colors; ImageError if the image cannot be read.
        """
        picture = self.image(i, img)
        return draw_label_map(picture, self[i], opacity=opacity, colors=colors, label_names=self.label_names)

    def show(
        self,
        i: int = 0,
        *,
        img: ImageSource | None = None,
        opacity: float = 0.5,
        ax: "Axes | None" = None,
        colors: Colors | None = None,
    ) -> "Axes":
        """matplotlib's axes with the tinted image `i` and a legend, shown in a notebook's cell or in a window.

        ax: axes to draw on, which are then not shown; img, opacity, colors, and errors: as in `draw`
        """
        picture, label = self.image(i, img), self[i]
        n_class = max(int(label.max(initial=0)) + 1, len(self.label_names or ()))
        names = self.label_names or tuple(map(str, range(n_class)))
        color_of = class_color(colors, self.label_names)
        palette = [color_of(each) for each in range(n_class)]

        def plot(axes: "Axes") -> None:
            _, handles = vis_semantic_segmentation(picture, label, names, palette, alpha=opacity, ax=axes)
            columns = math.ceil(len(handles) / LEGEND_ROWS) or 1
            legend = axes.legend(handles=handles, loc="upper left", bbox_to_anchor=(1, 1), fontsize=8, ncols=columns)
            for text in legend.get_texts():
                text.set_parse_math(False)  # names may contain dollar signs

        return show_axes(plot, ax)

    def save(
        self,
        i: int,
        path: str | os.PathLike,
        *,
        img: ImageSource | None = None,
        opacity: float = 0.5,
        colors: Colors | None = None,
    ) -> os.PathLike:
        """Writes the tinted image `i` and returns the path (.png, .jpg ...). Raises as `draw`, `write_image`."""
        return write_image(self.draw(i, img=img, opacity=opacity, colors=colors), path)

    def filter(self, *, classes: Sequence[int | str]) -> "LabelMaps":
        """The maps with the pixels of other classes (names or labels) ignored, -1.

        Raises ValueRangeError for an unknown class name.
        """
        wanted = [label_of(each, self.label_names) for each in classes]
        labels = [np.where(np.isin(label, wanted), label, np.int32(-1)) for label in self]
        return LabelMaps(labels, probs=self.probs, label_names=self.label_names, sources=self.sources)

    def save_map(self, i: int, path: str | os.PathLike) -> None:
        """Write map `i` as a PNG whose pixels are class labels, with a color palette; -1 becomes 255.

        `read_label` reads it. Raises ValueRangeError if there is no image `i` or a class above 254.
        """
        self.check(i)
        palette = [label_color(each) for each in range(255)] + [(0, 0, 0)]
        with atomic_write(path) as file:
            file.write(label_map_png(self[i], np.array(palette)))

    # --- tables -----------------------------------------------------------------------------------------------------
    def to_records(self, i: int | None = None) -> list[dict[str, Any]]:
        """One dict per class in an image, the largest first: `photo` (the image), label, name, n_pixel, share.

        i: of this image only; None: of all
        """
        records = []
        for image in self.indices(i):
            labels, counts = np.unique(self[image], return_counts=True)
            for k in np.argsort(-counts, kind="stable"):
                label, count = int(labels[k]), int(counts[k])
                share = count / self[image].size
                records.append(
                    {"photo": image, "label": label, "name": self._name(label), "n_pixel": count, "share": share}
                )
        return records

    def to_coco(self, i: int | None = None, *, file_names: Sequence[str] | None = None) -> dict[str, Any]:
        """A COCO annotation file as a dict, in which each class of an image is one object with a mask.

        i: of this image only; None: of all; file_names: of the images; None: those of their paths
        Raises ValueRangeError if there is no image `i`.
        """
        return coco_of(self, i, file_names, None)

    def to_voc(self, i: int | None = None) -> list[bytes]:
        """A PNG per image as in VOC's SegmentationClass: the labels with VOC's palette, 255 for -1.

        i: of this image only; None: of all
        Raises ValueRangeError if there is no image `i`, or for a class above 254.
        """
        return [voc_label_map(self[k]) for k in self.indices(i)]

    def _name(self, label: int) -> str | None:
        return None if self.label_names is None or label < 0 else self.label_names[label]

    def _rows(self, i: int) -> str:
        parts = [f"{each['name'] or each['label']} {each['share']:.1%}" for each in self.to_records(i)]
        return ", ".join(parts[:6]) + (f" and {len(parts) - 6} more" if len(parts) > 6 else "")

    def __repr__(self) -> str:
        lines = [f"LabelMaps of {counted(len(self), 'image')}"]
        lines += [f"{i:>5}  {'x'.join(map(str, self[i].shape))}  {self._rows(i)}" for i in range(len(self))[:SHOWN]]
        if len(self) > SHOWN:
            lines.append(f"  ... and {len(self) - SHOWN} more")
        return "\n".join(lines)

    def _repr_html_(self) -> str | None:
        return notebook_html(len(self), self._figure)

    def _repr_png_(self) -> bytes | None:
        return notebook_png(len(self), self._png)

    def _figure(self, i: int) -> str:
        return (
            f'<figure><img alt="image and its classes" style="max-width:100%" '
            f'src="{inline_jpeg(self._drawn(i))}">{self._legend(i)}</figure>'
        )

    def _legend(self, i: int) -> str:
        rows = []
        for each in self.to_records(i)[:SHOWN]:
            color = "transparent" if each["label"] < 0 else "rgb({}, {}, {})".format(*label_color(each["label"]))
            name = html.escape(str(each["name"] or each["label"]))
            rows.append(
                f'<tr><td style="background:{color}">&nbsp;&nbsp;</td><td>{name}</td><td>{each["share"]:.1%}</td></tr>'
            )
        return f"<table><tr><th></th><th>class</th><th>share</th></tr>{''.join(rows)}</table>"

    def _png(self, i: int) -> bytes:
        return encode_png(self._drawn(i))

    def _drawn(self, i: int) -> np.ndarray:
        img, label = self.image(i), self[i]
        if max(label.shape) > LONG_SIDE:
            size = scaled_size(label.shape, long=LONG_SIDE)
            img, label = resize(img, size), resize_label_map(label, size)
        return draw_label_map(img, label)
