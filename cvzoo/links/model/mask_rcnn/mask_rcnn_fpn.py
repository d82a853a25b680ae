"""Mask R-CNN on a feature pyramid."""

import os
from collections.abc import Sequence
from typing import Any

import numpy as np

from cvzoo.autodiff.variable import Variable
from cvzoo.links.model.faster_rcnn_fpn.fit import fit_photo, seen_size
from cvzoo.links.model.faster_rcnn_fpn.pretrained import region_source
from cvzoo.links.model.faster_rcnn_fpn.region_network import RegionNetwork, suppressed, to_photo
from cvzoo.links.model.faster_rcnn_fpn.settings import FasterRCNNFPNSettings
from cvzoo.links.model.instance_segmenter import AbstractInstanceSegmenter, FoundInstances
from cvzoo.links.model.mask_rcnn.mask_head import MaskHead, MaskHeadSettings
from cvzoo.links.model.mask_rcnn.paste_mask import paste_masks
from cvzoo.links.model.mask_rcnn.weights import WEIGHTS


class MaskRCNNFPN(AbstractInstanceSegmenter):
    """Finds objects and their masks: Faster R-CNN on a pyramid, and a head that looks at each box once more.

    n_fg_class, pretrained_model, label_names, settings, and what is raised: as in `FasterRCNNFPN`, with the names of
        this family's `WEIGHTS`
    mask_settings: of the mask head; None: as the file has it, else `MaskHeadSettings()`

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
        settings: FasterRCNNFPNSettings | None = None,
        mask_settings: MaskHeadSettings | None = None,
    ):
        source = region_source(
            pretrained_model,
            WEIGHTS,
            architecture="MaskRCNNFPN",
            n_fg_class=n_fg_class,
            label_names=label_names,
            settings=settings,
        )
        own_head = None if source.extra is None else MaskHeadSettings(**source.extra["mask_settings"])
        mask_settings = own_head if mask_settings is None else mask_settings
        if mask_settings is None:
            mask_settings = MaskHeadSettings(paste="exact" if source.is_detectron2 else "whole")
        self.settings, self.n_fg_class, self.label_names = source.settings, source.n_fg_class, source.label_names
        self.mask_settings = mask_settings
        with self.init_scope():
            self.regions = RegionNetwork(self.n_fg_class, self.settings)
            self.mask_head = MaskHead(
                self.settings.channels, self.n_fg_class, mask_settings, norm=self.settings.fpn_norm
            )
        own_head = mask_settings if own_head is None else own_head
        self.load_report = source.take(
            self, lambda n, built, arrays: MaskRCNNFPN(n, settings=built, mask_settings=own_head)
        )
        if source.presets is not None:
            self.presets, self.limit = source.presets, source.limit
        self.use_preset("visualize")

    def prepare(self, img: np.ndarray) -> np.ndarray:
        """(3, H', W') float32, normalized, resized, sides padded to multiples of 32."""
        return fit_photo(img, self.settings)

    def forward(self, x: Any) -> tuple[Variable, ...]:
        """The pyramid's maps, see `RegionNetwork`."""
        return self.regions(x)

    def find_instances(self, x: np.ndarray, sizes: Sequence[tuple[int, int]]) -> list[FoundInstances]:
        """As in `AbstractInstanceSegmenter`."""
        seens = [seen_size(size, self.settings) for size in sizes]
        maps = self.regions(x)
        found = []
        for i, each in enumerate(self.regions.find(maps, x.shape[2:], seens, self.score_thresh)):
            bbox, label, score = suppressed(each, self.nms_thresh, self.limit)
            photo = np.full(len(bbox), i, np.int32)
            regions = self.regions.regions(maps, bbox, photo, self.mask_settings.roi_size)
            prob = self.mask_head.probabilities(regions, label)
            bbox = to_photo(bbox, seens[i], sizes[i])
            mask = paste_masks(prob, bbox, sizes[i], thresh=self.mask_thresh, how=self.mask_settings.paste)
            found.append(FoundInstances(mask, bbox, label, score))
        return found
