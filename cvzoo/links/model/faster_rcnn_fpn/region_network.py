"""The common parts of two-stage detectors on a pyramid: backbone, feature pyramid, region proposals and box head."""

import dataclasses
import functools
from collections.abc import Callable, Sequence
from typing import TypeVar

import numpy as np

import cvzoo.functions as F
from cvzoo.autodiff.variable import Variable
from cvzoo.backends.detection import packed_boxes, unpacked_boxes
from cvzoo.backends.dispatch import backend_of
from cvzoo.backends.interface import State
from cvzoo.backends.transfer import on_host
from cvzoo.functions.array.concat import concat
from cvzoo.functions.array.dtypes import widened
from cvzoo.functions.roi.roi_average_pooling_2d import roi_average_align_levels
from cvzoo.geometry.anchors import cell_anchors
from cvzoo.initializers.normal import Normal
from cvzoo.initializers.uniform import LeCunUniform
from cvzoo.links.chain import Chain, ChainList
from cvzoo.links.connection.conv_2d_bn_activ import Conv2DActiv, ConvNormActiv, Norm
from cvzoo.links.connection.convolution_2d import Convolution2D
from cvzoo.links.connection.linear import Linear
from cvzoo.links.model.decoding.abstract import FinishedBoxes, Found, only_found
from cvzoo.links.model.decoding.anchor_levels import LevelAnchors, as_cell
from cvzoo.links.model.decoding.regions import HeadOutputs, LevelProposals, Regions, cut_frames, image_indices
from cvzoo.links.model.faster_rcnn_fpn.config import FasterRCNNFPNConfig
from cvzoo.links.model.fpn.fpn import FPN
from cvzoo.links.model.mobilenet_v3.extractor import MobileNetV3Extractor
from cvzoo.links.model.resnet.extractor import ResNetExtractor
from cvzoo.links.model.thresholds import AbstractThresholds
from cvzoo.typing.aliases import Array

T = TypeVar("T")


class FPNRegionProposalNetwork(Chain):
    """Region proposal network, shared by all levels: 3 x 3 convolutions, then objectness and offsets of each anchor.

    channels: of the maps
    n_anchor: anchors per position
    """

    def __init__(self, channels: int, n_anchor: int, *, depth: int = 1):
        with self.init_scope():
            self.convs = ChainList(
                *(Conv2DActiv(channels, channels, 3, 1, 1, initialW=Normal(0.01)) for _ in range(depth))
            )
            self.loc = Convolution2D(channels, 4 * n_anchor, 1, initialW=Normal(0.01))
            self.conf = Convolution2D(channels, n_anchor, 1, initialW=Normal(0.01))

    def forward(self, maps: Sequence[Variable]) -> tuple[list[Variable], list[Variable]]:
        """For each level: locs (B, A, 4), dy dx dh dw; confs (B, A), logits.

        maps: (B, channels, H, W) each; A is ordered by row, column and anchor of the position
        """
        locs, confs = [], []
        for h in maps:
            for conv in self.convs:
                h = conv(h)
            locs.append(widened(F.reshape(F.transpose(self.loc(h), (0, 2, 3, 1)), (h.shape[0], -1, 4))))
            confs.append(widened(F.reshape(F.transpose(self.conf(h), (0, 2, 3, 1)), (h.shape[0], -1))))
        return locs, confs


@functools.lru_cache(maxsize=32)
def region_anchors(config: FasterRCNNFPNConfig) -> LevelAnchors:
    """The anchors of the region proposal network, in the style that the config names after its publisher."""
    strides = (*config.strides, 2 * config.strides[-1])
    cells = []
    for sizes, stride in zip(config.anchor_sizes, strides):
        if config.anchor_style == "chainercv":
            cell = rounded_at_stride(sizes, config.anchor_ratios, stride)
        else:
            cell = cell_anchors(sizes, config.anchor_ratios, rounded=config.anchor_style == "torchvision")
        cells.append(as_cell(cell))
    return LevelAnchors(tuple(cells), strides[: len(cells)], whole_steps=config.anchor_style == "torchvision")


