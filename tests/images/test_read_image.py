"""Images of every kind come out in one layout; broken, huge and odd ones are refused by name."""

import io
import struct
import threading
import zlib

import numpy as np
import pytest
from PIL import Image

from cvzoo.errors import DtypeError, ImageError, ShapeError
from cvzoo.images import read_image

RNG = np.random.default_rng(0)
RGB = RNG.integers(0, 256, (6, 8, 3), dtype=np.uint8)
GRAY = RGB[:, :, 0]
CHW = RGB.transpose(2, 0, 1).astype(np.float32)


def encoded(pil, kind="PNG", **options):
    buffer = io.BytesIO()
    pil.save(buffer, kind, **options)
    return buffer.getvalue()


def assert_is_photo(img, channels=3):
    assert img.dtype == np.float32
    assert img.ndim == 3
    assert img.shape[0] == channels
    assert img.flags.c_contiguous
    assert img.flags.writeable
    assert img.min() >= 0
    assert img.max() <= 255


@pytest.fixture
def path(tmp_path):
    path = tmp_path / "photo.png"
    path.write_bytes(encoded(Image.fromarray(RGB)))
    return path


def test_every_source_gives_the_same_photo(path):
    data = path.read_bytes()
    with open(path, "rb") as file:
        sources = [str(path), path, data, bytearray(data), memoryview(data), io.BytesIO(data), file]
        sources += [Image.open(path), Image.fromarray(RGB), CHW, CHW.astype(np.uint8), CHW.astype(np.float64)]
        for source in sources:
            img = read_image(source)
            assert_is_photo(img)
            np.testing.assert_array_equal(img, CHW)


@pytest.mark.parametrize("kind", ["PNG", "BMP", "PPM", "TIFF", "WEBP", "JPEG2000"])
def test_lossless_formats_keep_every_value(kind):
    options = {"lossless": True} if kind == "WEBP" else {}
    np.testing.assert_array_equal(read_image(encoded(Image.fromarray(RGB), kind, **options)), CHW)


def test_jpeg_is_close():
    smooth = np.linspace(0, 255, 32 * 32 * 3).reshape(32, 32, 3).astype(np.uint8)
    img = read_image(encoded(Image.fromarray(smooth), "JPEG", quality=95))
    np.testing.assert_allclose(img, smooth.transpose(2, 0, 1), atol=6)


# every mode of Pillow's that a file can have, made from an image whose RGB is known
MODES = {
    "grey": (Image.fromarray(GRAY), np.stack([GRAY] * 3)),
    "black and white": (Image.fromarray(GRAY > 99), np.stack([(GRAY > 99) * 255] * 3)),
    "16-bit gray": (Image.fromarray(GRAY.astype(np.uint16) * 257), np.stack([GRAY] * 3)),
    "opaque RGBA": (Image.fromarray(np.dstack([RGB, np.full_like(GRAY, 255)])), CHW),
    "opaque gray and alpha": (
        Image.merge("LA", [Image.fromarray(GRAY), Image.fromarray(np.full_like(GRAY, 255))]),
        np.stack([GRAY] * 3),
    ),
    "palette": (Image.fromarray(RGB).quantize(64), None),
}


@pytest.mark.parametrize("name", MODES)
def test_every_mode_becomes_rgb(name):
    pil, expected = MODES[name]
    if expected is None:
        expected = np.asarray(pil.convert("RGB")).transpose(2, 0, 1)
    for source in (pil, encoded(pil)):
        img = read_image(source)
        assert_is_photo(img)
        np.testing.assert_allclose(img, expected, atol=1e-4)


def test_cmyk_becomes_rgb():
    pil = Image.new("CMYK", (5, 4), (0, 255, 255, 0))
    np.testing.assert_allclose(read_image(encoded(pil, "JPEG")).mean(axis=(1, 2)), [255, 0, 0], atol=6)


def test_16_bit_values_keep_their_fractions():
    values = np.array([[0, 1, 128, 257, 32768, 65535]], dtype=np.uint16)
    expected = values / 257
    for kind in ("PNG", "TIFF"):
        img = read_image(encoded(Image.fromarray(values), kind), color=False)
        np.testing.assert_allclose(img[0], expected, rtol=1e-6)
    np.testing.assert_allclose(read_image(values, color=False)[0], expected, rtol=1e-6)


