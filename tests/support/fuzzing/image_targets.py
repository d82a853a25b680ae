"""Readers of photos and of label maps."""

import io
from collections.abc import Sequence

import numpy as np
from PIL import Image

from cvzoo.images.read_image import read_image
from cvzoo.images.read_image_size import read_image_size
from cvzoo.images.read_label import read_label
from fuzzing.byte_mutations import BYTES
from fuzzing.target import MB, Target, reads

_KINDS = (("RGB", "png"), ("P", "png"), ("I;16", "png"), ("RGBA", "webp"), ("RGB", "jpeg"), ("L", "bmp"), ("P", "gif"))
_KINDS += (("RGB", "tiff"), ("CMYK", "jpeg"), ("LA", "png"), ("1", "png"), ("RGB", "ppm"), ("L", "pcx"), ("RGB", "tga"))


def _photos() -> Sequence[bytes]:
    pixels = Image.fromarray(np.random.default_rng(0).integers(0, 256, (9, 13, 3), np.uint8))
    turned = Image.Exif()
    turned[0x112] = 6
    found = []
    for mode, kind in _KINDS:
        file = io.BytesIO()
        pil = Image.new("I;16", (13, 9), 999) if mode == "I;16" else pixels.convert(mode)
        pil.save(file, kind, **({"exif": turned.tobytes()} if kind in ("jpeg", "webp") else {}))
        found.append(file.getvalue())
    return found


TARGETS = (
    Target(
        name="image",
        seeds=_photos,
        run=reads("a.img", read_image, lambda path: read_image(path, color=False), read_image_size, read_label),
        mutations=BYTES,
        memory=2600 * MB,  # of the largest photo that is read: 89 million pixels, as bytes and as float32
        seconds=20.0,
    ),
)