def rounded_at_stride(sizes: Sequence[float], ratios: Sequence[float], stride: int) -> np.ndarray:
    """(K, 4) float32: sides are rounded at the stride's size, then scaled; around the center of the position."""
    cells = []
    for ratio in ratios:
        width = np.round(stride / np.sqrt(ratio))
        sides = np.array([np.round(width * ratio), width]) / stride
        half = np.outer(np.asarray(sizes, np.float64), sides) / 2
        cells.append(np.concatenate([stride / 2 - half, stride / 2 + half], axis=1))
    return np.concatenate(cells).astype(np.float32)


class FPNBoxHead(Chain):
    """Box head: convolutions, fully connected layers, class logits and box offsets per class.

    channels: of the regions
    n_fg_class: number of classes
    size: cells of a region along a side
    n_conv: number of 3 x 3 convolutions of `channels`, normalized if norm is not None
    n_fc, width: number of fully connected layers, and their number of outputs
    """

    rows_vary = True

    def __init__(
        self,
        channels: int,
        n_fg_class: int,
        *,
        size: int = 7,
        n_conv: int = 0,
        n_fc: int = 2,
        width: int = 1024,
        norm: Norm | None = None,
    ):
        with self.init_scope():
            self.convs = ChainList(*(region_conv(channels, channels, norm) for _ in range(n_conv)))
            # a fully connected layer on a region is a convolution with a kernel of the region's size, which reads the
            # channels-last region in its memory format without a copy
            first = Conv2DActiv(channels, width, size, initialW=LeCunUniform())
            others = (Conv2DActiv(width, width, 1, initialW=LeCunUniform()) for _ in range(n_fc - 1))
            self.fcs = ChainList(first, *others)
            # Fast R-CNN's deviations (section 2.3), the smaller one for offsets
            self.loc = Linear(width, 4 * n_fg_class, initialW=Normal(0.001))
            self.conf = Linear(width, n_fg_class + 1, initialW=Normal(0.01))

    def forward(self, x: Variable | Array) -> tuple[Variable, Variable]:
        """loc (R, 4 * n_fg_class): dy dx dh dw of each class; conf (R, n_fg_class + 1), background first.

        x: (R, channels, size, size), the regions
        """
        for conv in self.convs:
            x = conv(x)
        for fc in self.fcs:
            x = fc(x)
        x = F.reshape(x, x.shape[:2])
        return widened(self.loc(x)), widened(self.conf(x))


def region_conv(n_in: int, n_out: int, norm: Norm | None) -> Chain:
    """A 3 x 3 convolution with relu, normalized if norm is not None, with He initialization."""
    if norm is not None:
        return ConvNormActiv(n_in, n_out, 3, norm=norm)
    return Conv2DActiv(n_in, n_out, 3, 1, 1, initialW=Normal((2 / (9 * n_out)) ** 0.5))


