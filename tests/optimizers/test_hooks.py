"""Hooks act in the order in which they were added, as if each had written into the gradients."""

import numpy as np
import pytest

import cvzoo
from cvzoo import optimizers
from cvzoo.errors import DtypeError, GraphError, ValueRangeError, WeightsMismatchError


def _step(make_parameters, *hooks, seed=0, value=None):
    """The changed gradients that one step of SGD shows: (before, after, values) by name."""
    rng = np.random.default_rng(seed)
    arrays = {"W": rng.normal(size=(120, 100)), "V": rng.normal(size=(3, 4)), "b": rng.normal(size=5)}
    link = make_parameters(arrays, "float64")
    optimizer = optimizers.SGD(1.0).setup(link)
    for hook in hooks:
        optimizer.add_hook(hook)
    grads = {name: rng.normal(size=array.shape) for name, array in arrays.items()}
    for name, grad in grads.items():
        link.__dict__[name].grad = grad.copy()
    optimizer.update()
    return grads, {name: arrays[name] - link.__dict__[name].array for name in arrays}, arrays


def _norm(grads):
    return np.sqrt(sum((grad**2).sum() for grad in grads.values()))


def test_weight_decay(make_parameters):
    grads, seen, values = _step(make_parameters, optimizers.WeightDecay(0.1))
    for name, grad in grads.items():
        np.testing.assert_allclose(seen[name], grad + 0.1 * values[name], atol=1e-12)


def test_weight_decay_leaves_its_no_decay_group_alone(make_parameters):
    grads, seen, values = _step(make_parameters, optimizers.WeightDecay(0.1, exempt=optimizers.is_vector))
    np.testing.assert_allclose(seen["b"], grads["b"], atol=1e-12)
    np.testing.assert_allclose(seen["V"], grads["V"] + 0.1 * values["V"], atol=1e-12)
    grads, seen, values = _step(make_parameters, optimizers.Lasso(0.1, exempt=optimizers.named("V", "/W")))
    np.testing.assert_allclose(seen["b"], grads["b"] + 0.1 * np.sign(values["b"]), atol=1e-12)
    for name in ("V", "W"):
        np.testing.assert_allclose(seen[name], grads[name], atol=1e-12)


def test_lasso(make_parameters):
    grads, seen, values = _step(make_parameters, optimizers.Lasso(0.1))
    for name, grad in grads.items():
        np.testing.assert_allclose(seen[name], grad + 0.1 * np.sign(values[name]), atol=1e-12)


def test_gradient_scaling_of_a_few(make_parameters):
    grads, seen, _ = _step(make_parameters, optimizers.GradientScaling(2, only=optimizers.named("b")))
    np.testing.assert_allclose(seen["b"], 2 * grads["b"], atol=1e-12)
    np.testing.assert_allclose(seen["V"], grads["V"], atol=1e-12)
    vectors = optimizers.GradientScaling(0.5, exempt=optimizers.is_vector, only=optimizers.named("b", "V"))
    grads, seen, _ = _step(make_parameters, vectors, seed=1)
    np.testing.assert_allclose(seen["b"], grads["b"], atol=1e-12)
    np.testing.assert_allclose(seen["V"], 0.5 * grads["V"], atol=1e-12)
    np.testing.assert_allclose(seen["W"], grads["W"], atol=1e-12)


@pytest.mark.parametrize("threshold", [1.0, 1e6])
def test_gradient_clipping_is_by_the_norm_of_all(threshold, make_parameters):
    hook = optimizers.GradientClipping(threshold)
    grads, seen, _ = _step(make_parameters, hook)
    rate = min(threshold / _norm(grads), 1)
    assert hook.norm == pytest.approx(_norm(grads))
    for name, grad in grads.items():
        np.testing.assert_allclose(seen[name], rate * grad, atol=1e-12)


def test_gradient_clipping_leaves_what_is_not_finite(make_parameters):
    link = make_parameters({"W": np.zeros(3)})
    optimizer = optimizers.SGD(1.0).setup(link)
    optimizer.add_hook(optimizers.GradientClipping(1.0))
    link.W.grad = np.array([1, np.inf, 2], "float32")
    optimizer.update()
    np.testing.assert_array_equal(link.W.array, [-1, -np.inf, -2])


