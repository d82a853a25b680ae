import numpy as np
import pytest

from cvzoo.errors.exceptions import FileFormatError, UnsupportedError, WeightsError
from cvzoo.weights.formats.npz import write_npz
from cvzoo.weights.formats.safetensors import write_safetensors
from cvzoo.weights.sniff import read_arrays, sniff


def test_named_arrays_are_read_whatever_the_ending(write, tmp_path, torch_maker, proto):
    x = np.arange(6, dtype="f4").reshape(2, 3)
    paths = {"npz": tmp_path / "a.pth", "safetensors": tmp_path / "b.npz"}
    write_npz(paths["npz"], {"x": x})
    write_safetensors(paths["safetensors"], {"x": x})
    state = {"x": torch_maker.tensor(x, "0")}
    files = [("npz", paths["npz"]), ("safetensors", paths["safetensors"])]
    files += [("torch", write(torch_maker.zip(state), "c")), ("torch", write(torch_maker.legacy(state), "d.weights"))]
    for kind, path in files:
        assert sniff(path) == kind
        assert list(read_arrays(path)) == ["x"]
        np.testing.assert_array_equal(read_arrays(path)["x"], x)
    layer = proto.bytes(1, "fc") + proto.bytes(2, "InnerProduct") + proto.bytes(7, proto.blob(x))
    path = write(proto.bytes(100, layer), "e.npz")
    assert sniff(path) == "caffemodel"
    assert list(read_arrays(path)) == ["fc/0"]


@pytest.mark.parametrize(
    ("data", "name", "kind", "words"),
    [
        (bytes([0, 0, 0, 0, 2, 0, 0, 0, 0, 0, 0, 0]) + bytes(12), "x.weights", "darknet", "have no names"),
        (b"\x89HDF\r\n\x1a\n" + bytes(50), "x.h5", "hdf5", "hdf5 files are not read"),
        (b"\x08\x06\x12\x07pytorch", "x.onnx", "onnx", "onnx files are not read"),
        (bytes(257) + b"ustar" + bytes(300), "x.pth", "tar", "tar files are not read"),
    ],
)
def test_kinds_that_hold_no_names_or_are_not_read_say_what_to_do(write, data, name, kind, words):
    path = write(data, name)
    assert sniff(path) == kind
    with pytest.raises(UnsupportedError, match=words):
        read_arrays(path)


@pytest.mark.parametrize("data", [b"", b"x", b"<html><body>404</body></html>", b"\xff" * 100])
def test_anything_else_is_refused(write, data):
    assert sniff(write(data, "x.pth")) is None
    with pytest.raises(FileFormatError, match="not a weight file"):
        read_arrays(write(data, "x.pth"))


@pytest.mark.parametrize(("n_byte", "words"), [(0, "got: *0 bytes"), (20, "cut off")])
def test_a_download_that_broke_off_at_its_beginning_is_told_so(tmp_path, n_byte, words):
    whole, cut = tmp_path / "whole.safetensors", tmp_path / "cut.safetensors"
    write_safetensors(whole, {"W": np.zeros(3, np.float32)})
    cut.write_bytes(whole.read_bytes()[:n_byte])
    with pytest.raises(FileFormatError, match=words):
        read_arrays(cut)


def test_an_absent_file_is_an_error(tmp_path):
    with pytest.raises(WeightsError, match="no such file"):
        read_arrays(tmp_path / "none")


def test_real_files_are_recognised(shared):
    kinds = {".pth": "torch", ".th": "torch", ".caffemodel": "caffemodel", ".weights": "darknet", ".npz": "npz"}
    kinds |= {".onnx": "onnx", ".cfg": None, ".prototxt": None, ".names": None}
    seen = 0
    for path in (shared / "weights").glob("*/*"):
        if path.suffix in kinds:
            assert sniff(path) == kinds[path.suffix], path
            seen += 1
    assert seen >= 14
