"""The interface of a backend: the kernels that cvzoo's functions call, with their shapes.

Rules that hold for every function:
- Shapes are written NCHW / OIHW; any strides are allowed. A result (B, C, H, W) is channels-last (NHWC);
  a weight's gradient is C-contiguous, as weights from files are; the results of `matmul` and of functions
  without a 4-D shape are C-contiguous; `eltwise` and its gradients keep the memory format of x.
- Inputs are not modified, except an argument named `out`, which may be one of the inputs.
- `stride`, `ksize`, `dilate` are (rows, columns); `pad` is (top, bottom, left, right), each at least 0, or negative
  at the end only where a window's last pixels are to be left out.
- Kernels are optimized for float32; float64 must work everywhere too (for gradient checks). Integer
  arrays and other dtypes work where NumPy would do them.
- float16 and bfloat16 (ml_dtypes.bfloat16) are for memory only: every sum and every function is computed in float32
  and rounded once, when the result is stored in the dtype of x. x, w, b, gy, y and `add` of one call have one dtype.
  With a 16-bit x these are float32: gamma, beta, mean, var, given and returned, and their gradients; the statistics of
  `layer_norm`; the result of `channel_sum`. Weights' gradients have 16 bits as x has. What is too large for float16
  becomes infinite.
- Sizes have been checked by the caller. Unsupported cases use a slower fallback.
- NaN and infinities pass through sums and products. What maxima and bounded functions make of them may differ among
  backends; each says so. `relu` keeps NaN (where it is fused into a convolution it may become 0).
"""

from collections.abc import Sequence
from types import ModuleType
from typing import Protocol

import numpy as np
import numpy.typing as npt

from cvzoo.backends.interface import (
    Array,
    DetectionKernels,
    ImageKernels,
    IndexKernels,
    LossKernels,
    Pad,
    Pair,
    RegionKernels,
    State,
)
from cvzoo.typing.aliases import ArrayLike


