"""Gradients are handed over when they are final, and are those of `backward()` without a watcher."""

import numpy as np

import cvzoo.functions as F
from cvzoo.autodiff import final_gradients
from cvzoo.autodiff.variable import Variable


def leaf(name, shape=(3,)):
    return Variable(np.random.default_rng(len(name)).normal(size=shape).astype(np.float32), name=name)


def watched(loss, leaves, **settings):
    """Names in the order of the calls, and the gradients that were there."""
    found = {}
    with final_gradients(lambda x: found.setdefault(x.name, []).append(x.grad.copy())):
        loss.backward(**settings)
    assert all(len(grads) == 1 for grads in found.values())
    for x in leaves:
        if x.name in found:
            np.testing.assert_array_equal(found[x.name][0], x.grad)
    return list(found)


def test_leaves_are_final_in_reverse_order_of_their_first_use():
    a, bb, ccc = leaf("a"), leaf("bb"), leaf("ccc")
    assert watched(F.sum(((a * 2 + bb) * ccc) * ccc), (a, bb, ccc)) == ["ccc", "bb", "a"]


def test_a_leaf_that_is_used_again_is_final_after_its_last_use():
    a, bb = leaf("a"), leaf("bb")
    assert sorted(watched(F.sum((a * bb) + a * a * 3), (a, bb))) == ["a", "bb"]
    early, late = leaf("early"), leaf("late-")
    y = F.tanh(early * late)
    assert watched(F.sum(F.exp(F.exp(y)) * early), (early, late)) == ["early", "late-"]
    np.testing.assert_allclose(early.grad, _grad_of_early(early, late), rtol=1e-5)


def _grad_of_early(early, late):
    a, b = Variable(early.array), Variable(late.array)
    F.sum(F.exp(F.exp(F.tanh(a * b))) * a).backward()
    return a.grad


def test_what_gets_no_gradient_is_not_called_and_holds_nothing_back():
    a, integers = leaf("a"), Variable(np.arange(3), name="integers")
    unused = leaf("unused")
    F.sum(unused * 1)
    assert watched(F.sum(F.where(integers.array > 0, a, a * 2)), (a,)) == ["a"]
    assert unused.grad is None


def test_gradients_of_earlier_passes_are_included():
    a = leaf("a")
    F.sum(a * 2).backward()
    assert watched(F.sum(a * 3), (a,)) == ["a"]
    np.testing.assert_allclose(a.grad, 5)


def test_double_backprop_calls_nothing():
    a = leaf("a")
    assert watched(F.sum(a * a), (a,), enable_double_backprop=True) == []
    assert a.grad is not None
