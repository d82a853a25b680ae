"""Faster R-CNN on VGG16."""

import dataclasses
import os
from collections.abc import Sequence

import cvzoo.functions as F
from cvzoo.autodiff.variable import Variable
from cvzoo.initializers.normal import Normal
from cvzoo.links.chain import Chain
from cvzoo.links.connection.linear import Linear
from cvzoo.links.model.config import count_field
from cvzoo.links.model.faster_rcnn.abstract_faster_rcnn import AbstractFasterRCNN, AbstractFasterRCNNConfig
from cvzoo.links.model.faster_rcnn.region_proposal_network import ProposalCreator, RegionProposalNetwork
from cvzoo.links.model.faster_rcnn.weights import FILES, WEIGHTS
from cvzoo.links.model.pretrained.detector import detector_source
from cvzoo.links.model.pretrained.load import load_pretrained
from cvzoo.links.model.vgg.extractor import VGGExtractor
from cvzoo.typing.aliases import Array


class VGG16RoIHead(Chain):
    """RoI head of VGG16: fc6 and fc7 on pooled regions, then offsets per class and scores.

    n_class: with the background
    roi_size: regions are pooled to roi_size x roi_size
    spatial_scale: ratio of the map's to the network input's resolution
    in_channels, fc_channels: of the map, and of fc6 and fc7
    """

    def __init__(
        self,
        n_class: int,
        roi_size: int = 7,
        spatial_scale: float = 1 / 16,
        *,
        in_channels: int = 512,
        fc_channels: int = 4096,
    ):
        self.n_class = n_class
        self.roi_size = roi_size
        self.spatial_scale = spatial_scale
        with self.init_scope():
            self.fc6 = Linear(in_channels * roi_size * roi_size, fc_channels)
            self.fc7 = Linear(fc_channels, fc_channels)
            # Fast R-CNN's deviations (section 2.3), the smaller one for offsets
            self.cls_loc = Linear(fc_channels, n_class * 4, initialW=Normal(0.001))
            self.score = Linear(fc_channels, n_class, initialW=Normal(0.01))

    def forward(self, x: Variable | Array, rois: Array, roi_indices: Array) -> tuple[Variable, Variable]:
        """(R, n_class * 4) offsets, (R, n_class) logits, of the regions of x (B, C, H, W)."""
        pool = F.roi_max_pooling_2d(x, rois, roi_indices, self.roi_size, self.spatial_scale, inclusive=True)
        h = F.relu(self.fc6(pool))
        h = F.relu(self.fc7(h))
        return self.cls_loc(h), self.score(h)


@dataclasses.dataclass(frozen=True, kw_only=True)
class FasterRCNNVGG16Config(AbstractFasterRCNNConfig):
    """What a Faster R-CNN on VGG16 is built from; its fields are the constructor's arguments."""

    base_channels: int = count_field(help="channels of VGG16's first convolution, all others in proportion")
    rpn_channels: int = count_field(help="channels of the region proposal network")
    fc_channels: int = count_field(help="units of fc6 and fc7")


class FasterRCNNVGG16(AbstractFasterRCNN):
    """Faster R-CNN on VGG16, a two-stage detector (Ren et al., 2015).

    n_fg_class: number of classes; None: those of label_names, else of the file, else VOC's 20
    pretrained_model: "voc0712", "voc07" (ChainerCV's detectors), "imagenet" (its VGG16, for the backbone), or the path
        of such a file or of one that cvzoo saved. Where the classes differ, the last layers are initialized anew, with
        a warning and a `load_report`
    label_names: class names; None: the file's, if it has as many classes
    min_size, max_size: the image's short side is resized to min_size, unless its long side would exceed max_size
    ratios, anchor_scales: of the anchors, see `generate_anchor_base`
    proposal_creator: selects the region proposals; None: `ProposalCreator()`
    base_channels, rpn_channels, fc_channels: widths; only the defaults have published weights
    Raises ValueRangeError if names and classes differ in number, or for an unknown name or missing file;
    WeightsMismatchError if the file does not fit; what reading it raises.

    Source: Ren et al., "Faster R-CNN: Towards Real-Time Object Detection with Region Proposal Networks", 2015. Where
    we differ, as ChainerCV does: no dropout; the end of a box is exclusive.
    """

    def __init__(
        self,
        n_fg_class: int | None = None,
        pretrained_model: str | os.PathLike | None = None,
        *,
        label_names: Sequence[str] | None = None,
        min_size: int = 600,
        max_size: int = 1000,
        ratios: Sequence[float] = (0.5, 1, 2),
        anchor_scales: Sequence[float] = (8, 16, 32),
        proposal_creator: ProposalCreator | None = None,
        base_channels: int = 64,
        rpn_channels: int = 512,
        fc_channels: int = 4096,
    ):
        source = detector_source(
            pretrained_model,
            WEIGHTS,
            FILES,
            n_fg_class=n_fg_class,
            label_names=label_names,
        )
        self.n_fg_class, self.label_names = source.n_fg_class, source.label_names
        self.min_size, self.max_size = min_size, max_size
        self.ratios, self.anchor_scales = tuple(ratios), tuple(anchor_scales)
        with self.init_scope():
            self.extractor = VGGExtractor(16, ("conv5_3",), base_channels=base_channels, cover_all=True)
            (channels,) = self.extractor.channels
            self.rpn = RegionProposalNetwork(
                channels,
                rpn_channels,
                ratios=ratios,
                anchor_scales=anchor_scales,
                proposal_creator=proposal_creator,
            )
            self.head = VGG16RoIHead(self.n_class, in_channels=channels, fc_channels=fc_channels)
        self.config = FasterRCNNVGG16Config(
            n_fg_class=self.n_fg_class,
            min_size=min_size,
            max_size=max_size,
            ratios=self.ratios,
            anchor_scales=self.anchor_scales,
            proposal_creator=self.proposal_creator,
            base_channels=base_channels,
            rpn_channels=rpn_channels,
            fc_channels=fc_channels,
        )
        self.load_report = load_pretrained(self, source.file, may_start_anew=("head/cls_loc", "head/score"))
        self.use_preset("visualize")

    def features(self, x: Variable | Array) -> tuple[Variable, Variable]:
        """conv5_3 of x (B, 3, H, W), twice."""
        (h,) = self.extractor(x)
        return h, h
