"""Averaged weights that are validated and saved, while the weights themselves are trained."""

import numpy as np
import pytest

from cvzoo.errors import ValueRangeError
from cvzoo.optimizers import ExponentialMovingAverage
from cvzoo.training import extensions
from cvzoo.weights.formats.safetensors import read_safetensors


@pytest.fixture
def run(small):
    """A function (stop, *, out, averaged=True) -> (Small after its run, what the validations saw, the hook)."""

    def start(stop, *, out="result", averaged=True, before=None):
        it = small(stop, out)
        average = ExponentialMovingAverage(0.9, persistent=True)
        it.optimizer.add_hook(average)
        seen = []

        def validation(trainer):
            seen.append(it.weights())
            trainer.observation["validation/main/score"] = float(trainer.updater.iteration)

        extension = extensions.Averaged(validation, average) if averaged else validation
        it.trainer.extend(extension, trigger=(1, "epoch"), priority=300, call_before_training=bool(before))
        best = extensions.BestModel(it.model, "validation/main/score")
        it.trainer.extend(extensions.Averaged(best, average) if averaged else best)
        it.trainer.extend(extensions.snapshot(autoload=True))
        it.trainer.run()
        return it, seen, average

    return start


def assert_equal(a, b):
    assert a.keys() == b.keys()
    for name, array in a.items():
        np.testing.assert_array_equal(array, b[name], err_msg=name)


def test_training_has_the_same_bits_with_and_without_averaged_validations(run):
    averaged, plain = (run((3, "epoch"), out=str(flag), averaged=flag) for flag in (True, False))
    assert_equal(averaged[0].weights(), plain[0].weights())
    assert not np.array_equal(averaged[1][-1]["predictor/fc1/W"], plain[1][-1]["predictor/fc1/W"])


def test_the_validation_and_the_best_model_have_the_averages(run, tmp_path):
    it, seen, average = run((2, "epoch"))
    for name in ("predictor/fc1/W", "predictor/bn/gamma", "predictor/bn/avg_mean", "predictor/bn/avg_var"):
        np.testing.assert_array_equal(seen[-1][name], average.averages[name])
        np.testing.assert_array_equal(read_safetensors(tmp_path / "result/best.safetensors")[name], seen[-1][name])
        assert not np.array_equal(it.weights()[name], seen[-1][name])


def test_a_resumed_run_validates_the_same_averages(run):
    _, straight, _ = run((4, "epoch"), out="straight")
    _, first, _ = run((2, "epoch"), out="halves")
    _, second, _ = run((4, "epoch"), out="halves")
    for a, b in zip(straight, first + second, strict=True):
        assert_equal(a, b)


def test_before_the_first_update_the_weights_are_validated(run, small):
    untrained = small().weights()
    _, seen, _ = run((1, "epoch"), before=True)
    np.testing.assert_array_equal(seen[0]["predictor/fc1/W"], untrained["predictor/fc1/W"])


def test_an_evaluator_keeps_its_name_trigger_and_priority(small):
    it = small((2, "epoch"))
    average = ExponentialMovingAverage(0.5)
    it.optimizer.add_hook(average)
    plain = extensions.Evaluator(it.test_iterator(), it.model)
    averaged = extensions.Averaged(plain, average)
    assert (averaged.trigger, averaged.priority, averaged.default_name) == ((1, "epoch"), 300, "validation")
    it.trainer.extend(averaged, name="averaged")
    it.trainer.extend(extensions.LogReport())
    it.trainer.run()
    assert "averaged/main/accuracy" in it.trainer.get_extension("LogReport").log[-1]


def test_an_error_of_the_validation_leaves_the_weights(small):
    it = small((1, "epoch"))
    average = ExponentialMovingAverage(0.5)
    it.optimizer.add_hook(average)

    def fails(trainer):
        raise KeyError("validation")

    it.trainer.extend(extensions.Averaged(fails, average), trigger=(5, "iteration"))
    with pytest.raises(KeyError):
        it.trainer.run()
    other = small((1, "epoch"))
    other.trainer.run()
    assert_equal(it.weights(), other.weights())


def test_what_is_no_extension_is_refused():
    with pytest.raises(ValueRangeError, match="extended with"):
        extensions.Averaged(3, ExponentialMovingAverage())
