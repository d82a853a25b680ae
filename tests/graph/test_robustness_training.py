"""Whatever happens between forward, backward and update: with replays, a network learns the same."""

import contextlib
import copy
import gc
import itertools
import signal
import sys
import threading
import warnings
import weakref

import numpy as np
import pytest
from compiled_networks import Doing, Small, assert_near, eager, photos, replayed

import cvzoo
import cvzoo.functions as F
import cvzoo.links as L
from cvzoo.autodiff.grad import grad
from cvzoo.autodiff.variable import Variable
from cvzoo.config.switches import no_backprop_mode, using_config

OTHER = Small()


def pair(make=Small, *, inference=False):
    """A network, and a compiled one with the same numbers."""
    model = make()
    compiled = copy.deepcopy(model)
    compiled.compile(photos(), train=True)
    if inference:
        compiled.compile(photos())
    return model, compiled


def both(models, act):
    """What act(model) gives for each; then their parameters, gradients and statistics must agree."""
    results = [act(model) for model in models]
    assert_same(*models)
    return results


def assert_same(a, b):
    for (name, p), (_, q) in zip(a.namedparams(), b.namedparams()):
        np.testing.assert_array_equal(p.array, q.array, err_msg=name)
        assert (p.grad is None) == (q.grad is None), name
        if p.grad is not None:
            np.testing.assert_allclose(
                p.grad, q.grad, rtol=1e-4, atol=1e-5 * np.abs(p.grad).max() + 1e-30, err_msg=name
            )
    for (name, p), (_, q) in zip(a.namedpersistents(), b.namedpersistents()):
        np.testing.assert_allclose(p, q, rtol=1e-6, err_msg=name)


def step(seed=0, shape=(2, 3, 9, 11)):
    def act(model):
        model.cleargrads()
        loss = F.sum(model(photos(seed, shape)) ** 2)
        loss.backward()
        return float(loss.array)

    return act


def replays(model):
    return len(model.graphs())


def test_steps_are_replayed_and_give_the_same_gradients():
    models = pair()
    assert replays(models[1]) == 1
    for seed in range(4):
        a, b = both(models, step(seed))
        assert a == pytest.approx(b, rel=1e-6)
    assert replays(models[1]) == 1


def test_optimizers_lead_to_the_same_place():
    models = pair()
    optimizers = [cvzoo.optimizers.MomentumSGD(lr=0.05).setup(model) for model in models]
    for seed in range(6):
        for optimizer, model in zip(optimizers, models):
            step(seed)(model)
            optimizer.update()
    for (name, p), (_, q) in zip(models[0].namedparams(), models[1].namedparams()):
        np.testing.assert_allclose(p.array, q.array, rtol=1e-4, atol=1e-6, err_msg=name)
    assert replays(models[1]) == 1


def test_forward_without_backward_leaves_the_next_step_right():
    models = pair()

    def act(model):
        for seed in range(3):
            model(photos(seed))
        kept = model(photos(7))
        model(photos(8))
        return step(1)(model), kept

    for _ in range(2):
        (_, a), (_, b) = both(models, act)
        assert_near(b, a)


def test_two_forwards_then_their_backwards_in_either_order():
    for order in ((0, 1), (1, 0)):
        models = pair()

        def act(model, order=order):
            model.cleargrads()
            losses = [F.sum(model(photos(seed)) ** 2) for seed in range(2)]
            for k in order:
                losses[k].backward()

        for _ in range(2):
            both(models, act)


def test_gradients_are_accumulated():
    models = pair()

    def act(model):
        model.cleargrads()
        for seed in range(4):
            (F.sum(model(photos(seed)) ** 2) / 4).backward()

    for _ in range(2):
        both(models, act)


def test_a_loss_may_be_scaled_and_be_of_several_calls():
    models = pair()

    def act(model):
        model.cleargrads()
        loss = 1024 * F.sum(model(photos(1)) ** 2) + F.sum(F.exp(model(photos(2))))
        loss.backward()

    for _ in range(3):
        both(models, act)


def test_a_result_may_be_used_twice_and_its_gradient_be_kept():
    models = pair()

    def act(model):
        model.cleargrads()
        y = model(photos(1))
        loss = F.sum(y * y) + F.sum(F.relu(y))
        loss.backward(retain_grad=True)
        return y.grad

    for _ in range(3):
        a, b = both(models, act)
        np.testing.assert_allclose(a, b, rtol=1e-5)


