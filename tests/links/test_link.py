"""Link: registration, walking, copies, values in and out."""

import copy
import pickle

import numpy as np
import pytest

from cvzoo.autodiff.parameter import Parameter
from cvzoo.errors.exceptions import BackendError, DtypeError, GraphError, ValueRangeError, WeightsMismatchError
from cvzoo.initializers.normal import HeNormal
from cvzoo.links.chain import Chain
from cvzoo.links.link import Link


class Scale(Link):
    def __init__(self, size, start=1):
        with self.init_scope():
            self.W = Parameter(start, size)
            self.b = Parameter(0, size)
        self.add_persistent("steps", 0)
        self.add_persistent("mean", np.zeros(size, "float32"))
        self.note = "not stored"

    def forward(self, x):
        return x


class Pair(Chain):
    def __init__(self):
        with self.init_scope():
            self.first = Scale(2)
            self.second = Scale(3, HeLike())
            self.alone = Parameter(7, (1,))
        self.outside = Scale(4)  # not in the scope: not a child

    def forward(self, x):
        return self.second(self.first(x))


class HeLike:
    def __call__(self, array):
        array[...] = np.arange(array.size).reshape(array.shape)


def test_only_what_is_assigned_in_the_scope_belongs_to_the_link():
    pair = Pair()
    assert [path for path, _ in pair.namedparams()] == [
        "/alone",
        "/first/W",
        "/first/b",
        "/second/W",
        "/second/b",
    ]
    assert [path for path, _ in pair.namedlinks()] == ["/", "/first", "/second"]
    assert [path for path, _ in pair.namedpersistents()] == [
        "/first/steps",
        "/first/mean",
        "/second/steps",
        "/second/mean",
    ]
    assert pair.count_params() == 11
    assert pair.first.name == "first"
    assert pair["second"] is pair.second


def test_init_scope_ends_also_after_an_error():
    link = Link()
    with pytest.raises(RuntimeError), link.init_scope():
        raise RuntimeError
    link.W = Parameter(0, 2)
    assert list(link.params()) == []


def test_attributes_that_are_deleted_or_replaced_are_no_longer_registered():
    pair = Pair()
    del pair.first
    assert [path for path, _ in pair.namedparams()] == ["/alone", "/second/W", "/second/b"]
    scale = Scale(2)
    del scale.steps, scale.b
    assert sorted(scale.state_arrays()) == ["W", "mean"]


def test_a_parameter_is_replaced_by_a_parameter_or_by_nothing():
    scale = Scale(2)
    with pytest.raises(DtypeError, match=r"(?s)W is a parameter of Scale.*link\.W\.array"):
        scale.W = np.ones(2, "float32")
    scale.W = other = Parameter(5, 2)
    assert [id(p) for p in scale.params()] == [id(other), id(scale.b)]
    scale.b = None
    assert [path for path, _ in scale.namedparams()] == ["/W"]


def test_a_child_is_replaced_by_a_link_or_is_no_child_any_more():
    pair = Pair()
    pair.second = Scale(4)
    assert pair.second.name == "second"
    assert pair.count_params() == 13
    pair.first = len
    assert [path for path, _ in pair.namedlinks()] == ["/", "/second"]
    assert pair.count_params() == 9


def test_a_name_is_given_once():
    scale = Scale(2)
    with pytest.raises(ValueRangeError, match="already has"):
        scale.add_persistent("note", 1)
    with pytest.raises(ValueRangeError, match="already has"):
        Pair().add_link("first", Scale(1))
    with pytest.raises(ValueRangeError, match="no attribute"):
        scale.register_persistent("nothing")
    with pytest.raises(ValueRangeError, match="no child 'third'"):
        Pair()["third"]


def test_a_link_without_forward_says_what_to_write():
    with pytest.raises(GraphError, match=r"write forward\(self, x\)"):
        Link()(1)


def test_share_copies_see_the_same_numbers_but_have_gradients_of_their_own():
    pair = Pair()
    twin = pair.copy()
    twin.first.W.array[0] = 5
    assert pair.first.W.array[0] == 5
    twin.first.W.grad = np.ones(2, "float32")
    assert pair.first.W.grad is None
    assert twin.first is not pair.first
    del twin.second
    assert "second" in dict(pair.named_children())


