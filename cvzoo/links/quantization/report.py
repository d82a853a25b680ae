"""Reports of quantization, layer by layer."""

from collections.abc import Iterator
from typing import NamedTuple

from cvzoo.errors.exceptions import ValueRangeError
from cvzoo.reporting.counted import counted


class QuantizedLayer(NamedTuple):
    """One layer.

    path: of the layer, such as "/res2/0/conv1/conv"
    kind: "Convolution2D" or "Linear"
    precision: "int8", "bf16" or "float32"
    why: why it stayed in float32; "" if it did not
    low, high: the range of its inputs
    scale: quantization step of its inputs; values beyond 127 steps (255 if none is negative) are clipped
    signed: whether its inputs are int8 (otherwise uint8)
    gives_bytes: whether its output is int8 (or bfloat16) instead of float32
    error: relative error (root mean square) of its output against float32 for the same inputs, before sums and
        activations, after the correction of the mean; NaN if it was not measured
    """

    path: str
    kind: str
    precision: str
    why: str
    low: float
    high: float
    scale: float
    signed: bool
    gives_bytes: bool
    error: float


class QuantizationReport:
    """The convolutions and linear layers, in the order of the model's links. Iterable; `str` is a table."""

    def __init__(self, layers: tuple[QuantizedLayer, ...], n_image: int, precision: str, method: str):
        self.layers = layers
        self.n_image = n_image
        self.precision = precision
        self.method = method

    @property
    def n_photo(self) -> int:
        """The former name of `n_image`, the number of calibration images."""
        return self.n_image

    def __iter__(self) -> Iterator[QuantizedLayer]:
        return iter(self.layers)

    def __len__(self) -> int:
        return len(self.layers)

    def __getitem__(self, path: str) -> QuantizedLayer:
        """The layer of that path. Raises ValueRangeError if there is none."""
        for layer in self.layers:
            if layer.path == path:
                return layer
        raise ValueRangeError(f"there is no layer {path!r} in the report")

    @property
    def n_quantized(self) -> int:
        """The number of layers that compute in int8 or bfloat16."""
        return sum(layer.precision == self.precision for layer in self.layers)

    def summary(self) -> str:
        """One line: the number of quantized layers, the precision and the calibration."""
        images = f"ranges of {counted(self.n_image, 'image')} by {self.method!r}"
        return f"{self.n_quantized} of {counted(len(self), 'layer')} in {self.precision}, {images}"

    def __str__(self) -> str:
        lines = [self.summary()]
        width = max((len(layer.path) for layer in self.layers), default=0)
        for each in self.layers:
            numbers = f"{each.low:10.4g} .. {each.high:<10.4g} scale {each.scale:<10.4g} error {each.error:7.2%}"
            note = each.why or ("gives bytes" if each.gives_bytes else "")
            lines.append(f"{each.path:{width}}  {each.precision:7}  {numbers}  {note}".rstrip())
        return "\n".join(lines)
