"""Training in each dtype: the same accuracy, parameters of float32, losses scaled where float16 would lose them."""

import warnings

import numpy as np
import pytest

import cvzoo
import cvzoo.functions as F
import cvzoo.links as L
from cvzoo.config.switches import using_config
from cvzoo.datasets import MNISTDataset, TupleDataset
from cvzoo.iterators import SerialIterator
from cvzoo.links.chain import Chain
from cvzoo.optimizers import SGD, Adam
from cvzoo.training import StandardUpdater

pytest.importorskip("ml_dtypes")
MODES = ["float32", "tf32", "mixed_bf16", "mixed_fp16"]


@pytest.fixture(scope="module")
def digits(shared):
    """(train photos, train labels, test photos, test labels): (N, 1, 28, 28) float32 0..1."""
    parts = []
    for split, n in (("train", 2500), ("test", 1000)):
        dataset = MNISTDataset(shared / "data" / "mnist", split)
        examples = [dataset[i] for i in range(n)]
        parts.append(np.stack([np.asarray(img, "f").reshape(1, 28, 28) / 255 for img, _ in examples]))
        parts.append(np.array([label for _, label in examples], "i"))
    return parts


class MLP(Chain):
    def __init__(self):
        with self.init_scope():
            self.l1, self.l2, self.l3 = L.Linear(784, 100), L.Linear(100, 100), L.Linear(100, 10)

    def forward(self, x):
        return self.l3(F.relu(self.l2(F.relu(self.l1(x)))))


class SmallResNet(Chain):
    def __init__(self):
        with self.init_scope():
            self.c1, self.n1 = L.Convolution2D(1, 8, 3, 2, 1, nobias=True), L.BatchNormalization(8)
            self.c2, self.n2 = L.Convolution2D(8, 8, 3, 1, 1, nobias=True), L.BatchNormalization(8)
            self.c3, self.n3 = L.Convolution2D(8, 8, 3, 1, 1, nobias=True), L.BatchNormalization(8)
            self.fc = L.Linear(8 * 49, 10)

    def forward(self, x):
        h = F.relu(self.n1(self.c1(x)))
        h = F.relu(h + self.n3(self.c3(F.relu(self.n2(self.c2(h))))))
        return self.fc(F.max_pooling_2d(h, 2))


def _accuracy(network, digits, mode, *, compile=False):
    """The share of right answers of a network trained for two epochs, and the loss scale behind it."""
    x, t, test_x, test_t = digits
    with using_config("dtype", mode), cvzoo.using_config("train", True):
        cvzoo.config.set_seed(1)
        model = L.Classifier(network())
        if compile:
            model.compile(train=True)
        optimizer = Adam(alpha=0.003).setup(model)
        iterator = SerialIterator(TupleDataset(x, t), 50, seed=0)
        updater = StandardUpdater(iterator, optimizer)
        for _ in range(2 * len(x) // 50):
            updater.update()
        assert all(p.dtype == np.float32 for p in model.params())
        assert all(array.dtype == np.float32 for array in model.state_arrays().values() if array.dtype.kind != "i")
        with cvzoo.using_config("train", False), cvzoo.no_backprop_mode():
            right = model.predictor(test_x).array.argmax(axis=1) == test_t
    return float(right.mean()), optimizer.loss_scale


@pytest.mark.slow
@pytest.mark.parametrize("network", [MLP, SmallResNet])
def test_a_network_learns_as_well_in_every_dtype(network, digits):
    found = {mode: _accuracy(network, digits, mode) for mode in MODES}
    wanted, _ = found["float32"]
    assert wanted > 0.85
    assert found["tf32"][0] == wanted
    for mode, (share, scale) in found.items():
        assert share == pytest.approx(wanted, abs=0.015), mode
        assert (scale > 1) == (mode == "mixed_fp16")


def test_a_compiled_training_learns_as_well_in_16_bits(digits):
    x, t, *test = digits
    few = x[:500], t[:500], *test
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        replayed = _accuracy(SmallResNet, few, "mixed_bf16", compile=True)
    assert replayed[0] == pytest.approx(_accuracy(SmallResNet, few, "mixed_bf16")[0], abs=0.03)


def _updater(**more):
    model = L.Linear(2, 1)
    data = list(np.arange(8, dtype="f").reshape(4, 2))
    optimizer = SGD(lr=0.01).setup(model)
    iterator = SerialIterator(data, 2)
    return StandardUpdater(iterator, optimizer, loss_func=lambda x: F.sum(F.cast(model(x), "float32")), **more)


def test_losses_are_scaled_where_float16_is_computed_in_and_only_there():
    for mode in MODES:
        with using_config("dtype", mode):
            assert _updater().get_optimizer("main").is_scaling == (mode == "mixed_fp16")
            # who takes the steps alone may call backward() without the optimizer
            assert not _updater(update_core=lambda updater: None).get_optimizer("main").is_scaling


def test_losses_are_scaled_where_the_dtype_is_asked_for_around_the_steps_only():
    updater = _updater()
    optimizer = updater.get_optimizer("main")
    updater.update()
    assert not optimizer.is_scaling
    with using_config("dtype", "mixed_fp16"):
        updater.update()
    assert optimizer.is_scaling


def test_a_scale_that_was_asked_for_stays():
    updater = _updater()
    updater.get_optimizer("main").loss_scaling(scale=4.0)
    with using_config("dtype", "mixed_fp16"):
        updater.update()
    assert updater.get_optimizer("main").loss_scale == 4.0


def test_the_scale_is_part_of_the_state():
    with using_config("dtype", "mixed_fp16"):
        first = _updater()
        first.get_optimizer("main").loss_scaling(interval=1)
        first.update()
        scale = first.get_optimizer("main").loss_scale
        assert scale in (2.0**14, 2.0**16)  # halved at an overflow, or doubled
        second = _updater()
        second.load_state(first.state())
        assert second.get_optimizer("main").loss_scale == scale
