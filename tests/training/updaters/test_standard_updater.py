"""One step: what the loss is called with, and what is counted and kept."""

import numpy as np
import pytest

import cvzoo
import cvzoo.functions as F
import cvzoo.links as L
from cvzoo.errors import BackendError, ValueRangeError, WeightsMismatchError
from cvzoo.iterators import SerialIterator
from cvzoo.optimizers import SGD, Adam, MomentumSGD
from cvzoo.training import StandardUpdater, Trainer

X = np.arange(12, dtype=np.float32).reshape(6, 2)


def updater_of(data, loss_func=None, batch_size=4, **more):
    model = L.Linear(2, 1, initialW=0)
    optimizer = SGD(lr=0.1).setup(model)
    return StandardUpdater(SerialIterator(data, batch_size, shuffle=False), optimizer, loss_func=loss_func, **more)


@pytest.mark.parametrize(
    ("data", "args", "kwargs"),
    [
        ([(x, i) for i, x in enumerate(X)], 2, ()),
        ([{"x": x, "t": i} for i, x in enumerate(X)], 0, ("t", "x")),
        (list(X), 1, ()),
    ],
)
def test_the_loss_gets_what_examples_are(data, args, kwargs):
    calls = []

    def loss_func(*got, **named):
        calls.append((got, named))
        return F.sum(updater.get_optimizer("main").target(got[0] if got else named["x"]))

    updater = updater_of(data, loss_func)
    updater.update()
    got, named = calls[0]
    assert (len(got), tuple(sorted(named))) == (args, kwargs)
    np.testing.assert_array_equal(got[0] if got else named["x"], X[:4])


def test_a_step_follows_the_gradient():
    updater = updater_of(list(X), None)
    updater.get_optimizer("main").target.forward = lambda x: F.sum(F.linear(x, updater.get_optimizer("main").target.W))
    updater.update()
    np.testing.assert_allclose(updater.get_optimizer("main").target.W.array, -0.1 * X[:4].sum(0)[None])


def test_steps_and_epochs_are_counted():
    updater = updater_of(list(X), lambda x: F.sum(updater.get_optimizer("main").target(x)))
    rows = []
    for _ in range(4):
        updater.update()
        rows.append(
            (
                updater.iteration,
                updater.epoch,
                updater.is_new_epoch,
                updater.epoch_detail,
                updater.previous_epoch_detail,
            )
        )
    assert rows == [
        (1, 0, False, 4 / 6, 0.0),
        (2, 1, True, 8 / 6, 4 / 6),
        (3, 2, True, 2.0, 8 / 6),
        (4, 2, False, 2 + 4 / 6, 2.0),
    ]
    assert updater.get_optimizer("main").epoch == 2
    assert updater.get_optimizer("main").t == 4


def test_a_converter_can_be_given():
    seen = []
    updater = updater_of(
        list(X),
        lambda x: F.sum(updater.get_optimizer("main").target(x)),
        converter=lambda batch, device: seen.append(device) or np.stack(batch),
        device="cpu",
    )
    updater.update()
    assert seen == ["cpu"]


def test_a_device_that_is_not_there_is_told():
    with pytest.raises(BackendError):
        updater_of(list(X), device="gpu:99")


def two(out, stop):
    """A generator and its critic, each with an optimizer, on two iterators."""
    cvzoo.set_seed(0)
    generator, critic = L.Linear(2, 2), L.Linear(2, 1)

    def step(updater):
        real, noise = (np.stack(updater.get_iterator(name).next()) for name in ("main", "noise"))
        optimizer = updater.get_optimizer("critic")
        optimizer.update(lambda: F.sum(critic(generator(noise))) - F.sum(F.tanh(critic(real))))
        updater.get_optimizer("main").update(lambda: -F.average(F.tanh(critic(generator(noise)))))

    updater = StandardUpdater(
        {"main": SerialIterator(X, 4, seed=1), "noise": SerialIterator(X[::-1].copy(), 3, seed=2)},
        {"main": Adam(0.01).setup(generator), "critic": MomentumSGD(0.01).setup(critic)},
        update_core=step,
    )
    return Trainer(updater, stop, out=out)


def test_several_iterators_and_optimizers_go_on_with_the_same_bits(tmp_path):
    straight = two(tmp_path, (9, "iteration"))
    straight.run()
    half = two(tmp_path, (4, "iteration"))
    half.run()
    state = half.state()
    rest = two(tmp_path, (9, "iteration"))
    rest.load_state(state)
    rest.run()
    optimizers = [each.updater.get_all_optimizers() for each in (straight, rest)]
    assert list(optimizers[0]) == ["main", "critic"]
    for name in optimizers[0]:
        first, second = (each[name] for each in optimizers)
        assert first.t == second.t == 9
        assert first.epoch == second.epoch == 6
        for path, array in first.target.state_arrays().items():
            np.testing.assert_array_equal(array, second.target.state_arrays()[path], err_msg=f"{name} {path}")


class _Twice(StandardUpdater):
    """As Chainer's users write their own steps."""

    def update_core(self):
        batch = self.converter(self.get_iterator("main").next(), self.device)
        for _ in range(2):
            self.get_optimizer("main").update(lambda: F.sum(self.get_optimizer("main").target(batch)))


def test_a_subclass_may_override_the_step():
    optimizer = SGD(0.1).setup(L.Linear(2, 1))
    updater = _Twice(SerialIterator(X, 2), optimizer)
    updater.update()
    assert (updater.iteration, optimizer.t) == (1, 2)


def test_what_is_missing_is_told():
    iterator, optimizer = SerialIterator(X, 2), SGD().setup(L.Linear(2, 1))
    with pytest.raises(ValueRangeError, match="iterator must be called 'main'"):
        StandardUpdater({"train": iterator}, optimizer)
    with pytest.raises(ValueRangeError, match="optimizer must be called 'main'"):
        StandardUpdater(iterator, {"a": optimizer})
    with pytest.raises(ValueRangeError, match="has no target"):
        StandardUpdater(iterator, SGD())


def test_a_state_of_another_training_is_refused_before_anything_changes(small):
    it = small((2, "iteration"))
    it.trainer.run()
    state = it.updater.state()
    other = small((2, "iteration"))
    before = other.weights()
    with pytest.raises(ValueRangeError, match="different iterators"):
        other.updater.load_state({**state, "iterators": {"a": 1}})
    with pytest.raises(WeightsMismatchError):
        other.updater.load_state({**state, "targets": {"main": {"x": np.zeros(1)}}})
    for name, array in before.items():
        np.testing.assert_array_equal(array, other.weights()[name])
