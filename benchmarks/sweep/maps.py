"""Cases of everything else: pooling, normalization, functions, softmax, sizes and places of pixels."""

import functools

import numpy as np
from cases import FAST, REFERENCE, Case, Check, channel_number, image, pick, rounding, sizes, wide
from convolutions import ACTIVATIONS

from cvzoo.backends.abstract import FROM_OUTPUT_KINDS
from cvzoo.backends.numpy.windows import out_size

_EPS = 1e-5
# an element-wise function's own error, as a share of its value, of its argument or of 1, whichever is largest
_FUNCTION = 2e-6


def _map_shape(rng: np.random.Generator, most: int = 40) -> tuple[int, int, int, int]:
    return int(rng.integers(1, 5)), channel_number(rng), int(rng.integers(1, most)), int(rng.integers(1, most))


def pooling(rng: np.random.Generator) -> Case:
    """max_pool_2d and average_pool_2d, and their gradients."""
    while True:
        shape = _map_shape(rng)
        k = pick(rng, (2, 2), (3, 3), (3, 3), (5, 5), (1, 1), (3, 2), shape[2:])
        stride, pad = pick(rng, (1, 1), (2, 2), (2, 2), (3, 3), k), tuple(int(n) for n in rng.integers(0, 2, 4))
        pad = pick(rng, (0, 0, 0, 0), pad)
        size = out_size(shape[2:], k, stride, pad)
        # a window of nothing but padding has no maximum
        if min(size) > 0 and max(pad) < min(k) and max(k) <= min(shape[2:]):
            break
    how = {"ksize": k, "stride": stride, "pad": pad}
    x, gy, count = image(rng, *shape), image(rng, *shape[:2], *size), bool(rng.random() < 0.5)
    (wide_x, wide_gy), (abs_x, abs_gy) = wide(x, gy), sizes(x, gy)
    y, kept = REFERENCE.max_pool_2d(wide_x, keep=True, **how)
    gx, near = (REFERENCE.max_pool_2d_grad(g, kept, shape, **how) for g in (wide_gy, abs_gy))
    share = rounding(k[0] * k[1])

    def both() -> tuple[np.ndarray, np.ndarray]:
        result, places = FAST.max_pool_2d(x, keep=True, **how)
        return result, FAST.max_pool_2d_grad(gy, places, shape, **how)

    checks = [
        Check("largest", lambda: FAST.max_pool_2d(x, keep=False, **how)[0], [(y, 0.0)]),
        Check("largest, kept, and by input", both, [(y, 0.0), (gx, share * near)]),
    ]
    mean = how | {"count_pad": count}
    y, near = (REFERENCE.average_pool_2d(a, **mean) for a in (wide_x, abs_x))
    checks.append(Check("mean", lambda: FAST.average_pool_2d(x, **mean), [(y, share * near)]))
    gx, near = (REFERENCE.average_pool_2d_grad(a, shape, **mean) for a in (wide_gy, abs_gy))
    checks.append(Check("mean by input", lambda: FAST.average_pool_2d_grad(gy, shape, **mean), [(gx, share * near)]))
    return Case(f"x {shape} {mean}", [x, gy], checks)


def _normalized(x: np.ndarray, gamma: np.ndarray, beta: np.ndarray, axes: tuple[int, ...]) -> tuple[list, tuple]:
    """What a normalization over `axes` gives (y, mean, var), with how far off; and ingredients of its gradient."""
    n = np.prod([x.shape[axis] for axis in axes])
    mean, var = x.mean(axes, keepdims=True), x.var(axes, keepdims=True)
    std, share = np.sqrt(var + _EPS), rounding(float(n))
    reach = (np.abs(x) + np.abs(mean)) / std
    y = gamma * (x - mean) / std + beta
    size = np.abs(gamma) * (np.abs(x) + np.abs(x).mean(axes, keepdims=True)) / std + np.abs(beta)
    near_var = share * (var + 2 * np.abs(x).mean(axes, keepdims=True) ** 2 + np.abs(x).mean(axes, keepdims=True))
    # an error of the variance shrinks or stretches y
    near = share * size + np.abs(y - beta) * near_var / (var + _EPS) / 2
    found = [(y, near), (mean, share * np.abs(x).mean(axes, keepdims=True)), (var, near_var)]
    return found, (mean, var, std, reach, share)


