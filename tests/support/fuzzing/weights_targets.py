"""Readers of weights."""

import collections
import io
import pathlib
import pickle
import struct
import zipfile
from collections.abc import Sequence

import numpy as np

from cvzoo.errors.exceptions import CvzooError
from cvzoo.links.model.darknet.detector import DarknetDetector
from cvzoo.weights.formats.caffe.net import read_caffe
from cvzoo.weights.formats.caffe.prototxt import read_prototxt
from cvzoo.weights.formats.darknet import DarknetWeightsFile, read_darknet_cfg
from cvzoo.weights.formats.detectron2_pickle import read_detectron2
from cvzoo.weights.formats.mxnet_params import read_mxnet_params
from cvzoo.weights.formats.npz import read_npz
from cvzoo.weights.formats.safetensors import read_safetensors, read_safetensors_metadata
from cvzoo.weights.formats.torch_pickle import read_torch
from cvzoo.weights.model_header import read_model_header
from cvzoo.weights.protobuf import bytes_field, float_field, int_field, text_field, varint
from cvzoo.weights.sniff import read_arrays, sniff
from fuzzing.byte_mutations import BYTES, TEXT
from fuzzing.file_mutations import behind, in_protobuf, in_zip, pickle_codes, safetensors_header
from fuzzing.target import MB, Target, reads

X = np.arange(12, dtype="f4").reshape(3, 4)
ARRAYS = {"conv.weight": X, "conv.bias": X[:, 0].copy(), "count": np.array(3), "flags": np.array([True, False])}
UNFOLDED = 1200 * MB  # a small archive may honestly unfold to a gigabyte


def _npz() -> Sequence[bytes]:
    files = []
    for save in (np.savez, np.savez_compressed):
        file = io.BytesIO()
        save(file, **ARRAYS, text=np.array(["ab", "c"]), turned=X.T, big=X.astype(">f8"), empty=np.zeros((0, 3)))
        files.append(file.getvalue())
    return files


def _npz_bombs() -> Sequence[bytes]:
    files = []
    for descr, shape in (("|S0", (3 * 10**9,)), ("|S0", (10**12,)), ("<U0", (2**40, 0)), ("<f4", (2**40,) * 3 + (0,))):
        header = f"{{'descr': '{descr}', 'fortran_order': False, 'shape': {shape}, }}".encode()
        file = io.BytesIO()
        with zipfile.ZipFile(file, "w") as archive:
            archive.writestr("x.npy", b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) + header)
        files.append(file.getvalue())
    return files


def _safetensors() -> Sequence[bytes]:
    header = (
        b'{"__metadata__":{"a":"b"},"x":{"dtype":"F32","shape":[3,4],"data_offsets":[0,48]},'
        b'"y":{"dtype":"BF16","shape":[2],"data_offsets":[48,52]},"z":{"dtype":"BOOL","shape":[0],"data_offsets":[52,52]}}'
    )
    model = header.replace(
        b'"a":"b"',
        b'"cvzoo_model":"{\\"version\\":1,\\"architecture\\":\\"N\\",\\"settings\\":{},\\"label_names\\":[\\"a\\"]}"',
    )
    return [len(each).to_bytes(8, "little") + each + X.tobytes() + bytes(4) for each in (header, model)]


def _torch_pickle(protocol: int = 2) -> bytes:
    """A checkpoint of one tensor, as torch writes it, code for code."""
    storage = b"(X\x07\x00\x00\x00storageq\x03ctorch\nFloatStorage\nX\x01\x00\x00\x000X\x03\x00\x00\x00cpuK\x0ctQ"
    tensor = b"ctorch._utils\n_rebuild_tensor_v2\nq\x02(" + storage
    tensor += b"K\x00K\x03K\x04\x86K\x04K\x01\x86\x89ccollections\nOrderedDict\nq\x04)RtR"
    state = b"}q\x01(X\x0b\x00\x00\x00conv.weightq\x05" + tensor + b"X\x04\x00\x00\x00sizeq\x06ctorch\nSize\n(K\x03tR"
    state += b"X\x05\x00\x00\x00epochq\x07K\x05u"
    return bytes((0x80, protocol)) + b"}X\x0a\x00\x00\x00state_dict" + state + b"s."


def torch_zip(pickled: bytes, packing: int = zipfile.ZIP_STORED) -> bytes:
    """A torch file with this pickle."""
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", packing) as archive:
        archive.writestr("archive/data.pkl", pickled)
        archive.writestr("archive/byteorder", b"little")
        archive.writestr("archive/data/0", X.tobytes())
        archive.writestr("archive/version", b"3\n")
    return file.getvalue()


def _torch_legacy() -> bytes:
    system = {"protocol_version": 1001, "little_endian": True, "type_sizes": {"short": 2, "int": 4, "long": 4}}
    head = [pickle.dumps(each, 2) for each in (0x1950A86A20F9469CFC6C, 1001, system)]
    body = _torch_pickle().replace(b"cpuK\x0ctQ", b"cpuK\x0cNtQ")
    return b"".join([*head, body, pickle.dumps(["0"], 2), struct.pack("<q", 12), X.tobytes()])


