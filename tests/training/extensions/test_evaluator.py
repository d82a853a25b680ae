"""Means over examples that the model does not learn from."""

import numpy as np
import pytest

import cvzoo
import cvzoo.functions as F
import cvzoo.links as L
from cvzoo.errors import ValueRangeError
from cvzoo.iterators import SerialIterator
from cvzoo.reporting import report
from cvzoo.training import extensions


class Model(cvzoo.Chain):
    """Reports its input's mean, whether it trains, and whether a graph is made."""

    def __init__(self):
        super().__init__()
        with self.init_scope():
            self.inner = Inner()

    def forward(self, x):
        y = self.inner(x)
        report({"mean": F.average(y), "train": float(cvzoo.config.train), "graph": float(y.creator is not None)}, self)
        return y


class Inner(cvzoo.Chain):
    def __init__(self):
        super().__init__()
        with self.init_scope():
            self.scale = L.Scale(W_shape=(1,))

    def forward(self, x):
        report({"n": len(x)}, self)
        return self.scale(x)


DATA = [np.float32([i]) for i in range(5)]


def evaluator(**more):
    return extensions.Evaluator(SerialIterator(DATA, 2, repeat=False, shuffle=False), Model(), **more)


def test_every_example_weighs_the_same():
    means = evaluator()()
    assert means["main/mean"] == 2  # the means of batches are 0.5, 2.5 and 4
    assert means["main/inner/n"] == pytest.approx((2 * 2 + 2 * 2 + 1) / 5)


def test_layers_predict_and_no_graph_is_made():
    means = evaluator()()
    assert means["main/train"] == means["main/graph"] == 0
    assert cvzoo.config.train
    assert cvzoo.config.enable_backprop


def test_each_run_reads_all_examples():
    each = evaluator()
    assert each() == each() == each()


class _Count(extensions.Evaluator):
    """As Chainer's users write their own evaluation."""

    def evaluate(self):
        iterator = self.get_iterator("main")
        iterator.reset()
        return {"n": sum(len(self.get_target("main")(np.stack(batch))) for batch in iterator)}


def test_a_subclass_may_override_the_evaluation():
    assert _Count(SerialIterator(DATA, 2, repeat=False), Model())() == {"n": 5}


def test_in_a_trainer_it_reports_under_its_name(small):
    it = small((2, "epoch"))
    seen = []
    it.trainer.extend(extensions.Evaluator(it.test_iterator(), it.model))
    it.trainer.extend(extensions.Evaluator(it.test_iterator(), it.model), name="train")
    it.trainer.extend(lambda trainer: seen.append(dict(trainer.observation)))
    it.trainer.run()
    with_scores = [i for i, observed in enumerate(seen, 1) if "validation/main/loss" in observed]
    assert with_scores == [5, 9]
    assert set(seen[4]) == {
        f"{prefix}main/{key}" for prefix in ("", "validation/", "train/") for key in ("loss", "accuracy")
    }


def test_evaluating_changes_nothing_of_training(small):
    plain = small(out="a")
    plain.trainer.run()
    watched = small(out="b")
    watched.trainer.extend(extensions.Evaluator(watched.test_iterator(), watched.model), trigger=(1, "iteration"))
    watched.trainer.run()
    for name, array in plain.weights().items():
        np.testing.assert_array_equal(array, watched.weights()[name], err_msg=name)


def test_functions_hooks_and_converters_can_be_given():
    hooked = []
    model = Model()
    each = extensions.Evaluator(
        {"main": SerialIterator(DATA, 2, repeat=False, shuffle=False)},
        {"main": model, "other": L.Linear(1, 1)},
        converter=lambda batch, device: {"x": np.stack(batch)},
        eval_hook=hooked.append,
        eval_func=lambda x: report({"largest": x.max()}, model),
    )
    assert each() == {"main/largest": pytest.approx((1 * 2 + 3 * 2 + 4) / 5)}
    assert hooked == [each]


def test_an_iterator_without_end_is_refused():
    with pytest.raises(ValueRangeError, match="must be finite"):
        extensions.Evaluator(SerialIterator(DATA, 2), Model())


def test_a_main_one_must_be_there():
    it = SerialIterator(DATA, 2, repeat=False)
    with pytest.raises(ValueRangeError, match="iterator must be called 'main'"):
        extensions.Evaluator({"test": it}, Model())
    with pytest.raises(ValueRangeError, match="target must be called 'main'"):
        extensions.Evaluator(it, {"model": Model()})