def _gradients(gy: np.ndarray, x: np.ndarray, gamma: np.ndarray, parts: tuple, axes: tuple, others: tuple) -> list:
    """gx, ggamma, gbeta of a normalization over `axes`, with how far off; parameters are summed over `others`."""
    mean, _, std, reach, share = parts
    z = (x - mean) / std
    g = gy * gamma
    gx = (g - g.mean(axes, keepdims=True) - z * (g * z).mean(axes, keepdims=True)) / std
    size = np.abs(g)
    size = (size + size.mean(axes, keepdims=True) + reach * (size * reach).mean(axes, keepdims=True)) / std
    n = float(np.prod([x.shape[axis] for axis in others]))
    more = rounding(n)
    return [
        (gx, 2 * share * size),
        ((gy * z).sum(others), 2 * more * (np.abs(gy) * reach).sum(others)),
        (gy.sum(others), more * np.abs(gy).sum(others)),
    ]


def batch_normalization(rng: np.random.Generator) -> Case:
    """Training, fixed statistics and gradients, each with and without the ReLU."""
    shape = _map_shape(rng, 24)
    shape = (shape[0] + 1, *shape[1:])
    x, gy = image(rng, *shape) + np.float32(rng.normal()), image(rng, *shape)
    gamma, beta = (rng.standard_normal(shape[1], np.float32) for _ in range(2))
    (wide_x, wide_gy), axes = wide(x, gy), (0, 2, 3)
    wide_gamma, wide_beta = (v.astype(np.float64)[:, None, None] for v in (gamma, beta))
    found, parts = _normalized(wide_x, wide_gamma, wide_beta, axes)
    (y, near), *statistics = found
    statistics = [(a.ravel(), np.ravel(b)) for a, b in statistics]
    mean, var = (a.astype(np.float32) for a, _ in statistics)
    grads = _gradients(wide_gy, wide_x, wide_gamma, parts, axes, axes)
    positive = np.maximum(y, 0), near
    # what lies so near to 0 that rounding decides may learn or not
    doubt = np.abs(y) <= near

    def rectified() -> tuple[np.ndarray, ...]:
        y, mean, var, mask = FAST.batch_norm_relu_train(x, gamma, beta, eps=_EPS)
        return (y, *FAST.batch_norm_relu_grad(gy, x, gamma, mean, var, mask, eps=_EPS))

    checks = [
        Check("train", lambda: FAST.batch_norm_train(x, gamma, beta, eps=_EPS), [(y, near), *statistics]),
        Check("fixed", lambda: FAST.batch_norm_fixed(x, gamma, beta, mean, var, eps=_EPS), [(y, near)]),
        Check("gradients", lambda: FAST.batch_norm_grad(gy, x, gamma, mean, var, eps=_EPS), grads),
        Check("relu, fixed", lambda: FAST.batch_norm_relu_fixed(x, gamma, beta, mean, var, eps=_EPS), [positive]),
    ]
    if not doubt.any():
        grads = _gradients(wide_gy * (y > 0), wide_x, wide_gamma, parts, axes, axes)
        checks.append(Check("relu, and gradients", rectified, [positive, *grads]))
    return Case(f"x {shape}", [x, gy, gamma, beta, mean, var], checks)


def layer_normalization(rng: np.random.Generator) -> Case:
    """Rows of a matrix, which group normalization is made of, too."""
    n, size = int(rng.integers(1, 60)), int(pick(rng, 2, 3, 7, 8, 16, 33, 64, 100, 257, 768))
    x, gy = (rng.standard_normal((n, size), np.float32) for _ in range(2))
    gamma, beta = (rng.standard_normal(size, np.float32) for _ in range(2))
    wide_x, wide_gy, wide_gamma, wide_beta = wide(x, gy, gamma, beta)
    found, parts = _normalized(wide_x, wide_gamma, wide_beta, (1,))
    found = [found[0], *((a.ravel(), np.ravel(b)) for a, b in found[1:])]
    mean, var = (a.astype(np.float32) for a, _ in found[1:])
    grads = _gradients(wide_gy, wide_x, wide_gamma, parts, (1,), (0,))
    checks = [
        Check("forward", lambda: FAST.layer_norm(x, gamma, beta, eps=_EPS), found),
        Check("gradients", lambda: FAST.layer_norm_grad(gy, x, gamma, mean, var, eps=_EPS), grads),
    ]
    return Case(f"x {x.shape}", [x, gy, gamma, beta, mean, var], checks)