def _recalls(module: bytes, name: bytes, argument: object, call: bytes, times: int) -> bytes:
    """A pickle that calls something with one large recalled argument, again and again."""
    stored = pickle.dumps(argument, 2)[2:-1].replace(b"q\x00", b"q\xff", 1)
    return b"\x80\x02" + stored + b"q\x010c" + module + b"\n" + name + b"\nq\x020]" + call * times + b"."


def pickle_bombs() -> Sequence[bytes]:
    """Pickles that ask for much memory or time, for readers of torch's and detectron2's files."""
    nones, pairs = [None] * 200_000, [(i, None) for i in range(30_000)]
    kept, dropped = b"h\x01\x85Ra", b"h\x01\x85R0"
    keys = b"\x80\x02}(" + b"".join(
        b"\x8a\x0a" + (i * (2**61 - 1)).to_bytes(10, "little", signed=True) + b"N" for i in range(1, 30_000)
    )
    return [
        _recalls(b"torch", b"Size", nones, b"h\x02" + kept, 5000),
        _recalls(b"torch", b"Size", nones, b"h\x02" + dropped, 50_000),
        _recalls(b"collections", b"OrderedDict", pairs, b"h\x02" + dropped, 50_000),
        keys + b"u.",
        b"\x80\x02" + b"]" * 100_000 + b".",
        b"\x80\x02" + b"(" * 100_000 + b".",
        b"\x80\x02)" + b"\x85" * 100_000 + b".",
    ]


def _detectron2() -> Sequence[bytes]:
    models = ({"model": ARRAYS}, {"blobs": collections.OrderedDict(w=X.astype(">f4"), t=X.T), "cfg": "text"})
    return [pickle.dumps(model, protocol) for model in models for protocol in (2, 4)]


def _mxnet() -> Sequence[bytes]:
    files = []
    for version in (0, 0xF993FAC8, 0xF993FAC9, 0xF993FACA):
        head = struct.pack("<Iii", version, 0, 2) if version > 0xF993FAC8 else struct.pack("<I", 2)
        head = struct.pack("<Ii", version, 2) if version == 0xF993FAC8 else head
        array = head + struct.pack("<2q" if version else "<2I", 3, 4) + struct.pack("<iii", 1, 0, 0) + X.tobytes()
        names = b"".join(struct.pack("<Q", len(name)) + name for name in (b"arg:w", b"aux:m"))
        files.append(struct.pack("<QQQ", 0x112, 0, 2) + array * 2 + struct.pack("<Q", 2) + names)
    return files


def _caffemodel() -> Sequence[bytes]:
    dims = bytes_field(7, bytes_field(1, varint(3) + varint(4)))
    packed = bytes_field(7, dims + bytes_field(5, X.tobytes()))
    single = bytes_field(6, b"".join(float_field(5, float(x)) for x in X.flat) + int_field(1, 1) + int_field(4, 12))
    convolution = bytes_field(106, int_field(1, 3) + int_field(4, 1) + bytes_field(7, text_field(1, "xavier")))
    layer = text_field(1, "c") + text_field(2, "Convolution") + text_field(3, "data") + text_field(4, "c")
    old = text_field(4, "c") + int_field(5, 4) + single
    return [
        text_field(1, "net") + bytes_field(100, layer + convolution + packed),
        text_field(1, "old") + bytes_field(2, old),
    ]


def _caffemodel_bombs() -> Sequence[bytes]:
    return [
        bytes_field(100, bytes_field(5, bytes(2 * MB))),
        bytes_field(100, bytes_field(7, bytes_field(7, bytes_field(1, varint(0) + varint((1 << 63) - 1))))),
    ]


PROTOTXT = b"""name: "net" input: "data" input_dim: 1 input_dim: 3 input_dim: 8 input_dim: 8
layer { name: "c" type: "Convolution" bottom: 'data' top: "c" # first
  convolution_param { num_output: 3 kernel_size: [3, 3] pad: 1 weight_filler { type: "xavier" } }
  include { phase: TEST } }
layer < name: "r" "elu" type: "ReLU" bottom: "c" top: "c" relu_param { negative_slope: 1e-1 }
  odd { a: 1 a: 2 b: -inf } >
"""
CFG = b"""[net]
width=32
height=32
channels=3
[convolutional]
batch_normalize=1
filters=8
size=3
stride=2
pad=1
activation=leaky
[maxpool]
size=2
stride=2
[shortcut]
from=-1
activation=linear
[route]
layers=-1,-3
[upsample]
stride=2
[convolutional]
filters=21
size=1
activation=linear
[yolo]
mask=0,1,2
anchors=1,2, 3,4, 5,6
classes=2
num=3
"""


def _prototxt_bombs() -> Sequence[bytes]:
    return [
        b"a: 1\n" * 160_000,
        b"a: " + b"'b' " * 500_000,
        b'a: "' + b"\\n" * 300_000,
        b"a: {" * 100_000,
        b"a " * 300_000,
    ]


