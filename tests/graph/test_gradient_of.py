import numpy as np
import pytest

import cvzoo.functions as F
from cvzoo.autodiff.variable import Variable
from cvzoo.graph.gradient_of import GradientOf

X = np.random.default_rng(0).normal(size=(3, 8)).astype(np.float32)


@pytest.mark.parametrize(
    "call", [F.relu, F.gelu, F.softmax, lambda x: F.layer_normalization(x, X[0], X[1]), lambda x: F.matmul(x, X.T)]
)
def test_it_is_the_backward_for_any_arrays_and_as_often_as_one_likes(call):
    other = (X[::-1] * 0.5).copy()
    function = call(Variable(X)).creator
    node = GradientOf(function, (0,), (True,))
    for x in (X, other, X):
        source = Variable(x)
        y = call(source)
        gy = np.random.default_rng(1).normal(size=y.shape).astype(np.float32)
        y.grad = gy
        kept = y.creator.retained_arrays()
        hidden = {k: v for k, v in vars(y.creator).items() if k == "_statistics"}
        y.backward(retain_graph=True)
        vars(function).update(hidden)
        (gx,) = node.forward((*kept, gy))
        np.testing.assert_array_equal(gx, source.grad)
        assert not function.retained_arrays()
