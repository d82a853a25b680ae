"""Images at another size, to Pillow's bits."""

import numpy as np
from PIL import Image


def pillow_resize(img: np.ndarray, size: tuple[int, int], resampling: Image.Resampling) -> np.ndarray:
    """(C, *size) of an image (C, H, W) uint8 or float32, in its dtype.

    Three channels of uint8 lie side by side in memory, as decoders and Pillow keep them; all else lies in C order.
    """
    height, width = size
    if img.dtype == np.uint8 and len(img) == 3:
        pil = Image.fromarray(np.ascontiguousarray(img.transpose(1, 2, 0)))
        return np.array(pil.resize((width, height), resampling)).transpose(2, 0, 1)
    out = np.empty((len(img), height, width), dtype=img.dtype)
    for plane, result in zip(img, out):
        # bands are resized one by one in Pillow too; mode "F" has float weights and float sums
        result[...] = Image.fromarray(np.ascontiguousarray(plane)).resize((width, height), resampling)
    return out
