"""Saving and loading links."""

import errno
import os

import numpy as np
import pytest

from cvzoo.errors.exceptions import DtypeError, FileFormatError, GraphError, WeightsError, WeightsMismatchError
from cvzoo.links.chain import Chain, ChainList
from cvzoo.links.connection.batch_normalization import BatchNormalization
from cvzoo.links.connection.convolution_2d import Convolution2D
from cvzoo.links.connection.linear import Linear
from cvzoo.serializers import load_npz, load_safetensors, load_weights, save_npz, save_safetensors
from cvzoo.weights.formats.npz import read_npz, write_npz

WAYS = [(save_npz, load_npz), (save_safetensors, load_safetensors), (save_npz, load_weights)]


class Net(Chain):
    def __init__(self, n_out=3):
        with self.init_scope():
            self.l1 = Convolution2D(2, 4, 3)
            self.bn = BatchNormalization(4)
            self.rest = ChainList(Linear(5, n_out), Linear(n_out, 2, nobias=True))


def filled_net(seed=0, n_out=3):
    rng = np.random.default_rng(seed)
    net = Net(n_out)
    for parameter in net.params():
        parameter.array[...] = rng.normal(size=parameter.shape)
    net.bn.avg_mean[...] = rng.normal(size=4)
    net.bn.avg_var[...] = rng.uniform(0.5, 2, size=4)
    net.bn.N = 7
    return net


def assert_same_bits(a, b):
    a, b = a.state_arrays(), b.state_arrays()
    assert list(a) == list(b)
    for name, array in a.items():
        assert array.dtype == b[name].dtype, name
        assert array.tobytes() == b[name].tobytes(), name


@pytest.mark.parametrize(("save", "load"), WAYS)
def test_what_was_saved_comes_back_bit_for_bit(save, load, tmp_path):
    net, twin = filled_net(0), filled_net(1)
    save(tmp_path / "net", net)
    report = load(tmp_path / "net", twin)
    assert report.is_clean
    assert_same_bits(net, twin)
    assert twin.bn.N == 7


def test_npz_has_the_names_that_chainer_writes(tmp_path):
    save_npz(tmp_path / "net.npz", filled_net())
    with np.load(tmp_path / "net.npz") as arrays:
        assert sorted(arrays.files) == [
            *("bn/N", "bn/avg_mean", "bn/avg_var", "bn/beta", "bn/gamma", "l1/W", "l1/b"),
            *("rest/0/W", "rest/0/b", "rest/1/W"),
        ]


def test_an_npz_that_numpy_wrote_is_loaded(tmp_path):
    net, twin = filled_net(0), filled_net(1)
    np.savez_compressed(tmp_path / "chainer.npz", **net.state_arrays())
    load_npz(tmp_path / "chainer.npz", twin)
    assert_same_bits(net, twin)


def test_equal_links_give_equal_bytes(tmp_path):
    save_npz(tmp_path / "a.npz", filled_net())
    save_npz(tmp_path / "b.npz", filled_net())
    assert (tmp_path / "a.npz").read_bytes() == (tmp_path / "b.npz").read_bytes()


@pytest.mark.parametrize(("save", "load"), WAYS)
def test_a_mismatch_is_named_and_changes_nothing(save, load, tmp_path):
    save(tmp_path / "net", filled_net(0, n_out=4))
    twin, before = filled_net(1), filled_net(1)
    with pytest.raises(WeightsMismatchError, match="rest/0/W"):
        load(tmp_path / "net", twin)
    assert_same_bits(twin, before)


@pytest.mark.parametrize(("save", "load"), WAYS)
def test_not_strict_loads_what_fits_and_reports_the_rest(save, load, tmp_path):
    net, twin = filled_net(0, n_out=4), filled_net(1)
    save(tmp_path / "net", net)
    report = load(tmp_path / "net", twin, strict=False)
    assert set(report.mismatching) == {"rest/0/W", "rest/0/b", "rest/1/W"}
    assert report.missing == report.unexpected == ()
    np.testing.assert_array_equal(twin.l1.W.array, net.l1.W.array)
    np.testing.assert_array_equal(twin.rest[0].W.array, filled_net(1).rest[0].W.array)


def test_missing_and_unexpected_names_are_reported(tmp_path):
    arrays = filled_net().state_arrays()
    arrays["l9/W"] = arrays.pop("l1/W")
    write_npz(tmp_path / "net.npz", arrays)
    report = load_weights(tmp_path / "net.npz", filled_net(1), strict=False)
    assert report.missing == ("l1/W",)
    assert report.unexpected == ("l9/W",)


