"""Reports of quantization, layer by layer."""

from collections.abc import Iterator
from typing import NamedTuple

from cvzoo.errors.exceptions import ValueRangeError


class QuantizedLayer(NamedTuple):
    """One layer.

    path: "/res2/0/conv1/conv"
    kind: "Convolution2D" or "Linear"
    precision: "int8", "bf16" or "float32"
    why: why it stayed in float32; "" if it did not
    low, high: the range of what it read
    scale: what a byte that it reads counts; values beyond 127 (or, if there are none below 0, 255) of them are cut
    signed: whether those bytes have a sign
    gives_bytes: whether it hands bytes (or bfloat16) to the next layer, instead of float32
    error: how far fewer bits are from float32 for the same inputs, relative (root mean squares), before sums and
        activations, once their mean is corrected; NaN if it was not tried
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

    def __init__(self, layers: tuple[QuantizedLayer, ...], n_photo: int, precision: str, method: str):
        self.layers = layers
        self.n_photo = n_photo
        self.precision = precision
        self.method = method

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
        """How many layers compute in fewer bits than float32's."""
        return sum(layer.precision == self.precision for layer in self.layers)

    def summary(self) -> str:
        """One line: how many layers are quantized, to which precision, by which calibration."""
        images = f"ranges of {self.n_photo} images by {self.method!r}"
        return f"{self.n_quantized} of {len(self)} layers in {self.precision}, {images}"

    def __str__(self) -> str:
        lines = [self.summary()]
        width = max((len(layer.path) for layer in self.layers), default=0)
        for each in self.layers:
            numbers = f"{each.low:10.4g} .. {each.high:<10.4g} scale {each.scale:<10.4g} error {each.error:7.2%}"
            told = each.why or ("gives bytes" if each.gives_bytes else "")
            lines.append(f"{each.path:{width}}  {each.precision:7}  {numbers}  {told}".rstrip())
        return "\n".join(lines)
