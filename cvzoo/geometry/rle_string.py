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
    encoded = strings if isinstance(strings, list) else list(strings)
    if not _all_ascii(encoded):
        encoded = [_ascii(text, r) for r, text in enumerate(encoded)]
    empty = encoded[0][:0] if encoded else b""
    stops = np.zeros(len(encoded) + 1, np.int64)
    np.cumsum([len(text) for text in encoded], out=stops[1:])
    # no more numbers than characters
    counts, offsets = np.empty(stops[-1], np.int32), np.zeros(len(encoded) + 1, np.int64)
    for begin, end in blocks_of_masks(stops):
        part, ends = _decode(_bytes(empty.join(encoded[begin:end])), stops[begin + 1 : end + 1] - stops[begin], begin)
        counts[offsets[begin] : offsets[begin] + len(part)] = part
        offsets[begin + 1 : end + 1] = ends + offsets[begin]
    return counts[: offsets[-1]].copy() if 2 * offsets[-1] < len(counts) else counts[: offsets[-1]], offsets


def _all_ascii(texts):
    try:
        return all(map(str.isascii, texts))
    except TypeError:
        return False


def _ascii(text, r):
    try:
        return text.encode("ascii") if isinstance(text, str) else bytes(memoryview(text))
    except UnicodeEncodeError:
        raise ValueRangeError(f"RLE string {r} has a character outside of ASCII") from None
    except TypeError as error:
        raise DtypeError(f"RLE string {r} must be str or bytes", got=type(text).__name__) from error


def _bytes(text):
    return text.encode("ascii") if isinstance(text, str) else text


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
    """The signed numbers as written; last holds the index of each one's last group.

    From the last group to the first, each number is 32 times what follows plus its group. All characters do that at
    once and look at their neighbour, as many times as the longest number has groups but one; reading only the last
    group as signed gives the number its sign.
    """
    most = int(np.diff(last, prepend=-1).max(initial=1))
    if most > _MAX_GROUPS:
        n_group = np.diff(last, prepend=-1)
        bad = np.flatnonzero(n_group > _MAX_GROUPS)[0]
        r = begin + int(np.searchsorted(offsets, bad, side="right")) - 1
        raise ValueRangeError(f"RLE string {r} has a number that is too long", got=f"{n_group[bad]} characters")
    dtype = np.int64 if most == _MAX_GROUPS else np.int32
    more = group >= _MORE
    signed = (group & np.uint8(_MORE - 1)).view(np.int8)
    signed -= ((group & np.uint8(_MORE | _SIGN)) == _SIGN).view(np.int8) << np.int8(5)
    signed = signed.astype(dtype)
    if most == 1:
        return signed
    follows = -more[:-1].astype(dtype)  # all bits where another group follows
    value, rest = signed.copy(), np.empty_like(follows)
    for _ in range(1, most):
        np.left_shift(value[1:], 5, out=rest)
        rest &= follows
        np.add(signed[:-1], rest, out=value[:-1])
    first = np.empty_like(more)
    first[:1], first[1:] = True, ~more[:-1]
    return value[first]


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
