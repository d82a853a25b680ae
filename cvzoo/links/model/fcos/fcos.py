"""FCOS."""

import os
from collections.abc import Sequence
from typing import Any

from cvzoo.autodiff.variable import Variable
from cvzoo.links.model.config import one_config
from cvzoo.links.model.decoding.point_levels import PointLevels
from cvzoo.links.model.detector import AbstractOneStageDetector, Preset
from cvzoo.links.model.fcos.config import FCOSConfig
from cvzoo.links.model.fcos.head import FCOSHead
from cvzoo.links.model.fcos.weights import FILES, WEIGHTS
from cvzoo.links.model.fpn.fpn import FPN
from cvzoo.links.model.preparation.resize_shortest_edge import ResizeShortestEdge, torchvision_detector_preparation
from cvzoo.links.model.preparation.statistics import MEAN_OF_255, STD_OF_255
from cvzoo.links.model.pretrained.detector import detector_source
from cvzoo.links.model.pretrained.load import load_pretrained
from cvzoo.links.model.resnet.extractor import ResNetExtractor
from cvzoo.links.model.resnet.weights import WEIGHTS as RESNET_WEIGHTS
from cvzoo.links.model.retinanet.head import prior_bias

STRIDES = (8, 16, 32, 64, 128)


class FCOS(AbstractOneStageDetector):
    """Finds objects in one stage and without anchors: every place of a pyramid says how far an object's sides are.

    n_fg_class: number of classes; None: as many as label_names, else as the file has, else COCO's 80
    pretrained_model: "coco" (torchvision's detector), "imagenet", "imagenet_v2" (torchvision's backbones), or the path
        of such a file or of one that cvzoo saved. What fits is taken over; a warning names what starts anew in the
        classes' head, and so does `load_report`
    label_names: names of the classes; None: the file's, if it has as many classes, or COCO's if there are 80
    config: how it is built and how it sees a photo; None: as the file has it, else `FCOSConfig()`
    settings: older name of config
    Raises ValueRangeError if the names are not as many as the classes, or there is no such name or file;
    WeightsMismatchError if the file holds another network; what reading it raises.

    mean, std: (3,) float32, what photos in [0, 255] are normalized by
    Source: Tian et al., FCOS: Fully Convolutional One-Stage Object Detection, ICCV 2019; the centredness on the boxes'
    tower, and P6 of P5, as in torchvision.
    """

    presets = {"visualize": Preset(0.6, 0.5), "evaluate": Preset(0.6, 0.2)}
    limit = 100
    n_candidate = 1000  # of each level, at most so many go into the suppression
    mean = MEAN_OF_255
    std = STD_OF_255

    def __init__(
        self,
        n_fg_class: int | None = None,
        pretrained_model: str | os.PathLike | None = None,
        *,
        label_names: Sequence[str] | None = None,
        config: FCOSConfig | None = None,
        settings: FCOSConfig | None = None,
    ):
        config = one_config(config, settings)
        source = detector_source(
            pretrained_model,
            WEIGHTS | RESNET_WEIGHTS.get(50 if config is None else config.n_layer, {}),
            FILES,
            n_fg_class=n_fg_class,
            label_names=label_names,
            config=config,
        )
        self.n_fg_class, self.label_names = source.n_fg_class, source.label_names
        s = FCOSConfig() if source.config is None else source.config
        self.config = self.settings = s
        with self.init_scope():
            self.extractor = ResNetExtractor(s.n_layer, base_channels=s.base_channels, norm=s.norm, eps=s.bn_eps)
            self.fpn = FPN(self.extractor.channels[1:], s.channels, n_extra=2, extra_from="P5")
            self.head = FCOSHead(
                s.channels, self.n_fg_class, depth=s.head_depth, groups=s.head_groups, bias=prior_bias(s.prior)
            )
        self.load_report = load_pretrained(self, source.file, may_start_anew=("head/conf",))
        self.use_preset("visualize")

    @property
    def preparation(self) -> ResizeShortestEdge:  # type: ignore[override]
        """See `torchvision_detector_preparation`."""
        s = self.settings
        return torchvision_detector_preparation(s.min_size, s.max_size, antialias=s.antialias)

    def forward(self, x: Any) -> tuple[Variable, Variable, Variable]:
        """loc (B, A, 4): distances up, left, down, right in strides; conf (B, A, L) and center (B, A, 1): scores.

        x: (B, 3, H, W), normalized
        A runs over the levels, the finest first, in a level by row and column. Scores are before the sigmoid.
        """
        return self.head(self.fpn(self.extractor(x)[1:]))

    @property
    def decoding(self) -> PointLevels:
        """As in `AbstractOneStageDetector`; at most `n_candidate` of a level, cut at the image's edges."""
        return PointLevels(strides=STRIDES, n_class=self.n_fg_class, n_candidate=self.n_candidate)