def test_a_result_may_be_computed_from_another_result():
    def gives_both(link, x):
        y = link.conv(x)
        return {"maps": y, "mean": F.average(F.sigmoid(y), axis=(2, 3)), "first": y[:, :1]}

    models = pair(lambda: Doing(gives_both))
    assert replays(models[1]) == 1

    def act(model):
        model.cleargrads()
        found = model(photos(1))
        (F.sum(found["maps"] ** 2) + F.sum(found["mean"]) + 3 * F.sum(found["first"])).backward()

    for _ in range(3):
        both(models, act)
    assert replays(models[1]) == 1


def test_an_error_between_forward_and_backward_leaves_the_next_step_right():
    models = pair()

    def act(model):
        with contextlib.suppress(ZeroDivisionError):
            y = model(photos(5))
            raise ZeroDivisionError(y.shape)
        return step(2)(model)

    for _ in range(3):
        both(models, act)


@pytest.mark.parametrize("error", [MemoryError, KeyboardInterrupt])
def test_an_error_at_any_step_there_or_back_leaves_the_next_step_right(error):
    models = pair()
    (graph,) = models[1].graphs()
    steps = graph.program._steps

    def fail():
        raise error

    for k in range(0, len(steps), 3):
        steps[k], plain = fail, steps[k]
        with pytest.raises(error):
            step(3)(models[1])
        steps[k] = plain
        for name in ("avg_mean", "avg_var"):  # whether the interrupted step changed the statistics is its own affair
            getattr(models[1].bn, name)[...] = getattr(models[0].bn, name)
        both(models, step(k))
    assert models[1].graphs() == [graph]


def test_inference_between_steps_sees_what_was_learned():
    models = pair(inference=True)
    optimizers = [cvzoo.optimizers.SGD(lr=0.05).setup(model) for model in models]
    for seed in range(5):
        for optimizer, model in zip(optimizers, models):
            step(seed)(model)
            optimizer.update()
        for _ in range(2):
            got = replayed(models[1], photos(9))
            assert_near(got, eager(models[1], photos(9)))
            np.testing.assert_allclose(got.array, eager(models[0], photos(9)).array, rtol=1e-3, atol=1e-4)


def test_inference_between_forward_and_backward_disturbs_neither():
    models = pair(inference=True)

    def act(model):
        model.cleargrads()
        loss = F.sum(model(photos(1)) ** 2)
        seen = replayed(model, photos(2))
        loss.backward()
        return seen

    for _ in range(3):
        a, b = both(models, act)
        assert_near(b, a)


@pytest.mark.parametrize(
    "change",
    [
        lambda m: m.conv.disable_update(),
        lambda m: m.enable_update(),
        lambda m: setattr(m.fc.W, "requires_grad", False),
        lambda m: m.bn.disable_update(),
        lambda m: m.fc.W.array.__imul__(2),
        lambda m: setattr(m.fc.W, "array", m.fc.W.array * 3),
        lambda m: setattr(m, "slope", 0.7),
        lambda m: setattr(m.bn, "decay", 0.5),
        lambda m: m.bn.avg_mean.__iadd__(1),
        lambda m: m.copyparams(OTHER),
    ],
)
def test_what_changes_between_steps_is_noticed(change):
    models = pair()
    for seed in range(2):
        both(models, step(seed))
    for model in models:
        change(model)
    for seed in range(3):
        both(models, step(seed))


def test_layers_exchanged_between_steps_are_noticed():
    models = pair()
    both(models, step(0))
    other = L.Linear(8, 3)
    for model in models:
        with model.init_scope():
            model.fc = copy.deepcopy(other)
    for seed in range(3):
        a, b = both(models, step(seed))
        assert a == pytest.approx(b, rel=1e-5)


def test_shapes_may_change_from_step_to_step():
    models = pair()
    for k in range(9):
        both(models, step(k, (1 + k % 3, 3, 8 + k % 2, 9)))
    assert replays(models[1]) > 1


def test_gradients_of_the_argument_are_given():
    models = pair()

    def act(model):
        x = Variable(photos(1))
        model.cleargrads()
        F.sum(model(x) ** 2).backward()
        return x.grad

    for _ in range(4):
        a, b = both(models, act)
        np.testing.assert_allclose(a, b, rtol=1e-5, atol=1e-7)


def test_derivatives_of_derivatives_are_right():
    models = pair(lambda: Doing(lambda link, x: F.sum(F.sigmoid(link.conv(x)))))

    def act(model):
        x = Variable(photos(1))
        model.cleargrads()
        (gx,) = grad([model(x)], [x], enable_double_backprop=True)
        F.sum(gx**2).backward()
        return gx

    for _ in range(3):
        a, b = both(models, act)
        np.testing.assert_allclose(a.array, b.array, rtol=1e-4, atol=1e-6)