def test_gradient_hard_clipping_is_by_value(make_parameters):
    grads, seen, _ = _step(make_parameters, optimizers.GradientHardClipping(-0.2, 0.3))
    for name, grad in grads.items():
        np.testing.assert_allclose(seen[name], grad.clip(-0.2, 0.3), atol=1e-12)


def test_hooks_act_one_after_another(make_parameters):
    seen_by_function = {}

    def look(optimizer):
        seen_by_function.update((path[1:], param.grad.copy()) for path, param in optimizer.target.namedparams())

    hooks = [
        optimizers.WeightDecay(0.5),
        optimizers.GradientClipping(2.0),
        optimizers.GradientHardClipping(-0.01, 0.02),
    ]
    grads, seen, values = _step(make_parameters, *hooks, look, optimizers.Lasso(0.1))
    decayed = {name: grad + 0.5 * values[name] for name, grad in grads.items()}
    rate = 2 / _norm(decayed)
    for name, grad in decayed.items():
        clipped = (rate * grad).clip(-0.01, 0.02)
        np.testing.assert_allclose(seen_by_function[name], clipped, atol=1e-12)
        np.testing.assert_allclose(seen[name], clipped + 0.1 * np.sign(values[name]), atol=1e-12)


def test_a_function_may_change_gradients(make_parameters):
    def double(optimizer):
        for param in optimizer.target.params():
            param.grad = 2 * param.grad

    def drop_b(optimizer):
        optimizer.target.b.cleargrad()

    grads, seen, _ = _step(make_parameters, double, drop_b)
    np.testing.assert_allclose(seen["W"], 2 * grads["W"], atol=1e-12)
    np.testing.assert_array_equal(seen["b"], 0)


def test_written_gradients_reach_arrays_in_any_order(make_parameters):
    link = make_parameters({"W": np.zeros((3, 4)), "V": np.zeros((150, 100))})
    optimizer = optimizers.SGD().setup(link)
    optimizer.add_hook(optimizers.GradientHardClipping(-1, 1))
    seen = []
    optimizer.add_hook(lambda o: seen.extend(p.grad.copy() for p in o.target.params()), name="look")
    for param in link.params():
        param.grad = np.asfortranarray(np.full(param.shape, 5, "float32"))
    optimizer.update()
    assert all((grad == 1).all() for grad in seen)


def test_noise_has_its_variance_and_is_drawn_again_from_the_same_seed(make_parameters):
    cvzoo.set_seed(1)
    grads, seen, _ = _step(make_parameters, optimizers.GradientNoise(4.0))
    noise = seen["W"] - grads["W"]
    assert abs(noise.std() - 2) < 0.05
    assert abs(noise.mean()) < 0.05
    cvzoo.set_seed(1)
    _, again, _ = _step(make_parameters, optimizers.GradientNoise(4.0))
    np.testing.assert_array_equal(seen["W"], again["W"])


def test_freeze_holds_for_a_while(make_parameters):
    link = make_parameters({"a": np.zeros(2), "b": np.zeros(2)})
    optimizer = optimizers.SGD(1.0).setup(link)
    optimizer.add_hook(optimizers.Freeze(optimizers.named("/a"), 3))
    for _ in range(5):
        for param in link.params():
            param.grad = np.ones(2, "float32")
        optimizer.update()
    assert (link.a.array[0], link.b.array[0]) == (-2, -5)


def test_named_selects_by_the_last_name_or_the_beginning(make_network):
    model = make_network()
    paths = {path for path, param in model.namedparams() if optimizers.named("b", "/fc")(path, param)}
    assert paths == {"/conv/b", "/fc/W", "/fc/b"}


def test_hooks_have_names_and_come_off(make_parameters):
    link = make_parameters({"W": np.ones(2)})
    optimizer = optimizers.SGD(1.0).setup(link)
    optimizer.add_hook(optimizers.WeightDecay(1.0))
    with pytest.raises(ValueRangeError, match="WeightDecay"):
        optimizer.add_hook(optimizers.WeightDecay(1.0))
    optimizer.add_hook(optimizers.WeightDecay(2.0), name="more")
    assert optimizer.get_hook("more").rate == 2
    optimizer.remove_hook("WeightDecay")
    link.W.grad = np.zeros(2, "float32")
    optimizer.update()
    np.testing.assert_array_equal(link.W.array, -1)
    with pytest.raises(ValueRangeError, match="timing"):
        optimizer.add_hook(optimizers.Lasso(1.0), timing="post")