def test_16_bit_colour_comes_within_one_step_of_eight_bits():
    # Pillow has no mode for it, so the file is written by hand
    values = RNG.integers(0, 65536, (3, 4, 3), dtype=np.uint16)
    rows = b"".join(b"\0" + row.astype(">u2").tobytes() for row in values)

    def chunk(kind, data):
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

    head = chunk(b"IHDR", struct.pack(">IIBBBBB", 4, 3, 16, 2, 0, 0, 0))
    data = b"\x89PNG\r\n\x1a\n" + head + chunk(b"IDAT", zlib.compress(rows)) + chunk(b"IEND", b"")
    np.testing.assert_allclose(read_image(data), values.transpose(2, 0, 1) / 257, atol=1)


def test_transparency_shows_the_background():
    alpha = np.array([[0, 51, 255]], dtype=np.uint8)
    rgba = np.dstack([np.full((1, 3, 3), 100, dtype=np.uint8), alpha])
    data = encoded(Image.fromarray(rgba))
    np.testing.assert_allclose(read_image(data)[0], [[255, 224, 100]], rtol=1e-6)
    np.testing.assert_allclose(read_image(data, background=(0, 50, 0))[1], [[50, 60, 100]], rtol=1e-6)
    np.testing.assert_array_equal(read_image(data, background=None), np.full((3, 1, 3), 100))


def test_a_transparent_palette_entry_shows_the_background():
    pil = Image.new("P", (2, 1))
    pil.putpalette([10, 20, 30, 40, 50, 60])
    pil.putdata([0, 1])
    data = encoded(pil, transparency=0)
    assert read_image(data)[:, 0].T.tolist() == [[255, 255, 255], [40, 50, 60]]


@pytest.mark.parametrize("orientation", range(1, 9))
@pytest.mark.parametrize("kind", ["JPEG", "PNG", "WEBP", "TIFF"])
def test_exif_orientation_is_applied(kind, orientation):
    upright = np.zeros((16, 24, 3), dtype=np.uint8)
    upright[:8, :8] = 255  # one corner tells all eight apart, since the sides differ
    # what a camera stores, so that turning it as the tag says gives the upright image
    stored = {
        1: upright,
        2: upright[:, ::-1],
        3: upright[::-1, ::-1],
        4: upright[::-1],
        5: upright.transpose(1, 0, 2),
        6: np.rot90(upright, 1),
        7: upright[::-1, ::-1].transpose(1, 0, 2),
        8: np.rot90(upright, 3),
    }[orientation]
    exif = Image.Exif()
    exif[0x0112] = orientation
    data = encoded(Image.fromarray(np.ascontiguousarray(stored)), kind, exif=exif)
    for source in (data, Image.open(io.BytesIO(data))):
        img = read_image(source)
        assert img.shape == (3, 16, 24)
        np.testing.assert_allclose(img, upright.transpose(2, 0, 1), atol=24)


# Pillow may warn about the block; that is all that may happen
@pytest.mark.filterwarnings("ignore:Corrupt EXIF data:UserWarning")
@pytest.mark.parametrize("exif", [b"Exif\0\0nonsense", b"Exif\0\0II*\0\xff\xff\xff\xff", b"Exif\0\0"])
def test_a_broken_exif_does_not_break_the_photo(exif):
    assert read_image(encoded(Image.fromarray(RGB), "JPEG", exif=exif)).shape == (3, 6, 8)


def test_an_unknown_orientation_counts_as_upright():
    exif = Image.Exif()
    exif[0x0112] = 99
    assert read_image(encoded(Image.fromarray(RGB), "JPEG", exif=exif)).shape == (3, 6, 8)


def test_an_animation_gives_its_first_frame():
    frames = [Image.new("RGB", (4, 3), color) for color in ((255, 0, 0), (0, 255, 0))]
    data = encoded(frames[0], "GIF", save_all=True, append_images=frames[1:])
    assert read_image(data)[:, 0, 0].tolist() == [255, 0, 0]


@pytest.mark.parametrize("name", MODES)
def test_grey_on_demand(name):
    img = read_image(MODES[name][0], color=False)
    assert_is_photo(img, channels=1)


def test_grey_weighs_the_colours():
    img = read_image(CHW, color=False)
    np.testing.assert_allclose(img[0], 0.299 * CHW[0] + 0.587 * CHW[1] + 0.114 * CHW[2], rtol=1e-5)


def test_arrays_are_copied_and_never_changed():
    source = CHW.copy()
    img = read_image(source)
    img[:] = 0
    np.testing.assert_array_equal(source, CHW)
    assert_is_photo(read_image(np.asfortranarray(CHW)[:, ::-1]))


