"""The properties of image files, and their faults."""

import io

import numpy as np
import pytest
from PIL import Image

from cvzoo.datasets.doctor.fault import Fault
from cvzoo.datasets.doctor.image_facts import image_facts


@pytest.mark.parametrize("kind", ["PNG", "JPEG", "BMP"])
def test_pixels_that_cannot_be_decoded_are_a_fault(tmp_path, kind):
    file = io.BytesIO()
    Image.fromarray(np.random.default_rng(0).integers(0, 256, (40, 50, 3), dtype=np.uint8)).save(file, kind)
    data = file.getvalue()
    path = tmp_path / f"whole.{kind.lower()}"
    path.write_bytes(data)
    assert image_facts(path).trouble is None
    if kind == "PNG":  # all bytes are there, but those of the pixels are no zlib stream
        start = data.index(b"IDAT") + 4
        data = data[:start] + bytes(4) + data[start + 4 :]
    else:
        data = data[: len(data) // 2]
    path.write_bytes(data)
    trouble = image_facts(path).trouble
    assert trouble is not None
    assert trouble[0] is Fault.PHOTO_TRUNCATED


@pytest.mark.parametrize(("pixel", "expected"), [(120, True), (121, False)])
def test_one_pixel_of_another_color_is_seen(tmp_path, pixel, expected):
    pixels = np.full((300, 400, 3), 120, np.uint8)
    pixels[150, 200] = pixel
    Image.fromarray(pixels).save(tmp_path / "plain.png")
    assert image_facts(tmp_path / "plain.png").is_blank is expected
