"""COCO's compressed RLE strings, all strings of a list at once.

Source: pycocotools' maskApi. An integer is written in groups of 5 bits, the lowest first, each as one character from
code 48 on; bit 32 says that another group follows, and the last group's bit 16 is the sign. From the fourth run on,
the difference from the run two before is written.
"""

import itertools
from collections.abc import Iterable, Iterator
from typing import Any

import numpy as np

from cvzoo.backends.native.runs import decoded_natively
from cvzoo.errors.exceptions import DtypeError, ValueRangeError
from cvzoo.typing.aliases import Array

_ZERO = 48  # the character that stands for 0
_MORE = 32  # another group follows
_SIGN = 16
_MAX_GROUPS = 7  # 35 bits hold every int32
# Runs that are processed at once: the temporaries fit into the L2 cache
_BLOCK = 1 << 17


def blocks_of_masks(offsets: Array) -> Iterator[tuple[int, int]]:
    """Pairs (begin, end) that split the masks into blocks of about `_BLOCK` runs; a block has at least one mask."""
    begin = 0
    while begin < len(offsets) - 1:
        end = max(int(np.searchsorted(offsets, offsets[begin] + _BLOCK, side="right")) - 1, begin + 1)
        yield begin, end
        begin = end


def decode_rle_strings(strings: Iterable[str | bytes]) -> tuple[Array, Array]:
    """The decoded runs of all strings: counts (N,) int32 and offsets (R + 1,) int64.

    strings: R of str or bytes
    Raises ValueRangeError with the string's index if one has an invalid character or integer, DtypeError if one is
    neither str nor bytes. Whether the runs match the size of a mask is not checked.
    """
    encoded: list[Any] = strings if isinstance(strings, list) else list(strings)
    if not _all_ascii(encoded):
        encoded = [_ascii(text, r) for r, text in enumerate(encoded)]
    empty = encoded[0][:0] if encoded else b""
    stops = np.zeros(len(encoded) + 1, np.int64)
    np.cumsum([len(text) for text in encoded], out=stops[1:])
    # there are at most as many integers as characters
    counts, offsets = np.empty(stops[-1], np.int32), np.zeros(len(encoded) + 1, np.int64)
    for begin, end in blocks_of_masks(stops):
        text, ends_of_text = _bytes(empty.join(encoded[begin:end])), stops[begin + 1 : end + 1] - stops[begin]
        # NumPy tells what is wrong with a malformed string
        part, ends = decoded_natively(text, ends_of_text) or _decode(text, ends_of_text, begin)
        counts[offsets[begin] : offsets[begin] + len(part)] = part
        offsets[begin + 1 : end + 1] = ends + offsets[begin]
    return counts[: offsets[-1]].copy() if 2 * offsets[-1] < len(counts) else counts[: offsets[-1]], offsets


def _all_ascii(texts: list[Any]) -> bool:
    try:
        return all(map(str.isascii, texts))
    except TypeError:
        return False


def _ascii(text: str | bytes, r: int) -> bytes:
    try:
        return text.encode("ascii") if isinstance(text, str) else bytes(memoryview(text))
    except UnicodeEncodeError:
        raise ValueRangeError(f"RLE string {r} has a character outside of ASCII") from None
    except TypeError as error:
        raise DtypeError(f"RLE string {r} must be str or bytes", got=type(text).__name__) from error


def _bytes(text: str | bytes) -> bytes:
    return text.encode("ascii") if isinstance(text, str) else text


