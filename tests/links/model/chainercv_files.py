"""Names and shapes in ChainerCV's files of segmenters, of any width, and values that the names seed."""

import math
import zlib

import numpy as np

# the ends of residual blocks and of the networks: sums would grow, and a softmax of large scores has only 0 and 1
_SMALL = ("conv3/bn/gamma", "separable3/pw_bn/gamma", "conv_classifier/W", "head_conv2/W")


def seeded(shapes):
    """name -> values, small enough that deep networks do not blow up."""
    arrays = {}
    for name, shape in shapes.items():
        rng = np.random.Generator(np.random.PCG64(zlib.crc32(name.encode())))
        leaf = name.rpartition("/")[2]
        if leaf == "N":
            arrays[name] = np.zeros((), np.int64)
            continue
        normal = rng.standard_normal(shape, dtype=np.float32)
        arrays[name] = {
            "W": np.float32(math.sqrt(2 / max(1, np.prod(shape[1:])))) * normal,
            "gamma": 1 + np.float32(0.1) * normal,
            "avg_var": np.float32(0.5) + normal**2,
        }.get(leaf, np.float32(0.1) * normal)
        if any(part in name for part in _SMALL):
            arrays[name] = arrays[name] * np.float32(0.05)
    return arrays


def segnet(channels=64, n_class=11):
    """Of SegNetBasic."""
    shapes = {}
    for i in (1, 2, 3, 4):
        shapes[f"conv{i}/W"] = (channels, 3 if i == 1 else channels, 7, 7)
        _norm(shapes, f"conv{i}_bn", channels)
        shapes[f"conv_decode{i}/W"] = (channels, channels, 7, 7)
        _norm(shapes, f"conv_decode{i}_bn", channels)
    _conv(shapes, "conv_classifier", channels, n_class, 1)
    return shapes


def deeplab_v3_plus(width=1.0, middle_blocks=16, n_class=21):
    """Of DeepLabV3plusXception65."""
    shapes = {}
    c = {n: int(n * width) for n in (32, 48, 64, 128, 256, 728, 1024, 1536, 2048)}
    flow = "feature_extractor"
    _conv_norm(shapes, f"{flow}/entryflow_conv1", 3, c[32], 3)
    _conv_norm(shapes, f"{flow}/entryflow_conv2", c[32], c[64], 3)
    blocks = [
        ("entryflow_block1", (64, 128, 128, 128), True),
        ("entryflow_block2", (128, 256, 256, 256), True),
        ("entryflow_block3", (256, 728, 728, 728), True),
        *((f"middleflow_block{i + 1}", (728,) * 4, False) for i in range(middle_blocks)),
        ("exitflow_block1", (728, 728, 1024, 1024), True),
        ("exitflow_block2", (1024, 1536, 1536, 2048), False),
    ]
    for name, widths, has_conv in blocks:
        sizes = [c[n] for n in widths]
        for i in range(3):
            _separable(shapes, f"{flow}/{name}/separable{i + 1}", sizes[i], sizes[i + 1])
        if has_conv:
            _conv_norm(shapes, f"{flow}/{name}/conv", sizes[0], sizes[3], 1)
    _conv_norm(shapes, "aspp/image_pooling_conv", c[2048], c[256], 1)
    _conv_norm(shapes, "aspp/conv1x1", c[2048], c[256], 1)
    for i in (1, 2, 3):
        _separable(shapes, f"aspp/atrous{i}", c[2048], c[256])
    _conv_norm(shapes, "aspp/proj", 5 * c[256], c[256], 1)
    _conv_norm(shapes, "decoder/feature_proj", c[256], c[48], 1)
    _separable(shapes, "decoder/conv1", c[256] + c[48], c[256])
    _separable(shapes, "decoder/conv2", c[256], c[256])
    _conv(shapes, "decoder/conv_logits", c[256], n_class, 1)
    return shapes


def dilated_resnet(counts=(3, 4, 6, 3), base=64):
    """Of PSPNet's backbone."""
    shapes = {}
    for i, (n_in, n_out) in enumerate(((3, base), (base, base), (base, 2 * base)), 1):
        _conv_norm(shapes, f"conv1_{i}", n_in, n_out, 3)
    n_in = 2 * base
    for stage, count in enumerate(counts):
        middle = base * 2**stage
        for k in range(count):
            block = f"res{stage + 2}/" + ("a" if k == 0 else f"b{k}")
            _conv_norm(shapes, f"{block}/conv1", n_in, middle, 1)
            _conv_norm(shapes, f"{block}/conv2", middle, middle, 3)
            _conv_norm(shapes, f"{block}/conv3", middle, 4 * middle, 1)
            if k == 0:
                _conv_norm(shapes, f"{block}/residual_conv", n_in, 4 * middle, 1)
            n_in = 4 * middle
    return shapes


def pspnet(counts=(3, 4, 6, 3), base=64, n_class=19):
    """Of PSPNet."""
    shapes = {f"extractor/{name}": shape for name, shape in dilated_resnet(counts, base).items()}
    last = 32 * base
    for i in range(4):
        _conv_norm(shapes, f"ppm/{i}", last, last // 4, 1)
    _conv_norm(shapes, "head_conv1", 2 * last, last // 4, 3)
    _conv(shapes, "head_conv2", last // 4, n_class, 1)
    return shapes


def _norm(shapes, name, n):
    shapes.update({f"{name}/{leaf}": (n,) for leaf in ("gamma", "beta", "avg_mean", "avg_var")})
    shapes[f"{name}/N"] = ()


def _conv(shapes, name, n_in, n_out, ksize):
    shapes[f"{name}/W"] = (n_out, n_in, ksize, ksize)
    shapes[f"{name}/b"] = (n_out,)


def _conv_norm(shapes, name, n_in, n_out, ksize):
    shapes[f"{name}/conv/W"] = (n_out, n_in, ksize, ksize)
    _norm(shapes, f"{name}/bn", n_out)


def _separable(shapes, name, n_in, n_out):
    shapes[f"{name}/depthwise/W"] = (n_in, 1, 3, 3)
    _norm(shapes, f"{name}/dw_bn", n_in)
    shapes[f"{name}/pointwise/W"] = (n_out, n_in, 1, 1)
    _norm(shapes, f"{name}/pw_bn", n_out)
