"""Hooks of links, and the two that let layers compute with another weight."""

import numpy as np
import pytest

import cvzoo
import cvzoo.functions as F
import cvzoo.links as L
from cvzoo import link_hooks
from cvzoo.autodiff.gradient_check import check_backward
from cvzoo.config.randomness import set_seed
from cvzoo.errors.exceptions import GraphError, ReplacedNameError, ShapeError, ValueRangeError
from cvzoo.links.connection.fused_convolution import fused_convolution
from cvzoo.links.connection.fused_linear import fused_linear

X = np.random.default_rng(0).normal(size=(2, 3, 6, 5)).astype("f")


class Diary(cvzoo.LinkHook):
    """Writes down what happens."""

    def __init__(self, name="Diary"):
        self.name = name
        self.told = []

    def added(self, link):
        self.told.append(("added", type(link).__name__))

    def deleted(self, link):
        self.told.append(("deleted", type(link).__name__))

    def forward_preprocess(self, args):
        self.told.append(("before", type(args.link).__name__, args.forward_name, len(args.args), sorted(args.kwargs)))

    def forward_postprocess(self, args):
        self.told.append(("after", type(args.link).__name__, args.out is None))


class Net(cvzoo.Chain):
    def __init__(self):
        super().__init__()
        with self.init_scope():
            self.block = L.Conv2DBNActiv(3, 8, 3, pad=1)
            self.plain = L.Conv2DActiv(8, 8, 1)
            self.out = L.Linear(None, 4)

    def forward(self, x):
        return self.out(self.plain(self.block(x)))


def infer(link, x=X):
    with cvzoo.using_config("train", False), cvzoo.no_backprop_mode():
        return link(x).array


def test_a_hook_of_a_link_is_told_of_its_calls_only():
    hook = Diary()
    layer = L.Linear(3, 2).add_hook(hook)
    assert isinstance(layer, L.Linear)
    layer(X[0, :, :, 0].T, n_batch_axes=1)
    L.Linear(3, 2)(X[0, :, :, 0].T)
    layer.delete_hook("Diary")
    layer(X[0, :, :, 0].T)
    assert hook.told == [
        ("added", "Linear"),
        ("before", "Linear", "forward", 1, ["n_batch_axes"]),
        ("after", "Linear", False),
        ("deleted", "Linear"),
    ]


def test_a_hook_in_a_block_is_told_of_every_link():
    net = Net()
    with Diary() as hook:
        net(X)
    called = [told[1] for told in hook.told if told[0] == "before"]
    assert called[0] == "Net"
    assert {"Conv2DBNActiv", "Convolution2D", "BatchNormalization", "Linear"} <= set(called)
    assert (hook.told[0], hook.told[-1]) == (("added", "NoneType"), ("deleted", "NoneType"))


def called(hook):
    return [told[1] for told in hook.told if told[0] == "before"]


def test_a_hook_in_a_block_is_told_of_every_link_in_inference_too():
    net = Net()
    net(X)
    with Diary() as hook:
        infer(net)
    links = ["Net", "Conv2DBNActiv", "Convolution2D", "BatchNormalization", "Conv2DActiv", "Convolution2D", "Linear"]
    assert called(hook) == links
    net.compile(X)
    with Diary() as hook:
        infer(net)
    assert called(hook) == links


class Outputs(cvzoo.LinkHook):
    def __init__(self):
        self.outputs = []

    def forward_postprocess(self, args):
        self.outputs.append(args.out.array.copy())


