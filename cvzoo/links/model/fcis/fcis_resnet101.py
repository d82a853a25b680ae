"""FCIS on ResNet-101."""

import dataclasses
import os
from collections.abc import Sequence

import numpy as np

from cvzoo.autodiff.variable import Variable
from cvzoo.backends.transfer import on_host
from cvzoo.functions.activation.softmax import softmax
from cvzoo.geometry.clip_bbox import clip_bbox
from cvzoo.geometry.rle import RLEs
from cvzoo.geometry.window_rle import window_rles
from cvzoo.labels.coco import coco_bbox_label_names
from cvzoo.labels.voc import voc_bbox_label_names
from cvzoo.links.model.config import AbstractConfig, classes_field, config_field, count_field, resized_field
from cvzoo.links.model.detector import Preset
from cvzoo.links.model.faster_rcnn.region_proposal_network import ProposalCreator, RegionProposalNetwork
from cvzoo.links.model.fcis.head import FCISResNet101Head, RegionOutputs
from cvzoo.links.model.fcis.mask_voting import mask_voting, resize_map, rounded
from cvzoo.links.model.fcis.weights import COCO_PROPOSALS, SBD_PROPOSALS, WEIGHTS
from cvzoo.links.model.instance_segmenter import AbstractInstanceSegmenter, FoundInstances
from cvzoo.links.model.light_head_rcnn.weights import resnet101_files
from cvzoo.links.model.preparation.resize_shortest_edge import ResizeShortestEdge
from cvzoo.links.model.pretrained.detector import detector_source
from cvzoo.links.model.pretrained.load import load_pretrained
from cvzoo.links.model.resnet.extractor import ResNetExtractor
from cvzoo.typing.aliases import Array

_AT_LEAST = 8  # pixels, the minimum side for the pooling after the first convolution


@dataclasses.dataclass(frozen=True, kw_only=True)
class FCISConfig(AbstractConfig):
    """What an FCIS is built from; its fields are the constructor's arguments."""

    n_fg_class: int = classes_field()
    min_size: int = resized_field(help="length of the resized image's short side")
    max_size: int = resized_field(help="most that the resized image's long side may have")
    roi_size: int = count_field(help="cells of a region along a side")
    group_size: int = count_field(help="kinds of cells along a side")
    ratios: tuple[float, ...] = config_field(help="heights over widths of the anchors", above=0)
    anchor_scales: tuple[float, ...] = config_field(help="sides of the anchors", unit="strides", above=0)
    proposal_creator: ProposalCreator = config_field(help="selects the region proposals", adjustable=True)
    iter2: bool = config_field(help="a second pass on the refined regions", adjustable=True)
    n_layer: int = count_field(help="layers of the ResNet", stored=("widths", 0))
    base_channels: int = count_field(help="channels of the ResNet's first convolution", stored=("widths", 1))
    rpn_channels: int = count_field(help="channels of the region proposal network", stored=("widths", 2))
    mid_channels: int = count_field(help="channels of the head's first convolution", stored=("widths", 3))


