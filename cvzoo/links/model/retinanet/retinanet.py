"""RetinaNet."""

import os
from collections.abc import Sequence
from typing import Any

import numpy as np

from cvzoo.autodiff.variable import Variable
from cvzoo.backends.cuda.constants import constants
from cvzoo.backends.cuda.staging import upload
from cvzoo.geometry.anchors import cell_anchors, grid_anchors
from cvzoo.labels.coco import coco_bbox_label_names
from cvzoo.links.model.config import one_config
from cvzoo.links.model.detector import AbstractOneStageDetector, Found, Preset
from cvzoo.links.model.finished_boxes import DeviceBoxes, suppressed_result
from cvzoo.links.model.fpn.fpn import FPN
from cvzoo.links.model.preparation.resize_shortest_edge import ResizeShortestEdge
from cvzoo.links.model.preparation.statistics import MEAN_OF_255, STD_OF_255
from cvzoo.links.model.preparation.torchvision_detector import torchvision_detector_preparation
from cvzoo.links.model.pretrained.detector import detector_source, networks_of_file
from cvzoo.links.model.pretrained.load import load_pretrained
from cvzoo.links.model.resnet.extractor import ResNetExtractor
from cvzoo.links.model.resnet.weights import WEIGHTS as RESNET_WEIGHTS
from cvzoo.links.model.retinanet.config import RetinaNetConfig, with_n_anchor
from cvzoo.links.model.retinanet.decode import decode_levels, decode_levels_on_device, fitted_frame
from cvzoo.links.model.retinanet.head import RetinaNetHead, prior_bias
from cvzoo.links.model.retinanet.names import NAMES, count_classes
from cvzoo.links.model.retinanet.weights import WEIGHTS


