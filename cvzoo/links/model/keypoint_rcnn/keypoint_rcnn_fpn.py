"""Keypoint R-CNN on a feature pyramid, a keypoint detector (He et al., 2017)."""

import dataclasses
import os
from collections.abc import Sequence

import numpy as np

import cvzoo.functions as F
from cvzoo.autodiff.variable import Variable
from cvzoo.errors.exceptions import ValueRangeError
from cvzoo.functions.array.dtypes import widened
from cvzoo.initializers.normal import Normal
from cvzoo.labels.coco import coco_bbox_label_names
from cvzoo.links.chain import Chain, ChainList
from cvzoo.links.connection.deconvolution_2d import Deconvolution2D
from cvzoo.links.model.config import AbstractConfig, config_field, config_from_json, count_field
from cvzoo.links.model.decoding.abstract import Found
from cvzoo.links.model.faster_rcnn_fpn.config import FasterRCNNFPNConfig, pyramid_preparation
from cvzoo.links.model.faster_rcnn_fpn.faster_rcnn_fpn import published_variant
from cvzoo.links.model.faster_rcnn_fpn.names import region_networks_of_file, region_source
from cvzoo.links.model.faster_rcnn_fpn.region_network import RegionNetwork, region_conv, to_image_pixels
from cvzoo.links.model.keypoint_detector import AbstractKeypointDetector, FoundPoints
from cvzoo.links.model.keypoint_rcnn.weights import COCO_POINT_NAMES, WEIGHTS
from cvzoo.links.model.preparation.resize_shortest_edge import ResizeShortestEdge
from cvzoo.links.model.pretrained.load import load_pretrained
from cvzoo.links.model.variant import variant
from cvzoo.typing.aliases import Array


@dataclasses.dataclass(frozen=True, kw_only=True)
class PointHeadConfig(AbstractConfig):
    """What a keypoint head is built from. Raises ValueRangeError."""

    n_point: int = count_field(17, help="keypoints of an object")
    depth: int = count_field(8, help="3 x 3 convolutions of `channels`", at_least=0)
    channels: int = count_field(512, help="channels of the convolutions")
    roi_size: int = count_field(14, help="side of a region's grid; the heatmaps' is four times that")


PointHeadSettings = PointHeadConfig  # its name before configs were files' headers, too


@dataclasses.dataclass(frozen=True, kw_only=True)
class KeypointRCNNFPNConfig(AbstractConfig):
    """What a Keypoint R-CNN is built from; its fields are the constructor's arguments."""

    n_fg_class: int = count_field(help="number of classes")
    settings: FasterRCNNFPNConfig = config_field(help="the detector of the boxes")
    point_settings: PointHeadConfig = config_field(help="the keypoint head")
    point_names: tuple[str, ...] | None = config_field(help="names of the keypoints; None: none")


class PointHead(Chain):
    """Keypoint head: convolutions, a transposed convolution of stride 2, and bilinear upsampling by 2."""

    rows_vary = True

    def __init__(self, in_channels: int, settings: PointHeadConfig):
        s = settings
        with self.init_scope():
            self.convs = ChainList()
            width = in_channels
            for _ in range(s.depth):
                self.convs.append(region_conv(width, s.channels, None))
                width = s.channels
            self.out = Deconvolution2D(width, s.n_point, 4, 2, 1, initialW=Normal((2 / (16 * s.n_point)) ** 0.5))

    def forward(self, x: Variable | Array) -> Variable:
        """(R, n_point, 4 * size, 4 * size): heatmaps of logits; x: (R, in_channels, size, size)."""
        for conv in self.convs:
            x = conv(x)
        h = self.out(x)
        return F.resize_images(h, (2 * h.shape[2], 2 * h.shape[3]), align_corners=False)


