import pickle

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cvzoo.errors.exceptions import FileFormatError, UnsafeFileError
from cvzoo.weights.formats import pickle_machine
from cvzoo.weights.formats.pickle_machine import Callee, Inert, PickleMachine, dict_of_pairs

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
        | st.dictionaries(st.text(max_size=5) | st.integers(-(2**59), 2**59), inner, max_size=4)
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


def recalled(build, argument, times, after=b""):
    """A pickle that calls `build` with the same argument many times, at a few bytes a call."""
    return (
        pickle.dumps(argument, 2)[:-1].removesuffix(b"q\x00")
        + b"q\x010cm\nf\nq\x020"
        + b"("
        + (b"h\x02h\x01\x85R" + after) * times
        + b"t."
    )


@pytest.mark.parametrize("build", [tuple, dict_of_pairs, lambda *args: args])
@pytest.mark.parametrize("after", [b"", b"0"])  # b"0": the result is dropped, so that only time is lost
def test_a_call_that_copies_its_argument_cannot_be_repeated_beyond_the_files_size(monkeypatch, build, after):
    monkeypatch.setattr(pickle_machine, "FREE_ITEMS", 1000)
    table = {("m", "f"): Callee("f", build)}
    argument = [(None, None)] * 500
    assert load(recalled(build, argument, 2, after), table) is not None
    with pytest.raises(FileFormatError, match="more items than the file has bytes"):
        load(recalled(build, argument, 2000, after), table)


def test_an_honest_call_may_have_as_many_items_as_it_has_bytes(monkeypatch):
    monkeypatch.setattr(pickle_machine, "FREE_ITEMS", 0)
    pairs = [[i, None] for i in range(200)]
    assert load(recalled(dict, pairs, 1), {("m", "f"): Callee("f", dict_of_pairs)}) == (dict(pairs),)


@pytest.mark.parametrize(
    "key", [2**61 - 1, -(2**61 - 1), 7 * (2**61 - 1), 2**70, "a" * 5000, b"a" * 5000], ids=lambda key: str(key)[:8]
)
def test_keys_that_could_be_made_to_collide_are_refused(key):
    with pytest.raises(FileFormatError, match="a dict's key"):
        load(pickle.dumps({key: None, 1: None}, 3))
    with pytest.raises(ValueError, match="a dict's key"):
        dict_of_pairs([(key, None)])
