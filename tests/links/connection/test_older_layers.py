"""Inception modules, deformable and n-dimensional convolution layers, and losses of very many classes."""

import numpy as np
import pytest

import cvzoo
import cvzoo.functions as F
import cvzoo.links as L
from cvzoo import link_hooks
from cvzoo.autodiff.gradient_check import check_backward
from cvzoo.backends.arrays import to_numpy
from cvzoo.config.randomness import set_seed
from cvzoo.errors.exceptions import DtypeError, ShapeError, ValueRangeError
from cvzoo.utils import WalkerAlias

X = np.random.default_rng(0).normal(size=(2, 3, 6, 7)).astype("f")


def test_inception_puts_its_parts_side_by_side():
    link = L.Inception(None, 2, 3, 4, 2, 5, 6)
    y = link(X).array
    assert y.shape == (2, 2 + 4 + 5 + 6, 6, 7)
    np.testing.assert_allclose(y[:, :2], F.relu(link.conv1(X)).array, rtol=1e-5)
    np.testing.assert_allclose(y[:, 2:6], F.relu(link.conv3(F.relu(link.proj3(X)))).array, rtol=1e-5)
    pooled = F.max_pooling_2d(X, 3, 1, 1)
    np.testing.assert_allclose(y[:, 11:], F.relu(link.projp(pooled)).array, rtol=1e-4, atol=1e-6)
    assert link.conv5.W.shape == (5, 2, 5, 5)
    assert [name for name, _ in link.named_children()] == ["conv1", "proj3", "conv3", "proj5", "conv5", "projp"]


@pytest.mark.parametrize(
    ("arguments", "shape"),
    [
        ((3, 2, 3, 4, 2, 5, "max", 6), (2, 2 + 4 + 5 + 6, 6, 7)),
        ((None, 2, 3, 4, 2, 5, "avg", 6), (2, 2 + 4 + 5 + 6, 6, 7)),
        ((3, 0, 3, 4, 2, 5, "max", None, 2), (2, 4 + 5 + 3, 3, 4)),
        ((3, 0, 3, 4, 2, 5, "avg", 6, 2), (2, 4 + 5 + 6, 3, 4)),
    ],
    ids=str,
)
def test_inception_with_batch_normalization(arguments, shape):
    link = L.InceptionBN(*arguments)
    with cvzoo.using_config("train", True):
        y = link(X)
    assert y.shape == shape
    if arguments[1]:
        with cvzoo.using_config("train", True):
            part = F.relu(link.conv1n(link.conv1(X)))
        np.testing.assert_allclose(y.array[:, :2], part.array, rtol=1e-4, atol=1e-6)
    assert link.conv33a.b is None
    F.sum(y).backward()
    assert all(parameter.grad is not None for parameter in link.params())


def test_inceptions_settings_are_checked():
    with pytest.raises(ValueRangeError, match="no pooltype 'mean'"):
        L.InceptionBN(3, 0, 1, 1, 1, 1, "mean")
    with pytest.raises(ValueRangeError, match="out1 needs stride 1"):
        L.InceptionBN(3, 1, 1, 1, 1, 1, "max", 2, stride=2)


def test_a_deformable_convolution_begins_as_a_convolution_and_learns_to_look_elsewhere():
    link = L.DeformableConvolution2D(None, 4, 3, 2, 1)
    np.testing.assert_allclose(
        link(X).array, F.convolution_2d(X, link.deform_conv.W, None, 2, 1).array, rtol=1e-4, atol=1e-5
    )
    optimizer = cvzoo.optimizers.SGD(0.1).setup(link)
    optimizer.update(lambda: F.mean(link(X) ** 2))
    assert link.offset_conv.W.array.any()
    assert link.offset_conv.W.shape == (18, 3, 3, 3)


@pytest.mark.parametrize(
    ("make", "x", "shape"),
    [
        (lambda: L.ConvolutionND(3, None, 4, 3, pad=1, groups=1), np.ones((1, 2, 4, 5, 6), "f"), (1, 4, 4, 5, 6)),
        (lambda: L.ConvolutionND(2, 3, 4, (1, 2), (2, 1)), X, (2, 4, 3, 6)),
        (lambda: L.DeconvolutionND(3, None, 4, 3, 2, 1), np.ones((1, 2, 4, 5, 6), "f"), (1, 4, 7, 9, 11)),
        (lambda: L.DeconvolutionND(2, 3, 4, (1, 2), (2, 1)), X, (2, 4, 11, 8)),
        (lambda: L.Convolution1D(2, 4, 3, nobias=True), np.ones((1, 2, 9), "f"), (1, 4, 7)),
        (lambda: L.Convolution3D(2, 4, 2, 2, cover_all=True), np.ones((1, 2, 5, 4, 4), "f"), (1, 4, 3, 2, 2)),
    ],
)
def test_convolutions_over_any_number_of_axes(make, x, shape):
    link = make()
    y = link(x)
    assert y.shape == shape
    F.sum(y).backward()
    assert link.W.grad.shape == link.W.shape


