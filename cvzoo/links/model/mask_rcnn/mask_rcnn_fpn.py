"""Mask R-CNN on a feature pyramid, an instance segmentation network (He et al., 2017)."""

import dataclasses
import os
from collections.abc import Sequence
from typing import Literal

import numpy as np

import cvzoo.functions as F
from cvzoo.autodiff.variable import Variable
from cvzoo.backends.arrays import is_device_array
from cvzoo.backends.dispatch import backend_of
from cvzoo.functions.array.dtypes import widened
from cvzoo.initializers.normal import Normal
from cvzoo.links.chain import Chain, ChainList
from cvzoo.links.connection.conv_2d_bn_activ import Norm
from cvzoo.links.connection.convolution_2d import Convolution2D
from cvzoo.links.connection.deconvolution_2d import Deconvolution2D
from cvzoo.links.model.config import AbstractConfig, config_field, config_from_json, count_field
from cvzoo.links.model.decoding.abstract import Found
from cvzoo.links.model.faster_rcnn_fpn.config import FasterRCNNFPNConfig, pyramid_preparation
from cvzoo.links.model.faster_rcnn_fpn.faster_rcnn_fpn import published_variant
from cvzoo.links.model.faster_rcnn_fpn.names import region_networks_of_file, region_source
from cvzoo.links.model.faster_rcnn_fpn.region_network import RegionNetwork, region_conv, to_image_pixels
from cvzoo.links.model.instance_segmenter import AbstractInstanceSegmenter, FoundInstances
from cvzoo.links.model.mask_rcnn.paste_mask import paste_masks
from cvzoo.links.model.mask_rcnn.weights import WEIGHTS
from cvzoo.links.model.preparation.resize_shortest_edge import ResizeShortestEdge
from cvzoo.links.model.pretrained.load import load_pretrained
from cvzoo.links.model.variant import variant
from cvzoo.typing.aliases import Array


@dataclasses.dataclass(frozen=True, kw_only=True)
class MaskHeadConfig(AbstractConfig):
    """What a mask head is built from, and how its masks are pasted into the image. Raises ValueRangeError."""

    depth: int = count_field(4, help="3 x 3 convolutions of `channels`", at_least=0)
    channels: int = count_field(256, help="channels of the convolutions")
    roi_size: int = count_field(14, help="side of a region's grid; the mask's is twice that")
    paste: Literal["whole", "exact"] = config_field(
        "whole",
        help="whole: boxes are expanded to whole pixels, as in torchvision; exact: unchanged, as in detectron2",
    )


MaskHeadSettings = MaskHeadConfig  # its name before configs were files' headers, too


@dataclasses.dataclass(frozen=True, kw_only=True)
class MaskRCNNFPNConfig(AbstractConfig):
    """What a Mask R-CNN is built from; its fields are the constructor's arguments."""

    n_fg_class: int = count_field(help="number of classes")
    settings: FasterRCNNFPNConfig = config_field(help="the detector of the boxes")
    mask_settings: MaskHeadConfig = config_field(help="the mask head")


class MaskHead(Chain):
    """Mask head: convolutions, a transposed convolution of stride 2, and logits per class.

    in_channels: of the regions; norm: of the convolutions; None: biases instead
    """

    rows_vary = True

    def __init__(self, in_channels: int, n_fg_class: int, settings: MaskHeadConfig, *, norm: Norm | None = None):
        s = settings
        with self.init_scope():
            self.convs = ChainList()
            width = in_channels
            for _ in range(s.depth):
                self.convs.append(region_conv(width, s.channels, norm))
                width = s.channels
            self.up = Deconvolution2D(width, s.channels, 2, 2, initialW=Normal((2 / (4 * s.channels)) ** 0.5))
            self.out = Convolution2D(s.channels, n_fg_class, 1, initialW=Normal(0.01))

    def features(self, x: Variable | Array) -> Variable:
        """(R, channels, 2 * size, 2 * size), the input of the last convolution; x: (R, in_channels, size, size)."""
        for conv in self.convs:
            x = conv(x)
        return F.relu(self.up(x))

    def forward(self, x: Variable | Array) -> Variable:
        """(R, n_fg_class, 2 * size, 2 * size), logits."""
        return self.out(self.features(x))

    def probabilities(self, x: Variable | Array, label: np.ndarray) -> np.ndarray:
        """(R, 2 * size, 2 * size) float32 of each region's class `label` (R,) only."""
        features = widened(self.features(x))
        if is_device_array(features.array):
            return self._on_device(features, label)
        h = features.array
        n, channels, height, width = h.shape
        rows = h.transpose(0, 2, 3, 1).reshape(n, height * width, channels)
        assert self.out.b is not None
        filters, bias = self.out.W.array[label, :, 0, 0], self.out.b.array
        # not by BLAS, which would wake all its threads for each region's few values
        logit = np.einsum("rpc,rc->rp", rows, filters) + bias[label][:, None]
        with np.errstate(over="ignore"):  # 1 / (1 + inf) is the 0 that is meant
            return (1 / (1 + np.exp(-logit))).reshape(n, height, width)

    def _on_device(self, h: Variable, label: Array) -> Array:
        # on a GPU all classes are faster than gathering filters
        logit = widened(self.out(h)).array
        own = logit[backend_of(logit).xp.arange(logit.shape[0]), label]
        return F.sigmoid(own).array


