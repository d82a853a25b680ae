"""Recognition of weight files by their contents, and reading of named arrays from any of them."""

import os
from typing import TYPE_CHECKING

from cvzoo.errors.exceptions import FileError, FileFormatError, UnsupportedError
from cvzoo.files.file_bytes import file_size
from cvzoo.files.zip_archive import ZipArchive
from cvzoo.weights import formats
from cvzoo.weights.magic_numbers import MXNET_MAGIC, TORCH_MAGIC

if TYPE_CHECKING:
    import numpy as np

NPZ, TORCH, SAFETENSORS, CAFFEMODEL, DARKNET = "npz", "torch", "safetensors", "caffemodel", "darknet"
MXNET, DETECTRON2 = "mxnet", "detectron2"
HDF5, TAR, ONNX = "hdf5", "tar", "onnx"
_TORCH_START = TORCH_MAGIC.to_bytes(10, "little")
_TORCH_ENDINGS = (".pth", ".pt", ".th")
_MXNET_START = MXNET_MAGIC.to_bytes(8, "little") + bytes(8)


# extension -> kind of file
KINDS = {
    ".pth": TORCH,
    ".pt": TORCH,
    ".th": TORCH,
    ".npz": NPZ,
    ".zip": MXNET,
    ".params": MXNET,
    ".pkl": DETECTRON2,
    ".caffemodel": CAFFEMODEL,
    ".weights": DARKNET,
    ".safetensors": SAFETENSORS,
}


def sniff(path: str | os.PathLike, *, name: str | None = None) -> str | None:
    """The kind of file, by its first bytes: "npz", "torch", "safetensors", "caffemodel", "darknet", "mxnet" (also
    in a zip), "detectron2" (a pickle that is not torch's), or kinds that cvzoo recognizes but
    does not read ("hdf5", "tar", "onnx"); None if unknown.

    The extension, that of `name` or by default of the path, is used only for kinds with ambiguous first bytes.
    Raises FileError if it cannot be read.
    """
    size = file_size(path)
    try:
        with open(path, "rb") as file:
            head = file.read(512)
    except OSError as error:
        raise FileError(f"{path}: cannot be read: {error}") from error
    ending = os.path.splitext(path if name is None else name)[1].lower()
    if head[:4] == b"PK\x03\x04":
        with ZipArchive(path) as archive:
            if any(name.endswith("/data.pkl") for name in archive.names):
                return TORCH
            return MXNET if any(name.endswith(".params") for name in archive.names) else NPZ
    if head[:4] == b"PK\x05\x06":
        return NPZ  # an archive without entries
    if head[:1] == b"\x80" and len(head) > 1 and head[1] <= 5:
        # torch's begins with a magic number of ten bytes; it is torch's, too, if only that is damaged, by its extension
        is_torch = _TORCH_START in head[:32] or ending in _TORCH_ENDINGS
        return TORCH if is_torch else DETECTRON2
    if head[:16] == _MXNET_START:
        return MXNET
    if head[:8] == b"\x89HDF\r\n\x1a\n":
        return HDF5
    if head[257:262] == b"ustar":
        return TAR
    # one that was cut within its header is told so by its reader
    is_whole = int.from_bytes(head[:8], "little") <= size - 8
    if len(head) > 8 and head[8:9] == b"{" and (is_whole or ending == ".safetensors"):
        return SAFETENSORS
    if len(head) >= 16 and _is_darknet(head) and (size % 4 == 0 or ending == ".weights"):
        return DARKNET
    if ending == ".onnx":
        return ONNX
    # a network begins with its name (field 1), an old layer (2), an input (3) or a new layer (100)
    if head[:1] in (b"\x0a", b"\x12", b"\x1a") or head[:2] == b"\xa2\x06":
        return CAFFEMODEL
    return None


def _is_darknet(head: bytes) -> bool:
    major, minor, revision = (int.from_bytes(head[i : i + 4], "little", signed=True) for i in (0, 4, 8))
    return major in (0, 1) and 0 <= minor <= 10 and 0 <= revision <= 100


def read_arrays(path: str | os.PathLike, *, name: str | None = None) -> "dict[str, np.ndarray]":
    """The arrays in a file of any kind by name: `.npz`, `.safetensors`, torch, `.caffemodel`, MXNet's `.params` (also
    zipped), detectron2's `.pkl`.

    name: whose extension is used, by default the path's
    A caffemodel's blobs are called "layer/0", "layer/1" and so on; MXNet's names are without "arg:" and "aux:".
    Raises UnsupportedError for kinds without names or that cvzoo does not read; FileFormatError if it is damaged or of
    unknown kind.
    """
    kind = sniff(path, name=name)
    if kind == NPZ:
        return formats.read_npz(path)
    if kind == TORCH:
        return formats.read_torch(path)
    if kind == MXNET:
        return formats.read_mxnet_params(path)
    if kind == DETECTRON2:
        return formats.read_detectron2(path)
    if kind == SAFETENSORS:
        return formats.read_safetensors(path)
    if kind == CAFFEMODEL:
        layers = formats.read_caffe(path).layers
        return {f"{layer.name}/{i}": blob for layer in layers for i, blob in enumerate(layer.blobs)}
    if kind == DARKNET:
        raise UnsupportedError(
            f"{path}: darknet weights have no names", hint="their .cfg is needed: cvzoo.links.DarknetDetector"
        )
    if kind is not None:
        raise UnsupportedError(f"{path}: {kind} files are not read", hint="convert it to .safetensors or .npz")
    raise FileFormatError(
        f"{path}: not a weight file of a known kind, or damaged at its beginning", got=f"{file_size(path)} bytes"
    )