def test_pil_images_are_not_changed():
    exif = Image.Exif()
    exif[0x0112] = 6
    pil = Image.open(io.BytesIO(encoded(Image.fromarray(RGB), "PNG", exif=exif)))
    assert read_image(pil).shape == (3, 8, 6)
    assert pil.size == (8, 6)
    assert read_image(pil).shape == (3, 8, 6)


@pytest.mark.parametrize(
    ("array", "expected"),
    [
        (GRAY, np.stack([GRAY] * 3)),  # (H, W)
        (GRAY[None], np.stack([GRAY] * 3)),  # (1, H, W)
        (GRAY > 99, np.stack([(GRAY > 99) * 255] * 3)),  # bool
        (GRAY.astype(np.int64), np.stack([GRAY] * 3)),
    ],
)
def test_arrays_of_other_kinds(array, expected):
    np.testing.assert_array_equal(read_image(array), expected)


@pytest.mark.parametrize(
    ("array", "hint"),
    [
        (RGB, r"img\.transpose\(2, 0, 1\)"),
        (np.zeros((9, 7, 4), np.uint8), r"\[:, :, :3\]"),
        (np.zeros((4, 9, 7), np.uint8), r"img\[:3\]"),
        (np.zeros((2, 3, 9, 7), np.uint8), "one image at a time"),
        (np.zeros(9, np.uint8), r"\(3, H, W\)"),
        (np.zeros((5, 9, 7), np.uint8), r"\(3, H, W\)"),
    ],
)
def test_arrays_in_another_layout_get_a_hint(array, hint):
    with pytest.raises(ShapeError, match=hint):
        read_image(array)


@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
def test_values_that_are_not_finite_are_refused(bad):
    img = CHW.copy()
    img[1, 2, 3] = bad
    with pytest.raises(ImageError, match="NaN"):
        read_image(img)
    with pytest.raises(ImageError, match="NaN"):
        read_image(Image.fromarray(img[1]))


def test_arrays_of_another_dtype_are_refused():
    with pytest.raises(DtypeError, match="real numbers"):
        read_image(CHW.astype(complex))
    with pytest.raises(DtypeError, match="real numbers"):
        read_image(CHW.astype(object))


@pytest.mark.parametrize("shape", [(3, 0, 5), (3, 5, 0), (0, 5)])
def test_empty_arrays_are_refused(shape):
    with pytest.raises(ImageError, match="empty"):
        read_image(np.zeros(shape, np.float32))


@pytest.mark.parametrize(
    ("source", "first_line"),
    [
        (None, "an object of type NoneType is not an image"),
        (3, "the number 3 is not an image"),
        (np.float32(0.5), "the number np.float32(0.5) is not an image"),
        ([1, 2], "an object of type list is not an image"),
        ({"path": "x"}, "an object of type dict is not an image"),
    ],
)
def test_sources_of_another_type_are_refused_in_the_first_line(source, first_line):
    with pytest.raises(DtypeError) as caught:
        read_image(source)
    lines = str(caught.value).splitlines()
    assert lines[0] == first_line
    assert "a path, bytes, an open binary file, a PIL image or an array" in lines[1]


def test_a_tensor_of_torch_is_refused_with_what_makes_an_array_of_it():
    tensor = type("Tensor", (), {"__module__": "torch", "__array__": lambda self: CHW})()
    with pytest.raises(DtypeError, match=r"torch\.Tensor is not an image[^$]*\.numpy\(\)"):
        read_image(tensor)
    other = type("Tensor", (), {"__module__": "jax", "__array__": lambda self: CHW})()
    with pytest.raises(DtypeError, match=r"np\.asarray"):
        read_image(other)


def test_an_empty_path_is_refused():
    with pytest.raises(ImageError, match="the path of the image is empty"):
        read_image("")


@pytest.mark.parametrize("kind", ["float32", "float64", "F"])
def test_floats_in_0_1_are_taken_as_they_are_with_a_warning(kind):
    values = (CHW / 255).astype("float32" if kind == "F" else kind)
    source = Image.fromarray(values[0]) if kind == "F" else values
    with pytest.warns(RuntimeWarning, match=r"0 \.\. 1 only.*nearly black.*\* 255"):
        img = read_image(source)
    assert img.max() <= 1


def test_small_integers_of_mode_i_are_taken_as_16_bits_with_a_warning():
    with pytest.warns(RuntimeWarning, match="mode I.*65535.*nearly black"):
        img = read_image(Image.fromarray(GRAY.astype(np.int32)))
    np.testing.assert_allclose(img[0], GRAY / 257, rtol=1e-6)


