"""Speed of every distinct convolution and matrix product of the zoo, with AVX2 and AVX-512, GFLOP/s of one thread.

    python benchmarks/layer_shapes.py [--batches 1 8] [--seconds 0.03] [--out benchmarks/results/FILE.json]

Shapes are collected from a forward pass of each network in which no heavy kernel runs. Each is then measured alone, by
CPU time, the fastest run in `--seconds` (at least two), with weights that are prepared already: oneDNN's kernel, and of
3x3 convolutions also the one that inference takes ("ours"). A row's `of_neighbors` is its speed divided by the median
of its eight nearest neighbors: layers of the same kind whose channels and pixels differ least. What is below one half
is printed.
"""

import argparse
import json
import math
import os
import statistics
import subprocess
import sys
import time
from typing import Any

import numpy as np
from side_by_side import write_results

NETWORKS = {  # by the side or sides of their images
    224: (
        *("AlexNet", "VGG16", "GoogLeNet", "SqueezeNet1_0", "SqueezeNet1_1", "DenseNet121"),
        *("ResNet18", "ResNet50", "WideResNet50_2", "ResNeXt50_32x4d", "ResNeXt101_32x8d", "SEResNet50"),
        *("RegNetX1_6GF", "RegNetX8GF", "RegNetY1_6GF", "RegNetY8GF", "MNASNet1_0", "ShuffleNetV2X1_0"),
        *(
            "ShuffleNetV2X2_0",
            "MobileNetV2",
            "MobileNetV3Small",
            "MobileNetV3Large",
            "EfficientNetB0",
            "EfficientNetB1",
        ),
        *("ConvNeXtTiny", "ConvNeXtBase", "ViTB16", "ViTB32", "ViTL16", "SwinT", "SwinB", "SwinV2T"),
    ),
    299: ("InceptionV3",),
    384: ("EfficientNetV2S",),
    300: ("SSD300",),
    320: ("SSDLite320MobileNetV3Large",),
    512: ("SSD512",),
    416: ("YOLOv2", "YOLOv2Tiny", "YOLOv3"),
    513: ("DeepLabV3ResNet50", "FCNResNet50", "LRASPPMobileNetV3Large", "PSPNetResNet50"),
    (800, 1088): ("retinanet_resnet50_fpn", "FCOSResNet50FPN"),
}
DETECTORS = (
    *("SSD300", "SSD512", "SSDLite320MobileNetV3Large", "YOLOv2", "YOLOv2Tiny", "YOLOv3"),
    *("retinanet_resnet50_fpn", "FCOSResNet50FPN"),
)
ISAS = {"AVX2": {"ONEDNN_MAX_CPU_ISA": "AVX2", "CVZOO_NATIVE": "avx2"}, "AVX-512": {}}
THREADS = {"OMP_NUM_THREADS": "1", "CVZOO_NUM_THREADS": "1"}
Layer = tuple[str, tuple[int, ...], tuple[int, ...], tuple]  # kind, shapes of x and of the weights, window


def collected(batch: int) -> dict[Layer, list[str]]:
    """The layers of the networks with the networks that have them, in the order in which they are found."""
    import cvzoo.links as L
    from cvzoo.autodiff.function_hook import AbstractFunctionHook
    from cvzoo.config import no_backprop_mode, using_config
    from cvzoo.graph.idle_pass import idle_pass

    found: dict[Layer, list[str]] = {}

    class Shapes(AbstractFunctionHook):
        name = ""
        in_backward = trains = False

        def forward_preprocess(self, function: Any, in_data: tuple) -> None:
            window = getattr(function, "_window", None) or getattr(function, "_settings", None)
            label = type(function).__name__
            if label in ("Convolution2D", "FusedConvolution2D"):
                layer = "conv", in_data[0].shape, in_data[1].shape, tuple(window[k] for k in _WINDOW)
            elif label in ("Linear", "MatMul", "FusedMatMul"):
                turned = getattr(function, "transa", False), getattr(function, "transb", False)
                layer = label.lower(), in_data[0].shape, in_data[1].shape, turned
            else:
                return
            names = found.setdefault(layer, [])
            if self.name not in names:
                names.append(self.name)

    shapes = Shapes()
    for side, names in NETWORKS.items():
        size = side if isinstance(side, tuple) else (side, side)
        for shapes.name in names:
            make = getattr(L, shapes.name)
            is_detector = shapes.name in DETECTORS
            model = make(**({"n_fg_class": 20} if is_detector else {"n_class": 20 if side == 513 else 1000}))
            x = np.zeros((batch, 3, *size), np.float32)
            with using_config("train", False), no_backprop_mode(), shapes, idle_pass(shapes):
                model(x)
    return found


_WINDOW = ("stride", "pad", "dilate", "groups")


def kind_of(layer: Layer) -> str:
    """Layers of one kind are neighbors."""
    kind, _, w, window = layer
    if kind != "conv":
        return "product"
    stride, _, dilate, groups = window
    grouped = "depthwise " if groups > 1 and w[1] == 1 else "grouped " if groups > 1 else ""
    return f"{grouped}{w[2]}x{w[3]}{' stride 2' if max(stride) > 1 else ''}{' dilated' if max(dilate) > 1 else ''}"