class AbstractBackend(DetectionKernels, ImageKernels, IndexKernels, LossKernels, RegionKernels, Protocol):
    """The kernels of one device. Every function is pure unless it has `out`.

    Backends are modules, such as `cvzoo.backends.numpy.backend`: the functions are what is in them, without `self`.
    """

    name: str
    xp: ModuleType  # the array module with NumPy's interface: numpy or cupy

    # --- memory -----------------------------------------------------------------------------------------------------
    def empty(self, shape: Sequence[int], dtype: npt.DTypeLike = "float32") -> Array:
        """An array of undefined values, channels-last if it is 4-D."""
        ...

    def zeros(self, shape: Sequence[int], dtype: npt.DTypeLike = "float32") -> Array:
        """An array of zeros, channels-last if it is 4-D."""
        ...

    def like(self, x: Array) -> Array:
        """An array of undefined values with x's shape, dtype and memory format."""
        ...

    def asarray(self, array: ArrayLike, dtype: npt.DTypeLike | None = None) -> Array:
        """`array` (of any device, or a list) on this device; not copied if it is on the device already."""
        ...

    def to_numpy(self, array: Array) -> np.ndarray:
        """`array` as a numpy.ndarray."""
        ...

    def channels_last(self, x: Array) -> Array:
        """x (B, C, H, W) itself if it is channels-last, else a channels-last copy."""
        ...

    def reshaped(self, x: Array, shape: Sequence[int]) -> Array:
        """The values of x, in row-major order, in another shape: a view of x where possible, else C-contiguous.

        shape: sizes, of which one may be -1, which is inferred
        """
        ...

    # --- convolution ------------------------------------------------------------------------------------------------
    def conv_2d(
        self,
        x: Array,
        w: Array,
        b: Array | None,
        *,
        stride: Pair,
        pad: Pad,
        dilate: Pair,
        groups: int,
        add: Array | None = None,
        activation: str | None = None,
        alpha: float = 0.0,
        beta: float = 0.0,
        pack: dict | None = None,
        winograd: bool = False,
        adds_last: bool = False,
    ) -> Array:
        """Cross-correlation: y (B, O, OH, OW) of x (B, C, H, W) and w (O, C / groups, KH, KW), plus b (O,).

        Then, in this order: `add` (B, O, OH, OW) is added, `activation` (a kind of `eltwise`) is applied.
        pack: a cache of the backend for reordered copies of w; the owner of w clears it when w
            changes. None: w is used once. If it has a `scale` (O,), the filters are those of w times it.
        winograd: Winograd's algorithm may be used where the backend has it: for results that need no gradients
        adds_last: the activation comes before the sum with `add`
        """
        ...

    def conv_2d_input_grad(
        self,
        gy: Array,
        w: Array,
        x_size: Pair,
        *,
        stride: Pair,
        pad: Pad,
        dilate: Pair,
        groups: int,
        add: Array | None = None,
    ) -> Array:
        """gx (B, C, H, W) of gy (B, O, OH, OW) and w (O, C / groups, KH, KW), plus `add` like gx; x_size is (H, W).

        It is the transposed convolution too: w is then (in_channels, out_channels / groups, KH, KW).
        """
        ...

    def conv_2d_weight_grad(
        self, x: Array, gy: Array, w_size: Pair, *, stride: Pair, pad: Pad, dilate: Pair, groups: int
    ) -> Array:
        """gw (O, C / groups, KH, KW) of x (B, C, H, W) and gy (B, O, OH, OW); w_size is (KH, KW)."""
        ...

    def channel_sum(self, x: Array) -> Array:
        """(C,): the sum of x (B, C, ...) over all axes but the second; a bias's gradient."""
        ...

    # --- matrices ---------------------------------------------------------------------------------------------------
    def matmul(self, a: Array, b: Array, *, scale: float = 1.0, add: Array | None = None) -> Array:
        """scale * (a @ b), plus `add`, by NumPy's rules of shapes (a and b at least 2-D; leading axes broadcast).

        Transposed views are supported. add: broadcasts with the product; fastest C-contiguous in the product's shape.
        """
        ...

    def linear(self, x: Array, w: Array, b: Array | None, *, pack: dict | None = None) -> Array:
        """(N, O): x (N, I) @ w (O, I).T + b (O,). `pack` as in conv_2d."""
        ...

    # --- quantization -------------------------------------------------------------------------------------------------
    def quantize(self, x: Array, *, scale: float, signed: bool) -> Array:
        """x (float32) quantized: x / scale, rounded half to even and clipped to the dtype's range.

        int8 if `signed`, else uint8; x's shape, channels-last if 4-D, else C-contiguous. NaN becomes any value.
        """
        ...

    def conv_2d_int8(
        self,
        x: Array,
        w: Array,
        scale: Array,
        b: Array | None,
        *,
        stride: Pair,
        pad: Pad,
        dilate: Pair,
        groups: int,
        add: Array | None = None,
        add_scale: float | None = None,
        activation: str | None = None,
        alpha: float = 0.0,
        beta: float = 0.0,
        out_scale: float | None = None,
        out_signed: bool = False,
        pack: dict | None = None,
    ) -> Array:
        """y (B, O, OH, OW) float32: activation(scale * conv(x, w) + b + add), the convolution a sum of integers.

        x: (B, C, H, W) int8 or uint8
        w: (O, C / groups, KH, KW) int8
        scale: (O,) float32: the scale of x times the scale of each filter
        b, add, activation, alpha, beta, pack: as in conv_2d; b and add are float32
        add_scale: the scale of an int8 or uint8 `add`
        out_scale: y is quantize(y, scale=out_scale, signed=out_signed); None: float32
        """
        ...

    def linear_int8(self, x: Array, w: Array, scale: Array, b: Array | None, *, pack: dict | None = None) -> Array:
        """(N, O) float32: scale (O,) * (x (N, I) @ w (O, I).T) + b (O,); x int8 or uint8, w int8."""
        ...

    def conv_2d_bf16(
        self,
        x: Array,
        w: Array,
        b: Array | None,
        *,
        stride: Pair,
        pad: Pad,
        dilate: Pair,
        groups: int,
        add: Array | None = None,
        activation: str | None = None,
        alpha: float = 0.0,
        beta: float = 0.0,
        out_bits: bool = False,
        pack: dict | None = None,
    ) -> Array:
        """As conv_2d of float32, with x and w rounded to bfloat16 first; products are summed in float32.

        x and add may be uint16: the bits of bfloat16, the upper 16 of a float32. out_bits: so is y, rounded
        """
        ...

    # --- pooling ----------------------------------------------------------------------------------------------------
    def max_pool_2d(self, x: Array, *, ksize: Pair, stride: Pair, pad: Pad, keep: bool) -> tuple[Array, State]:
        """y (B, C, OH, OW) and, if `keep`, the state for max_pool_2d_grad (else None). Padding is never a maximum."""
        ...

    def max_pool_2d_grad(
        self, gy: Array, state: State, x_shape: Sequence[int], *, ksize: Pair, stride: Pair, pad: Pad
    ) -> Array:
        """gx of shape x_shape; state: of max_pool_2d. Of equal maxima the first in row order gets gy."""
        ...

    def max_pool_2d_indices(self, x: Array, *, ksize: Pair, stride: Pair, pad: Pad) -> Array:
        """(B, C, OH, OW) int64: each maximum's index in its (H, W) plane, row * W + column; of equals the first."""
        ...

    def average_pool_2d(self, x: Array, *, ksize: Pair, stride: Pair, pad: Pad, count_pad: bool) -> Array:
        """y (B, C, OH, OW); with `count_pad` padded zeros count in the mean."""
        ...

    def average_pool_2d_grad(
        self, gy: Array, x_shape: Sequence[int], *, ksize: Pair, stride: Pair, pad: Pad, count_pad: bool
    ) -> Array:
        """gx of shape x_shape."""
        ...

    # --- normalization ----------------------------------------------------------------------------------------------
    def batch_norm_train(self, x: Array, gamma: Array, beta: Array, *, eps: float) -> tuple[Array, Array, Array]:
        """y, mean (C,), var (C,): x (B, C, ...) normalized over all axes but the second; var is the biased variance."""
        ...

    def batch_norm_statistics(self, x: Array) -> tuple[Array, Array]:
        """mean (C,), var (C,) of x (B, C, ...), as batch_norm_train gives them; of 16-bit x in float32."""
        ...

    def n_strip(self, x: Array) -> int:
        """The number of equal strips of an image's pixels, a divisor of H * W, whose statistics are to be taken apart.

        x: (B, C, H, W)
        A strip's sums are shorter, and lose fewer digits in float32.
        """
        ...

    def batch_norm_fixed(self, x: Array, gamma: Array, beta: Array, mean: Array, var: Array, *, eps: float) -> Array:
        """gamma * (x - mean) / sqrt(var + eps) + beta, channel by channel; x (B, C, ...), the others (C,)."""
        ...

    def batch_norm_grad(
        self, gy: Array, x: Array, gamma: Array, mean: Array, var: Array, *, eps: float
    ) -> tuple[Array, Array, Array]:
        """gx, ggamma (C,), gbeta (C,) of batch_norm_train."""
        ...

    def batch_norm_relu_train(
        self, x: Array, gamma: Array, beta: Array, *, eps: float, add: Array | None = None
    ) -> tuple[Array, Array, Array, Array]:
        """y, mean (C,), var (C,), mask: relu of batch_norm_train, and of `add` on top of it, which is like x.

        mask: where y > 0, in a format of the backend. NaN before ReLU may become 0.
        """
        ...

    def batch_norm_relu_fixed(
        self, x: Array, gamma: Array, beta: Array, mean: Array, var: Array, *, eps: float, add: Array | None = None
    ) -> Array:
        """relu of batch_norm_fixed, and of `add` on top of it.

        With the statistics of batch_norm_relu_train it is its y, up to rounding.
        """
        ...

    def batch_norm_relu_grad(
        self,
        gy: Array,
        x: Array,
        gamma: Array,
        mean: Array,
        var: Array,
        mask: Array,
        *,
        eps: float,
        adds: bool = False,
    ) -> tuple[Array, ...]:
        """gx, ggamma (C,), gbeta (C,) of batch_norm_relu_train, and with `adds` the gradient of its `add`."""
        ...

    def layer_norm(self, x: Array, gamma: Array, beta: Array, *, eps: float) -> tuple[Array, Array, Array]:
        """y (N, I), mean (N,), var (N,): the rows of x (N, I) normalized, times gamma (I,), plus beta (I,)."""
        ...

    def layer_norm_grad(
        self, gy: Array, x: Array, gamma: Array, mean: Array, var: Array, *, eps: float
    ) -> tuple[Array, Array, Array]:
        """gx (N, I), ggamma (I,), gbeta (I,) of layer_norm."""
        ...

    def local_response_norm(self, x: Array, *, n: int, k: float, alpha: float, beta: float) -> Array:
        """x / (k + alpha * s) ** beta, s the sum of squares over the n channels around; x (B, C, H, W)."""
        ...

    def local_response_norm_grad(self, gy: Array, x: Array, *, n: int, k: float, alpha: float, beta: float) -> Array:
        """gx of local_response_norm."""
        ...

    # --- element by element -----------------------------------------------------------------------------------------
    def eltwise(self, kind: str, x: Array, *, alpha: float = 0.0, beta: float = 0.0) -> Array:
        """f(x) for a kind of ELTWISE_KINDS, in x's shape and memory order."""
        ...

    def chain(self, x: Array, steps: Sequence[tuple], others: Sequence[Array]) -> Array:
        """x after all steps, in x's shape; in one pass over memory where the backend supports it.

        steps: ("add",), ("subtract",), ("multiply",) or ("divide",), with the next of `others`, which broadcasts to
            x's shape; or (kind, alpha, beta), a kind of ELTWISE_KINDS. `relu` may turn NaN into 0
        """
        ...

    def eltwise_grad(self, kind: str, gy: Array, x: Array, *, alpha: float = 0.0, beta: float = 0.0) -> Array:
        """gy * f'(x)."""
        ...

    def eltwise_grad_from_output(
        self, kind: str, gy: Array, y: Array, *, alpha: float = 0.0, beta: float = 0.0
    ) -> Array:
        """gy * f'(x) from y = f(x), for the kinds of FROM_OUTPUT_KINDS."""
        ...

    def add(self, a: Array, b: Array, *, out: Array | None = None) -> Array:
        """a + b with NumPy's broadcasting; into `out` (which may be a) if given."""
        ...

    def add_relu(self, a: Array, b: Array) -> Array:
        """relu(a + b) of arrays of one shape. NaN before ReLU may become 0."""
        ...

    def multiply(self, a: Array, b: Array) -> Array:
        """a * b with NumPy's broadcasting."""
        ...

    # --- arithmetic -------------------------------------------------------------------------------------------------
    def arithmetic(self, operation: str, a: Array, b: Array) -> Array:
        """a - b, a / b, the larger, the smaller (NaN if either is) or a ** b, with NumPy's broadcasting.

        operation: "subtract", "divide", "maximum", "minimum" or "power"
        """
        ...

    def arithmetic_constant(self, operation: str, x: Array, value: float | np.number) -> Array:
        """x and a number of its dtype, combined: in x's dtype.

        operation: "add", "subtract" (x - value), "subtract_from", "multiply", "divide" (x / value), "divide_by",
            "power" (x ** value) or "power_of"
        """
        ...

    # --- random numbers ---------------------------------------------------------------------------------------------
    # from the seed of cvzoo.set_seed, on the current device; a GPU draws other numbers than the CPU
    def random_mask(self, shape: Sequence[int], ratio: float, scale: float, dtype: npt.DTypeLike = "float32") -> Array:
        """0 with probability `ratio`, otherwise `scale`."""
        ...

    def standard_normal(
        self, shape: int | Sequence[int], dtype: npt.DTypeLike = "float32", *, rounded: bool = False
    ) -> Array:
        """Standard normal values; rounded: the CPU draws float64 values, which are rounded to `dtype`."""
        ...

    def are_finite(self, arrays: Sequence[Array]) -> list[bool]:
        """For each array, whether no value is NaN or infinite; integers are always finite."""
        ...

    # --- softmax ----------------------------------------------------------------------------------------------------
    def softmax(self, x: Array, *, axis: int) -> Array:
        """exp(x) / sum(exp(x)) along `axis`, computed without overflow."""
        ...

    def softmax_grad(self, gy: Array, y: Array, *, axis: int) -> Array:
        """gx from y = softmax(x)."""
        ...

    def log_softmax(self, x: Array, *, axis: int) -> Array:
        """log(softmax(x)) along `axis`, computed without overflow."""
        ...

    def log_softmax_grad(self, gy: Array, y: Array, *, axis: int) -> Array:
        """gx from y = log_softmax(x)."""
        ...

    # --- moving pixels ----------------------------------------------------------------------------------------------
    def concat(self, arrays: Sequence[Array], *, axis: int) -> Array:
        """The arrays one after another along `axis`."""
        ...

    def resize_2d(self, x: Array, size: Pair, *, mode: str, align_corners: bool, antialias: bool) -> Array:
        """x (B, C, H, W) at another size (OH, OW).

        mode: "nearest" (pixel floor(i * H / OH)) or "bilinear"
        align_corners: the corner pixels' centers are aligned; else the images' edges are (half-pixel centres)
        antialias: bilinear only; when shrinking, the triangle is widened by the scale (as Pillow does)
        """
        ...

    def resize_2d_grad(self, gy: Array, size: Pair, *, mode: str, align_corners: bool, antialias: bool) -> Array:
        """gx (B, C, H, W) of gy (B, C, OH, OW); size is (H, W)."""
        ...

    def separable_2d(self, x: Array, rows: np.ndarray, columns: np.ndarray) -> Array:
        """rows @ x @ columns.T, (B, C, OH, OW), of each map of x (B, C, H, W).

        rows: (OH, H), columns: (OW, W): numpy.ndarray; cached, so that there should be few different ones
        """
        ...


