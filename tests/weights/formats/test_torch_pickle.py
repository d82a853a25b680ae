import argparse
import collections
import os
import pathlib
import pickle
import sys

import numpy as np
import pytest

from cvzoo.errors.exceptions import FileFormatError, UnsafeFileError, WeightsError, WeightsMismatchError
from cvzoo.weights.formats import pickle_machine, torch_pickle
from cvzoo.weights.formats.torch_pickle import read_torch

RNG = np.random.default_rng(0)
ARRAYS = {
    "conv.weight": RNG.standard_normal((2, 3, 3, 3)).astype("f4"),
    "conv.bias": RNG.standard_normal(2),
    "half": RNG.standard_normal((2, 2)).astype("f2"),
    "bn.num_batches_tracked": np.array(7, "i8"),
    "ints": np.arange(3, dtype="i4"),
    "bytes": np.arange(3, dtype="u1"),
    "flags": np.array([True, False]),
    "complex": np.array([1 + 2j], "c8"),
    "empty": np.zeros((0, 3), "f4"),
}


class Evil:
    def __init__(self, function, *args):
        self.pair = function, args

    def __reduce__(self):
        return self.pair


@pytest.fixture(params=["zip", "legacy"])
def make(request, torch_maker):
    return {"zip": torch_maker.zip, "legacy": torch_maker.legacy}[request.param]


@pytest.fixture
def state(torch_maker):
    return collections.OrderedDict((k, torch_maker.tensor(v, str(i))) for i, (k, v) in enumerate(ARRAYS.items()))


def check(arrays):
    assert list(arrays) == list(ARRAYS)
    for name, array in ARRAYS.items():
        assert arrays[name].dtype == array.dtype
        assert arrays[name].dtype.isnative
        assert arrays[name].flags.c_contiguous
        np.testing.assert_array_equal(arrays[name], array)
        assert arrays[name].shape == array.shape


def test_a_state_dict_comes_back_in_order(make, state, write):
    check(read_torch(write(make(state))))


@pytest.mark.parametrize("protocol", [1, 2, 3, 4, 5])
def test_every_pickle_protocol_is_understood(torch_maker, state, write, protocol):
    check(read_torch(write(torch_maker.zip(state, protocol=protocol))))


@pytest.mark.parametrize("key", ["state_dict", "model", "net"])
def test_a_state_dict_inside_a_checkpoint_is_found(make, state, write, torch_maker, key):
    optimizer = {"state": {0: {"step": 3, "exp_avg": torch_maker.tensor(np.ones(3), "opt")}}}
    value = {"epoch": 3, "best": 0.5, "args": ["a", None, (1, True)], "optimizer": optimizer, key: state}
    check(read_torch(write(make(value))))
    assert list(read_torch(write(make(value)), key="optimizer")) == ["state.0.exp_avg"]
    with pytest.raises(WeightsError, match="no dict under 'ema'"):
        read_torch(write(make(value)), key="ema")


@pytest.mark.parametrize("protocol", [2, 4])
def test_what_training_scripts_leave_beside_the_weights_does_no_harm(torch_maker, state, write, protocol):
    rest = {
        "best": np.float64(0.5),
        "mean": np.arange(3.0),
        "milestones": collections.Counter([10, 20]),
        "args": argparse.Namespace(lr=0.1),
        "seen": {1, 2},
        "folder": pathlib.Path("runs"),
        "groups": collections.defaultdict(list, a=[1]),
    }
    check(read_torch(write(torch_maker.zip({**rest, "state_dict": state}, protocol=protocol))))


def test_several_networks_get_dotted_names(make, write, torch_maker):
    value = {
        "encoder": {"w": torch_maker.tensor(np.ones(2), "0")},
        "parts": [{"w": torch_maker.tensor(np.ones(3), "1")}],
    }
    assert {k: v.shape for k, v in read_torch(write(make(value))).items()} == {"encoder.w": (2,), "parts.0.w": (3,)}


def test_a_prefix_is_dropped_where_it_is(make, write, torch_maker):
    a, b = torch_maker.tensor(np.ones(2), "0"), torch_maker.tensor(np.ones(3), "1")
    assert list(read_torch(write(make({"module.a": a, "b": b})), drop_prefix="module.")) == ["a", "b"]
    with pytest.raises(WeightsMismatchError, match="'a'"):
        read_torch(write(make({"module.a": a, "a": b})), drop_prefix="module.")


