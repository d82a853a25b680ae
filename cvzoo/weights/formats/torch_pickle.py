"""Torch's `.pth`, `.pt`, `.th` files, zip (since 1.6) and legacy, read without torch and without executing code.

Source: torch/serialization.py (the layout of both kinds). We differ: the pickle inside is read by a restricted machine
that supports only tensors and plain values; every size is checked against the file's; bfloat16 becomes float32.
"""

import dataclasses
import os
import struct
from collections.abc import Callable, Mapping
from typing import Any, BinaryIO

import numpy as np

from cvzoo.errors.exceptions import FileError, FileFormatError, WeightsMismatchError
from cvzoo.files.file_bytes import file_size
from cvzoo.files.zip_archive import ZipArchive
from cvzoo.weights.formats import torch_tensor as tt
from cvzoo.weights.formats.pickle_machine import Callee, Inert, PickleMachine, dict_of_pairs
from cvzoo.weights.magic_numbers import TORCH_MAGIC

LEGACY_PROTOCOL = 1001
MAX_PICKLE = 64 << 20  # of names and shapes, without the tensors' values
FREE_VALUES = 20_000  # that may be visited, in addition to one per byte of the file
# names of the state dict in checkpoints of training scripts, the most probable first
STATE_KEYS = ("state_dict", "model_state_dict", "model_state", "model", "net", "network", "params", "weights")


def _inert(*names: str) -> dict[tuple[str, str], Callee]:
    parts = ((name, name.rpartition(".")) for name in names)
    return {(module, attribute): Callee(name, Inert) for name, (module, _, attribute) in parts}


def _callee(module: str, name: str, build: Callable[..., object]) -> dict[tuple[str, str], Callee]:
    return {(module, name): Callee(f"{module}.{name}", build)}


TABLE: Mapping[tuple[str, str], object] = {
    **_callee("collections", "OrderedDict", dict_of_pairs),
    **_callee("collections", "defaultdict", lambda factory=None: {}),
    **_callee("builtins", "set", lambda items=(): items),
    **_callee("__builtin__", "set", lambda items=(): items),
    **_callee("torch", "Size", lambda items=(): tuple(items)),
    **_callee("torch._utils", "_rebuild_tensor", tt.rebuild_tensor),
    **_callee("torch._utils", "_rebuild_tensor_v2", tt.rebuild_tensor),
    **_callee("torch._utils", "_rebuild_tensor_v3", tt.rebuild_tensor_v3),
    **_callee("torch._utils", "_rebuild_parameter", tt.rebuild_parameter),
    **_callee("torch._utils", "_rebuild_parameter_with_state", tt.rebuild_parameter),
    **_callee("torch._tensor", "_rebuild_from_type_v2", tt.rebuild_from_type),
    **_callee("torch.nn.parameter", "Parameter", tt.rebuild_parameter),
    # other contents of checkpoints, which are never used
    **_inert("torch.device", "torch.torch_version.TorchVersion", "argparse.Namespace", "collections.Counter"),
    **_inert("pathlib.PosixPath", "pathlib.WindowsPath", "_codecs.encode", "numpy.dtype", "numpy.ndarray"),
    **_inert("pathlib._local.PosixPath", "pathlib._local.WindowsPath"),  # names since Python 3.13
    **_inert("numpy.core.multiarray.scalar", "numpy.core.multiarray._reconstruct"),
    **_inert("numpy._core.multiarray.scalar", "numpy._core.multiarray._reconstruct"),
    **_inert(
        *(f"{module}.{name}" for module in ("builtins", "__builtin__") for name in ("list", "dict", "int", "float"))
    ),
    **{("torch", name): tt.TorchDtype(dtype) for name, dtype in tt.STORAGES.items()},
    **{("torch.cuda", name): tt.TorchDtype(dtype) for name, dtype in tt.STORAGES.items()},
    **{("torch.storage", name): tt.TorchDtype(dtype) for name, dtype in tt.STORAGES.items()},
    **{("torch", name): tt.TorchDtype(name) for name in tt.DTYPES},
}


@dataclasses.dataclass
class _Content:
    """The contents of a file: the pickled value, and a reader of the bytes of each storage."""

    value: object
    read: Callable[[tt.TorchStorage, str], bytes]  # the second is the tensor's name, for errors
    big_endian: bool
    is_short: bool = False


def read_torch(path: str | os.PathLike, *, key: str | None = None, drop_prefix: str = "") -> dict[str, np.ndarray]:
    """The arrays of the state dict in a torch file, by name, in the file's order.

    key: name of the state dict in the file, such as "state_dict"; None searches for it
    drop_prefix: prefix to remove from names, such as "module."
    Returns contiguous arrays with their own memory in native byte order; bfloat16 becomes float32.
    Raises UnsafeFileError if the file contains anything but tensors and plain values; FileFormatError, naming the
    tensor if possible, if it is damaged; FileError if it contains no state dict or cannot be read.
    """
    size = file_size(path)
    where = os.path.basename(path)
    try:
        with open(path, "rb") as file:
            head = file.read(4)
            if head == b"PK\x03\x04":
                with ZipArchive(path) as archive:
                    return _arrays(_read_zip(archive, where), where, size, key, drop_prefix)
            if head[:1] != b"\x80":
                raise FileFormatError(f"{path}: neither a zip archive nor a pickle, so no torch file", got=head)
            file.seek(0)
            return _arrays(_read_legacy(file, where, size), where, size, key, drop_prefix)
    except OSError as error:
        raise FileError(f"{path}: cannot be read: {error}") from error


