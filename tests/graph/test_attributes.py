import random

import numpy as np
import pytest

from cvzoo.graph.attributes import Attributes

HIDDEN = frozenset(["forward"])


def some():
    return {
        "n": 1,
        "array": np.array([1.0, np.nan]),
        "frozen": np.frombuffer(b"12345678", np.float32),
        "list": [1, [2]],
        "dict": {"a": np.zeros(2), "b": 3},
        "set": {1, 2},
        "generator": np.random.default_rng(0),
        "older": np.random.RandomState(0),
        "python": random.Random(0),
        "forward": 5,
    }


CHANGES = {
    "n": lambda s: s.update(n=2),
    "array": lambda s: s["array"].__iadd__(1),
    "list": lambda s: s["list"].append(3),
    "dict": lambda s: s["dict"]["a"].__iadd__(1) is None or s["dict"].update(c=1),
    "set": lambda s: s["set"].add(3),
    "generator": lambda s: s["generator"].random(),
    "older": lambda s: s["older"].rand(),
    "python": lambda s: s["python"].random(),
    "new": lambda s: s.update(new=1),
}


def drawn(state):
    return state["generator"].random(), state["older"].rand(), state["python"].random()


@pytest.mark.parametrize("name", CHANGES)
def test_a_change_is_named_and_undone(name):
    state = some()
    kept = dict(state)
    before = Attributes([{"other": 1}, state], HIDDEN)
    assert before.changed() is None
    CHANGES[name](state)
    assert before.changed() == name
    before.undo()
    assert before.changed() is None
    assert state.keys() == kept.keys()
    assert all(state[each] is kept[each] for each in kept)
    assert state["list"] == [1, [2]]
    assert state["set"] == {1, 2}
    assert state["dict"].keys() == {"a", "b"}
    np.testing.assert_array_equal(state["array"], [1, np.nan])
    assert drawn(state) == drawn(some())


def test_an_attribute_that_went_comes_back():
    state = some()
    before = Attributes([state], HIDDEN)
    del state["n"]
    assert before.changed() == "n"
    before.undo()
    assert state["n"] == 1


def test_hidden_names_and_what_functions_change_do_not_count():
    state = some()
    before = Attributes([state], HIDDEN)
    state["forward"] = 6
    state["array"] += 1
    assert before.changed({id(state["array"])}) is None
    before.undo()
    assert state["forward"] == 6
