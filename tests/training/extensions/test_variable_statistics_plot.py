"""The spread of variables over a run, as a picture."""

import numpy as np
import pytest
from PIL import Image

from cvzoo.autodiff import Parameter
from cvzoo.errors import ValueRangeError
from cvzoo.training.extensions import VariableStatisticsPlot


@pytest.fixture
def parameter():
    return Parameter(np.zeros(101, np.float32))


def change(parameter):
    """An iteration that sets values from 0 to its number, and gradients of ten times that."""

    def act(iteration):
        parameter.array[:] = np.linspace(0, iteration, 101)
        parameter.grad = 10 * parameter.array

    return act


def test_statistics_are_taken_each_iteration(counting_trainer, parameter, tmp_path):
    plot = VariableStatisticsPlot([parameter, parameter], percentile_sigmas=(0, 50, 100), filename="a.svg")
    counting_trainer([plot], change(parameter), (4, "iteration")).run()
    state = plot.state()
    assert state["iterations"] == [1, 2, 3, 4]
    values, grads = np.array(state["samples"])[2]
    np.testing.assert_allclose(values, [1.5, 3 * np.std(np.linspace(0, 1, 101)), 0, 1.5, 3], rtol=1e-6)
    np.testing.assert_allclose(grads, 10 * values, rtol=1e-6)


def test_a_picture_has_a_column_for_values_and_one_for_gradients(counting_trainer, parameter, tmp_path):
    plot = VariableStatisticsPlot(parameter, trigger=(2, "iteration"), figsize=(5, 4))
    counting_trainer([plot], change(parameter), (4, "iteration")).run()
    with Image.open(tmp_path / "statistics.png") as pil:
        assert pil.size == (360, 288)
    plot = VariableStatisticsPlot(parameter, trigger=(2, "iteration"), file_name="a.svg", report_grad=False)
    counting_trainer([plot], change(parameter), (4, "iteration")).run()
    svg = (tmp_path / "a.svg").read_text()
    assert "data: mean and deviation" in svg
    assert "data: percentiles" in svg
    assert "grad" not in svg


def test_of_a_long_run_evenly_spaced_iterations_are_kept(counting_trainer, parameter):
    plot = VariableStatisticsPlot(parameter, 4, filename="a.svg")
    counting_trainer([plot], change(parameter), (19, "iteration")).run()
    assert plot.state()["iterations"] == [4, 8, 12, 16]


def test_a_run_that_goes_on_plots_the_same(counting_trainer, parameter, tmp_path):
    def make():
        plot = VariableStatisticsPlot(parameter, 6, trigger=(3, "iteration"), filename="a.svg")
        return counting_trainer([plot], change(parameter), (9, "iteration"))

    make().run()
    whole = (tmp_path / "a.svg").read_bytes()
    states = []
    first = make()
    first.extend(lambda trainer: states.append(trainer.state()), trigger=(5, "iteration"), priority=-1000)
    first.run()
    (tmp_path / "a.svg").unlink()
    second = make()
    second.load_state(states[0])
    second.run()
    assert (tmp_path / "a.svg").read_bytes() == whole


def test_a_variable_without_a_gradient_is_borne(counting_trainer, parameter, tmp_path):
    counting_trainer([VariableStatisticsPlot(parameter, filename="a.svg")], lambda i: None).run()
    assert (tmp_path / "a.svg").is_file()


@pytest.mark.parametrize(
    ("settings", "says"),
    [
        ({"report_data": False, "report_grad": False}, "nothing is to be plotted"),
        ({"plot_mean": False, "plot_std": False, "percentile_sigmas": None}, "nothing is to be plotted"),
        ({"max_sample_size": 1}, "max_sample_size must be 2 or more"),
        ({"filename": "a.gif"}, "cannot write 'a.gif'"),
    ],
)
def test_what_cannot_be_plotted_is_refused(parameter, settings, says):
    with pytest.raises(ValueRangeError, match=f"VariableStatisticsPlot.*{says}"):
        VariableStatisticsPlot(parameter, **settings)
