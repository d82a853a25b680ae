"""Changes inside of binary files that keep their frame: zip archives, safetensors, protocol buffers, pickles."""

import io
import json
import pickletools
import random
import zipfile
from collections.abc import Callable, Sequence

from fuzzing.byte_mutations import MOST, NUMBERS
from fuzzing.target import Mutation
from fuzzing.tree_mutations import change_json

Fields = list[tuple[int, int, object]]  # number, wire type, payload: a number, bytes, or fields inside


def in_zip(inner: Sequence[Mutation]) -> Mutation:
    """A mutation of one entry of an archive; sometimes of its name, its number or its packing instead."""

    def mutate(rng: random.Random, data: bytes) -> bytes:
        try:
            with zipfile.ZipFile(io.BytesIO(data)) as archive:
                entries = [(info.filename, archive.read(info)) for info in archive.infolist()]
        except Exception:  # whatever the standard module says of a damaged archive
            return data
        if not entries:
            return data
        at = rng.randrange(len(entries))
        name, content = entries[at]
        deed = rng.randrange(8)
        if deed == 0:
            entries.append(("new" + name, content))
        elif deed == 1:
            entries[at] = (rng.choice(("../x", "/x", "a" * 300, "é.npy", "x/" * 50 + "y")), content)
        else:
            entries[at] = (name, rng.choice(inner)(rng, content))
        file = io.BytesIO()
        kind = rng.choice((zipfile.ZIP_STORED, zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED, zipfile.ZIP_BZIP2))
        with zipfile.ZipFile(file, "w", kind) as archive:
            for each, inside in dict(entries).items():
                archive.writestr(each, inside)
        return file.getvalue()

    return mutate


def safetensors_header(rng: random.Random, data: bytes) -> bytes:
    """The header is changed as JSON; its length is right again."""
    n = int.from_bytes(data[:8], "little")
    try:
        header = json.dumps(change_json(rng, json.loads(data[8 : 8 + n]))).encode()
    except (ValueError, RecursionError):
        return data
    return len(header).to_bytes(8, "little") + header + data[8 + n :]


def _varint(data: bytes, at: int) -> tuple[int, int]:
    value = shift = 0
    while True:
        byte = data[at]
        value |= (byte & 0x7F) << shift
        at, shift = at + 1, shift + 7
        if byte < 0x80:
            return value, at


def _as_varint(value: int) -> bytes:
    value &= (1 << 64) - 1
    found = bytearray()
    while value > 0x7F:
        found.append(value & 0x7F | 0x80)
        value >>= 7
    return bytes((*found, value))


def _fields(data: bytes, depth: int = 0) -> Fields:
    """The fields of a message. Raises IndexError or ValueError if it is none."""
    found: Fields = []
    at = 0
    while at < len(data):
        tag, at = _varint(data, at)
        kind = tag & 7
        if kind == 0:
            value, at = _varint(data, at)
            found.append((tag >> 3, 0, value))
            continue
        n = {1: 8, 5: 4}.get(kind)
        if n is None:
            if kind != 2:
                raise ValueError("no message")
            n, at = _varint(data, at)
        if tag < 8 or at + n > len(data):
            raise ValueError("no message")
        payload: object = data[at : at + n]
        if kind == 2 and depth < 6 and n:
            try:
                payload = _fields(data[at : at + n], depth + 1)
            except (IndexError, ValueError):
                pass
        found.append((tag >> 3, kind, payload))
        at += n
    return found


def _as_bytes(fields: Fields) -> bytes:
    parts = []
    for number, kind, payload in fields:
        parts.append(_as_varint(number << 3 | kind))
        if kind == 0:
            parts.append(_as_varint(payload))
            continue
        raw = _as_bytes(payload) if isinstance(payload, list) else payload
        parts.append((_as_varint(len(raw)) if kind == 2 else b"") + raw)
    return b"".join(parts)


