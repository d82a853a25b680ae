"""A tree of links is walked once, and again after any change of it."""

import copy
import gc
import pickle
import weakref

import pytest

import cvzoo.links as L
from cvzoo.autodiff.parameter import Parameter


def small():
    return L.Chain(a=L.Linear(2, 3), b=L.Sequential(L.Linear(3, 3), L.Linear(3, 1)))


def paths(link):
    return [path for path, _ in link.namedlinks()], [path for path, _ in link.namedparams()]


def walked(link):
    """The same without what the link knows of itself."""
    links, parameters = ["/"], ["/" + name for name in link._params]
    for name, child in link.named_children():
        below = walked(child)
        links += [f"/{name}", *[f"/{name}{path}" for path in below[0][1:]]]
        parameters += [f"/{name}{path}" for path in below[1]]
    return links, parameters


def assign_in_scope(model):
    with model.init_scope():
        model.c = L.Linear(1, 1)
        model.p = Parameter(0, 3)


CHANGES = {
    "a child is added": lambda m: m.add_link("c", L.Linear(1, 1)),
    "a child and a parameter are assigned in init_scope": assign_in_scope,
    "a child is replaced": lambda m: setattr(m, "a", L.Chain(x=L.Linear(2, 2))),
    "a child is overwritten by something else": lambda m: setattr(m, "a", None),
    "a child is deleted": lambda m: delattr(m, "a"),
    "a parameter below is given up": lambda m: setattr(m.a, "b", None),
    "a parameter below is deleted": lambda m: delattr(m.a, "b"),
    "a parameter below is replaced": lambda m: setattr(m.a, "W", Parameter(0, (3, 2))),
    "a parameter is added below": lambda m: m.b[0].add_param("s", 3),
    "a layer is appended": lambda m: m.b.append(L.Linear(1, 1)),
    "a layer is inserted": lambda m: m.b.insert(0, L.Linear(3, 3)),
    "a layer is popped": lambda m: m.b.pop(),
    "a layer is put in another's place": lambda m: m.b.__setitem__(0, L.Linear(3, 3, nobias=True)),
    "a layer is deleted": lambda m: m.b.__delitem__(0),
    "layers are extended": lambda m: m.b.extend([L.Linear(1, 1), L.Chain(x=L.Linear(1, 1))]),
    "layers of a type are removed": lambda m: m.b.remove_by_layer_type("Linear"),
}


@pytest.mark.parametrize("change", CHANGES.values(), ids=CHANGES)
def test_a_change_shows_in_the_next_walk(change):
    model = small()
    assert paths(model) == walked(model)
    change(model)
    assert paths(model) == walked(model)
    assert [*map(id, model.params())] == [id(each) for link in model.links() for each in _own(link)]


def _own(link):
    return [link.__dict__[name] for name in link._params]


@pytest.mark.parametrize(
    "twin_of",
    [copy.copy, copy.deepcopy, lambda m: m.copy("copy"), lambda m: m.copy(), lambda m: pickle.loads(pickle.dumps(m))],
    ids=["copy.copy", "deepcopy", "copy", "share", "pickle"],
)
def test_a_copy_walks_itself(twin_of):
    model = small()
    before = paths(model)
    twin = twin_of(model)
    assert paths(twin) == before
    with twin.init_scope():
        twin.c = L.Linear(1, 1)
    assert "/c" in paths(twin)[0]
    assert all(a is not b for a, b in zip(model.b.params(), twin.b.params())) == (twin.b is not model.b)


def test_a_model_that_was_walked_dies_with_its_last_user_without_the_garbage_collector():
    model = small()
    paths(model)
    gc.disable()
    try:
        seen = weakref.ref(model)
        del model
        assert seen() is None
    finally:
        gc.enable()


def test_a_walk_that_goes_on_while_links_are_replaced_gives_those_of_its_beginning():
    model = small()
    first = model.b[0]
    walk = model.links()
    next(walk)
    model.b[0] = L.Linear(3, 3)
    assert first in [*walk]


class Drawn(L.Link):
    """Its children come and go without anybody's telling."""

    def __init__(self):
        self.held = []

    def named_children(self):
        return iter([(str(k), each) for k, each in enumerate(self.held)])

    def children(self):
        return iter(self.held)


def test_a_link_that_finds_its_children_itself_is_walked_every_time():
    model = L.Chain(drawn=Drawn())
    assert paths(model)[0] == ["/", "/drawn"]
    model.drawn.held.append(L.Linear(1, 1))
    assert paths(model)[0] == ["/", "/drawn", "/drawn/0"]


def test_a_step_of_training_walks_no_tree(monkeypatch):
    model = small()
    model.cleargrads()
    monkeypatch.setattr(L.Chain, "named_children", lambda self: pytest.fail("walked again"))
    model.cleargrads()
    assert len([*model.params()]) == 6
    assert model.device.name == "cpu"