def test_random_functions_draw_new_numbers_in_each_step_and_the_same_ones_back():
    def drops(link, x):
        return F.dropout(link.conv(x), 0.5)

    model = Doing(drops)
    model.compile(photos(), train=True)
    seen = []
    for _ in range(4):
        model.cleargrads()
        y = model(np.ones((2, 3, 9, 11), np.float32))
        seen.append(y.array.copy())
        F.sum(y).backward()
        # of b: how many were kept, times two
        kept = 2 * (y.array != 0).sum(axis=(0, 2, 3))
        np.testing.assert_allclose(model.conv.b.grad, kept, rtol=1e-5)
    assert not any(np.array_equal(a, b) for a, b in itertools.pairwise(seen))


def test_results_and_gradients_that_are_kept_never_change():
    _, model = pair()
    kept = []
    for seed in range(4):
        model.cleargrads()
        y = model(photos(seed))
        F.sum(y**2).backward()
        arrays = [y.array, *(p.grad for p in model.params())]
        kept.append((arrays, [a.copy() for a in arrays]))
    for arrays, copies in kept:
        for a, b in zip(arrays, copies):
            np.testing.assert_array_equal(a, b)


def test_without_gradients_and_in_test_mode_a_network_compiled_for_learning_is_as_it_is():
    models = pair()
    with no_backprop_mode():
        both(models, lambda model: model(photos(1)))
    with using_config("train", False):
        a, b = both(models, lambda model: model(photos(1)))
    assert_near(b, a)
    both(models, step(3))


def test_who_reads_values_while_learning_is_named_once():
    def reads(link, x):
        h = link.conv(x)
        return h * 2 if h.array.mean() > 1e9 else h * 3

    model = Doing(reads)
    with pytest.warns(RuntimeWarning, match="is not trained as a graph: values are read in reads"):
        assert model.compile(photos(), train=True) is None
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for seed in range(3):
            model.cleargrads()
            F.sum(model(photos(seed))).backward()
            assert model.conv.W.grad is not None


def test_threads_learn_apart():
    model = Small()
    model.compile(train=True)
    twins = [copy.deepcopy(model) for _ in range(4)]
    plain = [copy.deepcopy(model) for _ in range(4)]
    for each in plain:
        each.uncompile()

    def work(k):
        for seed in range(5):
            step(seed + k)(twins[k])

    threads = [threading.Thread(target=work, args=(k,)) for k in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for k in range(4):
        for seed in range(5):
            step(seed + k)(plain[k])
        assert_same(plain[k], twins[k])


def test_a_network_that_learned_dies_with_its_last_handle():
    model = pair()[1]
    y = model(photos())
    F.sum(y).backward()
    gone = weakref.ref(model), weakref.ref(model.graphs()[0])
    del model, y
    gc.collect()
    assert [each() for each in gone] == [None, None]


def test_a_loss_that_is_kept_holds_no_more_than_its_own_step():
    _, model = pair()
    kept = [F.sum(model(photos(seed)) ** 2) for seed in range(3)]
    del kept[1]
    kept[1].backward()
    kept[0].backward()
    del kept
    assert step(1)(model) > 0
    assert replays(model) == 1


class Alarm(BaseException):
    """Comes at any time."""


@pytest.mark.skipif(not hasattr(signal, "setitimer"), reason="needs timers")
@pytest.mark.skipif(threading.current_thread() is not threading.main_thread(), reason="signals want the main thread")
def test_interrupts_at_any_time_leave_learning_usable(own_switches, monkeypatch):
    def ring(number, frame):
        raise Alarm

    plain, model = pair()
    before = signal.signal(signal.SIGALRM, ring)
    came, lost = 0, []
    monkeypatch.setattr(sys, "unraisablehook", lost.append)  # in a destructor, no exception gets out
    try:
        for k in range(90):
            if k % 30 == 0:
                model.forward.learning.forget()  # some alarms come while it is recorded
            try:
                signal.setitimer(signal.ITIMER_REAL, 0.0002 + 0.00007 * k, 0.5)
                while not lost:
                    step(1)(model)
                came += len(lost)
                lost.clear()
            except Alarm:
                came += 1
            finally:
                signal.setitimer(signal.ITIMER_REAL, 0)
            for name in ("avg_mean", "avg_var"):
                getattr(model.bn, name)[...] = getattr(plain.bn, name)
            both((plain, model), step(k % 3))
    finally:
        signal.signal(signal.SIGALRM, before)
    assert came == 90
    model.compile(photos(), train=True)
    both((plain, model), step(5))
    assert replays(model) == 1
