import numpy as np
import pytest

import cvzoo
import cvzoo.functions as F
import cvzoo.links as L
from cvzoo import iterators, optimizers, training
from cvzoo.backends import device_of
from cvzoo.backends.arrays import to_numpy
from cvzoo.errors.exceptions import BackendError, ValueRangeError

TWO = {"main": "gpu:0", "second": "gpu:1"}


class Net(cvzoo.Chain):
    def __init__(self):
        super().__init__()
        with self.init_scope():
            self.l1 = L.Linear(None, 8)
            self.l2 = L.Linear(8, 3)

    def forward(self, x):
        return self.l2(F.tanh(self.l1(x)))


def examples(n=20):
    rng = np.random.default_rng(0)
    x = rng.normal(size=(n, 5)).astype("float32")
    return [(row, np.int32(k % 3)) for k, row in enumerate(x)]


def trained(make_updater, n_step=6, batch_size=7):
    cvzoo.set_seed(0)
    model = L.Classifier(Net())
    optimizer = optimizers.MomentumSGD(0.1).setup(model)
    updater = make_updater(iterators.SerialIterator(examples(), batch_size, seed=1), optimizer)
    for _ in range(n_step):
        updater.update()
    return updater, {path: to_numpy(p.array) for path, p in model.namedparams()}


def test_two_devices_learn_what_one_learns(fake_gpu):
    _, alone = trained(training.StandardUpdater)
    with fake_gpu(devices=2):
        updater, both = trained(lambda i, o: training.ParallelUpdater(i, o, devices=TWO))
        main, second = updater.model_on("main"), updater.model_on("second")
        assert {device_of(p.array).name for p in main.params()} == {"gpu:0"}
        assert {device_of(p.array).name for p in second.params()} == {"gpu:1"}
        for (_, a), (_, b) in zip(main.namedparams(), second.namedparams()):
            np.testing.assert_array_equal(to_numpy(a.array), to_numpy(b.array))
    for path, expected in alone.items():
        np.testing.assert_allclose(both[path], expected, rtol=2e-5, atol=2e-6, err_msg=path)


def test_a_batch_smaller_than_the_devices_is_learnt_by_some(fake_gpu):
    _, alone = trained(training.StandardUpdater, batch_size=1)
    with fake_gpu(devices=2):
        _, both = trained(lambda i, o: training.ParallelUpdater(i, o, devices=TWO), batch_size=1)
    for path, expected in alone.items():
        np.testing.assert_allclose(both[path], expected, rtol=2e-5, atol=2e-6, err_msg=path)


def test_devices_are_checked_at_once(fake_gpu):
    with fake_gpu(devices=2):
        with pytest.raises(ValueRangeError, match="'main'"):
            trained(lambda i, o: training.ParallelUpdater(i, o, devices={"first": "gpu:0"}))
        with pytest.raises(ValueRangeError, match="must not repeat a device"):
            trained(lambda i, o: training.ParallelUpdater(i, o, devices={"main": "gpu:0", "b": "gpu:0"}))
        with pytest.raises(BackendError, match="no device gpu:7"):
            trained(lambda i, o: training.ParallelUpdater(i, o, devices={"main": "gpu:0", "b": "gpu:7"}))
