"""Every function gives the same on both CPU backends in float32, to 1e-5 of the largest number: values, gradients."""

import re

import numpy as np
import pytest

import cvzoo.functions as F
from cvzoo.autodiff.grad import grad
from cvzoo.autodiff.variable import Variable
from cvzoo.backends.dispatch import get_backend
from cvzoo.config.randomness import set_seed
from cvzoo.config.switches import no_backprop_mode, using_config
from cvzoo.errors.exceptions import BackendError

LABELS = np.random.default_rng(7).integers(-1, 8, size=(3, 11, 9))
ANSWERS = np.random.default_rng(8).integers(-1, 2, size=(3, 8, 11, 9))
PLACES = np.random.default_rng(9).integers(0, 80, size=(3, 8, 5, 4))
PHOTO, MAP, ROWS = (2, 3, 33, 41), (3, 8, 11, 9), (5, 24)
VIDEO = (2, 8, 5, 9, 7)
PICKED = np.random.default_rng(3).integers(0, 9, (5, 3)).astype("i")
TRUTHS = np.int32([1, 0, 0, 1, 0])
NUMBERED_ROIS = np.float32([[0, 0, 0, 17, 21], [2, 2, 3, 9, 15], [2, 1, 8, 17, 12]])
UNIT = "0..1"
ROIS = np.float32([[0, 0, 21, 17], [3, 2, 15, 9], [8, 1, 12, 17]]), np.int32([0, 2, 2])