def test_functions_may_come_before_or_after_the_update(make_parameters):
    link = make_parameters({"W": np.zeros(1)})
    optimizer = optimizers.SGD(1.0).setup(link)
    seen = []
    optimizer.add_hook(lambda o: seen.append(o.target.W.array[0]), name="after", timing="post")
    optimizer.add_hook(lambda o: seen.append(o.target.W.array[0]), name="before")
    link.W.grad = np.ones(1, "float32")
    optimizer.update()
    assert seen == [0, -1]


def test_a_parameter_has_no_norm_of_all(make_parameters):
    link = make_parameters({"W": np.zeros(1)})
    optimizers.SGD().setup(link)
    with pytest.raises(DtypeError, match="GradientClipping"):
        link.W.update_rule.add_hook(optimizers.GradientClipping(1.0))
    hook = optimizers.Lasso(1.0)
    link.W.update_rule.add_hook(hook)
    link.W.update_rule.remove_hook(hook)
    assert link.W.update_rule.hooks == ()


# --- moving averages ------------------------------------------------------------------------------------------------
def test_averages_are_those_of_the_formula(make_parameters, give):
    link = make_parameters({"W": np.ones((150, 100)), "b": np.ones(3)})
    optimizer = optimizers.SGD(0.1).setup(link)
    ema = optimizers.ExponentialMovingAverage(0.8, warm_up=False)
    optimizer.add_hook(ema)
    average = None
    for t in range(5):
        give(link, t)
        optimizer.update()
        value = {name: link.__dict__[name].array.astype("float64") for name in ("W", "b")}
        average = value if average is None else {k: 0.8 * average[k] + 0.2 * value[k] for k in value}
        if t == 2:
            link.b.array = link.b.array.copy()
    for name in average:
        np.testing.assert_allclose(ema.averages[name], average[name], rtol=1e-5)


def test_averages_warm_up(make_parameters):
    link = make_parameters({"W": np.zeros(1)})
    optimizer = optimizers.SGD(1.0).setup(link)
    ema = optimizers.ExponentialMovingAverage(0.999)
    optimizer.add_hook(ema)
    average = None
    for t in range(1, 4):
        link.W.grad = -np.ones(1, "float32")
        optimizer.update()
        keep = min(0.999, (1 + t) / (10 + t))
        average = t if average is None else keep * average + (1 - keep) * t
    assert ema.averages["W"][0] == pytest.approx(average, rel=1e-6)


def test_averages_are_applied_for_a_block_and_copied(make_network, batches):
    model = make_network()
    optimizer = optimizers.SGD(0.5).setup(model)
    ema = optimizers.ExponentialMovingAverage(0.9)
    optimizer.add_hook(ema)
    with pytest.raises(GraphError), ema.applied():
        pass
    for x, t in batches:
        optimizer.update(model, x, t)
    mine = model.fc.W.array.copy()
    with ema.applied():
        np.testing.assert_array_equal(model.fc.W.array, ema.averages["fc/W"])
    np.testing.assert_array_equal(model.fc.W.array, mine)
    with pytest.raises(KeyError), ema.applied():
        raise KeyError
    np.testing.assert_array_equal(model.fc.W.array, mine)
    other = make_network(seed=4)
    ema.copy_to(other)
    np.testing.assert_array_equal(other.fc.W.array, ema.averages["fc/W"])
    np.testing.assert_array_equal(other.bn.avg_mean, model.bn.avg_mean)


def test_running_statistics_are_averaged_if_asked_for(make_network, batches):
    model, plain = make_network(), make_network()
    ema = optimizers.ExponentialMovingAverage(0.8, warm_up=False, persistent=True)
    optimizer = optimizers.SGD(0.5).setup(model)
    optimizer.add_hook(ema)
    assert ema.is_empty
    average = {}
    for x, t in batches:
        optimizer.update(model, x, t)
        for name in ("avg_mean", "avg_var"):
            value = getattr(model.bn, name).astype("float64")
            average[name] = 0.8 * average[name] + 0.2 * value if name in average else value
    assert not ema.is_empty
    mine = {name: np.array(array) for name, array in model.state_arrays().items()}
    with ema.applied():
        for name, expected in average.items():
            np.testing.assert_allclose(getattr(model.bn, name), expected, rtol=1e-5)
    for name, array in model.state_arrays().items():
        np.testing.assert_array_equal(array, mine[name])
    ema.copy_to(plain)
    np.testing.assert_allclose(plain.bn.avg_var, average["avg_var"], rtol=1e-5)


