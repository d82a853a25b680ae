"""The listing of the ChainerMN and Chainer papers, with nothing changed but the imports."""

import numpy as np

import cvzoo as chainer
import cvzoo.functions as F
import cvzoo.links as L
from cvzoo import iterators, optimizers, training
from cvzoo.datasets import TupleDataset
from cvzoo.training import extensions


class MLP(chainer.Chain):
    def __init__(self, n_units, n_out):
        super(MLP, self).__init__()  # noqa: UP008
        with self.init_scope():
            self.l1 = L.Linear(None, n_units)
            self.l2 = L.Linear(None, n_units)
            self.l3 = L.Linear(None, n_out)

    def __call__(self, x):
        h1 = F.relu(self.l1(x))
        h2 = F.relu(self.l2(h1))
        return self.l3(h2)


def digits(n, seed):
    """Points near one of ten places in 64 dimensions, and which."""
    t = np.random.default_rng(seed).integers(0, 10, n).astype(np.int32)
    places = np.random.default_rng(0).normal(size=(10, 64))
    noise = np.random.default_rng(seed + 1).normal(size=(n, 64))
    return TupleDataset(("x", (places[t] + noise).astype(np.float32)), ("t", t))


def test_the_listing_trains(tmp_path, capsys):
    chainer.set_seed(0)
    train, test = digits(300, 1), digits(100, 2)

    # --- from the papers
    model = L.Classifier(MLP(100, 10))

    optimizer = optimizers.Adam()
    optimizer.setup(model)

    train_iter = iterators.SerialIterator(train, 20)
    test_iter = iterators.SerialIterator(test, 20, repeat=False, shuffle=False)

    updater = training.StandardUpdater(train_iter, optimizer)
    trainer = training.Trainer(updater, (20, "epoch"), out=str(tmp_path))

    trainer.extend(extensions.Evaluator(test_iter, model))
    trainer.extend(extensions.LogReport())
    trainer.extend(
        extensions.PrintReport(
            ["epoch", "main/loss", "validation/main/loss", "main/accuracy", "validation/main/accuracy"]
        )
    )
    trainer.extend(extensions.ProgressBar())

    trainer.run()
    # ---

    log = trainer.get_extension("LogReport").log
    assert len(log) == 20
    assert log[-1]["main/accuracy"] > 0.98 > log[0]["main/accuracy"]
    assert log[-1]["validation/main/accuracy"] > 0.9
    assert len(capsys.readouterr().out.splitlines()) == 21
