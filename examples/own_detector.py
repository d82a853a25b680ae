"""A custom detector whose model files work like those of built-in ones: a class and a frozen dataclass for its config.

python examples/own_detector.py own.safetensors
cvzoo predict image.jpg --model own.safetensors --architecture examples/own_detector.py:PointDetector
The first writes a model file with random weights; `evaluate`, `verify` and `export` accept it in the same way.
"""

import argparse
import dataclasses
from collections.abc import Sequence
from typing import Any

import cvzoo.functions as F
import cvzoo.links as L
import cvzoo.serializers as S

MEAN, STD = (123.675, 116.28, 103.53), (58.395, 57.12, 57.375)  # of ImageNet's RGB


@dataclasses.dataclass(frozen=True, kw_only=True)
class PointDetectorConfig(L.AbstractConfig):
    """Config of a PointDetector; types and ranges are checked, also for configs read from files."""

    n_fg_class: int = L.count_field(help="number of classes")
    n_layer: int = L.count_field(18, help="layers of the ResNet")
    base_channels: int = L.count_field(64, help="channels of the ResNet's first convolution")
    channels: int = L.count_field(64, help="channels of the head")
    insize: int = L.count_field(256, help="height and width that every image is stretched to", unit="pixels")

    def check_together(self) -> None:
        """Raises ValueRangeError unless the maps' cells fill the input."""
        self.require(self.insize % 32 == 0, "insize", "a multiple of 32")


class PointDetector(L.AbstractOneStageDetector):
    """A small FCOS: every cell of the two coarsest maps predicts class scores and distances to its object's sides.

    config: the architecture; label_names: names of the classes, or None
    """

    config_class = PointDetectorConfig
    limit = 100

    def __init__(self, config: PointDetectorConfig, *, label_names: Sequence[str] | None = None):
        self.config = config
        self.n_fg_class = config.n_fg_class
        self.label_names = None if label_names is None else tuple(label_names)
        n = config.channels
        with self.init_scope():
            self.extractor = L.ResNetExtractor(config.n_layer, base_channels=config.base_channels)
            self.lateral = L.ChainList(*(L.Convolution2D(c, n, 1) for c in self.extractor.channels[-2:]))
            self.tower = L.Conv2DActiv(n, n, 3, 1, 1)
            self.loc = L.Convolution2D(n, 4, 3, 1, 1, initial_bias=2)
            self.conf = L.Convolution2D(n, config.n_fg_class, 3, 1, 1)
            self.center = L.Convolution2D(n, 1, 3, 1, 1)
        self.use_preset("visualize")

    # preprocessing and decoding are data, not code: the CPU, GPUs and exported ONNX files share these two definitions
    @property
    def preparation(self) -> L.Stretch:
        """The preprocessing of images."""
        return L.Stretch((self.config.insize, self.config.insize), mean=MEAN, std=STD)

    @property
    def decoding(self) -> L.PointLevels:
        """The decoding of the outputs."""
        return L.PointLevels(strides=(16, 32), n_class=self.n_fg_class, n_candidate=1000)

    def forward(self, x: Any) -> tuple[Any, ...]:
        """loc (B, P, 4): distances up, left, down, right in strides; conf (B, P, L) and center (B, P, 1): logits."""
        maps = [self.tower(F.relu(lateral(h))) for lateral, h in zip(self.lateral, self.extractor(x)[-2:])]
        locs = [F.relu(self.loc(h)) for h in maps]
        return _rows(locs), _rows([self.conf(h) for h in maps]), _rows([self.center(h) for h in maps])


def _rows(maps: Sequence[Any]) -> Any:
    """(B, P, K) of maps (B, K, H, W): P over all maps, in a map by row and column."""
    rows = [F.reshape(F.transpose(h, (0, 2, 3, 1)), (h.shape[0], -1, h.shape[1])) for h in maps]
    return F.concat(rows, axis=1)


def main(file: str, *, n_fg_class: int = 3, n_layer: int = 18, base_channels: int = 16, insize: int = 64) -> None:
    """Saves a small model with random weights, and loads it again."""
    config = PointDetectorConfig(
        n_fg_class=n_fg_class, n_layer=n_layer, base_channels=base_channels, channels=16, insize=insize
    )
    model = PointDetector(config, label_names=[f"class {i}" for i in range(n_fg_class)])
    S.save_model(file, model)
    again = S.load_model(file, architecture=PointDetector)
    print(f"{file}: a {type(again).__name__} of {again.count_params():,} parameters, {again.config}")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description="Save and load a custom detector.")
    parser.add_argument("file", metavar="OUT.safetensors")
    main(parser.parse_args().file)
