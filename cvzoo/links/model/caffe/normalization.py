"""Caffe's BatchNorm, Scale, Bias, LRN and Normalize as links."""

import numpy as np

from cvzoo.autodiff.parameter import Parameter
from cvzoo.autodiff.variable import Variable, as_variable
from cvzoo.config.switches import switches, using_config
from cvzoo.errors.exceptions import ShapeError, UnsupportedError, WeightsMismatchError
from cvzoo.functions.array.axes import reshape
from cvzoo.functions.math.power import square
from cvzoo.functions.math.sum import sum as sum_of
from cvzoo.functions.normalization.fixed_batch_normalization import fixed_batch_normalization
from cvzoo.functions.normalization.local_response_normalization import local_response_normalization
from cvzoo.functions.pooling.pooling_2d import average_pooling_2d
from cvzoo.links.chain import Chain
from cvzoo.links.connection.batch_normalization import BatchNormalization
from cvzoo.links.connection.scale import Bias, Scale, aligned_shape
from cvzoo.links.link import Link
from cvzoo.typing.aliases import Array
from cvzoo.weights.formats.caffe.net import CaffeLayer


class BatchNorm(Chain):
    """Batch normalization without scale and shift (for which Caffe has a separate Scale layer).

    Files contain sums and a factor that they are divided by; the link stores means and variances themselves.
    Where we differ: in training, Caffe corrects the bias of its moving averages; ours are uncorrected.
    """

    def __init__(self, layer: CaffeLayer):
        params = layer.params.get("batch_norm_param", {})
        self.use_global_stats = params.get("use_global_stats")
        size = layer.blobs[0].size if layer.blobs else None
        with self.init_scope():
            self.bn = BatchNormalization(
                size,
                params.get("moving_average_fraction", 0.999),
                params.get("eps", 1e-5),
                use_gamma=False,
                use_beta=False,
            )
        if not layer.blobs:
            return
        if len(layer.blobs) < 3 or layer.blobs[1].size != size or layer.blobs[2].size != 1:
            raise WeightsMismatchError(
                f"{layer}: its blobs", expected="mean, variance, factor", got=[blob.shape for blob in layer.blobs]
            )
        mean, var, factor = (blob.reshape(-1) for blob in layer.blobs[:3])
        share = np.float32(0 if factor[0] == 0 else 1 / factor[0])
        self.bn.avg_mean[...] = mean * share
        self.bn.avg_var[...] = var * share

    @property
    def is_fixed(self) -> bool:
        """Whether the stored statistics are currently used."""
        return not switches.train if self.use_global_stats is None else self.use_global_stats

    def forward(self, x: Variable | Array, *, scale: "ChannelScale | None" = None) -> Variable:
        """x's shape; x is (B, C, ...).

        scale: the following Scale layer, to be fused if possible
        """
        if scale is None or not self.is_fixed or self.bn.avg_mean is None or not scale.W.is_initialized:
            with using_config("train", not self.is_fixed):
                y = self.bn(x)
            return y if scale is None else scale(y)
        bn = self.bn
        b = np.zeros_like(bn.avg_mean) if scale.b is None else scale.b
        return fixed_batch_normalization(x, scale.W, b, bn.avg_mean, bn.avg_var, eps=bn.eps)


class ChannelScale(Link):
    """x * W (+ b) per channel; without blobs the number of channels is inferred from the first input."""

    def __init__(self, axis: int, has_bias: bool, W: np.ndarray | None = None, b: np.ndarray | None = None):
        self.axis = axis
        with self.init_scope():
            self.W = Parameter(1 if W is None else W)
            self.b = Parameter(0 if b is None else b) if has_bias else None
        if W is not None:
            self._initialize(W.size)

    def _initialize(self, size: int) -> None:
        self.W.initialize((size,))
        if self.b is not None:
            self.b.initialize((size,))

    def forward(self, x: Variable | Array) -> Variable:
        """x's shape."""
        x = as_variable(x)
        axis = self.axis + x.ndim if self.axis < 0 else self.axis
        if not 0 <= axis < x.ndim:
            raise ShapeError(f"Scale: there is no axis {self.axis}", got=x.shape)
        if not self.W.is_initialized:
            self._initialize(x.shape[axis])
        shape = aligned_shape(x.shape, self.W.shape, axis, function="Scale")
        y = x * reshape(self.W, shape)
        return y if self.b is None else y + reshape(self.b, shape)


