"""The base class of sample transforms, and their composition."""

import abc
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Literal, overload

import numpy as np

from cvzoo.config.batch_context import batch_generator, is_in_batch
from cvzoo.errors.exceptions import DtypeError, ShapeError, ValueRangeError
from cvzoo.transforms.as_rng import as_rng
from cvzoo.transforms.sample.sample import Sample, settle


class AbstractTransform(abc.ABC):
    """Base class of transforms: `draw` draws random parameters, `change` applies them to image and annotations.

    A transform has settings and no state: one object serves all threads, and drawn parameters can be applied again.
    """

    @abc.abstractmethod
    def draw(self, sample: Sample, rng: np.random.Generator) -> Mapping[str, Any]:
        """Random parameters for this sample: a dictionary of all that `change` needs."""

    @abc.abstractmethod
    def change(self, sample: Sample, param: Mapping[str, Any]) -> Sample:
        """The transformed sample; a crop of its pixels may be left pending."""

    def apply(self, sample: Sample, param: Mapping[str, Any]) -> Sample:
        """The sample with drawn parameters applied. param: the result of `draw` or of a call with return_param."""
        return settle(self.change(sample, param))

    @overload
    def __call__(
        self, sample: Sample, *, rng: np.random.Generator | None = ..., return_param: Literal[False] = False
    ) -> Sample: ...
    @overload
    def __call__(
        self, sample: Sample, *, rng: np.random.Generator | None = ..., return_param: Literal[True]
    ) -> tuple[Sample, Mapping[str, Any]]: ...
    def __call__(
        self, sample: Sample, *, rng: np.random.Generator | None = None, return_param: bool = False
    ) -> Sample | tuple[Sample, Mapping[str, Any]]:
        """The randomly transformed sample; with return_param, also the drawn parameters.

        rng: random generator, such as `sample_generator(seed, epoch, index)`; None is this thread's
        """
        param = self.draw(_as_sample(sample), as_rng(rng))
        changed = self.apply(sample, param)
        return (changed, param) if return_param else changed


class Compose:
    """A sequence of transforms, applied to image, boxes, masks, points and label map consistently.

    transforms: transforms and other Composes, first to last
    Consecutive crops and expansions are combined into one: an expanded image that is cropped next is never allocated
    in full. The result is the same to the bit.
    Raises DtypeError if an element is not a transform.
    """

    def __init__(self, transforms: Iterable["AbstractTransform | Compose"]) -> None:
        self.transforms: list[AbstractTransform] = []
        for transform in transforms:
            if isinstance(transform, Compose):
                self.transforms += transform.transforms
            elif isinstance(transform, AbstractTransform):
                self.transforms.append(transform)
            else:
                raise DtypeError(
                    "Compose takes transforms only", expected="AbstractTransform", got=type(transform).__name__
                )

    @overload
    def __call__(
        self, sample: Sample, *, rng: np.random.Generator | None = ..., return_param: Literal[False] = False
    ) -> Sample: ...
    @overload
    def __call__(
        self, sample: Sample, *, rng: np.random.Generator | None = ..., return_param: Literal[True]
    ) -> tuple[Sample, list[Mapping[str, Any]]]: ...
    def __call__(
        self, sample: Sample, *, rng: np.random.Generator | None = None, return_param: bool = False
    ) -> Sample | tuple[Sample, list[Mapping[str, Any]]]:
        """The randomly transformed sample; with return_param, also a list of the parameters of each transform.

        rng: random generator, such as `sample_generator(seed, epoch, index)`; None is this thread's
        """
        sample, rng, params = _as_sample(sample), as_rng(rng), []
        for transform in self.transforms:
            params.append(transform.draw(sample, rng))
            sample = transform.change(sample, params[-1])
        sample = settle(sample)
        return (sample, params) if return_param else sample

    def apply(self, sample: Sample, params: Sequence[Mapping[str, Any]]) -> Sample:
        """The sample with parameters drawn before applied, possibly for another sample of the same size.

        params: the list returned by a call with return_param
        Raises ShapeError if its length differs from the number of transforms.
        """
        if len(params) != len(self.transforms):
            raise ShapeError(
                "params must have one element per transform", expected=len(self.transforms), got=len(params)
            )
        sample = _as_sample(sample)
        for transform, param in zip(self.transforms, params):
            sample = transform.change(sample, param)
        return settle(sample)

    def __repr__(self) -> str:
        return f"Compose({self.transforms!r})"


class Sometimes(AbstractTransform):
    """A transform applied with probability prob. Raises ValueRangeError if prob is not in [0, 1]."""

    def __init__(self, transform: AbstractTransform, prob: float = 0.5) -> None:
        if not 0 <= prob <= 1:
            raise ValueRangeError("prob must be in [0, 1]", got=prob)
        self.transform = transform
        self.prob = prob

    def draw(self, sample: Sample, rng: np.random.Generator) -> Mapping[str, Any]:
        return {"param": self.transform.draw(sample, rng) if rng.random() < self.prob else None}

    def change(self, sample: Sample, param: Mapping[str, Any]) -> Sample:
        return sample if param["param"] is None else self.transform.change(sample, param["param"])


class OneOf(AbstractTransform):
    """A random one of several transforms, all equally likely."""

    def __init__(self, transforms: Iterable[AbstractTransform]) -> None:
        self.transforms = list(transforms)

    def draw(self, sample: Sample, rng: np.random.Generator) -> Mapping[str, Any]:
        index = int(rng.integers(len(self.transforms)))
        return {"index": index, "param": self.transforms[index].draw(sample, rng)}

    def change(self, sample: Sample, param: Mapping[str, Any]) -> Sample:
        return self.transforms[param["index"]].change(sample, param["param"])


class PerBatch(AbstractTransform):
    """A transform whose random numbers are the same for all examples of an iterator's batch: multi-scale training.

    >>> multi_scale = PerBatch(OneOf([Letterbox((side, side)) for side in range(320, 641, 32)]))

    All data-loading workers agree, and a resumed run has the same sizes. Outside of an iterator it draws as any other.
    Source: Redmon and Farhadi, "YOLO9000: Better, Faster, Stronger", 2016, section 2, which keeps a size for ten
    batches.
    """

    def __init__(self, transform: AbstractTransform) -> None:
        self.transform = transform

    def draw(self, sample: Sample, rng: np.random.Generator) -> Mapping[str, Any]:
        return self.transform.draw(sample, batch_generator() if is_in_batch() else rng)

    def change(self, sample: Sample, param: Mapping[str, Any]) -> Sample:
        return self.transform.change(sample, param)


def _as_sample(sample: object) -> Sample:
    if not isinstance(sample, Sample):
        raise DtypeError("a transform takes a Sample", got=type(sample).__name__, hint="Sample(img=img, bbox=bbox)")
    return sample
