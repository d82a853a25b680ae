"""AlexNet's PCA lighting: color noise along the principal components of ImageNet's pixels."""

from typing import Literal, overload

import numpy as np

from cvzoo.errors.exceptions import ShapeError
from cvzoo.transforms.as_img import as_img
from cvzoo.transforms.as_rng import as_rng
from cvzoo.transforms.keep_dtype import keep_dtype
from cvzoo.typing.aliases import Array, ArrayLike, Image

# the values published with fb.resnet.torch, which are the common ones
EIGEN_VALUE = np.array((0.2175, 0.0188, 0.0045))
EIGEN_VECTOR = np.array(((-0.5675, 0.7192, 0.4009), (-0.5808, -0.0045, -0.8140), (-0.5836, -0.6948, 0.4203)))


@overload
def pca_lighting(
    img: Image,
    sigma: float,
    eigen_value: ArrayLike | None = ...,
    eigen_vector: ArrayLike | None = ...,
    *,
    return_param: Literal[False] = False,
    rng: np.random.Generator | None = ...,
) -> Image: ...
@overload
def pca_lighting(
    img: Image,
    sigma: float,
    eigen_value: ArrayLike | None = ...,
    eigen_vector: ArrayLike | None = ...,
    *,
    return_param: Literal[True],
    rng: np.random.Generator | None = ...,
) -> tuple[Image, dict[str, Array]]: ...
def pca_lighting(
    img: Image,
    sigma: float,
    eigen_value: ArrayLike | None = None,
    eigen_vector: ArrayLike | None = None,
    *,
    return_param: bool = False,
    rng: np.random.Generator | None = None,
) -> Image | tuple[Image, dict[str, Array]]:
    """The image with one random color, drawn along the principal components of color, added everywhere; a new array.

    img: (3, H, W) RGB in [0, 255], uint8 or float
    sigma: standard deviation of the random coefficient of each component, in the units of the image; 0 draws nothing
        and adds nothing, AlexNet's is a tenth of the range, 25.5
    eigen_value, eigen_vector: (3,) and (3, 3), one vector per column, for RGB in [0, 1]; None are ImageNet's
    rng: random generator; None is this thread's
    Returns the same shape and dtype, clipped only for uint8; with return_param, also a dictionary of color, (3,).
    Raises ShapeError if img is not (3, H, W).

    Source: Krizhevsky et al., "ImageNet Classification with Deep Convolutional Neural Networks", 2012, section 4.1;
    sigma as in ChainerCV, whose matrix of eigenvectors is transposed, so that its colors are not those of the paper.
    """
    img = as_img(img)
    if len(img) != 3:
        raise ShapeError("img must be (3, H, W): pca_lighting adds color noise", got=img.shape)
    param = draw_lighting(sigma, eigen_value, eigen_vector, as_rng(rng))
    lit = add_color(img, param["color"])
    return (lit, param) if return_param else lit


def draw_lighting(
    sigma: float, eigen_value: ArrayLike | None, eigen_vector: ArrayLike | None, rng: np.random.Generator
) -> dict[str, Array]:
    """Random parameters of `pca_lighting`: a dictionary of color, (3,) float32, for an image in [0, 255]."""
    if sigma <= 0:
        return {"color": np.zeros(3, np.float32)}
    value = EIGEN_VALUE if eigen_value is None else np.asarray(eigen_value)
    vector = EIGEN_VECTOR if eigen_vector is None else np.asarray(eigen_vector)
    return {"color": (vector @ (value * rng.normal(0, sigma, 3))).astype(np.float32)}


def add_color(img: Image, color: Array) -> Image:
    """The image plus a color (C,), in the dtype of img."""
    wide = img if img.dtype in (np.float32, np.float64) else img.astype(np.float32)
    return keep_dtype(wide + color[:, None, None], img.dtype)
