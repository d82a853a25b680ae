"""What values a layer reads: their range, and how they lie in it."""

import numpy as np

from cvzoo.errors.exceptions import ValueRangeError
from cvzoo.functions.connection.byte_variable import Counting

_BINS = 2048
_SAMPLE = 1 << 16  # numbers of an array that are counted; the range is that of all


class ValueRange:
    """The smallest and the largest value seen, and a histogram of the distances from 0.

    Of a large array one number in so many is counted in the histogram, always the same ones.
    """

    def __init__(self) -> None:
        self.low = self.high = 0.0
        self.seen = False
        self._top = 0.0
        self._counts = np.zeros(_BINS)
        self._n_zero = 0

    def add(self, x: np.ndarray) -> None:
        """See the values of x. Raises ValueRangeError if they are not finite."""
        if not x.size:
            return
        low, high = float(x.min()), float(x.max())
        if not np.isfinite([low, high]).all():
            raise ValueRangeError("quantize: a layer reads values that are not finite", got=f"{low} to {high}")
        self.seen = True
        self.low, self.high = min(self.low, low), max(self.high, high)
        self._widen(max(high, -low))
        flat = x.ravel(order="K")
        step = -(-flat.size // _SAMPLE) | 1  # odd: all channels have their turn
        values = np.abs(flat[::step])
        values = values[values > 0]
        self._n_zero += -(-flat.size // step) - values.size
        if values.size:
            places = np.minimum((values * (_BINS / self._top)).astype(np.int64), _BINS - 1)
            self._counts += np.bincount(places, minlength=_BINS)

    def _widen(self, largest: float) -> None:
        if self._top == 0:
            self._top = 2.0 ** np.ceil(np.log2(largest)) if largest > 0 else 0.0
            return
        while self._top < largest:
            self._counts = np.concatenate([self._counts.reshape(-1, 2).sum(axis=1), np.zeros(_BINS // 2)])
            self._top *= 2

    def counting(self, method: str, percentile: float) -> Counting:
        """What bytes are to mean; without a sign if no value had one.

        method: where values are cut: "minmax": nowhere; "percentile": at the distance from 0 that so many per cent do
            not exceed; "mse": where the mean square of what is lost by rounding and by cutting is least
        """
        signed = self.low < 0
        steps = 127 if signed else 255
        largest = max(self.high, -self.low)
        if largest == 0:
            return Counting(1.0, signed)
        cut = largest
        if method == "percentile":
            cut = self._below(percentile / 100)
        elif method == "mse":
            cut = self._least_loss(steps)
        return Counting(float(np.float32(min(cut, largest) / steps)), signed)

    def _below(self, share: float) -> float:
        counts = np.cumsum(self._counts) + self._n_zero
        place = int(np.searchsorted(counts, share * counts[-1]))
        return (place + 1) * self._top / _BINS

    def _least_loss(self, steps: int) -> float:
        """Rounding a value costs a twelfth of a squared step on average, cutting it the squared distance; 0 is free."""
        width = self._top / _BINS
        cuts = (np.arange(_BINS) + 1) * width
        centres = cuts - width / 2
        above = [np.cumsum((self._counts * centres**k)[::-1])[::-1] for k in (0, 1, 2)]
        n, s, q = (np.append(each, 0)[1:] for each in above)  # of what lies above each cut
        loss = (self._counts.sum() - n) * (cuts / steps) ** 2 / 12 + q - 2 * cuts * s + cuts**2 * n
        return float(cuts[np.argmin(loss)])