def test_copies_are_independent_and_init_draws_anew():
    pair = Pair()
    pair.second.W.array[...] = 9
    twin = pair.copy("copy")
    twin.second.W.array[0] = 1
    assert pair.second.W.array.tolist() == [9, 9, 9]
    assert pair.copy("init").second.W.array.tolist() == [0, 1, 2]
    assert copy.deepcopy(pair).second.W.array.tolist() == [9, 9, 9]
    with pytest.raises(ValueRangeError, match="mode"):
        pair.copy("deep")


def test_pickle_keeps_values_and_registration():
    pair = Pair()
    pair.first.W.array[...] = 3
    twin = pickle.loads(pickle.dumps(pair))
    assert {k: v.tolist() for k, v in twin.state_arrays().items()} == {
        k: v.tolist() for k, v in pair.state_arrays().items()
    }


def test_state_goes_out_and_in():
    pair, other = Pair(), Pair()
    pair.first.W.array[...] = 3
    pair.first.steps = 12
    pair.first.mean[...] = 4
    report = other.load_arrays(pair.state_arrays())
    assert report.is_clean
    assert other.first.W.array.tolist() == [3, 3]
    assert other.first.steps == 12
    assert other.first.mean.tolist() == [4, 4]


def test_load_reports_what_does_not_fit_and_strict_changes_nothing():
    pair = Pair()
    arrays = pair.state_arrays()
    arrays["stranger"] = np.zeros(1)
    arrays["first/W"] = np.full(5, 8.0)
    arrays["second/b"] = np.full(3, 8.0)
    del arrays["alone"]
    with pytest.raises(WeightsMismatchError, match="first/W"):
        pair.load_arrays(arrays)
    assert pair.second.b.array.tolist() == [0, 0, 0]
    report = pair.load_arrays(arrays, strict=False)
    assert report.missing == ("alone",)
    assert report.unexpected == ("stranger",)
    assert dict(report.mismatching) == {"first/W": ((2,), (5,))}
    assert pair.second.b.array.tolist() == [8, 8, 8]


def test_load_renames_and_gives_lazy_parameters_their_shape():
    link = Link()
    with link.init_scope():
        link.W = Parameter(HeNormal())
    with pytest.raises(GraphError, match="no value yet"):
        link.state_arrays()
    link.load_arrays({"weight": np.ones((2, 3))}, rename={"weight": "W"})
    assert link.W.array.tolist() == [[1, 1, 1], [1, 1, 1]]


def test_gradients_are_cleared_and_updates_switched():
    pair = Pair()
    pair.first.W.grad = np.ones(2, "float32")
    pair.cleargrads()
    assert pair.first.W.grad is None
    pair.disable_update()
    assert not any(p.requires_grad for p in pair.params())
    pair.enable_update()
    assert all(p.requires_grad for p in pair.params())


def test_devices():
    assert Pair().to_device("cpu").first.W.array.tolist() == [1, 1]
    with pytest.raises(ValueRangeError, match="no such device"):
        Pair().to_device("tpu")
    with pytest.raises(BackendError, match=r"no GPU can be used here|there is no device gpu:99"):
        Pair().to_device("gpu:99")


def test_repr_shows_the_tree():
    assert "(first): Scale(W=(2,), b=(2,))" in repr(Pair())


def test_a_link_takes_shapes_of_parameters_by_name():
    link = Link(W=(3, 2), b=3, half=((2,), np.float16), late=None)
    assert [path for path, _ in link.namedparams()] == ["/W", "/b", "/half", "/late"]
    assert [link.W.shape, link.b.shape, link.half.shape, link.late.shape] == [(3, 2), (3,), (2,), None]
    assert [str(link.W.dtype), str(link.half.dtype)] == ["float32", "float16"]
    assert np.isnan(link.W.array).all()  # nobody computes with it unnoticed
    link.add_param("c", (2,), initializer=1.5)
    assert link.c.array.tolist() == [1.5, 1.5]
    link.cleargrads()
    link.W.array[...] = 1
    assert np.isfinite(link.copy("copy").W.array).all()


@pytest.mark.parametrize("name", ["W", "params", "name"])
def test_a_parameter_does_not_hide_what_is_there(name):
    with pytest.raises(ValueRangeError, match="already has an attribute"):
        Link(W=(3, 2)).add_param(name, (1,))
