"""Trees of values in files: back with the same bits, whole or refused."""

import math
import random
import time

import hypothesis.extra.numpy as hnp
import hypothesis.strategies as st
import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings

from cvzoo.errors import DtypeError, FileError, FileFormatError
from cvzoo.serializers.state_file import read_state, state_order, write_state

leaves = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(-(1 << 130), 1 << 130),
    st.floats(allow_nan=False),
    st.text(max_size=8),
    hnp.arrays(st.sampled_from(["f4", "f8", "f2", "i4", "u4", "i8", "?"]), hnp.array_shapes(min_dims=0, max_side=3)),
    st.floats(width=32, allow_nan=False).map(np.float32),
)
names = st.text(max_size=6).filter(lambda text: text not in ("$array", "$scalar"))
trees = st.dictionaries(
    names,
    st.recursive(
        leaves, lambda each: st.lists(each, max_size=3) | st.dictionaries(names, each, max_size=3), max_leaves=8
    ),
    max_size=4,
)


def same(a, b):
    if isinstance(a, np.ndarray | np.generic):
        return type(a) is type(b) and a.dtype == b.dtype and a.shape == b.shape and a.tobytes() == b.tobytes()
    if type(a) is not type(b):
        return False
    if isinstance(a, dict):
        return list(a) == list(b) and all(same(a[key], b[key]) for key in a)
    if isinstance(a, list):
        return len(a) == len(b) and all(same(x, y) for x, y in zip(a, b))
    return a == b


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(trees)
def test_a_tree_comes_back_with_the_same_bits(tmp_path, tree):
    write_state(tmp_path / "state.npz", tree)
    assert same(read_state(tmp_path / "state.npz"), tree)


def test_numbers_that_are_none_come_back(tmp_path):
    write_state(tmp_path / "s", {"nan": math.nan, "inf": -math.inf, "array": np.float32([math.nan])})
    back = read_state(tmp_path / "s")
    assert math.isnan(back["nan"])
    assert back["inf"] == -math.inf
    assert math.isnan(back["array"][0])


def test_tuples_come_back_as_lists(tmp_path):
    write_state(tmp_path / "s", {"a": (1, (2,))})
    assert read_state(tmp_path / "s") == {"a": [1, [2]]}


def test_places_of_one_spelling_do_not_meet(tmp_path):
    tree = {"a/b": np.array(1), "a": {"b": np.array(2)}, "tree": np.array(3), "": {"": np.array(4)}}
    write_state(tmp_path / "s", tree)
    assert same(read_state(tmp_path / "s"), tree)


@pytest.mark.parametrize(
    ("tree", "place"),
    [
        ({"a": {"b": object()}}, "/a/b"),
        ({"a": [1, {2: 3}]}, "/a/1"),
        ({"a": {"$array": 1}}, "/a"),
        ({"a": {1, 2}}, "/a"),
        ({"a": np.array([object()])}, "a"),
        ({"a": b"bytes"}, "/a"),
    ],
)
def test_what_cannot_be_stored_is_told_by_its_place_and_leaves_the_old_file(tmp_path, tree, place):
    write_state(tmp_path / "s", {"old": 1})
    with pytest.raises(DtypeError, match=place):
        write_state(tmp_path / "s", tree)
    assert read_state(tmp_path / "s") == {"old": 1}


def test_the_order_of_files_goes_before_the_clock(tmp_path, monkeypatch):
    for name, order, now in (("a", 1, 300), ("b", 2, 200), ("c", 2, 201)):
        monkeypatch.setattr(time, "time_ns", lambda now=now: now)
        write_state(tmp_path / name, {}, order=order)
    assert state_order(tmp_path / "a") < state_order(tmp_path / "b") < state_order(tmp_path / "c")


def test_a_file_of_before_there_was_an_order_is_older_than_those_with_one(tmp_path):
    np.savez(tmp_path / "old.npz", tree=np.frombuffer(b'{"format": 1, "saved_at": 7, "tree": {}}', np.uint8))
    write_state(tmp_path / "new.npz", {}, order=1)
    assert state_order(tmp_path / "old.npz") == (0, 7) < state_order(tmp_path / "new.npz")
    assert read_state(tmp_path / "old.npz") == {}


def test_a_file_cut_off_anywhere_is_refused(tmp_path):
    path = tmp_path / "s"
    write_state(path, {"w": np.arange(1000, dtype=np.float32), "n": 3})
    whole = path.read_bytes()
    for size in [0, 1, 10, len(whole) // 2, len(whole) - 1]:
        path.write_bytes(whole[:size])
        with pytest.raises(FileFormatError):
            read_state(path)


def test_a_flipped_bit_is_found(tmp_path):
    path, tree = tmp_path / "s", {"w": np.arange(1000, dtype=np.float32), "n": 3}
    write_state(path, tree)
    whole, rng = path.read_bytes(), random.Random(0)
    for _ in range(60):
        damaged = bytearray(whole)
        damaged[rng.randrange(len(whole))] ^= 1 << rng.randrange(8)
        path.write_bytes(damaged)
        try:
            back = read_state(path)
        except FileError:
            continue
        assert same(back, tree)  # the bit said nothing, as one in a date does


def test_other_files_are_refused(tmp_path):
    np.savez(tmp_path / "weights.npz", w=np.zeros(2))
    with pytest.raises(FileFormatError, match="not a state"):
        read_state(tmp_path / "weights.npz")
    with pytest.raises(FileError):
        read_state(tmp_path / "absent")
    np.savez(tmp_path / "later.npz", tree=np.frombuffer(b'{"format": 2, "saved_at": 1, "tree": {}}', np.uint8))
    with pytest.raises(FileFormatError, match="another format"):
        read_state(tmp_path / "later.npz")
    np.savez(
        tmp_path / "gone.npz", tree=np.frombuffer(b'{"format":1,"saved_at":1,"tree":{"a":{"$array":"a"}}}', np.uint8)
    )
    with pytest.raises(FileFormatError, match="'a' is missing"):
        read_state(tmp_path / "gone.npz")
