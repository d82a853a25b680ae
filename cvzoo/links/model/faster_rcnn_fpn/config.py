"""Configuration of two-stage detectors on a feature pyramid."""

import dataclasses
from typing import Literal

from cvzoo.backends.image_plan import Resampling
from cvzoo.links.model.config import AbstractConfig, config_field, count_field
from cvzoo.links.model.preparation.resize_shortest_edge import ResizeShortestEdge

Sizes = tuple[tuple[float, ...], ...]
Triple = tuple[float, float, float]


@dataclasses.dataclass(frozen=True, kw_only=True)
class FasterRCNNFPNConfig(AbstractConfig):
    """What a two-stage detector on a pyramid is built from, and its preprocessing. Raises ValueRangeError."""

    backbone: Literal["resnet", "mobilenet_v3_large"] = config_field(
        "resnet", help="the network below the pyramid", group="backbone"
    )
    n_layer: int = count_field(50, help="layers of the ResNet, see ResNetExtractor", group="backbone")
    base_channels: int = count_field(64, help="channels of the ResNet's first convolution", group="backbone")
    arch: Literal["v1.5", "he"] = config_field(
        "v1.5", help="where a ResNet block has its stride: v1.5: 3 x 3 convolution; he: first one", group="backbone"
    )
    groups: int = count_field(1, help="groups of the ResNet's 3 x 3 convolutions (ResNeXt)", group="backbone")
    base_width: int = count_field(64, help="channels of a group in the first stage", group="backbone")
    width: float = config_field(
        1.0, help="of the MobileNet, times as many channels as published", above=0, at_most=20, group="backbone"
    )
    norm: Literal["batch", "frozen", "group"] = config_field(
        "batch", help="normalization of the backbone: batch (trained), frozen or group", group="backbone"
    )
    bn_eps: float = config_field(1e-5, help="epsilon of these normalizations", at_least=0, group="backbone")
    channels: int = count_field(256, help="channels of the pyramid", group="FPN")
    fpn_norm: Literal["batch"] | None = config_field(
        None, help="normalization of the pyramid's convolutions and those of the heads; None: none", group="FPN"
    )
    rpn_depth: int = count_field(1, help="3 x 3 convolutions before the proposals", group="RPN")
    anchor_sizes: Sizes = config_field(
        ((32,), (64,), (128,), (256,), (512,)),
        help="for each level the square roots of the anchors' areas; the levels are the backbone's maps and one of "
        "half the coarsest one's sides",
        unit="pixels of the network's input",
        group="RPN",
    )
    anchor_ratios: tuple[float, ...] = config_field(
        (0.5, 1.0, 2.0), help="heights over widths of the anchors", above=0, group="RPN"
    )
    anchor_style: Literal["torchvision", "detectron2", "chainercv"] = config_field(
        "torchvision",
        help="how anchors are laid out: torchvision: corners and steps are whole pixels, the first anchor is centered "
        "at (0, 0); detectron2: likewise with nothing rounded; chainercv: at the cell's center, sides rounded at the "
        "level's stride",
        group="RPN",
    )
    n_proposal: int = count_field(1000, help="proposals of each level, and of all, for the second stage", group="RPN")
    rpn_nms_thresh: float = config_field(
        0.7, help="of two proposals with a greater IoU, the worse is dropped", at_least=0, at_most=1, group="RPN"
    )
    rpn_score_thresh: float = config_field(0.0, help="proposals that score this or less are dropped", group="RPN")
    head_convs: int = count_field(0, help="convolutions in the box head", at_least=0, group="box head")
    head_fcs: int = count_field(2, help="fully connected layers behind them", group="box head")
    head_width: int = count_field(1024, help="units of these layers", group="box head")
    roi_size: int = count_field(7, help="cells of a region along a side", group="box head")
    sampling_ratio: int | None = config_field(
        2, help="samples of a cell along a side, see roi_average_align_2d", group="box head"
    )
    roi_aligned: bool = config_field(
        False, help="regions are shifted by half a pixel, see roi_average_align_2d", group="box head"
    )
    loc_std: tuple[float, float, float, float] = config_field(
        (0.1, 0.1, 0.2, 0.2),
        help="what the second stage's offsets (dy, dx, dh, dw) are multiplied by",
        above=0,
        group="box head",
    )
    min_size: int = count_field(
        800, help="length of the resized image's short side", unit="pixels", group="preparation"
    )
    max_size: int = count_field(
        1333, help="most that the resized image's long side may have", unit="pixels", group="preparation"
    )
    antialias: bool = config_field(
        False,
        help="images are shrunk as Pillow does and sides rounded, as detectron2 has it; False: by four pixels' "
        "bilinear mean and sides cut off, as torchvision has it",
        group="preparation",
    )
    mean: Triple = config_field((123.675, 116.28, 103.53), help="of RGB in [0, 255]", group="preparation")
    std: Triple = config_field(
        (58.395, 57.12, 57.375), help="deviation of RGB in [0, 255]", above=0, group="preparation"
    )

    def check_together(self) -> None:
        """Raises ValueRangeError unless every level has the same number of anchors and the sides are in order."""
        n = len(self.strides) + 1
        self.require(len(self.anchor_sizes) == n, "anchor_sizes", f"{n} levels")
        self.require(len({len(sizes) for sizes in self.anchor_sizes}) == 1, "anchor_sizes", "as many at every level")
        self.require(self.min_size <= self.max_size, "min_size", "positive, and not over max_size")

    @property
    def strides(self) -> tuple[int, ...]:
        """The strides of the backbone's maps, the finest first."""
        return (4, 8, 16, 32) if self.backbone == "resnet" else (32, 32)

    @property
    def n_anchor(self) -> int:
        """The number of anchors per position."""
        return len(self.anchor_sizes[0]) * len(self.anchor_ratios)


FasterRCNNFPNSettings = FasterRCNNFPNConfig  # its name before configs were files' headers, too


def with_n_anchor(config: FasterRCNNFPNConfig, n_anchor: int) -> FasterRCNNFPNConfig:
    """The same with n anchors of any sizes per position: the arrays of a network determine no more."""
    sizes = ((32.0,) * n_anchor,) * len(config.anchor_sizes)
    return dataclasses.replace(config, anchor_sizes=sizes, anchor_ratios=(1.0,))


def pyramid_preparation(config: FasterRCNNFPNConfig) -> ResizeShortestEdge:
    """Detectron2's, on uint8 and with rounded sides, if images are antialiased; otherwise torchvision's."""
    return ResizeShortestEdge(
        config.min_size,
        config.max_size,
        sides="detectron2" if config.antialias else "torchvision",
        multiple=32,
        mean=config.mean,
        std=config.std,
        resampling=Resampling.PILLOW if config.antialias else Resampling.BILINEAR,
        normalize_first=not config.antialias,
    )
