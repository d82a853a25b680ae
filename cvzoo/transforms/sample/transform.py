"""What a transform of samples is, and how several are put together."""

import abc

from cvzoo.errors.exceptions import DtypeError, ShapeError, ValueRangeError
from cvzoo.transforms.as_rng import as_rng
from cvzoo.transforms.sample.sample import Sample, settle


class AbstractTransform(abc.ABC):
    """A change of samples in two steps: `draw` decides, `change` does it to the photo and all that belongs to it.

    A transform holds settings and no state: one object serves all threads, and a draw can be applied again.
    """

    @abc.abstractmethod
    def draw(self, sample, rng):
        """A dictionary of what was drawn for this sample, all that `change` needs to know."""

    @abc.abstractmethod
    def change(self, sample, param):
        """The changed sample; a crop of its pixels may be left pending."""

    def apply(self, sample, param):
        """The sample changed as drawn. param: what `draw` or a call with return_param gave."""
        return settle(self.change(sample, param))

    def __call__(self, sample, *, rng=None, return_param=False):
        """The sample changed at random; with return_param also what was drawn.

        rng: where to draw from, such as `sample_generator(seed, epoch, index)`; None is this thread's generator
        """
        param = self.draw(_as_sample(sample), as_rng(rng))
        changed = self.apply(sample, param)
        return (changed, param) if return_param else changed


class Compose:
    """Transforms one after another, to photo, boxes, masks, points and label map alike.

    transforms: transforms and other Composes, first to last
    Crops that follow one another, a canvas among them, are cut once: an expanded photo of which a part is then cropped
    is never painted in full. The result is the same to the bit.
    Raises DtypeError if a part is no transform.
    """

    def __init__(self, transforms):
        self.transforms = []
        for transform in transforms:
            if isinstance(transform, Compose):
                self.transforms += transform.transforms
            elif isinstance(transform, AbstractTransform):
                self.transforms.append(transform)
            else:
                raise DtypeError("Compose takes transforms", expected="AbstractTransform", got=type(transform).__name__)

    def __call__(self, sample, *, rng=None, return_param=False):
        """The sample changed at random; with return_param also a list of what each transform drew.

        rng: where to draw from, such as `sample_generator(seed, epoch, index)`; None is this thread's generator
        """
        sample, rng, params = _as_sample(sample), as_rng(rng), []
        for transform in self.transforms:
            params.append(transform.draw(sample, rng))
            sample = transform.change(sample, params[-1])
        sample = settle(sample)
        return (sample, params) if return_param else sample

    def apply(self, sample, params):
        """The sample changed as drawn before, perhaps for another sample of the same size.

        params: the list that a call with return_param gave
        Raises ShapeError if it is of another length.
        """
        if len(params) != len(self.transforms):
            raise ShapeError("as many params as transforms", expected=len(self.transforms), got=len(params))
        sample = _as_sample(sample)
        for transform, param in zip(self.transforms, params):
            sample = transform.change(sample, param)
        return settle(sample)

    def __repr__(self):
        return f"Compose({self.transforms!r})"


class Sometimes(AbstractTransform):
    """A transform that is done with probability prob, and otherwise not. Raises ValueRangeError for no probability."""

    def __init__(self, transform, prob=0.5):
        if not 0 <= prob <= 1:
            raise ValueRangeError("prob must be in [0, 1]", got=prob)
        self.transform = transform
        self.prob = prob

    def draw(self, sample, rng):
        return {"param": self.transform.draw(sample, rng) if rng.random() < self.prob else None}

    def change(self, sample, param):
        return sample if param["param"] is None else self.transform.change(sample, param["param"])


class OneOf(AbstractTransform):
    """One of several transforms, each equally likely."""

    def __init__(self, transforms):
        self.transforms = list(transforms)

    def draw(self, sample, rng):
        index = int(rng.integers(len(self.transforms)))
        return {"index": index, "param": self.transforms[index].draw(sample, rng)}

    def change(self, sample, param):
        return self.transforms[param["index"]].change(sample, param["param"])


def _as_sample(sample):
    if not isinstance(sample, Sample):
        raise DtypeError("a transform takes a Sample", got=type(sample).__name__, hint="Sample(img=img, bbox=bbox)")
    return sample