class Volumes(cvzoo.Chain):
    def __init__(self):
        super().__init__()
        with self.init_scope():
            self.conv = L.ConvolutionND(3, 2, 4, 3, pad=1)

    def forward(self, x):
        return F.max_pooling_3d(F.relu(self.conv(x)), 2)


def test_convolutions_over_three_axes_can_be_compiled():
    link, x = Volumes(), np.random.default_rng(0).normal(size=(1, 2, 4, 6, 5)).astype("f")
    with cvzoo.using_config("train", False), cvzoo.no_backprop_mode():
        wanted = link(x).array
        assert link.compile(x) is not None
        np.testing.assert_allclose(link(x).array, wanted, rtol=1e-6, atol=1e-6)


def test_settings_of_convolutions_are_checked():
    with pytest.raises(DtypeError, match="stride must be a number, or one for each of 3 axes"):
        L.ConvolutionND(3, 1, 1, 3, (1, 2))
    with pytest.raises(ShapeError, match="do not divide into groups"):
        L.ConvolutionND(3, 3, 4, 3, groups=2)


def test_a_parameter_is_a_link():
    link = L.Parameter(np.arange(3.0, dtype="f"))
    F.sum(link() * 2).backward()
    assert link.W.grad.tolist() == [2, 2, 2]


def test_walkers_draws_have_the_probabilities():
    set_seed(0)
    probs = np.array([0.5, 0, 0.2, 0.3])
    drawn = WalkerAlias(probs * 7).sample((200, 100))
    assert (drawn.shape, drawn.dtype) == ((200, 100), "int32")
    np.testing.assert_allclose(np.bincount(drawn.ravel(), minlength=4) / drawn.size, probs, atol=0.02)
    assert not (drawn == 1).any()


@pytest.mark.parametrize(("probs", "error"), [([], ShapeError), ([[1]], ShapeError), ([0, 0], ValueRangeError)])
def test_what_are_no_probabilities_is_refused(probs, error):
    with pytest.raises(error, match="WalkerAlias: probabilities"):
        WalkerAlias(probs)


def test_negative_sampling_is_the_formula():
    random = np.random.default_rng(0)
    x, W, t = random.normal(size=(3, 4)), random.normal(size=(5, 4)), np.array([2, -1, 0])
    drawn = np.array([[1, 3], [0, 0], [4, 0]])
    loss, samples = F.negative_sampling(x, t, W, lambda shape: drawn, 2, "no", return_samples=True)
    log_sigmoid = lambda z: -np.log1p(np.exp(-z))  # noqa: E731
    wanted = [-log_sigmoid(x[i] @ W[t[i]]) - log_sigmoid(-W[drawn[i]] @ x[i]).sum() for i in (0, 2)]
    np.testing.assert_allclose(loss.array, [wanted[0], 0, wanted[1]])
    assert samples.tolist() == [[2, 1, 3], [-1, 0, 0], [0, 4, 0]]
    np.testing.assert_allclose(F.negative_sampling(x, t, W, lambda shape: drawn, 2).array, sum(wanted))
    with pytest.raises(ShapeError, match="the sampler gave another shape"):
        F.negative_sampling(x, t, W, lambda shape: drawn[0], 2)


def test_a_loss_of_drawn_classes_learns():
    set_seed(0)
    link = L.NegativeSampling(4, [5, 1, 3], 2)
    assert link.W.shape == (3, 4)
    x, t = np.eye(4, dtype="f")[:3], np.array([0, 1, 2])
    optimizer = cvzoo.optimizers.SGD(0.5).setup(link)
    first = link(x, t).item()
    for _ in range(30):
        optimizer.update(link, x, t)
    assert link(x, t).item() < first / 2
    loss, samples = link(x, t, "no", return_samples=True)
    assert loss.shape == (3,)
    assert samples.shape == (3, 3)


