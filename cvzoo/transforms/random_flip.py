"""Mirror a photo, or not."""

from cvzoo.transforms.as_img import as_img
from cvzoo.transforms.as_rng import as_rng
from cvzoo.transforms.flip import flip


def random_flip(img, *, y_random=False, x_random=False, return_param=False, rng=None):
    """The photo mirrored or not, each side by the toss of a coin; a new contiguous array.

    img: (C, H, W), any dtype
    y_random, x_random: which sides may be mirrored
    rng: where to draw from; None is this thread's generator
    Returns (C, H, W); with return_param also a dictionary of y_flip and x_flip.
    Raises ShapeError if img is not (C, H, W).
    """
    img = as_img(img)
    param = draw_flip(y_random, x_random, as_rng(rng))
    flipped = flip(img, **param)
    return (flipped, param) if return_param else flipped


def draw_flip(y_random, x_random, rng):
    """A dictionary of y_flip and x_flip."""
    return {"y_flip": bool(y_random and rng.random() < 0.5), "x_flip": bool(x_random and rng.random() < 0.5)}
