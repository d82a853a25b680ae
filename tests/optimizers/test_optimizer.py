"""What an optimizer makes of parameters that come, go, stand still, are shared or are replaced."""

import gc
import tracemalloc

import numpy as np
import pytest

import cvzoo
import cvzoo.functions as F
import cvzoo.links as L
from cvzoo import optimizers
from cvzoo.errors import DtypeError, GraphError, ValueRangeError, WeightsMismatchError


def test_setup_returns_the_optimizer_and_gives_every_parameter_a_rule(make_network):
    model = make_network()
    optimizer = optimizers.Adam()
    assert optimizer.setup(model) is optimizer
    assert optimizer.target is model
    assert all(param.update_rule is not None for param in model.params())


def test_update_of_a_loss_learns_also_lazy_layers(make_network, batches):
    model = make_network()
    optimizer = optimizers.Adam().setup(model)
    first = model(*batches[0]).item()
    assert model.fc.W.is_initialized
    model = make_network()
    optimizer = optimizers.Adam(0.01).setup(model)
    assert not model.fc.W.is_initialized
    for _ in range(30):
        optimizer.update(model, *batches[0])
    assert optimizer.t == 30
    assert model(*batches[0]).item() < first / 2


def test_update_takes_a_batch_by_name(make_network, batches):
    model = make_network()
    optimizer = optimizers.SGD().setup(model)
    optimizer.update(model, x=batches[0][0], t=batches[0][1])
    assert optimizer.t == 1


def test_update_after_a_backward_uses_its_gradients(make_network, batches):
    one, other = make_network(), make_network()
    for model in (one, other):
        model(*batches[0])
    other.copyparams(one)
    first, second = optimizers.MomentumSGD().setup(one), optimizers.MomentumSGD().setup(other)
    for x, t in batches[:3]:
        first.update(one, x, t)
        other.cleargrads()
        other(x, t).backward()
        second.update()
    for a, b in zip(one.params(), other.params()):
        np.testing.assert_array_equal(a.array, b.array)


def test_update_before_setup_says_what_is_missing():
    with pytest.raises(GraphError, match="setup"):
        optimizers.SGD().update()


def test_setup_wants_a_link():
    with pytest.raises(DtypeError, match="Link"):
        optimizers.SGD().setup([np.ones(3)])


def test_values_are_changed_where_they_lie(make_parameters, give):
    link = make_parameters({"W": np.ones((100, 100)), "b": np.ones(3)})
    handles = [param.array for param in link.params()]
    optimizer = optimizers.SGD().setup(link)
    give(link, 0)
    optimizer.update()
    for param, handle in zip(link.params(), handles):
        assert param.array is handle
        assert not np.array_equal(handle, np.ones_like(handle))


@pytest.mark.parametrize("shape", [(4, 3), (200, 100)])  # gathered; a block of its own
@pytest.mark.parametrize("name", ["SGD", "Adam", "LAMB"])
def test_a_replaced_value_is_found(shape, name, make_parameters):
    links = [make_parameters({"W": np.ones(shape)}) for _ in range(2)]
    pair = [getattr(optimizers, name)().setup(link) for link in links]
    for t in range(4):
        if t == 2:
            links[0].W.array = np.full(shape, 2, "float32")  # another array
            links[1].W.array[...] = 2  # the same one
        for link, optimizer in zip(links, pair):
            link.W.grad = np.full(shape, 0.3, "float32")
            optimizer.update()
    np.testing.assert_array_equal(links[0].W.array, links[1].W.array)
    assert abs(links[0].W.array.ravel()[0] - 2) < 0.1


@pytest.mark.parametrize("shape", [(6, 5), (150, 100)])
def test_values_and_gradients_may_lie_in_any_order(shape, make_parameters):
    rng = np.random.default_rng(0)
    value = rng.normal(size=shape).astype("float32")
    link, twin = make_parameters({"W": value}), make_parameters({"W": value})
    link.W.array = np.asfortranarray(value)
    pair = [optimizers.Adam().setup(link), optimizers.Adam().setup(twin)]
    for _ in range(3):
        grad = rng.normal(size=shape).astype("float32")
        link.W.grad = grad
        twin.W.grad = np.asfortranarray(grad)
        for optimizer in pair:
            optimizer.update()
    assert link.W.array.flags.f_contiguous
    np.testing.assert_array_equal(link.W.array, twin.W.array)


