"""Every differentiable function; a forward and its backward in one file."""

from typing import TYPE_CHECKING

from cvzoo.functions.math.operators import install_operators
from cvzoo.lazy_imports.on_demand import import_on_demand

if TYPE_CHECKING:
    from cvzoo.functions.activation.relu import clipped_relu, crelu, leaky_relu, maxout, prelu, relu, relu6
    from cvzoo.functions.activation.sigmoid import (
        elu,
        gelu,
        hard_sigmoid,
        hard_swish,
        selu,
        sigmoid,
        silu,
        softplus,
        swish,
        tanh,
    )
    from cvzoo.functions.activation.softmax import log_softmax, softmax
    from cvzoo.functions.array.axes import (
        expand_dims,
        flatten,
        moveaxis,
        reshape,
        rollaxis,
        squeeze,
        swapaxes,
        transpose,
    )
    from cvzoo.functions.array.broadcast import broadcast, broadcast_to, sum_to
    from cvzoo.functions.array.concat import concat, hstack, separate, split_axis, stack, vstack
    from cvzoo.functions.array.copy import copy
    from cvzoo.functions.array.depth2space import channel_shuffle, depth2space, space2depth
    from cvzoo.functions.array.dtypes import cast
    from cvzoo.functions.array.flip import flip, fliplr, flipud, roll
    from cvzoo.functions.array.im2col import im2col
    from cvzoo.functions.array.indexing import get_item, permutate, repeat, scatter_add, select_item, tile, where
    from cvzoo.functions.array.pad import crop, pad
    from cvzoo.functions.array.resize_images import resize_images, upsample_nearest
    from cvzoo.functions.array.spatial_transformer import spatial_transformer_grid, spatial_transformer_sampler
    from cvzoo.functions.attention.scaled_dot_product_attention import scaled_dot_product_attention
    from cvzoo.functions.connection.channel_sum import channel_sum
    from cvzoo.functions.connection.convolution_2d import convolution_2d, deconvolution_2d, dilated_convolution_2d
    from cvzoo.functions.connection.convolution_nd import (
        convolution_1d,
        convolution_3d,
        convolution_nd,
        deconvolution_1d,
        deconvolution_3d,
        deconvolution_nd,
    )
    from cvzoo.functions.connection.deformable_convolution_2d_sampler import deformable_convolution_2d_sampler
    from cvzoo.functions.connection.depthwise_convolution_2d import depthwise_convolution_2d
    from cvzoo.functions.connection.embed_id import embed_id
    from cvzoo.functions.connection.linear import bilinear, linear
    from cvzoo.functions.evaluation.accuracy import accuracy, binary_accuracy, r2_score
    from cvzoo.functions.evaluation.classification_summary import (
        classification_summary,
        f1_score,
        fbeta_score,
        precision,
        recall,
    )
    from cvzoo.functions.loss.binary_cross_entropy import binary_cross_entropy, sigmoid_cross_entropy
    from cvzoo.functions.loss.differences import (
        absolute_error,
        huber_loss,
        mean_absolute_error,
        mean_squared_error,
        smooth_l1,
        squared_error,
    )
    from cvzoo.functions.loss.focal_loss import focal_loss, sigmoid_focal_loss
    from cvzoo.functions.loss.giou_loss import giou_loss
    from cvzoo.functions.loss.likelihoods import bernoulli_nll, gaussian_kl_divergence, gaussian_nll
    from cvzoo.functions.loss.margins import contrastive, hinge, triplet
    from cvzoo.functions.loss.negative_sampling import negative_sampling
    from cvzoo.functions.loss.softmax_cross_entropy import softmax_cross_entropy
    from cvzoo.functions.math.arithmetic import (
        absolute,
        add,
        divide,
        floor_divide,
        linear_interpolate,
        multiply,
        negative,
        subtract,
    )
    from cvzoo.functions.math.einsum import einsum, tensordot
    from cvzoo.functions.math.exponential import erf, exp, expm1, log, log1p, log2, log10
    from cvzoo.functions.math.extremum import argmax, argmin, clip, max, maximum, min, minimum
    from cvzoo.functions.math.matmul import batch_matmul, matmul
    from cvzoo.functions.math.power import power, rsqrt, sqrt, square
    from cvzoo.functions.math.rounding import ceil, fix, floor, sign
    from cvzoo.functions.math.sum import (
        average,
        batch_l2_norm_squared,
        cumsum,
        logsumexp,
        mean,
        norm,
        normalize,
        prod,
        sum,
    )
    from cvzoo.functions.math.trigonometric import arccos, arcsin, arctan, arctan2, cos, cosh, sin, sinh, tan
    from cvzoo.functions.noise.draws import gaussian
    from cvzoo.functions.noise.dropout import dropout, stochastic_depth
    from cvzoo.functions.normalization.batch_normalization import batch_normalization
    from cvzoo.functions.normalization.fixed_batch_normalization import fixed_batch_normalization
    from cvzoo.functions.normalization.group_normalization import group_normalization
    from cvzoo.functions.normalization.layer_normalization import layer_normalization
    from cvzoo.functions.normalization.local_response_normalization import local_response_normalization
    from cvzoo.functions.pooling.adaptive_average_pooling_2d import adaptive_average_pooling_2d
    from cvzoo.functions.pooling.pooling_2d import (
        average_pooling_2d,
        global_average_pooling_2d,
        global_max_pooling_2d,
        max_pooling_2d,
        spatial_pyramid_pooling_2d,
    )
    from cvzoo.functions.pooling.pooling_nd import (
        average_pooling_1d,
        average_pooling_3d,
        average_pooling_nd,
        max_pooling_1d,
        max_pooling_3d,
        max_pooling_nd,
        unpooling_1d,
        unpooling_3d,
        unpooling_nd,
    )
    from cvzoo.functions.pooling.unpooling_2d import unpooling_2d, upsampling_2d
    from cvzoo.functions.rnn.lstm import lstm
    from cvzoo.functions.roi.ps_roi_pooling_2d import (
        ps_roi_average_align_2d,
        ps_roi_average_pooling_2d,
        ps_roi_max_align_2d,
        ps_roi_max_pooling_2d,
    )
    from cvzoo.functions.roi.roi_average_pooling_2d import roi_average_align_2d, roi_average_pooling_2d
    from cvzoo.functions.roi.roi_max_pooling_2d import roi_max_align_2d, roi_max_pooling_2d, roi_pooling_2d
    from cvzoo.functions.util.forget import forget
    from cvzoo.functions.util.identity import identity

