"""Backpropagation through time in windows, as the manual of 2015 writes it (1.2.1 and 1.2.2)."""

import gc
import itertools

import numpy as np
import pytest

import cvzoo
import cvzoo.functions as F
import cvzoo.links as L
from cvzoo import Variable, optimizers

N_WORD, N_UNIT, RATE = 5, 4, 0.5


class RNN(cvzoo.Chain):
    """The manual's recurrent net: its state is given and returned."""

    def __init__(self):
        super().__init__()
        with self.init_scope():
            self.embed = L.EmbedID(N_WORD, N_UNIT)
            self.x_to_h = L.Linear(N_UNIT, N_UNIT)
            self.h_to_h = L.Linear(N_UNIT, N_UNIT, nobias=True)
            self.h_to_y = L.Linear(N_UNIT, N_WORD)

    def forward_one_step(self, h, cur_word, next_word):
        cur_word, next_word = (self.device.asarray(np.array([word], np.int32)) for word in (cur_word, next_word))
        h = self.step(h, self.embed(cur_word))
        return h, F.softmax_cross_entropy(self.h_to_y(h), next_word)

    def step(self, h, x):
        return F.tanh(self.x_to_h(x) + self.h_to_h(h))


class Step(cvzoo.Chain):
    """The step of a `RNN` as a link, which can be compiled."""

    def __init__(self, net):
        super().__init__()
        with self.init_scope():
            self.x_to_h, self.h_to_h = net.x_to_h, net.h_to_h

    def forward(self, h, x):
        return F.tanh(self.x_to_h(x) + self.h_to_h(h))


def draw_words(n):
    return np.random.default_rng(0).integers(0, N_WORD, n).tolist()


def learn(model, x_list, window, each_window):
    """Listing 1.2.2, with `cleargrads` for `zero_grads`; the last loss and state."""
    optimizer = optimizers.SGD(RATE).setup(model)
    h = Variable(model.device.asarray(np.zeros((1, N_UNIT), np.float32)))
    loss = 0
    count = 0
    seqlen = len(x_list[1:])
    for cur_word, next_word in zip(x_list, x_list[1:]):  # noqa: RUF007 - as it is written there
        h, new_loss = model.forward_one_step(h, cur_word, next_word)
        loss += new_loss
        count += 1  # noqa: SIM113
        if count % window == 0 or count == seqlen:
            model.cleargrads()
            loss.backward()
            loss.unchain_backward()
            optimizer.update()
            each_window(loss)
    return loss, h


def losses_by_hand(net, x_list, window):
    """The sum of losses after each window, by formulas that know nothing but the window; float64."""
    p = {path: each.array.astype(float) for path, each in net.namedparams()}
    h = np.zeros(N_UNIT)
    total, totals = 0.0, []
    for start in range(0, len(x_list) - 1, window):
        words = x_list[start : start + window + 1]
        hs, errors = [h], []
        for cur, new in itertools.pairwise(words):
            h = np.tanh(p["/x_to_h/W"] @ p["/embed/W"][cur] + p["/x_to_h/b"] + p["/h_to_h/W"] @ h)
            y = p["/h_to_y/W"] @ h + p["/h_to_y/b"]
            y = np.exp(y - y.max())
            y /= y.sum()
            total -= np.log(y[new])
            y[new] -= 1
            hs.append(h)
            errors.append(y)
        totals.append(total)
        g = {path: np.zeros_like(each) for path, each in p.items()}
        gh = np.zeros(N_UNIT)
        for t in reversed(range(len(errors))):
            g["/h_to_y/W"] += np.outer(errors[t], hs[t + 1])
            g["/h_to_y/b"] += errors[t]
            gz = (gh + p["/h_to_y/W"].T @ errors[t]) * (1 - hs[t + 1] ** 2)
            g["/x_to_h/W"] += np.outer(gz, p["/embed/W"][words[t]])
            g["/x_to_h/b"] += gz
            g["/embed/W"][words[t]] += p["/x_to_h/W"].T @ gz
            g["/h_to_h/W"] += np.outer(gz, hs[t])
            gh = p["/h_to_h/W"].T @ gz
        for path in p:
            p[path] -= RATE * g[path]
    return totals


def functions_alive():
    return sum(isinstance(each, cvzoo.FunctionNode) for each in gc.get_objects())


@pytest.fixture(autouse=True)
def seeded():
    cvzoo.set_seed(0)


@pytest.mark.parametrize("compiled", [False, True])
def test_the_manuals_recurrent_net_learns_in_windows(compiled):
    """Each window's losses follow from the updates of all before it, and so from every gradient of theirs."""
    model, words = RNN(), draw_words(3 * 8 + 2)
    expected = losses_by_hand(model, words, 8)
    if compiled:
        step = Step(model)
        step.compile(Variable(np.zeros((1, N_UNIT), "float32")), np.zeros((1, N_UNIT), "float32"), train=True)
        assert step.graphs()
        model.step = step
    sums, alive = [], []

    def look(loss):
        sums.append(loss.item())
        alive.append(functions_alive())

    loss, h = learn(model, words, 8, look)
    np.testing.assert_allclose(sums, expected, rtol=1e-4)
    assert alive == alive[:1] * len(alive)
    assert loss.creator is None
    assert h.creator is None


@pytest.mark.slow
def test_it_does_so_on_a_gpu(fake_gpu):
    model, words = RNN(), draw_words(3 * 4 + 1)
    expected = losses_by_hand(model, words, 4)
    sums = []
    with fake_gpu():
        model.to_device("gpu:0")
        _, h = learn(model, words, 4, lambda loss: sums.append(loss.item()))
        assert h.device.name == "gpu:0"
    np.testing.assert_allclose(sums, expected, rtol=1e-4)
    assert h.creator is None


@pytest.mark.slow
def test_a_hundred_windows_take_the_memory_of_one():
    model, windows, alive = RNN(), iter(range(1, 101)), {}

    def look(loss):
        n = next(windows)
        if n in (1, 50, 100):
            alive[n] = functions_alive()

    learn(model, draw_words(100 * 6 + 1), 6, look)
    assert alive[1] == alive[50] == alive[100]


@pytest.mark.slow
@pytest.mark.parametrize("compiled", [False, True])
def test_an_lstm_that_keeps_its_state_learns_as_one_whose_state_is_copied(compiled):
    """A state that is an array of numbers has no past: the gradients of truncation, by another way."""

    class Net(cvzoo.Chain):
        def __init__(self):
            super().__init__()
            with self.init_scope():
                self.lstm, self.out = L.LSTM(3, N_UNIT), L.Linear(N_UNIT, 1)

        def forward(self, x):
            return F.mean(self.out(self.lstm(x)) ** 2)

    def run(is_cut):
        cvzoo.set_seed(1)
        net = Net()
        if compiled and is_cut:
            net.compile(train=True)
        optimizer = optimizers.SGD(RATE).setup(net)
        gradients, alive = [], []
        for window in np.random.default_rng(2).normal(size=(5, 4, 2, 3)).astype("float32"):
            loss = sum((net(x) for x in window), start=Variable(np.zeros((), "float32")))
            net.cleargrads()
            loss.backward()
            if is_cut:
                loss.unchain_backward()
            else:
                net.lstm.c, net.lstm.h = Variable(net.lstm.c.array), Variable(net.lstm.h.array)
            gradients.append(np.concatenate([each.grad.ravel() for each in net.params()]))
            optimizer.update()
            if len(gradients) in (1, 5):
                alive.append(functions_alive())
        assert alive[0] == alive[1]
        return gradients

    np.testing.assert_array_equal(run(is_cut=True), run(is_cut=False))
