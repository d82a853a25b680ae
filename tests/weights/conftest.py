"""Files of every format, made by hand: no torch and no caffe are needed to test their readers."""

import collections
import io
import pickle
import struct
import sys
import types
import zipfile

import numpy as np
import pytest

STORAGES = {
    "f8": "DoubleStorage",
    "f4": "FloatStorage",
    "f2": "HalfStorage",
    "u2": "BFloat16Storage",
    "i8": "LongStorage",
    "i4": "IntStorage",
    "u1": "ByteStorage",
    "b1": "BoolStorage",
    "c8": "ComplexFloatStorage",
}


class Storage:
    """Stands in for torch's: `array` is written as it lies in memory; `view` is (key, start, length) or None."""

    def __init__(self, key, array, n=None, view=None):
        self.key, self.array, self.view = key, np.asarray(array), view
        self.n = self.array.size if n is None else n


class Tensor:
    """Stands in for torch's."""

    def __init__(self, storage, shape, stride, offset=0):
        self.args = storage, offset, shape, stride, False, collections.OrderedDict()

    def __reduce__(self):
        return sys.modules["torch._utils"]._rebuild_tensor_v2, self.args


class Pickler(pickle.Pickler):
    def persistent_id(self, value):
        if not isinstance(value, Storage):
            return None
        kind = sys.modules["torch"].__dict__[STORAGES[value.array.dtype.str[1:]]]
        parts = ("storage", kind, value.key, "cpu", value.n)
        return (*parts, value.view) if value.view is not None else parts


class TorchMaker:
    """Makes torch files; `tensor` makes a plain tensor of an array."""

    Storage, Tensor = Storage, Tensor

    def tensor(self, array, key):
        array = np.ascontiguousarray(array).reshape(np.shape(array))
        strides = tuple(s // array.itemsize for s in array.strides)
        return Tensor(Storage(key, array.reshape(-1)), array.shape, strides)

    def pickled(self, value, protocol=2):
        file = io.BytesIO()
        Pickler(file, protocol).dump(value)
        return file.getvalue()

    def storages(self, value):
        found, seen = {}, set()

        def walk(v):
            if isinstance(v, Tensor):
                found[v.args[0].key] = v.args[0]
            elif isinstance(v, (dict, list, tuple)) and id(v) not in seen:
                seen.add(id(v))
                for item in v.values() if isinstance(v, dict) else v:
                    walk(item)

        walk(value)
        return found

    def zip(self, value, *, protocol=2, order=b"little", extra=(), root="archive"):
        file = io.BytesIO()
        with zipfile.ZipFile(file, "w") as archive:
            archive.writestr(f"{root}/data.pkl", self.pickled(value, protocol))
            archive.writestr(f"{root}/byteorder", order)
            for key, storage in self.storages(value).items():
                archive.writestr(f"{root}/data/{key}", storage.array.tobytes())
            archive.writestr(f"{root}/version", b"3\n")
            for name, data in extra:
                archive.writestr(f"{root}/{name}", data)
        return file.getvalue()

    def legacy(self, value, *, little=True, magic=0x1950A86A20F9469CFC6C, protocol=1001, keys=None):
        storages = self.storages(value)
        keys = sorted(storages) if keys is None else keys
        system = {"protocol_version": 1001, "little_endian": little, "type_sizes": {"short": 2, "int": 4, "long": 4}}
        out = [self.pickled(v) for v in (magic, protocol, system, value, keys)]
        for key in keys:
            out += [struct.pack("<q", storages[key].n), storages[key].array.tobytes()]
        return b"".join(out)


@pytest.fixture
def torch_maker(monkeypatch):
    torch, inner = types.ModuleType("torch"), types.ModuleType("torch._utils")
    for name in STORAGES.values():
        torch.__dict__[name] = type(name, (), {"__module__": "torch"})

    def _rebuild_tensor_v2(*args):
        raise AssertionError("only its name is pickled")

    _rebuild_tensor_v2.__module__ = "torch._utils"
    _rebuild_tensor_v2.__qualname__ = "_rebuild_tensor_v2"
    inner._rebuild_tensor_v2 = _rebuild_tensor_v2
    monkeypatch.setitem(sys.modules, "torch", torch)
    monkeypatch.setitem(sys.modules, "torch._utils", inner)
    return TorchMaker()


class Proto:
    """Makes protocol-buffer messages."""

    @staticmethod
    def varint(value):
        value &= (1 << 64) - 1
        out = bytearray()
        while value >= 0x80:
            out.append(value & 0x7F | 0x80)
            value >>= 7
        return bytes(out) + bytes([value])

    def number(self, field, value):
        return self.varint(field << 3) + self.varint(value)

    def bytes(self, field, data):
        data = data.encode() if isinstance(data, str) else data
        return self.varint(field << 3 | 2) + self.varint(len(data)) + data

    def float(self, field, value):
        return self.varint(field << 3 | 5) + struct.pack("<f", value)

    def blob(self, array, how="packed"):
        array = np.asarray(array)
        flat = array.reshape(-1)
        if how == "unpacked":
            data = b"".join(self.float(5, x) for x in flat)
        elif how == "double":
            data = self.bytes(8, flat.astype("<f8").tobytes())
        elif how == "unpacked double":
            data = b"".join(self.varint(8 << 3 | 1) + struct.pack("<d", x) for x in flat)
        else:
            data = self.bytes(5, flat.astype("<f4").tobytes())
        if how == "legacy":
            shape = (1,) * (4 - array.ndim) + array.shape
            return b"".join(self.number(i + 1, n) for i, n in enumerate(shape)) + data
        return self.bytes(7, self.bytes(1, b"".join(self.varint(n) for n in array.shape))) + data


@pytest.fixture
def proto():
    return Proto()
