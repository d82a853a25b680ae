"""SSDLite on MobileNetV3."""

import os
from collections.abc import Sequence
from typing import Any

from cvzoo.autodiff.variable import Variable
from cvzoo.links.model.config import one_config
from cvzoo.links.model.decoding.anchor_levels import AnchorLevels
from cvzoo.links.model.detector import AbstractOneStageDetector, Preset
from cvzoo.links.model.preparation.stretch import Stretch
from cvzoo.links.model.pretrained.detector import detector_source
from cvzoo.links.model.pretrained.load import load_pretrained
from cvzoo.links.model.ssd.multibox_coder import MultiboxCoder
from cvzoo.links.model.ssdlite.config import SSDLiteConfig, ssdlite_preparation
from cvzoo.links.model.ssdlite.extractor import SSDLiteExtractor
from cvzoo.links.model.ssdlite.head import LiteMultibox
from cvzoo.links.model.ssdlite.names import ssdlite_files
from cvzoo.links.model.ssdlite.weights import WEIGHTS


class SSDLite(AbstractOneStageDetector):
    """Finds objects in one look, with few operations: as `SSD`, of separable convolutions on MobileNetV3.

    n_fg_class: number of classes; None: as many as label_names, else as the file has, else COCO's 80
    pretrained_model: "coco" (torchvision's), or the path of a file of torchvision or cvzoo. What fits is taken over; a
        warning names what starts anew in the heads, and so does `load_report`
    label_names: names of the classes; None: the file's, if it has as many classes, or COCO's if there are 80
    config: how it is built and how it sees a photo; None: as the file has it, else `SSDLiteConfig()`
    settings: older name of config
    Raises ValueRangeError if the names are not as many as the classes, or there is no such name or file;
    WeightsMismatchError if the file holds another network; what reading it raises.

    coder: encodes boxes for training
    Source: Howard et al., Searching for MobileNetV3, ICCV 2019, section 6.3; SSDLite: Sandler et al., MobileNetV2, CVPR
    2018; sizes as in torchvision.
    """

    presets = {"visualize": Preset(0.55, 0.5), "evaluate": Preset(0.55, 0.001)}

    def __init__(
        self,
        n_fg_class: int | None = None,
        pretrained_model: str | os.PathLike | None = None,
        *,
        label_names: Sequence[str] | None = None,
        config: SSDLiteConfig | None = None,
        settings: SSDLiteConfig | None = None,
    ):
        config = one_config(config, settings)
        built = SSDLiteConfig() if config is None else config
        source = detector_source(
            pretrained_model,
            WEIGHTS,
            ssdlite_files(width=built.width, reduced_tail=built.reduced_tail),
            n_fg_class=n_fg_class,
            label_names=label_names,
            config=config,
        )
        self.n_fg_class, self.label_names = source.n_fg_class, source.label_names
        s = SSDLiteConfig() if source.config is None else source.config
        self.config = self.settings = s
        self.insize = s.insize
        self.limit = s.limit
        self.coder = MultiboxCoder(
            s.grids,
            s.aspect_ratios,
            [s.insize / grid for grid in s.grids],
            [s.insize * scale for scale in s.scales],
            largest=s.insize,
        )
        with self.init_scope():
            self.extractor = SSDLiteExtractor(s.extras, width=s.width, reduced_tail=s.reduced_tail, eps=s.eps)
            self.multibox = LiteMultibox(self.extractor.channels, self.n_fg_class + 1, s.aspect_ratios, eps=s.eps)
        self.load_report = load_pretrained(self, source.file, may_start_anew=("multibox",))
        self.use_preset("visualize")

    @property
    def preparation(self) -> Stretch:  # type: ignore[override]
        """See `ssdlite_preparation`."""
        return ssdlite_preparation(self.insize)

    def forward(self, x: Any) -> tuple[Variable, Variable]:
        """mb_loc (B, A, 4): dy dx dh dw against `coder.default`; mb_conf (B, A, 1 + L): scores before the softmax.

        x: (B, 3, insize, insize), as `prepare` gives
        """
        return self.multibox(self.extractor(x))

    @property
    def decoding(self) -> AnchorLevels:
        """As in `AbstractOneStageDetector`: a box for each class that scores."""
        return self.coder.decoding(self.n_fg_class, n_candidate=self.config.n_candidate, clip=True)
