"""Read a photo from wherever it is."""

import os
import pathlib
import warnings
from typing import Any, Literal, Protocol, runtime_checkable

import numpy as np
from PIL import Image

from cvzoo.errors.exceptions import DtypeError, ImageError, ValueRangeError
from cvzoo.images.decode import check_pixel_count, load, open_bytes, open_file, open_image, upright
from cvzoo.images.decode_opencv import open_bytes_opencv
from cvzoo.images.from_array import from_array
from cvzoo.images.from_pil import from_pil, from_pil_8bit, from_pixels
from cvzoo.images.why_no_image import why_no_image

# As many pixels as Pillow takes without a warning: 1 GiB as (3, H, W) float32
MAX_PIXELS = 89_478_485

WHITE = (255, 255, 255)

Decoder = Literal["pillow", "opencv"]


def read_image(
    source,
    *,
    color=True,
    max_pixels=MAX_PIXELS,
    background=WHITE,
    dtype=np.float32,
    decoder: Decoder = "pillow",
):
    """The photo as a new, contiguous (3, H, W) float32 array, RGB in [0, 255]; (1, H, W) grey when color is false.

    source: a path; the bytes of a file; an open binary file, read to its end; a PIL image; or an array (3, H, W),
        (1, H, W) or (H, W) of uint8 or float in [0, 255], uint16 in [0, 65535], or bool
    max_pixels: the largest H * W that is decoded, judged by the file's header; beyond 178,956,970 Pillow's own
        PIL.Image.MAX_IMAGE_PIXELS must be raised too
    background: (R, G, B) in [0, 255] that shines through transparent pixels, as on a white page; None drops
        transparency and shows whatever colours the file keeps there
    dtype: float32, or uint8: a quarter of the memory and faster for transforms, rounded where a file is deeper than
        8 bits, and not contiguous but, as decoders have it, (H, W, 3) in memory
    decoder: what decodes a sound JPEG in colour or grey from a file or bytes; "opencv" is up to a quarter quicker as
        uint8, hardly as float32, and needs the extra cv2. All else Pillow decodes, whatever stands here, so errors are
        the same. The bits are those of either's libjpeg: equal wherever both carry libjpeg-turbo, as the wheels on
        PyPI do

    EXIF orientation is applied. 16-bit grey is scaled so that 65535 becomes 255. Palettes, CMYK and 1-bit become RGB,
    an animation gives its first frame, colour profiles are ignored. Floats in [0, 1], and 32-bit integers of PIL in
    [0, 255], are nearly black as they are taken: a RuntimeWarning says so.

    Raises FileNotFoundError (or another OSError) if the path cannot be read; ImageError, naming the file, if it is of
    an unknown kind, truncated, corrupt, empty or too large, or if an array holds NaN; ShapeError or DtypeError for an
    array in another layout; DtypeError for a source of another type, or for another dtype; ValueRangeError for another
    decoder, MissingExtraError if OpenCV is to decode and is absent.
    """
    if np.dtype(dtype) not in (np.float32, np.uint8):
        raise DtypeError("a photo is read as float32 or uint8", got=dtype)
    if decoder not in ("pillow", "opencv"):
        raise ValueRangeError("no such decoder", expected="pillow, opencv", got=decoder)
    if isinstance(source, np.ndarray):
        check_pixel_count(source.shape[:-3:-1] if source.ndim >= 2 else (1, 1), name="the array", max_pixels=max_pixels)
        img = from_array(source, color=color)
        if source.dtype.kind == "f":
            _warn_if_dark(source, 1, "a float image", "img * 255")
        return img if dtype == np.float32 else np.rint(img).astype(np.uint8)
    if isinstance(source, Image.Image):
        check_pixel_count(source.size, name="the PIL image", max_pixels=max_pixels)
        pil, name = upright(load(source, name="the PIL image")), "the PIL image"
        if pil.mode == "F":
            _warn_if_dark(np.asarray(pil), 1, "a PIL image of mode F", "np.asarray(pil) * 255")
        elif pil.mode == "I":
            _warn_if_dark(np.asarray(pil), 255, "a PIL image of mode I, whose white is 65535,", 'pil.convert("L")')
    else:
        pil, name = _decode(source, max_pixels, decoder)
        if isinstance(pil, np.ndarray):
            return from_pixels(pil, color=color, dtype=dtype)
    convert = from_pil if dtype == np.float32 else from_pil_8bit
    return convert(pil, color=color, background=background, name=name)


def _warn_if_dark(values: np.ndarray, white: int, what: str, hint: str) -> None:
    """Warn if the values, which are not all 0, lie in [0, white], where nobody means them to be black."""
    top = values.max(initial=0)
    if 0 < top <= white and values.min(initial=0) >= 0:
        # one text for all images: Python shows it once for each place that it comes from
        text = f"{what} holds values in 0 .. {white} only and is taken as nearly black; if that is white: {hint}"
        warnings.warn(text, RuntimeWarning, stacklevel=3)


def _check_path(path: str) -> None:
    """Raises ImageError for what opening the path would say in words that help nobody."""
    if not path:
        raise ImageError("an empty path names no image")
    if path.startswith(("http://", "https://")):
        raise ImageError(f"{path} is an address, not a file", hint="cvzoo.images.read_image_url")
    if (why := why_no_image(path)) is not None:
        raise ImageError(f"{path}: {why}")


def _no_source(source: Any) -> DtypeError:
    """What is said of a source of a type that holds no image."""
    kind = type(source)
    what, hint = f"an object of type {kind.__name__}", None
    if isinstance(source, int | float | np.number):
        what, hint = f"the number {source!r}", "a path; each frame of a camera or video as an array"
    elif kind.__module__.partition(".")[0] == "torch":
        what, hint = "a torch.Tensor", "tensor.cpu().numpy(), times 255 if its values are in [0, 1]"
    elif hasattr(source, "__array__"):
        hint = "np.asarray(img)"
    return DtypeError(
        f"{what} is no image", expected="a path, bytes, an open binary file, a PIL image or an array", hint=hint
    )


@runtime_checkable
class _Readable(Protocol):
    def read(self): ...


@runtime_checkable
class _Named(Protocol):
    name: str


def _decode(source, max_pixels, decoder):
    """A PIL image, or the array of its pixels, and what an error calls it."""
    if isinstance(source, str | os.PathLike):
        _check_path(os.fsdecode(source))
        path = pathlib.Path(source)
        with open_file(path) as file:
            if decoder == "pillow":
                return open_image(file, name=str(path), max_pixels=max_pixels), str(path)
            return open_bytes_opencv(file.read(), name=str(path), max_pixels=max_pixels), str(path)
    if isinstance(source, _Readable):
        name = str(source.name) if isinstance(source, _Named) else "the open file"
        source = source.read()
        if isinstance(source, str):
            raise DtypeError(f"{name} is open as text", hint='open(path, "rb")')
    elif isinstance(source, bytes | bytearray | memoryview):
        name = f"{len(source)} bytes"
    else:
        raise _no_source(source)
    open_data = open_bytes if decoder == "pillow" else open_bytes_opencv
    return open_data(source, name=name, max_pixels=max_pixels), name