def decode_points(maps: np.ndarray, bbox: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """(R, K, 2) float32, y x, and (R, K) float32 scores: the maximum of each heatmap, at the box's resolution.

    maps: (R, K, M, M) float32; bbox: (R, 4) float32, y_min x_min y_max x_max: the region of each map

    Heatmaps are resized by cubic interpolation to the box's size, rounded up; a keypoint is the center of a pixel.
    Source: He et al., Mask R-CNN, 2017, section 5; the cubic as torchvision has it (a = -0.75).
    """
    point = np.empty((*maps.shape[:2], 2), np.float32)
    score = np.empty(maps.shape[:2], np.float32)
    for r, (one, bb) in enumerate(zip(maps, bbox)):
        sides = np.maximum(bb[2:] - bb[:2], np.float32(1))
        height, width = (int(n) for n in np.ceil(sides))
        rows, columns = cubic_weights(one.shape[1], height), cubic_weights(one.shape[2], width)
        large = (rows @ one @ columns.T).reshape(len(one), -1)
        best = large.argmax(axis=1)
        place = np.stack(np.divmod(best, width), axis=1).astype(np.float32) + np.float32(0.5)
        # the heatmap has a whole number of pixels, the box need not
        point[r] = place * (sides / np.asarray([height, width], np.float32)) + bb[:2]
        score[r] = large[np.arange(len(one)), best]
    return point, score


def cubic_weights(n_in: int, n_out: int) -> np.ndarray:
    """(n_out, n_in) float32: cubic interpolation weights from n_in to n_out pixels, with half-pixel centers."""
    place = (np.arange(n_out, dtype=np.float32) + np.float32(0.5)) * np.float32(n_in / n_out) - np.float32(0.5)
    # the cubic kernel of OpenCV and torch
    low, a = np.floor(place), -0.75
    t = place - low
    weights = np.zeros((n_out, n_in), np.float32)
    row = np.arange(n_out)
    for k in range(-1, 3):
        d = np.abs(t - k)
        near = ((a + 2) * d - (a + 3)) * d * d + 1
        far = ((a * d - 5 * a) * d + 8 * a) * d - 4 * a
        np.add.at(weights, (row, np.clip(low.astype(np.int64) + k, 0, n_in - 1)), np.where(d <= 1, near, far))
    return weights


class KeypointRCNNFPN(AbstractKeypointDetector):
    """Keypoint R-CNN with a feature pyramid, a keypoint detector (He et al., 2017).

    n_fg_class, pretrained_model, label_names, settings, and errors: as in `FasterRCNNFPN`, with the names of
        this family's `WEIGHTS`
    point_settings: of the keypoint head; None: the file's, else `PointHeadConfig()`
    point_names: names of the keypoints; None: COCO's, if there are 17

    Source: He et al., Mask R-CNN, ICCV 2017, section 5.
    """

    def __init__(
        self,
        n_fg_class: int | None = None,
        pretrained_model: str | os.PathLike | None = None,
        *,
        label_names: Sequence[str] | None = None,
        settings: FasterRCNNFPNConfig | None = None,
        point_settings: PointHeadConfig | None = None,
        point_names: Sequence[str] | None = None,
    ):
        source = region_source(
            pretrained_model,
            WEIGHTS,
            architecture="KeypointRCNNFPN",
            n_fg_class=n_fg_class,
            label_names=label_names,
            config=settings,
            known_names=(("person",), coco_bbox_label_names),
        )
        stored = None
        arrays = {} if source.file is None else source.file.arrays
        if source.file is not None and source.file.header is not None:
            extra = source.file.header.settings
            stored = config_from_json(PointHeadConfig, extra["point_settings"])
            point_settings = stored if point_settings is None else point_settings
            if point_names is None and point_settings == stored:
                point_names = extra["point_names"]
        is_given = point_settings is not None
        point_settings = PointHeadConfig() if point_settings is None else point_settings
        if point_names is None and point_settings.n_point == len(COCO_POINT_NAMES):
            point_names = COCO_POINT_NAMES
        if point_names is not None and len(point_names) != point_settings.n_point:
            raise ValueRangeError(
                "point_names must have one name per keypoint", expected=point_settings.n_point, got=len(point_names)
            )
        self.settings, self.n_fg_class, self.label_names = source.config, source.n_fg_class, source.label_names
        self.point_settings = point_settings
        self.point_names = None if point_names is None else tuple(point_names)
        self.config = KeypointRCNNFPNConfig(
            n_fg_class=self.n_fg_class,
            settings=self.settings,
            point_settings=point_settings,
            point_names=self.point_names,
        )
        with self.init_scope():
            self.regions = RegionNetwork(self.n_fg_class, self.settings)
            self.point_head = PointHead(self.settings.channels, point_settings)

        def make(n: int, own: FasterRCNNFPNConfig) -> KeypointRCNNFPN:
            head = stored
            if head is None:
                n_point = max(np.size(arrays.get("point_head/out/b", ())), 1) if is_given else point_settings.n_point
                head = dataclasses.replace(point_settings, n_point=n_point)
            return KeypointRCNNFPN(n, settings=own, point_settings=head)

        self.load_report = load_pretrained(self, source.file, as_written=region_networks_of_file(source, make))
        source.use_thresholds(self)

    @property
    def preparation(self) -> ResizeShortestEdge:
        """See `pyramid_preparation`."""
        return pyramid_preparation(self.settings)

    def forward(self, x: Variable | Array) -> tuple[Variable, ...]:
        """The pyramid's maps, see `RegionNetwork`."""
        return self.regions(x)

    def find_points(self, x: np.ndarray, sizes: Sequence[tuple[int, int]]) -> list[FoundPoints]:
        """As in `AbstractKeypointDetector`."""
        resized_sizes = [self.preparation.placement(size).resized for size in sizes]
        outputs = self.regions.third_stage(
            *(self.regions(x), x.shape[2:], resized_sizes),
            thresholds=self,
            roi_size=self.point_settings.roi_size,
            head=lambda regions, label: widened(self.point_head(regions)).array,
        )
        return [self._placed(said, each, *ends) for (each, said), *ends in zip(outputs, resized_sizes, sizes)]

    def _placed(
        self, heat: np.ndarray, detected: Found, resized: tuple[int, int], size: tuple[int, int]
    ) -> FoundPoints:
        """heat: (R, K, M, M) of the detected boxes, in pixels of the network's input."""
        bbox, label, score = detected
        point, point_score = decode_points(heat, bbox)
        point = point * (np.asarray(size, np.float32) / np.asarray(resized, np.float32))
        return FoundPoints(point, to_image_pixels(bbox, resized, size), label, score, point_score)


def _build(
    kind: str,
    n_fg_class: int | None = None,
    pretrained_model: str | os.PathLike | None = None,
    *,
    label_names: Sequence[str] | None = None,
    settings: FasterRCNNFPNConfig | None = None,
) -> KeypointRCNNFPN:
    name, settings = published_variant(kind, pretrained_model, settings, WEIGHTS)
    return KeypointRCNNFPN(n_fg_class, name, label_names=label_names, settings=settings)


KeypointRCNNFPNResNet50 = variant(
    "KeypointRCNNFPNResNet50",
    _build,
    "resnet50",
    'A `KeypointRCNNFPN` on a ResNet-50; "coco" are torchvision\'s weights, "imagenet" is a backbone',
)
KeypointRCNNFPNResNet101 = variant(
    "KeypointRCNNFPNResNet101",
    _build,
    "resnet101",
    'A `KeypointRCNNFPN` on a ResNet-101; "coco_detectron2_3x" are detectron2\'s weights, "imagenet" is a backbone',
)
KeypointRCNNFPNResNeXt101 = variant(
    "KeypointRCNNFPNResNeXt101",
    _build,
    "resnext101_32x8d",
    'A `KeypointRCNNFPN` on a ResNeXt-101 32x8d; "coco_detectron2_3x" are detectron2\'s weights',
)