# the two file formats


def _storage(parts: object, where: str, *, may_be_view: bool) -> tt.TorchStorage:
    wrong = FileFormatError(f"{where}: a reference to a storage is damaged")
    if not isinstance(parts, tuple) or len(parts) not in (5, 6) or parts[0] != "storage":
        raise wrong
    _, dtype, key, _, n = parts[:5]
    if not isinstance(dtype, tt.TorchDtype) or not isinstance(key, str) or len(key) > 1000:
        raise wrong
    if type(n) is not int or not 0 <= n < 2**62:
        raise wrong
    if (
        len(parts) == 6 and parts[5] is not None and may_be_view
    ):  # a storage that is a part of another: (its key, start, length)
        view = parts[5]
        if not isinstance(view, tuple) or len(view) != 3 or not all(type(x) is int and x >= 0 for x in view[1:]):
            raise wrong
        if view[1] + view[2] > n:
            raise wrong
        return tt.TorchStorage(key, dtype, view[2], view[1])
    return tt.TorchStorage(key, dtype, n)


def _read_zip(archive: ZipArchive, where: str) -> _Content:
    roots = [name.removesuffix("data.pkl") for name in archive.names if name.endswith("/data.pkl")]
    if len(roots) != 1 or "/" in roots[0][:-1]:
        raise FileFormatError(f"{where}: a zip archive without a data.pkl of torch's", got=list(archive.names[:4]))
    root = roots[0]
    if any(name.startswith(f"{root}code/") for name in archive.names):
        raise FileFormatError(
            f"{where}: is a TorchScript program, not a state dict",
            hint="save model.state_dict() in the original environment",
        )
    order = archive.read(f"{root}byteorder", limit=16) if archive.size(f"{root}byteorder") is not None else b"little"
    if order not in (b"little", b"big"):
        raise FileFormatError(f"{where}: unknown byte order", got=order)
    machine = PickleMachine(
        archive.read(f"{root}data.pkl", limit=MAX_PICKLE),
        table=TABLE,
        load_persistent=lambda parts: _storage(parts, where, may_be_view=False),
        where=where,
    )

    def read(storage: tt.TorchStorage, name: str) -> bytes:
        entry, want = f"{root}data/{storage.key}", storage.n * storage.dtype.itemsize
        have = archive.size(entry)
        if have is None or have < want:
            raise FileFormatError(
                f"{where}: the storage of {name!r} is truncated", expected=f"{want} bytes", got=f"{have or 0} bytes"
            )
        return archive.read(entry)

    return _Content(machine.load(), read, order == b"big")


def _read_legacy(file: BinaryIO, where: str, size: int) -> _Content:
    head = file.read(min(size, MAX_PICKLE))  # read allocates as many bytes as requested
    machine = PickleMachine(head, table=TABLE, where=where)
    if machine.load() != TORCH_MAGIC:
        raise FileFormatError(f"{where}: a pickle, but not one of torch's")
    if _next(head, machine, where) != LEGACY_PROTOCOL:
        raise FileFormatError(f"{where}: an unknown version of torch's format")
    machine = _machine(head, machine.position, where)
    system = machine.load()
    little = system.get("little_endian", True) if isinstance(system, dict) else None
    if not isinstance(little, bool):
        raise FileFormatError(f"{where}: its description of the machine is damaged")
    storages: dict[str, tt.TorchStorage] = {}

    def remember(parts: Any) -> tt.TorchStorage:
        storage = _storage(parts, where, may_be_view=True)
        storages.setdefault(storage.key, dataclasses.replace(storage, n=parts[4], start=0))
        return storage

    machine = PickleMachine(head, position=machine.position, table=TABLE, load_persistent=remember, where=where)
    value = machine.load()
    machine = _machine(head, machine.position, where)
    keys = machine.load()
    if not isinstance(keys, list) or not all(isinstance(key, str) for key in keys):
        raise FileFormatError(f"{where}: its list of storages is damaged")
    places: dict[str, int] = {}
    position = machine.position
    for key in keys:
        if key not in storages or key in places:
            raise FileFormatError(f"{where}: stores data that no tensor uses, or twice", got=key[:80])
        file.seek(position)
        raw = file.read(8)
        if len(raw) == 8 and struct.unpack("<q", raw)[0] != storages[key].n:
            raise FileFormatError(
                f"{where}: storage {key[:80]} has a different length from that of its tensors",
                expected=storages[key].n,
                got=struct.unpack("<q", raw)[0],
            )
        places[key] = position + 8
        position += 8 + storages[key].n * storages[key].dtype.itemsize
    if position < size:
        raise FileFormatError(f"{where}: {size - position} bytes too many at the end")

    def read(storage: tt.TorchStorage, name: str) -> bytes:
        start = places.get(storage.key)
        step, n = storage.dtype.itemsize, storage.n
        if storage.dtype != storages[storage.key].dtype:
            raise FileFormatError(f"{where}: the storage of {name!r} has two dtypes")
        if start is None or start + (storage.start + n) * step > size:
            raise FileFormatError(f"{where}: ends inside of the storage of {name!r}", hint="fetch the file again")
        file.seek(start + storage.start * step)
        return file.read(n * step)

    return _Content(value, read, not little, is_short=position > size)