def test_views_of_one_storage_are_cut_out_as_their_strides_say(make, write, torch_maker):
    base = np.arange(12, dtype="f4")
    storage = torch_maker.Storage("0", base)
    value = {
        "whole": torch_maker.Tensor(storage, (3, 4), (4, 1)),
        "transposed": torch_maker.Tensor(storage, (4, 3), (1, 4)),
        "part": torch_maker.Tensor(storage, (2, 2), (4, 1), 5),
        "one for all": torch_maker.Tensor(storage, (2, 3), (0, 0), 7),
    }
    arrays = read_torch(write(make(value)))
    np.testing.assert_array_equal(arrays["transposed"], base.reshape(3, 4).T)
    np.testing.assert_array_equal(arrays["part"], [[5, 6], [9, 10]])
    np.testing.assert_array_equal(arrays["one for all"], np.full((2, 3), 7))
    arrays["whole"][:] = 0  # its own memory
    assert arrays["part"][0, 0] == 5


def test_bfloat16_is_widened_exactly(make, write, torch_maker):
    x = np.array([0.0, -1.5, 3.0e38, np.inf], "f4")
    bits = (x.view("u4") >> 16).astype("u2")
    got = read_torch(write(make({"x": torch_maker.tensor(bits, "0")})))["x"]
    assert got.dtype == np.float32
    np.testing.assert_array_equal(got, (bits.astype("u4") << 16).view("f4"))


def test_files_of_big_endian_machines_are_turned_round(torch_maker, write):
    x = np.arange(3, dtype="f4")
    swapped = torch_maker.Tensor(torch_maker.Storage("0", x.byteswap()), (3,), (1,))
    for data in (torch_maker.zip({"x": swapped}, order=b"big"), torch_maker.legacy({"x": swapped}, little=False)):
        np.testing.assert_array_equal(read_torch(write(data))["x"], x)
    with pytest.raises(FileFormatError, match="byte order"):
        read_torch(write(torch_maker.zip({"x": swapped}, order=b"middle")))


def test_an_old_file_may_keep_a_storage_as_part_of_another(torch_maker, write):
    base = np.arange(10, dtype="f4")
    part = torch_maker.Storage("0", base, view=("v", 4, 3))
    value = {"x": torch_maker.Tensor(part, (3,), (1,))}
    np.testing.assert_array_equal(read_torch(write(torch_maker.legacy(value)))["x"], [4, 5, 6])
    part.view = ("v", 8, 3)
    with pytest.raises(FileFormatError, match="reference to a storage"):
        read_torch(write(torch_maker.legacy(value)))


@pytest.mark.parametrize(
    "evil",
    [
        Evil(os.system, "touch pwned"),
        Evil(eval, "1"),
        Evil(getattr, {}, "keys"),
        Evil(pickle.loads, b"."),
        Evil(collections.deque, [1]),
    ],
)
@pytest.mark.parametrize("protocol", [0, 2, 4])
def test_a_file_that_asks_to_run_code_is_refused_and_runs_nothing(
    torch_maker, state, write, tmp_path, monkeypatch, evil, protocol
):
    monkeypatch.chdir(tmp_path)
    # protocol 0 has no way to refer to a storage
    for value in (evil,) if protocol == 0 else ({**state, "x": evil}, evil):
        with pytest.raises(UnsafeFileError, match="nothing was executed"):
            read_torch(write(torch_maker.zip(value, protocol=protocol)))
    for value in ({**state, "x": evil}, evil):
        with pytest.raises(UnsafeFileError, match="nothing was executed"):
            read_torch(write(torch_maker.legacy(value)))
    assert not (tmp_path / "pwned").exists()


@pytest.mark.parametrize(
    "body",
    [
        b"(S'touch pwned'\nios\nsystem\n.",  # INST
        b"cos\nsystem\n(S'touch pwned'\ntR.",
        b"(cos\nsystem\nS'touch pwned'\no.",  # OBJ
        b"\x8c\x02os\x8c\x06system\x93\x8c\x01x\x85R.",
        b"c__builtin__\nset\nctorch\nFloatStorage\n\x85R(K\x01K\x02tR.",  # calls what is no function
    ],
)
def test_no_spelling_of_a_call_gets_through(torch_maker, write, monkeypatch, tmp_path, body):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(torch_maker, "pickled", lambda value, protocol=2: body)
    with pytest.raises(UnsafeFileError):
        read_torch(write(torch_maker.zip({})))
    assert not (tmp_path / "pwned").exists()


