"""Names and shapes in gluon-cv's files of DeepLabV3, FCN and PSPNet, of any width."""


def segmenter(head, *, counts=(3, 4, 23, 3), base=64, n_class=21):
    """head: "deeplab", "fcn" or "psp"; name -> shape."""
    shapes = {}
    _conv(shapes, "conv1.0", 3, base, 3)
    _norm(shapes, "conv1.1", base)
    _conv(shapes, "conv1.3", base, base, 3)
    _norm(shapes, "conv1.4", base)
    _conv(shapes, "conv1.6", base, 2 * base, 3)
    _norm(shapes, "bn1", 2 * base)
    n_in = 2 * base
    for stage, count in enumerate(counts):
        middle = base * 2**stage
        for k in range(count):
            block = f"layer{stage + 1}.{k}"
            for i, (a, b, ksize) in enumerate(((n_in, middle, 1), (middle, middle, 3), (middle, 4 * middle, 1)), 1):
                _conv(shapes, f"{block}.conv{i}", a, b, ksize)
                _norm(shapes, f"{block}.bn{i}", b)
            if k == 0:
                _conv(shapes, f"{block}.downsample.0", n_in, 4 * middle, 1)
                _norm(shapes, f"{block}.downsample.1", 4 * middle)
            n_in = 4 * middle
    if head == "deeplab":
        wide = 4 * base
        parts = {"concurent.0.0": 1, "concurent.1.0": 3, "concurent.2.0": 3, "concurent.3.0": 3, "concurent.4.gap.1": 1}
        for name, ksize in parts.items():
            _conv(shapes, f"head.aspp.{name}", n_in, wide, ksize)
            where, _, i = name.rpartition(".")
            _norm(shapes, f"head.aspp.{where}.{int(i) + 1}", wide)
        _conv(shapes, "head.aspp.project.0", 5 * wide, wide, 1)
        _norm(shapes, "head.aspp.project.1", wide)
        _block(shapes, "head", wide, wide, n_class)
    elif head == "psp":
        for i in (1, 2, 3, 4):
            _conv(shapes, f"head.psp.conv{i}.0", n_in, n_in // 4, 1)
            _norm(shapes, f"head.psp.conv{i}.1", n_in // 4)
        _block(shapes, "head", 2 * n_in, n_in // 4, n_class)
    else:
        _block(shapes, "head", n_in, n_in // 4, n_class)
    _block(shapes, "auxlayer", n_in // 2, n_in // 8, n_class)
    return shapes


def _block(shapes, name, n_in, middle, n_class):
    _conv(shapes, f"{name}.block.0", n_in, middle, 3)
    _norm(shapes, f"{name}.block.1", middle)
    _conv(shapes, f"{name}.block.4", middle, n_class, 1)
    shapes[f"{name}.block.4.bias"] = (n_class,)


def _conv(shapes, name, n_in, n_out, ksize):
    shapes[f"{name}.weight"] = (n_out, n_in, ksize, ksize)


def _norm(shapes, name, n):
    shapes.update({f"{name}.{leaf}": (n,) for leaf in ("gamma", "beta", "running_mean", "running_var")})
