"""darknet's layers that change height and width without weights: [maxpool], [avgpool], [upsample], [reorg]."""

import functools

import cvzoo.functions as F
from cvzoo.autodiff.variable import Variable
from cvzoo.links.model.darknet.layer import DarknetLayer, Shape, check_fits, get_size, refuse_options
from cvzoo.typing.aliases import Array
from cvzoo.weights.formats.darknet import DarknetSection


def build_maxpool(section: DarknetSection, index: int, shape: Shape) -> DarknetLayer:
    """Max pooling; by default the total padding is size - 1, of which the smaller half is at the top and left."""
    refuse_options(section, "maxpool_depth", "antialiasing")
    stride = get_size(section, "stride", 1, most=255)
    stride_y, stride_x = (
        get_size(section, "stride_y", stride, most=255),
        get_size(section, "stride_x", stride, most=255),
    )
    ksize = get_size(section, "size", stride, most=255)
    pad = section.get_int("padding", ksize - 1)
    if not 0 <= pad <= 2 * ksize - 2:  # a window must contain more than padding
        raise section.error(f"padding={pad} must lie in 0 .. {2 * ksize - 2}", option="padding")
    channels, height, width = shape
    size = (height + pad - ksize) // stride_y + 1, (width + pad - ksize) // stride_x + 1
    before, after = pad // 2, pad - pad // 2
    run = functools.partial(
        F.max_pooling_2d,
        ksize=ksize,
        stride=(stride_y, stride_x),
        pad=(before, after, before, after),
        cover_all=False,
    )
    return DarknetLayer(section, (index - 1,), run, check_fits(section, (channels, *size)))


def build_avgpool(section: DarknetSection, index: int, shape: Shape) -> DarknetLayer:
    """The mean over height and width: (B, C, 1, 1)."""
    return DarknetLayer(section, (index - 1,), global_mean, (shape[0], 1, 1))


def global_mean(x: Variable | Array) -> Variable:
    """(B, C, 1, 1) of x (B, C, H, W)."""
    y = F.global_average_pooling_2d(x)
    return F.reshape(y, (*x.shape[:2], 1, 1))


def build_upsample(section: DarknetSection, index: int, shape: Shape) -> DarknetLayer:
    """Nearest-neighbor upsampling by `stride`."""
    stride = section.get_int("stride", 2)
    if not 1 <= stride <= 255:
        raise section.error(f"stride={stride} must lie in 1 .. 255", option="stride")
    channels, height, width = shape
    factor = section.get_float("scale", 1.0)
    run = functools.partial(enlarge, stride=stride, factor=factor)
    return DarknetLayer(section, (index - 1,), run, (channels, height * stride, width * stride))


def enlarge(x: Variable | Array, *, stride: int, factor: float = 1.0) -> Variable:
    """(B, C, H * stride, W * stride): x (B, C, H, W), upsampled by the nearest neighbor, times `factor`."""
    height, width = x.shape[2:]
    y = F.resize_images(x, (height * stride, width * stride), mode="nearest")
    return y if factor == 1 else y * factor


def build_reorg(section: DarknetSection, index: int, shape: Shape) -> DarknetLayer:
    """Space-to-depth in darknet's own order; with reverse=1 depth-to-space."""
    refuse_options(section, "flatten", "extra")
    stride = get_size(section, "stride", 1, most=255)
    channels, height, width = shape
    if section.get_bool("reverse", False):
        if channels % stride**2:
            raise section.error(f"{channels} channels do not divide by stride^2={stride**2}")
        out = channels // stride**2, height * stride, width * stride
        return DarknetLayer(section, (index - 1,), functools.partial(unreorg, stride=stride), out)
    if height % stride or width % stride or channels % stride**2:
        raise section.error(f"{shape} (C, H, W) does not divide by stride={stride}")
    out = channels * stride**2, height // stride, width // stride
    return DarknetLayer(section, (index - 1,), functools.partial(reorg, stride=stride), out)


def reorg(x: Variable | Array, *, stride: int = 2) -> Variable:
    """(B, C * s^2, H / s, W / s) of x (B, C, H, W), in darknet's order.

    darknet interprets x as (C / s^2, H * s, W * s), applies space-to-depth to it, and interprets the result as
    (C * s^2, H / s, W / s), which is not the usual space-to-depth; the networks were trained with it.
    Source: darknet's `reorg_cpu` with forward=0.
    """
    batch, channels, height, width = x.shape
    s = stride
    h = F.reshape(x, (batch, channels // s**2, height, s, width, s))
    h = F.transpose(h, (0, 3, 5, 1, 2, 4))
    return F.reshape(h, (batch, channels * s**2, height // s, width // s))


def unreorg(x: Variable | Array, *, stride: int = 2) -> Variable:
    """(B, C / s^2, H * s, W * s) of x (B, C, H, W): `reorg_cpu` with forward=1."""
    batch, channels, height, width = x.shape
    s = stride
    h = F.reshape(x, (batch, s, s, channels // s**2, height, width))
    h = F.transpose(h, (0, 3, 4, 1, 5, 2))
    return F.reshape(h, (batch, channels // s**2, height * s, width * s))
