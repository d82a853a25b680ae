"""Every optimizer's 20 steps are those of torch, or of the paper (reference.npz, made by make_reference.py)."""

import pathlib

import numpy as np
import pytest

from cvzoo import optimizers

SCALES = {"W": 1.0, "b": 0.1, "scale": 3.0}
LRS = [0.1] * 8 + [0.03] * 12
DECAY = 0.02
BETAS = {"beta1": 0.9, "beta2": 0.99}


def _adam_w(optimizer, lr):
    optimizer.alpha = lr
    optimizer.weight_decay_rate = lr * DECAY  # torch's weight_decay is multiplied by lr


def _set_lr(optimizer, lr):
    optimizer.lr = lr


def _set_eta(optimizer, lr):
    optimizer.eta = lr


# the case in the file: the optimizer, and how its rate is set
CASES = {
    "SGD": (lambda: optimizers.SGD(), _set_lr),
    "SGD_WeightDecay": (lambda: optimizers.SGD(), _set_lr),
    "MomentumSGD": (lambda: optimizers.MomentumSGD(momentum=0.9), _set_lr),
    "NesterovAG": (lambda: optimizers.NesterovAG(momentum=0.9), _set_lr),
    "AdaGrad": (lambda: optimizers.AdaGrad(eps=1e-3), _set_lr),
    "AdaDelta": (lambda: optimizers.AdaDelta(rho=0.9, eps=1e-2), lambda optimizer, lr: None),
    "RMSprop": (lambda: optimizers.RMSprop(alpha=0.9, eps=1e-3), _set_lr),
    "RMSprop_inside": (lambda: optimizers.RMSprop(alpha=0.9, eps=1e-3, eps_inside_sqrt=True), _set_lr),
    "Adam": (lambda: optimizers.Adam(eps=1e-3, **BETAS), _set_lr),
    "AdamW": (lambda: optimizers.AdamW(eps=1e-3, **BETAS), _adam_w),
    "AdamW_eta": (lambda: optimizers.AdamW(0.3, eps=1e-3, weight_decay_rate=DECAY, **BETAS), _set_eta),
    "AMSGrad": (lambda: optimizers.AMSGrad(eps=1e-3, **BETAS), _set_lr),
    "LARS": (lambda: optimizers.LARS(momentum=0.9, trust=0.02, weight_decay_rate=DECAY), _set_lr),
    "LAMB": (lambda: optimizers.LAMB(eps=1e-6, weight_decay_rate=DECAY, **BETAS), _set_lr),
}


@pytest.fixture(scope="module")
def reference():
    with np.load(pathlib.Path(__file__).with_name("reference.npz")) as file:
        return dict(file)


def _run(case, reference, make_parameters, dtype):
    make, set_rate = CASES[case]
    link = make_parameters({name: reference[f"start/{name}"].astype(dtype) for name in SCALES}, None)
    optimizer = make().setup(link)
    if case.endswith("WeightDecay"):
        optimizer.add_hook(optimizers.WeightDecay(DECAY))
    for t, lr in enumerate(LRS):
        set_rate(optimizer, lr)
        for index, (path, param) in enumerate(link.namedparams()):
            param.grad = np.asarray(SCALES[path[1:]] * np.cos(3 * param.array + t + index), dtype)
        optimizer.update()
    return {path[1:]: param.array for path, param in link.namedparams()}


@pytest.mark.parametrize("case", CASES)
def test_twenty_steps_are_those_of_the_reference(case, reference, make_parameters):
    for name, value in _run(case, reference, make_parameters, "float64").items():
        np.testing.assert_allclose(value, reference[f"{case}/{name}"], rtol=1e-8, atol=1e-9)


@pytest.mark.parametrize("case", CASES)
def test_twenty_steps_in_float32_are_near(case, reference, make_parameters):
    for name, value in _run(case, reference, make_parameters, "float32").items():
        assert value.dtype == np.float32
        np.testing.assert_allclose(value, reference[f"{case}/{name}"], rtol=2e-4, atol=2e-4)


def test_every_optimizer_has_a_reference():
    optimizer_classes = {
        value.__name__  # of two names for one class, its own
        for name in optimizers.__all__
        if isinstance(value := getattr(optimizers, name), type)
        and issubclass(value, optimizers.AbstractOptimizer)
        and not name.startswith("Abstract")
    }
    assert optimizer_classes == {case.split("_")[0] for case in CASES}


