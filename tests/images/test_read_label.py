import io

import numpy as np
import pytest
from PIL import Image

from cvzoo.errors.exceptions import DtypeError, ImageError
from cvzoo.images import read_image, read_image_size, read_label

NUMBERS = np.arange(12, dtype=np.uint8).reshape(3, 4) * 20


def palette_image():
    pil = Image.fromarray(NUMBERS, "L").convert("L")
    pil.putpalette([255 - i for i in range(256) for _ in range(3)])
    return pil


MODES = [
    (lambda: Image.fromarray(NUMBERS), NUMBERS),
    (palette_image, NUMBERS),
    (lambda: Image.fromarray(NUMBERS.astype(np.uint16) * 100), NUMBERS.astype(int) * 100),
    (lambda: Image.fromarray(NUMBERS > 100), NUMBERS > 100),
]


@pytest.mark.filterwarnings("ignore:'mode' parameter is deprecated:DeprecationWarning")
@pytest.mark.parametrize(("make", "expected"), MODES)
def test_label_maps_hold_numbers_not_colours(tmp_path, make, expected):
    make().save(tmp_path / "label.png")
    label = read_label(tmp_path / "label.png")
    assert label.dtype == np.int32
    np.testing.assert_array_equal(label, expected)
    np.testing.assert_array_equal(read_label(io.BytesIO((tmp_path / "label.png").read_bytes())), expected)


def test_the_dtype_can_be_chosen_and_the_array_written_to():
    label = read_label(Image.fromarray(NUMBERS), dtype=np.uint8)
    label[0, 0] = 7
    assert label.dtype == np.uint8


def test_colours_and_broken_files_are_refused(tmp_path):
    Image.new("RGB", (4, 3)).save(tmp_path / "photo.png")
    with pytest.raises(ImageError, match="has colors"):
        read_label(tmp_path / "photo.png")
    (tmp_path / "broken.png").write_bytes((tmp_path / "photo.png").read_bytes()[:40])
    with pytest.raises(ImageError, match=r"broken\.png"):
        read_label(tmp_path / "broken.png")
    with pytest.raises(ImageError, match="too many pixels"):
        read_label(Image.new("L", (4, 3)), max_pixels=11)
    with pytest.raises(FileNotFoundError):
        read_label(tmp_path / "none.png")
    with pytest.raises(DtypeError):
        read_label(3)


@pytest.mark.parametrize("orientation", range(9))
def test_the_size_is_that_of_the_upright_photo(tmp_path, orientation):
    exif = Image.Exif()
    if orientation:
        exif[0x0112] = orientation
    path = tmp_path / "photo.jpg"
    Image.new("RGB", (40, 30)).save(path, exif=exif)
    assert read_image_size(path) == read_image(path).shape[1:]


def test_the_size_needs_only_the_header(tmp_path):
    path = tmp_path / "photo.png"
    Image.fromarray(np.random.default_rng(0).integers(0, 255, (30, 40), np.uint8)).save(path)
    path.write_bytes(path.read_bytes()[:100])
    assert read_image_size(path) == (30, 40)
    path.write_bytes(b"no photo")
    with pytest.raises(ImageError, match=r"photo\.png"):
        read_image_size(path)
