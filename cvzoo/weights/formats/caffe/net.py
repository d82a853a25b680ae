"""A Caffe network: its layers with their parameters and blobs, from a `.prototxt`, a `.caffemodel` or both."""

import dataclasses
import os
from collections.abc import Sequence

import numpy as np

from cvzoo.errors.exceptions import FileError, FileFormatError, WeightsMismatchError
from cvzoo.weights.formats.caffe.caffemodel import read_caffemodel
from cvzoo.weights.formats.caffe.prototxt import read_prototxt

# layers that need blobs, and the parameter that is the first size of the first blob
WITH_BLOBS = {
    "Convolution": ("convolution_param", "num_output"),
    "Deconvolution": None,  # its blob is (in, out / group, h, w)
    "InnerProduct": ("inner_product_param", "num_output"),
    "BatchNorm": None,
    "PReLU": None,
    "Normalize": None,
}


@dataclasses.dataclass(frozen=True)
class CaffeLayer:
    """One layer.

    type: as registered in Caffe's C++, such as "Convolution"; the old enumeration is mapped to these
    bottoms, tops: names of its input and output blobs
    params: message name, such as "convolution_param", -> fields as in caffe.proto; an omitted field is missing (Caffe's
        default applies); a repeated field is a list, an enumeration its name
    blobs: its weights, float32, as stored, so before 2014 always with four axes
    include, exclude: the rules for the phases in which it runs, each as in NetStateRule
    phase: "TRAIN", "TEST" or None
    loss_weights: one for each top, or none
    line: of its begin in the prototxt, or None
    """

    name: str
    type: str
    bottoms: tuple[str, ...] = ()
    tops: tuple[str, ...] = ()
    params: dict[str, dict] = dataclasses.field(default_factory=dict)
    blobs: tuple[np.ndarray, ...] = ()
    include: tuple[dict, ...] = ()
    exclude: tuple[dict, ...] = ()
    phase: str | None = None
    loss_weights: tuple[float, ...] = ()
    line: int | None = None

    def __str__(self) -> str:
        return f"{self.type} layer {self.name!r}" + (f" at line {self.line}" if self.line is not None else "")

    def runs_in(self, phase: str, *, level: int = 0, stages: Sequence[str] = ()) -> bool:
        """Whether the layer is part of the network in the phase, "TRAIN" or "TEST", according to its rules."""
        if self.phase is not None and self.phase != phase:
            return False
        if self.include:
            return any(_meets(rule, phase, level, stages) for rule in self.include)
        return not any(_meets(rule, phase, level, stages) for rule in self.exclude)


def _meets(rule: dict, phase: str, level: int, stages: Sequence[str]) -> bool:
    return (
        rule.get("phase", phase) == phase
        and rule.get("min_level", level) <= level <= rule.get("max_level", level)
        and all(stage in stages for stage in rule.get("stage", ()))
        and not any(stage in stages for stage in rule.get("not_stage", ()))
    )


@dataclasses.dataclass(frozen=True)
class CaffeNet:
    """A network: `layers` in order; `inputs` blob name -> shape, None if the file does not define it.

    unused: layers of the caffemodel with blobs that are not in the prototxt
    """

    name: str
    layers: tuple[CaffeLayer, ...]
    inputs: dict[str, tuple[int, ...] | None]
    unused: tuple[str, ...] = ()


def read_caffe(
    caffemodel: str | os.PathLike | None = None, prototxt: str | os.PathLike | None = None, *, strict: bool = True
) -> CaffeNet:
    """The network of the two files, or of one of them.

    caffemodel: path of the binary file; without a prototxt its own definition (of the trained network) is used
    prototxt: path or text of the definition; without a caffemodel layers have no blobs
    strict: a layer without the blobs that it needs is an error
    Raises WeightsMismatchError that names the layers in which the files differ; FileFormatError for a damaged file.
    """
    if caffemodel is None and prototxt is None:
        raise FileError("read_caffe needs a caffemodel, a prototxt or both")
    model = None if caffemodel is None else _net(read_caffemodel(caffemodel))
    net = model if prototxt is None else _net(read_prototxt(prototxt))
    assert net is not None
    if not net.layers and prototxt is not None:
        raise FileFormatError("the prototxt holds no layers", hint="a network, not a solver, is wanted")
    if model is not None:
        net = net if net is model else _joined(net, model, strict=strict)
        _check_sizes(net)
    return net