def _decode(text: bytes, stops: Array, begin: int) -> tuple[Array, Array]:
    """Counts (N,) int32 and the end of each string's counts.

    stops: the end of each string's characters; begin: the index of the first string, for errors
    """
    group = np.frombuffer(text, np.uint8) - np.uint8(_ZERO)  # characters below it wrap around to large values
    if len(group) and group.max() >= 2 * _MORE:
        bad = np.flatnonzero(group >= 2 * _MORE)[0]
        r = begin + int(np.searchsorted(stops, bad, side="right"))
        raise ValueRangeError(f"RLE string {r} has an invalid character", got=chr(text[bad]))
    last = np.flatnonzero(group < _MORE)
    offsets = np.searchsorted(last, np.concatenate([[0], stops]), side="left")
    open_end = (stops > 0) & (group[stops - 1] >= _MORE) if len(group) else np.zeros(len(stops), bool)
    if open_end.any():
        # an empty string has the same end as the one before it, which is the one to name
        raise ValueRangeError(f"RLE string {begin + int(np.flatnonzero(open_end)[0])} is truncated within an integer")
    value = _numbers(group, last, offsets, begin)
    first = offsets[:-1][np.diff(offsets) > 0]
    # The cumulative sum over every second integer restarts in each string. The first integer of a string is not part
    # of a sum (the third starts that one), so it is inserted afterwards.
    start = value[first]
    value[first] = 0
    for parity in (0, 1):
        before = (offsets + 1 - parity) // 2  # integers of this parity before each string
        total = np.zeros((len(value) + 1 - parity) // 2 + 1, value.dtype)
        np.cumsum(value[parity::2], out=total[1:], dtype=value.dtype)
        value[parity::2] = total[1:] - np.repeat(total[before[:-1]], np.diff(before))
    value[first] = start
    return value.astype(np.int32, copy=False), offsets[1:]


def _numbers(group: Array, last: Array, offsets: Array, begin: int) -> Array:
    """The signed integers as written; last has the index of each one's last group.

    From the last group to the first, the value is 32 times the value of the next group plus the group. All characters
    do this step at once from their right neighbor, one time less than the longest integer has groups; only the last
    group is read as signed, which gives the integer its sign.
    """
    most = int(np.diff(last, prepend=-1).max(initial=1))
    if most > _MAX_GROUPS:
        n_group = np.diff(last, prepend=-1)
        bad = np.flatnonzero(n_group > _MAX_GROUPS)[0]
        r = begin + int(np.searchsorted(offsets, bad, side="right")) - 1
        raise ValueRangeError(f"RLE string {r} has an integer that is too long", got=f"{n_group[bad]} characters")
    dtype = np.int64 if most == _MAX_GROUPS else np.int32
    more = group >= _MORE
    signed = (group & np.uint8(_MORE - 1)).view(np.int8)
    signed -= ((group & np.uint8(_MORE | _SIGN)) == _SIGN).view(np.int8) << np.int8(5)
    signed = signed.astype(dtype)
    if most == 1:
        return signed
    follows = np.negative(more[:-1].astype(dtype))  # all bits where another group follows
    value, rest = signed.copy(), np.empty_like(follows)
    for _ in range(1, most):
        np.left_shift(value[1:], 5, out=rest)
        rest &= follows
        np.add(signed[:-1], rest, out=value[:-1])
    first = np.empty_like(more)
    first[:1], first[1:] = True, ~more[:-1]
    return value[first]


def encode_rle_strings(counts: Array, offsets: Array) -> list[str]:
    """Compressed RLE strings, R of str, of the runs counts[offsets[r]:offsets[r + 1]]."""
    strings = []
    for begin, end in blocks_of_masks(offsets):
        part = offsets[begin : end + 1]
        strings += _encode(counts[part[0] : part[-1]], part - part[0])
    return strings


def _encode(counts: Array, offsets: Array) -> list[str]:
    # the difference of two runs fits into int32, since none is negative
    value = counts.copy()
    value[2:] -= counts[:-2]
    for index in range(3):  # the first three runs of a string are written as they are
        at = offsets[:-1][np.diff(offsets) > index] + index
        value[at] = counts[at]
    groups = np.zeros((len(value), _MAX_GROUPS), np.uint8)
    left = np.arange(len(value))
    for digit in range(_MAX_GROUPS):
        low = value & (_MORE - 1)
        value >>= 5
        more = value != -(low >> 4)  # nothing follows if the rest is the sign of this group, all ones or all zeros
        groups[left, digit] = low + more * _MORE + _ZERO
        left, value = left[more], value[more]
        if len(left) == 0:
            break
    used = groups > 0
    text = groups[used].tobytes().decode("ascii")
    stops = np.concatenate([[0], np.cumsum(used.sum(axis=1))])[offsets].tolist()
    return [text[begin:end] for begin, end in itertools.pairwise(stops)]
