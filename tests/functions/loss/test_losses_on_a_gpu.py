"""Losses of arrays on a GPU: the processor's numbers, nothing looked at by the host, and bad labels made visible."""

import numpy as np
import pytest
from host_cuda import thread_order
from on_device import put

import cvzoo.functions as F
from cvzoo.autodiff.variable import Variable
from cvzoo.config.switches import using_config

random = np.random.default_rng(0)
X, P = random.normal(0, 2, (3, 4, 5)), random.uniform(0.05, 0.95, (3, 4, 5))
LABELS = random.integers(-1, 4, (3, 5)).astype("int32")
ANCHORS = random.integers(-2, 5, (3, 4))
ANSWERS = random.integers(-1, 2, X.shape).astype("int8")
WEIGHT = np.array([0.5, 0, 2, 1.5])
BBOX, TRUE_BBOX = random.uniform(0, 9, (2, 6, 4))
LOSSES = {
    "softmax": (F.softmax_cross_entropy, X, LABELS, {}),
    "softmax of each": (F.softmax_cross_entropy, X, LABELS, {"reduce": "no"}),
    "softmax, class weights": (F.softmax_cross_entropy, X, np.abs(LABELS), {"class_weight": WEIGHT, "ignore_label": 2}),
    "softmax, divided by the batch": (F.softmax_cross_entropy, X, np.abs(LABELS).astype("uint8"), {"normalize": False}),
    "sigmoid": (F.sigmoid_cross_entropy, X, ANSWERS, {}),
    "sigmoid of each": (F.sigmoid_cross_entropy, X, ANSWERS, {"reduce": "no"}),
    "sigmoid of probabilities": (F.sigmoid_cross_entropy, X, P, {"normalize": False}),
    "binary": (F.binary_cross_entropy, P, P[::-1].copy(), {}),
    "sigmoid focal": (F.sigmoid_focal_loss, X, ANSWERS, {}),
    "sigmoid focal of each": (F.sigmoid_focal_loss, X, ANSWERS, {"alpha": None, "gamma": 1.5, "reduce": "no"}),
    "focal": (F.focal_loss, X, ANCHORS, {}),
    "focal, one for all": (F.focal_loss, X, ANCHORS.astype("int32"), {"gamma": 0.5, "normalizer": 7.0}),
    "huber": (F.huber_loss, X, P, {"delta": 0.7}),
    "smooth L1": (F.smooth_l1, X, P, {"beta": 0.3}),
    "absolute": (F.mean_absolute_error, X, P, {}),
    "squared": (F.mean_squared_error, X, P, {}),
    "giou": (F.giou_loss, BBOX, TRUE_BBOX, {}),
}


def _values(loss, x, t, settings):
    """The loss, its gradient, and the gradient of that one's squares; all as they lie."""
    x = Variable(x)
    y = loss(x, t, **settings)
    F.sum(y).backward(enable_double_backprop=True)
    gx = x.grad_var
    plain = Variable(x.array)
    F.sum(loss(plain, t, **settings)).backward()
    x.cleargrad()
    F.sum(gx * gx).backward()
    return [y.array, plain.grad, gx.array, gx.array if x.grad is None else x.grad]


@pytest.mark.parametrize("name", LOSSES)
@pytest.mark.parametrize(("dtype", "tolerance"), [("float64", 1e-11), ("float32", 2e-5)])
def test_losses_and_derivatives(fake_gpu, name, dtype, tolerance):
    loss, x, t, settings = LOSSES[name]
    x = x.astype(dtype)
    t = t.astype(dtype) if t.dtype.kind == "f" else t
    with using_config("backend", "numpy"):
        wanted = _values(loss, x, t, settings)
    with fake_gpu() as gpu:
        there, t_there = put(gpu.cupy, x), put(gpu.cupy, t)
        on_device = {k: put(gpu.cupy, v) if isinstance(v, np.ndarray) else v for k, v in settings.items()}
        gpu.recorder.clear()
        got = _values(loss, there, t_there, on_device)
        assert not gpu.recorder.of("d2h", "h2d", "sync")
        from_host = loss(Variable(there), t, **settings)
        assert from_host.array.get().tobytes() == got[0].get().tobytes()
        got = [each.get() for each in got]
    for a, b in zip(got, wanted):
        assert (a.dtype, a.shape) == (b.dtype, b.shape)
        np.testing.assert_allclose(a, b, rtol=tolerance, atol=tolerance * np.abs(b).max())


