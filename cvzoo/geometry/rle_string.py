"""COCO's compressed strings of run lengths, all strings of a list at once.

Source: pycocotools' maskApi. A number is written in groups of 5 bits, the lowest first, each as one character from
48 on; bit 32 says that another group follows, and the last group's bit 16 is the sign. From the fourth run on, what
is written is the difference from the run two before.
"""

import itertools

import numpy as np

from cvzoo.errors.exceptions import DtypeError, ValueRangeError

_ZERO = 48  # the character that stands for 0
_MORE = 32  # another group follows
_SIGN = 16
_MAX_GROUPS = 7  # 35 bits hold every int32
# Runs handled at once: the temporaries stay in a level-2 cache
_BLOCK = 1 << 17


def blocks_of_masks(offsets):
    """Pairs (begin, end) that split the masks into blocks of few runs each; a block holds at least one mask."""
    begin = 0
    while begin < len(offsets) - 1:
        end = max(int(np.searchsorted(offsets, offsets[begin] + _BLOCK, side="right")) - 1, begin + 1)
        yield begin, end
        begin = end


def decode_rle_strings(strings):
    """Run lengths of every string: counts (N,) int32 and offsets (R + 1,) int64.

    strings: R of str or bytes
    Raises ValueRangeError with the string's index if one has a character or a number that cannot be, DtypeError if
    one is neither str nor bytes. Whether the runs fill a mask is not looked at.
    """
    try:
        encoded = [text.encode("ascii") if isinstance(text, str) else bytes(memoryview(text)) for text in strings]
    except UnicodeEncodeError:
        r = next(r for r, text in enumerate(strings) if isinstance(text, str) and not text.isascii())
        raise ValueRangeError(f"RLE string {r} has a character outside of ASCII") from None
    except TypeError as error:
        r = next(r for r, text in enumerate(strings) if not isinstance(text, (str, bytes)))
        raise DtypeError(f"RLE string {r} must be str or bytes", got=type(strings[r]).__name__) from error
    stops = np.zeros(len(encoded) + 1, np.int64)
    np.cumsum([len(text) for text in encoded], out=stops[1:])
    # no more numbers than characters
    counts, offsets = np.empty(stops[-1], np.int32), np.zeros(len(encoded) + 1, np.int64)
    for begin, end in blocks_of_masks(stops):
        part, ends = _decode(b"".join(encoded[begin:end]), stops[begin + 1 : end + 1] - stops[begin], begin)
        counts[offsets[begin] : offsets[begin] + len(part)] = part
        offsets[begin + 1 : end + 1] = ends + offsets[begin]
    return counts[: offsets[-1]].copy() if 2 * offsets[-1] < len(counts) else counts[: offsets[-1]], offsets


def _decode(text, stops, begin):
    """Counts (N,) int32 and where each string's end; stops is where its characters end, begin the first one's index."""
    group = np.frombuffer(text, np.uint8) - np.uint8(_ZERO)  # what lies below wraps around to above
    if len(group) and group.max() >= 2 * _MORE:
        bad = np.flatnonzero(group >= 2 * _MORE)[0]
        r = begin + int(np.searchsorted(stops, bad, side="right"))
        raise ValueRangeError(f"RLE string {r} has a character that cannot be", got=chr(text[bad]))
    last = np.flatnonzero(group < _MORE)
    offsets = np.searchsorted(last, np.concatenate([[0], stops]), side="left")
    open_end = (stops > 0) & (group[stops - 1] >= _MORE) if len(group) else np.zeros(len(stops), bool)
    if open_end.any():
        # an empty string shares its end with the one before it, which comes first
        raise ValueRangeError(f"RLE string {begin + int(np.flatnonzero(open_end)[0])} ends in the middle of a number")
    value = _numbers(group, last, offsets, begin)
    first = offsets[:-1][np.diff(offsets) > 0]
    # The sum over every second number restarts in each string. The first number of a string starts no chain (the
    # third starts that chain), so it is put in afterwards.
    start = value[first]
    value[first] = 0
    for parity in (0, 1):
        before = (offsets + 1 - parity) // 2  # numbers of this parity in front of each string
        total = np.zeros((len(value) + 1 - parity) // 2 + 1, value.dtype)
        np.cumsum(value[parity::2], out=total[1:], dtype=value.dtype)
        value[parity::2] = total[1:] - np.repeat(total[before[:-1]], np.diff(before))
    value[first] = start
    return value.astype(np.int32, copy=False), offsets[1:]


def _numbers(group, last, offsets, begin):
    """The signed numbers as written; last holds the index of each one's last group."""
    start = np.empty_like(last)
    start[:1] = 0
    start[1:] = last[:-1] + 1
    n_group = (last - start + 1).astype(np.int8)
    most = int(n_group.max(initial=1))
    if most > _MAX_GROUPS:
        bad = np.flatnonzero(n_group > _MAX_GROUPS)[0]
        r = begin + int(np.searchsorted(offsets, bad, side="right")) - 1
        raise ValueRangeError(f"RLE string {r} has a number that is too long", got=f"{n_group[bad]} characters")
    value = (group & np.uint8(_MORE - 1))[start].astype(np.int64 if most == _MAX_GROUPS else np.int32)
    for place in range(1, most):
        longer = np.flatnonzero(n_group > place)
        value[longer] |= (group[start[longer] + place] & np.uint8(_MORE - 1)).astype(value.dtype) << (5 * place)
    negative = np.flatnonzero(group[last] & np.uint8(_SIGN))
    value[negative] -= value.dtype.type(1) << (5 * n_group[negative].astype(value.dtype))
    return value


def encode_rle_strings(counts, offsets):
    """The strings, R of str, of the runs counts[offsets[r]:offsets[r + 1]]."""
    strings = []
    for begin, end in blocks_of_masks(offsets):
        part = offsets[begin : end + 1]
        strings += _encode(counts[part[0] : part[-1]], part - part[0])
    return strings


def _encode(counts, offsets):
    # a difference of two runs fits into int32, since none is negative
    value = counts.copy()
    value[2:] -= counts[:-2]
    for place in range(3):  # a string's first three runs are written as they are
        at = offsets[:-1][np.diff(offsets) > place] + place
        value[at] = counts[at]
    groups = np.zeros((len(value), _MAX_GROUPS), np.uint8)
    left = np.arange(len(value))
    for place in range(_MAX_GROUPS):
        low = value & (_MORE - 1)
        value >>= 5
        more = value != -(low >> 4)  # what is left is the sign of this group, all ones or all zeros
        groups[left, place] = low + more * _MORE + _ZERO
        left, value = left[more], value[more]
        if len(left) == 0:
            break
    used = groups > 0
    text = groups[used].tobytes().decode("ascii")
    stops = np.concatenate([[0], np.cumsum(used.sum(axis=1))])[offsets].tolist()
    return [text[begin:end] for begin, end in itertools.pairwise(stops)]
