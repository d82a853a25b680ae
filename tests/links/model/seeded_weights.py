"""Values for a network of torchvision that every tensor's name seeds, so that no file of weights is needed."""

import json
import math
import zlib

import numpy as np

from cvzoo.config.switches import no_backprop_mode, using_config

_SMALL = ("cls_logits", "bbox_pred", "bbox_reg", "mask_fcn_logits", "module_list", "cls_score")


def seeded(name, shape):
    """The values of one tensor of torchvision's `state_dict`."""
    rng = np.random.Generator(np.random.PCG64(zlib.crc32(name.encode())))
    if name.endswith("num_batches_tracked"):
        return np.zeros((), np.int64)
    if name.endswith("running_var"):
        small = np.float32(0.02 if "module_list" in name else 1)
        return (np.float32(0.5) + rng.random(shape, dtype=np.float32)) * small
    normal = rng.standard_normal(shape, dtype=np.float32)
    if len(shape) >= 2:
        array = np.float32(math.sqrt(2 / np.prod(shape[1:]))) * normal
    elif name.endswith(("running_mean", "bias")):
        array = np.float32(0.1) * normal
    elif name.endswith("scale_weight"):
        array = np.full(shape, 20, np.float32)
    else:
        array = 1 + np.float32(0.1) * normal
    if any(part in name for part in _SMALL):
        array = array * np.float32(0.1 if "cls_score" in name else 0.02)
    return array * np.float32(0.25) if name.endswith("bn3.weight") else array


def manifest(shared, name):
    """name -> shape of every tensor of torchvision's network."""
    keys = json.loads((shared / "reference" / "torchvision_statedict_manifest.json").read_text())[name]["keys"]
    return {key: tuple(shape) for key, shape, _ in keys}


def seeded_network(shared, name):
    """name -> values of every tensor of torchvision's network."""
    return {key: seeded(key, shape) for key, shape in manifest(shared, name).items()}


def empty_network(shared, name):
    """name -> an array of the tensor's shape that takes no memory, for tests of names and shapes."""
    return {key: np.broadcast_to(np.float32(0), shape) for key, shape in manifest(shared, name).items()}


def golden(shared, section, name):
    """What torchvision made of the seeded network."""
    return json.loads((shared / "reference" / "torchvision_golden.json").read_text())[section][name]


def assert_scores_equal(y, want):
    """The scores (1, n_class) are the golden ones, within 1e-4 of their spread."""
    spread = want["out"]["std"]
    np.testing.assert_allclose(y[0, :8], want["first8"], atol=1e-4 * spread)
    assert y.argmax() == want["argmax"]
    got = np.array([y.mean(dtype=np.float64), y.std(dtype=np.float64, ddof=1), y.min(), y.max()])
    np.testing.assert_allclose(got, [want["out"][k] for k in ("mean", "std", "min", "max")], atol=2e-4 * spread)


def assert_photo_scores_equal(model, want):
    """The model's scores of the seeded photo that the golden entry names are the golden ones."""
    with using_config("train", False), no_backprop_mode():
        y = model(seeded_photo(*want["input"])[None]).array
    assert_scores_equal(y, want)


def seeded_photo(name, height, width):
    """(3, H, W) float32 in [0, 1]."""
    rng = np.random.Generator(np.random.PCG64(zlib.crc32(name.encode())))
    return rng.random((3, height, width), dtype=np.float32)


def torchvision_names(n_fg_class, *, blocks=(2, 2, 2, 2), extra_from="P5"):
    """(name, shape) of a RetinaNet on a ResNet of two-convolution blocks, and a head of four plain convolutions."""
    names = []

    def norm(name, n):
        leaves = ("weight", "bias", "running_mean", "running_var")
        names.extend((f"{name}.{leaf}", (n,)) for leaf in leaves)
        names.append((f"{name}.num_batches_tracked", ()))

    def conv(name, n_out, n_in, ksize):
        names.extend([(f"{name}.weight", (n_out, n_in, ksize, ksize)), (f"{name}.bias", (n_out,))])

    names.append(("backbone.body.conv1.weight", (64, 3, 7, 7)))
    norm("backbone.body.bn1", 64)
    n_in = 64
    for stage, count in enumerate(blocks):
        n = 64 * 2**stage
        for i in range(count):
            block = f"backbone.body.layer{stage + 1}.{i}"
            names.append((f"{block}.conv1.weight", (n, n_in, 3, 3)))
            norm(f"{block}.bn1", n)
            names.append((f"{block}.conv2.weight", (n, n, 3, 3)))
            norm(f"{block}.bn2", n)
            if n_in != n:
                names.append((f"{block}.downsample.0.weight", (n, n_in, 1, 1)))
                norm(f"{block}.downsample.1", n)
            n_in = n
    for i, n in enumerate((128, 256, 512)):
        conv(f"backbone.fpn.inner_blocks.{i}.0", 256, n, 1)
        conv(f"backbone.fpn.layer_blocks.{i}.0", 256, 256, 3)
    conv("backbone.fpn.extra_blocks.p6", 256, 256 if extra_from == "P5" else 512, 3)
    conv("backbone.fpn.extra_blocks.p7", 256, 256, 3)
    for head, last, n in (("classification", "cls_logits", 9 * n_fg_class), ("regression", "bbox_reg", 36)):
        for i in range(4):
            conv(f"head.{head}_head.conv.{i}.0", 256, 256, 3)
        conv(f"head.{head}_head.{last}", n, 256, 3)
    return names
