"""Mask R-CNN on a feature pyramid."""

import os
from collections.abc import Sequence
from typing import Any

import numpy as np

from cvzoo.autodiff.variable import Variable
from cvzoo.links.model.config_json import config_from_json
from cvzoo.links.model.decoding.found import Found
from cvzoo.links.model.faster_rcnn_fpn.config import FasterRCNNFPNConfig, pyramid_preparation
from cvzoo.links.model.faster_rcnn_fpn.region_network import RegionNetwork, to_photo
from cvzoo.links.model.faster_rcnn_fpn.source import region_networks_of_file, region_source
from cvzoo.links.model.instance_segmenter import AbstractInstanceSegmenter, FoundInstances
from cvzoo.links.model.mask_rcnn.config import MaskHeadConfig, MaskRCNNFPNConfig
from cvzoo.links.model.mask_rcnn.mask_head import MaskHead
from cvzoo.links.model.mask_rcnn.paste_mask import paste_masks
from cvzoo.links.model.mask_rcnn.weights import WEIGHTS
from cvzoo.links.model.preparation.resize_shortest_edge import ResizeShortestEdge
from cvzoo.links.model.pretrained.load import load_pretrained


class MaskRCNNFPN(AbstractInstanceSegmenter):
    """Finds objects and their masks: Faster R-CNN on a pyramid, and a head that looks at each box once more.

    n_fg_class, pretrained_model, label_names, settings, and what is raised: as in `FasterRCNNFPN`, with the names of
        this family's `WEIGHTS`
    mask_settings: of the mask head; None: as the file has it, else `MaskHeadConfig()`

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
    def preparation(self) -> ResizeShortestEdge:  # type: ignore[override]
        """See `pyramid_preparation`."""
        return pyramid_preparation(self.settings)

    def forward(self, x: Any) -> tuple[Variable, ...]:
        """The pyramid's maps, see `RegionNetwork`."""
        return self.regions(x)

    def find_instances(self, x: np.ndarray, sizes: Sequence[tuple[int, int]]) -> list[FoundInstances]:
        """As in `AbstractInstanceSegmenter`."""
        seens = [self.preparation.placement(size).resized for size in sizes]
        outputs = self.regions.third_stage(
            *(self.regions(x), x.shape[2:], seens),
            thresholds=self,
            roi_size=self.mask_settings.roi_size,
            head=self.mask_head.probabilities,
        )
        return [self._pasted(said, each, *ends) for (each, said), *ends in zip(outputs, seens, sizes)]

    def _pasted(self, prob: np.ndarray, found: Found, seen: tuple[int, int], size: tuple[int, int]) -> FoundInstances:
        """prob: (R, M, M) of the boxes found, in pixels of the network's input."""
        bbox, label, score = found
        bbox = to_photo(bbox, seen, size)
        mask = paste_masks(prob, bbox, size, thresh=self.mask_thresh, how=self.mask_settings.paste)
        return FoundInstances(mask, bbox, label, score)