def test_a_read_only_value_is_replaced_by_a_copy(make_parameters):
    link = make_parameters({"W": np.ones(3)})
    kept = np.ones(3, "float32")
    kept.flags.writeable = False
    link.W.array = kept
    optimizer = optimizers.SGD(1.0).setup(link)
    link.W.grad = np.ones(3, "float32")
    optimizer.update()
    np.testing.assert_array_equal(kept, 1)
    np.testing.assert_array_equal(link.W.array, 0)


def test_packed_copies_of_weights_follow_an_update(make_network, batches):
    model = make_network()
    optimizer = optimizers.SGD(0.5).setup(model)
    x, t = batches[0]
    optimizer.update(model, x, t)
    for _ in range(2):
        with cvzoo.using_config("train", False), cvzoo.no_backprop_mode():
            packed = model(x, t).item()
        with cvzoo.using_config("train", False):
            assert model(x, t).item() == pytest.approx(packed, rel=1e-5)
        optimizer.update(model, x, t)
    with cvzoo.using_config("train", False), cvzoo.no_backprop_mode():
        assert model(x, t).item() != packed


def test_loaded_values_are_optimized(make_network, batches, tmp_path):
    model, twin = make_network(0), make_network(1)
    optimizer = optimizers.SGD().setup(model)
    other = optimizers.SGD().setup(twin)
    for network, opt in ((model, optimizer), (twin, other)):
        opt.update(network, *batches[0])
    cvzoo.serializers.save_npz(tmp_path / "a.npz", model)
    cvzoo.serializers.load_npz(tmp_path / "a.npz", twin)
    for network, opt in ((model, optimizer), (twin, other)):
        opt.update(network, *batches[1])
    for a, b in zip(model.params(), twin.params()):
        np.testing.assert_array_equal(a.array, b.array)


def _frozen_cases():
    def disable(model):
        model.conv.disable_update()

    def no_rule(model):
        for param in model.conv.params():
            param.update_rule = None

    def rule_off(model):
        for param in model.conv.params():
            param.update_rule.enabled = False

    return [disable, no_rule, rule_off]


@pytest.mark.parametrize("freeze", _frozen_cases(), ids=lambda f: f.__name__)
def test_frozen_parameters_stay(freeze, make_network, batches):
    model = make_network()
    optimizer = optimizers.Adam().setup(model)
    optimizer.add_hook(optimizers.WeightDecay(0.1))
    optimizer.update(model, *batches[0])
    freeze(model)
    conv, fc = model.conv.W.array.copy(), model.fc.W.array.copy()
    for x, t in batches[1:3]:
        optimizer.update(model, x, t)
    np.testing.assert_array_equal(model.conv.W.array, conv)
    assert not np.array_equal(model.fc.W.array, fc)


def test_a_thawed_parameter_goes_on_with_its_own_count(make_parameters):
    link = make_parameters({"a": np.ones(3), "b": np.ones(3)})
    twin = make_parameters({"a": np.ones(3)})
    optimizer, other = optimizers.Adam().setup(link), optimizers.Adam().setup(twin)
    rng = np.random.default_rng(0)
    for t in range(6):
        grad = rng.normal(size=3).astype("float32")
        link.b.grad = grad
        link.a.grad = None if t in (1, 2) else grad
        optimizer.update()
        if link.a.grad is not None:
            twin.a.grad = grad
            other.update()
    assert (link.a.update_rule.t, link.b.update_rule.t) == (4, 6)
    np.testing.assert_array_equal(link.a.array, twin.a.array)


def test_a_link_in_two_places_is_updated_once():
    cvzoo.set_seed(0)
    layer = L.Linear(3, 3)
    model = cvzoo.Sequential(layer, F.tanh, layer)
    before = layer.W.array.copy()
    optimizer = optimizers.SGD(1.0).setup(model)
    x = np.ones((2, 3), "float32")
    optimizer.update(lambda x: F.sum(model(x)), x)
    np.testing.assert_allclose(layer.W.array, before - layer.W.grad, rtol=1e-6)
    assert list(optimizer.state()["params"]) == ["/0/W", "/0/b"]


