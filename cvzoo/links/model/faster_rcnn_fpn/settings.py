"""What a two-stage detector on a pyramid can be built of, as plain values."""

import dataclasses
from typing import Literal

from cvzoo.errors.exceptions import ValueRangeError

Sizes = tuple[tuple[float, ...], ...]
Triple = tuple[float, float, float]


@dataclasses.dataclass(frozen=True, kw_only=True)
class FasterRCNNFPNSettings:
    """All that decides how the network is built, what it passes on, and how it sees a photo; it checks itself.

    backbone: "resnet" or "mobilenet_v3_large"
    n_layer, base_channels, arch, groups, base_width: of the ResNet (see `ResNetExtractor`)
    width: of the MobileNet, times as many channels as published
    norm, bn_eps: of the backbone's normalizations: "batch" (trained), "frozen" or "group"
    channels: of the pyramid
    fpn_norm: the pyramid's convolutions, and those of the heads, are normalized, too ("batch"), or not (None)
    rpn_depth: 3 x 3 convolutions before the proposals
    anchor_sizes: for each level the square roots of the anchors' areas, pixels of the network's input; the levels are
        the backbone's maps and one of half the coarsest one's sides
    anchor_ratios: heights over widths of the anchors
    anchor_style: how anchors are laid out: "torchvision": corners and steps are whole pixels, the first anchor lies
        around (0, 0); "detectron2": likewise with nothing rounded; "chainercv": around the middle of the place, with
        sides rounded at the level's stride
    n_proposal: so many of each level and so many in all go on to the second stage
    rpn_nms_thresh, rpn_score_thresh: which of them go on
    head_convs: convolutions in the box head; then head_fcs fully connected layers of head_width
    roi_size: cells of a region along a side; sampling_ratio, roi_aligned: see `roi_average_align_2d`
    loc_std: what the second stage's offsets (dy, dx, dh, dw) are multiplied by
    min_size, max_size: a photo is resized so that its short side is min_size, unless its long side would pass max_size
    antialias: photos are shrunk as Pillow does and sides rounded, as detectron2 has it; False: by four pixels' bilinear
        mean and sides cut off, as torchvision has it
    mean, std: RGB, of pixels in [0, 255]
    Raises ValueRangeError.
    """

    backbone: Literal["resnet", "mobilenet_v3_large"] = "resnet"
    n_layer: int = 50
    base_channels: int = 64
    arch: Literal["v1.5", "he"] = "v1.5"
    groups: int = 1
    base_width: int = 64
    width: float = 1.0
    norm: Literal["batch", "frozen", "group"] = "batch"
    bn_eps: float = 1e-5
    channels: int = 256
    fpn_norm: Literal["batch"] | None = None
    rpn_depth: int = 1
    anchor_sizes: Sizes = ((32,), (64,), (128,), (256,), (512,))
    anchor_ratios: tuple[float, ...] = (0.5, 1.0, 2.0)
    anchor_style: Literal["torchvision", "detectron2", "chainercv"] = "torchvision"
    n_proposal: int = 1000
    rpn_nms_thresh: float = 0.7
    rpn_score_thresh: float = 0.0
    head_convs: int = 0
    head_fcs: int = 2
    head_width: int = 1024
    roi_size: int = 7
    sampling_ratio: int | None = 2
    roi_aligned: bool = False
    loc_std: tuple[float, ...] = (0.1, 0.1, 0.2, 0.2)
    min_size: int = 800
    max_size: int = 1333
    antialias: bool = False
    mean: Triple = (123.675, 116.28, 103.53)
    std: Triple = (58.395, 57.12, 57.375)

    def __post_init__(self) -> None:
        # what comes from JSON has lists
        object.__setattr__(self, "anchor_sizes", tuple(tuple(sizes) for sizes in self.anchor_sizes))
        for name in ("anchor_ratios", "loc_std", "mean", "std"):
            object.__setattr__(self, name, tuple(self.__dict__[name]))
        self._check(self.backbone in ("resnet", "mobilenet_v3_large"), "backbone", "resnet or mobilenet_v3_large")
        self._check(len(self.anchor_sizes) == len(self.strides) + 1, "anchor_sizes", f"{len(self.strides) + 1} levels")
        self._check(len({len(sizes) for sizes in self.anchor_sizes}) == 1, "anchor_sizes", "as many at every level")
        styles = ("torchvision", "detectron2", "chainercv")
        self._check(self.anchor_style in styles, "anchor_style", " or ".join(styles))
        self._check(self.fpn_norm in (None, "batch"), "fpn_norm", "None or 'batch'")
        self._check(0 <= self.rpn_nms_thresh <= 1, "rpn_nms_thresh", "0 to 1")
        self._check(self.n_proposal > 0 and self.channels > 0, "n_proposal", "positive, and channels, too")
        self._check(self.head_fcs > 0 and self.head_convs >= 0 and self.rpn_depth > 0, "head_fcs", "at least one")
        self._check(len(self.loc_std) == 4 and min(self.loc_std) > 0, "loc_std", "four positive numbers")
        self._check(len(self.mean) == len(self.std) == 3 and min(self.std) > 0, "std", "three positive numbers")
        self._check(0 < self.min_size <= self.max_size, "min_size", "positive, and not over max_size")

    def _check(self, right: bool, name: str, expected: str) -> None:
        if not right:
            got = repr(self.__dict__[name])[:80]
            raise ValueRangeError(f"FasterRCNNFPNSettings: {name}", expected=expected, got=got)

    @property
    def strides(self) -> tuple[int, ...]:
        """Pixels of the network's input for one of each map of the backbone, the finest first."""
        return (4, 8, 16, 32) if self.backbone == "resnet" else (32, 32)

    @property
    def n_anchor(self) -> int:
        """How many anchors a place has."""
        return len(self.anchor_sizes[0]) * len(self.anchor_ratios)


def with_n_anchor(settings: FasterRCNNFPNSettings, n_anchor: int) -> FasterRCNNFPNSettings:
    """The same with so many anchors of any sizes in a place: the arrays of a network tell of no more."""
    sizes = ((32.0,) * n_anchor,) * len(settings.anchor_sizes)
    return dataclasses.replace(settings, anchor_sizes=sizes, anchor_ratios=(1.0,))
