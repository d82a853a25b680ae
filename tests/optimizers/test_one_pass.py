"""Updates by our kernel have the bits of NumPy's, for every rule and hook, and resumed runs mix both."""

import numpy as np
import pytest

from cvzoo import optimizers
from cvzoo.backends.native.library import native
from cvzoo.optimizers import blocks, one_pass
from cvzoo.optimizers.adam import AdamRule

pytestmark = pytest.mark.skipif(native() is None, reason="needs our library")
RULES = {
    "SGD": lambda: optimizers.SGD(0.1),
    "MomentumSGD": lambda: optimizers.MomentumSGD(0.1),
    "NesterovAG": lambda: optimizers.NesterovAG(0.1),
    "AdaGrad": lambda: optimizers.AdaGrad(),
    "AdaDelta": lambda: optimizers.AdaDelta(),
    "RMSprop": lambda: optimizers.RMSprop(),
    "RMSprop, eps inside": lambda: optimizers.RMSprop(eps_inside_sqrt=True),
    "Adam": lambda: optimizers.Adam(),
    "AdamW": lambda: optimizers.AdamW(weight_decay_rate=0.01, exempt=optimizers.is_vector),
    "AMSGrad": lambda: optimizers.AMSGrad(),
}
HOOKS = {
    "none": [],
    "decay and norm": [optimizers.WeightDecay(0.01), optimizers.GradientClipping(0.5)],
    "elements": [optimizers.GradientHardClipping(-0.3, 0.4), optimizers.Lasso(0.02), optimizers.GradientScaling(0.3)],
}


def trained(make_parameters, give, make, hooks, steps=34):
    """Parameters and states after some steps; more than the number after which small state is flushed."""
    rng = np.random.default_rng(0)
    arrays = {"long": rng.normal(size=(3, 5000)), "short": rng.normal(size=(7, 3)), "one": rng.normal(size=1)}
    link = make_parameters(arrays)
    link.short.array = np.asfortranarray(link.short.array)
    link.one.array[:] = 0
    optimizer = make().setup(link)
    for hook in hooks:
        optimizer.add_hook(hook)
    for t in range(steps):
        give(link, t)
        link.long.grad[0, ::7] = 0
        if t:
            link.long.grad[1] *= 1e-25  # whose squares are denormal
        optimizer.update()
    states = {name: {k: v.copy() for k, v in p.update_rule.state.items()} for name, p in link.namedparams()}
    return {name: p.array for name, p in link.namedparams()}, states


@pytest.mark.parametrize("hooks", HOOKS)
@pytest.mark.parametrize("rule", RULES)
def test_updates_in_one_pass_have_numpys_bits(monkeypatch, make_parameters, give, rule, hooks):
    calls = []
    run_program = one_pass.run_program
    monkeypatch.setattr(one_pass, "run_program", lambda *args: (calls.append(1), run_program(*args)))
    ours = trained(make_parameters, give, RULES[rule], HOOKS[hooks])
    assert calls
    monkeypatch.setattr(one_pass, "native", lambda: None)
    numpys = trained(make_parameters, give, RULES[rule], HOOKS[hooks])
    for name in numpys[0]:
        np.testing.assert_array_equal(ours[0][name], numpys[0][name], name)
        for slot in numpys[1][name]:
            np.testing.assert_array_equal(ours[1][name][slot], numpys[1][name][slot], f"{name} {slot}")


def test_pieces_of_long_arrays_and_contiguous_short_ones_have_states_of_their_own(monkeypatch, make_parameters, give):
    def updated():
        link = make_parameters({"first": np.ones(40), "second": np.ones(30), "long": np.ones(15_000)})
        optimizer = optimizers.Adam().setup(link)
        for t in range(3):
            give(link, t)
            optimizer.update()
        params = list(link.params())
        return [p.array for p in params] + [slot.copy() for p in params for slot in p.update_rule.state.values()]

    monkeypatch.setattr(blocks, "BLOCK", 6000)  # elements: three pieces of `long`, one block of the others
    ours = updated()
    monkeypatch.setattr(one_pass, "native", lambda: None)
    for array, expected in zip(ours, updated(), strict=True):
        np.testing.assert_array_equal(array, expected)


class _OwnRule(AdamRule):
    """A user's rule, whose formula depends on more than its coefficients."""

    factor = 0.0

    def update_block(self, p, g, state, c, scratch, ratio):
        self.factor += 1
        np.multiply(g, self.factor, scratch[0])
        np.subtract(p, scratch[0], p)


def test_a_users_rule_is_called_for_each_update(make_parameters):
    class OwnOptimizer(optimizers.Adam):
        rule_class = _OwnRule

    link = make_parameters({"W": np.zeros(3)})
    optimizer = OwnOptimizer().setup(link)
    for _ in range(3):
        link.W.grad = np.ones(3, "float32")
        optimizer.update()
    np.testing.assert_array_equal(link.W.array, -6)


def test_strided_gradients_and_other_dtypes_are_left_to_numpy(monkeypatch, make_parameters):
    monkeypatch.setattr(one_pass, "run_program", lambda *args: pytest.fail("the kernel was called"))
    for dtype, grad in (("float64", np.arange(3.0)), ("float32", np.arange(6, dtype="float32")[::2])):
        link = make_parameters({"W": np.zeros(3)}, dtype)
        link.W.grad = grad
        optimizers.SGD(1.0).setup(link).update()
        np.testing.assert_array_equal(link.W.array, -grad)