def test_an_array_under_two_handles_is_changed_by_both():
    layer = L.Linear(200, 200)
    model = cvzoo.ChainList(layer, layer.copy("share"))
    layer.W.array[...] = 0
    optimizer = optimizers.SGD(1.0).setup(model)
    for param in (model[0].W, model[1].W):
        param.grad = np.ones_like(param.array)
    optimizer.update()
    np.testing.assert_array_equal(layer.W.array, -2)


def test_a_parameter_may_have_numbers_and_a_rule_of_its_own(make_parameters):
    link = make_parameters({"a": np.zeros(2), "b": np.zeros(2), "c": np.zeros(2), "d": np.zeros(2)})
    optimizer = optimizers.SGD(lr=1.0).setup(link)
    link.b.update_rule.hyperparam.lr = 0.1
    link.c.update_rule = optimizers.MomentumSGD(lr=2.0, momentum=0.5).create_update_rule()
    link.d.update_rule.add_hook(optimizers.WeightDecay(10.0))
    link.d.array[...] = 1
    for _ in range(2):
        for param in link.params():
            param.grad = np.ones(2, "float32")
        optimizer.update()
    assert link.a.array[0] == -2
    np.testing.assert_allclose(link.b.array, -0.2, rtol=1e-6)
    assert link.c.array[0] == -2 - 3
    assert link.d.array[0] == (1 - 11) - (1 - 100)
    optimizer.lr = 0.5
    assert link.a.update_rule.hyperparam.lr == 0.5
    assert link.b.update_rule.hyperparam.lr == 0.1
    del link.b.update_rule.hyperparam.lr
    assert link.b.update_rule.hyperparam.lr == 0.5


@pytest.mark.parametrize(
    ("change", "error"),
    [
        (lambda o: setattr(o, "learning_rate", 0.1), AttributeError),
        (lambda o: setattr(o, "lr", "0.1"), DtypeError),
        (lambda o: setattr(o, "lr", float("nan")), ValueRangeError),
        (lambda o: setattr(o.hyperparam, "beta3", 0.1), ValueRangeError),
        (lambda o: o.hyperparam.beta3, AttributeError),
        (lambda o: o.accumulate(0), ValueRangeError),
        (lambda o: o.loss_scaling(scale=-1.0), ValueRangeError),
        (lambda o: o.add_hook(3), DtypeError),
        (lambda o: o.remove_hook("WeightDecay"), ValueRangeError),
        (lambda o: o.new_epoch(auto=True), GraphError),
    ],
)
def test_what_makes_no_sense_is_refused(change, error):
    with pytest.raises(error):
        change(optimizers.Adam())


def test_numbers_may_be_numpys_and_change_at_any_time(make_parameters):
    link = make_parameters({"W": np.zeros(1)})
    optimizer = optimizers.Adam(np.float32(0.5)).setup(link)
    assert optimizer.lr == optimizer.alpha == 0.5
    optimizer.lr = np.float64(0.25)
    assert type(optimizer.alpha) is float
    link.W.grad = np.ones(1, "float32")
    optimizer.update()
    assert link.W.array[0] == pytest.approx(-0.25)


def test_float16_parameters_are_refused_by_name(make_parameters):
    link = make_parameters({"W": np.zeros(3)}, "float16")
    optimizer = optimizers.SGD().setup(link)
    link.W.grad = np.ones(3, "float16")
    with pytest.raises(DtypeError, match="/W"):
        optimizer.update()


def test_parameters_of_both_precisions_live_together(make_parameters, give):
    link = make_parameters({"a": np.ones(3, "float32"), "b": np.ones(3, "float64")}, None)
    optimizer = optimizers.Adam().setup(link)
    give(link, 0)
    optimizer.update()
    assert (link.a.dtype, link.b.dtype) == (np.float32, np.float64)


def test_a_changed_shape_is_refused_until_setup(make_parameters, give):
    link = make_parameters({"W": np.ones(3)})
    optimizer = optimizers.Adam().setup(link)
    give(link, 0)
    optimizer.update()
    link.W.array = np.ones(5, "float32")
    give(link, 0)
    with pytest.raises(WeightsMismatchError, match="/W"):
        optimizer.update()
    optimizer.setup(link)
    optimizer.update()


