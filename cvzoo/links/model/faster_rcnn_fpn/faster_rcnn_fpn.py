"""Faster R-CNN on a feature pyramid."""

import os
from collections.abc import Mapping, Sequence

import numpy as np

from cvzoo.autodiff.variable import Variable
from cvzoo.backends.detection import frame
from cvzoo.backends.dispatch import backend_of
from cvzoo.links.model.config import one_config
from cvzoo.links.model.decoding.abstract import FinishedBoxes, Found, only_found, scale_to
from cvzoo.links.model.decoding.regions import HeadOutputs, cut_frames
from cvzoo.links.model.detector import AbstractDetector, Preset
from cvzoo.links.model.faster_rcnn_fpn.config import FasterRCNNFPNConfig, pyramid_preparation
from cvzoo.links.model.faster_rcnn_fpn.names import region_networks_of_file, region_source
from cvzoo.links.model.faster_rcnn_fpn.region_network import RegionNetwork
from cvzoo.links.model.faster_rcnn_fpn.weights import (
    MOBILENET_V3_LARGE_320_FPN,
    MOBILENET_V3_LARGE_FPN,
    WEIGHTS,
    detectron2_config,
)
from cvzoo.links.model.preparation.resize_shortest_edge import ResizeShortestEdge
from cvzoo.links.model.pretrained.load import load_pretrained
from cvzoo.links.model.variant import variant
from cvzoo.typing.aliases import Array


class FasterRCNNFPN(AbstractDetector):
    """Faster R-CNN with a feature pyramid, a two-stage detector (Ren et al., 2015; Lin et al., 2017).

    n_fg_class: number of classes; None: those of label_names, else of the file
    pretrained_model: a name of `WEIGHTS` (such as "resnet50_coco"), "imagenet" or "imagenet_v2" (torchvision's
        backbones), or the path of a file of torchvision or detectron2 or of one that cvzoo saved. A detector's file is
        loaded whole; where the classes, anchors or settings differ, a warning and `load_report` list what is
        initialized anew
    label_names: class names; None: the file's, if it has as many classes
    config: architecture and preprocessing; None: as the file has it, else `FasterRCNNFPNConfig()`
    settings: the former name of config
    Raises ValueRangeError if names and classes differ in number, or for an unknown name or missing file;
    WeightsMismatchError if the file does not fit; what reading it raises.

    Source: Ren et al., Faster R-CNN, NIPS 2015; Lin et al., Feature Pyramid Networks, CVPR 2017.
    """

    # ChainerCV's threshold is 0.7; that of torchvision and detectron2, whose weights are the defaults, is 0.5
    presets = {"visualize": Preset(0.5, 0.5), "evaluate": Preset(0.5, 0.05)}
    limit = 100
    nms_thresh = 0.5

    def __init__(
        self,
        n_fg_class: int | None = None,
        pretrained_model: str | os.PathLike | None = None,
        *,
        label_names: Sequence[str] | None = None,
        config: FasterRCNNFPNConfig | None = None,
        settings: FasterRCNNFPNConfig | None = None,
    ):
        source = region_source(
            pretrained_model,
            WEIGHTS,
            architecture="FasterRCNNFPN",
            n_fg_class=n_fg_class,
            label_names=label_names,
            config=one_config(config, settings),
        )
        self.n_fg_class, self.label_names = source.n_fg_class, source.label_names
        self.config = self.settings = source.config
        with self.init_scope():
            self.regions = RegionNetwork(self.n_fg_class, self.settings)
        written = region_networks_of_file(source, lambda n, own: FasterRCNNFPN(n, config=own))
        self.load_report = load_pretrained(self, source.file, as_written=written)
        source.use_thresholds(self)

    @property
    def preparation(self) -> ResizeShortestEdge:
        """See `pyramid_preparation`."""
        return pyramid_preparation(self.settings)

    def forward(self, x: Variable | Array) -> tuple[Variable, ...]:
        """The pyramid's maps, see `RegionNetwork`."""
        return self.regions(x)

    def find(self, x: np.ndarray, sizes: Sequence[tuple[int, int]]) -> list[Found]:
        """As in `AbstractDetector`."""
        outputs, frames, _ = self._second_stage(x, sizes)
        boxes = []
        for each in outputs:
            candidates = self.regions.candidates(each, frames[each.batch.images], self.score_thresh)
            boxes += [Found(*one) for one in backend_of(each.conf).candidate_boxes(candidates)]
        return boxes

    def finished_boxes(self, x: Variable | Array, sizes: Sequence[tuple[int, int]]) -> FinishedBoxes:
        """As in `AbstractDetector`."""
        outputs, frames, host_frames = self._second_stage(x, sizes)

        def again(i: int) -> Found:
            here = outputs[0].image_on_host(i)
            return only_found(self.regions.finished(here, host_frames[i : i + 1], self, cut=self.clip))

        results = [self.regions.finished(each, frames[each.batch.images], self, cut=self.clip) for each in outputs]
        return FinishedBoxes(results, again)

    def _second_stage(
        self, x: Variable | Array, sizes: Sequence[tuple[int, int]]
    ) -> tuple[list[HeadOutputs], Array, np.ndarray]:
        """The outputs of the second stage, and the images' frames: on x's device, and on the host."""
        resized_sizes = [self.placement(size).resized for size in sizes]
        pairs = zip(sizes, resized_sizes)
        host_frames = np.stack([frame(z, cut=resized, factor=scale_to(z, resized)) for z, resized in pairs])
        maps = self.regions(x)
        cuts, frames = backend_of(maps[0].array).upload([cut_frames(resized_sizes), host_frames])
        return self.regions.second_stage(maps, (x.shape[2], x.shape[3]), cuts), frames, host_frames


