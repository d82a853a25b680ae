"""Every public function has the derivatives of its formula, twice, in float64, on both backends; none is left out."""

import inspect
import re

import numpy as np
import pytest

import cvzoo.functions as F
from cvzoo.autodiff.gradient_check import check_backward, check_double_backward
from cvzoo.autodiff.variable import Variable
from cvzoo.config.switches import using_config

FLAT = {
    *("accuracy", "argmax", "argmin", "ceil", "fix", "floor", "floor_divide", "r2_score", "sign"),  # they say so
    *("binary_accuracy", "classification_summary", "f1_score", "fbeta_score", "precision", "recall"),
}
ROWS, CUBE, MAP = (3, 4), (2, 3, 4), (2, 4, 5, 5)
SEQUENCE, VIDEO = (2, 4, 5), (1, 2, 4, 3, 3)
LABELS = np.array([0, -1, 3])
DRAWN = np.array([[1, 2], [0, 3], [3, 3]])
ROIS = np.array([[0.0, 1, 8, 9], [2, 3, 9, 6], [-3, 0, 8, 8]], "float32"), np.array([0, 1, 1])
NUMBERED_ROIS = np.array([[0, 1.0, 0, 9, 8], [1, 3, 2, 6, 9]])
ANSWERS = np.array([[0, 1, -1, 1], [1, 1, 0, 0], [-1, 0, 1, 0]])
BBOX = np.array([[0.0, 1, 5, 9], [2, 3, 9, 6], [1, 0, 8, 8]])
INDICES = np.array([[[[0, 3], [8, 15]]]])
MASK = np.array([[2.0, 0, 2, 0], [0, 2, 2, 2], [2, 2, 0, 0]])