class MaskRCNNFPN(AbstractInstanceSegmenter):
    """Mask R-CNN with a feature pyramid, an instance segmentation network (He et al., 2017).

    n_fg_class, pretrained_model, label_names, settings, and errors: as in `FasterRCNNFPN`, with the names of
        this family's `WEIGHTS`
    mask_settings: of the mask head; None: the file's, else `MaskHeadConfig()`

    mask_thresh: a pixel belongs to an object if its probability is above this
    Source: He et al., Mask R-CNN, ICCV 2017.
    """

    mask_thresh = 0.5

    def __init__(
        self,
        n_fg_class: int | None = None,
        pretrained_model: str | os.PathLike | None = None,
        *,
        label_names: Sequence[str] | None = None,
        settings: FasterRCNNFPNConfig | None = None,
        mask_settings: MaskHeadConfig | None = None,
    ):
        source = region_source(
            pretrained_model,
            WEIGHTS,
            architecture="MaskRCNNFPN",
            n_fg_class=n_fg_class,
            label_names=label_names,
            config=settings,
        )
        extra = None if source.file is None or source.file.header is None else source.file.header.settings
        own_head = None if extra is None else config_from_json(MaskHeadConfig, extra["mask_settings"])
        mask_settings = own_head if mask_settings is None else mask_settings
        if mask_settings is None:
            is_detectron2 = source.file is not None and source.file.publisher == "detectron2"
            mask_settings = MaskHeadConfig(paste="exact" if is_detectron2 else "whole")
        self.settings, self.n_fg_class, self.label_names = source.config, source.n_fg_class, source.label_names
        self.mask_settings = mask_settings
        self.config = MaskRCNNFPNConfig(n_fg_class=self.n_fg_class, settings=self.settings, mask_settings=mask_settings)
        with self.init_scope():
            self.regions = RegionNetwork(self.n_fg_class, self.settings)
            self.mask_head = MaskHead(
                self.settings.channels, self.n_fg_class, mask_settings, norm=self.settings.fpn_norm
            )
        own_head = mask_settings if own_head is None else own_head
        written = region_networks_of_file(source, lambda n, own: MaskRCNNFPN(n, settings=own, mask_settings=own_head))
        self.load_report = load_pretrained(self, source.file, as_written=written)
        source.use_thresholds(self)

    @property
    def preparation(self) -> ResizeShortestEdge:
        """See `pyramid_preparation`."""
        return pyramid_preparation(self.settings)

    def forward(self, x: Variable | Array) -> tuple[Variable, ...]:
        """The pyramid's maps, see `RegionNetwork`."""
        return self.regions(x)

    def find_instances(self, x: np.ndarray, sizes: Sequence[tuple[int, int]]) -> list[FoundInstances]:
        """As in `AbstractInstanceSegmenter`."""
        resized_sizes = [self.preparation.placement(size).resized for size in sizes]
        outputs = self.regions.third_stage(
            *(self.regions(x), x.shape[2:], resized_sizes),
            thresholds=self,
            roi_size=self.mask_settings.roi_size,
            head=self.mask_head.probabilities,
        )
        return [self._pasted(said, each, *ends) for (each, said), *ends in zip(outputs, resized_sizes, sizes)]

    def _pasted(
        self, prob: np.ndarray, detected: Found, resized: tuple[int, int], size: tuple[int, int]
    ) -> FoundInstances:
        """prob: (R, M, M) of the detected boxes, in pixels of the network's input."""
        bbox, label, score = detected
        bbox = to_image_pixels(bbox, resized, size)
        mask = paste_masks(prob, bbox, size, thresh=self.mask_thresh, how=self.mask_settings.paste)
        return FoundInstances(mask, bbox, label, score)


def _build(
    kind: str,
    n_fg_class: int | None = None,
    pretrained_model: str | os.PathLike | None = None,
    *,
    label_names: Sequence[str] | None = None,
    settings: FasterRCNNFPNConfig | None = None,
) -> MaskRCNNFPN:
    name, settings = published_variant(kind, pretrained_model, settings, WEIGHTS)
    return MaskRCNNFPN(n_fg_class, name, label_names=label_names, settings=settings)


MaskRCNNFPNResNet50 = variant(
    "MaskRCNNFPNResNet50",
    _build,
    "resnet50",
    'A `MaskRCNNFPN` on a ResNet-50; "coco" are torchvision\'s weights, "imagenet" is a backbone',
)
MaskRCNNFPNResNet101 = variant(
    "MaskRCNNFPNResNet101",
    _build,
    "resnet101",
    'A `MaskRCNNFPN` on a ResNet-101; "coco" are ChainerCV\'s weights, "coco_detectron2_3x" detectron2\'s',
)
MaskRCNNFPNResNeXt101 = variant(
    "MaskRCNNFPNResNeXt101",
    _build,
    "resnext101_32x8d",
    'A `MaskRCNNFPN` on a ResNeXt-101 32x8d; "coco_detectron2_3x" are detectron2\'s weights',
)
