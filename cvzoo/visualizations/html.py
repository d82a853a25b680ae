"""What a notebook shows of a detection: the photo with its boxes, and a table. Everything from outside is escaped."""

import base64
import html

import numpy as np

from cvzoo.images.from_array import from_array
from cvzoo.images.write_image import encode_png
from cvzoo.transforms.resize import resize
from cvzoo.transforms.resize_bbox import resize_bbox
from cvzoo.transforms.scale import scaled_size
from cvzoo.visualizations.draw_bbox import caption, draw_bbox

# A notebook's column is about as wide; a larger photo would only make the file heavier
_LONG_SIDE = 1000


def detection_png(img, bbox, label=None, score=None, *, label_names=None, long_side=_LONG_SIDE):
    """The bytes of a PNG of the photo with its boxes drawn, shrunk so that no side passes `long_side`.

    img, bbox, label, score, label_names: as for `draw_bbox`, which also says what is raised
    """
    img = from_array(np.asarray(img), color=True, name="img")
    size = img.shape[1:]
    if max(size) > long_side:
        shrunk = scaled_size(size, long=long_side)
        img, bbox = resize(img, shrunk), resize_bbox(bbox, size, shrunk)
    return encode_png(draw_bbox(img, bbox, label, score, label_names=label_names))


def detection_html(img, bbox, label=None, score=None, *, label_names=None, long_side=_LONG_SIDE, max_rows=20):
    """A piece of HTML that stands alone: the photo with its boxes inline, and a table of label, score and box.

    img, bbox, label, score, label_names, long_side: as for `detection_png`
    max_rows: how many boxes the table lists, the best first; a last line counts the others
    """
    picture = base64.b64encode(
        detection_png(img, bbox, label, score, label_names=label_names, long_side=long_side)
    ).decode("ascii")
    table = detection_table(bbox, label, score, label_names=label_names, max_rows=max_rows)
    alt = f"photo with {len(bbox)} {'box' if len(bbox) == 1 else 'boxes'}"
    return f'<figure><img alt="{alt}" style="max-width:100%" src="data:image/png;base64,{picture}"></figure>\n{table}'


def detection_table(bbox, label=None, score=None, *, label_names=None, max_rows=20):
    """An HTML table of the boxes, the best first: label, score, y_min, x_min, y_max, x_max in pixels."""
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


def _row(cells, tag):
    return "<tr>" + "".join(f"<{tag}>{html.escape(str(cell))}</{tag}>" for cell in cells) + "</tr>"