def response_normalization(rng: np.random.Generator) -> Case:
    """local_response_norm over five channels, and its gradient."""
    shape = _map_shape(rng, 20)
    x, gy = image(rng, *shape), image(rng, *shape)
    how = {"n": 5, "k": pick(rng, 1.0, 2.0), "alpha": pick(rng, 1e-4, 1e-2), "beta": 0.75}
    (wide_x, wide_gy), (abs_x, abs_gy) = wide(x, gy), sizes(x, gy)
    y = REFERENCE.local_response_norm(wide_x, **how)
    gx = REFERENCE.local_response_norm_grad(wide_gy, wide_x, **how)
    straight = abs_gy * np.abs(y) / np.maximum(abs_x, 1e-300)
    size = 2 * straight - REFERENCE.local_response_norm_grad(abs_gy, abs_x, **how)
    checks = [
        Check("forward", lambda: FAST.local_response_norm(x, **how), [(y, _FUNCTION * np.abs(y))]),
        Check("by input", lambda: FAST.local_response_norm_grad(gy, x, **how), [(gx, _FUNCTION * size)]),
    ]
    return Case(f"x {shape} {how}", [x, gy], checks)


def functions(rng: np.random.Generator) -> Case:
    """An element-wise function, its gradients, sums and products, and a chain of them."""
    more = [("exp", 0.0, 0.0), ("log", 0.0, 0.0), ("sqrt", 0.0, 0.0), ("square", 0.0, 0.0), ("abs", 0.0, 0.0)]
    kind, alpha, beta = pick(rng, *ACTIVATIONS, *more, ("linear", 1.5, -0.5), ("softplus", 1.0, 0.0))
    shape = _map_shape(rng, 64)
    x, gy, other = (image(rng, *shape) for _ in range(3))
    gy, other = (np.ascontiguousarray(a.transpose(0, 2, 3, 1)).transpose(0, 3, 1, 2) for a in (gy, other))
    if kind in ("log", "sqrt"):
        x = np.abs(x) + np.float32(0.1)
    (wide_x, wide_gy, wide_other), numbers = wide(x, gy, other), {"alpha": alpha, "beta": beta}
    y = REFERENCE.eltwise(kind, wide_x, **numbers)
    gx = REFERENCE.eltwise_grad(kind, wide_gy, wide_x, **numbers)
    near = _FUNCTION * np.maximum(np.maximum(np.abs(y), np.abs(x)), 1)
    slope = _FUNCTION * np.abs(wide_gy) * np.maximum(np.abs(gx) / np.maximum(np.abs(wide_gy), 1e-30), 1)
    checks = [
        Check(kind, lambda: FAST.eltwise(kind, x, **numbers), [(y, near)]),
        Check(f"{kind} by input", lambda: FAST.eltwise_grad(kind, gy, x, **numbers), [(gx, slope)]),
    ]
    if kind in FROM_OUTPUT_KINDS:
        given = y.astype(np.float32)
        from_y = REFERENCE.eltwise_grad_from_output(kind, wide_gy, given.astype(np.float64), **numbers)
        run = functools.partial(FAST.eltwise_grad_from_output, kind, gy, given, **numbers)
        allowed = _FUNCTION * np.abs(wide_gy) * np.maximum(np.abs(from_y) / np.maximum(np.abs(wide_gy), 1e-30), 1)
        checks.append(Check(f"{kind} from output", run, [(from_y, allowed)]))
    vector = rng.standard_normal((1, shape[1], 1, 1), np.float32)
    total, product = wide_x + wide_other, wide_x * wide_other
    tiny = rounding(1) / 4
    checks += [
        Check("sum", lambda: FAST.add(x, other), [(total, tiny * np.abs(total))]),
        Check("sum, relu", lambda: FAST.add_relu(x, other), [(np.maximum(total, 0), tiny * np.abs(total))]),
        Check("product", lambda: FAST.multiply(x, other), [(product, tiny * np.abs(product))]),
        Check(
            "product by channel", lambda: FAST.multiply(x, vector), [(wide_x * vector, tiny * np.abs(wide_x * vector))]
        ),
    ]
    steps = [("multiply",), ("relu", 0.0, 0.0), ("add",), ("sigmoid", 0.0, 0.0)]
    through = REFERENCE.chain(wide_x, steps, wide(vector, other))
    checks.append(Check("chain", lambda: FAST.chain(x, steps, [vector, other]), [(through, _FUNCTION)]))
    return Case(f"x {shape} {kind}", [x, gy, other, vector], checks)


