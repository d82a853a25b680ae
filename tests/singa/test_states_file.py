"""Files of `save_states`: read again, SINGA's own, and damaged ones."""

import io
import json
import zipfile

import numpy as np
import pytest

from cvzoo.errors import (
    DtypeError,
    FileError,
    FileFormatError,
    GraphError,
    ShapeError,
    UnsafeFileError,
    WeightsMismatchError,
)
from cvzoo.singa import layer, model, tensor


class Net(model.Model):
    """A convolution with statistics."""

    def __init__(self, n=2):
        super().__init__()
        self.conv = layer.Conv2d(n, 3)
        self.bn = layer.BatchNorm2d()

    def forward(self, x):
        return self.bn(self.conv(x))


def compiled(n=2):
    net = Net(n)
    net.compile([tensor.Tensor((1, 1, 4, 4))], is_train=False)
    return net


def arrays(net):
    return {name: tensor.to_numpy(value) for name, value in net.get_states().items()}


def test_states_come_back(tmp_path):
    net, other = compiled(), compiled()
    net.bn.running_mean[...] = 3
    path = tmp_path / "net.zip"
    net.save_states(fpath=path, aux_states={"epoch": 7, "lr": tensor.Tensor((1,)).set_value(0.5), "x": np.ones(2)})
    others = other.load_states(path)
    for name, value in arrays(net).items():
        np.testing.assert_array_equal(arrays(other)[name], value)
    assert {name: tensor.to_numpy(value).tolist() for name, value in others.items()} == {
        "epoch": 7,
        "lr": [0.5],
        "x": [1.0, 1.0],
    }


def test_equal_states_give_equal_bytes(tmp_path):
    net = compiled()
    for name in ("a.zip", "b.zip"):
        net.save_states(tmp_path / name)
    assert (tmp_path / "a.zip").read_bytes() == (tmp_path / "b.zip").read_bytes()


def write(path, values, attributes=None, *, pickled=False):
    """A file as SINGA writes it."""
    inner = io.BytesIO()
    np.savez(inner, **values)
    if attributes is None:
        attributes = {
            name: {"state_type": 0, "shape": list(np.shape(value)), "dtype": 0} for name, value in values.items()
        }
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("tensor_dict.npz", inner.getvalue(), zipfile.ZIP_DEFLATED)
        archive.writestr("states_attr.json", json.dumps(attributes), zipfile.ZIP_DEFLATED)


def test_a_file_of_singas_is_read(tmp_path):
    net = compiled()
    values = {name: np.full(value.shape, 2, np.float32) for name, value in net.get_states().items()}
    write(tmp_path / "singa.zip", values)
    assert net.load_states(tmp_path / "singa.zip") == {}
    assert all((value == 2).all() for value in arrays(net).values())


def test_what_is_written_has_singas_parts(tmp_path):
    compiled().save_states(tmp_path / "net.zip", aux_states={"epoch": 1})
    with zipfile.ZipFile(tmp_path / "net.zip") as archive:
        assert set(archive.namelist()) == {"tensor_dict.npz", "states_attr.json"}
        attributes = json.loads(archive.read("states_attr.json"))
        with np.load(io.BytesIO(archive.read("tensor_dict.npz"))) as tensors:
            assert set(tensors.files) == set(attributes)
            assert tensors["conv.W"].shape == (2, 1, 3, 3)
    assert attributes["conv.W"] == {"state_type": 0, "shape": [2, 1, 3, 3], "dtype": 0}
    assert attributes["epoch"] == {"state_type": 1, "shape": [], "dtype": 2}


def test_nothing_is_overwritten(tmp_path):
    path = tmp_path / "net.zip"
    path.write_text("mine")
    with pytest.raises(FileError, match="there already"):
        compiled().save_states(path)
    assert path.read_text() == "mine"


def test_what_is_no_numbers_or_a_models_name_is_not_written(tmp_path):
    net = compiled()
    with pytest.raises(DtypeError, match="note"):
        net.save_states(tmp_path / "a.zip", {"note": "text"})
    with pytest.raises(FileError, match=r"conv\.W"):
        net.save_states(tmp_path / "a.zip", {"conv.W": 1})
    assert not list(tmp_path.iterdir())


def test_a_model_that_is_not_compiled_has_no_states(tmp_path):
    with pytest.raises(GraphError, match="compile"):
        Net().save_states(tmp_path / "a.zip")
    with pytest.raises(GraphError, match="compile"):
        Net().load_states(tmp_path / "a.zip")


def test_files_of_other_models_are_refused(tmp_path):
    net = compiled()
    before = arrays(net)
    compiled(3).save_states(tmp_path / "other.zip")
    with pytest.raises(ShapeError, match=r"conv\.W"):
        net.load_states(tmp_path / "other.zip")
    write(tmp_path / "names.zip", {"conv.W": np.zeros((2, 1, 3, 3), np.float32), "fc.W": np.zeros(3)})
    with pytest.raises(WeightsMismatchError, match=r"fc\.W"):
        net.load_states(tmp_path / "names.zip")
    for name, value in before.items():
        np.testing.assert_array_equal(arrays(net)[name], value)


def test_damaged_files_are_refused(tmp_path):
    net = compiled()
    with pytest.raises(FileError, match="no such file"):
        net.load_states(tmp_path / "absent.zip")
    path = tmp_path / "net.zip"
    net.save_states(path)
    whole = path.read_bytes()
    for n in (0, 10, len(whole) // 2):
        path.write_bytes(whole[:n])
        with pytest.raises(FileFormatError):
            net.load_states(path)
    write(path, {"conv.W": np.zeros((2, 1, 3, 3))}, {})
    with pytest.raises(FileFormatError, match="has no entry"):
        net.load_states(path)
    write(path, {"conv.W": np.zeros((2, 1, 3, 3))}, ["conv.W"])
    with pytest.raises(FileFormatError, match="has no entry"):
        net.load_states(path)
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("tensor_dict.npz", b"no zip")
        archive.writestr("states_attr.json", "{}")
    with pytest.raises(FileFormatError, match="damaged"):
        net.load_states(path)
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("tensor_dict.npz", b"")
        archive.writestr("states_attr.json", "{")
    with pytest.raises(FileFormatError, match=r"states_attr\.json is damaged"):
        net.load_states(path)


def test_objects_are_not_unpickled(tmp_path):
    class Bomb:
        def __reduce__(self):
            return (tmp_path / "hit").write_text, ("ran",)

    path = tmp_path / "net.zip"
    write(path, {"conv.W": np.array([Bomb()], object)}, {"conv.W": {"state_type": 0}})
    with pytest.raises(UnsafeFileError):
        compiled().load_states(path)
    assert not (tmp_path / "hit").exists()
