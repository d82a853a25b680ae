"""Cases of convolutions: forward with what is fused, and both gradients; matrices; the same in fewer bits."""

import numpy as np
from cases import FAST, REFERENCE, Case, Check, channel_number, image, pick, rounding, sizes, wide

from cvzoo.backends.numpy.bfloat16 import from_bits, rounded
from cvzoo.backends.numpy.windows import out_size

_MOST = 8e6  # multiplications of a case
ACTIVATIONS = [
    ("relu", 0.0, 0.0),
    ("leaky_relu", 0.1, 0.0),
    ("elu", 1.0, 0.0),
    ("clip", 0.0, 6.0),
    ("sigmoid", 0.0, 0.0),
    ("tanh", 0.0, 0.0),
    ("swish", 1.0, 0.0),
    ("hard_swish", 1 / 6, 0.5),
    ("hard_sigmoid", 0.2, 0.5),
    ("gelu_erf", 0.0, 0.0),
    ("gelu_tanh", 0.0, 0.0),
]
_STEEPEST = 1.5  # the largest derivative among them


def _draw(rng: np.random.Generator) -> tuple[tuple, tuple, dict]:
    """Shapes of x and w, and the window."""
    while True:
        family = pick(rng, "plain", "plain", "pixel", "pixel", "depthwise", "grouped", "dilated", "photo")
        b, c, o = int(rng.integers(1, 5)), channel_number(rng), channel_number(rng)
        # kernels go another way through large maps than through small ones
        span = pick(rng, 33, 33, 130)
        size = (int(rng.integers(1, span)), int(rng.integers(1, span)))
        k = pick(rng, (1, 1), (3, 3), (3, 3), (5, 5), (2, 2), (1, 3), (7, 1), (4, 3))
        stride = pick(rng, (1, 1), (1, 1), (2, 2), (2, 2), (3, 3), (2, 1))
        dilate, groups = (1, 1), 1
        if family == "pixel":
            k, stride = (1, 1), pick(rng, (1, 1), (2, 2), (2, 2), (3, 3), (2, 1))
            # maps of a whole number of steps are a case of their own
            size = tuple(-(-n // step) * step for n, step in zip(size, stride)) if rng.random() < 0.7 else size
        elif family == "depthwise":
            groups, o = c, c * pick(rng, 1, 1, 1, 2)
        elif family == "grouped":
            groups = pick(rng, 2, 3, 4, 8)
            c, o = groups * pick(rng, 1, 2, 3, 4, 8, 16), groups * pick(rng, 1, 2, 5, 8, 16)
        elif family == "dilated":
            dilate = pick(rng, (2, 2), (4, 4), (1, 3))
        elif family == "photo":
            c, k, stride = pick(rng, 1, 3, 4), pick(rng, (7, 7), (3, 3), (11, 11)), pick(rng, (2, 2), (4, 4), (1, 1))
        pad = pick(
            rng, (0,) * 4, (0,) * 4, tuple(int(n) for n in rng.integers(0, 3, 4)), (k[0] // 2,) * 2 + (k[1] // 2,) * 2
        )
        out = out_size(size, k, stride, pad, dilate)
        work = b * out[0] * out[1] * o * (c // groups) * k[0] * k[1]
        if min(out) > 0 and work <= _MOST:
            how = {"stride": stride, "pad": pad, "dilate": dilate, "groups": groups}
            return (b, c, *size), (o, c // groups, *k), how


def convolution(rng: np.random.Generator) -> Case:
    """conv_2d, conv_2d_input_grad and conv_2d_weight_grad."""
    x_shape, w_shape, how = _draw(rng)
    x, w = image(rng, *x_shape), rng.standard_normal(w_shape, np.float32)
    size = out_size(x_shape[2:], w_shape[2:], how["stride"], how["pad"], how["dilate"])
    gy = image(rng, x_shape[0], w_shape[0], *size)
    b = rng.standard_normal(w_shape[0], np.float32) if rng.random() < 0.5 else None
    add = image(rng, *gy.shape) if rng.random() < 0.3 else None
    kind, alpha, beta = pick(rng, (None, 0.0, 0.0), pick(rng, *ACTIVATIONS))
    fused = {"activation": kind, "alpha": alpha, "beta": beta}
    wide_x, wide_w, wide_gy, wide_b, wide_add = wide(x, w, gy, b, add)
    abs_x, abs_w, abs_gy, abs_b, abs_add = sizes(x, w, gy, b, add)
    share = rounding(w[0].size + 2)
    allowed = share * REFERENCE.conv_2d(abs_x, abs_w, abs_b, add=abs_add, **how)
    y = REFERENCE.conv_2d(wide_x, wide_w, wide_b, add=wide_add, **how, **fused)
    if kind:
        allowed = _STEEPEST * allowed + 2e-6 * (1 + np.abs(y))
    pack = pick(rng, None, {})
    checks = [Check("forward", lambda: FAST.conv_2d(x, w, b, add=add, **how, **fused, pack=pack), [(y, allowed)])]
    plus = image(rng, *x_shape) if rng.random() < 0.3 else None
    wide_plus, abs_plus = wide(plus)[0], sizes(plus)[0]
    where = (x_shape[2:],)
    gx = REFERENCE.conv_2d_input_grad(wide_gy, wide_w, *where, add=wide_plus, **how)
    near = rounding(w[:, 0].size) * REFERENCE.conv_2d_input_grad(abs_gy, abs_w, *where, add=abs_plus, **how)
    checks.append(Check("by input", lambda: FAST.conv_2d_input_grad(gy, w, *where, add=plus, **how), [(gx, near)]))
    k = w_shape[2:]
    gw = REFERENCE.conv_2d_weight_grad(wide_x, wide_gy, k, **how)
    near = rounding(gy[:, 0].size) * REFERENCE.conv_2d_weight_grad(abs_x, abs_gy, k, **how)
    checks.append(Check("by weights", lambda: FAST.conv_2d_weight_grad(x, gy, k, **how), [(gw, near)]))
    words = f"x {x.shape} w {w.shape} {how} bias {b is not None} add {add is not None} {kind}"
    return Case(words, [a for a in (x, w, gy, b, add, plus) if a is not None], checks)


def matrices(rng: np.random.Generator) -> Case:
    """matmul (with scale, sum, transposed or broadcast operands) and linear."""
    m, k, n = (int(pick(rng, 1, 3, 8, 17, 64, 100, 129, 256)) for _ in range(3))
    lead = pick(rng, (), (), (3,), (2, 3))
    a = rng.standard_normal((*lead, m, k), np.float32)
    b = rng.standard_normal((*(lead if rng.random() < 0.7 else ()), k, n), np.float32)
    if rng.random() < 0.3:
        b = np.ascontiguousarray(np.swapaxes(b, -1, -2)).swapaxes(-1, -2)
    scale = pick(rng, 1.0, 0.125)
    add = rng.standard_normal((*lead, m, n), np.float32) if rng.random() < 0.3 else None
    (wide_a, wide_b, wide_add), (abs_a, abs_b, abs_add) = wide(a, b, add), sizes(a, b, add)
    y = REFERENCE.matmul(wide_a, wide_b, scale=scale, add=wide_add)
    near = rounding(k + 2) * REFERENCE.matmul(abs_a, abs_b, scale=scale, add=abs_add)
    checks = [Check("product", lambda: FAST.matmul(a, b, scale=scale, add=add), [(y, near)])]
    x, w = rng.standard_normal((m, k), np.float32), rng.standard_normal((n, k), np.float32)
    bias = rng.standard_normal(n, np.float32) if rng.random() < 0.7 else None
    pack = pick(rng, None, {})
    y, near = REFERENCE.linear(*wide(x, w, bias)), rounding(k + 1) * REFERENCE.linear(*sizes(x, w, bias))
    checks.append(Check("linear", lambda: FAST.linear(x, w, bias, pack=pack), [(y, near)]))
    words = f"a {a.shape} b {b.shape} scale {scale} add {add is not None} linear ({m}, {k}) to {n}"
    return Case(words, [each for each in (a, b, add, x, w, bias) if each is not None], checks)


def eight_bits(rng: np.random.Generator) -> Case:
    """quantize, conv_2d_int8 and linear_int8. Whole numbers are summed exactly; only their scaling rounds."""
    x_shape, w_shape, how = _draw(rng)
    signed = bool(rng.random() < 0.4)
    low, high = (-128, 128) if signed else (0, 256)
    x = image(rng, *x_shape)
    x8 = FAST.channels_last(rng.integers(low, high, x_shape).astype(np.int8 if signed else np.uint8))
    w8 = rng.integers(-127, 128, w_shape).astype(np.int8)
    scale = (rng.random(w_shape[0]) * 1e-3 + 1e-4).astype(np.float32)
    b = rng.standard_normal(w_shape[0]).astype(np.float32) if rng.random() < 0.5 else None
    ratio = REFERENCE.quantize(x, scale=0.05, signed=signed).astype(np.float64)
    checks = [Check("quantize", lambda: FAST.quantize(x, scale=0.05, signed=signed), [(ratio, _ties(x, 0.05))])]
    exact = scale.astype(np.float64)[:, None, None, None]
    y = REFERENCE.conv_2d(x8.astype(np.float64), w8 * exact, wide(b)[0], **how)
    near = rounding(w8[0].size) * REFERENCE.conv_2d(*sizes(x8), np.abs(w8) * exact, sizes(b)[0], **how)
    checks.append(Check("convolution", lambda: FAST.conv_2d_int8(x8, w8, scale, b, **how), [(y, near)]))
    more = rng.integers(low, high, y.shape).astype(x8.dtype)
    added, step = FAST.channels_last(more), float(np.abs(y).max()) / 100 + 1e-3
    to = {"add": added, "add_scale": step, "activation": "relu", "out_scale": step, "out_signed": signed}
    total = np.clip(np.maximum(y + more.astype(np.float64) * step, 0) / step, low, high - 1)
    # rounded to a whole number
    near = 0.5 + 2 * rounding(w8[0].size) * (near / rounding(w8[0].size) + np.abs(more) * step) / step
    checks.append(Check("fused", lambda: FAST.conv_2d_int8(x8, w8, scale, b, **how, **to), [(total, near)]))
    flat, m = x8[:, :, 0, 0].copy(), w8[:, :, 0, 0].copy()
    if how["groups"] == 1:
        y = flat.astype(np.float64) @ (m * exact[:, :, 0, 0]).T + (0 if b is None else b)
        near = rounding(m.shape[1]) * (
            sizes(flat)[0] @ (np.abs(m) * exact[:, :, 0, 0]).T + (0 if b is None else abs(b))
        )
        checks.append(Check("linear", lambda: FAST.linear_int8(flat, m, scale, b), [(y, near)]))
    words = f"x {x8.shape} {x8.dtype} w {w8.shape} {how} bias {b is not None}"
    return Case(words, [a for a in (x, x8, w8, scale, b) if a is not None], checks)


def _ties(x: np.ndarray, scale: float) -> np.ndarray:
    """1 where a quotient is so near to the middle of two numbers that its own rounding decides, else 0."""
    quotient = np.abs(x.astype(np.float64) / scale)
    return (np.abs(quotient % 1 - 0.5) < 1e-5).astype(np.float64)


def bfloat16(rng: np.random.Generator) -> Case:
    """conv_2d_bf16, given and giving float32, and bits with a rectified sum."""
    x_shape, w_shape, how = _draw(rng)
    x, w = image(rng, *x_shape), rng.standard_normal(w_shape, np.float32)
    b = rng.standard_normal(w_shape[0], np.float32) if rng.random() < 0.5 else None
    near_x, near_w = rounded(x), rounded(w)
    y = REFERENCE.conv_2d(*wide(near_x, near_w, b), **how)
    near = rounding(w[0].size + 1) * REFERENCE.conv_2d(*sizes(near_x, near_w, b), **how)
    checks = [Check("forward", lambda: FAST.conv_2d_bf16(x, w, b, **how), [(y, near)])]
    add = image(rng, *y.shape)
    total = np.maximum(y + add, 0)
    near = 2 * (near + rounding(2) * np.abs(add)) + total * 2.0**-8
    fused = {"add": add, "activation": "relu", "out_bits": True}
    checks.append(Check("fused", lambda: from_bits(FAST.conv_2d_bf16(x, w, b, **how, **fused)), [(total, near)]))
    inputs = [a for a in (x, w, b, add) if a is not None]
    return Case(f"x {x.shape} w {w.shape} {how} bias {b is not None}", inputs, checks)
