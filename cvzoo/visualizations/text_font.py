"""The font of texts in images."""

import importlib.util
import pathlib
from collections.abc import Iterable
from typing import TypeAlias

from PIL import ImageFont

Font: TypeAlias = ImageFont.FreeTypeFont | ImageFont.ImageFont


def text_font(size: int, texts: Iterable[str]) -> Font:
    """The font for all texts of an image: Pillow's for ASCII, otherwise DejaVu Sans, if it is installed.

    Pillow's font draws letters beyond ASCII as boxes. DejaVu Sans, which comes with matplotlib, has Latin, Greek,
    Cyrillic, Armenian, Georgian, Arabic and Hebrew letters, but no Chinese, Japanese, Korean, Indic or Thai ones.
    size: pixels
    """
    if all(text.isascii() for text in texts):
        return ImageFont.load_default(size)
    try:
        return ImageFont.truetype(_dejavu_sans(), size)
    except OSError:  # no such file, or a Pillow without FreeType
        return ImageFont.load_default(size)


def _dejavu_sans() -> pathlib.Path:
    """The path of matplotlib's DejaVuSans.ttf. Raises FileNotFoundError without matplotlib.

    matplotlib is not imported, which takes longer than the drawing.
    """
    found = importlib.util.find_spec("matplotlib")
    if found is None or found.origin is None:
        raise FileNotFoundError("matplotlib is not installed")
    return pathlib.Path(found.origin).parent / "mpl-data" / "fonts" / "ttf" / "DejaVuSans.ttf"
