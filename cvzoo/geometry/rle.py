"""Run-length encoding (RLE) of binary masks, many masks in three arrays."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, SupportsIndex

import numpy as np

from cvzoo.backends.native.runs import summed_natively
from cvzoo.errors.exceptions import DtypeError, ShapeError, ValueRangeError
from cvzoo.geometry.rle_string import blocks_of_masks, decode_rle_strings, encode_rle_strings
from cvzoo.reporting.counted import counted
from cvzoo.typing.aliases import Area, Array, ArrayLike, BBox, Mask

# Pixels of dense masks that are encoded at once, which limits the temporary memory
_PIXELS = 1 << 24


class RLEs:
    """R run-length encoded (RLE) masks, each of its own size, stored as three arrays.

    counts: (N,) int32, the lengths of the runs of all masks one after another. Within a mask the runs are in
        column-major order, and background and foreground alternate; the first run is background (of length 0 where
        the first pixel is foreground)
    offsets: (R + 1,) int64, mask r has the runs counts[offsets[r]:offsets[r + 1]]
    sizes: (R, 2) int32, (H, W) of each mask

    The arrays must not be changed. `len(rles)`, `rles[i]` (an index, a slice, an array of indices or booleans; the
    result is always RLEs) and `==` work as for arrays.
    Raises ShapeError or DtypeError if the arrays do not match each other, ValueRangeError with the mask's index if a
    run has a negative length or the runs of a mask do not add up to its number of pixels.
    """

    __slots__ = ("counts", "offsets", "sizes")

    def __init__(self, counts: ArrayLike, offsets: ArrayLike, sizes: ArrayLike) -> None:
        self.counts = _integers(counts, np.int32, "counts", 1)
        self.offsets = _integers(offsets, np.int64, "offsets", 1)
        self.sizes = _integers(sizes, np.int32, "sizes", 2)
        _check(self)

    @classmethod
    def from_counts(cls, counts: Sequence[Sequence[int] | Array], sizes: ArrayLike) -> "RLEs":
        """Masks from lists of the lengths of runs, COCO's uncompressed format.

        counts: R sequences of int; sizes: (R, 2) int, (H, W)
        """
        offsets = np.zeros(len(counts) + 1, np.int64)
        np.cumsum([len(each) for each in counts], out=offsets[1:])
        parts = [_integers(each, np.int32, f"counts[{r}]", 1) for r, each in enumerate(counts)]
        return cls(np.concatenate(parts) if parts else np.empty(0, np.int32), offsets, _rows(sizes))

    @classmethod
    def from_strings(cls, strings: Iterable[str | bytes], sizes: ArrayLike) -> "RLEs":
        """Masks from COCO's compressed RLE strings, all decoded at once.

        strings: R of str or bytes; sizes: (R, 2) int, (H, W)
        Raises ValueRangeError with the string's index if one is malformed or does not match the size of its mask.
        """
        return cls(*decode_rle_strings(strings), _rows(sizes))

    @classmethod
    def from_coco(cls, records: Sequence[Mapping[str, Any]]) -> "RLEs":
        """Masks from COCO's RLE dictionaries {"size": [H, W], "counts": a string, bytes or a list of integers}.

        Raises ValueRangeError with the record's index if a field is missing or malformed.
        """
        sizes = np.empty((len(records), 2), np.int64)
        strings: list[tuple[int, str | bytes]] = []
        lists: list[tuple[int, Sequence[int] | Array]] = []
        for r, record in enumerate(records):
            try:
                counts, (height, width) = record["counts"], record["size"]
                sizes[r] = height, width
            except (KeyError, TypeError, ValueError, OverflowError) as error:
                raise ValueRangeError(f"RLE {r} is not a dictionary of size (H, W) and counts", got=record) from error
            if isinstance(counts, (str, bytes)):
                strings.append((r, counts))
            else:
                lists.append((r, counts))
        if not lists:
            return cls.from_strings([counts for _, counts in strings], sizes)
        if not strings:
            return cls.from_counts([counts for _, counts in lists], sizes)
        order = np.array([r for r, _ in (*strings, *lists)])
        parts = (
            cls.from_strings([counts for _, counts in strings], sizes[order[: len(strings)]]),
            cls.from_counts([counts for _, counts in lists], sizes[order[len(strings) :]]),
        )
        return cls.concatenate(parts)[np.argsort(order)]

    @classmethod
    def from_masks(cls, masks: ArrayLike) -> "RLEs":
        """Masks from dense binary masks.

        masks: (R, H, W) bool, or integers where 0 is background
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
    def concatenate(cls, parts: Iterable["RLEs"]) -> "RLEs":
        """The masks of several RLEs one after another."""
        parts = list(parts)
        starts = np.cumsum([0] + [len(part.counts) for part in parts])
        return cls(
            np.concatenate([part.counts for part in parts] + [np.empty(0, np.int32)]),
            np.concatenate([[0]] + [part.offsets[1:] + start for part, start in zip(parts, starts)]),
            np.concatenate([part.sizes for part in parts] + [np.empty((0, 2), np.int32)]),
        )

    def to_strings(self) -> list[str]:
        """The masks as R compressed RLE strings of COCO."""
        return encode_rle_strings(self.counts, self.offsets)

    def to_coco(self) -> list[dict[str, Any]]:
        """The masks as R RLE dictionaries of COCO, {"size": [H, W], "counts": str}, which JSON can store."""
        return [{"size": size, "counts": text} for size, text in zip(self.sizes.tolist(), self.to_strings())]

    def to_masks(self) -> Mask:
        """Dense masks, (R, H, W) bool; (0, 0, 0) if there are none. Raises ShapeError unless all have the same size."""
        if len(self) == 0:
            return np.zeros((0, 0, 0), bool)
        if (self.sizes != self.sizes[0]).any():
            raise ShapeError("masks of different sizes cannot be one array", hint="rles[i].to_masks() one by one")
        height, width = self.sizes[0].tolist()
        flat = np.repeat(self.run_indices() % 2 == 1, self.counts)
        return np.ascontiguousarray(flat.reshape(len(self), width, height).transpose(0, 2, 1))

    def run_indices(self) -> Array:
        """(N,) int64, the index of each run within its mask: even ones are background."""
        return np.arange(len(self.counts)) - np.repeat(self.offsets[:-1], np.diff(self.offsets))

    def run_ends(self) -> Array:
        """(N,) int32, the end of each run within its mask: x * H + y of the first pixel after it."""
        ends = np.empty_like(self.counts)
        for begin, end in blocks_of_masks(self.offsets):
            offsets = self.offsets[begin : end + 1]
            runs = slice(offsets[0], offsets[-1])
            # int32 sums may wrap around; the difference of two of them is correct nevertheless
            total = np.cumsum(self.counts[runs], dtype=np.int32)
            before = np.concatenate([np.zeros(1, np.int32), total])[offsets[:-1] - offsets[0]]
            np.subtract(total, np.repeat(before, np.diff(offsets)), out=ends[runs])
        return ends

    def area(self) -> Area:
        """(R,) int64, the number of foreground pixels."""
        summed = summed_natively(self.counts, self.offsets)
        if summed is not None:
            return summed[1]
        # foreground runs have odd indices in counts if their mask starts at an even index, else even ones
        odd, even = (
            sums_between(self.counts[1::2], self.offsets // 2),
            sums_between(self.counts[::2], (self.offsets + 1) // 2),
        )
        return np.where(self.offsets[:-1] % 2 == 0, odd, even)

    def to_bbox(self) -> BBox:
        """(R, 4) float32 y_min, x_min, y_max, x_max, pixels; zeros for an empty mask.

        As in pycocotools, a foreground run of length 0 inside a mask, which no known encoder writes, extends the box to
        the pixels before and after it.
        """
        bbox = np.zeros((len(self), 4), np.float32)
        some = np.flatnonzero(np.diff(self.offsets) > 1)
        for begin, end in blocks_of_masks(np.concatenate([self.offsets[:1], self.offsets[some + 1]])):
            bbox[some[begin:end]] = self._bbox_of_nonempty(some[begin:end])
        return bbox

    def _bbox_of_nonempty(self, some: Array) -> Array:
        # only complete pairs (background, foreground) count
        first_run, height = self.offsets[some], self.sizes[some, 0]
        n_pair = (self.offsets[some + 1] - first_run) // 2
        first = np.cumsum(n_pair) - n_pair
        before = np.repeat(first_run - first * 2, n_pair)
        before += np.arange(0, 2 * len(before), 2)
        background, foreground = self.counts[before], self.counts[before + 1]
        # int32 sums may wrap around; the difference of two of them is correct nevertheless
        total = np.cumsum(background + foreground, dtype=np.int32)
        total -= np.repeat(np.concatenate([np.zeros(1, np.int32), total[first[1:] - 1]]), n_pair)
        start, stop = total - foreground, total - np.int32(1)
        # an exact division: the added half keeps multiples of the height from being rounded down
        per_height = np.repeat(1 / height.astype(np.float64), n_pair)
        height = np.repeat(height, n_pair)
        start_x, stop_x = (((each + 0.5) * per_height).astype(np.int32) for each in (start, stop))
        start_y, stop_y = start - start_x * height, stop - stop_x * height
        tall = start_x < stop_x  # the run continues in the next column: it reaches the upper and the lower border
        y_min = np.minimum.reduceat(np.where(tall, np.int32(0), np.minimum(start_y, stop_y)), first)
        y_max = np.maximum.reduceat(np.where(tall, height - 1, np.maximum(start_y, stop_y)), first)
        x_min = np.minimum.reduceat(np.minimum(start_x, stop_x), first)
        x_max = np.maximum.reduceat(np.maximum(start_x, stop_x), first)
        return np.stack([y_min, x_min, y_max + 1, x_max + 1], axis=1)

    def __len__(self) -> int:
        return len(self.sizes)

    def __getitem__(self, index: SupportsIndex | slice | Sequence[int] | Array) -> "RLEs":
        index = np.atleast_1d(np.arange(len(self))[index])
        length = np.diff(self.offsets)[index]
        offsets = np.concatenate([[0], np.cumsum(length)])
        runs = np.arange(offsets[-1]) + np.repeat(self.offsets[index] - offsets[:-1], length)
        return RLEs(self.counts[runs], offsets, self.sizes[index])

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, RLEs):
            return NotImplemented
        return all(
            np.array_equal(mine, its)
            for mine, its in ((self.counts, other.counts), (self.offsets, other.offsets), (self.sizes, other.sizes))
        )

    __hash__ = None  # type: ignore[assignment]  # the arrays behind == cannot be hashed

    def __repr__(self) -> str:
        return f"RLEs({counted(len(self), 'mask')}, {counted(len(self.counts), 'run')})"


def sums_between(values: Array, offsets: Array) -> Array:
    """(R,) int64, the sum of values[offsets[r]:offsets[r + 1]]; offsets ascend and end at len(values).

    Summing each segment takes a tenth of the time of differences of one cumulative sum.
    """
    sums = np.zeros(len(offsets) - 1, np.int64)
    for begin, end in blocks_of_masks(offsets):  # in blocks, since NumPy makes an int64 copy of what it sums up
        first = offsets[begin : end + 1]
        some = np.flatnonzero(first[1:] > first[:-1])
        if len(some):
            block = values[first[0] : first[-1]]
            sums[begin + some] = np.add.reduceat(block, first[some] - first[0], dtype=np.int64)
    return sums


def _integers(array: ArrayLike, dtype: type[np.integer[Any]], name: str, ndim: int) -> Array:
    try:
        array = np.asarray(array)
    except ValueError as error:  # lists of different lengths
        raise DtypeError(f"{name} must be integers", got=str(array)[:200]) from error
    if array.size == 0 and array.ndim == 1 and ndim == 2:
        array = array.reshape(0, 2)
    if array.ndim != ndim or (ndim == 2 and array.shape[1] != 2):
        raise ShapeError(f"{name} must be {'(R, 2): H, W' if ndim == 2 else 'one-dimensional'}", got=array.shape)
    if array.size and array.dtype.kind not in "iu":
        raise DtypeError(f"{name} must be integers", got=array.dtype)
    if array.size and not np.can_cast(array.dtype, dtype):
        limits = np.iinfo(dtype)
        if array.max() > limits.max or array.min() < limits.min:
            raise ValueRangeError(f"{name} does not fit into {np.dtype(dtype).name}", got=array.max())
    return np.ascontiguousarray(array, dtype)


def _rows(sizes: ArrayLike) -> Array:
    array = np.asarray(sizes)
    return array.reshape(-1, 2).astype(np.int64) if array.size == 0 else array


def _check(rles: RLEs) -> None:
    n, offsets, sizes = len(rles.sizes), rles.offsets, rles.sizes
    if len(offsets) != n + 1 or offsets[0] != 0 or offsets[-1] != len(rles.counts) or (np.diff(offsets) < 0).any():
        raise ShapeError("offsets must ascend from 0 to len(counts) and be one more than sizes")
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
    summed = summed_natively(rles.counts, offsets)
    covered = sums_between(rles.counts, offsets) if summed is None else summed[0]
    if not np.array_equal(covered, pixels):
        r = int(np.flatnonzero(covered != pixels)[0])
        height, width = sizes[r].tolist()
        raise ValueRangeError(
            f"the runs of RLE {r} do not add up to its size",
            expected=f"{height} * {width} = {pixels[r]} pixels",
            got=int(covered[r]),
        )


def _encoded(masks: Mask) -> tuple[Array, list[int]]:
    """The lengths of the runs (int32) of (R, H, W) bool, and the number of runs of each mask."""
    n, height, width = masks.shape
    pixels = height * width
    if pixels == 0:
        return np.zeros(n, np.int32), [1] * n
    flat = np.ascontiguousarray(masks.transpose(0, 2, 1)).reshape(n, pixels)
    is_end = np.empty((n, pixels + 1), bool)  # whether a run ends before the pixel; the last one ends after the last
    is_end[:, 0] = flat[:, 0]
    np.not_equal(flat[:, 1:], flat[:, :-1], out=is_end[:, 1:-1])
    is_end[:, -1] = True
    row, position = np.divmod(np.flatnonzero(is_end), pixels + 1)
    length = np.bincount(row, minlength=n)
    counts = np.diff(position, prepend=0)
    first = np.cumsum(length)[:-1]
    counts[first] = position[first]
    return counts.astype(np.int32), length.tolist()
