"""Functions, layers, networks and steps of training on a real GPU: what the made-up one shows."""

import pathlib

import pytest
from neighbour import module_at

from cvzoo.backends.cupy.library import cupy, why_no_cupy

REASON = why_no_cupy()
pytestmark = [pytest.mark.gpu, pytest.mark.skipif(REASON is not None, reason=str(REASON))]

TESTS = pathlib.Path(__file__).parents[1]
functions, indices, layers, families, training = (
    module_at(TESTS / f"{path}.py")
    for path in (
        *("functions/test_on_a_gpu", "functions/array/test_indices_on_a_gpu"),
        *("links/connection/test_layers_on_a_gpu", "links/model/test_families_on_a_gpu"),
        "links/model/test_training_on_a_gpu",
    )
)


class Machine:
    """What the tests ask of the made-up machine."""

    @property
    def cupy(self):
        return cupy()

    @staticmethod
    def no_sync(what="what must not wait"):
        import cupyx

        return cupyx.allow_synchronize(False)


@pytest.fixture(scope="module")
def gpu():
    return Machine()


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("name", functions.SMALL)
def test_functions(gpu, name, dtype):
    functions.test_values_and_gradients_are_the_processors(gpu, name, dtype)


@pytest.mark.parametrize("case", functions.LARGE)
def test_functions_of_larger_arrays(gpu, case):
    functions.test_larger_arrays_too(gpu, case)


@pytest.mark.parametrize("name", functions.AGREE.WITHOUT_GRADIENT)
def test_functions_without_a_gradient(gpu, name):
    functions.test_functions_without_a_gradient_too(gpu, name)


@pytest.mark.parametrize("name", indices.CASES)
def test_indices(gpu, name):
    indices.test_values_and_gradients_are_the_processors_and_nothing_waits(gpu, name)


def test_indices_that_name_nothing(gpu):
    indices.test_what_names_nothing_is_nan(gpu)


@pytest.mark.parametrize("moved", ["before the first call", "after it"])
@pytest.mark.parametrize("name", layers.CASES)
def test_layers(gpu, name, moved):
    layers.test_values_gradients_and_statistics_are_the_processors(gpu, name, moved)


@pytest.mark.parametrize("name", families.SMALLEST)
def test_networks(gpu, name):
    families.test_outputs_are_the_processors_and_a_graph_s_are_the_same(gpu, name)


@pytest.mark.parametrize("name", training.TRAINED)
def test_steps_of_training(gpu, name, monkeypatch):
    training.as_the_processor_draws(gpu, monkeypatch)
    training.test_loss_and_gradients_are_the_processors(gpu, name)
