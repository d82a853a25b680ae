"""Reads an image from a path, bytes, an open file, a PIL image or an array."""

import os
import pathlib
import warnings
from collections.abc import Sequence
from typing import Literal, Protocol, TypeAlias, runtime_checkable

import numpy as np
import numpy.typing as npt
from PIL import Image

from cvzoo.errors.exceptions import DtypeError, ImageError, ValueRangeError
from cvzoo.images.decode import Bytes, load, open_bytes, open_file, open_image, upright
from cvzoo.images.decode_opencv import open_bytes_opencv
from cvzoo.images.from_pil import check_pixel_count, from_array, from_pil, from_pil_8bit, from_pixels
from cvzoo.images.video_kind import video_kind
from cvzoo.typing.aliases import Array, FilePath

# As many pixels as Pillow takes without a warning: 1 GiB as (3, H, W) float32
MAX_PIXELS = 89_478_485

WHITE = (255, 255, 255)

Decoder = Literal["pillow", "opencv"]


@runtime_checkable
class _Readable(Protocol):
    def read(self) -> Bytes: ...


@runtime_checkable
class _Named(Protocol):
    name: str


ImageSource: TypeAlias = FilePath | Bytes | _Readable | Image.Image | Array


def read_image(
    source: ImageSource,
    dtype: npt.DTypeLike = np.float32,
    color: bool = True,
    *,
    max_pixels: int = MAX_PIXELS,
    background: Sequence[float] | None = WHITE,
    decoder: Decoder = "pillow",
) -> Array:
    """The image as a new, contiguous (3, H, W) float32 array, RGB in [0, 255]; (1, H, W) gray if color is false.

    source: a path; the bytes of a file; an open binary file, read to its end; a PIL image; or an array (3, H, W),
        (1, H, W) or (H, W) of uint8 or float in [0, 255], uint16 in [0, 65535], or bool
    max_pixels: the largest H * W that is decoded, by the file's header; beyond 178,956,970, Pillow's own
        PIL.Image.MAX_IMAGE_PIXELS must be raised, too
    background: (R, G, B) in [0, 255] that transparent pixels are blended with; None drops the alpha channel and keeps
        the colors that the file has in transparent pixels
    dtype: float32, or uint8: a quarter of the memory and faster for transforms, rounded if the file has more than
        8 bits per channel, and not contiguous but a view of an array (H, W, 3), the layout of decoders
    decoder: decoder of intact JPEG files in color or gray; "opencv" is up to a quarter faster as uint8, hardly as
        float32. Pillow decodes everything else, so errors are the same. The bits are the same if
        both use libjpeg-turbo, as the wheels on PyPI do

    EXIF orientation is applied. 16-bit gray is scaled so that 65535 becomes 255. Palettes, CMYK and 1-bit become RGB,
    of an animation the first frame is read, color profiles are ignored. Floats in [0, 1] and PIL's 32-bit integers in
    [0, 255] are not rescaled, thus nearly black: a RuntimeWarning says so.

    Raises FileNotFoundError (or another OSError) if the path cannot be read; ImageError, naming the file, if its format
    is unknown or it is truncated, corrupt, empty or too large, or if an array contains NaN; ShapeError or DtypeError
    for an array in another layout; DtypeError for a source of another type, or for another dtype; ValueRangeError for
    another decoder, MissingExtraError if OpenCV is requested and not installed.
    """
    if np.dtype(dtype) not in (np.float32, np.uint8):
        raise DtypeError("an image can be read as float32 or uint8 only", got=dtype)
    if decoder not in ("pillow", "opencv"):
        raise ValueRangeError(f"unknown image decoder {decoder!r}", expected="pillow, opencv", got=decoder)
    if isinstance(source, np.ndarray):
        check_pixel_count(source.shape[:-3:-1] if source.ndim >= 2 else (1, 1), name="the array", max_pixels=max_pixels)
        img = from_array(source, color=color)
        if source.dtype.kind == "f":
            _warn_if_dark(source, 1, "a float image", "img * 255")
        return img if dtype == np.float32 else np.rint(img).astype(np.uint8)
    if isinstance(source, Image.Image):
        check_pixel_count(source.size, name="the PIL image", max_pixels=max_pixels)
        pil, name = upright(load(source, name="the PIL image")), "the PIL image"
        if source.mode == "F":
            _warn_if_dark(np.asarray(pil), 1, "a PIL image of mode F", "np.asarray(pil) * 255")
        elif source.mode == "I":
            _warn_if_dark(np.asarray(pil), 255, "a PIL image of mode I, whose white is 65535,", 'pil.convert("L")')
    else:
        decoded, name = _decode(source, max_pixels, decoder)
        if isinstance(decoded, np.ndarray):
            return from_pixels(decoded, color=color, dtype=dtype)
        pil = decoded
    convert = from_pil if dtype == np.float32 else from_pil_8bit
    return convert(pil, color=color, background=background, name=name)


def _warn_if_dark(values: np.ndarray, white: int, what: str, hint: str) -> None:
    """Warns if the values, which are not all 0, are in [0, white], where they were hardly meant to be black."""
    top = values.max(initial=0)
    if 0 < top <= white and values.min(initial=0) >= 0:
        # the same text for all images: Python then shows the warning once per calling line
        text = f"{what} has values in 0 .. {white} only, which are nearly black; if {white} is white: {hint}"
        warnings.warn(text, RuntimeWarning, stacklevel=3)


def _check_path(path: str) -> None:
    """Raises ImageError where the error of opening the path would not say what to do."""
    if not path:
        raise ImageError("the path of the image is empty")
    if path.startswith(("http://", "https://")):
        raise ImageError(f"{path} is a URL, not a file", hint="cvzoo.images.read_image_url")
    if (kind := video_kind(path)) is not None:
        raise ImageError(f"{path} is {kind}, not an image", hint=f"its frames: cvzoo.images.read_video({path!r})")


def _not_a_source(source: object) -> DtypeError:
    """The error for a source of a type that is no image."""
    kind = type(source)
    what, hint = f"an object of type {kind.__name__}", None
    if isinstance(source, int | float | np.number):
        what, hint = f"the number {source!r}", "a path; the frames of a camera: cvzoo.images.read_video"
    elif kind.__module__.partition(".")[0] == "torch":
        what, hint = "a torch.Tensor", "tensor.cpu().numpy(), times 255 if its values are in [0, 1]"
    elif hasattr(source, "__array__"):
        hint = "np.asarray(img)"
    return DtypeError(
        f"{what} is not an image", expected="a path, bytes, an open binary file, a PIL image or an array", hint=hint
    )


def _decode(source: ImageSource, max_pixels: int, decoder: Decoder) -> tuple[Image.Image | Array, str]:
    """A PIL image, or the array of its pixels, and its name in error messages."""
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
            raise DtypeError(f"{name} is open in text mode", hint='open(path, "rb")')
    elif isinstance(source, bytes | bytearray | memoryview):
        name = f"{len(source)} bytes"
    else:
        raise _not_a_source(source)
    open_data = open_bytes if decoder == "pillow" else open_bytes_opencv
    return open_data(source, name=name, max_pixels=max_pixels), name
