"""Whatever function a network has, replayed training gives the bits of define-by-run, and inference its numbers."""

import numpy as np
import pytest

import cvzoo.functions as F
from cvzoo.autodiff.parameter import Parameter
from cvzoo.autodiff.variable import Variable
from cvzoo.config.randomness import set_seed
from cvzoo.config.switches import no_backprop_mode, using_config
from cvzoo.links.link import Link

PHOTOS, ROWS = (2, 16, 24, 24), (6, 8)  # large enough for kernels, and small enough for none


def array(*shape, seed=0):
    return np.random.default_rng([seed, *shape]).normal(size=shape).astype(np.float32)


W, DEPTH, DOWN, LINE = array(24, 16, 3, 3), array(16, 1, 3, 3), array(16, 8, 2, 2), array(5, 8)
GAMMA, BETA, ONE = array(16) + 2, array(16, seed=1), array(1)
ROIS = np.array([[2, 3, 15, 20], [0, 0, 23, 23], [4, 4, 9, 9]], np.float32)
INDICES = np.array([0, 1, 1], np.int32)
MASK = array(*PHOTOS) > 0


MEAN, VAR = np.zeros(16, np.float32), np.ones(16, np.float32)


def running(x):
    return F.batch_normalization(x, GAMMA, BETA, running_mean=MEAN, running_var=VAR)


ON_PHOTOS = {
    "relu": F.relu,
    "relu6": F.relu6,
    "clipped_relu": lambda x: F.clipped_relu(x, 1.0),
    "crelu": F.crelu,
    "leaky_relu": F.leaky_relu,
    "elu": F.elu,
    "selu": F.selu,
    "gelu": F.gelu,
    "silu": F.silu,
    "swish": lambda x: F.swish(x, ONE),
    "sigmoid": F.sigmoid,
    "hard_sigmoid": F.hard_sigmoid,
    "hard_swish": F.hard_swish,
    "softplus": F.softplus,
    "tanh": F.tanh,
    "prelu": lambda x: F.prelu(x, BETA),
    "softmax": F.softmax,
    "log_softmax": F.log_softmax,
    "exp": lambda x: F.exp(x * 0.1),
    "square": F.square,
    "absolute": F.absolute,
    "clip": lambda x: F.clip(x, -0.5, 0.5),
    "sqrt": lambda x: F.sqrt(F.square(x) + 1),
    "power": lambda x: (F.absolute(x) + 1) ** 1.5,
    "normalize": F.normalize,
    "conv": lambda x: F.convolution_2d(x, W, array(24), pad=1),
    "conv stride 2": lambda x: F.convolution_2d(x, W, stride=2, pad=1),
    "conv dilated": lambda x: F.convolution_2d(x, W, pad=2, dilate=2),
    "conv groups": lambda x: F.convolution_2d(x, array(24, 8, 3, 3), groups=2),
    "conv depthwise": lambda x: F.convolution_2d(x, DEPTH, groups=16, pad=1),
    "depthwise": lambda x: F.depthwise_convolution_2d(x, array(2, 16, 3, 3), pad=1),
    "deconv": lambda x: F.deconvolution_2d(x, DOWN, array(8), stride=2),
    "batch norm": lambda x: F.batch_normalization(x, GAMMA, BETA),
    "batch norm, running": running,
    "batch norm, fixed": lambda x: F.fixed_batch_normalization(x, GAMMA, BETA, BETA, GAMMA),
    "batch norm and relu": lambda x: F.relu(F.batch_normalization(x, GAMMA, BETA)),
    "group norm": lambda x: F.group_normalization(x, 4, GAMMA, BETA),
    "layer norm": lambda x: F.layer_normalization(F.transpose(x, (0, 2, 3, 1)), GAMMA, BETA),
    "lrn": F.local_response_normalization,
    "dropout": lambda x: F.dropout(x, 0.3),
    "two dropouts": lambda x: F.dropout(F.dropout(x, 0.3) * 2, 0.3),
    "stochastic depth": lambda x: x + F.stochastic_depth(F.relu(x), 0.5),
    "max pooling": lambda x: F.max_pooling_2d(x, 3, 2, 1),
    "average pooling": lambda x: F.average_pooling_2d(x, 3, 2, 1),
    "adaptive pooling": lambda x: F.adaptive_average_pooling_2d(x, 5),
    "global average": F.global_average_pooling_2d,
    "global maximum": F.global_max_pooling_2d,
    "pyramid pooling": lambda x: F.spatial_pyramid_pooling_2d(x, 2),
    "nearest": lambda x: F.upsample_nearest(x, 2),
    "unpooling": lambda x: F.unpooling_2d(x, 2, cover_all=False),
    "resize": lambda x: F.resize_images(x, (31, 17)),
    "pad": lambda x: F.pad(x, ((0, 0), (0, 0), (1, 2), (3, 0))),
    "crop by index": lambda x: x[:, 2:9, ::2, 3:],
    "pick by index": lambda x: x[:, np.array([3, 1, 1])],
    "concat": lambda x: F.concat([x, F.relu(x)], axis=1),
    "split": lambda x: F.split_axis(x, [4, 9], axis=1)[1],
    "split, all used": lambda x: sum(F.split_axis(x, 2, axis=1)),
    "stack": lambda x: F.stack([x, F.relu(x)]),
    "reshape": lambda x: F.reshape(F.relu(x), (2, -1)),
    "transpose": lambda x: F.relu(F.transpose(x, (0, 2, 3, 1))),
    "permutate": lambda x: F.flip(F.roll(x, 2, axis=2), axis=3),
    "shuffle": lambda x: F.channel_shuffle(x, 4),
    "space to depth": lambda x: F.space2depth(x, 2),
    "depth to space": lambda x: F.depth2space(x, 2),
    "tile": lambda x: F.tile(x, (1, 1, 2, 1)),
    "broadcast": lambda x: F.broadcast_to(F.sum(x, axis=1, keepdims=True), PHOTOS),
    "instance norm": lambda x: F.group_normalization(x, 16, GAMMA, BETA),
    "sum": lambda x: F.sum(x, axis=(2, 3)),
    "mean": lambda x: F.mean(x, axis=1),
    "maximum": lambda x: F.maximum(x, F.relu(-x)),
    "max over an axis": lambda x: F.max(x, axis=1),
    "where": lambda x: F.where(MASK, x, F.relu(x)),
    "sum of three uses": lambda x: F.relu(x) + F.tanh(x) + x * x,
    "difference": lambda x: F.relu(x) - x / (F.square(x) + 2),
    "RoI align": lambda x: F.roi_average_align_2d(x, ROIS, INDICES, 3, 0.5, 2),
    "RoI average": lambda x: F.roi_average_pooling_2d(x, ROIS, INDICES, 3, 0.5),
    "RoI maximum": lambda x: F.roi_max_pooling_2d(x, ROIS, INDICES, 3, 0.5),
    "scaled sum": lambda x: F.average(x, axis=(2, 3), weights=None),
}
ON_ROWS = {
    "linear": lambda x: F.linear(x, LINE, array(5)),
    "matmul": lambda x: F.matmul(x, LINE.T.copy()),
    "batched matmul": lambda x: F.matmul(F.reshape(x, (2, 3, 8)), array(2, 8, 5)),
    "attention": lambda x: F.scaled_dot_product_attention(*[F.reshape(x * k, (1, 2, 3, 8)) for k in (1, 2, 3)]),
    "maxout": lambda x: F.maxout(x, 2),
    "relu": F.relu,
    "batch norm": lambda x: F.batch_normalization(x, GAMMA[:8], BETA[:8]),
    "layer norm": lambda x: F.layer_normalization(x, GAMMA[:8], BETA[:8]),
    "dropout": F.dropout,
    "logsumexp": lambda x: F.logsumexp(x, axis=1),
    "norm": lambda x: F.norm(x, axis=1),
    "cumsum": lambda x: F.cumsum(x, axis=1),
    "prod": lambda x: F.prod(x, axis=1),
    "select": lambda x: F.select_item(x, np.arange(6, dtype=np.int32)),
    "scatter": lambda x: F.scatter_add(x, np.array([0, 0, 2]), F.relu(x)[:3]),
    "mean squared error": lambda x: F.mean_squared_error(x, array(*ROWS)),
    "smooth l1": lambda x: F.smooth_l1(x, array(*ROWS)),
    "cross entropy": lambda x: F.softmax_cross_entropy(x, np.arange(6, dtype=np.int32)),
    "focal loss": lambda x: F.sigmoid_focal_loss(x, np.arange(48).reshape(6, 8) % 2),
}
CASES = [(name, call, PHOTOS) for name, call in ON_PHOTOS.items()] + [(n, call, ROWS) for n, call in ON_ROWS.items()]