@pytest.mark.parametrize("n_class", [1, 3, 40, 1500])
@pytest.mark.parametrize("shape", [(), (3,), (2, 3)], ids=str)
def test_scores_of_any_number_of_classes_in_any_order(fake_gpu, n_class, shape):
    x = random.normal(0, 3, (4, n_class, *shape)).astype("float32")
    t = random.integers(-1, n_class, (4, *shape))
    with using_config("backend", "numpy"):
        wanted = _values(F.softmax_cross_entropy, x, t, {"reduce": "no"})[:2]
    with fake_gpu() as gpu:
        layouts = [x, np.moveaxis(np.ascontiguousarray(np.moveaxis(x, 1, -1)), -1, 1)]
        for there in [put(gpu.cupy, each) for each in layouts]:
            bits = set()
            for order in ("forward", "reverse", "shuffled"):
                with thread_order(order):
                    got = _values(F.softmax_cross_entropy, there, put(gpu.cupy, t), {"reduce": "no"})[:2]
                bits.add(b"".join(each.get().tobytes() for each in got))
            assert len(bits) == 1
            for a, b in zip(got, wanted):
                np.testing.assert_allclose(a.get(), b, rtol=2e-5, atol=1e-5)


def test_a_loss_and_its_gradient_are_a_launch_each(fake_gpu):
    with fake_gpu() as gpu:
        x, t = Variable(put(gpu.cupy, X.astype("float32"))), put(gpu.cupy, LABELS)
        gpu.recorder.clear()
        y = F.softmax_cross_entropy(x, t, reduce="no")
        y.grad = put(gpu.cupy, np.ones(y.shape, "float32"))
        y.backward()
        ours = [name for name in gpu.recorder.names() if "softmax" in name]
        assert ours == ["softmax_cross_entropy_thread_i32_f32", "softmax_cross_entropy_grad_i32_f32"]


BAD = {
    "softmax": (F.softmax_cross_entropy, X[..., 0], np.array([0, 9, -1])),
    "softmax, far away": (F.softmax_cross_entropy, X[..., 0], np.array([0, 2**40, -1])),
    "sigmoid": (F.sigmoid_cross_entropy, X[:, 0, 0], np.array([0, 5, -1])),
    "sigmoid focal": (F.sigmoid_focal_loss, X[:, 0, 0], np.array([0, 5, -1])),
    "probabilities": (F.sigmoid_cross_entropy, X[:, 0, 0], np.array([0, 1.5, 1])),
}


@pytest.mark.parametrize("name", BAD)
def test_a_label_out_of_range_makes_its_loss_and_gradient_nan(fake_gpu, name):
    loss, x, t = BAD[name]
    with fake_gpu() as gpu:
        x = Variable(put(gpu.cupy, x))
        y = loss(x, put(gpu.cupy, t), reduce="no")
        assert np.isnan(y.array.get()).tolist() == [False, True, False]
        F.sum(y).backward()
        bad = np.isnan(x.grad.get()).reshape(3, -1)
        assert bad.any(1).tolist() == [False, True, False]


@pytest.mark.parametrize("label", [4, -3])
def test_a_label_out_of_range_makes_the_focal_loss_nan(fake_gpu, label):
    with fake_gpu() as gpu:
        x = Variable(put(gpu.cupy, X[..., 0]))
        y = F.focal_loss(x, put(gpu.cupy, np.array([0, label, -2])))
        assert np.isnan(y.array.get())
        y.backward()
        assert np.isnan(x.grad.get()).all(1).tolist() == [False, True, False]


def test_labels_of_the_host_are_looked_at_there(fake_gpu):
    with fake_gpu() as gpu, pytest.raises(ValueError, match="9 at index 1"):
        F.softmax_cross_entropy(Variable(put(gpu.cupy, X[..., 0])), np.array([0, 9, -1]))


def test_what_is_ignored_may_be_anything(fake_gpu):
    x = np.array([[0.0, 1], [np.nan, np.inf]], "float32")
    with fake_gpu() as gpu:
        x, t = Variable(put(gpu.cupy, x)), put(gpu.cupy, np.array([0, -1]))
        y = F.softmax_cross_entropy(x, t)
        y.backward()
        np.testing.assert_allclose(y.array.get(), np.log1p(np.e), rtol=1e-6)
        assert np.isfinite(x.grad.get()).all()


@pytest.mark.parametrize("name", ["softmax", "sigmoid", "sigmoid focal", "focal"])
def test_nothing_to_learn_from_gives_zero(fake_gpu, name):
    loss, x, t, _ = LOSSES[name]
    with fake_gpu() as gpu:
        x = Variable(put(gpu.cupy, x))
        y = loss(x, put(gpu.cupy, np.full_like(t, -2 if name == "focal" else -1)))
        y.backward()
        assert y.array.get() == 0
        assert not x.grad.get().any()
