"""SSD on VGG16."""

import os
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from cvzoo.autodiff.variable import Variable
from cvzoo.links.model.config import one_config
from cvzoo.links.model.decoding.anchor_levels import AnchorLevels
from cvzoo.links.model.detector import AbstractOneStageDetector, Preset
from cvzoo.links.model.preparation.stretch import Stretch
from cvzoo.links.model.pretrained.detector import detector_source
from cvzoo.links.model.pretrained.load import load_pretrained
from cvzoo.links.model.ssd.config import SSDConfig, ssd_preparation
from cvzoo.links.model.ssd.multibox import Multibox
from cvzoo.links.model.ssd.multibox_coder import MultiboxCoder
from cvzoo.links.model.ssd.vgg16 import SSDVGG16Extractor
from cvzoo.links.model.ssd.weights import FILES, SSD300_WEIGHTS
from cvzoo.weights.record import Weights


class SSD(AbstractOneStageDetector):
    """Finds objects in one look: VGG16, coarser maps behind it, and at every place of each a few default boxes.

    n_fg_class: number of classes; None: as many as label_names, else as the file has, else Pascal VOC's 20
    pretrained_model: a name in `records`, or the path of a file of ChainerCV, torchvision, gluon-cv or cvzoo. What fits
        is taken over; a warning names the convolutions of the heads that start anew, and so does `load_report`: that is
        how a detector is fine-tuned to other classes
    label_names: names of the classes; None: the file's, if it has as many classes, or Pascal VOC's if there are 20
    config: how it is built and how it sees a photo; None: as the file has it, else `SSDConfig()`
    settings: older name of config
    records: the names that pretrained_model may have
    Raises ValueRangeError if the names are not as many as the classes, or there is no such name or file;
    WeightsMismatchError if the file holds another network; what reading it raises.

    coder: encodes boxes for training
    mean: (3, 1, 1) float32, what is taken away from RGB in [0, 255]
    Source: Liu et al., SSD: Single Shot MultiBox Detector, ECCV 2016.
    """

    presets = {"visualize": Preset(0.45, 0.6), "evaluate": Preset(0.45, 0.01)}

    def __init__(
        self,
        n_fg_class: int | None = None,
        pretrained_model: str | os.PathLike | None = None,
        *,
        label_names: Sequence[str] | None = None,
        config: SSDConfig | None = None,
        settings: SSDConfig | None = None,
        records: Mapping[str, Weights] = SSD300_WEIGHTS,
    ):
        source = detector_source(
            pretrained_model,
            records,
            FILES,
            n_fg_class=n_fg_class,
            label_names=label_names,
            config=one_config(config, settings),
        )
        self.n_fg_class, self.label_names = source.n_fg_class, source.label_names
        s = SSDConfig() if source.config is None else source.config
        self.config = self.settings = s
        self.insize = s.insize
        self.limit = s.limit
        self.mean = np.array(s.mean, np.float32)[:, None, None]
        self.coder = MultiboxCoder(
            s.grids,
            s.aspect_ratios,
            [s.insize / grid for grid in s.grids] if s.steps is None else s.steps,
            s.sizes,
            s.variance,
            largest=s.insize if s.cut_sides else None,
        )
        with self.init_scope():
            self.extractor = SSDVGG16Extractor(s.extras, base_channels=s.base_channels)
            self.multibox = Multibox(self.n_fg_class + 1, s.aspect_ratios, in_channels=self.extractor.channels)
        self.load_report = load_pretrained(self, source.file, may_start_anew=("multibox",))
        self.use_preset("visualize")

    @property
    def preparation(self) -> Stretch:  # type: ignore[override]
        """See `ssd_preparation`."""
        return ssd_preparation(self.settings)

    def forward(self, x: Any) -> tuple[Variable, Variable]:
        """mb_loc (B, A, 4): dy dx dh dw against `coder.default`; mb_conf (B, A, 1 + L): scores before the softmax.

        x: (B, 3, insize, insize), as `prepare` gives
        """
        return self.multibox(self.extractor(x))

    @property
    def decoding(self) -> AnchorLevels:
        """As in `AbstractOneStageDetector`: a box for each class that scores."""
        return self.coder.decoding(self.n_fg_class, n_candidate=self.config.n_candidate, clip=self.config.clip)