class Scaled(Link):
    """The function of scale * x + shift, and the sum of both: gradients come by two ways."""

    def __init__(self, call, shape):
        self.call = call
        with self.init_scope():
            self.scale = Parameter(array(*shape, seed=2))
            self.shift = Parameter(array(*shape, seed=3))

    def forward(self, x):
        h = x * self.scale + self.shift
        return self.call(h), h


def learn(call, shape, compiled):
    """What three steps gave."""
    model = Scaled(call, shape)
    if compiled:
        assert model.compile(array(*shape, seed=9), train=True) is not None
    found = []
    set_seed(5)
    for step in range(3):
        x = Variable(array(*shape, seed=step))
        model.cleargrads()
        y, h = model(x)
        weights = array(*y.shape, seed=step)
        (F.sum(y * weights) + F.sum(h)).backward()
        found += [y.array, x.grad, model.scale.grad, model.shift.grad]
        for parameter in model.params():
            parameter.array[...] -= 0.01 * parameter.grad
    if compiled:
        graphs = model.graphs()
        assert len(graphs) == 2  # x is asked for a gradient, or not
    return found


@pytest.mark.parametrize(("name", "call", "shape"), CASES, ids=[f"{case[0]} {len(case[2])}-D" for case in CASES])
def test_replayed_training_gives_the_bits_of_define_by_run(name, call, shape):
    for a, b in zip(learn(call, shape, False), learn(call, shape, True), strict=True):
        np.testing.assert_array_equal(a, b)


ONE_IMAGE = [
    (name, call, (1, *PHOTOS[1:])) for name, call in ON_PHOTOS.items() if name != "where" and not name.startswith("RoI")
]


@pytest.mark.parametrize(
    ("name", "call", "shape"),
    CASES + ONE_IMAGE,
    ids=[f"{name} {shape[0]}, {len(shape)}-D" for name, _, shape in CASES + ONE_IMAGE],
)
def test_replayed_inference_gives_the_numbers_of_define_by_run(name, call, shape):
    """Each replay has another input: what a function computed of the recorded one is no constant."""
    model, eager = Scaled(call, shape), Scaled(call, shape)
    with using_config("train", False), no_backprop_mode():
        if name == "batch norm, running":
            with pytest.warns(RuntimeWarning, match="is not replayed"):
                model.compile(array(*shape, seed=9))
        else:
            assert model.compile(array(*shape, seed=9)) is not None
        for step in range(3):
            x = array(*shape, seed=step)
            (y, _), (expected, _) = model(x), eager(x)
            np.testing.assert_allclose(y.array, expected.array, rtol=1e-6, atol=1e-6 * np.abs(expected.array).max())
