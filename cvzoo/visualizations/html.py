"""HTML of detections for notebooks: the image with its boxes, and a table. All texts are escaped."""

import base64
import html
from collections.abc import Iterable

import numpy as np

from cvzoo.images.from_pil import from_array
from cvzoo.images.write_image import encode_jpeg, encode_png
from cvzoo.reporting.counted import counted
from cvzoo.transforms.resize import resize
from cvzoo.transforms.resize_bbox import resize_bbox
from cvzoo.transforms.scale import scaled_size
from cvzoo.typing.aliases import Array, ArrayLike, Image, LabelNames
from cvzoo.visualizations.draw_bbox import caption, draw_bbox

LONG_SIDE = 640  # in pixels: notebooks store all images, and 20 of this size as JPEG take 1 to 2 MB


def detection_png(
    img: ArrayLike,
    bbox: Array,
    label: Array | None = None,
    score: Array | None = None,
    *,
    label_names: LabelNames | None = None,
    long_side: int = LONG_SIDE,
) -> bytes:
    """The bytes of a PNG of the image with its boxes drawn, downscaled to a long side of at most `long_side`.

    img, bbox, label, score, label_names, and errors: as for `draw_bbox`
    """
    return encode_png(_drawn(img, bbox, label, score, label_names, long_side))


def detection_html(
    img: ArrayLike,
    bbox: Array,
    label: Array | None = None,
    score: Array | None = None,
    *,
    label_names: LabelNames | None = None,
    long_side: int = LONG_SIDE,
    max_rows: int = 20,
) -> str:
    """Self-contained HTML: the image with its boxes as an inline JPEG, and a table of labels, scores and boxes.

    img, bbox, label, score, label_names, long_side: as for `detection_png`
    max_rows: maximum number of boxes in the table, the highest-scoring first; a last row has the number of others
    """
    picture = inline_jpeg(_drawn(img, bbox, label, score, label_names, long_side))
    table = detection_table(bbox, label, score, label_names=label_names, max_rows=max_rows)
    alt = f"photo with {counted(len(bbox), 'box', 'boxes')}"
    return f'<figure><img alt="{alt}" style="max-width:100%" src="{picture}"></figure>\n{table}'


def detection_table(
    bbox: Array,
    label: Array | None = None,
    score: Array | None = None,
    *,
    label_names: LabelNames | None = None,
    max_rows: int = 20,
) -> str:
    """An HTML table of the boxes, the highest-scoring first: label, score, y_min, x_min, y_max, x_max in pixels."""
    bbox = np.asarray(bbox)
    order = np.arange(len(bbox)) if score is None else np.argsort(-np.asarray(score), kind="stable")
    heads = [*(["label"] if label is not None else []), *(["score"] if score is not None else [])]
    lines = ["<table>", _row([*heads, "y_min", "x_min", "y_max", "x_max"], "th")]
    for i in order[:max_rows]:
        cells = [caption(int(label[i]), None, label_names)] if label is not None else []
        cells += [f"{score[i]:.3f}"] if score is not None else []
        lines.append(_row([*cells, *(f"{each:.1f}" for each in bbox[i])], "td"))
    if len(bbox) > max_rows:
        lines.append(f'<tr><td colspan="{len(heads) + 4}">and {len(bbox) - max_rows} more</td></tr>')
    return "\n".join([*lines, "</table>"])


def inline_jpeg(img: Image) -> str:
    """The image as a JPEG in a `data:` URL, for the `src` of an HTML image. img: as for `to_pil`"""
    return f"data:image/jpeg;base64,{base64.b64encode(encode_jpeg(img)).decode('ascii')}"


def _drawn(
    img: ArrayLike,
    bbox: Array,
    label: Array | None,
    score: Array | None,
    label_names: LabelNames | None,
    long_side: int,
) -> Image:
    img = from_array(np.asarray(img), color=True, name="img")
    size = img.shape[1:]
    if max(size) > long_side:
        shrunk = scaled_size(size, long=long_side)
        img, bbox = resize(img, shrunk), resize_bbox(bbox, size, shrunk)
    return draw_bbox(img, bbox, label, score, label_names=label_names)


def _row(cells: Iterable[object], tag: str) -> str:
    return "<tr>" + "".join(f"<{tag}>{html.escape(str(cell))}</{tag}>" for cell in cells) + "</tr>"