@pytest.mark.parametrize(
    "body",
    [
        b"\x80\x02}r\xff\xff\xff\xff.",  # a memo index that C's unpickler makes a table of 64 GB for
        b"\x80\x04\x8e\xff\xff\xff\xff\xff\xff\xff\x7f.",  # bytes that are not there
        b"\x80\x05\x96\xff\xff\xff\xff\xff\xff\xff\x7f.",
        b"\x80\x04\x95\xff\xff\xff\xff\xff\xff\xff\x7f.",
        b"\x80\x02\x8b\xff\xff\xff\x7f.",
        b"T\xff\xff\xff\xff.",  # a negative length
        b"\x80\x06N.",
        b"\x80\x02\xff.",
        b"\x80\x02" + b"\x85" * 10 + b".",
        b"\x80\x02)" + b"\x85" * 100_000 + b"}.",
        b"\x80\x02})" + b"\x85" * 100_000 + b"Ns.",  # a key nested so deep that hashing it would crash
        b"\x80\x02h\x07.",
        b"1.",
        b"(.",
        b"Ia\n.",
        b"I" + b"9" * 10_000 + b"\n.",
        b"Fx\n.",
        b"X\x01\x00\x00\x00\xff.",
        b"\x82\x01.",
        b"",
    ],
)
def test_pickles_made_to_exhaust_or_confuse_are_refused(torch_maker, write, monkeypatch, body):
    monkeypatch.setattr(torch_maker, "pickled", lambda value, protocol=2: body)
    with pytest.raises(WeightsError):
        read_torch(write(torch_maker.zip({})))


def test_the_number_of_steps_is_bounded(torch_maker, write, monkeypatch, state):
    monkeypatch.setattr(pickle_machine, "MAX_STEPS", 100)
    with pytest.raises(FileFormatError, match="more than 100 steps"):
        read_torch(write(torch_maker.zip(state)))


def test_lists_that_hold_themselves_end(torch_maker, write):
    loop = []
    loop += [loop, {}]
    value = {"x": loop}
    value["model"] = value
    with pytest.raises(WeightsError):
        read_torch(write(torch_maker.zip(value)))


@pytest.mark.parametrize(("depth", "words"), [(30, "20 deep"), (18, "nested in each other too often")])
def test_dicts_that_share_dicts_do_not_unfold_without_bound(torch_maker, write, monkeypatch, depth, words):
    monkeypatch.setattr(torch_pickle, "FREE_VALUES", 10_000)
    laugh = {}
    for _ in range(depth):
        laugh = {"a": laugh, "b": laugh}
    with pytest.raises(FileFormatError, match=words):
        read_torch(write(torch_maker.zip(laugh)))


@pytest.mark.parametrize(
    "value",
    [
        dict.fromkeys(map(str, range(100)), [{}] + [None] * 1000),  # one long list, looked through again and again
        {"x" * 1000: {"y" * 1000: {"z" * 1000: {str(i): {"a": []} for i in range(300)}}}},  # and long names
    ],
)
def test_what_is_looked_at_does_not_outgrow_the_file(torch_maker, write, monkeypatch, value):
    monkeypatch.setattr(torch_pickle, "FREE_VALUES", 1000)
    with pytest.raises(FileFormatError, match="nested in each other too often"):
        read_torch(write(torch_maker.zip(value)))


@pytest.mark.parametrize(
    ("shape", "stride", "offset"),
    [
        ((5,), (1,), 0),
        ((4,), (1,), 1),
        ((2, 2), (3, 1), 1),
        ((-1,), (1,), 0),
        ((2,), (-1,), 3),
        ((2,), (1,), -1),
        ((2, 2), (1,), 0),
        ((2**61, 4), (0, 0), 0),
        ((2**50, 0, 2**50), (1, 1, 1), 0),
        ((True,), (1,), 0),
        ("ab", (1, 1), 0),
        ((1,) * 40, (1,) * 40, 0),
    ],
)
def test_a_tensor_outside_of_its_storage_is_named(make, torch_maker, write, shape, stride, offset):
    storage = torch_maker.Storage("0", np.arange(4, dtype="f4"))
    with pytest.raises(FileFormatError, match=r"layer\.weight"):
        read_torch(write(make({"layer.weight": torch_maker.Tensor(storage, shape, stride, offset)})))


