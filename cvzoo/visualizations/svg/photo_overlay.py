"""An image with boxes as SVG."""

import base64
import html
import io
from collections.abc import Sequence
from typing import NamedTuple

from PIL import Image

from cvzoo.images.write_image import to_pil
from cvzoo.typing.aliases import Array


class OverlayBox(NamedTuple):
    """A box (y_min, x_min, y_max, x_max) in the image's pixels, its text, its color, and whether its line is dashed."""

    bb: tuple[float, float, float, float]
    words: str
    color: str
    is_dashed: bool = False


def photo_overlay(img: Array, boxes: Sequence[OverlayBox], *, long_side: int = 560, most_words: int = 8) -> str:
    """SVG with the image as a JPEG, downscaled to `long_side` pixels, and the boxes drawn as lines.

    img: (3, H, W) float32 in [0, 255]; boxes: OverlayBox each
    most_words: maximum number of boxes with visible texts; with more, texts are tooltips only
    """
    pil = to_pil(img).convert("RGB")
    width, height = pil.size
    scale = min(1.0, long_side / max(width, height))
    shrunk = pil.resize((max(round(width * scale), 1), max(round(height * scale), 1)), Image.Resampling.BILINEAR)
    buffer = io.BytesIO()
    shrunk.save(buffer, format="JPEG", quality=78)
    picture = base64.b64encode(buffer.getvalue()).decode("ascii")
    parts = [
        f'<svg class="photo" viewBox="0 0 {shrunk.width} {shrunk.height}" width="{shrunk.width}" role="img">',
        f'<image href="data:image/jpeg;base64,{picture}" width="{shrunk.width}" height="{shrunk.height}"/>',
    ]
    for box in boxes:
        y_min, x_min, y_max, x_max = (float(each) * scale for each in box.bb)
        dash = ' stroke-dasharray="5 3"' if box.is_dashed else ""
        place = f'x="{_coordinate(x_min)}" y="{_coordinate(y_min)}"'
        parts.append(
            f'<rect {place} width="{_coordinate(max(x_max - x_min, 0))}" height="{_coordinate(max(y_max - y_min, 0))}" '
            f'fill="none" stroke="{box.color}" stroke-width="2"{dash}><title>{html.escape(box.words)}</title></rect>'
        )
        if len(boxes) > most_words:
            continue
        above = y_min - 3 if y_min > 12 else y_min + 11
        parts.append(
            f'<text class="photo-text" x="{_coordinate(max(x_min, 0) + 2)}" y="{_coordinate(above)}" '
            f'fill="{box.color}">{html.escape(box.words)}</text>'
        )
    return "".join([*parts, "</svg>"])


def _coordinate(value: float) -> str:
    """A length in pixels with one decimal at most: "12", "12.5"."""
    text = f"{value:.1f}"
    return text[:-2] if text.endswith(".0") else text