def test_names_that_differ_are_renamed(tmp_path):
    arrays = filled_net().state_arrays()
    arrays["conv.weight"] = arrays.pop("l1/W")
    write_npz(tmp_path / "net.npz", arrays)
    twin = filled_net(1)
    load_weights(tmp_path / "net.npz", twin, rename={"conv.weight": "l1/W"})
    np.testing.assert_array_equal(twin.l1.W.array, arrays["conv.weight"])


def test_a_layer_that_waits_for_its_input_takes_the_shape_of_the_file(tmp_path):
    save_npz(tmp_path / "layer.npz", Linear(5, 3))
    lazy = Linear(None, 3)
    load_npz(tmp_path / "layer.npz", lazy)
    assert lazy.W.shape == (3, 5)


@pytest.mark.parametrize("link", [Linear(None, 3), BatchNormalization(None, use_gamma=False, use_beta=False)])
@pytest.mark.parametrize("save", [save_npz, save_safetensors])
def test_a_layer_without_values_is_not_saved(save, link, tmp_path):
    with pytest.raises(GraphError, match="call the network once"):
        save(tmp_path / "net", link)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("load", [load_npz, load_safetensors, load_weights])
def test_a_file_that_is_cut_off_is_refused_and_changes_nothing(load, tmp_path):
    (save_safetensors if load is load_safetensors else save_npz)(tmp_path / "net", filled_net(0))
    data = (tmp_path / "net").read_bytes()
    (tmp_path / "net").write_bytes(data[: len(data) // 2])
    twin, before = filled_net(1), filled_net(1)
    with pytest.raises(FileFormatError):
        load(tmp_path / "net", twin)
    assert_same_bits(twin, before)


@pytest.mark.parametrize("load", [load_npz, load_safetensors, load_weights])
def test_a_file_that_is_not_there_is_an_error_of_ours_or_the_systems(load, tmp_path):
    with pytest.raises((WeightsError, FileNotFoundError)):
        load(tmp_path / "nothing", filled_net())


@pytest.mark.parametrize("bad", [np.full(3, "x"), np.ones(3, complex)])
def test_values_that_are_no_real_numbers_are_refused_and_change_nothing(bad, tmp_path):
    arrays = filled_net(0).state_arrays()
    arrays["rest/0/b"] = bad
    np.savez(tmp_path / "net.npz", **arrays)
    twin, before = filled_net(1), filled_net(1)
    with pytest.raises(DtypeError, match="rest/0/b"):
        load_npz(tmp_path / "net.npz", twin)
    assert_same_bits(twin, before)


def full_disk(*args, **settings):
    raise OSError(errno.ENOSPC, "No space left on device")


@pytest.mark.parametrize("save", [save_npz, save_safetensors])
@pytest.mark.parametrize("broken", ["fsync", "replace"])
def test_a_full_disk_leaves_the_old_file_whole(save, broken, tmp_path, monkeypatch):
    save(tmp_path / "net", filled_net(0))
    old = (tmp_path / "net").read_bytes()
    monkeypatch.setattr(os, broken, full_disk)
    with pytest.raises(OSError, match="No space left"):
        save(tmp_path / "net", filled_net(1))
    monkeypatch.undo()
    assert (tmp_path / "net").read_bytes() == old
    assert [path.name for path in tmp_path.iterdir()] == ["net"]


@pytest.mark.parametrize("save", [save_npz, save_safetensors])
@pytest.mark.parametrize("limit", [0, 20, 200])
def test_a_disk_that_fills_while_writing_leaves_the_old_file_whole(save, limit, tmp_path, monkeypatch):
    save(tmp_path / "net", filled_net(0))
    old = (tmp_path / "net").read_bytes()
    opened = os.fdopen

    def fdopen(*args, **settings):
        file = opened(*args, **settings)
        return FullFile(file, limit)

    monkeypatch.setattr(os, "fdopen", fdopen)
    with pytest.raises(OSError, match="No space left"):
        save(tmp_path / "net", filled_net(1))
    monkeypatch.undo()
    assert (tmp_path / "net").read_bytes() == old
    assert [path.name for path in tmp_path.iterdir()] == ["net"]


class FullFile:
    """A file on a disk with room for `limit` bytes."""

    def __init__(self, file, limit):
        self._file, self._room = file, limit

    def write(self, data):
        self._room -= len(data)
        if self._room < 0:
            full_disk()
        return self._file.write(data)

    def __enter__(self):
        return self

    def __exit__(self, *error):
        self._file.close()

    def __getattr__(self, name):
        return getattr(self._file, name)


def test_saving_into_a_folder_that_is_not_there_says_so(tmp_path):
    with pytest.raises(OSError, match="nowhere"):
        save_npz(tmp_path / "nowhere" / "net.npz", filled_net())


def test_the_default_npz_is_read_by_our_own_reader(tmp_path):
    save_npz(tmp_path / "net.npz", filled_net(), compression=False)
    assert set(read_npz(tmp_path / "net.npz")) == set(filled_net().state_arrays())
