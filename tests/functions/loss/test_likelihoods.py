"""Likelihoods and divergences are their formulas; so are products by a tensor, and layers made of them."""

import numpy as np
import pytest

import cvzoo.functions as F
import cvzoo.links as L
from cvzoo.errors.exceptions import ShapeError, ValueRangeError

RANDOM = np.random.default_rng(0)
X, MEAN, LN_VAR = RANDOM.normal(size=(3, 4, 5))
CASES = {
    "gaussian_kl_divergence": (
        lambda reduce: F.gaussian_kl_divergence(MEAN, LN_VAR, reduce),
        (MEAN**2 + np.exp(LN_VAR) - LN_VAR - 1) / 2,
    ),
    "gaussian_nll": (
        lambda reduce: F.gaussian_nll(X, MEAN, LN_VAR, reduce),
        -np.log(np.exp(-((X - MEAN) ** 2) / 2 / np.exp(LN_VAR)) / np.sqrt(2 * np.pi * np.exp(LN_VAR))),
    ),
    "bernoulli_nll": (
        lambda reduce: F.bernoulli_nll((X > 0) * 1.0, MEAN, reduce),
        -np.log(np.where(X > 0, 1 / (1 + np.exp(-MEAN)), 1 / (1 + np.exp(MEAN)))),
    ),
}


@pytest.mark.parametrize("name", CASES)
def test_losses_are_their_formulas(name):
    run, wanted = CASES[name]
    np.testing.assert_allclose(run("no").array, wanted)
    np.testing.assert_allclose(run("sum").array, wanted.sum())
    np.testing.assert_allclose(run("mean").array, wanted.mean())
    with pytest.raises(ValueRangeError, match="there is no reduce"):
        run("max")


def test_a_large_logit_is_finite():
    assert F.bernoulli_nll(np.ones(2), np.array([1e4, -1e4])).array == 1e4


def test_other_shapes_are_refused():
    with pytest.raises(ShapeError, match="gaussian_nll: x and ln_var must have one shape"):
        F.gaussian_nll(X, MEAN, LN_VAR[:1])


def test_bad_arguments_of_layers_say_what_was_wrong():
    with pytest.raises(ShapeError, match="bilinear: e1, e2 and W do not fit"):
        F.bilinear(X, X, np.zeros((5, 5), "f"))
    with pytest.raises(ValueRangeError, match="initial_bias must be what V1, V2 and b start from"):
        L.Bilinear(5, 4, 3, initial_bias=(0, 0))
    with pytest.raises(ValueRangeError, match="out_channels must name a convolution"):
        L.MLPConvolution2D(3, (), 3)


def test_bilinear_is_the_sum_over_both_rows():
    link = L.Bilinear(5, 4, 3)
    e1, e2 = X.astype("f"), RANDOM.normal(size=(4, 4)).astype("f")
    W, V1, V2, b = (each.array for each in (link.W, link.V1, link.V2, link.b))
    wanted = np.einsum("bi,bj,ijk->bk", e1, e2, W) + e1 @ V1 + e2 @ V2 + b
    np.testing.assert_allclose(link(e1, e2).array, wanted, rtol=1e-4, atol=1e-5)
    plain = L.Bilinear(5, 4, 3, nobias=True, initialW=W)
    np.testing.assert_allclose(plain(e1, e2).array, wanted - e1 @ V1 - e2 @ V2 - b, rtol=1e-4, atol=1e-5)
    with pytest.raises(ShapeError, match="V1, V2 and b come together"):
        F.bilinear(e1, e2, W, V1)
    with pytest.raises(ShapeError, match="do not fit"):
        F.bilinear(e2, e1, W)


def test_a_perceptron_of_each_pixel_is_convolutions_with_activations_between():
    link = L.MLPConvolution2D(None, (4, 5, 2), 3, pad=1, activation=F.tanh)
    x = RANDOM.normal(size=(1, 3, 6, 6)).astype("f")
    first, second, third = link
    np.testing.assert_allclose(link(x).array, third(F.tanh(second(F.tanh(first(x))))).array, rtol=1e-6)
    assert second.W.shape == (5, 4, 1, 1)


def test_a_highway_mixes_its_input_with_what_it_makes_of_it():
    link = L.Highway(5)
    x = X.astype("f")
    t = 1 / (1 + np.exp(-link.transform(x).array))
    np.testing.assert_allclose(link(x).array, t * np.maximum(link.plain(x).array, 0) + (1 - t) * x, rtol=1e-5)
    assert (link.transform.b.array == -1).all()