class RegionNetwork(Chain):
    """Backbone, pyramid, region proposal network and box head.

    n_fg_class: number of classes
    settings: its config
    """

    def __init__(self, n_fg_class: int, settings: FasterRCNNFPNConfig):
        s = settings
        self.settings = s
        # torchvision's limit for final boxes; proposals have 1e-3
        self.decoding = Regions(n_class=n_fg_class, std=(*s.loc_std,), min_side=1e-2)
        with self.init_scope():
            self.extractor, self.fpn = make_backbone(s)
            self.rpn = FPNRegionProposalNetwork(s.channels, s.n_anchor, depth=s.rpn_depth)
            self.box_head = FPNBoxHead(
                s.channels,
                n_fg_class,
                size=s.roi_size,
                n_conv=s.head_convs,
                n_fc=s.head_fcs,
                width=s.head_width,
                norm=s.fpn_norm,
            )

    def forward(self, x: Variable | Array) -> tuple[Variable, ...]:
        """The maps (B, channels, H', W'), the finest first, of x (B, 3, H, W); the last is for proposals only."""
        return self.fpn(picked_maps(self.extractor(x), self.settings))

    @property
    def level_proposals(self) -> LevelProposals:
        """The decoding of the region proposal network's outputs."""
        s = self.settings
        return LevelProposals(
            anchors=region_anchors(s),
            n_proposal=s.n_proposal,
            nms_thresh=s.rpn_nms_thresh,
            score_thresh=s.rpn_score_thresh,
        )

    def proposals(
        self,
        locs: Sequence[np.ndarray],
        confs: Sequence[np.ndarray],
        size: tuple[int, int],
        resized_sizes: Sequence[tuple[int, int]],
        n_proposal: int | None = None,
    ) -> list[np.ndarray]:
        """For each image (P, 4) float32, best first.

        locs, confs: host arrays of each level, outputs of the region proposal network
        size: (H, W) of the network's input; resized_sizes: (H, W) of each image in it, without padding
        n_proposal: None: the config's
        """
        decoding = self.level_proposals
        if n_proposal is not None:
            decoding = dataclasses.replace(decoding, n_proposal=n_proposal)
        loc, conf = np.concatenate(locs, axis=1), np.concatenate(confs, axis=1)
        return decoding.propose(loc, conf, size, cut_frames(resized_sizes)).on_images()

    def regions(self, maps: Sequence[Variable], bbox: np.ndarray, image: np.ndarray, size: int) -> Variable:
        """(R, C, size, size) of boxes (R, 4) in images (R,) int32; see `pyramid_regions`."""
        s = self.settings
        return pyramid_regions(
            maps, bbox, image, s.strides, size=size, sampling_ratio=s.sampling_ratio, aligned=s.roi_aligned
        )

    def second_stage(self, maps: Sequence[Variable], size: tuple[int, int], frames: Array) -> list[HeadOutputs]:
        """The outputs of the second stage for the proposals, batch by batch.

        maps: outputs of `forward`; size: (H, W) of the network's input
        frames: (B, 11) float32 on the maps' device, of `cut_frames` for the resized images
        """
        locs, confs = self.rpn(maps)
        loc, conf = concat(locs, axis=1).array, concat(confs, axis=1).array
        outputs = []
        for batch in self.level_proposals.propose(loc, conf, size, frames).batches():
            numbers = batch.image_index + np.int32(batch.images.start)
            head = self.box_head(self.regions(maps, batch.bbox, numbers, self.settings.roi_size))
            b, n, _ = batch.proposals.bbox.shape
            box, score = (each.array.reshape(b, n, each.shape[1]) for each in head)
            outputs.append(HeadOutputs(batch, box, score))
        return outputs

    def candidates(self, outputs: HeadOutputs, frames: Array, score_thresh: float) -> State:
        """The boxes with scores above `score_thresh`, for `nms` of their backend.

        frames: (B, 11) float32 of the batch's images, see `cvzoo.backends.detection.frame`
        """
        batch, loc, conf = outputs
        return self.decoding.candidates(batch.proposals, loc, conf, frames=frames, score_thresh=score_thresh)

    def finished(self, outputs: HeadOutputs, frames: Array, thresholds: AbstractThresholds, *, cut: bool) -> Array:
        """(B, N) float32 for `unpacked_boxes`: the boxes left after NMS; cut: whether they are clipped to the image.

        thresholds: of the model; frames: as for `candidates`
        """
        backend = backend_of(outputs.conf)
        candidates = self.candidates(outputs, frames, thresholds.score_thresh)
        kept = backend.nms(candidates, iou_thresh=thresholds.nms_thresh, limit=thresholds.limit)
        return backend.finish_boxes(kept, frames=frames, cut=cut)

    def third_stage(
        self,
        maps: Sequence[Variable],
        size: tuple[int, int],
        resized_sizes: Sequence[tuple[int, int]],
        *,
        thresholds: AbstractThresholds,
        roi_size: int,
        head: Callable[[Variable, Array], Array],
    ) -> list[tuple[Found, np.ndarray]]:
        """For each image the boxes left after NMS, in pixels of the network's input, and their outputs of `head`.

        resized_sizes: (H, W) of the resized images
        head: from regions (R, C, roi_size, roi_size) and labels (R,) to (R, ...)
        With a limit there is one copy from a GPU, unless there are more candidates than its kernels can hold.
        """
        host_frames = cut_frames(resized_sizes)
        (frames,) = backend_of(maps[0].array).upload([host_frames])
        results: list[tuple[Found, np.ndarray]] = []
        for outputs in self.second_stage(maps, size, frames):
            images = outputs.batch.images
            result = self.finished(outputs, frames[images], thresholds, cut=False)
            if thresholds.limit is not None:
                bbox, label = packed_boxes(result)
                b, n, _ = bbox.shape
                numbers = image_indices(b, n, bbox) + np.int32(images.start)
                said = head(self.regions(maps, bbox.reshape(-1, 4), numbers, roi_size), label.reshape(-1))
                boxes, said = on_host([result, said])
                each = unpacked_boxes(boxes)
                whole = [one for one in each if one is not None]
                if len(whole) == len(each):
                    said = said.reshape(b, n, *said.shape[1:])
                    results += [(Found(*one), of_one[: len(one[0])]) for one, of_one in zip(whole, said)]
                    continue

            def again(i: int, outputs: HeadOutputs = outputs) -> Found:
                here = outputs.image_on_host(i)
                return only_found(self.finished(here, host_frames[i : i + 1], thresholds, cut=False))

            for i, one in enumerate(FinishedBoxes([result], again).on_host(), images.start):
                regions = self.regions(maps, one.bbox, np.full(len(one.bbox), i, np.int32), roi_size)
                (said,) = on_host([head(regions, one.label)])
                results.append((one, said))
        return results


