"""Drawing of lines of text above an image array."""

import math
from collections.abc import Sequence

import numpy as np
from PIL import Image as PILImage
from PIL import ImageDraw

from cvzoo.images.from_pil import from_pil
from cvzoo.images.write_image import to_pil
from cvzoo.typing.aliases import ArrayLike, Image
from cvzoo.visualizations.text_font import text_font

# Font size for an image with a long side of 1000 pixels; the minimum is legible
_FONT_SIZE, _MIN_FONT_SIZE = 26, 11
_PAPER, _INK = (255, 255, 255), (0, 0, 0)


def draw_caption(img: ArrayLike, lines: Sequence[str], *, font_size: int | None = None) -> Image:
    """The image below lines of text, black on white: (3, H + h, max(W, w)) float32 of integers in [0, 255].

    img: (3, H, W) or (1, H, W) float32 in [0, 255], or any array that `read_image` takes; no pixel of it is covered
    lines: of text, of which the longest is w pixels wide; without lines h is 0
    font_size: pixels; None scales it with the image
    """
    pil = to_pil(np.asarray(img)).convert("RGB")
    size = max(round(_FONT_SIZE * max(pil.size) / 1000), _MIN_FONT_SIZE) if font_size is None else font_size
    texts = ["".join(letter if letter.isprintable() else "?" for letter in line) for line in lines]
    font = text_font(size, texts)
    pad, line_height = max(size // 4, 1), math.ceil(size * 1.3)
    text_width = max((math.ceil(font.getlength(text)) + 2 * pad for text in texts), default=0)
    top = len(texts) * line_height + 2 * pad if texts else 0
    canvas = PILImage.new("RGB", (max(pil.width, text_width), top + pil.height), _PAPER)
    canvas.paste(pil, ((canvas.width - pil.width) // 2, top))
    draw = ImageDraw.Draw(canvas)
    for row, text in enumerate(texts):
        draw.text((canvas.width / 2, pad + row * line_height), text, fill=_INK, font=font, anchor="ma")
    return from_pil(canvas, color=True, background=None, name="img")