# name: (function of Variables, shapes of its inputs); an input whose shape begins with "+" is positive, with
# UNIT within 0.1 and 0.9
CASES = {
    "convolution_2d of a photo": (lambda x, W, b: F.convolution_2d(x, W, b, 2, 1), [PHOTO, (16, 3, 3, 3), (16,)]),
    "convolution_2d 1x1": (F.convolution_2d, [MAP, (24, 8, 1, 1), (24,)]),
    "convolution_2d without bias": (lambda x, W: F.convolution_2d(x, W, pad=1), [MAP, (8, 8, 3, 3)]),
    "convolution_2d with 5x5": (lambda x, W: F.convolution_2d(x, W, stride=(1, 2), pad=2), [MAP, (16, 8, 5, 5)]),
    "convolution_2d dilated": (lambda x, W: F.convolution_2d(x, W, pad=2, dilate=2), [MAP, (8, 8, 3, 3)]),
    "convolution_2d in groups": (lambda x, W: F.convolution_2d(x, W, pad=1, groups=2), [MAP, (6, 4, 3, 3)]),
    "convolution_2d padded at the end": (lambda x, W: F.convolution_2d(x, W, pad=(0, 1, 2, 0)), [MAP, (4, 8, 3, 3)]),
    "convolution_2d leaving pixels over": (lambda x, W: F.convolution_2d(x, W, stride=3), [MAP, (4, 8, 3, 2)]),
    "convolution_2d depthwise": (lambda x, W: F.convolution_2d(x, W, stride=2, pad=1, groups=8), [MAP, (8, 1, 3, 3)]),
    "depthwise_convolution_2d": (lambda x, W: F.depthwise_convolution_2d(x, W, pad=1), [MAP, (2, 8, 3, 3)]),
    "deconvolution_2d": (lambda x, W, b: F.deconvolution_2d(x, W, b, 2, 1), [MAP, (8, 4, 4, 4), (4,)]),
    "deconvolution_2d in groups": (lambda x, W: F.deconvolution_2d(x, W, stride=2, groups=4), [MAP, (8, 2, 3, 3)]),
    "deconvolution_2d to a size": (
        lambda x, W: F.deconvolution_2d(x, W, stride=2, pad=1, outsize=(22, 17)),
        [MAP, (8, 4, 3, 3)],
    ),
    "linear": (F.linear, [ROWS, (7, 24), (7,)]),
    "linear of maps": (F.linear, [MAP, (10, 792), (10,)]),
    "embed_id": (lambda W: F.embed_id(np.array([1, 0, 1]), W), [ROWS]),
    "channel_sum": (F.channel_sum, [MAP]),
    "max_pooling_2d": (lambda x: F.max_pooling_2d(x, 3, 2, 1), [MAP]),
    "max_pooling_2d of touching windows": (lambda x: F.max_pooling_2d(x, 2), [PHOTO]),
    "max_pooling_2d as darknet does": (lambda x: F.max_pooling_2d(x, 2, 1, (0, 1, 0, 1)), [MAP]),
    "adaptive_average_pooling_2d": (lambda x: F.adaptive_average_pooling_2d(x, (3, 12)), [MAP]),
    "average_pooling_2d": (lambda x: F.average_pooling_2d(x, 3, 2, 1), [MAP]),
    "average_pooling_2d of pixels seen": (
        lambda x: F.average_pooling_2d(x, 3, 2, 1, count_pad=False, cover_all=True),
        [MAP],
    ),
    "global_average_pooling_2d": (F.global_average_pooling_2d, [MAP]),
    "global_max_pooling_2d": (F.global_max_pooling_2d, [MAP]),
    "unpooling_1d": (lambda x: F.unpooling_1d(x, 3, 2), [(3, 8, 40)]),
    "unpooling_3d": (lambda x: F.unpooling_3d(x, 3, 2), [VIDEO]),
    "unpooling_nd": (lambda x: F.unpooling_nd(x, (1, 2, 3)), [VIDEO]),
    "unpooling_2d": (lambda x: F.unpooling_2d(x, 2, cover_all=False), [MAP]),
    "spatial_pyramid_pooling_2d": (lambda x: F.spatial_pyramid_pooling_2d(x, 3), [PHOTO]),
    "ps_roi_average_align_2d": (lambda x: F.ps_roi_average_align_2d(x, *ROIS, (2, 4, 4), 0.5, 2, 2), [MAP]),
    "ps_roi_average_pooling_2d": (lambda x: F.ps_roi_average_pooling_2d(x, *ROIS, (2, 4, 4), 0.5, 2), [MAP]),
    "ps_roi_max_align_2d": (lambda x: F.ps_roi_max_align_2d(x, *ROIS, (2, 4, 4), 0.5, 2, 2), [MAP]),
    "ps_roi_max_pooling_2d": (lambda x: F.ps_roi_max_pooling_2d(x, *ROIS, (2, 4, 4), 0.5, 2), [MAP]),
    "roi_average_align_2d": (lambda x: F.roi_average_align_2d(x, *ROIS, (3, 4), 0.5, 2), [MAP]),
    "roi_average_pooling_2d": (lambda x: F.roi_average_pooling_2d(x, *ROIS, (3, 4), 0.5), [MAP]),
    "roi_max_align_2d": (lambda x: F.roi_max_align_2d(x, *ROIS, (3, 4), 0.5, 2), [MAP]),
    "roi_max_pooling_2d": (lambda x: F.roi_max_pooling_2d(x, *ROIS, (3, 4), 0.5), [MAP]),
    "batch_normalization": (F.batch_normalization, [MAP, (8,), (8,)]),
    "batch_normalization of rows": (F.batch_normalization, [ROWS, (24,), (24,)]),
    "fixed_batch_normalization": (F.fixed_batch_normalization, [MAP, (8,), (8,), (8,), ("+", 8)]),
    "group_normalization": (lambda x, g, b: F.group_normalization(x, 4, g, b), [MAP, (8,), (8,)]),
    "group_normalization of rows": (lambda x, g, b: F.group_normalization(x, 3, g, b), [ROWS, (24,), (24,)]),
    "layer_normalization": (F.layer_normalization, [ROWS, (24,), (24,)]),
    "layer_normalization of channels": (
        lambda x, g, b: F.layer_normalization(F.transpose(x, (0, 2, 3, 1)), g, b),
        [MAP, (8,), (8,)],
    ),
    "scaled_dot_product_attention": (
        lambda q, k, v, bias: F.scaled_dot_product_attention(q, k, v, bias=bias, scale=0.3),
        [(2, 3, 40, 8), (2, 3, 50, 8), (2, 3, 50, 8), (1, 3, 40, 50)],
    ),
    "roll": (lambda x: F.roll(x, (3, -2), (2, 3)), [MAP]),
    "local_response_normalization": (lambda x: F.local_response_normalization(x, 5, 2, 0.1), [MAP]),
    "local_response_normalization, even": (lambda x: F.local_response_normalization(x, 4, 1, 0.1), [MAP]),
    "softmax_cross_entropy": (lambda x: F.softmax_cross_entropy(x, LABELS), [MAP]),
    "sigmoid_cross_entropy": (lambda x: F.sigmoid_cross_entropy(x, ANSWERS), [MAP]),
    "sigmoid_focal_loss": (lambda x: F.sigmoid_focal_loss(x, ANSWERS), [MAP]),
    "focal_loss": (lambda x: F.focal_loss(x, np.arange(-2, 3)), [ROWS]),
    "giou_loss": (lambda x: F.giou_loss(x, np.array([[0, 0, 2, 3]] * 5, "f")), [(5, 4)]),
    "mean_squared_error": (F.mean_squared_error, [ROWS, ROWS]),
    "mean_absolute_error": (F.mean_absolute_error, [ROWS, ROWS]),
    "huber_loss": (lambda x, t: F.huber_loss(x, t, 0.7), [ROWS, ROWS]),
    "smooth_l1": (F.smooth_l1, [ROWS, ROWS]),
    "lstm": (lambda c, x: F.lstm(c, x)[1], [(5, 6), ROWS]),
    "relu": (F.relu, [MAP]),
    "leaky_relu": (F.leaky_relu, [MAP]),
    "relu6": (F.relu6, [MAP]),
    "elu": (F.elu, [MAP]),
    "selu": (F.selu, [MAP]),
    "sigmoid": (F.sigmoid, [MAP]),
    "tanh": (F.tanh, [MAP]),
    "hard_sigmoid": (F.hard_sigmoid, [MAP]),
    "hard_swish": (F.hard_swish, [MAP]),
    "softplus": (F.softplus, [MAP]),
    "swish": (F.swish, [MAP]),
    "gelu": (F.gelu, [MAP]),
    "crelu": (F.crelu, [MAP]),
    "absolute": (F.absolute, [MAP]),
    "exp": (F.exp, [MAP]),
    "square": (F.square, [MAP]),
    "softmax": (F.softmax, [MAP]),
    "log_softmax": (F.log_softmax, [MAP]),
    "softplus, steep": (lambda x: F.softplus(x, 3.0), [MAP]),
    "swish, steep": (lambda x: F.swish(x, 1.7), [ROWS]),
    "swish, learned": (F.swish, [MAP, (8,)]),
    "gelu by tanh": (lambda x: F.gelu(x, approximate=True), [MAP]),
    "clip": (lambda x: F.clip(x, -0.5, 0.7), [MAP]),
    "clip without a ceiling": (lambda x: F.clip(x, -0.5, None), [ROWS]),
    "prelu": (F.prelu, [MAP, (8,)]),
    "maxout": (lambda x: F.maxout(x, 4), [MAP]),
    "log": (F.log, [("+", *MAP)]),
    "sqrt": (F.sqrt, [("+", *MAP)]),
    "power": (F.power, [("+", *ROWS), ROWS]),
    "add": (F.add, [MAP, MAP]),
    "add, a number for each channel": (F.add, [MAP, (8, 1, 1)]),
    "add, rows to each other": (F.add, [ROWS, (24,)]),
    "multiply": (F.multiply, [MAP, MAP]),
    "multiply, squeeze and excite": (F.multiply, [MAP, (3, 8, 1, 1)]),
    "divide": (F.divide, [MAP, ("+", 8, 1, 1)]),
    "softmax along the last axis": (lambda x: F.softmax(x, -1), [MAP]),
    "log_softmax along the first axis": (lambda x: F.log_softmax(x, 0), [MAP]),
    "matmul": (F.matmul, [(7, 24), (24, 5)]),
    "matmul of transposed": (lambda a, b: F.matmul(a, b, True, True), [(24, 7), (5, 24)]),
    "matmul of batches": (F.matmul, [(4, 7, 6), (4, 6, 5)]),
    "matmul with one matrix": (F.matmul, [(4, 7, 6), (6, 5)]),
    "concat": (lambda *xs: F.concat(xs), [MAP, (3, 5, 11, 9), (3, 16, 11, 9)]),
    "concat along rows": (lambda *xs: F.concat(xs, 2), [MAP, MAP]),
    "split_axis": (lambda x: F.split_axis(x, [3], 1)[1], [MAP]),
    "get_item": (lambda x: F.get_item(x, np.s_[:, ::2, 1:-1, ::-1]), [MAP]),
    "sum": (lambda x: F.sum(x, (2, 3)), [MAP]),
    "sum over photos and pixels": (lambda x: F.sum(x, (0, 2, 3), keepdims=True), [MAP]),
    "mean": (lambda x: F.mean(x, (2, 3), keepdims=True), [MAP]),
    "max": (lambda x: F.max(x, 1), [MAP]),
    "logsumexp": (lambda x: F.logsumexp(x, 1), [MAP]),
    "normalize": (F.normalize, [MAP]),
    "pad": (lambda x: F.pad(x, ((0, 0), (0, 0), (1, 2), (0, 1))), [MAP]),
    "resize_images": (lambda x: F.resize_images(x, (22, 14)), [MAP]),
    "resize_images by half centres": (lambda x: F.resize_images(x, (6, 17), align_corners=False), [MAP]),
    "resize_images antialiased": (
        lambda x: F.resize_images(x, (7, 10), align_corners=False, antialias=True),
        [PHOTO],
    ),
    "resize_images to the nearest": (lambda x: F.resize_images(x, (15, 20), mode="nearest"), [MAP]),
    "upsample_nearest": (lambda x: F.upsample_nearest(x, 2), [MAP]),
    "channel_shuffle": (lambda x: F.channel_shuffle(x, 2), [MAP]),
    "depth2space": (lambda x: F.depth2space(x, 2), [MAP]),
    "space2depth": (lambda x: F.space2depth(x[:, :, 1:, 1:], 2), [MAP]),
    "transpose": (lambda x: F.transpose(x, (0, 2, 3, 1)), [MAP]),
    "reshape": (lambda x: F.reshape(x, (3, -1)), [MAP]),
    "arccos": (F.arccos, [(UNIT, *ROWS)]),
    "arcsin": (F.arcsin, [(UNIT, *ROWS)]),
    "arctan": (F.arctan, [ROWS]),
    "arctan2": (F.arctan2, [ROWS, ROWS]),
    "average": (lambda x, w: F.average(x, 1, w), [MAP, ("+", 8)]),
    "batch_l2_norm_squared": (F.batch_l2_norm_squared, [MAP]),
    "batch_matmul": (F.batch_matmul, [(4, 7, 6), (4, 6, 5)]),
    "binary_cross_entropy": (lambda p: F.binary_cross_entropy(p, (ANSWERS > 0).astype("f")), [(UNIT, *MAP)]),
    "broadcast": (lambda x, y: F.multiply(*F.broadcast(x, y)), [MAP, (8, 1, 1)]),
    "broadcast_to": (lambda x: F.broadcast_to(x, MAP), [(8, 1, 1)]),
    "cast": (lambda x: F.cast(F.cast(x, "float64"), "float32"), [MAP]),
    "clipped_relu": (lambda x: F.clipped_relu(x, 1.5), [MAP]),
    "copy": (F.copy, [MAP]),
    "cos": (F.cos, [ROWS]),
    "cosh": (F.cosh, [ROWS]),
    "crop": (lambda x: F.crop(x, (4, 5), (2, 1)), [MAP]),
    "cumsum": (lambda x: F.cumsum(x, 1), [MAP]),
    "dropout": (lambda x: _seeded(F.dropout, x), [MAP]),
    "stochastic_depth": (lambda x: _seeded(lambda x: F.stochastic_depth(x, 0.4), x), [MAP]),
    "erf": (F.erf, [ROWS]),
    "expand_dims": (lambda x: F.expand_dims(x, 1), [MAP]),
    "expm1": (F.expm1, [ROWS]),
    "flatten": (F.flatten, [MAP]),
    "flip": (lambda x: F.flip(x, (1, 3)), [MAP]),
    "fliplr": (F.fliplr, [MAP]),
    "flipud": (F.flipud, [MAP]),
    "forget": (lambda x, y: F.forget(lambda a, b: F.tanh(a) * b, x, y), [MAP, MAP]),
    "gaussian": (lambda x, v: _seeded(F.gaussian, x, v), [ROWS, ROWS]),
    "hstack": (lambda x, y: F.hstack([x, y]), [MAP, MAP]),
    "linear_interpolate": (F.linear_interpolate, [MAP, MAP, MAP]),
    "log10": (F.log10, [("+", *MAP)]),
    "log1p": (F.log1p, [("+", *MAP)]),
    "log2": (F.log2, [("+", *MAP)]),
    "maximum": (F.maximum, [MAP, MAP]),
    "min": (lambda x: F.min(x, (2, 3)), [MAP]),
    "minimum": (F.minimum, [MAP, (8, 1, 1)]),
    "moveaxis": (lambda x: F.moveaxis(x, 1, 3), [MAP]),
    "negative": (F.negative, [MAP]),
    "norm": (lambda x: F.norm(x, 1), [MAP]),
    "permutate": (lambda x: F.permutate(x, np.array([2, 0, 1])), [MAP]),
    "prod": (lambda x: F.prod(x, 3), [MAP]),
    "repeat": (lambda x: F.repeat(x, 2, 1), [MAP]),
    "rollaxis": (lambda x: F.rollaxis(x, 3, 1), [MAP]),
    "rsqrt": (F.rsqrt, [("+", *MAP)]),
    "scatter_add": (lambda a, b: F.scatter_add(a, ([0, 2, 0],), b), [MAP, MAP]),
    "select_item": (lambda x: F.select_item(x, np.array([3, 0, 23, 1, 1])), [ROWS]),
    "separate": (lambda x: F.separate(x, 1)[2], [MAP]),
    "silu": (F.silu, [MAP]),
    "sin": (F.sin, [ROWS]),
    "sinh": (F.sinh, [ROWS]),
    "squeeze": (F.squeeze, [(3, 1, 11, 9)]),
    "stack": (lambda x, y: F.stack([x, y], 1), [MAP, MAP]),
    "subtract": (F.subtract, [MAP, (8, 1, 1)]),
    "sum_to": (lambda x: F.sum_to(x, (8, 1, 1)), [MAP]),
    "swapaxes": (lambda x: F.swapaxes(x, 1, 2), [MAP]),
    "tan": (F.tan, [(UNIT, *ROWS)]),
    "tile": (lambda x: F.tile(x, (2, 1, 2)), [MAP]),
    "upsampling_2d": (lambda x: F.upsampling_2d(x, PLACES, 2), [(3, 8, 5, 4)]),
    "vstack": (lambda x, y: F.vstack([x, y]), [MAP, MAP]),
    "where": (lambda x, y: F.where(ANSWERS > 0, x, y), [MAP, MAP]),
    "absolute_error": (F.absolute_error, [ROWS, ROWS]),
    "average_pooling_1d": (lambda x: F.average_pooling_1d(x, 3, 2, 1), [(3, 8, 40)]),
    "average_pooling_3d": (lambda x: F.average_pooling_3d(x, 3, 2, 1, None), [VIDEO]),
    "average_pooling_nd": (lambda x: F.average_pooling_nd(x, (1, 2, 3)), [VIDEO]),
    "bernoulli_nll": (F.bernoulli_nll, [(UNIT, *ROWS), ROWS]),
    "bilinear": (F.bilinear, [ROWS, (5, 6), (24, 6, 7), (24, 7), (6, 7), (7,)]),
    "gaussian_kl_divergence": (F.gaussian_kl_divergence, [ROWS, ROWS]),
    "gaussian_nll": (F.gaussian_nll, [ROWS, ROWS, ROWS]),
    "contrastive": (lambda a, b: F.contrastive(a, b, TRUTHS, 9.0), [ROWS, ROWS]),
    "convolution_1d": (lambda x, W, b: F.convolution_1d(x, W, b, pad=2), [(3, 8, 40), (16, 8, 5), (16,)]),
    "convolution_3d": (lambda x, W, b: F.convolution_3d(x, W, b, pad=1), [VIDEO, (16, 8, 3, 3, 3), (16,)]),
    "convolution_nd": (lambda x, W: F.convolution_nd(x, W, None, (2, 1, 1), groups=2), [VIDEO, (8, 4, 3, 1, 3)]),
    "deconvolution_1d": (lambda x, W, b: F.deconvolution_1d(x, W, b, 2, 1), [(3, 8, 40), (8, 6, 5), (6,)]),
    "deconvolution_3d": (lambda x, W, b: F.deconvolution_3d(x, W, b, 2, 1), [VIDEO, (8, 6, 3, 3, 3), (6,)]),
    "deconvolution_nd": (lambda x, W: F.deconvolution_nd(x, W, None, (2, 1, 1), groups=2), [VIDEO, (8, 4, 3, 1, 3)]),
    "deformable_convolution_2d_sampler": (
        lambda x, offset, W, b: F.deformable_convolution_2d_sampler(x, offset, W, b, pad=1),
        [MAP, (UNIT, 3, 18, 11, 9), (16, 8, 3, 3), (16,)],
    ),
    "dilated_convolution_2d": (lambda x, W: F.dilated_convolution_2d(x, W, pad=2, dilate=2), [MAP, (8, 8, 3, 3)]),
    "einsum": (lambda a, b: F.einsum("bchw,chk->bkw", a, b), [MAP, (8, 11, 5)]),
    "hinge": (lambda x: F.hinge(x, TRUTHS), [ROWS]),
    "identity": (F.identity, [MAP]),
    "im2col": (lambda x: F.im2col(x, 3, 2, 1), [MAP]),
    "max_pooling_1d": (lambda x: F.max_pooling_1d(x, 3, 2, 1), [(3, 8, 40)]),
    "max_pooling_3d": (lambda x: F.max_pooling_3d(x, 3, 2, 1), [VIDEO]),
    "max_pooling_nd": (lambda x: F.max_pooling_nd(x, (1, 2, 3)), [VIDEO]),
    "negative_sampling": (lambda x, W: F.negative_sampling(x, TRUTHS, W, lambda shape: PICKED, 3), [ROWS, (9, 24)]),
    "roi_pooling_2d": (lambda x: F.roi_pooling_2d(x, NUMBERED_ROIS, 3, 4, 0.5), [MAP]),
    "spatial_transformer_grid": (lambda x: F.spatial_transformer_grid(x, (9, 7)), [(3, 2, 3)]),
    "spatial_transformer_sampler": (F.spatial_transformer_sampler, [MAP, (UNIT, 3, 2, 10, 12)]),
    "squared_error": (F.squared_error, [ROWS, ROWS]),
    "tensordot": (lambda a, b: F.tensordot(a, b, 2), [(3, 8, 11, 9), (11, 9, 6)]),
    "triplet": (F.triplet, [ROWS, ROWS, ROWS]),
}
WITHOUT_GRADIENT = {
    "accuracy": lambda x: F.accuracy(x, LABELS, ignore_label=-1),
    "argmax": lambda x: F.argmax(x, 1),
    "argmin": lambda x: F.argmin(x, 1),
    "binary_accuracy": lambda x: F.binary_accuracy(x, ANSWERS),
    "classification_summary": lambda x: F.classification_summary(x, LABELS)[0],
    "f1_score": lambda x: F.f1_score(x, LABELS)[0],
    "fbeta_score": lambda x: F.fbeta_score(x, LABELS, beta=2.0)[0],
    "precision": lambda x: F.precision(x, LABELS)[0],
    "r2_score": lambda x: F.r2_score(x, x * 2 + 1),
    "recall": lambda x: F.recall(x, LABELS)[1],
    "ceil": F.ceil,
    "fix": F.fix,
    "floor": F.floor,
    "floor_divide": lambda x: F.floor_divide(x, 0.3),
    "sign": F.sign,
}