def in_protobuf(inner: Sequence[Mutation]) -> Mutation:
    """A mutation of one field of a message, or of one inside of it; all lengths are right again."""

    def mutate(rng: random.Random, data: bytes) -> bytes:
        try:
            top = _fields(data)
        except (IndexError, ValueError):
            return data
        owners, todo = [], [top]
        while todo:
            owner = todo.pop()
            owners += [owner] * len(owner)
            todo += [payload for _, _, payload in owner if isinstance(payload, list)]
        if not owners:
            return data
        owner = rng.choice(owners)
        at = rng.randrange(len(owner))
        number, kind, payload = owner[at]
        deed = rng.randrange(5)
        if deed == 0:
            del owner[at]
        elif deed == 1:
            n = max(1, len(_as_bytes([owner[at]])))
            owner[at:at] = [owner[at]] * min(rng.choice((1, 3, 300, 30_000)), max(1, MOST // n))
        elif deed == 2:
            owner[at] = (rng.choice((number, rng.randrange(1, 150))), kind, payload)
        elif kind == 0:
            owner[at] = (number, 0, rng.choice(NUMBERS))
        else:
            raw = _as_bytes(payload) if isinstance(payload, list) else payload
            raw = rng.choice(inner)(rng, raw)
            owner[at] = (number, kind, raw if kind == 2 else raw[: len(payload)].ljust(len(payload), b"\0"))
        return _as_bytes(top)

    return mutate


# what a hostile pickle is made of: recalled values, calls, globals, collections, large declared sizes
_PIECES = (b"h\x00", b"h\x01", b"h\x02", b"q\x01", b"R", b"\x81", b"b", b"(", b"t", b"]", b"}", b"e", b"u", b"s", b"0")
_PIECES += (b"\x85", b"\x86", b"\x87", b"N", b"K\x07", b"2", b"1", b"\x94", b"a", b"d", b"l", b"o", b"Q", b")", b".")
_PIECES += (b"ccollections\nOrderedDict\n", b"ctorch\nSize\n", b"ctorch._utils\n_rebuild_tensor_v2\n", b"cos\nsystem\n")
_PIECES += (b"ctorch._tensor\n_rebuild_from_type_v2\n", b"cnumpy\ndtype\n", b"cnumpy.core.multiarray\n_reconstruct\n")
_PIECES += (
    b"cnumpy.core.multiarray\nscalar\n",
    b"c_codecs\nencode\n",
    b"c__builtin__\nset\n",
    b"ctorch\nFloatStorage\n",
)
_PIECES += (
    b"X\x03\x00\x00\x00abc",
    b"\x8a\x08\xff\xff\xff\xff\xff\xff\xff\x1f",
    b"h\x01h\x02\x85R",
    b"h\x01h\x02\x85R0",
)
_PIECES += (
    b"\x8e\xff\xff\xff\xff\xff\xff\xff\x7f",
    b"I01\n",
    b"F1e999\n",
    b"\x8b\xff\xff\xff\x7f",
    b"G\x7f\xf8\0\0\0\0\0\0",
)


def pickle_codes(rng: random.Random, data: bytes) -> bytes:
    """Codes of a pickle come often, not at all, elsewhere, or are joined by hostile ones."""
    places = []
    try:
        places.extend(position for _, _, position in pickletools.genops(data))
    except Exception:  # whatever the standard module says of a damaged pickle; what it could read is enough
        pass
    if len(places) < 2:
        return data
    i = rng.randrange(len(places) - 1)
    k = min(len(places) - 1, i + rng.choice((1, 1, 2, 3, 8)))
    begin, end = places[i], places[k]
    deed = rng.randrange(4)
    if deed == 0:
        return data[:begin] + data[end:]
    if deed == 1:
        piece = data[begin:end]
        times = min(rng.choice((1, 2, 20, 5000)), max(1, MOST // max(1, len(piece))))
        return data[:begin] + piece * times + data[begin:]
    if deed == 2:
        piece = b"".join(rng.choice(_PIECES) for _ in range(rng.choice((1, 2, 4))))
        return data[:begin] + piece * rng.choice((1, 1, 1, 50, 5000)) + data[begin:]
    return data[:begin] + rng.choice(_PIECES) + data[end:]


def behind(n: Callable[[bytes], int], inner: Sequence[Mutation]) -> Mutation:
    """A mutation of what lies behind the first n(data) bytes."""

    def mutate(rng: random.Random, data: bytes) -> bytes:
        at = n(data)
        return data[:at] + rng.choice(inner)(rng, data[at:])

    return mutate