def make_scale(layer: CaffeLayer) -> Link:
    """The link: a factor, and a shift if bias_term is set; with two inputs the second is the factor."""
    params = layer.params.get("scale_param", {})
    axis, has_bias, n_axes = params.get("axis", 1), params.get("bias_term", False), params.get("num_axes", 1)
    blobs = layer.blobs
    n_blob = (len(layer.bottoms) == 1) + has_bias
    if blobs and (len(blobs) < n_blob or len({blob.size for blob in blobs[:n_blob]}) > 1):
        raise WeightsMismatchError(
            f"{layer}: its blobs", expected=f"{n_blob} of one size", got=[blob.shape for blob in blobs]
        )
    if len(layer.bottoms) == 1 and n_axes == 1:
        W, b = (*(blob.reshape(-1) for blob in blobs[:n_blob]), None, None)[:2]
        return ChannelScale(axis, has_bias, W, b)
    if n_blob and not blobs:
        raise UnsupportedError(f"{layer}: without blobs only one number a channel is possible", got=params)
    if len(layer.bottoms) == 1:
        scale = Scale(axis, blobs[0].shape if n_axes else (), has_bias)
        _fill(scale.W, blobs[0])
    else:
        scale = Scale(axis, None, has_bias, blobs[0].shape if has_bias else None)
    if scale.bias is not None:
        _fill(scale.bias.b, blobs[n_blob - 1])
    return scale


def _fill(parameter: Parameter | None, values: np.ndarray) -> None:
    if parameter is not None:
        parameter.array[...] = values.reshape(parameter.array.shape)


def make_bias(layer: CaffeLayer) -> Bias:
    """The link: a learned shift, or with two inputs their sum."""
    params = layer.params.get("bias_param", {})
    if len(layer.bottoms) > 1:
        return Bias(params.get("axis", 1))
    if not layer.blobs:
        raise UnsupportedError(f"{layer}: needs blobs")
    blob = layer.blobs[0]
    n_axes = params.get("num_axes", 1)
    bias = Bias(params.get("axis", 1), blob.shape if n_axes not in (0, 1) else (blob.size,) * n_axes)
    _fill(bias.b, blob)
    return bias


class LRN(Link):
    """Local response normalization, across channels or within each."""

    def __init__(self, layer: CaffeLayer):
        params = layer.params.get("lrn_param", {})
        self.n = params.get("local_size", 5)
        self.alpha = params.get("alpha", 1.0)
        self.beta = params.get("beta", 0.75)
        self.k = params.get("k", 1.0)
        self.is_within = params.get("norm_region", "ACROSS_CHANNELS") == "WITHIN_CHANNEL"
        if self.n % 2 == 0:
            raise UnsupportedError(f"{layer}: local_size must be odd", got=self.n)

    def forward(self, x: Variable | Array) -> Variable:
        """x's shape; x is (B, C, H, W)."""
        x = as_variable(x)
        if not self.is_within:
            # Caffe divides alpha by the number of channels in the sum
            return local_response_normalization(x, self.n, self.k, self.alpha / self.n, self.beta)
        mean = average_pooling_2d(square(x), self.n, 1, self.n // 2, count_pad=True)
        return x * (1 + self.alpha * mean) ** -self.beta

    def describe(self) -> str:
        return f"n={self.n}, alpha={self.alpha}, beta={self.beta}, k={self.k}, within={self.is_within}"


class Normalize(Link):
    """L2 normalization over the channels (or over the whole image), times a learned W, per channel or shared.

    Source: the layer of Liu et al., SSD, ECCV 2016.
    """

    def __init__(self, layer: CaffeLayer):
        params = layer.params.get("norm_param", {})
        self.across_spatial = params.get("across_spatial", True)
        self.is_shared = params.get("channel_shared", True)
        self.eps = params.get("eps", 1e-10)
        with self.init_scope():
            self.W = Parameter(layer.blobs[0].reshape(-1) if layer.blobs else 1)
        if layer.blobs:
            self.W.initialize((layer.blobs[0].size,))

    def forward(self, x: Variable | Array) -> Variable:
        """x's shape; x is (B, C, H, W)."""
        x = as_variable(x)
        if not self.W.is_initialized:
            self.W.initialize((1 if self.is_shared else x.shape[1],))
        axes = (1, 2, 3) if self.across_spatial else (1,)
        length = (sum_of(square(x), axis=axes, keepdims=True) + self.eps) ** 0.5
        return x / length * reshape(self.W, (1, -1, 1, 1))
