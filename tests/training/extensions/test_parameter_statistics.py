"""Numbers about parameters."""

import numpy as np
import pytest

from cvzoo.errors.exceptions import ValueRangeError
from cvzoo.links.chain import Sequential
from cvzoo.links.connection.linear import Linear
from cvzoo.training.extensions.parameter_statistics import ParameterStatistics


def reported(counting_trainer, extension):
    trainer = counting_trainer([extension], until=(4, "iteration"))
    trainer.run()
    return trainer.observation


@pytest.fixture
def link():
    link = Linear(3, 2)
    link.W.array[...] = [[0, 1, 2], [3, 4, 5]]
    link.b.array[...] = 0
    link.W.grad = np.full((2, 3), 7, np.float32)
    return link


def test_parameters_and_gradients_are_described(counting_trainer, link):
    found = reported(counting_trainer, ParameterStatistics(link))
    assert found["W/data/mean"] == 2.5
    assert found["W/data/std"] == pytest.approx(np.arange(6).std())
    assert (found["W/data/min"], found["W/data/max"], found["W/data/zeros"]) == (0, 5, 1)
    assert found["W/data/percentile/3"] == 2.5
    assert found["W/data/percentile/6"] == pytest.approx(np.percentile(range(6), 99.87))
    assert "W/data/percentile/7" not in found
    assert found["W/grad/mean"] == 7
    assert found["b/data/zeros"] == 2
    assert not any(key.startswith("b/grad") for key in found)


def test_a_trigger_says_when(counting_trainer, link):
    assert reported(counting_trainer, ParameterStatistics(link, trigger=(3, "iteration"))) == {}


def test_statistics_can_be_one_s_own(counting_trainer, link):
    extension = ParameterStatistics(
        Sequential(link), {"l1": lambda x: abs(x).sum()}, report_grads=False, prefix="main/", trigger=(1, "iteration")
    )
    assert reported(counting_trainer, extension) == {"main/0/W/data/l1": 15, "main/0/b/data/l1": 0}


def test_arrays_with_nan_may_be_passed_over(counting_trainer, link):
    link.W.array[0, 0] = np.nan
    statistics = {"low": np.nanmin, "pair": lambda x: np.array([1, 2])}
    found = reported(counting_trainer, ParameterStatistics(link, statistics, report_grads=False, skip_nan_params=True))
    assert all(np.isnan(found[key]) for key in ("W/data/low", "W/data/pair/0", "W/data/pair/1"))
    assert found["b/data/low"] == 0
    found = reported(counting_trainer, ParameterStatistics(link, statistics, report_grads=False))
    assert found["W/data/low"] == 1


def test_infinite_values_raise_no_warning(counting_trainer, link):
    link.W.array[...] = np.inf
    found = reported(counting_trainer, ParameterStatistics(link))
    assert found["W/data/max"] == np.inf
    assert np.isnan(found["W/data/std"])


def test_nothing_to_report_is_an_error(link):
    with pytest.raises(ValueRangeError, match="neither parameters nor gradients"):
        ParameterStatistics(link, report_params=False, report_grads=False)