def test_nothing_to_update_is_no_error(make_parameters):
    optimizer = optimizers.Adam().setup(make_parameters({"W": np.ones(3), "none": np.ones((0, 3))}))
    optimizer.add_hook(optimizers.GradientClipping(1.0))
    optimizer.update()
    assert optimizer.t == 1


def test_accumulated_batches_are_one_update_by_their_mean(make_parameters):
    def loss(link, x):
        return F.sum(link.W * x)

    x = np.random.default_rng(0).normal(size=(4, 5)).astype("float32")
    link, twin = make_parameters({"W": np.ones(5)}), make_parameters({"W": np.ones(5)})
    optimizer = optimizers.MomentumSGD().setup(link).accumulate(4)
    other = optimizers.MomentumSGD().setup(twin)
    for _ in range(2):
        for row in x:
            optimizer.update(loss, link, row)
        other.update(lambda: loss(twin, x.mean(0)))
    assert optimizer.t == other.t == 2
    np.testing.assert_allclose(link.W.array, twin.W.array, rtol=1e-6)


def test_epochs_are_counted():
    optimizer = optimizers.SGD()
    optimizer.new_epoch()
    optimizer.use_auto_new_epoch = True
    optimizer.new_epoch(auto=True)
    assert optimizer.epoch == 2


@pytest.mark.slow
def test_memory_does_not_grow_over_steps(make_parameters):
    link = make_parameters({"W": np.ones((300, 100)), "b": np.ones(100), "c": np.ones(3)})
    optimizer = optimizers.Adam().setup(link)
    ema = optimizers.ExponentialMovingAverage()
    optimizer.add_hook(optimizers.GradientClipping(1.0))
    optimizer.add_hook(ema)

    def steps(count):
        for t in range(count):
            for param in link.params():
                param.grad = None if t % 5 == 0 and param.size == 3 else np.ones_like(param.array)
            if t % 7 == 0:
                link.W.array = link.W.array.copy()
            optimizer.update()
        gc.collect()

    steps(20)
    tracemalloc.start()
    steps(20)
    before = tracemalloc.get_traced_memory()[0]
    steps(200)
    after = tracemalloc.get_traced_memory()[0]
    tracemalloc.stop()
    assert after - before < 20_000  # one value of W alone has 120,000 bytes


@pytest.mark.parametrize("name", ["MomentumSGD", "Adam", "RMSprop", "LAMB"])
def test_no_denormal_numbers_stay_where_gradients_are_zero(name, make_parameters):
    # a processor takes some thirty times longer for them, and a moving mean never leaves them by itself
    link = make_parameters({"W": np.ones(8), "V": np.ones(10_000)})
    optimizer = getattr(optimizers, name)().setup(link)
    for param in link.params():
        param.grad = np.ones(param.shape, "float32")
    optimizer.update()
    for param in link.params():
        param.grad[::2] = 0
    for _ in range(1100):
        optimizer.update()
    for param in link.params():
        for slot in param.update_rule.state.values():
            small = np.abs(slot[slot != 0])
            assert small.min() > np.finfo("float32").tiny
            assert slot[1] > 0.5
    if name != "RMSprop":
        assert link.V.update_rule.state[{"MomentumSGD": "v"}.get(name, "m")][0] == 0


def test_a_rule_of_ones_own_is_a_formula(make_parameters):
    class SignRule(optimizers.AbstractUpdateRule):
        def coefficients(self, hp, t, exempt):
            return (hp["lr"] / t,)

        def update_block(self, p, g, state, c, scratch, ratio):
            np.sign(g, scratch[0])
            p -= c[0] * scratch[0]

    class SignSGD(optimizers.AbstractOptimizer):
        __slots__ = ()
        rule_class = SignRule
        lr = optimizers.HyperparameterProxy("lr")

    link = make_parameters({"W": np.zeros(2)})
    optimizer = SignSGD({"lr": 1.0}).setup(link)
    for _ in range(2):
        link.W.grad = np.array([3, -4], "float32")
        optimizer.update()
    np.testing.assert_allclose(link.W.array, [-1.5, 1.5])
