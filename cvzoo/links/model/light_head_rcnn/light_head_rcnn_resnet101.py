"""Light-Head R-CNN on ResNet-101, a two-stage detector (Li et al., 2017)."""

import dataclasses
import os
from collections.abc import Sequence

import cvzoo.functions as F
from cvzoo.autodiff.variable import Variable
from cvzoo.initializers.normal import Normal
from cvzoo.labels.coco import coco_bbox_label_names
from cvzoo.links.chain import Chain
from cvzoo.links.connection.convolution_2d import Convolution2D
from cvzoo.links.connection.linear import Linear
from cvzoo.links.link import InitialValue
from cvzoo.links.model.config import count_field
from cvzoo.links.model.detector import Preset
from cvzoo.links.model.faster_rcnn.abstract_faster_rcnn import AbstractFasterRCNN, AbstractFasterRCNNConfig
from cvzoo.links.model.faster_rcnn.region_proposal_network import ProposalCreator, RegionProposalNetwork
from cvzoo.links.model.light_head_rcnn.weights import WEIGHTS, resnet101_files
from cvzoo.links.model.pretrained.detector import detector_source
from cvzoo.links.model.pretrained.load import load_pretrained
from cvzoo.links.model.resnet.extractor import ResNetExtractor
from cvzoo.typing.aliases import Array


class GlobalContextModule(Chain):
    """Large separable convolution: relu(col(col_max(x)) + row(row_max(x))): k x 1, 1 x k, and 1 x k, k x 1.

    in_channels, mid_channels, out_channels: before, between and after the two convolutions
    ksize: k, odd: the size stays
    initialW: initial weights; Normal(0.01) by default

    Source: Li et al., "Light-Head R-CNN: In Defense of Two-Stage Object Detector", 2017, section 3.2; the names are
    those of ChainerCV's files.
    """

    def __init__(
        self, in_channels: int, mid_channels: int, out_channels: int, ksize: int, initialW: InitialValue = None
    ):
        initialW = Normal(0.01) if initialW is None else initialW
        pad = (ksize - 1) // 2
        tall, wide = ((ksize, 1), 1, (pad, 0)), ((1, ksize), 1, (0, pad))
        with self.init_scope():
            self.col_max = Convolution2D(in_channels, mid_channels, *tall, initialW=initialW)
            self.col = Convolution2D(mid_channels, out_channels, *wide, initialW=initialW)
            self.row_max = Convolution2D(in_channels, mid_channels, *wide, initialW=initialW)
            self.row = Convolution2D(mid_channels, out_channels, *tall, initialW=initialW)

    def forward(self, x: Variable | Array) -> Variable:
        """(B, out_channels, H, W) of x (B, in_channels, H, W)."""
        return F.relu(self.col(self.col_max(x)) + self.row(self.row_max(x)))


_THIN = 10  # channels of a cell


class LightHeadRCNNResNet101Head(Chain):
    """RoI head of Light-Head R-CNN: offsets per class and scores from a thin map.

    n_class: with the background
    roi_size: a region is pooled to roi_size x roi_size cells of 10 channels each (position-sensitive)
    spatial_scale: ratio of the map's to the network input's resolution
    in_channels, mid_channels, fc_channels: of C5, in the large separable convolutions, and of fc1
    """

    def __init__(
        self,
        n_class: int,
        roi_size: int = 7,
        spatial_scale: float = 1 / 16,
        *,
        in_channels: int = 2048,
        mid_channels: int = 256,
        fc_channels: int = 2048,
    ):
        self.n_class = n_class
        self.roi_size = roi_size
        self.spatial_scale = spatial_scale
        n = _THIN * roi_size * roi_size
        with self.init_scope():
            self.global_context_module = GlobalContextModule(in_channels, mid_channels, n, 15)
            self.fc1 = Linear(n, fc_channels, initialW=Normal(0.01))
            self.score = Linear(fc_channels, n_class, initialW=Normal(0.01))
            self.cls_loc = Linear(fc_channels, 4 * n_class, initialW=Normal(0.001))

    def forward(
        self, x: Variable | Array, rois: Variable | Array, roi_indices: Variable | Array
    ) -> tuple[Variable, Variable]:
        """(R, n_class * 4) offsets, (R, n_class) logits, of the regions of x (B, C, H, W)."""
        h = self.global_context_module(x)
        size = self.roi_size
        pool = F.ps_roi_max_align_2d(h, rois, roi_indices, (_THIN, size, size), self.spatial_scale, size, 2)
        h = F.relu(self.fc1(pool))
        return self.cls_loc(h), self.score(h)


PROPOSALS = ProposalCreator(n_test_post_nms=1000, min_size=0)


