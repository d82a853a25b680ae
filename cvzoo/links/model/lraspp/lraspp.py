"""LR-ASPP, a semantic segmentation network on MobileNetV3 (Howard et al., 2019)."""

import dataclasses
import os
from collections.abc import Sequence

import cvzoo.functions as F
from cvzoo.autodiff.variable import Variable
from cvzoo.labels.voc import voc_semantic_segmentation_label_names
from cvzoo.links.chain import Chain
from cvzoo.links.connection.conv_2d_bn_activ import ConvNormActiv
from cvzoo.links.connection.convolution_2d import Convolution2D
from cvzoo.links.model.config import AbstractConfig, classes_field, short_side_field, width_field
from cvzoo.links.model.lraspp.weights import NAMES, RECORDS
from cvzoo.links.model.mobilenet_v3.extractor import MobileNetV3Extractor
from cvzoo.links.model.preparation.short_side import ShortSide
from cvzoo.links.model.pretrained.classifier import segmenter_source
from cvzoo.links.model.pretrained.load import load_pretrained
from cvzoo.links.model.segmenter import AbstractImageSegmenter
from cvzoo.typing.aliases import Array

# layers of the extractor: the last one of stride 8 that begins a stage, and the final one
_FINE, _COARSE = 4, 16


class LRASPPHead(Chain):
    """Lite reduced atrous spatial pyramid pooling: low(fine) + high(upsampled conv(coarse) * gate(image mean)).

    fine_channels, coarse_channels: of the maps
    middle: channels of `conv` and `gate`
    Source: Howard et al., Searching for MobileNetV3, ICCV 2019, section 6.4. Where we differ: as torchvision, the gate
    uses global average pooling instead of large windows.
    """

    def __init__(self, fine_channels: int, coarse_channels: int, n_class: int, *, middle: int = 128):
        with self.init_scope():
            self.conv = ConvNormActiv(coarse_channels, middle, 1)
            self.gate = Convolution2D(coarse_channels, middle, 1, nobias=True)
            self.low = Convolution2D(fine_channels, n_class, 1)
            self.high = Convolution2D(middle, n_class, 1)

    def forward(self, fine: Variable | Array, coarse: Variable | Array) -> Variable:
        """(B, n_class, H, W) of fine (B, fine_channels, H, W) and coarse (B, coarse_channels, H', W')."""
        mean = F.reshape(F.global_average_pooling_2d(coarse), (*coarse.shape[:2], 1, 1))
        gate = F.sigmoid(self.gate(mean))
        h = F.resize_images(self.conv(coarse) * gate, fine.shape[2:], align_corners=False)
        return self.low(fine) + self.high(h)


@dataclasses.dataclass(frozen=True, kw_only=True)
class LRASPPConfig(AbstractConfig):
    """What an LRASPP is built from; its fields are the constructor's arguments."""

    n_class: int = classes_field()
    width: float = width_field()
    short: int = short_side_field()


class LRASPPMobileNetV3Large(AbstractImageSegmenter):
    """LR-ASPP, a fast semantic segmentation network on MobileNetV3-Large (Howard et al., 2019).

    n_class: number of classes; None: those of the file, or of label_names, else VOC's 21 (0 is the background)
    pretrained_model: "coco_voc", or the path of a torchvision file or one that cvzoo saved
    label_names: class names
    width: multiplier of all channels
    short: short side of the resized image
    Raises ValueRangeError if names and classes differ in number, or for unknown weights; WeightsMismatchError if the
    file does not fit.

    Source: Howard et al., Searching for MobileNetV3, ICCV 2019; as torchvision builds it.
    """

    def __init__(
        self,
        n_class: int | None = None,
        pretrained_model: str | os.PathLike | None = None,
        *,
        label_names: Sequence[str] | None = None,
        width: float = 1.0,
        short: int = 520,
    ):
        source = segmenter_source(
            pretrained_model,
            RECORDS,
            NAMES,
            heads=("head/low", "head/high"),
            n_class=n_class,
            label_names=label_names,
            usual_names=(voc_semantic_segmentation_label_names,),
        )
        self.n_class, self.label_names = source.n_class, source.label_names
        self.config = LRASPPConfig(n_class=self.n_class, width=width, short=short)
        self.short = short
        with self.init_scope():
            self.backbone = MobileNetV3Extractor("large", width=width, dilated=True)
            channels = self.backbone.channels
            self.head = LRASPPHead(channels[_FINE], channels[_COARSE], self.n_class, middle=max(1, int(128 * width)))
        self.load_report = load_pretrained(self, source.file, may_start_anew=source.may_start_anew)

    @property
    def preparation(self) -> ShortSide:
        """A resize of the short side to `short`."""
        return ShortSide(self.short)

    def training_scores(self, x: Variable | Array) -> tuple[Variable, ...]:
        """The logits, in a tuple of one."""
        return (self.coarse_scores(x),)

    def coarse_scores(self, x: Variable | Array) -> Variable:
        """Logits (B, n_class, H / 8, W / 8), sides rounded up, for x (B, 3, H, W)."""
        maps = self.backbone(x)
        return self.head(maps[_FINE], maps[_COARSE])
