"""SSDLite on MobileNetV3, a one-stage detector (Sandler et al., 2018; Howard et al., 2019)."""

import os
from collections.abc import Sequence

import cvzoo.functions as F
from cvzoo.autodiff.variable import Variable
from cvzoo.initializers.normal import Normal
from cvzoo.links.chain import Chain, ChainList
from cvzoo.links.connection.conv_2d_bn_activ import ConvNormActiv
from cvzoo.links.connection.convolution_2d import Convolution2D
from cvzoo.links.model.config import one_config
from cvzoo.links.model.decoding.anchor_levels import AnchorLevels
from cvzoo.links.model.dense_heads import flat_boxes
from cvzoo.links.model.detector import AbstractOneStageDetector, Preset
from cvzoo.links.model.preparation.stretch import Stretch
from cvzoo.links.model.pretrained.detector import detector_source
from cvzoo.links.model.pretrained.load import load_pretrained
from cvzoo.links.model.ssd.multibox_coder import MultiboxCoder
from cvzoo.links.model.ssdlite.config import SSDLiteConfig, ssdlite_preparation
from cvzoo.links.model.ssdlite.extractor import SSDLiteExtractor
from cvzoo.links.model.ssdlite.weights import WEIGHTS, ssdlite_files
from cvzoo.typing.aliases import Array


class SeparableHead(Chain):
    """Depthwise separable convolution: 3 x 3 depthwise, then 1 x 1 to n_out."""

    def __init__(self, n_in: int, n_out: int, *, eps: float):
        with self.init_scope():
            self.depthwise = ConvNormActiv(n_in, n_in, 3, groups=n_in, activ=F.relu6, eps=eps, decay=0.97)
            self.out = Convolution2D(n_in, n_out, 1, initialW=Normal(0.03))

    def forward(self, x: Variable | Array) -> Variable:
        """(B, n_out, H, W) of x (B, n_in, H, W)."""
        return self.out(self.depthwise(x))


class LiteMultibox(Chain):
    """Heads of SSDLite: `Multibox` with separable convolutions.

    in_channels: of the maps; n_class: with the background; aspect_ratios: of each level, as in `default_boxes`
    """

    def __init__(
        self, in_channels: Sequence[int], n_class: int, aspect_ratios: Sequence[Sequence[float]], *, eps: float
    ):
        self.n_class = n_class
        with self.init_scope():
            self.loc, self.conf = ChainList(), ChainList()
            for n_in, ratios in zip(in_channels, aspect_ratios):
                n_box = 2 + 2 * len(ratios)
                self.loc.append(SeparableHead(n_in, n_box * 4, eps=eps))
                self.conf.append(SeparableHead(n_in, n_box * n_class, eps=eps))

    def forward(self, maps: Sequence[Variable | Array]) -> tuple[Variable, Variable]:
        """mb_loc (B, A, 4): dy dx dh dw; mb_conf (B, A, n_class): logits, background first."""
        locs = [flat_boxes(loc(h), 4) for loc, h in zip(self.loc, maps)]
        confs = [flat_boxes(conf(h), self.n_class) for conf, h in zip(self.conf, maps)]
        return F.concat(locs, axis=1), F.concat(confs, axis=1)


class SSDLite(AbstractOneStageDetector):
    """SSDLite, a one-stage detector: SSD of separable convolutions on MobileNetV3 (Sandler et al., 2018).

    n_fg_class: number of classes; None: those of label_names, else of the file, else COCO's 80
    pretrained_model: "coco" (torchvision's), or the path of a file of torchvision or cvzoo. What fits is loaded; a
        warning and `load_report` list what is initialized anew in the heads
    label_names: class names; None: the file's, if it has as many classes, or COCO's if there are 80
    config: architecture and preprocessing; None: as the file has it, else `SSDLiteConfig()`
    settings: the former name of config
    Raises ValueRangeError if names and classes differ in number, or for an unknown name or missing file;
    WeightsMismatchError if the file holds a different network; what reading it raises.

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
    def preparation(self) -> Stretch:
        """See `ssdlite_preparation`."""
        return ssdlite_preparation(self.insize)

    def forward(self, x: Variable | Array) -> tuple[Variable, Variable]:
        """mb_loc (B, A, 4): dy dx dh dw against `coder.default`; mb_conf (B, A, 1 + L): logits.

        x: (B, 3, insize, insize), as `prepare` gives
        """
        return self.multibox(self.extractor(x))

    @property
    def decoding(self) -> AnchorLevels:
        """As in `AbstractOneStageDetector`: a box for each class above the threshold."""
        return self.coder.decoding(self.n_fg_class, n_candidate=self.config.n_candidate, clip=True)


def SSDLite320MobileNetV3Large(
    n_fg_class: int | None = None,
    pretrained_model: str | os.PathLike | None = None,
    *,
    label_names: Sequence[str] | None = None,
) -> SSDLite:
    """An `SSDLite` as torchvision's `ssdlite320_mobilenet_v3_large`; arguments as there, COCO's weights are "coco"."""
    return SSDLite(n_fg_class, pretrained_model, label_names=label_names, settings=SSDLiteConfig())