def flops(layer: Layer) -> tuple[float, tuple[float, ...]]:
    """Operations, and what the distance to neighbors is measured in: logarithms of rows, inputs and outputs."""
    from cvzoo.shapes.sizes import conv_out_size

    kind, x, w, window = layer
    if kind == "conv":
        stride, pad, dilate, _ = window
        size = [conv_out_size(x[2 + k], w[2 + k], stride[k], pad[2 * k], pad[2 * k + 1], dilate[k]) for k in (0, 1)]
        rows, inputs, outputs = x[0] * math.prod(size), math.prod(w[1:]), w[0]
    elif kind.startswith("linear"):
        rows, inputs, outputs = x[0], w[1], w[0]
    else:
        x, w = (shape[:-2] + shape[-2:][:: -1 if turned else 1] for shape, turned in zip((x, w), window))
        rows, inputs, outputs = math.prod(x[:-1]), x[-1], w[-1]
    return 2.0 * rows * inputs * outputs, tuple(math.log2(n) for n in (rows, inputs, outputs))


def speed(layer: Layer, seconds: float, winograd: str) -> float:
    """GFLOP/s."""
    import cvzoo.functions as F
    import cvzoo.links as L
    from cvzoo.config import no_backprop_mode, using_config

    kind, x_shape, w_shape, window = layer
    generator = np.random.default_rng(0)
    x, w = (generator.standard_normal(shape, np.float32) for shape in (x_shape, w_shape))
    with using_config("train", False), no_backprop_mode(), using_config("winograd", winograd):
        if kind == "conv":
            stride, pad, dilate, groups = window
            x = np.ascontiguousarray(x.transpose(0, 2, 3, 1)).transpose(0, 3, 1, 2)
            size = w_shape[1] * groups, *w_shape[:1], w_shape[2:], stride, pad
            link = L.Convolution2D(*size, nobias=True, initialW=w, dilate=dilate, groups=groups)
        elif kind.startswith("linear"):
            link = L.Linear(w_shape[1], w_shape[0], nobias=True, initialW=w)
        else:

            def link(x):
                return F.matmul(x, w, *window)

        link(x)
        times = []
        while len(times) < 2 or sum(times) < seconds:
            start = time.process_time()
            link(x)
            times.append(time.process_time() - start)
    return flops(layer)[0] / max(min(times), 1e-9) / 1e9


def serve(batches: list[int], seconds: float) -> None:
    for batch in batches:
        for layer, names in collected(batch).items():
            row: dict[str, Any] = {"batch": batch, "kind": kind_of(layer), "layer": layer, "networks": names[:4]}
            row["onednn"] = round(speed(layer, seconds, "never"), 2)
            if row["kind"] == "3x3":
                row["ours"] = round(speed(layer, seconds, "auto"), 2)
            print(json.dumps(row), flush=True)


def with_neighbors(rows: list[dict]) -> list[dict]:
    """The rows with their speed divided by that of their neighbors."""
    where = {id(row): flops(row["layer"])[1] for row in rows}
    for row in rows:
        mine = where[id(row)]
        alike = [other for other in rows if (other["kind"], other["batch"]) == (row["kind"], row["batch"])]
        near = sorted(alike, key=lambda other: math.dist(mine, where[id(other)]))[1:9]
        taken = [max(other["onednn"], other.get("ours", 0)) for other in near]
        ratio = max(row["onednn"], row.get("ours", 0)) / statistics.median(taken) if taken else 1.0
        row["of_neighbors"] = round(ratio, 2)
    return rows


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--batches", type=int, nargs="*", default=[1, 8])
    parser.add_argument("--seconds", type=float, default=0.03, help="of each kernel")
    parser.add_argument("--isas", nargs="*", default=list(ISAS), choices=ISAS)
    parser.add_argument("--out", help="write a JSON file of results")
    parser.add_argument("--serve", action="store_true", help=argparse.SUPPRESS)
    a = parser.parse_args()
    if a.serve:
        return serve(a.batches, a.seconds)
    results = []
    for isa in a.isas:
        command = [sys.executable, __file__, "--serve", "--seconds", str(a.seconds), "--batches", *map(str, a.batches)]
        done = subprocess.run(
            command, env={**os.environ, **THREADS, **ISAS[isa]}, stdout=subprocess.PIPE, text=True, check=True
        )
        rows = with_neighbors([json.loads(line) for line in done.stdout.splitlines()])
        print(f"{isa}: {len(rows)} layers")
        for row in sorted(rows, key=lambda row: row["of_neighbors"]):
            if row["of_neighbors"] < 0.5:
                print(row)
        results += [{"isa": isa, **row} for row in rows]
    if a.out:
        import cvzoo

        versions = {"cvzoo": cvzoo.__version__, "numpy": np.__version__, "threads": "1"}
        write_results(a.out, title="GFLOP/s of every layer of the zoo", rows=results, versions=versions, notes=__doc__)


if __name__ == "__main__":
    main()
