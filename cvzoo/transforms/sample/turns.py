"""Transforms of samples that mirror or turn."""

from cvzoo.errors.exceptions import ValueRangeError
from cvzoo.transforms.random_flip import draw_flip
from cvzoo.transforms.sample.moves import flip_sample, rotate_sample
from cvzoo.transforms.sample.transform import AbstractTransform


class RandomFlip(AbstractTransform):
    """`random_flip` of the photo and all that belongs to it."""

    def __init__(self, *, y_random=False, x_random=False):
        self.y_random = y_random
        self.x_random = x_random

    def draw(self, sample, rng):
        return draw_flip(self.y_random, self.x_random, rng)

    def change(self, sample, param):
        return flip_sample(sample, y_flip=param["y_flip"], x_flip=param["x_flip"])


class RandomRotate(AbstractTransform):
    """`random_rotate`: 0 to 3 quarters, of the photo and all that belongs to it."""

    def draw(self, sample, rng):
        return {"k": int(rng.integers(4))}

    def change(self, sample, param):
        return sample if param["k"] == 0 else rotate_sample(sample, 90 * param["k"])


class RandomTilt(AbstractTransform):
    """The photo and all that belongs to it turned by an angle drawn from [-degrees, degrees].

    expand, fill: as in `rotate`
    Raises ValueRangeError if degrees is negative.
    """

    def __init__(self, degrees, *, expand=False, fill=0):
        if degrees < 0:
            raise ValueRangeError("degrees must not be negative", got=degrees)
        self.degrees = degrees
        self.expand = expand
        self.fill = fill

    def draw(self, sample, rng):
        return {"angle": float(rng.uniform(-self.degrees, self.degrees))}

    def change(self, sample, param):
        return rotate_sample(sample, param["angle"], expand=self.expand, fill=self.fill)