# name: (function of Variables, shapes of its inputs); an input whose shape begins with "+" lies within 0.2 and 0.8
CASES = {
    "absolute": (F.absolute, [ROWS]),
    "absolute_error": (F.absolute_error, [ROWS, ROWS]),
    "adaptive_average_pooling_2d": (lambda x: F.adaptive_average_pooling_2d(x, (3, 7)), [MAP]),
    "add": (F.add, [CUBE, (3, 1), CUBE]),
    "arccos": (F.arccos, [("+", *ROWS)]),
    "arcsin": (F.arcsin, [("+", *ROWS)]),
    "arctan": (F.arctan, [ROWS]),
    "arctan2": (F.arctan2, [ROWS, (4,)]),
    "average": (lambda x, w: F.average(x, 1, w), [CUBE, ("+", 3)]),
    "average_pooling_1d": (lambda x: F.average_pooling_1d(x, 2, 1, 1), [SEQUENCE]),
    "average_pooling_2d": (lambda x: F.average_pooling_2d(x, 3, 2, 1, count_pad=False, cover_all=True), [MAP]),
    "average_pooling_3d": (lambda x: F.average_pooling_3d(x, 2, 1, 1, None), [VIDEO]),
    "average_pooling_nd": (lambda x: F.average_pooling_nd(x, (3, 2, 2), (2, 1, 1)), [VIDEO]),
    "batch_l2_norm_squared": (F.batch_l2_norm_squared, [CUBE]),
    "batch_matmul": (F.batch_matmul, [CUBE, (2, 4, 2)]),
    "batch_normalization": (F.batch_normalization, [MAP, (4,), (4,)]),
    "binary_cross_entropy": (lambda p: F.binary_cross_entropy(p, (ANSWERS > 0).astype(float)), [("+", *ROWS)]),
    "bernoulli_nll": (F.bernoulli_nll, [("+", *ROWS), ROWS]),
    "bilinear": (F.bilinear, [ROWS, (3, 2), (4, 2, 5), (4, 5), (2, 5), (5,)]),
    "broadcast": (lambda x, y: F.broadcast(x, y), [CUBE, (3, 1)]),
    "broadcast_to": (lambda x: F.broadcast_to(x, CUBE), [(3, 1)]),
    "cast": (lambda x: F.cast(x, "float64"), [ROWS]),
    "channel_shuffle": (lambda x: F.channel_shuffle(x, 2), [MAP]),
    "channel_sum": (F.channel_sum, [MAP]),
    "clip": (lambda x: F.clip(x, -0.5, 0.7), [ROWS]),
    "clipped_relu": (lambda x: F.clipped_relu(x, 0.9), [ROWS]),
    "concat": (lambda x, y: F.concat([x, y, x]), [CUBE, (2, 1, 4)]),
    "contrastive": (lambda a, b: F.contrastive(a, b, np.array([1, 0, 0]), 2.5), [ROWS, ROWS]),
    "convolution_1d": (lambda x, W, b: F.convolution_1d(x, W, b, 2, 1), [SEQUENCE, (6, 4, 3), (6,)]),
    "convolution_2d": (
        lambda x, W, b: F.convolution_2d(x, W, b, 2, (1, 0, 2, 1), groups=2, dilate=(1, 2)),
        [MAP, (6, 2, 2, 2), (6,)],
    ),
    "convolution_3d": (lambda x, W, b: F.convolution_3d(x, W, b, pad=1), [VIDEO, (2, 2, 3, 2, 2), (2,)]),
    "convolution_nd": (
        lambda x, W, b: F.convolution_nd(x, W, b, (2, 1, 1), (1, 0, 1), True, (1, 2, 1), 2),
        [VIDEO, (4, 1, 3, 2, 2), (4,)],
    ),
    "copy": (F.copy, [ROWS]),
    "cos": (F.cos, [ROWS]),
    "cosh": (F.cosh, [ROWS]),
    "crelu": (F.crelu, [ROWS]),
    "crop": (lambda x: F.crop(x, (2, 3), (1, 2)), [MAP]),
    "cumsum": (lambda x: F.cumsum(x, 1), [CUBE]),
    "deconvolution_2d": (
        lambda x, W, b: F.deconvolution_2d(x, W, b, 2, 1, (9, 10), groups=2),
        [MAP, (4, 3, 3, 3), (6,)],
    ),
    "deconvolution_1d": (lambda x, W, b: F.deconvolution_1d(x, W, b, 2, 1), [SEQUENCE, (4, 3, 3), (3,)]),
    "deconvolution_3d": (lambda x, W, b: F.deconvolution_3d(x, W, b, pad=1), [VIDEO, (2, 2, 3, 2, 2), (2,)]),
    "deconvolution_nd": (
        lambda x, W, b: F.deconvolution_nd(x, W, b, (2, 1, 1), (1, 0, 1), (9, 4, 3), (2, 1, 1), 2),
        [VIDEO, (2, 1, 3, 2, 3), (2,)],
    ),
    "deformable_convolution_2d_sampler": (
        lambda x, offset, W, b: F.deformable_convolution_2d_sampler(x, offset, W, b, 2, 1),
        [MAP, ("+", 2, 8, 3, 3), (2, 4, 2, 2), (2,)],
    ),
    "depth2space": (lambda x: F.depth2space(x, 2), [MAP]),
    "depthwise_convolution_2d": (lambda x, W: F.depthwise_convolution_2d(x, W, pad=1), [MAP, (2, 4, 3, 3)]),
    "dilated_convolution_2d": (lambda x, W: F.dilated_convolution_2d(x, W, dilate=2), [MAP, (2, 4, 2, 2)]),
    "divide": (F.divide, [CUBE, ("+", 4)]),
    "dropout": (F.dropout, [ROWS]),
    "einsum": (lambda a, b, c: F.einsum("ijk,jkl,ii->li", a, b, c), [CUBE, (3, 4, 2), (2, 2)]),
    "elu": (F.elu, [ROWS]),
    "embed_id": (lambda W: F.embed_id(np.array([[2, 0], [-1, 2]]), W, ignore_label=-1), [ROWS]),
    "erf": (F.erf, [ROWS]),
    "exp": (F.exp, [ROWS]),
    "expand_dims": (lambda x: F.expand_dims(x, 1), [ROWS]),
    "expm1": (F.expm1, [ROWS]),
    "fixed_batch_normalization": (F.fixed_batch_normalization, [MAP, (4,), (4,), (4,), ("+", 4)]),
    "flatten": (F.flatten, [CUBE]),
    "flip": (lambda x: F.flip(x, (0, 2)), [CUBE]),
    "fliplr": (F.fliplr, [CUBE]),
    "flipud": (F.flipud, [CUBE]),
    "focal_loss": (lambda x: F.focal_loss(x, np.array([[0, -1, 3], [-2, 2, -1]])), [CUBE]),
    "forget": (lambda x, y: F.forget(lambda a, b: F.tanh(a) * b, x, y), [ROWS, ROWS]),
    "gaussian": (F.gaussian, [ROWS, ROWS]),
    "gaussian_kl_divergence": (F.gaussian_kl_divergence, [ROWS, ROWS]),
    "gaussian_nll": (F.gaussian_nll, [ROWS, ROWS, ROWS]),
    "gelu": (F.gelu, [ROWS]),
    "get_item": (lambda x: F.get_item(x, (slice(None), [0, 2, 0], slice(3, None, -2))), [CUBE]),
    "giou_loss": (lambda x: F.giou_loss(0.1 * x + BBOX, BBOX[::-1].copy()), [ROWS]),
    "global_average_pooling_2d": (F.global_average_pooling_2d, [MAP]),
    "global_max_pooling_2d": (F.global_max_pooling_2d, [MAP]),
    "group_normalization": (lambda x, g, b: F.group_normalization(x, 2, g, b), [MAP, (4,), (4,)]),
    "hard_sigmoid": (F.hard_sigmoid, [ROWS]),
    "hard_swish": (F.hard_swish, [ROWS]),
    "hinge": (lambda x: F.hinge(x, np.array([0, 3, 1]), "L2"), [ROWS]),
    "hstack": (lambda x, y: F.hstack([x, y]), [ROWS, (3, 1)]),
    "huber_loss": (lambda x, t: F.huber_loss(x, t, 0.7), [ROWS, ROWS]),
    "identity": (F.identity, [ROWS]),
    "im2col": (lambda x: F.im2col(x, (2, 3), 2, 1, dilate=(1, 2)), [MAP]),
    "layer_normalization": (F.layer_normalization, [ROWS, (4,), (4,)]),
    "leaky_relu": (F.leaky_relu, [ROWS]),
    "linear": (F.linear, [CUBE, (5, 12), (5,)]),
    "linear_interpolate": (F.linear_interpolate, [("+", *ROWS), ROWS, ROWS]),
    "local_response_normalization": (lambda x: F.local_response_normalization(x, 3, 2, 0.1), [MAP]),
    "log": (F.log, [("+", *ROWS)]),
    "log10": (F.log10, [("+", *ROWS)]),
    "log1p": (F.log1p, [("+", *ROWS)]),
    "log2": (F.log2, [("+", *ROWS)]),
    "log_softmax": (F.log_softmax, [CUBE]),
    "logsumexp": (lambda x: F.logsumexp(x, 1), [CUBE]),
    "lstm": (F.lstm, [(2, 3), (2, 12)]),
    "matmul": (lambda a, b: F.matmul(a, b, transb=True), [CUBE, (5, 4)]),
    "max": (lambda x: F.max(x, 1), [CUBE]),
    "max_pooling_1d": (lambda x: F.max_pooling_1d(x, 2, 1, 1), [SEQUENCE]),
    "max_pooling_2d": (lambda x: F.max_pooling_2d(x, 3, 2, 1), [MAP]),
    "max_pooling_3d": (lambda x: F.max_pooling_3d(x, 2, 1, 1), [VIDEO]),
    "max_pooling_nd": (lambda x: F.max_pooling_nd(x, (3, 2, 2), (2, 1, 1)), [VIDEO]),
    "maximum": (F.maximum, [CUBE, (4,)]),
    "maxout": (lambda x: F.maxout(x, 2), [ROWS]),
    "mean": (lambda x: F.mean(x, (0, 2)), [CUBE]),
    "mean_absolute_error": (F.mean_absolute_error, [ROWS, ROWS]),
    "mean_squared_error": (F.mean_squared_error, [ROWS, ROWS]),
    "min": (lambda x: F.min(x, 1), [CUBE]),
    "minimum": (F.minimum, [CUBE, (4,)]),
    "moveaxis": (lambda x: F.moveaxis(x, 0, 2), [CUBE]),
    "multiply": (F.multiply, [CUBE, (3, 1)]),
    "negative": (F.negative, [ROWS]),
    "negative_sampling": (lambda x, W: F.negative_sampling(x, LABELS, W, lambda shape: DRAWN, 2), [ROWS, (4, 4)]),
    "norm": (lambda x: F.norm(x, 1), [CUBE]),
    "normalize": (F.normalize, [CUBE]),
    "pad": (lambda x: F.pad(x, ((0, 1), (2, 0))), [ROWS]),
    "permutate": (lambda x: F.permutate(x, np.array([2, 0, 1])), [ROWS]),
    "power": (F.power, [("+", *ROWS), (4,)]),
    "prelu": (F.prelu, [MAP, (4,)]),
    "prod": (lambda x: F.prod(x, 1), [CUBE]),
    "ps_roi_average_align_2d": (lambda x: F.ps_roi_average_align_2d(x, *ROIS, (1, 3, 3), 0.5, 2, 2), [MAP]),
    "ps_roi_average_pooling_2d": (lambda x: F.ps_roi_average_pooling_2d(x, *ROIS, (1, 3, 3), 0.5, 2), [MAP]),
    "ps_roi_max_align_2d": (lambda x: F.ps_roi_max_align_2d(x, *ROIS, (1, 3, 3), 0.5, 2, 2), [MAP]),
    "ps_roi_max_pooling_2d": (lambda x: F.ps_roi_max_pooling_2d(x, *ROIS, (1, 3, 3), 0.5, 2), [MAP]),
    "relu": (F.relu, [ROWS]),
    "relu6": (lambda x: F.relu6(x * 5), [ROWS]),
    "repeat": (lambda x: F.repeat(x, (1, 0, 3), 0), [ROWS]),
    "reshape": (lambda x: F.reshape(x, (4, -1)), [CUBE]),
    "resize_images": (
        lambda x: F.resize_images(x, (3, 8), align_corners=False, antialias=True),
        [MAP],
    ),
    "roi_average_align_2d": (lambda x: F.roi_average_align_2d(x, *ROIS, 3, 0.5, 2), [MAP]),
    "roi_average_pooling_2d": (lambda x: F.roi_average_pooling_2d(x, *ROIS, 3, 0.5), [MAP]),
    "roi_max_align_2d": (lambda x: F.roi_max_align_2d(x, *ROIS, 3, 0.5, 2), [MAP]),
    "roi_max_pooling_2d": (lambda x: F.roi_max_pooling_2d(x, *ROIS, 3, 0.5), [MAP]),
    "roi_pooling_2d": (lambda x: F.roi_pooling_2d(x, NUMBERED_ROIS, 3, 3, 0.5), [MAP]),
    "roll": (lambda x: F.roll(x, (1, -2), (0, 2)), [CUBE]),
    "rollaxis": (lambda x: F.rollaxis(x, 2), [CUBE]),
    "rsqrt": (F.rsqrt, [("+", *ROWS)]),
    "scaled_dot_product_attention": (
        lambda q, k, v, bias: F.scaled_dot_product_attention(q, k, v, bias=bias),
        [CUBE, (2, 5, 4), (2, 5, 3), (3, 5)],
    ),
    "scatter_add": (lambda a, b: F.scatter_add(a, ([0, 2, 0],), b), [ROWS, ROWS]),
    "select_item": (lambda x: F.select_item(x, np.array([0, 3, 1])), [ROWS]),
    "selu": (F.selu, [ROWS]),
    "separate": (lambda x: F.separate(x, 1), [CUBE]),
    "sigmoid": (F.sigmoid, [ROWS]),
    "sigmoid_cross_entropy": (lambda x: F.sigmoid_cross_entropy(x, ANSWERS), [ROWS]),
    "sigmoid_focal_loss": (lambda x: F.sigmoid_focal_loss(x, ANSWERS), [ROWS]),
    "silu": (F.silu, [ROWS]),
    "sin": (F.sin, [ROWS]),
    "sinh": (F.sinh, [ROWS]),
    "smooth_l1": (lambda x, t: F.smooth_l1(x, t, beta=0.7), [ROWS, ROWS]),
    "softmax": (F.softmax, [CUBE]),
    "softmax_cross_entropy": (
        lambda x: F.softmax_cross_entropy(x, LABELS, class_weight=np.array([1.0, 2, 0, 0.5])),
        [ROWS],
    ),
    "softplus": (lambda x: F.softplus(x, 2.0), [ROWS]),
    "space2depth": (lambda x: F.space2depth(x, 2), [(1, 2, 4, 4)]),
    "spatial_pyramid_pooling_2d": (lambda x: F.spatial_pyramid_pooling_2d(x, 2), [MAP]),
    "spatial_transformer_grid": (lambda x: F.spatial_transformer_grid(x, (3, 2)), [(2, 2, 3)]),
    "spatial_transformer_sampler": (F.spatial_transformer_sampler, [MAP, ("+", 2, 2, 3, 2)]),
    "split_axis": (lambda x: F.split_axis(x, [1], 1), [CUBE]),
    "sqrt": (F.sqrt, [("+", *ROWS)]),
    "square": (F.square, [ROWS]),
    "squared_error": (F.squared_error, [ROWS, ROWS]),
    "squeeze": (lambda x: F.squeeze(x, 1), [(3, 1, 4)]),
    "stack": (lambda x, y: F.stack([x, y], 1), [ROWS, ROWS]),
    "stochastic_depth": (lambda x: F.stochastic_depth(x, 0.4), [ROWS]),
    "subtract": (F.subtract, [(3, 1), CUBE]),
    "sum": (lambda x: F.sum(x, (0, 2), keepdims=True), [CUBE]),
    "sum_to": (lambda x: F.sum_to(x, (3, 1)), [CUBE]),
    "swapaxes": (lambda x: F.swapaxes(x, 0, 2), [CUBE]),
    "swish": (F.swish, [MAP, (4,)]),
    "tan": (F.tan, [("+", *ROWS)]),
    "tanh": (F.tanh, [ROWS]),
    "tensordot": (lambda a, b: F.tensordot(a, b, ((0, 2), (1, 0))), [CUBE, (4, 2, 3)]),
    "tile": (lambda x: F.tile(x, (2, 1, 2)), [ROWS]),
    "transpose": (lambda x: F.transpose(x, (1, 2, 0)), [CUBE]),
    "triplet": (F.triplet, [ROWS, ROWS, ROWS]),
    "unpooling_1d": (lambda x: F.unpooling_1d(x, 3, 2), [SEQUENCE]),
    "unpooling_3d": (lambda x: F.unpooling_3d(x, 3, 2, 1, (6, 5, 5)), [VIDEO]),
    "unpooling_nd": (lambda x: F.unpooling_nd(x, (3, 2, 2), (2, 1, 2), cover_all=False), [VIDEO]),
    "unpooling_2d": (lambda x: F.unpooling_2d(x, 3, 2, cover_all=False), [(1, 2, 3, 3)]),
    "upsample_nearest": (lambda x: F.upsample_nearest(x, (2, 3)), [(1, 2, 3, 3)]),
    "upsampling_2d": (lambda x: F.upsampling_2d(x, INDICES, 2), [(1, 1, 2, 2)]),
    "vstack": (lambda x, y: F.vstack([x, y]), [ROWS, (1, 4)]),
    "where": (lambda x, y: F.where(ANSWERS > 0, x, y), [ROWS, (4,)]),
}


