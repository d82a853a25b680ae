"""Reading an image as uint8 gives what reading it as float32 gives, rounded."""

import numpy as np
import pytest
from PIL import Image

from cvzoo.errors import DtypeError
from cvzoo.images import read_image

RGBA = np.random.default_rng(0).integers(0, 256, (6, 7, 4)).astype(np.uint8)


@pytest.mark.parametrize("mode", ["RGB", "L", "1", "P", "RGBA", "LA", "CMYK", "YCbCr", "I;16", "F"])
@pytest.mark.parametrize("color", [True, False])
def test_uint8_is_float32_rounded(mode, color):
    if mode == "I;16":
        pil = Image.fromarray(RGBA[..., 0].astype(np.uint16) * 255)
    elif mode == "F":
        pil = Image.fromarray(RGBA[..., 0].astype(np.float32))
    else:
        pil = Image.fromarray(RGBA).convert(mode)
    img = read_image(pil, color=color, dtype=np.uint8)
    assert img.dtype == np.uint8
    assert img.flags.writeable
    np.testing.assert_array_equal(img, np.rint(read_image(pil, color=color)))


def test_transparent_photos_lie_on_their_background_in_both():
    pil = Image.fromarray(RGBA)
    np.testing.assert_array_equal(
        read_image(pil, background=None, dtype=np.uint8), read_image(pil, background=None).astype(np.uint8)
    )


def test_arrays_are_taken():
    img = RGBA[..., :3].transpose(2, 0, 1)
    np.testing.assert_array_equal(read_image(img, dtype=np.uint8), img)


def test_other_dtypes_are_refused():
    with pytest.raises(DtypeError, match="float32 or uint8"):
        read_image(RGBA[..., :3].transpose(2, 0, 1), dtype=np.int32)