class RetinaNet(AbstractOneStageDetector):
    """Finds objects in one stage: a ResNet, a feature pyramid, and two heads that all levels share.

    n_fg_class: number of classes; None: as many as label_names, else as the file has
    pretrained_model: "coco", "coco_v2" (torchvision's detectors), "imagenet", "imagenet_v2" (torchvision's backbones),
        or the path of such a file or of one that cvzoo saved. A file of a detector is taken over whole; where other
        classes, anchors or settings are asked for, a warning names what starts anew, and so does `load_report`
    label_names: names of the classes; None: the file's, if it has as many classes
    config: how it is built and how it sees a photo; None: as the file has it, else as default_settings
    settings: older name of config
    default_settings: None: `RetinaNetConfig()`
    Raises ValueRangeError if the names are not as many as the classes, or there is no such name or file;
    WeightsMismatchError if the file lacks an array, or has one too many or of another shape; what reading it raises.

    mean, std: (3,) float32, what photos in [0, 255] are normalized by
    Source: Lin et al., Focal Loss for Dense Object Detection, ICCV 2017.
    """

    presets = {"visualize": Preset(0.5, 0.5), "evaluate": Preset(0.5, 0.05)}
    limit = 300
    nms_thresh = 0.5
    n_candidate = 1000  # of each level, at most so many go into the suppression
    mean = MEAN_OF_255
    std = STD_OF_255

    def __init__(
        self,
        n_fg_class: int | None = None,
        pretrained_model: str | os.PathLike | None = None,
        *,
        label_names: Sequence[str] | None = None,
        config: RetinaNetConfig | None = None,
        settings: RetinaNetConfig | None = None,
        default_settings: RetinaNetConfig | None = None,
    ):
        config = one_config(config, settings)
        chosen = default_settings if config is None else config
        source = detector_source(
            pretrained_model,
            {name: record for name, (record, _) in WEIGHTS.items()}
            | RESNET_WEIGHTS.get(50 if chosen is None else chosen.n_layer, {}),
            NAMES,
            architecture="RetinaNet",
            config_class=RetinaNetConfig,
            count_classes=count_classes,
            n_fg_class=n_fg_class,
            label_names=label_names,
            config=config,
            known_names=(coco_bbox_label_names,),
            base=default_settings,
        )
        self.n_fg_class, self.label_names = source.n_fg_class, source.label_names
        s = next(each for each in (source.config, default_settings, RetinaNetConfig()) if each is not None)
        self.config = self.settings = s
        with self.init_scope():
            self.extractor = ResNetExtractor(
                s.n_layer, base_channels=s.base_channels, arch=s.arch, norm=s.norm, eps=s.bn_eps
            )
            self.fpn = FPN(
                self.extractor.channels[s.first_level - 2 :],
                s.channels,
                n_extra=s.last_level - 5,
                extra_from=s.extra_from,
            )
            self.loc_head = RetinaNetHead(s.channels, s.n_anchor, 4, depth=s.head_depth, groups=s.head_groups)
            self.conf_head = RetinaNetHead(
                s.channels,
                s.n_anchor,
                self.n_fg_class,
                depth=s.head_depth,
                groups=s.head_groups,
                bias=prior_bias(s.prior),
            )
        self.load_report = load_pretrained(
            self,
            source.file,
            as_written=networks_of_file(
                source,
                s,
                lambda n, own: RetinaNet(n, config=own),
                lambda own, arrays: with_n_anchor(own, max(np.size(arrays["loc_head/out/b"]) // 4, 1)),
            ),
        )
        source.use_thresholds(self)

    @property
    def preparation(self) -> ResizeShortestEdge:  # type: ignore[override]
        """See `torchvision_detector_preparation`."""
        s = self.settings
        return torchvision_detector_preparation(s.min_size, s.max_size, antialias=s.antialias)

    def forward(self, x: Any) -> tuple[Variable, Variable]:
        """loc (B, A, 4): dy dx dh dw against `anchors`; conf (B, A, L): scores before the sigmoid.

        x: (B, 3, H, W), normalized
        A runs over the levels, the finest first, in a level by row, column and anchor of the place.
        """
        maps = self.fpn(self.extractor(x)[self.settings.first_level - 2 :])
        return self.loc_head(maps), self.conf_head(maps)

    def grids(self, size: Sequence[int]) -> tuple[tuple[int, int], ...]:
        """(H, W) of each level's map, the finest first, for an input of `size` (H, W)."""
        height, width = size
        grids = []
        for level in range(1, self.settings.last_level + 1):
            height, width = (height + 1) // 2, (width + 1) // 2
            if level >= self.settings.first_level:
                grids.append((height, width))
        return tuple(grids)

    def anchors(self, size: Sequence[int]) -> np.ndarray:
        """(A, 4) float32, y_min x_min y_max x_max, in pixels of the network's input of `size` (H, W)."""
        s = self.settings
        parts = []
        for sizes, (height, width) in zip(s.anchor_sizes, self.grids(size)):
            cell = cell_anchors(sizes, s.anchor_ratios, rounded=s.anchor_rounded)
            # whole pixels, as the published networks have it; a map of ceil(n / 2) places has another stride than 2^l
            parts.append(grid_anchors(cell, (height, width), (size[0] // height, size[1] // width)))
        return np.concatenate(parts)

    def decode(self, outputs: tuple[np.ndarray, ...], size: tuple[int, int]) -> Found:
        """bbox (R, 4), label (R,), score (R,) of what scores above `score_thresh`, at most `n_candidate` a level."""
        loc, conf = outputs
        seen, padded, _ = self.preparation.placement(size)
        return decode_levels(
            loc,
            conf,
            self.anchors(padded),
            self._counts(padded),
            score_thresh=self.score_thresh,
            n_candidate=self.n_candidate,
            seen=seen,
            size=size,
        )

    def boxes_on_device(self, x: Any, sizes: Sequence[tuple[int, int]]) -> DeviceBoxes:
        """As in `AbstractDetector`."""
        s = self.settings
        outputs = self.outputs(x)
        padded = x.shape[2:]
        anchor = constants.get(("RetinaNet", s, padded), lambda: self.anchors(padded))
        seens = [self.preparation.placement(size).resized for size in sizes]
        (frames,) = upload([np.stack([fitted_frame(size, seen) for size, seen in zip(sizes, seens)])])
        found = decode_levels_on_device(
            *outputs,
            anchor,
            self._counts(padded),
            score_thresh=self.score_thresh,
            n_candidate=self.n_candidate,
            frames=frames,
        )
        result = suppressed_result(*found, frames, nms_thresh=self.nms_thresh, limit=self.limit, clip=self.clip)
        return DeviceBoxes(result, lambda i: self.found_again(outputs, i, sizes[i]))

    def _counts(self, size: Sequence[int]) -> list[int]:
        """How many anchors each level has, for an input of `size` (H, W)."""
        return [height * width * self.settings.n_anchor for height, width in self.grids(size)]
