"""Run-length encoded masks, many in three arrays."""

import numpy as np

from cvzoo.errors.exceptions import DtypeError, ShapeError, ValueRangeError
from cvzoo.geometry.rle_string import blocks_of_masks, decode_rle_strings, encode_rle_strings

# Pixels of dense masks that are handled at once
_PIXELS = 1 << 24


class RLEs:
    """R run-length encoded masks, each of its own size, held by columns.

    counts: (N,) int32, the lengths of the runs of all masks one after another. Within a mask the runs go down the
        first column, then down the second and so on, and background and foreground alternate; the first run is
        background (0 long where the first pixel is foreground)
    offsets: (R + 1,) int64, mask r has the runs counts[offsets[r]:offsets[r + 1]]
    sizes: (R, 2) int32, (H, W) of each mask

    The arrays are not to be changed. `len(rles)`, `rles[i]` (an index, a slice, an array of indices or booleans; the
    result is always RLEs) and `==` work as for arrays.
    Raises ShapeError or DtypeError if the arrays do not fit together, ValueRangeError with the mask's index if a run
    is negative or the runs of a mask do not cover it.
    """

    __slots__ = ("counts", "offsets", "sizes")

    def __init__(self, counts, offsets, sizes):
        self.counts = _integers(counts, np.int32, "counts", 1)
        self.offsets = _integers(offsets, np.int64, "offsets", 1)
        self.sizes = _integers(sizes, np.int32, "sizes", 2)
        _check(self)

    @classmethod
    def from_counts(cls, counts, sizes):
        """Masks from a list of lists of runs, COCO's uncompressed form.

        counts: R sequences of int; sizes: (R, 2) int, (H, W)
        """
        offsets = np.zeros(len(counts) + 1, np.int64)
        np.cumsum([len(each) for each in counts], out=offsets[1:])
        parts = [_integers(each, np.int32, f"counts[{r}]", 1) for r, each in enumerate(counts)]
        return cls(np.concatenate(parts) if parts else np.empty(0, np.int32), offsets, _rows(sizes))

    @classmethod
    def from_strings(cls, strings, sizes):
        """Masks from COCO's compressed strings, all decoded at once.

        strings: R of str or bytes; sizes: (R, 2) int, (H, W)
        Raises ValueRangeError with the string's index if one is malformed or does not cover its mask.
        """
        return cls(*decode_rle_strings(strings), _rows(sizes))

    @classmethod
    def from_coco(cls, records):
        """Masks from COCO's dictionaries {"size": [H, W], "counts": a string, bytes or a list of runs}.

        Raises ValueRangeError with the record's index if a field is missing or of the wrong kind.
        """
        sizes = np.empty((len(records), 2), np.int64)
        strings, lists = [], []
        for r, record in enumerate(records):
            try:
                counts, (height, width) = record["counts"], record["size"]
                sizes[r] = height, width
            except (KeyError, TypeError, ValueError, OverflowError) as error:
                raise ValueRangeError(f"RLE {r} is no dictionary of size (H, W) and counts", got=record) from error
            (strings if isinstance(counts, (str, bytes)) else lists).append((r, counts))
        if not lists:
            return cls.from_strings([counts for _, counts in strings], sizes)
        if not strings:
            return cls.from_counts([counts for _, counts in lists], sizes)
        order = np.array([r for r, _ in strings + lists])
        parts = (
            cls.from_strings([counts for _, counts in strings], sizes[order[: len(strings)]]),
            cls.from_counts([counts for _, counts in lists], sizes[order[len(strings) :]]),
        )
        return cls.concatenate(parts)[np.argsort(order)]

    @classmethod
    def from_masks(cls, masks):
        """Masks from dense ones.

        masks: (R, H, W) bool, or integers of which 0 is background
        """
        masks = np.asarray(masks)
        if masks.ndim != 3:
            raise ShapeError("masks must be (R, H, W)", got=masks.shape, hint="masks[None] for a single mask")
        if masks.dtype.kind not in "bui":
            raise DtypeError("masks must be bool or integers", got=masks.dtype)
        n, height, width = masks.shape
        pixels = height * width
        step = max(_PIXELS // max(pixels, 1), 1)
        parts = [_encoded(masks[start : start + step].astype(bool, copy=False)) for start in range(0, n, step)]
        counts = np.concatenate([part for part, _ in parts]) if parts else np.empty(0, np.int32)
        offsets = np.zeros(n + 1, np.int64)
        np.cumsum([length for _, lengths in parts for length in lengths], out=offsets[1:])
        return cls(counts, offsets, np.full((n, 2), (height, width), np.int32))

    @classmethod
    def concatenate(cls, parts):
        """The masks of several RLEs one after another."""
        parts = list(parts)
        starts = np.cumsum([0] + [len(part.counts) for part in parts])
        return cls(
            np.concatenate([part.counts for part in parts] + [np.empty(0, np.int32)]),
            np.concatenate([[0]] + [part.offsets[1:] + start for part, start in zip(parts, starts)]),
            np.concatenate([part.sizes for part in parts] + [np.empty((0, 2), np.int32)]),
        )

    def to_strings(self):
        """R of COCO's compressed strings, str."""
        return encode_rle_strings(self.counts, self.offsets)

    def to_coco(self):
        """R of COCO's dictionaries {"size": [H, W], "counts": str}, as JSON can hold them."""
        return [{"size": size, "counts": text} for size, text in zip(self.sizes.tolist(), self.to_strings())]

    def to_masks(self):
        """(R, H, W) bool; (0, 0, 0) if there are no masks. Raises ShapeError unless all masks are of one size."""
        if len(self) == 0:
            return np.zeros((0, 0, 0), bool)
        if (self.sizes != self.sizes[0]).any():
            raise ShapeError("masks of different sizes have no common array", hint="rles[i].to_masks() one by one")
        height, width = self.sizes[0].tolist()
        flat = np.repeat(self.run_indices() % 2 == 1, self.counts)
        return np.ascontiguousarray(flat.reshape(len(self), width, height).transpose(0, 2, 1))

    def run_indices(self):
        """(N,) int64, the place of each run within its mask: even ones are background."""
        return np.arange(len(self.counts)) - np.repeat(self.offsets[:-1], np.diff(self.offsets))

    def run_ends(self):
        """(N,) int32, where in its mask each run ends: x * H + y of the first pixel after it."""
        ends = np.empty_like(self.counts)
        for begin, end in blocks_of_masks(self.offsets):
            offsets = self.offsets[begin : end + 1]
            runs = slice(offsets[0], offsets[-1])
            # sums of int32 wrap around; differences of two of them are right all the same
            total = np.cumsum(self.counts[runs], dtype=np.int32)
            before = np.concatenate([np.zeros(1, np.int32), total])[offsets[:-1] - offsets[0]]
            np.subtract(total, np.repeat(before, np.diff(offsets)), out=ends[runs])
        return ends

    def area(self):
        """(R,) int64, pixels of foreground."""
        # foreground lies at the odd places of counts in a mask that starts at an even one, else at the even ones
        odd, even = (
            sums_between(self.counts[1::2], self.offsets // 2),
            sums_between(self.counts[::2], (self.offsets + 1) // 2),
        )
        return np.where(self.offsets[:-1] % 2 == 0, odd, even)

    def to_bbox(self):
        """(R, 4) float32 y_min, x_min, y_max, x_max, pixels; zeros for a mask without foreground.

        As pycocotools has it: where a foreground run is 0 long (nobody's encoder writes that inside a mask), the
        pixel before it and the one after count as its ends.
        """
        bbox = np.zeros((len(self), 4), np.float32)
        some = np.flatnonzero(np.diff(self.offsets) > 1)
        for begin, end in blocks_of_masks(np.concatenate([self.offsets[:1], self.offsets[some + 1]])):
            bbox[some[begin:end]] = self._bbox_of_nonempty(some[begin:end])
        return bbox

    def _bbox_of_nonempty(self, some):
        # only whole pairs (background, foreground) count
        first_run, height = self.offsets[some], self.sizes[some, 0]
        n_pair = (self.offsets[some + 1] - first_run) // 2
        first = np.cumsum(n_pair) - n_pair
        before = np.repeat(first_run - first * 2, n_pair)
        before += np.arange(0, 2 * len(before), 2)
        background, foreground = self.counts[before], self.counts[before + 1]
        # sums of int32 wrap around; differences of two of them are right all the same
        total = np.cumsum(background + foreground, dtype=np.int32)
        total -= np.repeat(np.concatenate([np.zeros(1, np.int32), total[first[1:] - 1]]), n_pair)
        start, stop = total - foreground, total - np.int32(1)
        # an exact division: the half keeps what is a multiple of the height from falling below it
        per_height = np.repeat(1 / height.astype(np.float64), n_pair)
        height = np.repeat(height, n_pair)
        start_x, stop_x = (((each + 0.5) * per_height).astype(np.int32) for each in (start, stop))
        start_y, stop_y = start - start_x * height, stop - stop_x * height
        tall = start_x < stop_x  # the run goes on in the next column: it reaches both borders
        y_min = np.minimum.reduceat(np.where(tall, np.int32(0), np.minimum(start_y, stop_y)), first)
        y_max = np.maximum.reduceat(np.where(tall, height - 1, np.maximum(start_y, stop_y)), first)
        x_min = np.minimum.reduceat(np.minimum(start_x, stop_x), first)
        x_max = np.maximum.reduceat(np.maximum(start_x, stop_x), first)
        return np.stack([y_min, x_min, y_max + 1, x_max + 1], axis=1)

    def __len__(self):
        return len(self.sizes)

    def __getitem__(self, index):
        index = np.atleast_1d(np.arange(len(self))[index])
        length = np.diff(self.offsets)[index]
        offsets = np.concatenate([[0], np.cumsum(length)])
        runs = np.arange(offsets[-1]) + np.repeat(self.offsets[index] - offsets[:-1], length)
        return RLEs(self.counts[runs], offsets, self.sizes[index])

    def __eq__(self, other):
        if not isinstance(other, RLEs):
            return NotImplemented
        return all(
            np.array_equal(mine, its)
            for mine, its in ((self.counts, other.counts), (self.offsets, other.offsets), (self.sizes, other.sizes))
        )

    __hash__ = None

    def __repr__(self):
        return f"RLEs({len(self)} masks, {len(self.counts)} runs)"


def sums_between(values, offsets):
    """(R,) int64, the sum of values[offsets[r]:offsets[r + 1]]; offsets climb and end at len(values).

    Each sum is made on its own, which takes a tenth of the time of differences of sums over all.
    """
    sums = np.zeros(len(offsets) - 1, np.int64)
    for begin, end in blocks_of_masks(offsets):  # numpy makes an int64 copy of what it is to add up
        first = offsets[begin : end + 1]
        some = np.flatnonzero(first[1:] > first[:-1])
        if len(some):
            block = values[first[0] : first[-1]]
            sums[begin + some] = np.add.reduceat(block, first[some] - first[0], dtype=np.int64)
    return sums


def _integers(array, dtype, name, ndim):
    array = np.asarray(array)
    if array.size == 0 and array.ndim == 1 and ndim == 2:
        array = array.reshape(0, 2)
    if array.ndim != ndim or (ndim == 2 and array.shape[1] != 2):
        raise ShapeError(f"{name} must be {'(R, 2): H, W' if ndim == 2 else 'one row of integers'}", got=array.shape)
    if array.size and array.dtype.kind not in "iu":
        raise DtypeError(f"{name} must be integers", got=array.dtype)
    if array.size and not np.can_cast(array.dtype, dtype):
        limits = np.iinfo(dtype)
        if array.max() > limits.max or array.min() < limits.min:
            raise ValueRangeError(f"{name} does not fit into {np.dtype(dtype).name}", got=array.max())
    return np.ascontiguousarray(array, dtype)


def _rows(sizes):
    return np.asarray(sizes, dtype=np.int64).reshape(-1, 2) if len(sizes) == 0 else sizes


def _check(rles):
    n, offsets, sizes = len(rles.sizes), rles.offsets, rles.sizes
    if len(offsets) != n + 1 or offsets[0] != 0 or offsets[-1] != len(rles.counts) or (np.diff(offsets) < 0).any():
        raise ShapeError("offsets must climb from 0 to len(counts), one more of them than of sizes")
    if (sizes < 0).any():
        r = int(np.flatnonzero((sizes < 0).any(axis=1))[0])
        raise ValueRangeError(f"RLE {r} has a negative size", got=tuple(sizes[r].tolist()))
    pixels = sizes[:, 0].astype(np.int64) * sizes[:, 1]
    if (pixels > np.iinfo(np.int32).max).any():
        r = int(np.flatnonzero(pixels > np.iinfo(np.int32).max)[0])
        raise ValueRangeError(f"RLE {r} has too many pixels", got=tuple(sizes[r].tolist()))
    if len(rles.counts) and rles.counts.min() < 0:
        r = int(np.searchsorted(offsets, np.flatnonzero(rles.counts < 0)[0], side="right")) - 1
        raise ValueRangeError(f"RLE {r} has a negative run", got=int(rles.counts[offsets[r] : offsets[r + 1]].min()))
    covered = sums_between(rles.counts, offsets)
    if not np.array_equal(covered, pixels):
        r = int(np.flatnonzero(covered != pixels)[0])
        height, width = sizes[r].tolist()
        raise ValueRangeError(
            f"the runs of RLE {r} do not cover its mask",
            expected=f"{height} * {width} = {pixels[r]} pixels",
            got=int(covered[r]),
        )


def _encoded(masks):
    """Runs (int32) and their number a mask, of (R, H, W) bool."""
    n, height, width = masks.shape
    pixels = height * width
    if pixels == 0:
        return np.zeros(n, np.int32), [1] * n
    flat = np.ascontiguousarray(masks.transpose(0, 2, 1)).reshape(n, pixels)
    turns = np.empty((n, pixels + 1), bool)  # where a run ends; the last run ends behind the last pixel
    turns[:, 0] = flat[:, 0]
    np.not_equal(flat[:, 1:], flat[:, :-1], out=turns[:, 1:-1])
    turns[:, -1] = True
    row, place = np.divmod(np.flatnonzero(turns), pixels + 1)
    length = np.bincount(row, minlength=n)
    counts = np.diff(place, prepend=0)
    first = np.cumsum(length)[:-1]
    counts[first] = place[first]
    return counts.astype(np.int32), length.tolist()
