"""One kernel gives what the layer, the activation and the sum give one after another."""

import numpy as np
import pytest

from cvzoo.config.switches import no_backprop_mode, using_config
from cvzoo.errors.exceptions import BackendError, ShapeError
from cvzoo.links.connection.fused_linear import fused_linear
from cvzoo.links.connection.linear import Linear

random = np.random.default_rng(2)


def draw(*shape):
    return random.standard_normal(shape).astype("f")


@pytest.fixture(params=["numpy", "onednn"])
def backend(request):
    try:
        with using_config("backend", request.param):
            yield
    except BackendError as error:
        pytest.skip(str(error))


SETTINGS = [{}, {"with_gelu": True}, {"add": True}, {"scale": True, "add": True}, {"scale": True}]


@pytest.mark.parametrize("nobias", [False, True])
@pytest.mark.parametrize("settings", SETTINGS, ids=str)
@pytest.mark.parametrize("lead", [(2,), (1, 50), (3, 4, 5)], ids=str)
def test_it_is_the_formula_with_and_without_gradients(settings, lead, nobias, backend):
    layer = Linear(24, 16, nobias=nobias, initial_bias=draw(16))
    x = draw(*lead, 24)
    arguments = dict(settings)
    if "add" in settings:
        arguments["add"] = draw(*lead, 16)
    if "scale" in settings:
        arguments["scale"] = Linear(1, 16, initial_bias=draw(16)).b
    want = fused_linear(layer, x, **arguments).array
    with no_backprop_mode():
        got = [fused_linear(layer, x, **arguments).array for _ in range(2)]
    for each in got:
        assert each.shape == want.shape == (*lead, 16)
        np.testing.assert_allclose(each, want, rtol=1e-5, atol=1e-5)


def test_changed_numbers_are_noticed(backend):
    layer, x = Linear(6, 4), draw(2, 3, 6)
    scale = Linear(1, 4, initial_bias=draw(4)).b
    for parameter in (layer.W, layer.b, scale):
        with no_backprop_mode():
            before = fused_linear(layer, x, scale=scale).array
            parameter.array = parameter.array + 1
            after = fused_linear(layer, x, scale=scale).array
        assert not np.allclose(before, after)
        np.testing.assert_allclose(after, fused_linear(layer, x, scale=scale).array, rtol=1e-5, atol=1e-5)


def test_a_photo_has_the_same_bits_in_any_company(backend):
    layer, x = Linear(96, 64), draw(5, 49, 96)
    with no_backprop_mode():
        whole = fused_linear(layer, x, with_gelu=True).array
        alone = fused_linear(layer, x[3:4], with_gelu=True).array
    np.testing.assert_array_equal(whole[3:4], alone)


@pytest.mark.parametrize("shape", [(3,), (2, 5), (2, 3, 7)], ids=str)
def test_rows_of_another_length_are_refused(shape):
    with pytest.raises(ShapeError):
        fused_linear(Linear(6, 4), draw(*shape))
    with pytest.raises(ShapeError):
        fused_linear(Linear(None, 4), draw(2, 6))


def test_a_copy_that_shares_its_numbers_gives_the_same_bits(backend):
    layer, x = Linear(96, 64), draw(2, 49, 96)
    with no_backprop_mode():
        want = fused_linear(layer, x).array
        np.testing.assert_array_equal(fused_linear(layer.copy("share"), x).array, want)
        np.testing.assert_array_equal(fused_linear(layer, x).array, want)