@pytest.mark.parametrize("compiles", [False, True])
def test_averages_are_seen_by_a_network_that_has_prepared_its_weights(make_network, batches, compiles):
    model, copy = make_network(), make_network()
    ema = optimizers.ExponentialMovingAverage(0.9, persistent=True)
    optimizer = optimizers.SGD(0.5).setup(model)
    optimizer.add_hook(ema)
    x = batches[0][0]

    def features(link):
        with cvzoo.using_config("train", False), cvzoo.no_backprop_mode():
            return np.array(link.head(x).array)

    for each in (model, copy):
        each.head = cvzoo.Sequential(each.conv, each.bn)
    for x, t in batches:
        optimizer.update(model, x, t)
    if compiles:
        model.head.compile()
    before = features(model)
    ema.copy_to(copy)
    with ema.applied():
        averaged = features(model)
    np.testing.assert_array_equal(averaged, features(copy))
    np.testing.assert_array_equal(features(model), before)
    assert np.abs(averaged - before).max() > 1e-3


def test_averages_of_another_network_are_refused(make_network, make_parameters, give):
    link = make_parameters({"W": np.ones(3)})
    optimizer = optimizers.SGD().setup(link)
    ema = optimizers.ExponentialMovingAverage()
    optimizer.add_hook(ema)
    give(link, 0)
    optimizer.update()
    with pytest.raises(WeightsMismatchError, match="fc/W"):
        ema.load_state({"t": 1, "averages": {"fc/W": np.ones(3)}})


@pytest.mark.parametrize("decay", [-0.1, 1.0, 2.0])
def test_a_decay_out_of_range_is_refused(decay):
    with pytest.raises(ValueRangeError):
        optimizers.ExponentialMovingAverage(decay)


# --- loss scaling ---------------------------------------------------------------------------------------------------
def test_a_scaled_loss_makes_the_same_update(make_network, batches):
    ends = []
    for scale in (None, 1024.0):
        model = make_network()
        optimizer = optimizers.MomentumSGD().setup(model)
        optimizer.add_hook(optimizers.GradientClipping(0.5))
        if scale is not None:
            optimizer.loss_scaling(scale=scale)
            assert optimizer.loss_scale == scale
        for x, t in batches[:4]:
            optimizer.update(model, x, t)
        ends.append(model.state_arrays())
    for path, value in ends[0].items():
        np.testing.assert_allclose(value, ends[1][path], rtol=1e-4, atol=1e-6)


def test_an_overflow_halves_the_scale_and_leaves_the_update_out(make_parameters):
    link = make_parameters({"W": np.zeros(3)})
    optimizer = optimizers.Adam().setup(link).loss_scaling(interval=2)
    before = optimizer.loss_scale
    link.W.grad = np.array([1, np.inf, -np.inf], "float32")
    optimizer.update()
    assert (optimizer.t, optimizer.loss_scale) == (0, before / 2)
    np.testing.assert_array_equal(link.W.array, 0)
    for _ in range(2):
        link.W.grad = np.ones(3, "float32")
        optimizer.update()
    assert (optimizer.t, optimizer.loss_scale) == (2, before)


def test_layerwise_rules_measure_the_gradient_as_hooks_leave_it(make_parameters):
    values = np.random.default_rng(0).normal(size=(3, 4))
    links = [make_parameters({"W": values}, "float64") for _ in range(2)]
    for link, hook in zip(links, (optimizers.GradientScaling(0.5), None)):
        optimizer = optimizers.LARS(weight_decay_rate=0.1).setup(link)
        if hook is not None:
            optimizer.add_hook(hook)
        link.W.grad = np.full((3, 4), 2.0 if hook is not None else 1.0)
        optimizer.update()
    np.testing.assert_allclose(links[0].W.array, links[1].W.array, rtol=1e-14)
