"""A batch of examples as arrays with one more axis."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from cvzoo.backends.device import get_device
from cvzoo.errors.exceptions import ShapeError
from cvzoo.links.link import Link


def concat_examples(batch: Sequence[Any], device: str | int | None = None, padding: Any = None) -> Any:
    """Arrays of a batch: a tuple where examples are tuples, a dictionary where they are dictionaries, else one array.

    batch: examples of equal build; values are arrays or numbers
    device: where the arrays shall be; None: where they are
    padding: None: all arrays of a place have one shape; a number fills smaller ones up at their ends; a tuple or a
        dictionary has one (or None) a place
    Raises ShapeError if the batch is empty, or examples differ in build or, without padding, in shape.
    """
    if not len(batch):
        raise ShapeError("concat_examples: an empty batch", expected="at least one example")
    first = batch[0]
    if isinstance(first, tuple):
        if any(not isinstance(each, tuple) or len(each) != len(first) for each in batch):
            raise ShapeError("concat_examples: examples differ in length", expected=f"tuples of {len(first)}")
        pads = padding if isinstance(padding, tuple) else (padding,) * len(first)
        return tuple(
            _concat([example[i] for example in batch], device, pads[i], f"value {i}") for i in range(len(first))
        )
    if isinstance(first, dict):
        if any(not isinstance(each, dict) or set(each) != set(first) for each in batch):
            raise ShapeError("concat_examples: examples have different keys", expected=sorted(first))
        pads = padding if isinstance(padding, dict) else dict.fromkeys(first, padding)
        return {key: _concat([example[key] for example in batch], device, pads[key], key) for key in first}
    return _concat(batch, device, padding, "the examples")


def to_device(device: str | int | None, x: Any) -> Any:
    """The array x on the device; None: where it is."""
    return x if device is None else get_device(device).asarray(x)


def batch_device(asked: str | int | None, target: Any) -> str | int | None:
    """Where a target's batches go: to the device asked for, else to the target's GPU; None: they stay where they are.

    target: what is trained or evaluated; only a Link is somewhere
    """
    if asked is not None or not isinstance(target, Link) or target.device.index < 0:
        return asked
    return target.device.name


def _concat(values: Sequence[Any], device: str | int | None, padding: Any, what: str) -> Any:
    arrays = [np.asarray(_at_most_32_bits(value)) for value in values]
    shapes = {array.shape for array in arrays}
    if len(shapes) == 1:
        joined = np.stack(arrays)
    else:
        joined = _padded(arrays, padding, what)
    return to_device(device, joined)


def _at_most_32_bits(value: Any) -> Any:
    # a number of Python's own is meant to be one of the network's
    if isinstance(value, np.generic):
        return value
    if isinstance(value, bool):
        return np.bool_(value)
    if isinstance(value, int):
        return np.int32(value)
    return np.float32(value) if isinstance(value, float) else value


def _padded(arrays: list[np.ndarray], padding: Any, what: str) -> np.ndarray:
    if padding is None or len({array.ndim for array in arrays}) != 1:
        raise ShapeError(
            f"concat_examples: {what} differ in shape",
            got=", ".join(str(shape) for shape in sorted({array.shape for array in arrays})[:4]),
            hint="padding=0, or a converter of your own",
        )
    shape = tuple(max(sizes) for sizes in zip(*(array.shape for array in arrays)))
    joined = np.full((len(arrays), *shape), padding, dtype=np.result_type(*arrays))
    for place, array in zip(joined, arrays):
        place[tuple(slice(0, size) for size in array.shape)] = array
    return joined