def _inputs(shapes):
    random = np.random.default_rng(11)
    arrays = []
    for i, shape in enumerate(shapes):
        if shape[0] == "+":
            arrays.append(random.uniform(0.2, 0.8, shape[1:]))
        else:  # no value near another, in the other inputs neither, or near 0: kinks and ties are far away
            size = int(np.prod(shape))
            arrays.append((random.permutation(size) - size // 2 + 0.37 + 0.2 * i).reshape(shape) * (3 / size))
    return arrays


def test_no_function_is_left_out():
    assert set(CASES) == set(F.__all__) - FLAT


@pytest.mark.parametrize("name", CASES)
def test_derivatives_of_first_and_second_order_are_those_of_the_formula(name, backend):
    function, shapes = CASES[name]
    settings = {"eps": 1e-5, "rtol": 1e-4, "atol": 1e-6}
    with using_config("train", True):
        check_backward(function, _inputs(shapes), **settings)
        check_double_backward(function, _inputs(shapes), **settings)


@pytest.mark.parametrize("name", sorted(FLAT))
def test_functions_without_a_gradient_say_so(name):
    assert re.search("gradient|not differentiable", inspect.getdoc(getattr(F, name)))
    x = Variable(np.array([[1.5, -2.25, 3.75, 0.5]] * 3))
    labels = np.array([0, 1, 2])
    second = {"floor_divide": (0.7,), "binary_accuracy": (np.ones((3, 4), int),), "r2_score": (np.ones((3, 4)),)}
    second |= dict.fromkeys(
        ("accuracy", "classification_summary", "f1_score", "fbeta_score", "precision", "recall"), (labels,)
    )
    y = getattr(F, name)(x, *second.get(name, ()))
    assert all(each.creator is None for each in (y if isinstance(y, tuple) else (y,))) or name == "floor_divide"