def to_image_pixels(bbox: np.ndarray, resized: Sequence[int], size: Sequence[int]) -> np.ndarray:
    """The boxes in pixels of the image of `size` (H, W), from those of the resized one."""
    return bbox * np.tile(np.asarray(size, np.float32) / np.asarray(resized, np.float32), 2)


# layers of MobileNetV3 whose outputs are the pyramid's inputs: the first of the last stage, and the last
_MOBILENET_LAYERS = (13, 16)


def make_backbone(settings: FasterRCNNFPNConfig) -> tuple[Chain, FPN]:
    """The backbone, and the pyramid on `picked_maps` of its outputs for x (B, 3, H, W), with one additional level."""
    s = settings
    if s.backbone == "resnet":
        extractor: ResNetExtractor | MobileNetV3Extractor = ResNetExtractor(
            s.n_layer,
            base_channels=s.base_channels,
            arch=s.arch,
            groups=s.groups,
            base_width=s.base_width,
            norm=s.norm,
            eps=s.bn_eps,
        )
    else:
        extractor = MobileNetV3Extractor("large", width=s.width, norm=s.norm, eps=s.bn_eps)
    channels = picked_maps(extractor.channels, s)
    return extractor, FPN(channels, s.channels, n_extra=1, extra_from="pool", norm=s.fpn_norm)


def picked_maps(maps: Sequence[T], settings: FasterRCNNFPNConfig) -> list[T]:
    """The backbone's maps that are the pyramid's inputs, the finest first."""
    return list(maps) if settings.backbone == "resnet" else [maps[i] for i in _MOBILENET_LAYERS]


def region_levels(bbox: Array, strides: Sequence[int]) -> Array:
    """(R,) int64 (int32 on a GPU), index of the map that each box (R, 4) is pooled from: a side of 224 has stride 16.

    Of maps of the same stride the first is used.
    Source: Lin et al., Feature Pyramid Networks, CVPR 2017, equation 1, in float32 with 1e-6 added to the logarithm.
    """
    first, last = round(np.log2(strides[0])), round(np.log2(strides[-1]))
    return backend_of(bbox).region_levels(bbox, first, last)


def pyramid_regions(
    maps: Sequence[Variable],
    bbox: np.ndarray,
    image: np.ndarray,
    strides: Sequence[int],
    *,
    size: int,
    sampling_ratio: int | None = 2,
    aligned: bool = False,
) -> Variable:
    """(R, C, size, size): each box, pooled from the map of its level.

    maps: (B, C, H, W) each, the finest first; there may be more than strides
    bbox: (R, 4) float32, pixels of the network's input; image: (R,) int32, index of each box's image in the batch
    sampling_ratio, aligned: as in `roi_average_align_2d`
    """
    scales = [1 / stride for stride in strides]
    level = region_levels(bbox, strides)
    return roi_average_align_levels(maps, bbox, image, level, size, scales, sampling_ratio, aligned=aligned)