def test_a_trees_loss_is_that_of_the_turns():
    link = L.BinaryHierarchicalSoftmax(3, ((0, 4), (2, 1)))
    assert link.W.shape == (3, 3)
    x = np.random.default_rng(0).normal(size=(2, 3)).astype("f")
    W = link.W.array
    turns = {0: [(0, 1), (1, 1)], 4: [(0, 1), (1, -1)], 2: [(0, -1), (2, 1)], 1: [(0, -1), (2, -1)]}
    for t in ([0, 4], [2, 1]):
        wanted = sum(np.log1p(np.exp(-s * W[n] @ x[i])) for i, each in enumerate(t) for n, s in turns[each])
        np.testing.assert_allclose(link(x, np.array(t)).item(), wanted, rtol=1e-5)
    probabilities = [np.exp(-link(x[:1], np.array([t])).item()) for t in turns]
    np.testing.assert_allclose(sum(probabilities), 1, rtol=1e-5)


def test_a_trees_loss_has_the_derivatives_of_its_formula():
    with cvzoo.using_config("dtype", "float64"):
        link = L.BinaryHierarchicalSoftmax(3, ((0, 1), 2))
    link.turns = link.turns.astype("d")
    check_backward(lambda x: link(x, np.array([2, 0])), [X[0, 0, :2, :3].astype("d")], params=[link.W])


def test_frequent_classes_have_short_paths():
    tree = L.BinaryHierarchicalSoftmax.create_huffman_tree({0: 8, 1: 3, 2: 3, 3: 1})
    link = L.BinaryHierarchicalSoftmax(2, tree)
    assert (link.turns != 0).sum(axis=1).tolist()[0] == 1
    assert (link.turns != 0).sum() == 1 + 2 + 3 + 3


BAD_TREES = {"a leaf": 3, "three branches": (0, 1, 2), "twice": ((0, 1), 1), "no class": ((0, "a"), 1)}


@pytest.mark.parametrize("tree", BAD_TREES.values(), ids=BAD_TREES)
def test_what_is_no_tree_is_refused(tree):
    with pytest.raises(ValueRangeError, match=r"^BinaryHierarchicalSoftmax: "):
        L.BinaryHierarchicalSoftmax(2, tree)


def test_classes_that_a_tree_does_not_have_are_refused():
    link = L.BinaryHierarchicalSoftmax(2, ((0, 1), 3))
    x = np.ones((1, 2), "f")
    for t in (2, 4, -1):
        with pytest.raises(ValueRangeError, match="does not have a class of t"):
            link(x, np.array([t]))
    with pytest.raises(DtypeError, match="t must be of integers"):
        link(x, np.ones(1))
    with pytest.raises(ShapeError, match="do not fit"):
        link(x, np.array([1, 0]))
    with pytest.raises(ValueRangeError, match="no class"):
        L.BinaryHierarchicalSoftmax.create_huffman_tree({})


ON_A_GPU = {
    "deformable convolution": (lambda: L.DeformableConvolution2D(3, 4, 3, pad=1), lambda link, x: link(x)),
    "n dimensions": (lambda: L.ConvolutionND(2, 3, 4, 3), lambda link, x: link(x)),
    "inception": (lambda: L.InceptionBN(3, 2, 3, 4, 2, 5, "avg", 6), lambda link, x: link(x)),
    "a tree": (
        lambda: L.BinaryHierarchicalSoftmax(7, ((0, 1), 2)),
        lambda link, x: link(F.reshape(x, (-1, 7)), np.arange(36, dtype="i") % 3),
    ),
    "drawn classes": (
        lambda: L.NegativeSampling(7, [3, 2, 1, 1], 2),
        lambda link, x: link(F.reshape(x, (-1, 7)), np.arange(36, dtype="i") % 4),
    ),
    "spectral normalization": (
        lambda: L.Convolution2D(3, 4, 3).add_hook(link_hooks.SpectralNormalization(3, use_gamma=True)),
        lambda link, x: link(x),
    ),
    "weight standardization": (
        lambda: L.Convolution2D(3, 4, 3).add_hook(link_hooks.WeightStandardization()),
        lambda link, x: link(x),
    ),
}


@pytest.mark.parametrize("name", ON_A_GPU)
def test_values_and_gradients_on_a_gpu_are_those_of_the_cpu(name, gpu):
    make, run = ON_A_GPU[name]
    set_seed(0)
    link = make()
    twin = link.copy("copy").to_gpu()
    found = []
    for each, x in ((link, X), (twin, gpu.cupy.asarray(X))):
        set_seed(1)
        with cvzoo.using_config("train", True):
            y = run(each, x)
            F.sum(y * y).backward()
        found.append([y.array, *[parameter.grad for parameter in each.params()]])
        assert (each is link) == isinstance(y.array, np.ndarray)
    for a, b in zip(*found):
        np.testing.assert_allclose(to_numpy(b), a, rtol=1e-3, atol=1e-3)
