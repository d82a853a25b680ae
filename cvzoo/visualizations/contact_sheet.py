"""A grid of images with captions."""

import math
from collections.abc import Iterable

import numpy as np
from PIL import Image, ImageDraw

from cvzoo.errors.exceptions import ShapeError
from cvzoo.images.from_pil import from_pil
from cvzoo.images.write_image import to_pil
from cvzoo.typing.aliases import Array, ArrayLike
from cvzoo.visualizations.text_font import Font, text_font

_GAP, _FONT_SIZE, _PAPER, _INK, _FRAME = 8, 13, (250, 250, 248), (40, 40, 40), (222, 222, 218)


def contact_sheet(
    imgs: Iterable[ArrayLike], captions: Iterable[str], *, columns: int | None = None, side: int = 320
) -> Array:
    """A grid of images with captions: (3, H, W) float32 of integers in [0, 255].

    imgs: images (3, H, W) or (1, H, W) in [0, 255] of any sizes, iterated once; none is enlarged
    captions: a line of text under each, truncated if too long
    columns: images per row; None: such that the sheet is about square
    side: pixels of an image's longer side on the sheet
    Raises ShapeError without images, or if the numbers of images and captions differ.
    """
    captions = list(captions)
    columns = columns or max(math.ceil(math.sqrt(len(captions))), 1)
    rows = max(math.ceil(len(captions) / columns), 1)
    font = text_font(_FONT_SIZE, captions)
    line = _FONT_SIZE + 6
    cell = side + _GAP, side + line + _GAP
    # a single row needs no more columns than images
    columns = min(columns, max(len(captions), 1))
    sheet = Image.new("RGB", (columns * cell[0] + _GAP, rows * cell[1] + _GAP), _PAPER)
    draw = ImageDraw.Draw(sheet)
    n = 0
    for n, img in enumerate(imgs, 1):
        if n > len(captions):
            break
        pil = to_pil(np.asarray(img)).convert("RGB")
        scale = min(side / max(pil.size), 1.0)
        pil = pil.resize([max(round(each * scale), 1) for each in pil.size], Image.Resampling.LANCZOS, reducing_gap=3)
        left = _GAP + (n - 1) % columns * cell[0]
        top = _GAP + (n - 1) // columns * cell[1]
        draw.rectangle((left, top, left + side - 1, top + side - 1), fill=_FRAME)
        sheet.paste(pil, (left + (side - pil.width) // 2, top + (side - pil.height) // 2))
        draw.text((left, top + side + 2), _cut(captions[n - 1], side, font, draw), fill=_INK, font=font)
    if n != len(captions) or n == 0:
        raise ShapeError("contact_sheet needs images, and one caption per image", expected=len(captions), got=n)
    return from_pil(sheet, color=True, background=None, name="the sheet")


def _cut(text: str, width: int, font: Font, draw: ImageDraw.ImageDraw) -> str:
    text = "".join(letter if letter.isprintable() else "?" for letter in text)
    if draw.textlength(text, font=font) <= width:
        return text
    while text and draw.textlength(text + "…", font=font) > width:
        text = text[:-1]
    return text + "…"