def test_many_expanded_tensors_cannot_fill_the_memory(make, torch_maker, write):
    storage = torch_maker.Storage("0", np.arange(4, dtype="f4"))
    value = {str(i): torch_maker.Tensor(storage, (1000, 1000), (0, 0)) for i in range(100)}
    with pytest.raises(FileFormatError, match="can hold"):
        read_torch(write(make(value)))


def test_a_cut_off_storage_is_named_by_the_tensor_that_uses_it(torch_maker, state, write):
    whole = torch_maker.legacy({"a": torch_maker.tensor(np.ones(4), "0"), "b": torch_maker.tensor(np.ones(4), "1")})
    with pytest.raises(FileFormatError, match="storage of 'b'"):
        read_torch(write(whole[:-1]))
    with pytest.raises(FileFormatError, match="storage of 'a'"):
        read_torch(write(whole[:-50]))
    short = {"a": torch_maker.Tensor(torch_maker.Storage("0", np.ones(4), n=5), (5,), (1,))}
    with pytest.raises(FileFormatError, match="storage of 'a'"):
        read_torch(write(torch_maker.zip(short)))


def test_a_cut_off_optimizer_is_noticed_too(torch_maker, write):
    value = {"model": {"a": torch_maker.tensor(np.ones(2), "0")}, "opt": {"b": torch_maker.tensor(np.ones(2), "1")}}
    data = torch_maker.legacy(value)
    assert list(read_torch(write(data))) == ["a"]
    with pytest.raises(FileFormatError, match="end is missing"):
        read_torch(write(data[:-1]))


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"magic": 3}, "not one of torch's"),
        ({"protocol": 1002}, "unknown version"),
        ({"keys": ["0", "0"]}, "twice"),
        ({"keys": []}, "storage of 'a'"),
        ({"little": None}, "machine"),
    ],
)
def test_a_damaged_legacy_frame_is_an_error(torch_maker, write, changes, words):
    with pytest.raises(FileFormatError, match=words):
        read_torch(write(torch_maker.legacy({"a": torch_maker.tensor(np.ones(2), "0")}, **changes)))


def test_bytes_after_the_end_are_an_error(torch_maker, state, write):
    with pytest.raises(FileFormatError, match="too many"):
        read_torch(write(torch_maker.legacy(state) + b"x"))


@pytest.mark.parametrize(
    ("value", "words"),
    [([1, 2], "list"), ({"epoch": 3}, "no tensors"), ({}, "no tensors"), ("text", "str")],
)
def test_a_file_without_a_state_dict_says_what_it_holds(make, write, value, words):
    with pytest.raises(WeightsError, match=words):
        read_torch(write(make(value)))


def test_a_program_is_told_from_weights(torch_maker, state, write):
    with pytest.raises(FileFormatError, match="TorchScript"):
        read_torch(write(torch_maker.zip(state, extra=[("code/__torch__.py", b"")])))


def test_other_files_are_refused(write, tmp_path):
    for data in (b"", b"hello", b"PK\x03\x04", b"PK\x03\x04" + bytes(100)):
        with pytest.raises(FileFormatError):
            read_torch(write(data))
    with pytest.raises(WeightsError, match="no such file"):
        read_torch(tmp_path / "none.pth")


def test_no_part_of_torch_is_imported(make, state, write):
    read_torch(write(make(state)))
    assert not {name for name in sys.modules if name.startswith("torch.") and name != "torch._utils"}


@pytest.mark.parametrize(
    ("path", "n", "name", "shape"),
    [
        ("espnet_camvid/espnet_p_2_q_8_camvid.pth", 189, "encoder.level1.conv.weight", (16, 3, 3, 3)),
        ("resnet20_cifar10/resnet20-12fca82f.th", 97, "conv1.weight", (16, 3, 3, 3)),
        ("ultralight_face_rfb320/version-RFB-320.pth", 244, "base_net.0.0.weight", (16, 3, 3, 3)),
    ],
)
def test_real_files_of_both_kinds_are_read(shared, path, n, name, shape):
    arrays = read_torch(shared / "weights" / path, drop_prefix="module.")
    assert len(arrays) == n
    assert arrays[name].shape == shape
    assert all(np.isfinite(array).all() for array in arrays.values())
