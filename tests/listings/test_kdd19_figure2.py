"""The class definitions of figure 2 of Tokui et al., KDD 2019: they run as they stand, and learn."""

import numpy as np

import cvzoo.functions as F
from cvzoo import Chain, Link, Parameter, set_seed
from cvzoo.initializers import HeNormal


class Linear(Link):
    def __init__(self, n_in, n_out):
        with self.init_scope():
            self.W = Parameter(HeNormal(), (n_out, n_in))
            self.b = Parameter(0, (n_out,))

    def forward(self, x):
        return x @ self.W.T + self.b


class MLP(Chain):
    def __init__(self):
        with self.init_scope():
            self.l1 = Linear(2, 16)
            self.l2 = Linear(16, 1)

    def forward(self, x):
        h = F.relu(self.l1(x))
        return self.l2(h)


def test_the_links_own_their_parameters():
    model = MLP()
    assert [name for name, _ in model.namedparams()] == ["/l1/W", "/l1/b", "/l2/W", "/l2/b"]
    assert model.l1.W.shape == (16, 2)
    assert model.l1.W.name == "W"


def test_the_perceptron_learns_exclusive_or_by_hand_written_descent():
    set_seed(0)
    model = MLP()
    x = np.array([[0, 0], [0, 1], [1, 0], [1, 1]], "float32")
    t = np.array([[0], [1], [1], [0]], "float32")
    losses = []
    for _ in range(300):
        y = model(x)
        loss = F.sum((y - t) ** 2)
        model.cleargrads()
        loss.backward()
        for p in model.params():
            p.array -= 0.05 * p.grad
        losses.append(float(loss.array))
    assert losses[-1] < 1e-3 < losses[0]
    assert ((model(x).array > 0.5) == t).all()
