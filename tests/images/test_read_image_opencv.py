"""OpenCV as decoder: the same images and the same errors as with Pillow."""

import io
import sys

import cv2
import numpy as np
import pytest
from PIL import Image

from cvzoo.errors import ImageError, MissingExtraError, ValueRangeError
from cvzoo.images import read_image

YX = np.mgrid[:61, :97].astype(np.float64)
SMOOTH = np.stack([YX[0] * 4, YX[1] * 2, 127 + 90 * np.sin(YX[0] / 7) * np.cos(YX[1] / 9)], 2).astype(np.uint8)
PHOTO = Image.fromarray(SMOOTH)


def encoded(pil, kind="JPEG", **options):
    buffer = io.BytesIO()
    pil.save(buffer, kind, **options)
    return buffer.getvalue()


def turned(orientation, pil=PHOTO):
    exif = Image.Exif()
    exif[0x0112] = orientation
    return encoded(pil, exif=exif)


FILES = {
    f"JPEG {quality} {subsampling} {progressive}": encoded(
        PHOTO, quality=quality, subsampling=subsampling, progressive=progressive
    )
    for quality in (10, 75, 100)
    for subsampling in (0, 1, 2)
    for progressive in (False, True)
}
FILES |= {f"EXIF {orientation}": turned(orientation) for orientation in (1, 2, 3, 4, 5, 6, 7, 8, 77)}
FILES |= {
    "EXIF of a gray image": turned(6, PHOTO.convert("L")),
    "gray JPEG": encoded(PHOTO.convert("L")),
    "JPEG in RGB": encoded(PHOTO, keep_rgb=True),
    "JPEG with restarts": encoded(PHOTO, restart_marker_rows=1),
    "JPEG with something behind it": encoded(PHOTO) + b"\xff\xc0 and more",
    # these are left to Pillow
    "CMYK JPEG": encoded(PHOTO.convert("CMYK")),
    "PNG": encoded(PHOTO, "PNG"),
    "palette": encoded(PHOTO.quantize(9), "PNG"),
    "16-bit gray": encoded(Image.fromarray(SMOOTH[..., 0].astype(np.uint16) * 257), "PNG"),
    "transparent": encoded(Image.fromarray(np.dstack([SMOOTH, SMOOTH[..., 0]])), "PNG"),
    "GIF": encoded(PHOTO, "GIF"),
}


@pytest.mark.parametrize("dtype", [np.float32, np.uint8])
@pytest.mark.parametrize("color", [True, False])
@pytest.mark.parametrize("kind", FILES)
def test_both_decoders_give_the_same_photo(kind, color, dtype):
    expected = read_image(FILES[kind], color=color, dtype=dtype)
    img = read_image(FILES[kind], color=color, dtype=dtype, decoder="opencv")
    np.testing.assert_array_equal(img, expected)
    assert img.dtype == expected.dtype
    assert img.strides == expected.strides
    assert img.flags.writeable


def test_paths_and_files_are_decoded_too(tmp_path):
    path = tmp_path / "photo.jpg"
    path.write_bytes(FILES["gray JPEG"])
    expected = read_image(path)
    with open(path, "rb") as file:
        for source in (path, str(path), file, bytearray(path.read_bytes()), memoryview(path.read_bytes())):
            np.testing.assert_array_equal(read_image(source, decoder="opencv"), expected)


def test_sound_colour_jpegs_do_reach_opencv(monkeypatch):
    seen = []
    decode = cv2.imdecode
    monkeypatch.setattr(cv2, "imdecode", lambda *arguments: seen.append(arguments) or decode(*arguments))
    read_image(FILES["JPEG 75 2 False"], decoder="opencv")
    read_image(FILES["gray JPEG"], decoder="opencv")
    assert len(seen) == 2
    read_image(FILES["PNG"], decoder="opencv")
    read_image(FILES["CMYK JPEG"], decoder="opencv")
    assert len(seen) == 2


def outcome(data, decoder):
    try:
        return read_image(data, dtype=np.uint8, decoder=decoder)
    except ImageError as error:
        return str(error)


def assert_same_outcome(data):
    expected, got = outcome(data, "pillow"), outcome(data, "opencv")
    assert type(expected) is type(got)
    np.testing.assert_array_equal(got, expected)


@pytest.mark.parametrize("progressive", [False, True])
def test_cut_off_files_are_the_same_errors(progressive):
    data = encoded(PHOTO, progressive=progressive)
    for length in range(0, len(data), 7):
        assert_same_outcome(data[:length])


@pytest.mark.parametrize("progressive", [False, True])
def test_damaged_files_are_the_same_errors_or_the_same_photos(progressive, capfd):
    data, rng = encoded(PHOTO, progressive=progressive), np.random.default_rng(0)
    for _ in range(400):
        damaged = bytearray(data)
        damaged[rng.integers(len(data))] = rng.integers(256)
        assert_same_outcome(bytes(damaged))
    # a marker that means nothing, in the last rows, which OpenCV alone would pass over
    for place in range(len(data) - 60, len(data)):
        for value in (0xFF, 0xD8):
            damaged = bytearray(data)
            damaged[place] = value
            assert_same_outcome(bytes(damaged))
    capfd.readouterr()


def test_the_limit_of_pixels_holds():
    with pytest.raises(ImageError, match="too many pixels"):
        read_image(FILES["gray JPEG"], max_pixels=61 * 97 - 1, decoder="opencv")


def test_arrays_need_no_decoder(monkeypatch):
    monkeypatch.setitem(sys.modules, "cv2", None)
    np.testing.assert_array_equal(read_image(PHOTO, decoder="opencv"), read_image(PHOTO))


def test_without_opencv_the_command_is_named(monkeypatch):
    monkeypatch.setitem(sys.modules, "cv2", None)
    with pytest.raises(MissingExtraError, match="OpenCV is not installed"):
        read_image(FILES["PNG"], decoder="opencv")


def test_another_decoder_is_refused():
    with pytest.raises(ValueRangeError, match="pillow, opencv"):
        read_image(FILES["PNG"], decoder="turbo")
