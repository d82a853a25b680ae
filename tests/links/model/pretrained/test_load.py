"""A file goes whole into a detector, or is refused; what was asked to be otherwise starts anew."""

import functools

import numpy as np
import pytest

from cvzoo.config.randomness import get_random_state
from cvzoo.errors.exceptions import WeightsMismatchError
from cvzoo.links.chain import Chain, ChainList
from cvzoo.links.connection.batch_normalization import BatchNormalization
from cvzoo.links.connection.linear import Linear
from cvzoo.links.model.pretrained.load import load_pretrained
from cvzoo.links.model.pretrained.names import Names
from cvzoo.links.model.pretrained.source import PretrainedFile, read_pretrained


class Net(Chain):
    def __init__(self, n_class=3, depth=2):
        with self.init_scope():
            self.base = Linear(4, 5)
            self.norm = BatchNormalization(5)
            self.convs = ChainList(*(Linear(5, 5) for _ in range(depth)))
            self.head = Linear(5, n_class)


DAMAGES = {
    "one is lacking": ({"base/b": None}, r"missing in the file: base/b"),
    "one is left over": ({"odd/W": np.zeros(3, np.float32)}, r"unexpected in the file: odd/W"),
    "one has another shape": ({"base/W": np.zeros((9, 9), np.float32)}, r"base/W \(model \(5, 4\), file \(9, 9\)\)"),
}


def file_of(arrays):
    return PretrainedFile("file", arrays)


def damaged(arrays, change):
    return {name: array for name, array in (arrays | change).items() if array is not None}


def assert_nothing_changed(model, call, says):
    before = {name: np.array(array) for name, array in model.state_arrays().items()}
    with pytest.raises(WeightsMismatchError, match=says):
        call()
    for name, array in model.state_arrays().items():
        np.testing.assert_array_equal(array, before[name])


def test_a_file_of_the_same_network_is_taken_and_no_other_is_made():
    made, model = Net(), Net()
    arrays = made.state_arrays()
    del arrays["norm/N"]
    report = load_pretrained(model, file_of(arrays | {"other/N": np.zeros(())}), as_written=[lambda: 1 / 0])
    assert not report.mismatching
    np.testing.assert_array_equal(model.base.W.array, made.base.W.array)


@pytest.mark.parametrize("owns", [(), (Net,), (functools.partial(Net, 3, 4), Net)])
@pytest.mark.parametrize(("change", "says"), DAMAGES.values(), ids=DAMAGES)
def test_a_damaged_file_is_refused_by_name(change, says, owns):
    model = Net()
    assert_nothing_changed(
        model,
        lambda: load_pretrained(model, file_of(damaged(Net().state_arrays(), change)), as_written=owns),
        says,
    )


@pytest.mark.parametrize(("change", "says"), DAMAGES.values(), ids=DAMAGES)
@pytest.mark.parametrize("asked", [{"n_class": 7}, {"depth": 1}, {"depth": 3}])
def test_a_damaged_file_is_refused_as_well_where_something_else_is_asked_for(asked, change, says):
    model = Net(**asked)
    assert_nothing_changed(
        model,
        lambda: load_pretrained(model, file_of(damaged(Net().state_arrays(), change)), as_written=[Net]),
        says,
    )


@pytest.mark.parametrize(
    ("asked", "says"),
    [
        ({"n_class": 7}, "10 arrays were loaded, 2 initialized anew: head/W, head/b$"),
        ({"depth": 3}, "12 arrays were loaded, 2 initialized anew: convs/2/W, convs/2/b$"),
        ({"depth": 1}, "10 arrays were loaded, 2 dropped: convs/1/W, convs/1/b$"),
    ],
)
def test_what_was_asked_to_be_otherwise_starts_anew_with_a_warning(asked, says):
    made, model = Net(depth=2), Net(**asked)
    state = get_random_state()
    with pytest.warns(UserWarning, match=says):
        load_pretrained(model, file_of(made.state_arrays()), as_written=[functools.partial(Net, 9), Net])
    assert get_random_state() == state
    np.testing.assert_array_equal(model.base.W.array, made.base.W.array)
    np.testing.assert_array_equal(model.convs[0].W.array, made.convs[0].W.array)


def test_a_file_of_which_the_model_can_take_nothing_is_refused():
    class Other(Chain):
        def __init__(self):
            with self.init_scope():
                self.a = Linear(2, 2)

    with pytest.raises(WeightsMismatchError, match="a/W"):
        load_pretrained(Net(), file_of(Other().state_arrays()), as_written=[Other])


def test_a_backbone_is_filled_whole_and_alone():
    arrays = {name: array for name, array in Net().state_arrays().items() if name.startswith("base/")}
    model = Net(9)

    def load(arrays):
        return load_pretrained(model, PretrainedFile("file", arrays, only=("base/",)))

    assert "norm/gamma" in load(arrays).missing
    np.testing.assert_array_equal(model.base.W.array, arrays["base/W"])
    for change, says in DAMAGES.values():
        assert_nothing_changed(model, functools.partial(load, damaged(arrays, change)), says)
    with pytest.raises(WeightsMismatchError, match="norm/gamma"):
        load(Net().state_arrays())


def test_heads_of_other_classes_start_anew_with_a_warning():
    made, model = Net(7), Net()
    with pytest.warns(UserWarning, match="10 arrays were loaded, 2 initialized anew: head/W, head/b"):
        report = load_pretrained(model, file_of(made.state_arrays()), may_start_anew=("head",))
    assert sorted(report.mismatching) == ["head/W", "head/b"]
    np.testing.assert_array_equal(model.base.W.array, made.base.W.array)


@pytest.mark.parametrize("change", [{"head/b": None}, {"head/more": np.zeros(2, np.float32)}])
def test_a_head_that_lacks_an_array_or_has_one_too_many_is_refused(change):
    model = Net()
    file = PretrainedFile("file", damaged(Net(7).state_arrays(), change))
    assert_nothing_changed(model, lambda: load_pretrained(model, file, may_start_anew=("head",)), "head/")


def test_without_a_file_nothing_is_loaded():
    assert load_pretrained(Net(), None) is None


def test_an_array_that_is_looked_for_in_vain_is_told(tmp_path):
    np.savez(tmp_path / "file.npz", x=np.zeros(1))
    names = {"any": Names(marks=(), finish=lambda named, n_class: named["odd/W"])}
    with pytest.raises(WeightsMismatchError, match=r"it lacks an array\n.*odd/W"):
        read_pretrained(tmp_path / "file.npz", {}, names)
