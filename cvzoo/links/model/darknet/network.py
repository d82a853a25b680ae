"""Networks from darknet's cfg files."""

import functools
import os
from collections.abc import Sequence
from typing import NamedTuple

import cvzoo.functions as F
from cvzoo.autodiff.variable import Variable, as_variable
from cvzoo.errors.exceptions import FileFormatError, ShapeError, UnsupportedError
from cvzoo.geometry.as_size import as_size
from cvzoo.links.chain import Chain
from cvzoo.links.connection.fused_convolution import fused_activation
from cvzoo.links.model.darknet.convolution import (
    DarknetConnected,
    DarknetConvolution,
    build_connected,
    build_convolution,
)
from cvzoo.links.model.darknet.heads import build_region, build_yolo
from cvzoo.links.model.darknet.joining import build_route, build_sam, build_scale_channels, build_shortcut
from cvzoo.links.model.darknet.layer import INPUT, Activation, DarknetLayer, Shape, get_size, keep, refuse_options
from cvzoo.links.model.darknet.resampling import build_avgpool, build_maxpool, build_reorg, build_upsample
from cvzoo.links.model.decoding.grid_cells import RegionHead, YoloHead
from cvzoo.reporting.counted import counted
from cvzoo.typing.aliases import Array
from cvzoo.weights.formats.darknet import DarknetSection, DarknetWeightsFile, read_darknet_cfg


class FusedSum(NamedTuple):
    """A [shortcut] that can be fused to a convolution.

    place: its index; other: the index of the layer that it adds; activation: of the sum
    """

    place: int
    other: int
    activation: Activation | None


def fused_sums(layers: Sequence[DarknetLayer], outputs: Sequence[int]) -> dict[int, FusedSum]:
    """Index of a convolution -> the sum after it (dropout may be between) if no other layer reads its output.

    outputs: indices of the layers whose outputs the network returns
    """
    n_reader = [0] * len(layers)
    for layer in layers:
        for place in layer.sources:
            if place != INPUT:
                n_reader[place] += 1
    sums = {}
    for place, layer in enumerate(layers):
        if layer.section.name != "shortcut" or len(layer.sources) != 2 or not isinstance(layer.run, functools.partial):
            continue
        first = place - 1
        while first > 0 and layers[first].section.name == "dropout":
            first -= 1
        conv, other = layers[first].run, layer.sources[1]
        alone = all(n_reader[k] == 1 and k not in outputs for k in range(first, place))
        plain = isinstance(conv, DarknetConvolution) and conv.activation is None and conv.bn is not None
        activation = layer.run.keywords["activation"]
        if (
            plain
            and alone
            and INPUT < other < first
            and layers[other].shape == layer.shape
            and fused_activation(activation) is not None
        ):
            sums[first] = FusedSum(place, other, activation)
    return sums


MAX_NUMBERS = 1 << 28  # the largest public network, the first YOLO, has 190 million


class DarknetNetwork(Chain):
    """The layers of a cfg; called with images it gives the inputs of its heads, or its last layer's output.

    cfg: a path, or the text itself
    weights: the path of a `.weights` file, which must match exactly; None: random initialization
    size: (H, W) of the images if not the cfg's
    Raises FileFormatError that names the line of the cfg or the layer in which the weights end; UnsupportedError for
    an unsupported section or option.

    layers: the cfg's sections after [net], as DarknetLayer; heads: the decoder of each output, none for a classifier
    head_layers: the indices of the layers before the heads
    net, sections: the cfg's [net], and the sections that follow
    in_channels, input_size: of the input, usually 3 and (H, W)
    """

    def __init__(
        self,
        cfg: str | os.PathLike,
        weights: str | os.PathLike | None = None,
        *,
        size: tuple[int, int] | None = None,
    ):
        net, *sections = read_darknet_cfg(cfg)
        self.net = net
        self.sections = tuple(sections)
        self.in_channels = get_size(net, "channels", 3)
        if size is None:
            self.input_size = get_size(net, "height", 0), get_size(net, "width", 0)
        else:
            self.input_size = as_size(size)
        self.layers: list[DarknetLayer] = []
        heads: list[YoloHead | RegionHead] = []
        shapes: list[Shape] = []
        head_places = []
        n_value = 0
        for index, section in enumerate(sections):
            layer, head = _build(section, index, [*shapes, (self.in_channels, *self.input_size)])
            if isinstance(layer.run, DarknetConvolution | DarknetConnected):
                n_value += layer.run.n_value
                if n_value > MAX_NUMBERS:
                    raise section.error(f"the network would hold more than {MAX_NUMBERS} numbers up to here")
            self.layers.append(layer)
            shapes.append(layer.shape)
            if head is not None:
                heads.append(head)
                head_places.append(index)
            if isinstance(layer.run, Chain):
                self.add_link(f"layer{index}", layer.run)
        if not self.layers:
            raise FileFormatError("the cfg has no layers after [net]")
        self.heads = tuple(heads)
        self.head_layers = tuple(place - 1 for place in head_places)
        self._outputs = tuple(head_places) or (len(self.layers) - 1,)
        self._sums = fused_sums(self.layers, self._outputs)
        # the layer after which an output can be freed
        self._last_use = {place: index for index, layer in enumerate(self.layers) for place in layer.sources}
        if weights is None:
            for layer in self.layers:
                if isinstance(layer.run, DarknetConvolution | DarknetConnected):
                    layer.run.initialize()
        else:
            self.load_darknet(weights)

    def load_darknet(self, path: str | os.PathLike) -> None:
        """Load all values from a `.weights` file. Raises FileFormatError if it is not exactly of this network."""
        with DarknetWeightsFile(path) as file:
            for index, layer in enumerate(self.layers):
                if isinstance(layer.run, DarknetConvolution | DarknetConnected):
                    layer.run.load(file, f"layer {index} ({layer.section})")
            file.expect_end()

    def forward(self, x: Variable | Array) -> tuple[Variable, ...] | Variable:
        """The inputs of the heads, one (B, A * (5 + L), GH, GW) each; without heads, the last layer's output.

        x: (B, C, H, W) float32, RGB in [0, 1]; of any size that all layers support
        """
        x = as_variable(x)
        if x.ndim != 4 or x.shape[1] != self.in_channels:
            raise ShapeError("a darknet network reads images", expected=f"(B, {self.in_channels}, H, W)", got=x.shape)
        held = {-1: x}
        done = set()  # sums that were fused to an earlier layer
        for index, layer in enumerate(self.layers):
            arrays = [held[place] for place in layer.sources]
            behind = self._sums.get(index)
            if behind is not None and isinstance(layer.run, DarknetConvolution) and layer.run.can_add():
                held[index] = layer.run.add_up(arrays[0], held[behind.other], behind.activation)
                done.add(behind.place)
            else:
                held[index] = arrays[0] if index in done else layer.run(*arrays)
            for place in layer.sources:
                if self._last_use[place] == index and place not in self._outputs:
                    held.pop(place, None)
        outputs = tuple(held[place] for place in self._outputs)
        return outputs if self.heads else outputs[0]

    def describe(self) -> str:
        return f"input_size={self.input_size}, {counted(len(self.layers), 'layer')}, {counted(len(self.heads), 'head')}"


