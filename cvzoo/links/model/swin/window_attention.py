"""Window attention of Swin Transformer and Swin Transformer V2 (Liu et al., 2021 and 2022)."""

import functools
import math
from typing import NamedTuple

import numpy as np

import cvzoo.functions as F
from cvzoo.autodiff.parameter import Parameter
from cvzoo.autodiff.variable import Variable
from cvzoo.backends.transfer import constant_for
from cvzoo.initializers.normal import Normal
from cvzoo.links.chain import Chain
from cvzoo.links.connection.fused_linear import fused_linear
from cvzoo.links.connection.linear import Linear
from cvzoo.typing.aliases import Array

_HIDDEN = -100.0  # added to the scores of pixels that are not neighbors; the authors' value


class Windows(NamedTuple):
    """Partition of a feature map of one size into windows.

    size: (H, W) of the map
    padded: (H', W'), multiples of the window: zeros are added below and on the right
    window: the side of a window
    shift: (rows, columns) of the cyclic shift up and to the left before the partition
    """

    size: tuple[int, int]
    padded: tuple[int, int]
    window: int
    shift: tuple[int, int]

    def cut(self, x: Variable | Array) -> Variable:
        """(B, n, window * window, C) of x (B, C, H, W), ordered by window."""
        (h, w), (ph, pw) = self.size, self.padded
        if (h, w) != (ph, pw):
            x = F.pad(x, ((0, 0), (0, 0), (0, ph - h), (0, pw - w)))
        if any(self.shift):
            x = F.roll(x, (-self.shift[0], -self.shift[1]), (2, 3))
        b, c = x.shape[:2]
        side = self.window
        x = F.reshape(F.transpose(x, (0, 2, 3, 1)), (b, ph // side, side, pw // side, side, c))
        return F.reshape(F.transpose(x, (0, 1, 3, 2, 4, 5)), (b, -1, side * side, c))

    def join(self, x: Variable) -> Variable:
        """(B, C, H, W) of x (B, n, window * window, C): the inverse of `cut`."""
        (h, w), (ph, pw) = self.size, self.padded
        b, c, side = x.shape[0], x.shape[-1], self.window
        x = F.reshape(x, (b, ph // side, pw // side, side, side, c))
        x = F.reshape(F.transpose(x, (0, 1, 3, 2, 4, 5)), (b, ph, pw, c))
        x = F.transpose(x, (0, 3, 1, 2))
        if any(self.shift):
            x = F.roll(x, self.shift, (2, 3))
        return x if (h, w) == (ph, pw) else x[:, :, :h, :w]

    def hidden(self) -> np.ndarray | None:
        """(n, window^2, window^2) float32 the attention mask, added to the scores: pixels from different sides of
        the map do not attend to each other after the shift. None without a shift."""
        return _hidden(self) if any(self.shift) else None


def windows_of(size: tuple[int, int], window: int, *, shifted: bool) -> Windows:
    """The partition of a map (H, W) into windows.

    shifted: whether by half a window; not along a side that one window covers
    """
    h, w = size
    padded = -(-h // window) * window, -(-w // window) * window
    dy, dx = (window // 2 if shifted and n > window else 0 for n in padded)
    return Windows((h, w), padded, window, (dy, dx))


@functools.lru_cache(8)  # those of a large image take tens of megabytes
def _hidden(windows: Windows) -> np.ndarray:
    (ph, pw), side = windows.padded, windows.window
    rows, columns = (
        (np.arange(n) >= n - side).astype(int) + (np.arange(n) >= n - shift) if shift else np.zeros(n, int)
        for n, shift in zip(windows.padded, windows.shift)
    )
    region = 3 * rows[:, None] + columns
    region = region.reshape(ph // side, side, pw // side, side).transpose(0, 2, 1, 3).reshape(-1, side * side)
    mask = np.where(region[:, :, None] == region[:, None, :], 0, _HIDDEN).astype(np.float32)
    mask.flags.writeable = False
    return mask


@functools.lru_cache(16)
def relative_index(window: int) -> np.ndarray:
    """(window^4,) int64: index of the relative position, of (2 * window - 1)^2, of each pair of a window's pixels."""
    y, x = (axis.ravel() for axis in np.meshgrid(np.arange(window), np.arange(window), indexing="ij"))
    side = 2 * window - 1
    index = (y[:, None] - y + window - 1) * side + (x[:, None] - x + window - 1)
    index = index.ravel()
    index.flags.writeable = False
    return index


@functools.lru_cache(16)
def relative_places(window: int) -> np.ndarray:
    """((2 * window - 1)^2, 2) float32: the relative positions (rows, columns) in V2's log-spaced coordinates."""
    line = np.arange(1 - window, window, dtype=np.float32) * np.float32(8 / max(window - 1, 1))
    line = np.sign(line) * np.log2(np.abs(line) + 1) / np.float32(3)
    places = np.stack(np.meshgrid(line, line, indexing="ij"), axis=-1).reshape(-1, 2).astype(np.float32)
    places.flags.writeable = False
    return places


_SHARPEST = math.log(100)  # V2's limit of the trained temperature


class WindowAttention(Chain):
    """Multi-head self-attention within windows, with a relative position bias.

    n_unit: channels; n_head: attention heads; window: its side
    version: 1: a table of biases; 2: a small MLP computes them from the positions, and similarity is the cosine
    """

    def __init__(self, n_unit: int, n_head: int, window: int, version: int):
        self.n_unit = n_unit
        self.n_head = n_head
        self.window = window
        self.version = version
        with self.init_scope():
            self.qkv = Linear(n_unit, 3 * n_unit, initialW=Normal(0.02))
            self.proj = Linear(n_unit, n_unit, initialW=Normal(0.02))
            if version == 1:
                self.biases = Parameter(Normal(0.02), ((2 * window - 1) ** 2, n_head))
            else:
                self.log_scale = Parameter(math.log(10), n_head)
                self.widen = Linear(2, 512)
                self.narrow = Linear(512, n_head, nobias=True)

    def forward(self, x: Variable | Array, windows: Windows, *, add: Variable | Array | None = None) -> Variable:
        """(B, C, H, W) of x (B, C, H, W).

        windows: the partition of maps of this size
        add: (B, C, H, W) added to the result, or None
        """
        h = windows.cut(x)  # (B, n, N, C)
        b, n, n_token, c = h.shape
        qkv = fused_linear(self.qkv, h, b=self._qkv_bias())
        qkv = F.reshape(qkv, (b, n, n_token, 3, self.n_head, c // self.n_head))
        qkv = F.transpose(qkv, (3, 0, 1, 4, 2, 5))  # (3, B, n, n_head, N, D)
        q, k, v = qkv[0], qkv[1], qkv[2]
        scale = None
        if self.version == 2:
            factor = F.reshape(F.exp(F.minimum(self.log_scale, np.float32(_SHARPEST))), (1, 1, self.n_head, 1, 1))
            q, k, scale = _unit(q) * factor, _unit(k), 1.0
        h = F.scaled_dot_product_attention(q, k, v, bias=self._bias(windows), scale=scale)
        h = F.reshape(F.transpose(h, (0, 1, 3, 2, 4)), (b, n, n_token, c))
        h = windows.join(fused_linear(self.proj, h))
        return h if add is None else h + add

    def _qkv_bias(self) -> Variable | None:
        b = self.qkv.b
        if self.version == 1 or b is None:
            return None
        # V2's keys have no bias; published files store one that is never read
        mask = np.repeat(np.array([1, 0, 1], b.dtype), self.n_unit)
        return b * constant_for(mask, b.device.index, ("Swin's queries and values", self.n_unit, b.dtype))

    def _bias(self, windows: Windows) -> Variable:
        """(1, n or 1, n_head, N, N) added to the scores."""
        n_token = self.window**2
        table: Variable
        if self.version == 1:
            table = self.biases
        else:
            W = self.widen.W
            places = relative_places(self.window).astype(W.dtype)
            places = constant_for(places, W.device.index, ("Swin's places", self.window, W.dtype))
            table = self.narrow(F.relu(self.widen(places)))
            table = F.sigmoid(table) * 16
        bias = F.reshape(F.embed_id(relative_index(self.window), table), (n_token, n_token, self.n_head))
        bias = F.reshape(F.transpose(bias, (2, 0, 1)), (1, 1, self.n_head, n_token, n_token))
        hidden = windows.hidden()
        if hidden is None:
            return bias
        return bias + constant_for(hidden, bias.device.index, ("Swin's hidden", windows))[None, :, None].astype(
            bias.dtype
        )


def _unit(x: Variable) -> Variable:
    """x divided by its L2 norm along the last axis; zeros, such as padding, stay 0."""
    square = F.maximum(F.sum(x * x, axis=-1, keepdims=True), x.dtype.type(1e-24))
    return x / F.sqrt(square)
