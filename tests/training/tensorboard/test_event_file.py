"""Event files: their bytes, as the tensorboard package read them, and what becomes of them when a run is cut off."""

import numpy as np
import pytest

from cvzoo.errors.exceptions import FileFormatError
from cvzoo.training.tensorboard.event import Histogram, histogram_of, summary_event
from cvzoo.training.tensorboard.event_file import EventFile, record
from cvzoo.weights.protobuf import varint

# read back by tensorboard 2.21: version, then main/loss = 0.25 and n = NaN at step 3, then a histogram at step 300
STORED = bytes.fromhex(
    "1800000000000000a37f4b2209000000000000f83f1a0d627261696e2e4576656e743a322a28646c290000000000000037ff5f00090000"
    "00000000044010032a1c0a100a096d61696e2f6c6f7373150000803e0a080a016e150000c07fd90fc13956000000000000004e2de2b209"
    "0000000000000c4010ac022a480a460a01682a410900000000000000401100000000000000401900000000000008402100000000000018"
    "40290000000000002840320800000000000000403a0800000000000008406669cd8e"
)


def _write_stored(path):
    file = EventFile(path, wall_time=1.5)
    file.write({"main/loss": 0.25, "n": float("nan")}, step=3, wall_time=2.5)
    file.write({"h": histogram_of([2, 2, 2.0])}, step=300, wall_time=3.5)
    return file


def test_a_file_has_the_bytes_that_tensorboard_read(tmp_path):
    path = tmp_path / "a.tfevents.1"
    _write_stored(path).close()
    assert path.read_bytes() == STORED


def test_what_follows_the_kept_bytes_is_forgotten(tmp_path):
    path = tmp_path / "a.tfevents.1"
    file = EventFile(path, wall_time=1.5)
    file.write({"main/loss": 0.25, "n": float("nan")}, step=3, wall_time=2.5)
    keep = file.synced_size()
    file.write({"main/loss": 7}, step=4, wall_time=3.0)
    file.close()
    path.write_bytes(path.read_bytes()[:-3])  # the machine went down while it wrote

    file = EventFile(path, wall_time=9.0, keep=keep)
    file.write({"h": histogram_of([2, 2, 2.0])}, step=300, wall_time=3.5)
    file.close()
    assert path.read_bytes() == STORED


def test_a_file_that_lost_events_is_refused(tmp_path):
    path = tmp_path / "a.tfevents.1"
    _write_stored(path).close()
    with pytest.raises(FileFormatError, match="events are missing"):
        EventFile(path, wall_time=1.0, keep=len(STORED) + 1)
    assert path.read_bytes() == STORED


def test_a_full_disk_leaves_whole_records(tmp_path):
    path = tmp_path / "a.tfevents.1"
    file = _write_stored(path)
    whole = file._file

    class Full:
        """Takes five bytes more."""

        def write(self, data):
            if len(data) <= 5:
                raise OSError(28, "No space left on device")
            return whole.write(data[:5])

        def __getattr__(self, name):
            return getattr(whole, name)

    file._file = Full()
    with pytest.raises(OSError, match="No space left"):
        file.write({"a": 1.0}, step=1, wall_time=1.0)
    file._file = whole
    assert path.read_bytes() == STORED
    file.write({"a": 1.0}, step=1, wall_time=1.0)
    file.close()
    assert path.read_bytes() == STORED + record(summary_event(1.0, 1, {"a": 1.0}))


def test_a_histogram_counts_every_finite_value_once():
    values = np.random.default_rng(0).normal(size=(10, 100)).astype(np.float32)
    values[0, :3] = np.nan, np.inf, -np.inf
    found = histogram_of(values)
    rest = values[np.isfinite(values)].astype(np.float64)
    assert found.n == sum(found.counts) == 997
    assert (found.low, found.high) == (rest.min(), rest.max())
    assert found.limits[-1] == found.high
    assert len(found.limits) == len(found.counts) == 30
    np.testing.assert_allclose((found.sum, found.sum_squares), (rest.sum(), (rest**2).sum()))
    edges = np.array([found.low, *found.limits])
    np.testing.assert_array_equal(found.counts, np.histogram(rest, edges)[0])


@pytest.mark.parametrize("value", [0.0, -3.5, 1e30])
def test_equal_values_are_one_bar(value):
    found = histogram_of(np.full(7, value))
    assert found == Histogram(7, value, value, pytest.approx(7 * value), pytest.approx(7 * value**2), (value,), (7.0,))


def test_nothing_finite_has_no_histogram():
    assert histogram_of([]) is None
    assert histogram_of([np.nan, np.inf]) is None


def test_what_float32_cannot_hold_is_infinite():
    assert summary_event(0.0, 0, {"a": 1e300}) == summary_event(0.0, 0, {"a": float("inf")})
    assert summary_event(0.0, 0, {"a": -1e300}) == summary_event(0.0, 0, {"a": float("-inf")})


@pytest.mark.parametrize(
    ("value", "expected"), [(0, "00"), (1, "01"), (127, "7f"), (128, "8001"), (300, "ac02"), (-1, "ff" * 9 + "01")]
)
def test_whole_numbers_are_seven_bits_a_byte(value, expected):
    assert varint(value).hex() == expected
