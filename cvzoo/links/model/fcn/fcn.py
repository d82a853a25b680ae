"""FCN, a semantic segmentation network (Long et al., 2015)."""

import os
from collections.abc import Sequence

import cvzoo.functions as F
from cvzoo.autodiff.variable import Variable
from cvzoo.links.chain import Chain
from cvzoo.links.connection.conv_2d_bn_activ import ConvNormActiv
from cvzoo.links.connection.convolution_2d import Convolution2D
from cvzoo.links.model.deeplab.weights import NAMES, USUAL_NAMES
from cvzoo.links.model.dense_backbone import (
    ALIGNED_BACKBONES,
    Backbone,
    DenseBackbone,
    DenseSegmenterConfig,
    read_backbone,
)
from cvzoo.links.model.fcn.weights import RECORDS
from cvzoo.links.model.preparation.short_side import ShortSide
from cvzoo.links.model.pretrained.classifier import segmenter_source
from cvzoo.links.model.pretrained.load import load_pretrained
from cvzoo.links.model.segmenter import AbstractImageSegmenter
from cvzoo.links.model.variant import variant
from cvzoo.typing.aliases import Array


class FCNHead(Chain):
    """Head of FCN, out(dropout(conv(x))): 3 x 3 to a quarter of the channels, then 1 x 1 to logits.

    dropout: dropout ratio, in training
    Source: torchvision's head of this name.
    """

    def __init__(self, in_channels: int, n_class: int, *, dropout: float = 0.1):
        self.dropout = dropout
        middle = max(1, in_channels // 4)
        with self.init_scope():
            self.conv = ConvNormActiv(in_channels, middle, 3)
            self.out = Convolution2D(middle, n_class, 1)

    def forward(self, x: Variable | Array) -> Variable:
        """(B, n_class, H, W) of x (B, in_channels, H, W)."""
        return self.out(F.dropout(self.conv(x), self.dropout))


class FCN(AbstractImageSegmenter):
    """FCN, a semantic segmentation network (Long et al., 2015).

    backbone: see `DenseBackbone`
    n_class: number of classes; None: those of the file, or of label_names, else VOC's 21 (0 is the background)
    pretrained_model: "coco_voc", or the path of such a file or of one that cvzoo saved; "imagenet" or "imagenet_v2" for
        the backbone alone; on "resnet50s" and "resnet101s" also "voc", "ade20k" and "cityscapes"
    label_names: class names
    width: multiplier of all channels
    short: short side of the resized image
    Raises ValueRangeError if names and classes differ in number, or for unknown weights or backbone;
    WeightsMismatchError if the file does not fit.

    In training there is an auxiliary head, an `FCNHead` on the backbone's intermediate map.
    Source: Long, Shelhamer and Darrell, Fully Convolutional Networks for Semantic Segmentation, CVPR 2015; as
    torchvision builds it, on a dilated network and without the paper's skip connections.
    """

    def __init__(
        self,
        backbone: Backbone,
        n_class: int | None = None,
        pretrained_model: str | os.PathLike | None = None,
        *,
        label_names: Sequence[str] | None = None,
        width: float = 1.0,
        short: int = 520,
    ):
        start = read_backbone(backbone, pretrained_model)
        source = segmenter_source(
            pretrained_model if start is None else None,
            RECORDS.get(backbone, {}),
            NAMES,
            heads=("head/out", "aux/out"),
            n_class=n_class,
            label_names=label_names,
            usual_names=USUAL_NAMES,
        )
        self.n_class, self.label_names = source.n_class, source.label_names
        self.align_corners = backbone in ALIGNED_BACKBONES
        self.config = DenseSegmenterConfig(backbone=backbone, n_class=self.n_class, width=width, short=short)
        self.short = short
        with self.init_scope():
            self.backbone = DenseBackbone(backbone, width=width)
            middle, last = self.backbone.channels
            self.head = FCNHead(last, self.n_class)
            self.aux = FCNHead(middle, self.n_class)
        load_pretrained(self.backbone, start)
        self.load_report = load_pretrained(self, source.file, may_start_anew=source.may_start_anew)

    @property
    def preparation(self) -> ShortSide:
        """A resize of the short side to `short`."""
        return ShortSide(self.short)

    def training_scores(self, x: Variable | Array) -> tuple[Variable, Variable]:
        """The logits and the auxiliary head's, at the strides of their maps."""
        middle, last = self.backbone(x)
        return self.head(last), self.aux(middle)

    def coarse_scores(self, x: Variable | Array) -> Variable:
        """Logits (B, n_class, h, w), at the backbone's stride, for x (B, 3, H, W)."""
        return self.head(self.backbone(x)[1])


FCNResNet50 = variant("FCNResNet50", FCN, "resnet50", "A `FCN` on resnet50")
FCNResNet101 = variant("FCNResNet101", FCN, "resnet101", "A `FCN` on resnet101")
