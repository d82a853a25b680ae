"""Faster R-CNN on a feature pyramid."""

import os
from collections.abc import Sequence
from typing import Any

import numpy as np

from cvzoo.autodiff.variable import Variable
from cvzoo.backends.detection import frame, unpacked_boxes
from cvzoo.backends.dispatch import backend_of
from cvzoo.links.model.config import one_config
from cvzoo.links.model.decoding.found import FinishedBoxes, Found
from cvzoo.links.model.decoding.proposals import cut_frames
from cvzoo.links.model.decoding.regions import HeadOutputs
from cvzoo.links.model.detector import AbstractDetector, Preset
from cvzoo.links.model.faster_rcnn_fpn.config import FasterRCNNFPNConfig, pyramid_preparation
from cvzoo.links.model.faster_rcnn_fpn.region_network import RegionNetwork
from cvzoo.links.model.faster_rcnn_fpn.source import region_networks_of_file, region_source
from cvzoo.links.model.faster_rcnn_fpn.weights import WEIGHTS
from cvzoo.links.model.preparation.resize_shortest_edge import ResizeShortestEdge
from cvzoo.links.model.pretrained.load import load_pretrained


class FasterRCNNFPN(AbstractDetector):
    """Finds objects in two stages: proposals from every level of a pyramid, then a closer look at each.

    n_fg_class: number of classes; None: as many as label_names, else as the file has
    pretrained_model: a name of `WEIGHTS` (such as "resnet50_coco"), "imagenet" or "imagenet_v2" (torchvision's
        backbones), or the path of a file of torchvision or detectron2 or of one that cvzoo saved. It is taken over
        whole; where other classes, anchors or settings are asked for, a warning names what starts anew, and so does
        `load_report`
    label_names: names of the classes; None: the file's, if it has as many classes
    config: how it is built and how it sees a photo; None: as the file has it, else `FasterRCNNFPNConfig()`
    settings: older name of config
    Raises ValueRangeError if the names are not as many as the classes, or there is no such name or file;
    WeightsMismatchError if the file does not fit; what reading it raises.

    Source: Ren et al., Faster R-CNN, NIPS 2015; Lin et al., Feature Pyramid Networks, CVPR 2017.
    """

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
    def preparation(self) -> ResizeShortestEdge:  # type: ignore[override]
        """See `pyramid_preparation`."""
        return pyramid_preparation(self.settings)

    def forward(self, x: Any) -> tuple[Variable, ...]:
        """The pyramid's maps, see `RegionNetwork`."""
        return self.regions(x)

    def find(self, x: np.ndarray, sizes: Sequence[tuple[int, int]]) -> list[Found]:
        """As in `AbstractDetector`."""
        outputs, frames, _ = self._second_stage(x, sizes)
        found = []
        for each in outputs:
            candidates = self.regions.candidates(each, frames[each.batch.images], self.score_thresh)
            found += [Found(*one) for one in backend_of(each.conf).found_boxes(candidates)]
        return found

    def finished_boxes(self, x: Any, sizes: Sequence[tuple[int, int]]) -> FinishedBoxes:
        """As in `AbstractDetector`."""
        outputs, frames, host_frames = self._second_stage(x, sizes)

        def again(i: int) -> Found:
            here = outputs[0].image_on_host(i)
            return Found(*unpacked_boxes(self.regions.finished(here, host_frames[i : i + 1], self, cut=self.clip))[0])

        results = [self.regions.finished(each, frames[each.batch.images], self, cut=self.clip) for each in outputs]
        return FinishedBoxes(results, again)

    def _second_stage(self, x: Any, sizes: Sequence[tuple[int, int]]) -> tuple[list[HeadOutputs], Any, np.ndarray]:
        """What the second stage says, and the images' frames: beside x, and on the host."""
        seens = [self.placement(size).resized for size in sizes]
        pairs = zip(sizes, seens)
        host_frames = np.stack([frame(z, cut=seen, factor=np.float32(z) / np.float32(seen)) for z, seen in pairs])
        maps = self.regions(x)
        cuts, frames = backend_of(maps[0].array).upload([cut_frames(seens), host_frames])
        return self.regions.second_stage(maps, x.shape[2:], cuts), frames, host_frames
