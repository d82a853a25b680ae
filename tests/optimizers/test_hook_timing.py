"""When hooks of an optimizer are called."""

import numpy as np
import pytest

from cvzoo.errors.exceptions import ValueRangeError
from cvzoo.links.connection.linear import Linear
from cvzoo.optimizers.hooks.gradient_clipping import GradientClipping
from cvzoo.optimizers.sgd import SGD


def test_a_first_hook_sees_gradients_as_backward_left_them():
    optimizer = SGD(lr=1.0).setup(Linear(2, 1))
    seen = []
    optimizer.add_hook(GradientClipping(0.5))
    optimizer.add_hook(lambda o: seen.append(("clipped", np.abs(o.target.W.grad).max())), name="pre")
    optimizer.add_hook(lambda o: seen.append(("raw", np.abs(o.target.W.grad).max())), name="first", timing="first")
    optimizer.target.W.grad = np.full((1, 2), 8, np.float32)
    optimizer.update()
    assert [name for name, _ in seen] == ["raw", "clipped"]
    assert seen[0][1] == 8
    assert seen[1][1] <= 0.5
    optimizer.remove_hook("first")
    assert optimizer.get_hook("pre") is not None


def test_a_gradient_hook_cannot_be_first():
    with pytest.raises(ValueRangeError, match="timing"):
        SGD().setup(Linear(2, 1)).add_hook(GradientClipping(0.5), timing="first")