# kind: f(x)
ELTWISE_KINDS = {
    "linear": "alpha * x + beta",
    "relu": "max(x, 0)",
    "leaky_relu": "x where x > 0, else alpha * x",
    "elu": "x where x > 0, else alpha * (exp(x) - 1)",
    "clamp": "min(max(x, alpha), beta), whose derivative at the bounds is 1",
    "clip": "the same, whose derivative at the bounds is 0; relu6 is clip with 0 and 6",
    "sigmoid": "1 / (1 + exp(-x))",
    "tanh": "tanh(x)",
    "softplus": "log(1 + exp(alpha * x)) / alpha",
    "swish": "x / (1 + exp(-alpha * x))",
    "gelu_erf": "x * (1 + erf(x / sqrt(2))) / 2",
    "gelu_tanh": "the approximation of gelu by tanh",
    "hard_sigmoid": "min(max(alpha * x + beta, 0), 1)",
    "hard_swish": "x * min(max(alpha * x + beta, 0), 1)",
    "exp": "exp(x)",
    "log": "log(x)",
    "sqrt": "sqrt(x)",
    "square": "x * x",
    "abs": "|x|",
}
FROM_OUTPUT_KINDS = ("relu", "leaky_relu", "elu", "sigmoid", "tanh", "sqrt", "exp")
