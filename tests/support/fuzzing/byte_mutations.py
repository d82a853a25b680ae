"""Changes that need to know nothing of a file, and those that know lines and numbers of a text."""

import random
import re

MOST = 1 << 18  # bytes of a case
NUMBERS = (0, 1, 2, 3, 7, 8, 31, 32, 33, 127, 128, 255, 256, 32767, 65535, 65536, 1 << 20, (1 << 31) - 1, 1 << 31)
NUMBERS += ((1 << 32) - 1, 1 << 32, 1 << 40, 1 << 48, (1 << 61) - 1, 1 << 62, (1 << 63) - 1, 1 << 63, (1 << 64) - 1)
WORDS = ("nan", "inf", "-inf", "-1", "-0", "1e999", "1e-999", "0x10", "1_0", "٣", "", " ", "\0", "\ufeff", "\x1b[31m")
WORDS += ("9" * 400, "9" * 5000, "a" * 5000, "../../x", "/dev/zero", "é", "\ud7ff", "None", "true", "[", "{", "<", '"')
_NUMBER = re.compile(rb"-?\d+(?:\.\d*)?(?:[eE][+-]?\d+)?")


def flip_bits(rng: random.Random, data: bytes) -> bytes:
    """A few bits are turned."""
    if not data:
        return data
    changed = bytearray(data)
    for _ in range(rng.choice((1, 1, 2, 4, 16))):
        changed[rng.randrange(len(changed))] ^= 1 << rng.randrange(8)
    return bytes(changed)


def set_bytes(rng: random.Random, data: bytes) -> bytes:
    """A byte, or a few, become another."""
    if not data:
        return data
    at = rng.randrange(len(data))
    n = rng.choice((1, 1, 1, 2, 4, 8))
    return data[:at] + bytes(rng.choice((0, 1, 127, 128, 255, rng.randrange(256))) for _ in range(n)) + data[at + n :]


def set_number(rng: random.Random, data: bytes) -> bytes:
    """A whole number of 1 to 8 bytes at some place becomes one near a border."""
    n = rng.choice((1, 2, 4, 4, 8, 8))
    if len(data) < n:
        return data
    at = rng.randrange(len(data) - n + 1)
    number = (rng.choice(NUMBERS) + rng.choice((-1, 0, 0, 1))) % (1 << 8 * n)
    return data[:at] + number.to_bytes(n, rng.choice(("little", "little", "big"))) + data[at + n :]


def cut(rng: random.Random, data: bytes) -> bytes:
    """The end, or a piece, is missing."""
    if not data:
        return data
    begin = rng.randrange(len(data))
    return data[:begin] + (b"" if rng.random() < 0.5 else data[rng.randrange(begin, len(data)) :])


def repeat(rng: random.Random, data: bytes) -> bytes:
    """A piece comes again, perhaps very often."""
    if not data:
        return data
    begin = rng.randrange(len(data))
    piece = data[begin : begin + rng.choice((1, 2, 4, 8, 16, 64, 256))]
    times = min(rng.choice((1, 2, 10, 100, 1000, 20_000)), max(1, (MOST - len(data)) // len(piece)))
    return data[:begin] + piece * times + data[begin:]


def swap(rng: random.Random, data: bytes) -> bytes:
    """Two pieces change places."""
    if len(data) < 4:
        return data
    a, b, c, d = sorted(rng.randrange(len(data) + 1) for _ in range(4))
    return data[:a] + data[c:d] + data[b:c] + data[a:b] + data[d:]


def text_number(rng: random.Random, data: bytes) -> bytes:
    """A number that is written in digits becomes another, or none."""
    found = list(_NUMBER.finditer(data[: 1 << 16]))
    if not found:
        return data
    match = rng.choice(found)
    new = rng.choice((str(rng.choice(NUMBERS)), str(-rng.choice(NUMBERS)), rng.choice(WORDS), f"{rng.random():.3f}"))
    return data[: match.start()] + new.encode() + data[match.end() :]


def word(rng: random.Random, data: bytes) -> bytes:
    """A strange word stands somewhere."""
    at = rng.randrange(len(data) + 1)
    return data[:at] + rng.choice(WORDS).encode() + data[at:]


def lines(rng: random.Random, data: bytes) -> bytes:
    """Lines come twice, not at all, often, or in another order."""
    parts = data.split(b"\n")
    at = rng.randrange(len(parts))
    deed = rng.randrange(4)
    if deed == 0:
        del parts[at]
    elif deed == 1:
        parts.insert(rng.randrange(len(parts) + 1), parts[at])
    elif deed == 2:
        rng.shuffle(parts)
    else:
        times = min(rng.choice((10, 100, 10_000)), max(1, (MOST - len(data)) // (len(parts[at]) + 1)))
        parts[at:at] = [parts[at]] * times
    return b"\n".join(parts)


BYTES = (flip_bits, set_bytes, set_number, cut, repeat, swap)
TEXT = (flip_bits, cut, repeat, text_number, text_number, word, lines, lines)