@dataclasses.dataclass(frozen=True, kw_only=True)
class LightHeadRCNNConfig(AbstractFasterRCNNConfig):
    """What a Light-Head R-CNN is built from; its fields are the constructor's arguments."""

    n_layer: int = count_field(help="depth of the ResNet", stored=("widths", 0))
    base_channels: int = count_field(help="channels of the ResNet's first convolution", stored=("widths", 1))
    rpn_channels: int = count_field(help="channels of the region proposal network", stored=("widths", 2))
    mid_channels: int = count_field(help="channels between the large separable convolutions", stored=("widths", 3))
    fc_channels: int = count_field(help="units of the fully connected layer", stored=("widths", 4))


class LightHeadRCNNResNet101(AbstractFasterRCNN):
    """Light-Head R-CNN on ResNet-101, a two-stage detector with a thin feature map (Li et al., 2017).

    n_fg_class: number of classes; None: those of label_names, else of the file, else COCO's 80
    pretrained_model: "coco" (ChainerCV's detector), "imagenet" (its ResNet-101, for the backbone), or the path of such
        a file or of one that cvzoo saved. Where the classes differ, the last layers are initialized anew, with a
        warning and a `load_report`
    label_names: class names; None: the file's, if it has as many classes
    min_size, max_size: the image's short side is resized to min_size, unless its long side would exceed max_size
    ratios, anchor_scales: of the anchors, see `generate_anchor_base`
    proposal_creator: selects the region proposals; None: 1000 of them, of any size
    n_layer, base_channels, rpn_channels, mid_channels, fc_channels: depth and widths; only the defaults have
        published weights
    Raises ValueRangeError if names and classes differ in number, or for an unknown name or missing file;
    WeightsMismatchError if the file does not fit; what reading it raises.

    The backbone's normalizations are frozen; C5 has stride 16, dilated.
    Source: Li et al., "Light-Head R-CNN: In Defense of Two-Stage Object Detector", 2017. Where we differ, as ChainerCV
    does: a region's cells are maxima of four bilinear samples.
    """

    presets = {"visualize": Preset(0.5, 0.7), "evaluate": Preset(0.5, 0.001)}
    limit = 100

    def __init__(
        self,
        n_fg_class: int | None = None,
        pretrained_model: str | os.PathLike | None = None,
        *,
        label_names: Sequence[str] | None = None,
        min_size: int = 800,
        max_size: int = 1333,
        ratios: Sequence[float] = (0.5, 1, 2),
        anchor_scales: Sequence[float] = (2, 4, 8, 16, 32),
        proposal_creator: ProposalCreator | None = None,
        n_layer: int = 101,
        base_channels: int = 64,
        rpn_channels: int = 512,
        mid_channels: int = 256,
        fc_channels: int = 2048,
    ):
        files = resnet101_files("LightHeadRCNNResNet101", "head/score/b", default_names=coco_bbox_label_names)
        source = detector_source(
            pretrained_model,
            WEIGHTS,
            files,
            n_fg_class=n_fg_class,
            label_names=label_names,
        )
        self.n_fg_class, self.label_names = source.n_fg_class, source.label_names
        self.min_size, self.max_size = min_size, max_size
        self.ratios, self.anchor_scales = tuple(ratios), tuple(anchor_scales)
        with self.init_scope():
            self.extractor = ResNetExtractor(
                n_layer,
                base_channels=base_channels,
                arch="he",
                dilations=(1, 1, 1, 2),
                dilate_first=True,
                norm="frozen",
            )
            *_, for_rpn, for_head = self.extractor.channels
            self.rpn = RegionProposalNetwork(
                for_rpn,
                rpn_channels,
                ratios=ratios,
                anchor_scales=anchor_scales,
                proposal_creator=PROPOSALS if proposal_creator is None else proposal_creator,
            )
            self.head = LightHeadRCNNResNet101Head(
                self.n_class, in_channels=for_head, mid_channels=mid_channels, fc_channels=fc_channels
            )
        self.config = LightHeadRCNNConfig(
            n_fg_class=self.n_fg_class,
            min_size=min_size,
            max_size=max_size,
            ratios=self.ratios,
            anchor_scales=self.anchor_scales,
            proposal_creator=self.proposal_creator,
            n_layer=n_layer,
            base_channels=base_channels,
            rpn_channels=rpn_channels,
            mid_channels=mid_channels,
            fc_channels=fc_channels,
        )
        self.load_report = load_pretrained(self, source.file, may_start_anew=("head/cls_loc", "head/score"))
        self.use_preset("visualize")

    def features(self, x: Variable | Array) -> tuple[Variable, Variable]:
        """C4 and C5 of x (B, 3, H, W), both of stride 16."""
        return self.extractor(x)[-2:]
