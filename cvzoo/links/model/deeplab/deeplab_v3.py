"""DeepLabV3, a semantic segmentation network (Chen et al., 2017)."""

import os
from collections.abc import Sequence

import cvzoo.functions as F
from cvzoo.autodiff.variable import Variable
from cvzoo.links.chain import Chain, ChainList
from cvzoo.links.connection.conv_2d_bn_activ import ConvNormActiv
from cvzoo.links.connection.convolution_2d import Convolution2D
from cvzoo.links.model.deeplab.weights import NAMES, USUAL_NAMES, V3_RECORDS
from cvzoo.links.model.dense_backbone import (
    ALIGNED_BACKBONES,
    Backbone,
    DenseBackbone,
    DenseSegmenterConfig,
    read_backbone,
)
from cvzoo.links.model.fcn.fcn import FCNHead
from cvzoo.links.model.preparation.short_side import ShortSide
from cvzoo.links.model.pretrained.classifier import segmenter_source
from cvzoo.links.model.pretrained.load import load_pretrained
from cvzoo.links.model.segmenter import AbstractImageSegmenter
from cvzoo.links.model.variant import variant
from cvzoo.typing.aliases import Array


class ASPP(Chain):
    """Atrous spatial pyramid pooling: a 1 x 1 and dilated 3 x 3 convolutions and global pooling, joined by `project`.

    dilations: of the 3 x 3 convolutions
    dropout: dropout ratio of the result, in training
    Source: Chen et al., Rethinking Atrous Convolution for Semantic Image Segmentation, 2017.
    """

    def __init__(
        self, in_channels: int, out_channels: int, *, dilations: Sequence[int] = (12, 24, 36), dropout: float = 0.5
    ):
        self.dropout = dropout
        with self.init_scope():
            self.near = ConvNormActiv(in_channels, out_channels, 1)
            self.atrous = ChainList(*(ConvNormActiv(in_channels, out_channels, 3, dilate=d) for d in dilations))
            self.whole = ConvNormActiv(in_channels, out_channels, 1)
            self.project = ConvNormActiv((2 + len(dilations)) * out_channels, out_channels, 1)

    def forward(self, x: Variable | Array) -> Variable:
        """(B, out_channels, H, W) of x (B, in_channels, H, W)."""
        mean = self.whole(F.reshape(F.global_average_pooling_2d(x), (*x.shape[:2], 1, 1)))
        branches = [self.near(x), *(branch(x) for branch in self.atrous)]
        branches.append(F.broadcast_to(mean, branches[0].shape))
        return F.dropout(self.project(F.concat(branches, axis=1)), self.dropout)


class DeepLabV3Head(Chain):
    """Head of DeepLabV3: out(conv(aspp(x))), logits of the classes."""

    def __init__(self, in_channels: int, n_class: int, *, middle: int = 256, dilations: Sequence[int] = (12, 24, 36)):
        with self.init_scope():
            self.aspp = ASPP(in_channels, middle, dilations=dilations)
            self.conv = ConvNormActiv(middle, middle, 3)
            self.out = Convolution2D(middle, n_class, 1)

    def forward(self, x: Variable | Array) -> Variable:
        """(B, n_class, H, W) of x (B, in_channels, H, W)."""
        return self.out(self.conv(self.aspp(x)))


class DeepLabV3(AbstractImageSegmenter):
    """DeepLabV3, a semantic segmentation network (Chen et al., 2017).

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
    Source: Chen et al., Rethinking Atrous Convolution for Semantic Image Segmentation, 2017; as torchvision builds it.
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
            V3_RECORDS.get(backbone, {}),
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
            self.head = DeepLabV3Head(last, self.n_class, middle=max(1, int(256 * width)))
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


DeepLabV3ResNet50 = variant("DeepLabV3ResNet50", DeepLabV3, "resnet50", "A `DeepLabV3` on resnet50")
DeepLabV3ResNet101 = variant("DeepLabV3ResNet101", DeepLabV3, "resnet101", "A `DeepLabV3` on resnet101")
DeepLabV3MobileNetV3Large = variant(
    "DeepLabV3MobileNetV3Large", DeepLabV3, "mobilenet_v3_large", "A `DeepLabV3` on mobilenet_v3_large"
)