def test_chainers_corrected_momentum_sgd_is_momentum_sgd():
    assert optimizers.CorrectedMomentumSGD is optimizers.MomentumSGD


ALL = sorted({case.split("_")[0] for case in CASES})


@pytest.mark.parametrize("name", ALL)
def test_blocks_change_no_number(name, make_parameters, give, monkeypatch):
    # one array cut into many pieces in threads, short ones gathered, against each array alone
    shapes = {"a": (300, 70), "b": (11,), "c": (40, 40), "d": (), "e": (7, 3), "f": (0, 3)}
    rng = np.random.default_rng(0)
    arrays = {key: rng.normal(size=shape).astype("float32") for key, shape in shapes.items()}
    together = make_parameters(arrays)
    alone = [make_parameters({key: array}) for key, array in arrays.items()]
    monkeypatch.setattr("cvzoo.optimizers.blocks.BLOCK", 1000)
    monkeypatch.setattr("cvzoo.optimizers.blocks.SHORT", 100)
    monkeypatch.setattr("cvzoo.optimizers.in_threads.WORTHWHILE", 1)
    monkeypatch.setattr("cvzoo.optimizers.in_threads.thread_count", lambda: (3, "a test"))
    one = getattr(optimizers, name)().setup(together)
    for t in range(4):
        give(together, t)
        one.update()
    monkeypatch.undo()
    many = [getattr(optimizers, name)().setup(link) for link in alone]
    for t in range(4):
        give(together, t)
        for link, optimizer, (key, _) in zip(alone, many, arrays.items()):
            param = next(link.params())
            param.grad = together.__dict__[key].grad.copy()
            optimizer.update()
    for link, key in zip(alone, arrays):
        # norms of whole parameters are summed in another order
        rtol = 1e-5 if name in ("LARS", "LAMB") else 0
        np.testing.assert_allclose(next(link.params()).array, together.__dict__[key].array, rtol=rtol)


@pytest.mark.parametrize("name", ALL)
def test_a_gradient_is_left_as_it_is(name, make_parameters, give):
    link = make_parameters({"W": np.ones((100, 200), "float32"), "b": np.ones(5, "float32")})
    optimizer = getattr(optimizers, name)().setup(link)
    optimizer.add_hook(optimizers.WeightDecay(0.1))
    optimizer.add_hook(optimizers.GradientHardClipping(-0.5, 0.5))
    give(link, 0)
    before = [param.grad.copy() for param in link.params()]
    optimizer.update()
    for param, grad in zip(link.params(), before):
        np.testing.assert_array_equal(param.grad, grad)
        assert not np.array_equal(param.array, np.ones_like(param.array))


@pytest.mark.parametrize("name", ALL)
def test_what_is_not_a_number_stays_visible(name, make_parameters):
    link = make_parameters({"W": np.ones(4, "float32")})
    optimizer = getattr(optimizers, name)().setup(link)
    link.W.grad = np.array([np.nan, 1, np.inf, 1], "float32")
    optimizer.update()
    assert np.isnan(link.W.array[0])


@pytest.mark.parametrize("name", ["LARS", "LAMB"])
def test_layers_of_zeros_learn(name, make_parameters):
    link = make_parameters({"W": np.zeros(4, "float32")})
    optimizer = getattr(optimizers, name)(0.1).setup(link)
    link.W.grad = np.ones(4, "float32")
    optimizer.update()
    assert (link.W.array < 0).all()
    link.W.grad = np.zeros(4, "float32")
    optimizer.update()
    assert np.isfinite(link.W.array).all()


def test_exempt_parameters_have_neither_decay_nor_trust_ratio(make_parameters):
    for make in (
        lambda exempt: optimizers.AdamW(0.1, weight_decay_rate=0.1, exempt=exempt),
        lambda exempt: optimizers.LAMB(0.1, weight_decay_rate=0.1, eps=1e-8, exempt=exempt),
    ):
        link = make_parameters({"W": np.full((2, 2), 3, "float32"), "b": np.full(2, 3, "float32")})
        plain = make_parameters({"b": np.full(2, 3, "float32")})
        one = make(optimizers.is_vector).setup(link)
        other = optimizers.Adam(0.1).setup(plain)
        for t in range(3):
            for param in (link.W, link.b, plain.b):
                param.grad = np.full(param.shape, 0.5 + t, "float32")
            one.update()
            other.update()
        np.testing.assert_allclose(link.b.array, plain.b.array, rtol=1e-6)
        assert abs(link.W.array[0, 0] - link.b.array[0]) > 0.01