@pytest.mark.parametrize("path", ["block.conv", "block.bn", "plain.conv", "out"])
def test_a_hook_sees_the_layers_own_output_where_layers_are_fused(path):
    net = Net()
    net(X)
    link = net
    for name in path.split("."):
        link = link[name]
    hook = Outputs()
    link.add_hook(hook)
    with cvzoo.using_config("train", False):
        net(X)  # gradients could be taken: nothing is fused
    infer(net)
    np.testing.assert_allclose(hook.outputs[1], hook.outputs[0], rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("more", ["with_gelu", "add", "scale"])
def test_a_hook_sees_the_layers_own_output_where_more_is_fused_with_a_linear_layer(more):
    layer, hook = L.Linear(3, 4), Outputs()
    rows = X.transpose(0, 2, 3, 1).reshape(2, -1, 3).copy()
    with cvzoo.no_backprop_mode():
        wanted = fused_linear(layer, rows).array
        values = {"with_gelu": True, "add": wanted, "scale": cvzoo.Parameter(np.float32([1, 2, 3, 4]))}
        whole = fused_linear(layer, rows, **{more: values[more]}).array
        layer.add_hook(hook)
        hooked = fused_linear(layer, rows, **{more: values[more]}).array
    np.testing.assert_allclose(hook.outputs[0], wanted, rtol=1e-5, atol=1e-6)
    np.testing.assert_allclose(hooked, whole, rtol=1e-5, atol=1e-6)


@pytest.mark.filterwarnings("ignore:.* as a graph.*the hook Diary of a Convolution2D")
@pytest.mark.parametrize("train", [False, True])
def test_a_chain_around_a_link_with_a_hook_is_not_replayed(train):
    net, hook = Net(), Diary()
    net(X)
    net.compile(X, train=train)
    net.block.conv.add_hook(hook)
    for n in range(6):
        hook.told.clear()
        if train:
            F.sum(net(X)).backward()
        else:
            infer(net)
        assert called(hook), n
    assert net.graphs()  # of the children


def test_hooks_hear_of_a_call_that_fails():
    hook = Diary()
    with pytest.raises(cvzoo.errors.ShapeError):
        L.Linear(3, 2).add_hook(hook)(X[0, 0])
    assert hook.told[-1] == ("after", "Linear", True)


def test_names_of_hooks_are_unique():
    layer = L.Linear(3, 2).add_hook(Diary())
    with pytest.raises(ValueRangeError, match="already has a hook 'Diary'"):
        layer.add_hook(Diary())
    layer.add_hook(Diary(), name="second")
    assert list(layer.local_link_hooks) == ["Diary", "second"]
    with pytest.raises(ValueRangeError, match="has no hook 'third'"):
        layer.delete_hook("third")


def largest(W, rows=0):
    return np.linalg.norm(np.moveaxis(np.asarray(W), rows, 0).reshape(W.shape[rows], -1), 2)


@pytest.mark.parametrize(
    ("make", "x", "rows"),
    [
        (lambda: L.Convolution2D(None, 5, 3), X, 0),
        (lambda: L.Deconvolution2D(3, 5, 2), X, 1),
        (lambda: L.Linear(None, 7), X, 0),
        (lambda: L.EmbedID(4, 6), np.array([0, 3, 1]), 0),
    ],
    ids=["convolution", "deconvolution", "linear", "embedding"],
)
def test_spectral_normalization_divides_by_the_largest_singular_value(make, x, rows):
    set_seed(0)
    layer = make().add_hook(link_hooks.SpectralNormalization(n_power_iteration=200))
    plain = layer.copy("copy")
    with cvzoo.using_config("train", True):
        y = layer(x)
    W, bias = layer.W.array, getattr(layer, "b", None)
    plain.delete_hook("SpectralNormalization")
    plain.load_arrays({name: each for name, each in layer.state_arrays().items() if name != "W_u"})
    plain.W.array = W / largest(W, rows)
    np.testing.assert_allclose(y.array, plain(x).array, rtol=1e-4, atol=1e-5)
    assert layer.W is dict(layer.namedparams())["/W"]  # put back
    assert layer.W_u.shape == (W.shape[rows],)
    assert bias is None or not bias.array.any()


def test_a_learned_factor_starts_as_the_singular_value_and_learns():
    set_seed(0)
    layer = L.Linear(4, 3).add_hook(link_hooks.SpectralNormalization(200, use_gamma=True, factor=2.0))
    x = np.eye(4, dtype="f")
    with cvzoo.using_config("train", True):
        y = layer(x)
    np.testing.assert_allclose(y.array, 2 * layer.W.array.T, rtol=1e-4, atol=1e-6)
    F.sum(y).backward()
    assert layer.gamma.grad is not None
    layer.delete_hook("SpectralNormalization")
    assert sorted(layer.state_arrays()) == ["W", "b"]


def test_gradients_are_those_of_the_normalized_weight():
    with cvzoo.using_config("dtype", "float64"):
        layer = L.Convolution2D(3, 4, 2).add_hook(link_hooks.SpectralNormalization())
        x = X.astype("float64")

        def run(W):
            layer.W.array = W.array
            u = layer.W_u
            matrix = F.reshape(W, (4, -1))
            v = np.asarray(u @ matrix.array)
            v = v / (np.sqrt((v * v).sum()) + 1e-6)
            u = matrix.array @ v
            u = u / (np.sqrt((u * u).sum()) + 1e-6)
            return F.convolution_2d(x, W / F.sum(matrix * (u[:, None] * v)), layer.b)

        with cvzoo.using_config("train", False):
            y = layer(x)
            W = cvzoo.Variable(layer.W.array.copy())
            wanted = run(W)
        np.testing.assert_allclose(y.array, wanted.array, rtol=1e-10)
        weights = np.random.default_rng(1).normal(size=y.shape)
        F.sum(y * weights).backward()
        F.sum(wanted * weights).backward()
        np.testing.assert_allclose(layer.W.grad, W.grad, rtol=1e-9)


def test_training_makes_the_approximation_better_and_inference_leaves_it():
    set_seed(1)
    layer = L.Linear(6, 5).add_hook(link_hooks.SpectralNormalization())
    before = layer.W_u.copy()
    with cvzoo.using_config("train", False):
        first, second = (layer(np.eye(6, dtype="f")).array for _ in range(2))
    np.testing.assert_array_equal(first, second)
    np.testing.assert_array_equal(layer.W_u, before)
    with cvzoo.using_config("train", True):
        for _ in range(100):
            y = layer(np.eye(6, dtype="f"))
    np.testing.assert_allclose(largest(y.array), 1, rtol=1e-4)
    np.testing.assert_allclose(np.linalg.norm(layer.W_u), 1, rtol=1e-5)


def test_what_is_computed_again_has_the_same_weight():
    layer = L.Linear(6, 5).add_hook(link_hooks.SpectralNormalization())
    x = cvzoo.Variable(np.random.default_rng(0).normal(size=(3, 6)).astype("f"))
    seen = []

    def block(h):
        seen.append(layer(h))
        return seen[-1]

    with cvzoo.using_config("train", True):
        F.sum(F.forget(block, x)).backward()
    np.testing.assert_allclose(seen[0].array, seen[1].array, rtol=1e-5)


@pytest.mark.parametrize("make", [lambda: L.Convolution2D(3, 4, 3), lambda: L.Convolution2D(None, 4, 1)])
def test_weight_standardization_brings_each_filter_to_mean_0_and_variance_1(make):
    layer = make().add_hook(link_hooks.WeightStandardization(eps=1e-9))
    y = layer(X)
    W = layer.W.array
    rows = W.reshape(len(W), -1)
    wanted = ((rows - rows.mean(1, keepdims=True)) / rows.std(1, keepdims=True)).reshape(W.shape)
    np.testing.assert_allclose(y.array, F.convolution_2d(X, wanted, layer.b).array, rtol=1e-4, atol=1e-5)
    F.sum(y).backward()
    np.testing.assert_allclose(layer.W.grad.sum((1, 2, 3)), 0, atol=1e-3)


def test_standardized_weights_have_the_derivatives_of_their_formula():
    layer = L.Linear(4, 3, nobias=True, initialW=np.random.default_rng(3).normal(size=(3, 4)))
    layer.add_hook(link_hooks.WeightStandardization())

    def run(x):
        return layer(x)

    check_backward(run, [np.random.default_rng(4).normal(size=(2, 4))], params=[layer.W], atol=1e-4, rtol=1e-4)


def _hooked(net):
    set_seed(2)
    infer(net)
    for conv in (net.block.conv, net.plain.conv, net.out):
        conv.add_hook(link_hooks.SpectralNormalization(20))
        with cvzoo.using_config("train", True), cvzoo.no_backprop_mode():
            net(X)
    return net


def test_fused_layers_of_inference_compute_with_their_hooks_weight():
    net = _hooked(Net())
    with cvzoo.using_config("train", False):
        eager = net(X).array  # gradients could be taken: nothing is fused
    np.testing.assert_allclose(infer(net), eager, rtol=1e-4, atol=1e-5)
    bare = infer(net)
    for conv in (net.block.conv, net.plain.conv, net.out):
        conv.delete_hook("SpectralNormalization")
    assert np.abs(infer(net) - bare).max() > 1e-3


def test_fused_functions_call_hooks():
    with cvzoo.no_backprop_mode():
        conv, linear = L.Convolution2D(3, 4, 1), L.Linear(3, 4)
        rows = X.transpose(0, 2, 3, 1).reshape(2, -1, 3).copy()
        for layer, run in ((conv, lambda: fused_convolution(conv)(X)), (linear, lambda: fused_linear(linear, rows))):
            layer.add_hook(link_hooks.WeightStandardization())
            hook = Diary()
            layer.add_hook(hook)
            hooked = run().array
            assert [told[0] for told in hook.told] == ["added", "before", "after"]
            layer.delete_hook("WeightStandardization")
            assert np.abs(run().array - hooked).max() > 1e-3


def test_a_compiled_network_computes_with_the_hooks_weight_also_after_it_changed():
    net = _hooked(Net())
    wanted = infer(net)
    assert net.compile(X) is not None
    np.testing.assert_allclose(infer(net), wanted, rtol=1e-4, atol=1e-5)
    net.out.W.array *= np.linspace(0.5, 2, net.out.W.size, dtype="f").reshape(net.out.W.shape)
    changed = infer(net)
    net.uncompile()
    np.testing.assert_allclose(changed, infer(net), rtol=1e-4, atol=1e-5)
    assert np.abs(changed - wanted).max() > 1e-3
    net.compile(X)
    net.out.delete_hook("SpectralNormalization")
    changed = infer(net)
    net.uncompile()
    np.testing.assert_allclose(changed, infer(net), rtol=1e-4, atol=1e-5)


def test_a_layer_with_a_hook_is_not_replayed_by_itself():
    layer = L.Linear(3, 2)
    rows = X[0, :, :, 0].T.copy()
    layer.compile(rows)
    layer.add_hook(link_hooks.WeightStandardization())
    wanted = F.linear(rows, F.group_normalization(layer.W, 1, np.ones(3, "f"), np.zeros(3, "f")), layer.b).array
    np.testing.assert_allclose(infer(layer, rows), wanted, rtol=1e-5)
    assert layer.compile(rows) is None
    np.testing.assert_allclose(infer(layer, rows), wanted, rtol=1e-5)


def test_a_compiled_network_in_training_makes_the_approximation_better_too():
    eager, compiled = _hooked(Net()), _hooked(Net())
    compiled.copyparams(eager)
    compiled.compile(X, train=True)
    with cvzoo.using_config("train", True):
        for _ in range(4):
            for net in (eager, compiled):
                net.cleargrads()
                F.sum(net(X) ** 2).backward()
    np.testing.assert_allclose(compiled.out.W_u, eager.out.W_u, rtol=1e-4, atol=1e-5)
    np.testing.assert_allclose(compiled.block.conv.W.grad, eager.block.conv.W.grad, rtol=1e-3, atol=1e-4)


@pytest.mark.parametrize("mode", ["share", "copy", "init"])
def test_copies_have_hooks_of_their_own(mode):
    layer = L.Linear(4, 3).add_hook(link_hooks.SpectralNormalization())
    twin = layer.copy(mode)
    twin.delete_hook("SpectralNormalization")
    assert list(layer.local_link_hooks) == ["SpectralNormalization"]
    layer(np.ones((1, 4), "f"))


def test_what_does_not_fit_is_refused():
    with pytest.raises(ValueRangeError, match="has no parameter 'V'"):
        L.Linear(4, 3).add_hook(link_hooks.SpectralNormalization(weight_name="V"))
    with pytest.raises(ValueRangeError, match="n_power_iteration must be positive"):
        link_hooks.SpectralNormalization(0)
    with pytest.raises(GraphError, match="belongs to one layer"), link_hooks.WeightStandardization():
        pass
    with pytest.raises(ReplacedNameError, match="TimerHook, which times functions"):
        link_hooks.TimerHook  # noqa: B018
    row = L.Linear(4, 3).add_hook(link_hooks.WeightStandardization(weight_name="b"))
    with pytest.raises(ShapeError, match=r"b must be \(O, \.\.\.\)"):
        row(np.ones((1, 4), "f"))
    layer = L.Linear(4, 3).add_hook(link_hooks.WeightStandardization())
    layer.kernel = object()  # as a quantized layer has one
    with pytest.raises(GraphError, match="quantized layer"):
        layer(np.ones((1, 4), "f"))