Name = str | os.PathLike | None
_MOBILENETS = {"mobilenet_v3_large": MOBILENET_V3_LARGE_FPN, "mobilenet_v3_large_320": MOBILENET_V3_LARGE_320_FPN}


def published_variant(
    kind: str, pretrained_model: Name, config: FasterRCNNFPNConfig | None, weights: Mapping[str, object]
) -> tuple[Name, FasterRCNNFPNConfig | None]:
    """Resolves a variant's pretrained_model and config.

    kind: of the backbone, the prefix of the keys in the family's table
    Returns the key of the family's table, "resnet50_coco" for "coco", or ChainerCV's if that is the only "coco" (any
    other value is unchanged); and the variant's config, unless the user or a file of a whole detector has one.
    """
    name = f"{kind}_{pretrained_model}"
    name = name if name in weights else f"{name}_chainercv"
    if config is None:
        config = _usual_config(kind, pretrained_model)
    return name if isinstance(pretrained_model, str) and name in weights else pretrained_model, config


def _usual_config(kind: str, pretrained_model: Name) -> FasterRCNNFPNConfig | None:
    if kind in _MOBILENETS:
        return _MOBILENETS[kind]
    if kind == "resnet101" and pretrained_model in ("imagenet", "imagenet_v2"):
        return FasterRCNNFPNConfig(n_layer=101, norm="frozen")
    if kind == "resnet50" or pretrained_model is not None:
        return None
    return FasterRCNNFPNConfig(n_layer=101) if kind == "resnet101" else detectron2_config(101, groups=32)


def _build(
    kind: str,
    n_fg_class: int | None = None,
    pretrained_model: str | os.PathLike | None = None,
    *,
    label_names: Sequence[str] | None = None,
    settings: FasterRCNNFPNConfig | None = None,
) -> FasterRCNNFPN:
    name, settings = published_variant(kind, pretrained_model, settings, WEIGHTS)
    return FasterRCNNFPN(n_fg_class, name, label_names=label_names, settings=settings)


FasterRCNNFPNResNet50 = variant(
    "FasterRCNNFPNResNet50",
    _build,
    "resnet50",
    'A `FasterRCNNFPN` on a ResNet-50; "coco" and "coco_v2" are torchvision\'s weights, "imagenet" is a backbone',
)
FasterRCNNFPNResNet101 = variant(
    "FasterRCNNFPNResNet101",
    _build,
    "resnet101",
    'A `FasterRCNNFPN` on a ResNet-101; "coco" are ChainerCV\'s weights, "coco_detectron2_3x" detectron2\'s',
)
FasterRCNNFPNResNeXt101 = variant(
    "FasterRCNNFPNResNeXt101",
    _build,
    "resnext101_32x8d",
    'A `FasterRCNNFPN` on a ResNeXt-101 32x8d; "coco_detectron2_3x" are detectron2\'s weights',
)
FasterRCNNFPNMobileNetV3Large = variant(
    "FasterRCNNFPNMobileNetV3Large",
    _build,
    "mobilenet_v3_large",
    'A `FasterRCNNFPN` on a MobileNetV3; "coco" are torchvision\'s weights',
)
FasterRCNNFPNMobileNetV3Large320 = variant(
    "FasterRCNNFPNMobileNetV3Large320",
    _build,
    "mobilenet_v3_large_320",
    'A `FasterRCNNFPN` on a MobileNetV3 for small images; "coco" are torchvision\'s weights',
)
