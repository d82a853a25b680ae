"""Collation of a batch of examples into arrays."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from cvzoo.backends.device import get_device
from cvzoo.errors.exceptions import ShapeError
from cvzoo.links.link import Link
from cvzoo.typing.aliases import Array


def concat_examples(batch: Sequence[Any], device: str | int | None = None, padding: Any = None) -> Any:
    """Arrays of a batch: a tuple where examples are tuples, a dictionary where they are dictionaries, else one array.

    batch: examples of the same structure; values are arrays or numbers
    device: device of the arrays; None: that of the examples
    padding: None: the arrays of a value have the same shape; a number pads smaller ones at their ends; a tuple or a
        dictionary has one (or None) per value
    Raises ShapeError if the batch is empty, or examples differ in structure or, without padding, in shape.
    """
    if not len(batch):
        raise ShapeError("concat_examples: the batch is empty", expected="at least one example")
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
        pad_by_key = padding if isinstance(padding, dict) else dict.fromkeys(first, padding)
        return {key: _concat([example[key] for example in batch], device, pad_by_key[key], key) for key in first}
    return _concat(batch, device, padding, "the examples")


def to_device(device: str | int | None, x: Array) -> Array:
    """The array x on the device; None: x itself."""
    return x if device is None else get_device(device).asarray(x)


def batch_device(asked: str | int | None, target: object) -> str | int | None:
    """The device for a target's batches: the requested one, else the target's GPU; None: no transfer.

    target: the trained or evaluated link; other targets have no device
    """
    if asked is not None or not isinstance(target, Link) or target.device.index < 0:
        return asked
    return target.device.name


def _concat(values: Sequence[Any], device: str | int | None, padding: float | None, what: str) -> Array:
    arrays = [np.asarray(_at_most_32_bits(value)) for value in values]
    shapes = {array.shape for array in arrays}
    if len(shapes) == 1:
        joined = np.stack(arrays)
    else:
        joined = _padded(arrays, padding, what)
    return to_device(device, joined)


def _at_most_32_bits(value: Any) -> Any:
    # Python's numbers become the dtypes of networks
    if isinstance(value, np.generic):
        return value
    if isinstance(value, bool):
        return np.bool_(value)
    if isinstance(value, int):
        return np.int32(value)
    return np.float32(value) if isinstance(value, float) else value


def _padded(arrays: list[Array], padding: float | None, what: str) -> Array:
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