class FCISResNet101(AbstractInstanceSegmenter):
    """FCIS on ResNet-101, an instance segmentation network (Li et al., 2017).

    n_fg_class: number of classes; None: those of label_names, else of the file, else VOC's 20
    pretrained_model: "sbd", "coco" (trained by ChainerCV), "sbd_converted", "coco_converted" (the authors'), "imagenet"
        (a ResNet-101, for the backbone), or the path of such a file or of one that cvzoo saved. Where the classes
        differ, the layer of classes is initialized anew, with a warning and a `load_report`
    label_names: class names; None: the file's, if it has as many classes
    min_size, max_size: the image's short side is resized to min_size, unless its long side would exceed max_size
    roi_size, group_size: regions are pooled to roi_size x roi_size cells of group_size x group_size position-sensitive
        maps
    ratios, anchor_scales: of the anchors, see `generate_anchor_base`; None for the scales: as published for SBD, or for
        COCO if there are 80 classes
    proposal_creator: selects the region proposals; None: as published
    iter2: whether the head runs a second time on the refined regions
    n_layer, base_channels, rpn_channels, mid_channels: depth and widths; only the defaults have published weights
    Raises ValueRangeError if names and classes differ in number, or for an unknown name or missing file;
    WeightsMismatchError if the file does not fit; what reading it raises.

    mask_merge_thresh, binary_thresh: see `mask_voting`
    min_drop_size: boxes with a side of at most this are dropped, pixels of the image
    The backbone's normalizations are frozen; C5 has stride 16, dilated.
    Source: Li et al., "Fully Convolutional Instance-aware Semantic Segmentation", 2017.
    """

    presets = {"visualize": Preset(0.3, 0.7), "evaluate": Preset(0.3, 1e-3)}
    limit = 100
    mean = (123.15, 115.90, 103.06)
    loc_normalize_mean = (0.0, 0.0, 0.0, 0.0)
    loc_normalize_std = (0.2, 0.2, 0.5, 0.5)
    mask_merge_thresh = 0.5
    binary_thresh = 0.4
    min_drop_size = 16

    def __init__(
        self,
        n_fg_class: int | None = None,
        pretrained_model: str | os.PathLike | None = None,
        *,
        label_names: Sequence[str] | None = None,
        min_size: int = 600,
        max_size: int = 1000,
        roi_size: int = 21,
        group_size: int = 7,
        ratios: Sequence[float] = (0.5, 1, 2),
        anchor_scales: Sequence[float] | None = None,
        proposal_creator: ProposalCreator | None = None,
        iter2: bool = True,
        n_layer: int = 101,
        base_channels: int = 64,
        rpn_channels: int = 512,
        mid_channels: int = 1024,
    ):
        files = resnet101_files(
            "FCISResNet101",
            "head/cls_seg/b",
            n_each=2 * group_size * group_size,
            known_names=(coco_bbox_label_names,),
            default_names=voc_bbox_label_names,
        )
        source = detector_source(
            pretrained_model,
            WEIGHTS,
            files,
            n_fg_class=n_fg_class,
            label_names=label_names,
        )
        self.n_fg_class, self.label_names = source.n_fg_class, source.label_names
        trained_on = self.n_fg_class if source.file is None else source.file.n_class or self.n_fg_class
        scales, creator = COCO_PROPOSALS if trained_on == len(coco_bbox_label_names) else SBD_PROPOSALS
        anchor_scales = scales if anchor_scales is None else anchor_scales
        self.min_size, self.max_size = min_size, max_size
        self.ratios, self.anchor_scales = tuple(ratios), tuple(anchor_scales)
        self.roi_size, self.group_size, self.iter2 = roi_size, group_size, iter2
        with self.init_scope():
            self.extractor = ResNetExtractor(
                n_layer,
                base_channels=base_channels,
                arch="he",
                pool="cover",
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
                proposal_creator=creator if proposal_creator is None else proposal_creator,
            )
            self.head = FCISResNet101Head(
                self.n_fg_class + 1,
                roi_size,
                group_size,
                loc_normalize_mean=self.loc_normalize_mean,
                loc_normalize_std=self.loc_normalize_std,
                in_channels=for_head,
                mid_channels=mid_channels,
            )
        self.config = FCISConfig(
            n_fg_class=self.n_fg_class,
            min_size=min_size,
            max_size=max_size,
            ratios=self.ratios,
            anchor_scales=self.anchor_scales,
            proposal_creator=self.proposal_creator,
            roi_size=roi_size,
            group_size=group_size,
            iter2=iter2,
            n_layer=n_layer,
            base_channels=base_channels,
            rpn_channels=rpn_channels,
            mid_channels=mid_channels,
        )
        self.load_report = load_pretrained(self, source.file, may_start_anew=("head/cls_seg",))
        self.use_preset("visualize")

    @property
    def proposal_creator(self) -> ProposalCreator:
        """What keeps the best regions."""
        return self.rpn.proposal_creator

    @property
    def preparation(self) -> ResizeShortestEdge:
        """A resize, then subtraction of `mean`; very narrow images are padded with zeros."""
        return ResizeShortestEdge(
            self.min_size, self.max_size, mean=self.mean, sides="chainercv", one_scale=True, at_least=_AT_LEAST
        )

    def features(self, x: Variable | Array) -> tuple[Variable, Variable]:
        """C4 and C5 of x (B, 3, H, W), both of stride 16."""
        return self.extractor(x)[-2:]

    def forward(self, x: Variable | Array, scales: float | Sequence[float] = 1.0) -> RegionOutputs:
        """The head's outputs for the regions of x (B, 3, H, W); scales: of each image in x."""
        for_rpn, for_head = self.features(x)
        _, _, rois, roi_indices, _ = self.rpn(for_rpn, x.shape[2:], scales)
        return self.head(for_head, rois, roi_indices, x.shape[2:], iter2=self.iter2)

    def find_instances(self, x: np.ndarray, sizes: Sequence[tuple[int, int]]) -> list[FoundInstances]:
        """The instances of each image, best first, by mask voting."""
        scales = [self.preparation.placement(size).resized[1] / size[1] for size in sizes]
        for_rpn, for_head = self.features(x)
        _, _, rois, roi_indices, _ = self.rpn(for_rpn, x.shape[2:], scales)
        instances = []
        for i, (size, scale) in enumerate(zip(sizes, scales)):
            one = Variable(for_head.array[i : i + 1], requires_grad=False)
            roi = rois[roi_indices == i]
            out = self.head(one, roi, np.zeros(len(roi), np.int32), x.shape[2:], iter2=self.iter2)
            bbox = clip_bbox(out.rois / np.float32(scale), size)
            seg_prob, cls_prob = on_host((softmax(out.seg_scores).array, softmax(out.cls_scores).array))
            instances.append(self._voted(seg_prob[:, 1], cls_prob, bbox, size))
        return instances

    def _voted(
        self, mask_prob: np.ndarray, cls_prob: np.ndarray, bbox: np.ndarray, size: tuple[int, int]
    ) -> FoundInstances:
        voted = mask_voting(
            mask_prob,
            bbox,
            cls_prob,
            size,
            score_thresh=self.score_thresh,
            nms_thresh=self.nms_thresh,
            mask_merge_thresh=self.mask_merge_thresh,
            binary_thresh=self.binary_thresh,
            limit=self.limit,
        )
        large = np.flatnonzero(((voted.bbox[:, 2:] - voted.bbox[:, :2]) > self.min_drop_size).all(axis=1))
        order = large[np.argsort(-voted.score[large], kind="stable")]
        pixels = rounded(voted.bbox[order], size)
        masks = [window_rles([], pixels[:0, :2], size)]
        for prob, (top, left, bottom, right) in zip(voted.mask_prob[order], pixels.tolist()):
            window = resize_map(prob, (bottom - top, right - left)) > self.binary_thresh
            masks.append(window_rles([window], np.array([[top, left]]), size))
        mask = RLEs.concatenate(masks)
        return FoundInstances(mask, voted.bbox[order], voted.label[order], voted.score[order])
