"""TensorBoard's events, the content of one record.

Source: TensorFlow's event.proto and summary.proto, with the fields:
Event: wall_time 1, step 2, file_version 3, summary 5. Summary: value 1. Value: tag 1, simple_value 2, histo 5.
HistogramProto: min 1, max 2, num 3, sum 4, sum_squares 5, bucket_limit 6, bucket 7.
"""

from collections.abc import Mapping
from typing import NamedTuple

import numpy as np

from cvzoo.backends.arrays import to_numpy
from cvzoo.typing.aliases import Array
from cvzoo.weights.protobuf import (
    bytes_field,
    double_field,
    doubles_field,
    float_field,
    int_field,
    text_field,
)

_N_BUCKET = 30  # the number that TensorBoard shows
_LARGEST = float(np.finfo(np.float32).max)


class Histogram(NamedTuple):
    """A histogram: counts[i] values are at most limits[i] and above the limit before."""

    n: int
    low: float
    high: float
    sum: float
    sum_squares: float
    limits: tuple[float, ...]
    counts: tuple[float, ...]


def histogram_of(values: Array) -> Histogram | None:
    """The histogram of an array's finite values, of any shape; None if there are none."""
    values = to_numpy(values).ravel()
    values = values[np.isfinite(values)].astype(np.float64)
    if not values.size:
        return None
    low, high = float(values.min()), float(values.max())
    if high - low < 1e-12 * max(abs(low), abs(high)) or low == high:
        counts, limits = np.array([values.size]), np.array([high])
    else:
        counts, edges = np.histogram(values, _N_BUCKET, (low, high))
        limits = edges[1:]
    return Histogram(
        int(values.size),
        low,
        high,
        float(values.sum()),
        float(values @ values),
        tuple(limits.tolist()),
        tuple(counts.astype(np.float64).tolist()),
    )


def version_event(wall_time: float) -> bytes:
    """The first event of every file."""
    return double_field(1, wall_time) + text_field(3, "brain.Event:2")


def summary_event(wall_time: float, step: int, values: Mapping[str, float | Histogram]) -> bytes:
    """An event with a value for each tag. wall_time: seconds since 1970; step: the iteration."""
    summary = b"".join(bytes_field(1, text_field(1, tag) + _value(value)) for tag, value in values.items())
    return double_field(1, wall_time) + int_field(2, step) + bytes_field(5, summary)


def _value(value: float | Histogram) -> bytes:
    if not isinstance(value, Histogram):
        number = float(value)
        if abs(number) > _LARGEST:  # values out of the range of float32 become infinite
            number = float("inf") if number > 0 else float("-inf")
        return float_field(2, number)
    return bytes_field(
        5,
        double_field(1, value.low)
        + double_field(2, value.high)
        + double_field(3, value.n)
        + double_field(4, value.sum)
        + double_field(5, value.sum_squares)
        + doubles_field(6, value.limits)
        + doubles_field(7, value.counts),
    )
