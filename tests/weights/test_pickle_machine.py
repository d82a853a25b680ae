import pickle

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cvzoo.errors.exceptions import FileFormatError, UnsafeFileError
from cvzoo.weights.pickle_machine import Callee, Inert, PickleMachine

ATOMS = (
    st.none()
    | st.booleans()
    | st.integers(-(2**70), 2**70)
    | st.floats(allow_nan=False)
    | st.text(max_size=5)
    | st.binary(max_size=5)
)
VALUES = st.recursive(
    ATOMS,
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.lists(inner, max_size=4).map(tuple)
        | st.dictionaries(st.text(max_size=5) | st.integers(), inner, max_size=4)
    ),
    max_leaves=20,
)


def load(data, table=None, **keywords):
    return PickleMachine(data, table=table or {}, where="file", **keywords).load()


@settings(max_examples=150, deadline=None)
@given(value=VALUES, protocol=st.integers(3, 5))
def test_plain_values_come_out_as_from_pythons_own_reader(value, protocol):
    got = load(pickle.dumps(value, protocol))
    assert got == value
    assert type(got) is type(value)


@settings(max_examples=100, deadline=None)
@given(
    value=st.recursive(
        st.none()
        | st.booleans()
        | st.integers(-(2**70), 2**70)
        | st.floats(allow_nan=False)
        | st.text("abc\n\\é", max_size=5),
        lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text("abc", max_size=3), inner, max_size=3),
        max_leaves=10,
    ),
    protocol=st.integers(0, 2),
)
def test_old_protocols_are_understood(value, protocol):
    assert load(pickle.dumps(value, protocol)) == value


def test_shared_values_stay_shared():
    inner = [1]
    a, b = load(pickle.dumps((inner, inner)))
    assert a is b


def test_sets_become_lists_and_states_are_dropped():
    assert sorted(load(pickle.dumps({1, 2}, 4))) == [1, 2]
    assert sorted(load(pickle.dumps(frozenset({1, 2}), 4))) == [1, 2]
    assert load(b"\x80\x02}}X\x01\x00\x00\x00aK\x01sb.") == {}  # BUILD


def test_several_pickles_lie_one_behind_the_other():
    data = pickle.dumps(1) + pickle.dumps("two")
    first = PickleMachine(data, table={}, where="file")
    assert first.load() == 1
    assert load(data, position=first.position) == "two"


def test_only_the_table_is_called():
    table = {("my", "double"): Callee("my.double", lambda x: x * 2), ("my", "thing"): Inert()}
    assert load(b"cmy\ndouble\nK\x04\x85R.", table) == 8
    assert isinstance(load(b"cmy\nthing\n.", table), Inert)
    with pytest.raises(UnsafeFileError, match="no function"):
        load(b"cmy\nthing\n)R.", table)
    with pytest.raises(FileFormatError, match=r"my\.double with 0 arguments"):
        load(b"cmy\ndouble\n)R.", table)
    with pytest.raises(UnsafeFileError, match=r"your\.double"):
        load(b"cyour\ndouble\n.", table)


def test_data_outside_is_refused_unless_asked_for():
    assert load(b"K\x05Q.", load_persistent=lambda key: key + 1) == 6
    with pytest.raises(FileFormatError, match="data outside"):
        load(b"K\x05Q.")


@settings(max_examples=300, deadline=None)
@given(st.binary(max_size=60))
def test_noise_is_read_or_refused(data):
    try:
        load(b"\x80\x02" + data + b".")
    except FileFormatError as error:
        assert "file" in str(error)  # noqa: PT017