def _seeded(function, *xs):
    """The same draw in every call."""
    set_seed(5)
    return function(*xs)


def _arrays(shapes, seed=0):
    random = np.random.default_rng(seed)
    arrays = []
    for shape in shapes:
        if shape and shape[0] == "+":
            arrays.append(random.uniform(0.5, 2, size=shape[1:]).astype("f"))
        elif shape and shape[0] == UNIT:
            arrays.append(random.uniform(0.1, 0.9, size=shape[1:]).astype("f"))
        else:
            arrays.append(random.normal(size=shape).astype("f"))
    return arrays


def _run(name, function, arrays, gy_seed=3):
    """The value and the gradients of all inputs on one backend; the value again without a graph."""
    with using_config("backend", name):
        xs = [Variable(x) for x in arrays]
        y = function(*xs)
        gy = np.random.default_rng(gy_seed).normal(size=y.shape).astype("f")
        gxs = grad([y], xs, [gy])
        with no_backprop_mode():
            inferred = function(*arrays)
    return [y.array, inferred.array, *[gx.array for gx in gxs]]


def _channels_last(x):
    return np.ascontiguousarray(x.transpose(0, 2, 3, 1)).transpose(0, 3, 1, 2) if x.ndim == 4 else x


@pytest.mark.parametrize("memory", ["row-major", "channels-last"])
@pytest.mark.parametrize("case", CASES)
def test_numpy_and_onednn_agree(case, memory):
    try:
        get_backend("onednn")
    except BackendError as error:
        pytest.skip(str(error))
    function, shapes = CASES[case]
    arrays = _arrays(shapes)
    if memory == "channels-last":
        arrays = [_channels_last(x) for x in arrays]
    wanted, got = (_run(name, function, arrays) for name in ("numpy", "onednn"))
    names = ["value", "value without a graph", *[f"gradient {i}" for i in range(len(arrays))]]
    for what, a, b in zip(names, wanted, got):
        assert b.shape == a.shape, what
        assert b.dtype == np.float32, what
        largest = max(float(np.abs(a).max()), 1e-30)
        np.testing.assert_allclose(b, a, rtol=0, atol=1e-5 * largest, err_msg=what)


def test_no_function_is_left_out():
    assert {re.split("[ ,]", case)[0] for case in CASES} == set(F.__all__) - set(WITHOUT_GRADIENT)


@pytest.mark.parametrize("name", WITHOUT_GRADIENT)
def test_functions_without_a_gradient_agree(name, backend):
    (x,) = _arrays([MAP])
    with using_config("backend", "numpy"):
        wanted = WITHOUT_GRADIENT[name](x).array
    np.testing.assert_array_equal(WITHOUT_GRADIENT[name](x).array, wanted)