def _net(values: dict) -> CaffeNet:
    old, new = values.get("layers", []), values.get("layer", [])
    if old and new:
        raise FileFormatError("a network has both `layer` and `layers`")
    layers = tuple(_layer(v) for v in (old or new))
    return CaffeNet(values.get("name", ""), layers, _inputs(values, layers))


def _layer(values: dict) -> CaffeLayer:
    if "layer" in values:
        raise FileFormatError(
            "the network is written in Caffe's first format (before 2014)",
            hint="Caffe's own upgrade_net_proto_text and upgrade_net_proto_binary bring it up to date",
        )
    loss_weights = values.get("loss_weight", ())
    layer = CaffeLayer(
        name=values.get("name", ""),
        type=values.get("type", ""),
        bottoms=tuple(values.get("bottom", ())),
        tops=tuple(values.get("top", ())),
        params={name: v for name, v in values.items() if name.endswith("_param") and isinstance(v, dict)},
        blobs=tuple(values.get("blobs", ())),
        include=tuple(values.get("include", ())),
        exclude=tuple(values.get("exclude", ())),
        phase=values.get("phase"),
        loss_weights=tuple(loss_weights),
        line=values.get("line"),
    )
    if not layer.type:
        raise FileFormatError(f"{layer} has no type")
    return layer


def _inputs(values: dict, layers: Sequence[CaffeLayer]) -> dict[str, tuple[int, ...] | None]:
    names, dims = values.get("input", []), values.get("input_dim", [])
    shapes: list[tuple[int, ...] | None] = [tuple(shape.get("dim", ())) for shape in values.get("input_shape", [])]
    if dims and not shapes:
        if len(dims) != 4 * len(names):
            raise FileFormatError("input_dim: four sizes for each input", expected=4 * len(names), got=len(dims))
        shapes = [tuple(dims[i : i + 4]) for i in range(0, len(dims), 4)]
    if shapes and len(shapes) != len(names):
        raise FileFormatError("input_shape: one for each input", expected=len(names), got=len(shapes))
    inputs: dict[str, tuple[int, ...] | None] = dict(zip(names, shapes or [None] * len(names)))
    for layer in layers:
        if layer.type == "Input":
            declared = layer.params.get("input_param", {}).get("shape", [])
            given: list[tuple[int, ...] | None] = [tuple(shape.get("dim", ())) for shape in declared]
            if len(given) not in (0, 1, len(layer.tops)):
                raise FileFormatError(f"{layer}: {len(given)} shapes for {len(layer.tops)} tops")
            inputs.update(zip(layer.tops, given * len(layer.tops) if len(given) == 1 else given or [None] * 99))
    return inputs


def _joined(net: CaffeNet, model: CaffeNet, *, strict: bool) -> CaffeNet:
    trained = {layer.name: layer for layer in model.layers if layer.blobs}
    problems: list[str] = []
    layers = []
    for layer in net.layers:
        source = trained.get(layer.name)
        if source is None:
            alone = layer.type in ("Scale", "Bias") and len(layer.bottoms) == 1
            if strict and (layer.type in WITH_BLOBS or alone):
                problems.append(f"{layer} finds no blobs")
            layers.append(layer)
        elif source.type != layer.type:
            problems.append(f"{layer} is a {source.type} in the caffemodel")
        else:
            layers.append(dataclasses.replace(layer, blobs=source.blobs))
    if problems:
        more = f" and {len(problems) - 8} more" if len(problems) > 8 else ""
        raise WeightsMismatchError(
            f"prototxt and caffemodel disagree on {len(problems)} of {len(net.layers)} layers",
            got="; ".join(problems[:8]) + more,
            hint="use the prototxt that belongs to this caffemodel",
        )
    names = {layer.name for layer in net.layers}
    return dataclasses.replace(net, layers=tuple(layers), unused=tuple(n for n in trained if n not in names))


def _check_sizes(net: CaffeNet) -> None:
    for layer in net.layers:
        place = WITH_BLOBS.get(layer.type)
        if place is None or not layer.blobs:
            continue
        want = layer.params.get(place[0], {}).get(place[1])
        blob = layer.blobs[0]
        # in old files a matrix is (1, 1, out, in)
        have = blob.shape[2] if blob.ndim == 4 and layer.type == "InnerProduct" else blob.shape[:1] and blob.shape[0]
        if want is not None and have != want:
            raise WeightsMismatchError(
                f"{layer}: {place[1]} and its weights disagree", expected=want, got=f"weights {blob.shape}"
            )