def softmaxes(rng: np.random.Generator) -> Case:
    """softmax and log_softmax along any axis, and their gradients."""
    shape = pick(rng, _map_shape(rng, 30), (int(rng.integers(1, 40)), int(pick(rng, 10, 1000, 4096, 5000))))
    x, axis = rng.standard_normal(shape, np.float32) * 3, int(rng.integers(1, len(shape)))
    if x.ndim == 4 and rng.random() < 0.8:
        x = FAST.channels_last(x)
    gy = np.empty_like(x)
    gy[...] = rng.standard_normal(shape)
    wide_gy, share = wide(gy)[0], rounding(shape[axis]) + _FUNCTION
    checks = []
    for name, forward, backward in (
        ("softmax", "softmax", "softmax_grad"),
        ("its logarithm", "log_softmax", "log_softmax_grad"),
    ):
        y = getattr(REFERENCE, forward)(wide(x)[0], axis=axis)
        near = share * (np.abs(y) * (1 + np.abs(x)) if name == "softmax" else np.abs(y) + np.abs(x) + 1)
        given = np.empty_like(x)
        given[...] = y
        exact = given.astype(np.float64)
        gx = getattr(REFERENCE, backward)(wide_gy, exact, axis=axis)
        if name == "softmax":
            size = exact * (np.abs(wide_gy) + (exact * np.abs(wide_gy)).sum(axis, keepdims=True))
        else:
            size = np.abs(wide_gy) + np.exp(exact) * np.abs(wide_gy).sum(axis, keepdims=True)
        checks.append(Check(name, functools.partial(getattr(FAST, forward), x, axis=axis), [(y, near)]))
        run = functools.partial(getattr(FAST, backward), gy, given, axis=axis)
        checks.append(Check(f"{name} by input", run, [(gx, share * size)]))
    return Case(f"x {shape} axis {axis}", [x, gy], checks)


def resizing(rng: np.random.Generator) -> Case:
    """resize_2d and its gradient."""
    shape = _map_shape(rng, 24)
    size = pick(
        rng, (2 * shape[2], 2 * shape[3]), (4 * shape[2], 4 * shape[3]), tuple(int(n) for n in rng.integers(1, 48, 2))
    )
    mode = pick(rng, "nearest", "bilinear", "bilinear")
    how = {"mode": mode, "align_corners": mode == "bilinear" and bool(rng.random() < 0.3), "antialias": False}
    x, gy = image(rng, *shape), image(rng, *shape[:2], *size)
    (wide_x, wide_gy), abs_gy = wide(x, gy), sizes(gy)[0]
    y, gx = REFERENCE.resize_2d(wide_x, size, **how), REFERENCE.resize_2d_grad(wide_gy, shape[2:], **how)
    # the place of a pixel is known to 6e-6 of one; each pixel of x hears of so many of the result
    number = max(size[0] / shape[2], 1) * max(size[1] / shape[3], 1) * 4
    near = 0.0 if mode == "nearest" else 3e-5 * np.abs(x).max()
    near_gx = (rounding(number) if mode == "nearest" else 3e-5) * number * abs_gy.max()
    checks = [
        Check("forward", lambda: FAST.resize_2d(x, size, **how), [(y, near)]),
        Check("by input", lambda: FAST.resize_2d_grad(gy, shape[2:], **how), [(gx, near_gx)]),
    ]
    return Case(f"x {shape} to {size} {how}", [x, gy], checks)


def moving(rng: np.random.Generator) -> Case:
    """concat, channels_last and reshaped: the numbers themselves, elsewhere."""
    b, c, h, w = _map_shape(rng, 48)
    parts = [image(rng, b, channel_number(rng), h, w) for _ in range(int(rng.integers(2, 5)))]
    plain = rng.standard_normal((b, c, h, w), np.float32)
    last = FAST.channels_last(plain).transpose(0, 2, 3, 1)
    steps = pick(rng, 1, 2), pick(rng, 1, 2, 3)
    stepped = rng.standard_normal((b, c, h * steps[0], w * steps[1]), np.float32)[:, :, :: steps[0], :: steps[1]]
    checks = [
        Check("concat", lambda: FAST.concat(parts, axis=1), [(np.concatenate(wide(*parts), 1), 0.0)]),
        Check("channels last", lambda: FAST.channels_last(stepped), [(stepped.astype(np.float64), 0.0)]),
        Check(
            "reshaped",
            lambda: FAST.reshaped(last.transpose(0, 3, 1, 2), (b, -1)),
            [(wide(plain)[0].reshape(b, -1), 0.0)],
        ),
    ]
    return Case(f"parts {[p.shape for p in parts]} x {plain.shape}", [*parts, plain], checks)