__all__ = [
    "absolute",
    "absolute_error",
    "accuracy",
    "adaptive_average_pooling_2d",
    "add",
    "arccos",
    "arcsin",
    "arctan",
    "arctan2",
    "argmax",
    "argmin",
    "average",
    "average_pooling_1d",
    "average_pooling_2d",
    "average_pooling_3d",
    "average_pooling_nd",
    "batch_l2_norm_squared",
    "batch_matmul",
    "batch_normalization",
    "bernoulli_nll",
    "bilinear",
    "binary_accuracy",
    "binary_cross_entropy",
    "broadcast",
    "broadcast_to",
    "cast",
    "ceil",
    "channel_shuffle",
    "channel_sum",
    "classification_summary",
    "clip",
    "clipped_relu",
    "concat",
    "contrastive",
    "convolution_1d",
    "convolution_2d",
    "convolution_3d",
    "convolution_nd",
    "copy",
    "cos",
    "cosh",
    "crelu",
    "crop",
    "cumsum",
    "deconvolution_1d",
    "deconvolution_2d",
    "deconvolution_3d",
    "deconvolution_nd",
    "deformable_convolution_2d_sampler",
    "depth2space",
    "depthwise_convolution_2d",
    "dilated_convolution_2d",
    "divide",
    "dropout",
    "einsum",
    "elu",
    "embed_id",
    "erf",
    "exp",
    "expand_dims",
    "expm1",
    "f1_score",
    "fbeta_score",
    "fix",
    "fixed_batch_normalization",
    "flatten",
    "flip",
    "fliplr",
    "flipud",
    "floor",
    "floor_divide",
    "focal_loss",
    "forget",
    "gaussian",
    "gaussian_kl_divergence",
    "gaussian_nll",
    "gelu",
    "get_item",
    "giou_loss",
    "global_average_pooling_2d",
    "global_max_pooling_2d",
    "group_normalization",
    "hard_sigmoid",
    "hard_swish",
    "hinge",
    "hstack",
    "huber_loss",
    "identity",
    "im2col",
    "layer_normalization",
    "leaky_relu",
    "linear",
    "linear_interpolate",
    "local_response_normalization",
    "log",
    "log10",
    "log1p",
    "log2",
    "log_softmax",
    "logsumexp",
    "lstm",
    "matmul",
    "max",
    "max_pooling_1d",
    "max_pooling_2d",
    "max_pooling_3d",
    "max_pooling_nd",
    "maximum",
    "maxout",
    "mean",
    "mean_absolute_error",
    "mean_squared_error",
    "min",
    "minimum",
    "moveaxis",
    "multiply",
    "negative",
    "negative_sampling",
    "norm",
    "normalize",
    "pad",
    "permutate",
    "power",
    "precision",
    "prelu",
    "prod",
    "ps_roi_average_align_2d",
    "ps_roi_average_pooling_2d",
    "ps_roi_max_align_2d",
    "ps_roi_max_pooling_2d",
    "r2_score",
    "recall",
    "relu",
    "relu6",
    "repeat",
    "reshape",
    "resize_images",
    "roi_average_align_2d",
    "roi_average_pooling_2d",
    "roi_max_align_2d",
    "roi_max_pooling_2d",
    "roi_pooling_2d",
    "roll",
    "rollaxis",
    "rsqrt",
    "scaled_dot_product_attention",
    "scatter_add",
    "select_item",
    "selu",
    "separate",
    "sigmoid",
    "sigmoid_cross_entropy",
    "sigmoid_focal_loss",
    "sign",
    "silu",
    "sin",
    "sinh",
    "smooth_l1",
    "softmax",
    "softmax_cross_entropy",
    "softplus",
    "space2depth",
    "spatial_pyramid_pooling_2d",
    "spatial_transformer_grid",
    "spatial_transformer_sampler",
    "split_axis",
    "sqrt",
    "square",
    "squared_error",
    "squeeze",
    "stack",
    "stochastic_depth",
    "subtract",
    "sum",
    "sum_to",
    "swapaxes",
    "swish",
    "tan",
    "tanh",
    "tensordot",
    "tile",
    "transpose",
    "triplet",
    "unpooling_1d",
    "unpooling_2d",
    "unpooling_3d",
    "unpooling_nd",
    "upsample_nearest",
    "upsampling_2d",
    "vstack",
    "where",
]

install_operators()
del install_operators  # not a function of this room

# classes of Chainer before links (FunctionSet's), and functions that go by another name

import_on_demand(__name__)
