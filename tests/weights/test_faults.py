"""Every reader against files that are cut off or damaged: a WeightsError or a result, never anything else."""

import contextlib
import io
import tracemalloc
import zipfile

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from cvzoo.errors.exceptions import UnsupportedError, WeightsError
from cvzoo.weights.formats.caffe.caffemodel import read_caffemodel
from cvzoo.weights.formats.caffe.net import read_caffe
from cvzoo.weights.formats.darknet import DarknetWeightsFile
from cvzoo.weights.formats.npz import read_npz, write_npz
from cvzoo.weights.formats.safetensors import read_safetensors, write_safetensors
from cvzoo.weights.formats.torch_pickle import read_torch
from cvzoo.weights.sniff import read_arrays

X = np.arange(12, dtype="f4").reshape(3, 4)


def read_darknet(path):
    with DarknetWeightsFile(path) as file:
        file.take(4, "a")
        file.take((3, 4), "b")
        file.expect_end()


def take_all(path):
    with DarknetWeightsFile(path) as file:
        file.take((1 << 20, 1 << 20), "a")


def deflated(data):
    file = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(data)) as old, zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as new:
        for info in old.infolist():
            new.writestr(info.filename, old.read(info))
    return file.getvalue()


@pytest.fixture
def samples(torch_maker, proto, tmp_path):
    """kind -> (reader, bytes of a good file)"""
    state = {"conv.weight": torch_maker.tensor(X, "0"), "n": torch_maker.tensor(np.array(3), "1")}
    checkpoint = {"epoch": 3, "state_dict": state}
    write_npz(tmp_path / "npz", {"x": X, "y": np.arange(3)})
    write_npz(tmp_path / "npz2", {"x": X, "y": np.arange(3)}, compress=True)
    write_safetensors(tmp_path / "st", {"x": X, "y": np.arange(3)}, metadata={"a": "b"})
    conv = proto.number(1, 3) + proto.bytes(7, proto.bytes(1, "xavier"))
    body = proto.bytes(1, "c") + proto.bytes(2, "Convolution") + proto.bytes(106, conv) + proto.bytes(7, proto.blob(X))
    old = proto.bytes(4, "c") + proto.number(5, 4) + proto.bytes(6, proto.blob(X, "unpacked"))
    return {
        "torch zip": (read_torch, torch_maker.zip(checkpoint)),
        "torch zip, packed": (read_torch, deflated(torch_maker.zip(checkpoint))),
        "torch legacy": (read_torch, torch_maker.legacy(checkpoint)),
        "npz": (read_npz, (tmp_path / "npz").read_bytes()),
        "npz, packed": (read_npz, (tmp_path / "npz2").read_bytes()),
        "safetensors": (read_safetensors, (tmp_path / "st").read_bytes()),
        "caffemodel": (read_caffe, proto.bytes(1, "net") + proto.bytes(100, body)),
        "old caffemodel": (read_caffemodel, proto.bytes(2, old)),
        "darknet": (read_darknet, bytes([0, 0, 0, 0, 2, 0, 0, 0, 5, 0, 0, 0]) + bytes(8 + 64)),
    }


KINDS = [
    "torch zip",
    "torch zip, packed",
    "torch legacy",
    "npz",
    "npz, packed",
    "safetensors",
    "caffemodel",
    "old caffemodel",
    "darknet",
]


@pytest.mark.parametrize("kind", KINDS)
def test_the_good_file_is_read(samples, write, kind):
    reader, data = samples[kind]
    reader(write(data))


@pytest.mark.parametrize("kind", KINDS)
def test_a_file_cut_off_anywhere_is_an_error(samples, write, kind):
    reader, data = samples[kind]
    for n in range(len(data)):
        path = write(data[:n])
        with pytest.raises(WeightsError):
            reader(path)
        with contextlib.suppress(WeightsError, UnsupportedError):
            read_arrays(path)


@pytest.mark.parametrize("kind", KINDS)
@settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(draw=st.data())
def test_damaged_bytes_give_a_result_or_our_error(samples, write, kind, draw):
    reader, data = samples[kind]
    damaged = bytearray(data)
    places = st.integers(0, len(data) - 1)
    for place, value in draw.draw(st.lists(st.tuples(places, st.integers(0, 255)), min_size=1, max_size=4)):
        damaged[place] = value
    path = write(bytes(damaged))
    with contextlib.suppress(WeightsError):
        reader(path)
    with contextlib.suppress(WeightsError, UnsupportedError):
        read_arrays(path)


@pytest.mark.parametrize("kind", KINDS)
def test_every_single_bit_may_flip(samples, write, kind):
    reader, data = samples[kind]
    for i in range(len(data)):
        damaged = bytearray(data)
        damaged[i] ^= 1 << (i % 8)
        with contextlib.suppress(WeightsError):
            reader(write(bytes(damaged)))


@settings(max_examples=200, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(data=st.binary(max_size=200), head=st.sampled_from([b"", b"PK\x03\x04", b"\x80\x02", b"\x0a", b"\xa2\x06"]))
def test_noise_gives_a_result_or_our_error(write, data, head):
    path = write(head + data)
    for reader in (read_torch, read_npz, read_safetensors, read_caffe, read_darknet, read_arrays):
        with contextlib.suppress(WeightsError, UnsupportedError):
            reader(path)


def test_absurd_declared_sizes_allocate_nothing(write, torch_maker, monkeypatch, proto):
    header = b"{'descr': '<f8', 'fortran_order': False, 'shape': (99999999, 99), }"
    npy = io.BytesIO()
    with zipfile.ZipFile(npy, "w") as archive:
        archive.writestr("x.npy", b"\x93NUMPY\x01\x00" + len(header).to_bytes(2, "little") + header)
    huge = b"".join(proto.varint(1 << 40) for _ in range(2))
    layer = proto.bytes(1, "c") + proto.bytes(2, "Convolution")
    layer += proto.bytes(7, proto.bytes(7, proto.bytes(1, huge)) + proto.bytes(5, bytes(8)))
    storage = torch_maker.Storage("0", np.ones(4), n=1 << 40)
    tensor = torch_maker.Tensor(storage, (1 << 20, 1 << 20), (1 << 20, 1))
    files = [
        (read_npz, npy.getvalue()),
        (read_safetensors, (1 << 40).to_bytes(8, "little") + b"{}"),
        (read_caffe, proto.bytes(100, layer)),
        (read_torch, torch_maker.zip({"x": tensor})),
        (read_torch, torch_maker.legacy({"x": tensor})),
        (take_all, bytes(20) + bytes(8)),
    ]
    monkeypatch.setattr(torch_maker, "pickled", lambda value, protocol=2: b"\x80\x02}r\xff\xff\xff\xff.")
    files.append((read_torch, torch_maker.zip({})))  # a memo index of four thousand million
    for i, (reader, data) in enumerate(files):
        path = write(data, str(i))
        tracemalloc.start()
        try:
            with pytest.raises(WeightsError):
                reader(path)
            assert tracemalloc.get_traced_memory()[1] < 4 << 20
        finally:
            tracemalloc.stop()
