"""Colour noise along the axes in which the photos of ImageNet differ."""

import numpy as np

from cvzoo.errors.exceptions import ShapeError
from cvzoo.transforms.as_img import as_img
from cvzoo.transforms.as_rng import as_rng
from cvzoo.transforms.keep_dtype import keep_dtype

# the numbers that fb.resnet.torch published and everybody uses
EIGEN_VALUE = np.array((0.2175, 0.0188, 0.0045))
EIGEN_VECTOR = np.array(((-0.5675, 0.7192, 0.4009), (-0.5808, -0.0045, -0.8140), (-0.5836, -0.6948, 0.4203)))


def pca_lighting(img, sigma, *, eigen_value=None, eigen_vector=None, return_param=False, rng=None):
    """The photo with one colour added everywhere, drawn along the principal axes of colour; a new array.

    img: (3, H, W) RGB in [0, 255], uint8 or float
    sigma: the standard deviation of each axis' share, in the photo's units; 0 draws nothing and adds nothing, AlexNet
        took a tenth of the range, 25.5
    eigen_value, eigen_vector: (3,) and (3, 3), a vector a column, for RGB in [0, 1]; None are ImageNet's
    rng: where to draw from; None is this thread's generator
    Returns the same shape and dtype, clipped only for uint8; with return_param also a dictionary of color, (3,).
    Raises ShapeError if img is not (3, H, W).

    Source: Krizhevsky et al., "ImageNet Classification with Deep Convolutional Neural Networks", 2012, section 4.1;
    sigma as ChainerCV has it, whose matrix of vectors is turned, so that its colours are not those of the paper.
    """
    img = as_img(img)
    if len(img) != 3:
        raise ShapeError("img must be (3, H, W): the noise is of colours", got=img.shape)
    param = draw_lighting(sigma, eigen_value, eigen_vector, as_rng(rng))
    lit = add_color(img, param["color"])
    return (lit, param) if return_param else lit


def draw_lighting(sigma, eigen_value, eigen_vector, rng):
    """A dictionary of color, (3,) float32, to be added to a photo in [0, 255]."""
    if sigma <= 0:
        return {"color": np.zeros(3, np.float32)}
    value = EIGEN_VALUE if eigen_value is None else np.asarray(eigen_value)
    vector = EIGEN_VECTOR if eigen_vector is None else np.asarray(eigen_vector)
    return {"color": (vector @ (value * rng.normal(0, sigma, 3))).astype(np.float32)}


def add_color(img, color):
    """img plus a colour (C,), in the dtype of img."""
    return keep_dtype(img.astype(np.float32) + color[:, None, None], img.dtype)
