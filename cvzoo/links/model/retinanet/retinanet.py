"""RetinaNet."""

import os
from collections.abc import Sequence
from typing import Any

import numpy as np

from cvzoo.autodiff.variable import Variable
from cvzoo.backends.cuda.constants import constants
from cvzoo.backends.cuda.staging import upload
from cvzoo.errors.exceptions import ValueRangeError
from cvzoo.geometry.anchors import cell_anchors, grid_anchors
from cvzoo.links.model.config import one_config
from cvzoo.links.model.detector import AbstractOneStageDetector, Found, Preset
from cvzoo.links.model.finished_boxes import DeviceBoxes, suppressed_result
from cvzoo.links.model.fpn.fpn import FPN
from cvzoo.links.model.preparation.resize_shortest_edge import ResizeShortestEdge
from cvzoo.links.model.preparation.statistics import MEAN_OF_255, STD_OF_255
from cvzoo.links.model.preparation.torchvision_detector import torchvision_detector_preparation
from cvzoo.links.model.resnet.extractor import ResNetExtractor
from cvzoo.links.model.retinanet.config import RetinaNetConfig
from cvzoo.links.model.retinanet.decode import decode_levels, decode_levels_on_device, fitted_frame
from cvzoo.links.model.retinanet.head import RetinaNetHead, prior_bias
from cvzoo.links.model.retinanet.pretrained import read_pretrained, take_values


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
        n_fg_class = len(label_names) if n_fg_class is None and label_names is not None else n_fg_class
        settings = one_config(config, settings)
        source, asked = None, settings
        if pretrained_model is not None:
            source = read_pretrained(
                pretrained_model, n_fg_class=n_fg_class, settings=settings, default=default_settings
            )
            settings = source.settings if settings is None else settings
            n_fg_class = source.n_fg_class if n_fg_class is None else n_fg_class
            label_names = source.label_names if label_names is None and n_fg_class == source.n_fg_class else label_names
        settings = default_settings if settings is None else settings
        s = RetinaNetConfig() if settings is None else settings
        self.config = self.settings = s
        if isinstance(n_fg_class, bool) or not isinstance(n_fg_class, int) or n_fg_class < 1:
            raise ValueRangeError("RetinaNet: n_fg_class must be a positive integer", got=repr(n_fg_class))
        if label_names is not None and len(label_names) != n_fg_class:
            raise ValueRangeError("label_names must be one a class", expected=n_fg_class, got=len(label_names))
        self.n_fg_class = n_fg_class
        self.label_names = None if label_names is None else tuple(label_names)
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
                n_fg_class,
                depth=s.head_depth,
                groups=s.head_groups,
                bias=prior_bias(s.prior),
            )
        self.load_report = None
        if source is not None:
            self.load_report = take_values(
                self, source, asked=asked, make=lambda n, own: RetinaNet(n, settings=s if own is None else own)
            )
        if source is not None and source.presets is not None:
            self.presets, self.limit = source.presets, source.limit
        self.use_preset("visualize")

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
