"""What a process says of an image, and the thumbnails that it makes."""

import io
import json

import numpy as np
import pytest
from PIL import Image, ImageDraw

from cvzoo.studio.photos.imaging_worker import THUMBNAIL_SIDE, look


def drawn(size):
    """An image of (W, H) with edges in all directions, and a gradient."""
    image = Image.linear_gradient("L").resize(size).convert("RGB")
    draw = ImageDraw.Draw(image)
    draw.ellipse((size[0] // 8, size[1] // 8, size[0] // 2, size[1] * 7 // 8), "red")
    draw.polygon([(size[0] // 2, 0), (size[0], size[1] // 2), (size[0] // 2, size[1])], "blue")
    return image


@pytest.mark.parametrize("size", [(600, 450), (450, 300), (257, 256), (601, 397), (1023, 1023), (200, 150), (2000, 90)])
def test_a_thumbnail_is_the_image_in_small(tmp_path, size):
    image = drawn(size)
    image.save(tmp_path / "drawn.png")
    answer, data = look(tmp_path / "drawn.png", "drawn.png")
    json.dumps(answer)  # it is sent to another process
    assert answer["facts"]["size"] == (size[1], size[0])
    thumbnail = Image.open(io.BytesIO(data[: answer["n_thumbnail"]]))
    scale = min(THUMBNAIL_SIDE / max(size), 1)
    assert thumbnail.size == tuple(max(round(each * scale), 1) for each in size)
    expected = io.BytesIO()
    image.resize(thumbnail.size, Image.Resampling.BICUBIC).save(expected, "JPEG", quality=80)
    difference = np.asarray(thumbnail).astype(int) - np.asarray(Image.open(expected))
    if min(thumbnail.size) > 12:  # of so few rows, each has another mean when the image is halved first
        assert np.abs(difference).mean() < 2
        assert np.abs(difference.mean((0, 1))).max() < 1  # neither moved by a pixel nor brighter
