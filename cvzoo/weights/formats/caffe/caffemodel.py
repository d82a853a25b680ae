"""Reads a `.caffemodel`: every message becomes a dict by field name, as in `prototxt.read_prototxt` for text files.

Enumerations become their names, repeated fields lists, blobs arrays. Unknown fields are skipped.
"""

import os

from cvzoo.errors.exceptions import FileFormatError
from cvzoo.files.file_bytes import file_bytes
from cvzoo.weights.formats.caffe.blob import read_blob
from cvzoo.weights.formats.caffe.schema import BY_NUMBER, ENUMS, MESSAGES, Field
from cvzoo.weights.formats.caffe.wire import BYTES, FIXED32, FIXED64, VARINT, WireReader

MAX_BYTES = 2 << 30  # the format's own limit is 2 GiB
# forks have different field numbers for this layer's parameter, which is thus identified by the layer's type
_BY_TYPE = {"Upsample": "upsample_param", "Permute": "permute_param", "Normalize": "norm_param"}
_FORMS = {"float": ("<f", FIXED32), "double": ("<d", FIXED64)}


def read_caffemodel(path: str | os.PathLike) -> dict:
    """The NetParameter message in the file, with its blobs, as a dict.

    Raises FileFormatError, naming the layer if possible, if the file is damaged, truncated or not a network.
    """
    data = memoryview(file_bytes(path, limit=MAX_BYTES))
    wire = WireReader(data, os.path.basename(path))
    net = _message(wire, "NetParameter", 0, len(data), "")
    if not net.get("layer") and not net.get("layers"):
        raise FileFormatError(f"{path}: holds no layers, so it is no caffemodel")
    return net


def _message(wire: WireReader, message: str, begin: int, end: int, layer: str) -> dict:
    """The message's fields. `layer` is the name of the layer that the message belongs to, for errors."""
    fields = BY_NUMBER[message]
    values: dict = {}
    if message in ("LayerParameter", "V1LayerParameter"):
        layer = _layer_name(wire, message, begin, end)
    unknown: list[tuple[int, int]] = []
    try:
        for number, kind, value, at, after in wire.fields(begin, end):
            field = fields.get(number)
            if field is None:
                if kind == BYTES:
                    unknown.append((at, after))
                continue
            got = _values(wire, field, kind, value, at, after, layer)
            if field.repeated:
                values.setdefault(field.name, []).extend(got)
            elif field.kind in MESSAGES and field.name in values:
                values[field.name].update(got[0])  # protocol buffers merge repeated messages
            elif got:
                values[field.name] = got[-1]
    except FileFormatError as error:
        if layer and repr(layer) not in str(error):
            raise FileFormatError(f"{error} (in layer {layer!r})") from error
        raise
    name = _BY_TYPE.get(values.get("type", ""))
    if message == "LayerParameter" and name is not None and name not in values and len(unknown) == 1:
        values[name] = _message(wire, MESSAGES[message][name].kind, *unknown[0], layer)
    return values


def _layer_name(wire: WireReader, message: str, begin: int, end: int) -> str:
    number = MESSAGES[message]["name"].number
    for field_number, kind, _, at, after in wire.fields(begin, end):
        if field_number == number and kind == BYTES:
            return wire.text(at, after)[:200]
    return "(without a name)"


def _values(wire: WireReader, field: Field, kind: int, value: int, at: int, after: int, layer: str) -> list:
    """The values of one field: several if it is packed."""
    if field.kind in MESSAGES or field.kind in ("string", "Blob"):
        if kind != BYTES:
            raise wire.error(at, f"{field.name} has wire type {kind}")
        if field.kind == "string":
            return [wire.text(at, after)]
        if field.kind == "Blob":
            return [read_blob(wire, at, after, layer)]
        return [_message(wire, field.kind, at, after, layer)]
    if field.kind in _FORMS:
        form, single = _FORMS[field.kind]
        size = 4 if single == FIXED32 else 8
        if kind == single:
            return [wire.unpack(form, at)]
        if kind == BYTES and (after - at) % size == 0:
            wire.spend((after - at) // size)
            return [wire.unpack(form, i) for i in range(at, after, size)]
        raise wire.error(at, f"{field.name} has wire type {kind}")
    if kind == VARINT:
        return [_integer(field, value)]
    if kind == BYTES:
        wire.spend(after - at)
        values = []
        while at < after:
            value, at = wire.varint(at, after)
            values.append(_integer(field, value))
        return values
    raise wire.error(at, f"{field.name} has wire type {kind}")


def _integer(field: Field, value: int) -> int | bool | str:
    if field.kind == "bool":
        return value != 0
    if field.kind in ENUMS:
        return ENUMS[field.kind].get(value, str(value))
    if field.kind == "uint32":
        return value & 0xFFFF_FFFF
    return value - (1 << 64) if value >= 1 << 63 else value