def test_black_and_dark_images_of_bytes_and_masks_are_nobodys_mistake():  # any warning fails a test
    for source in (CHW * 0, (CHW > 9).astype(np.uint8), CHW > 9, CHW / 255 - 0.5, CHW / 100, np.uint16(CHW > 9)):
        read_image(source)
    read_image(Image.fromarray(GRAY.astype(np.int32) * 257))


def test_a_file_open_as_text_is_refused():
    with pytest.raises(DtypeError, match="rb"):
        read_image(io.StringIO("x"))


def test_an_address_is_refused_with_a_hint():
    with pytest.raises(ImageError, match="read_image_url"):
        read_image("https://example.com/dog.jpg")


def test_a_missing_file_is_a_missing_file(tmp_path):
    with pytest.raises(FileNotFoundError, match=r"nowhere\.jpg"):
        read_image(tmp_path / "nowhere.jpg")
    with pytest.raises(IsADirectoryError):
        read_image(tmp_path)


@pytest.mark.parametrize("kind", ["PNG", "JPEG", "GIF", "BMP", "TIFF", "WEBP"])
@pytest.mark.parametrize("share", [0.02, 0.3, 0.6, 0.9])
def test_a_truncated_file_is_named(tmp_path, kind, share):
    data = encoded(Image.fromarray(RNG.integers(0, 256, (60, 80, 3), dtype=np.uint8)), kind)
    path = tmp_path / "half an image.bin"
    path.write_bytes(data[: int(len(data) * share)])
    with pytest.raises(ImageError, match=r"half an image\.bin"):
        read_image(path)


@pytest.mark.parametrize("data", [b"", b"hello", b"%!PS-Adobe-3.0 EPSF-3.0\n%%BoundingBox: 0 0 9 9\n", b"\0" * 5000])
def test_what_is_no_photo_is_named(tmp_path, data):
    path = tmp_path / "letter.jpg"
    path.write_bytes(data)
    with pytest.raises(ImageError, match=r"letter\.jpg: not an image file of a supported format"):
        read_image(path)
    with pytest.raises(ImageError, match=f"{len(data)} bytes"):
        read_image(data)


def test_broken_bytes_never_raise_anything_else():
    rng = np.random.default_rng(1)
    for kind in ("PNG", "JPEG", "GIF", "BMP", "TIFF", "WEBP"):
        data = np.frombuffer(encoded(Image.fromarray(RGB), kind), dtype=np.uint8)
        for _ in range(60):
            broken = data.copy()
            broken[rng.integers(0, min(len(data), 200), 4)] = rng.integers(0, 256, 4)
            try:
                assert_is_photo(read_image(broken.tobytes()))
            except ImageError:
                pass


def bomb(height, width):
    """A PNG whose header promises an image of this size; the rest is missing, and must never be asked for."""
    head = b"IHDR" + struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)
    return b"\x89PNG\r\n\x1a\n" + struct.pack(">I", 13) + head + struct.pack(">I", zlib.crc32(head)) + b"\0\0\0\0IDAT"


@pytest.mark.filterwarnings("default::PIL.Image.DecompressionBombWarning")
@pytest.mark.parametrize(("height", "width"), [(9460, 9460), (12_000, 12_000), (100_000, 100_000), (1, 2_000_000_000)])
def test_decompression_bombs_are_refused_by_their_header(height, width, recwarn):
    with pytest.raises(ImageError, match="decompression bomb"):
        read_image(bomb(height, width))


def test_bombs_are_refused_where_warnings_are_errors():
    with pytest.raises(ImageError, match="decompression bomb"):
        read_image(bomb(12_000, 12_000))


def test_the_limit_of_pixels_can_be_set(path):
    for source in (path, path.read_bytes(), Image.fromarray(RGB), CHW, GRAY):
        assert read_image(source, max_pixels=48).shape == (3, 6, 8)
        with pytest.raises(ImageError, match="at most 47 pixels"):
            read_image(source, max_pixels=47)


def test_many_threads_may_read_at_once(path):
    found = []

    def work():
        found.extend(np.array_equal(read_image(path), CHW) for _ in range(20))

    threads = [threading.Thread(target=work) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert found == [True] * 160


def test_a_real_photo(shared):
    img = read_image(shared / "data" / "photos" / "dog.jpg")
    assert_is_photo(img)
    assert img.shape == (3, 576, 768)