def _build(
    section: DarknetSection, index: int, shapes: list[Shape]
) -> tuple[DarknetLayer, YoloHead | RegionHead | None]:
    """The layer of a section; the last of `shapes` is the image's, so that index -1 of the first layer is the image."""
    before = shapes[index - 1]
    match section.name:
        case "convolutional" | "conv":
            return build_convolution(section, index, before), None
        case "connected" | "conn":
            return build_connected(section, index, before), None
        case "maxpool" | "max":
            return build_maxpool(section, index, before), None
        case "avgpool" | "avg":
            return build_avgpool(section, index, before), None
        case "upsample":
            return build_upsample(section, index, before), None
        case "reorg":
            return build_reorg(section, index, before), None
        case "route":
            return build_route(section, index, shapes), None
        case "shortcut":
            return build_shortcut(section, index, shapes), None
        case "scale_channels":
            return build_scale_channels(section, index, shapes), None
        case "sam":
            return build_sam(section, index, shapes), None
        case "dropout":
            return _build_dropout(section, index, before), None
        case "softmax" | "soft":
            return _build_softmax(section, index, before), None
        case "cost":  # a loss: the identity in inference
            return DarknetLayer(section, (index - 1,), keep, before), None
        case "yolo":
            return build_yolo(section, index, before)
        case "region":
            return build_region(section, index, before)
    raise UnsupportedError(
        f"{section.cfg} line {section.line}: section [{section.name}] is not supported",
        expected="convolutional, connected, maxpool, avgpool, upsample, reorg, route, shortcut, scale_channels, sam, "
        "dropout, softmax, cost, yolo or region",
    )


def _build_dropout(section: DarknetSection, index: int, shape: Shape) -> DarknetLayer:
    refuse_options(section, "dropblock")
    ratio = section.get_float("probability", 0.5)
    if not 0 <= ratio < 1:
        raise section.error(f"probability={ratio} must lie in 0 .. 1", option="probability")
    return DarknetLayer(section, (index - 1,), functools.partial(F.dropout, ratio=ratio), shape)


def _build_softmax(section: DarknetSection, index: int, shape: Shape) -> DarknetLayer:
    refuse_options(section, "tree", "spatial")
    groups = get_size(section, "groups", 1)
    if (shape[0] * shape[1] * shape[2]) % groups:
        raise section.error(f"{shape} (C, H, W) does not divide into groups={groups}", option="groups")
    temperature = section.get_float("temperature", 1.0)
    if temperature <= 0:
        raise section.error(f"temperature={temperature} must be positive", option="temperature")
    run = functools.partial(_softmax, groups=groups, temperature=temperature)
    return DarknetLayer(section, (index - 1,), run, shape)


def _softmax(x: Variable | Array, *, groups: int, temperature: float) -> Variable:
    h = F.reshape(x, (x.shape[0], groups, -1))
    return F.reshape(F.softmax(h if temperature == 1 else h * (1 / temperature), axis=2), x.shape)
