"""Several heads look at the tokens at once, each in its part of the channels."""

import numpy as np
import pytest

import cvzoo.functions as F
from cvzoo.autodiff.gradient_check import check_backward
from cvzoo.config.switches import no_backprop_mode, using_config
from cvzoo.errors.exceptions import ShapeError, ValueRangeError
from cvzoo.links.connection.multi_head_attention import MultiHeadAttention

random = np.random.default_rng(3)


def draw(*shape):
    return random.standard_normal(shape).astype("f")


def by_heads(layer, x, bias=0.0):
    """With NumPy, head by head."""
    b, n, c = x.shape
    q, k, v = np.split(x @ layer.qkv.W.array.T + layer.qkv.b.array, 3, axis=-1)
    heads = []
    for h in range(layer.n_head):
        part = slice(h * c // layer.n_head, (h + 1) * c // layer.n_head)
        scores = np.einsum("bnd,bmd->bnm", q[..., part], k[..., part]) / np.sqrt(c // layer.n_head)
        scores = np.exp(scores + np.broadcast_to(bias, (b, layer.n_head, n, n))[:, h])
        heads.append(np.einsum("bnm,bmd->bnd", scores / scores.sum(-1, keepdims=True), v[..., part]))
    return np.concatenate(heads, axis=-1) @ layer.proj.W.array.T + layer.proj.b.array


@pytest.mark.parametrize("backend", ["numpy", "onednn"])
def test_it_is_the_formula_head_by_head(backend):
    layer, x, add, bias = MultiHeadAttention(12, 3), draw(2, 7, 12), draw(2, 7, 12), draw(3, 7, 7)
    layer.qkv.b.array = draw(36)
    with using_config("backend", backend):
        np.testing.assert_allclose(layer(x).array, by_heads(layer, x), rtol=1e-4, atol=1e-5)
        with no_backprop_mode():
            got = layer(x, bias=bias, add=add).array
        np.testing.assert_allclose(got, by_heads(layer, x, bias) + add, rtol=1e-4, atol=1e-5)


def test_gradients_reach_every_parameter():
    layer = MultiHeadAttention(4, 2)
    x = random.standard_normal((2, 3, 4))
    check_backward(lambda x: layer(x), x, params=tuple(layer.params()), rtol=1e-3, atol=1e-3, dtype="float64")
    layer.cleargrads()
    F.sum(layer(draw(2, 3, 4)) ** 2).backward()
    assert all(np.abs(parameter.grad).max() > 0 for parameter in (layer.qkv.W, layer.proj.W, layer.proj.b))


def test_what_does_not_fit_is_refused():
    with pytest.raises(ValueRangeError):
        MultiHeadAttention(10, 3)
    with pytest.raises(ShapeError, match="tokens"):
        MultiHeadAttention(4, 2)(draw(2, 3, 5))
    with pytest.raises(ShapeError, match="tokens"):
        MultiHeadAttention(4, 2)(draw(3, 4))
