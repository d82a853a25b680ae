"""Keypoint R-CNN on a feature pyramid."""

import dataclasses
import os
from collections.abc import Sequence
from typing import Any

import numpy as np

from cvzoo.autodiff.variable import Variable
from cvzoo.errors.exceptions import ValueRangeError
from cvzoo.functions.array.dtypes import widened
from cvzoo.labels.coco import coco_bbox_label_names
from cvzoo.links.model.config_json import config_from_json
from cvzoo.links.model.decoding.found import Found
from cvzoo.links.model.faster_rcnn_fpn.config import FasterRCNNFPNConfig, pyramid_preparation
from cvzoo.links.model.faster_rcnn_fpn.region_network import RegionNetwork, to_photo
from cvzoo.links.model.faster_rcnn_fpn.source import region_networks_of_file, region_source
from cvzoo.links.model.key_point_detector import AbstractKeyPointDetector, FoundPoints
from cvzoo.links.model.keypoint_rcnn.config import KeypointRCNNFPNConfig, PointHeadConfig
from cvzoo.links.model.keypoint_rcnn.decode_points import decode_points
from cvzoo.links.model.keypoint_rcnn.point_head import PointHead
from cvzoo.links.model.keypoint_rcnn.weights import COCO_POINT_NAMES, WEIGHTS
from cvzoo.links.model.preparation.resize_shortest_edge import ResizeShortestEdge
from cvzoo.links.model.pretrained.load import load_pretrained


class KeypointRCNNFPN(AbstractKeyPointDetector):
    """Finds objects and points on them: Faster R-CNN on a pyramid, and a head that looks at each box once more.

    n_fg_class, pretrained_model, label_names, settings, and what is raised: as in `FasterRCNNFPN`, with the names of
        this family's `WEIGHTS`
    point_settings: of the head of points; None: as the file has it, else `PointHeadConfig()`
    point_names: names of the points; None: COCO's, if there are 17

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
        is_asked = point_settings is not None
        point_settings = PointHeadConfig() if point_settings is None else point_settings
        if point_names is None and point_settings.n_point == len(COCO_POINT_NAMES):
            point_names = COCO_POINT_NAMES
        if point_names is not None and len(point_names) != point_settings.n_point:
            raise ValueRangeError(
                "point_names must be one a point", expected=point_settings.n_point, got=len(point_names)
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
                n_point = max(np.size(arrays.get("point_head/out/b", ())), 1) if is_asked else point_settings.n_point
                head = dataclasses.replace(point_settings, n_point=n_point)
            return KeypointRCNNFPN(n, settings=own, point_settings=head)

        self.load_report = load_pretrained(self, source.file, as_written=region_networks_of_file(source, make))
        source.use_thresholds(self)

    @property
    def preparation(self) -> ResizeShortestEdge:  # type: ignore[override]
        """See `pyramid_preparation`."""
        return pyramid_preparation(self.settings)

    def forward(self, x: Any) -> tuple[Variable, ...]:
        """The pyramid's maps, see `RegionNetwork`."""
        return self.regions(x)

    def find_points(self, x: np.ndarray, sizes: Sequence[tuple[int, int]]) -> list[FoundPoints]:
        """As in `AbstractKeyPointDetector`."""
        seens = [self.preparation.placement(size).resized for size in sizes]
        outputs = self.regions.third_stage(
            *(self.regions(x), x.shape[2:], seens),
            thresholds=self,
            roi_size=self.point_settings.roi_size,
            head=lambda regions, label: widened(self.point_head(regions)).array,
        )
        return [self._placed(said, each, *ends) for (each, said), *ends in zip(outputs, seens, sizes)]

    def _placed(self, heat: np.ndarray, found: Found, seen: tuple[int, int], size: tuple[int, int]) -> FoundPoints:
        """heat: (R, K, M, M) of the boxes found, in pixels of the network's input."""
        bbox, label, score = found
        point, point_score = decode_points(heat, bbox)
        point = point * (np.float32(size) / np.float32(seen))
        return FoundPoints(point, to_photo(bbox, seen, size), label, score, point_score)