def _machine(head: bytes, position: int, where: str) -> PickleMachine:
    return PickleMachine(head, position=position, table=TABLE, where=where)


def _next(head: bytes, machine: PickleMachine, where: str) -> object:
    following = _machine(head, machine.position, where)
    value = following.load()
    machine.position = following.position
    return value


# from the pickled value to named arrays


def _arrays(content: _Content, where: str, size: int, key: str | None, drop_prefix: str) -> dict[str, np.ndarray]:
    tensors = _named_tensors(_state_dict(content.value, where, key), where, size)
    if not tensors:
        raise FileError(f"{where}: holds no tensors that have names")
    budget = 16 * size + (64 << 20)  # tensors may share storages, but a small file must not exhaust memory
    for name, tensor in tensors.items():
        budget -= tt.check_tensor(tensor, name, where) * max(tensor.dtype.itemsize, 4)
        if budget < 0:
            raise FileFormatError(f"{where}: {name!r} expands to more than a file of {size} bytes can hold")
    arrays: dict[str, np.ndarray] = {}
    last: tuple[tt.TorchStorage, bytes] | None = None
    to_read = 16 * size + (64 << 20)
    for name, tensor in tensors.items():
        if last is None or last[0] != tensor.storage:  # consecutive tensors often share one
            last = tensor.storage, content.read(tensor.storage, name)
            to_read -= len(last[1])
            if to_read < 0:
                raise FileFormatError(f"{where}: its tensors share storages too often, first at {name!r}")
        plain = name.removeprefix(drop_prefix)
        if plain in arrays:
            raise WeightsMismatchError(f"{where}: without {drop_prefix!r} two tensors are called {plain!r}")
        arrays[plain] = tt.tensor_array(tensor, last[1], big_endian=content.big_endian)
    if content.is_short:  # even if all tensors are complete
        raise FileFormatError(f"{where}: its end is missing", hint="fetch the file again")
    return arrays


def _state_dict(value: object, where: str, key: str | None, depth: int = 0) -> dict:
    if not isinstance(value, dict):
        what = "a whole model" if isinstance(value, Inert) else type(value).__name__
        raise FileError(f"{where}: holds {what}, not a dict of tensors", hint="save model.state_dict()")
    if key is not None:
        if not isinstance(value.get(key), dict):
            names = [name[:40] for name in value if isinstance(name, str)]
            raise FileError(f"{where}: no dict under {key!r}", got=names[:8])
        return value[key]
    if any(isinstance(v, tt.TorchTensor) for v in value.values()):
        return value
    for known in STATE_KEYS:
        if isinstance(value.get(known), dict) and depth < 3:
            return _state_dict(value[known], where, None, depth + 1)
    return value


def _named_tensors(state: dict, where: str, size: int) -> dict[str, tt.TorchTensor]:
    """All tensors in the dict and in nested dicts and lists, with names joined by dots.

    size: of the file, which limits the number of visited values and the length of names, since dicts may be shared
    """
    tensors: dict[str, tt.TorchTensor] = {}
    todo: list[tuple[str, object, int]] = [("", state, 0)]
    left = size + FREE_VALUES
    while todo:
        prefix, value, depth = todo.pop()
        n = len(value) if isinstance(value, (dict, list, tuple)) else 0
        left -= (1 + n) * (1 + len(prefix) // 16)  # the prefix is part of n names
        if left < 0:
            raise FileFormatError(f"{where}: its dicts are nested in each other too often")
        if isinstance(value, tt.TorchTensor):
            if prefix in tensors:
                raise FileFormatError(f"{where}: two tensors are called {prefix!r}")
            tensors[prefix] = value
            continue
        if depth > 20:
            raise FileFormatError(f"{where}: dicts are nested more than 20 deep at {prefix[:80]!r}")
        if isinstance(value, dict):
            pairs = list(value.items())
        elif isinstance(value, (list, tuple)) and any(isinstance(v, (tt.TorchTensor, dict)) for v in value):
            pairs = list(enumerate(value))
        else:
            continue
        dot = f"{prefix}." if prefix else ""
        inner = (tt.TorchTensor, dict, list, tuple)
        todo += [(dot + _part(k, where), v, depth + 1) for k, v in reversed(pairs) if isinstance(v, inner)]
    return tensors


def _part(key: object, where: str) -> str:
    if isinstance(key, str) and len(key) <= 1000:
        return key
    if isinstance(key, int) and abs(key) < 2**63:
        return str(key)
    raise FileFormatError(f"{where}: a tensor's name is neither a short text nor a number")
