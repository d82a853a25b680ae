"""Gradients in buckets: contiguous arrays that are sent as one message each, in the same order on all ranks."""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np

from cvzoo.autodiff.parameter import Parameter
from cvzoo.backends.device import Device, device_of
from cvzoo.typing.aliases import Array

_FIRST = 1 << 20  # bytes of the first bucket, so that sending begins early


class _Place(NamedTuple):
    """Where the gradient of a parameter is in its bucket."""

    path: str
    param: Parameter
    begin: int
    end: int


class Bucket:
    """The gradients of consecutive parameters of the plan, of one dtype.

    device: where the messages are sent from
    array: (N,), in C order one gradient after the other
    places: of the parameters in it
    """

    def __init__(self, params: Sequence[tuple[str, Parameter]], device: Device):
        self.device = device
        self.places: list[_Place] = []
        end = 0
        for path, param in params:
            begin, end = end, end + param.size
            self.places.append(_Place(path, param, begin, end))
        self.array = device.asarray(np.empty(end, params[0][1].dtype))

    def fill(self, number: int, weight: float) -> None:
        """Copies the gradient of the parameter at `number`, times `weight`; zeros if it has none."""
        place = self.places[number]
        grad = None if place.param.grad is None else self.device.asarray(place.param.grad)
        with self.device:
            into = self._part(place)
            if grad is None:
                into[...] = 0
            elif weight == 1:
                into[...] = grad
            else:
                np.multiply(grad, into.dtype.type(weight), out=into)

    def _part(self, place: _Place) -> Array:
        return self.array[place.begin : place.end].reshape(place.param.shape)

    def means(self, factor: float) -> dict[str, Array]:
        """The gradients by path, times `factor`, in new arrays."""
        with self.device:
            return {place.path: self._part(place) * self.array.dtype.type(factor) for place in self.places}

    def write(self, factor: float, used: set[str]) -> None:
        """Writes the gradients, times `factor`, into those of the parameters; of the paths in `used` only."""
        for place in self.places:
            if place.path not in used:
                continue
            grad, scale = place.param.grad, self.array.dtype.type(factor)
            if type(grad) is np.ndarray and grad.flags.writeable:
                np.multiply(self._part(place), scale, out=grad)
            else:
                with self.device:
                    mean = self._part(place) * scale
                place.param.grad = device_of(place.param.array).asarray(mean)


class BucketPlan:
    """The buckets of a model's gradients, the same on all ranks.

    order: paths of the parameters, in the order in which rank 0's gradients became final
    params: of the model, by path
    bucket_bytes: size of a bucket; the first one has 1 MiB at most, and a larger parameter has one of its own
    device: where the messages are sent from
    """

    def __init__(self, order: Sequence[str], params: Mapping[str, Parameter], bucket_bytes: int, device: Device):
        self.order = list(order)
        self.params = dict(params)
        groups: list[list[tuple[str, Parameter]]] = []
        filled = 0
        for path in order:
            param = params[path]
            limit = min(_FIRST, bucket_bytes) if len(groups) == 1 else bucket_bytes
            size = param.array.nbytes
            if not groups or filled + size > limit or groups[-1][0][1].dtype != param.dtype:
                groups.append([])
                filled = 0
            groups[-1].append((path, param))
            filled += size
        self.buckets = [Bucket(group, device) for group in groups]
        self.at = {
            id(place.param): (b, k) for b, each in enumerate(self.buckets) for k, place in enumerate(each.places)
        }

    def fits(self, params: Mapping[str, Parameter]) -> bool:
        """Whether the model still has the same parameters, and gradients only where the plan has a place."""
        return len(params) == len(self.params) and all(
            param is self.params.get(path) and (param.grad is None or id(param) in self.at)
            for path, param in params.items()
        )

    def paths_where(self, counts: np.ndarray) -> set[str]:
        """The paths of the parameters whose count, in the plan's order, is not 0."""
        return {path for path, count in zip(self.order, counts) if count}