def _cfg_bombs() -> Sequence[bytes]:
    layer = b"[convolutional]\nfilters=65536\nsize=1\nactivation=linear\n"
    norm = b"[convolutional]\nfilters=65536\nsize=1\nbatch_normalize=1\ngroups=%d\nactivation=linear\n"
    return [
        b"[net]\n" + b"[a]\n" * 200_000,
        CFG + layer * 100,
        CFG + norm % 7 + norm % 65536 * 5000,
        b"a=b\n" * 200_000,
    ]


def _run_caffe(folder: pathlib.Path, data: bytes) -> None:
    path = folder / "net.caffemodel"
    path.write_bytes(data)
    (folder / "net.prototxt").write_bytes(PROTOTXT)
    for prototxt in (None, folder / "net.prototxt"):
        try:
            read_caffe(path, prototxt)
        except CvzooError:
            continue


def _read_darknet(path: pathlib.Path) -> None:
    with DarknetWeightsFile(path) as file:
        file.take(4, "a")
        file.take((1 << 20, 1 << 20), "b")


def _darknet_weights() -> Sequence[bytes]:
    return [struct.pack("<3iQ", 0, 2, 5, 1) + bytes(64), struct.pack("<4i", 0, 1, 0, 1) + bytes(16)]


PICKLES = (pickle_codes, pickle_codes, pickle_codes, *BYTES)
_LEGACY_HEAD = len(_torch_legacy()) - len(_torch_pickle()) - 100
_SNIFFED = (_npz, _safetensors, _detectron2, _mxnet, _caffemodel, _darknet_weights)

TARGETS = (
    Target(
        name="npz",
        seeds=_npz,
        bombs=_npz_bombs,
        run=reads("a.npz", read_npz, read_arrays),
        mutations=(in_zip((*TEXT, *BYTES)), in_zip(BYTES), *BYTES),
        ending=".npz",
        memory=UNFOLDED,
    ),
    Target(
        name="safetensors",
        seeds=_safetensors,
        run=reads("a.safetensors", read_safetensors, read_safetensors_metadata, read_model_header),
        mutations=(safetensors_header, safetensors_header, behind(lambda data: 8, TEXT), *BYTES),
        ending=".safetensors",
    ),
    Target(
        name="torch-zip",
        seeds=lambda: [torch_zip(_torch_pickle(n), packing) for n in (2, 4) for packing in (0, 8)],
        bombs=lambda: [torch_zip(each, zipfile.ZIP_DEFLATED) for each in pickle_bombs()],
        run=reads("a.pth", read_torch),
        mutations=(in_zip(PICKLES), in_zip(PICKLES), in_zip(PICKLES), *BYTES),
        ending=".pth",
        memory=UNFOLDED,
    ),
    Target(
        name="torch-legacy",
        seeds=lambda: [_torch_legacy()],
        run=reads("a.pth", read_torch),
        mutations=(behind(lambda data: min(_LEGACY_HEAD, len(data)), PICKLES), pickle_codes, *BYTES),
        ending=".pth",
        memory=512 * MB,
    ),
    Target(
        name="detectron2",
        seeds=_detectron2,
        bombs=pickle_bombs,
        run=reads("a.pkl", read_detectron2),
        mutations=PICKLES,
        ending=".pkl",
        memory=512 * MB,
    ),
    Target(
        name="mxnet",
        seeds=_mxnet,
        bombs=lambda: [struct.pack("<QQQ", 0x112, 0, 1 << 18) + struct.pack("<I", 0) * (1 << 18) + bytes(8 << 18)],
        run=reads("a.params", read_mxnet_params),
        mutations=BYTES,
        ending=".params",
    ),
    Target(
        name="caffemodel",
        seeds=_caffemodel,
        bombs=_caffemodel_bombs,
        run=_run_caffe,
        mutations=(in_protobuf(BYTES), in_protobuf(BYTES), in_protobuf(BYTES), *BYTES),
        ending=".caffemodel",
    ),
    Target(
        name="prototxt",
        seeds=lambda: [PROTOTXT],
        bombs=_prototxt_bombs,
        run=reads("a.prototxt", read_prototxt, lambda path: read_caffe(None, path)),
        mutations=TEXT,
        ending=".prototxt",
        seconds_per_mb=4.0,
    ),
    Target(
        name="darknet-cfg",
        seeds=lambda: [CFG],
        bombs=_cfg_bombs,
        run=reads("a.cfg", read_darknet_cfg, DarknetDetector),
        mutations=TEXT,
        ending=".cfg",
        memory=1500 * MB,  # of the numbers that a network may have
        seconds=8.0,  # random numbers for its layers
    ),
    Target(
        name="darknet-weights",
        seeds=_darknet_weights,
        run=reads("a.weights", _read_darknet),
        mutations=BYTES,
        ending=".weights",
    ),
    Target(
        name="sniff",
        seeds=lambda: [each for make in _SNIFFED for each in make()],
        run=reads("a", sniff, read_arrays),
        mutations=BYTES,
        memory=UNFOLDED,
    ),
)
