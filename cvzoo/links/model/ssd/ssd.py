"""SSD, a one-stage detector, on VGG16 (Liu et al., 2016)."""

import os
from collections.abc import Mapping, Sequence

import numpy as np

import cvzoo.functions as F
from cvzoo.autodiff.parameter import Parameter
from cvzoo.autodiff.variable import Variable
from cvzoo.config.switches import switches
from cvzoo.errors.exceptions import ShapeError, ValueRangeError
from cvzoo.initializers.uniform import LeCunUniform
from cvzoo.links.chain import Chain, ChainList
from cvzoo.links.connection.convolution_2d import Convolution2D
from cvzoo.links.connection.fused_convolution import fused_convolution
from cvzoo.links.link import InitialValue, Link
from cvzoo.links.model.config import one_config
from cvzoo.links.model.decoding.anchor_levels import AnchorLevels
from cvzoo.links.model.dense_heads import flat_boxes
from cvzoo.links.model.detector import AbstractOneStageDetector, Preset
from cvzoo.links.model.preparation.stretch import Stretch
from cvzoo.links.model.pretrained.detector import detector_source
from cvzoo.links.model.pretrained.load import load_pretrained
from cvzoo.links.model.ssd.config import SSD300_SETTINGS, SSD512_SETTINGS, Extra, SSDConfig, ssd_preparation
from cvzoo.links.model.ssd.multibox_coder import MultiboxCoder
from cvzoo.links.model.ssd.weights import FILES, SSD300_WEIGHTS, SSD512_WEIGHTS
from cvzoo.typing.aliases import Array
from cvzoo.weights.record import Weights


class Normalize(Link):
    """L2 normalization over channels with a trained scale: scale * x / (|x| + eps) (ParseNet, Liu et al., 2015).

    n_channel: C
    initial: initial value of `scale` (C,)

    Source: Liu et al., ParseNet, 2015, section 3.3; SSD's conv4_3 starts from 20.
    """

    def __init__(self, n_channel: int, initial: InitialValue = 1, eps: float = 1e-5):
        self.eps = eps
        with self.init_scope():
            self.scale = Parameter(initial, (n_channel,))

    def forward(self, x: Variable | Array) -> Variable:
        """x's shape (B, C, H, W)."""
        length = F.norm(x, axis=1, keepdims=True) + self.eps
        return F.multiply(x, F.reshape(self.scale, (1, -1, 1, 1))) / length


# ksize, stride and pad of the second convolution of each level after conv7
_WINDOWS = {"halve": (3, 2, 1), "valid": (3, 1, 0), "valid4": (4, 1, 1)}


class SSDVGG16Extractor(Chain):
    """VGG16 backbone of SSD (Liu et al., 2016): maps conv4_3 (normalized), conv7, conv8_2, conv9_2 ...

    extras: what follows conv7, see `SSDConfig`; four levels for 300 x 300, five for 512 x 512
    base_channels: of the first convolution

    `channels` are the maps' channels. conv6 and conv7 are the fully connected layers of VGG16, subsampled; conv6 has a
    dilation of 6.
    Source: Liu et al., SSD: Single Shot MultiBox Detector, ECCV 2016, section 3; the names of the levels as there.
    """

    def __init__(self, extras: Sequence[Extra] = ("halve", "halve", "valid", "valid"), *, base_channels: int = 64):
        n = base_channels
        with self.init_scope():
            self.conv1_1 = _conv(3, n)
            self.conv1_2 = _conv(n, n)
            self.conv2_1 = _conv(n, 2 * n)
            self.conv2_2 = _conv(2 * n, 2 * n)
            self.conv3_1 = _conv(2 * n, 4 * n)
            self.conv3_2 = _conv(4 * n, 4 * n)
            self.conv3_3 = _conv(4 * n, 4 * n)
            self.conv4_1 = _conv(4 * n, 8 * n)
            self.conv4_2 = _conv(8 * n, 8 * n)
            self.conv4_3 = _conv(8 * n, 8 * n)
            self.norm4 = Normalize(8 * n, 20)
            self.conv5_1 = _conv(8 * n, 8 * n)
            self.conv5_2 = _conv(8 * n, 8 * n)
            self.conv5_3 = _conv(8 * n, 8 * n)
            self.conv6 = _conv(8 * n, 16 * n, pad=6, dilate=6)
            self.conv7 = _conv(16 * n, 16 * n, 1, pad=0)
        self.channels: tuple[int, ...] = (8 * n, 16 * n)
        self.n_extra = len(extras)
        for i, extra in enumerate(extras):
            mid, out = (4 * n, 8 * n) if i == 0 else (2 * n, 4 * n)
            ksize, stride, pad = _WINDOWS[extra]
            self.add_link(f"conv{8 + i}_1", _conv(self.channels[-1], mid, 1, pad=0))
            self.add_link(f"conv{8 + i}_2", _conv(mid, out, ksize, stride, pad))
            self.channels += (out,)

    def forward(self, x: Variable | Array) -> list[Variable]:
        """(B, channels[i], H, W) each, the finest first, of x (B, 3, H, W)."""
        h = _halved(conv_relu(self.conv1_2, conv_relu(self.conv1_1, x)))
        h = _halved(conv_relu(self.conv2_2, conv_relu(self.conv2_1, h)))
        h = _halved(conv_relu(self.conv3_3, conv_relu(self.conv3_2, conv_relu(self.conv3_1, h))))
        h = conv_relu(self.conv4_3, conv_relu(self.conv4_2, conv_relu(self.conv4_1, h)))
        maps = [self.norm4(h)]
        h = conv_relu(self.conv5_3, conv_relu(self.conv5_2, conv_relu(self.conv5_1, _halved(h))))
        h = F.max_pooling_2d(h, 3, 1, 1, cover_all=False)
        h = conv_relu(self.conv7, conv_relu(self.conv6, h))
        maps.append(h)
        convs = {name: link for name, link in self.named_children() if isinstance(link, Convolution2D)}
        for i in range(8, 8 + self.n_extra):
            h = conv_relu(convs[f"conv{i}_2"], conv_relu(convs[f"conv{i}_1"], h))
            maps.append(h)
        return maps


def conv_relu(conv: Convolution2D, x: Variable | Array) -> Variable:
    """relu(conv(x)) (B, out_channels, OH, OW) of x (B, in_channels, H, W)."""
    if switches.enable_backprop or not conv.W.is_initialized:
        return F.relu(conv(x))
    return fused_convolution(conv)(x, activation="relu")


def _conv(n_in: int, n_out: int, ksize: int = 3, stride: int = 1, pad: int = 1, dilate: int = 1) -> Convolution2D:
    return Convolution2D(n_in, n_out, ksize, stride, pad, initialW=LeCunUniform(), dilate=dilate)


def _halved(x: Variable | Array) -> Variable:
    # a side of 75 becomes 38, as in Caffe
    return F.max_pooling_2d(x, 2, 2, cover_all=True)


def VGG16Extractor300() -> SSDVGG16Extractor:
    """The extractor of `SSD300`: six maps of 300 x 300 pixels."""
    return SSDVGG16Extractor()


def VGG16Extractor512() -> SSDVGG16Extractor:
    """The extractor of `SSD512`: seven maps of 512 x 512 pixels."""
    return SSDVGG16Extractor(("halve", "halve", "halve", "halve", "valid4"))


class Multibox(Chain):
    """Heads of SSD: a 3 x 3 convolution for offsets and one for scores on each map.

    in_channels: of the maps; None: inferred from the first input
    n_class: with the background
    aspect_ratios: of each level, as in `default_boxes`: a position has 2 + 2 * len boxes
    initialW, initial_bias: of all convolutions

    Source: Liu et al., SSD: Single Shot MultiBox Detector, ECCV 2016, section 2.1.
    """

    def __init__(
        self,
        n_class: int,
        aspect_ratios: Sequence[Sequence[float]],
        *,
        in_channels: Sequence[int | None] | None = None,
        initialW: InitialValue = None,
        initial_bias: InitialValue = None,
    ):
        self.n_class = n_class
        initialW = LeCunUniform() if initialW is None else initialW
        channels = [None] * len(aspect_ratios) if in_channels is None else in_channels
        if len(channels) != len(aspect_ratios):
            raise ShapeError(
                "Multibox: in_channels must have one element per level", expected=len(aspect_ratios), got=len(channels)
            )
        with self.init_scope():
            self.loc, self.conf = ChainList(), ChainList()
            for n_in, ratios in zip(channels, aspect_ratios):
                n_box = 2 + 2 * len(ratios)
                for each, n_out in ((self.loc, 4), (self.conf, n_class)):
                    each.append(
                        Convolution2D(n_in, n_box * n_out, 3, pad=1, initialW=initialW, initial_bias=initial_bias)
                    )

    def forward(self, maps: Sequence[Variable | Array]) -> tuple[Variable, Variable]:
        """mb_loc (B, A, 4): dy dx dh dw; mb_conf (B, A, n_class): logits, background first.

        maps: (B, C, H, W) each, the finest first
        Raises ShapeError unless there is one per level.
        """
        if len(maps) != len(self.loc):
            raise ShapeError("Multibox: there must be one map per level", expected=len(self.loc), got=len(maps))
        locs = [flat_boxes(loc(h), 4) for loc, h in zip(self.loc, maps)]
        confs = [flat_boxes(conf(h), self.n_class) for conf, h in zip(self.conf, maps)]
        return F.concat(locs, axis=1), F.concat(confs, axis=1)


class SSD(AbstractOneStageDetector):
    """SSD, a one-stage detector on VGG16 with default boxes on maps of several scales (Liu et al., 2016).

    n_fg_class: number of classes; None: those of label_names, else of the file, else Pascal VOC's 20
    pretrained_model: a name in `records`, or the path of a file of ChainerCV, torchvision, gluon-cv or cvzoo. What fits
        is loaded; a warning and `load_report` list the convolutions of the heads that are initialized anew, as when
        a detector is fine-tuned to other classes
    label_names: class names; None: the file's, if it has as many classes, or Pascal VOC's if there are 20
    config: architecture and preprocessing; None: as the file has it, else `SSDConfig()`
    settings: the former name of config
    records: name -> record, for pretrained_model
    Raises ValueRangeError if names and classes differ in number, or for an unknown name or missing file;
    WeightsMismatchError if the file holds a different network; what reading it raises.

    coder: encodes boxes for training
    mean: (3, 1, 1) float32, subtracted from RGB in [0, 255]
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
    def preparation(self) -> Stretch:
        """See `ssd_preparation`."""
        return ssd_preparation(self.settings)

    def forward(self, x: Variable | Array) -> tuple[Variable, Variable]:
        """mb_loc (B, A, 4): dy dx dh dw against `coder.default`; mb_conf (B, A, 1 + L): logits.

        x: (B, 3, insize, insize), as `prepare` gives
        """
        return self.multibox(self.extractor(x))

    @property
    def decoding(self) -> AnchorLevels:
        """As in `AbstractOneStageDetector`: a box for each class above the threshold."""
        return self.coder.decoding(self.n_fg_class, n_candidate=self.config.n_candidate, clip=self.config.clip)


_ONLY_VGG16 = (None, "imagenet")  # files that do not determine the rest of the network


def SSD300(
    n_fg_class: int | None = None,
    pretrained_model: str | os.PathLike | None = None,
    *,
    label_names: Sequence[str] | None = None,
) -> SSD:
    """SSD300, a one-stage detector for 300 x 300 pixels (Liu et al., 2016): an `SSD`; arguments as there.

    pretrained_model: "voc0712" (the authors'), "voc0712_chainercv" (trained anew), "coco" (torchvision's, whose default
        boxes are others), "voc0712_gluon", "coco_gluon" (gluon-cv's), "imagenet" (VGG16 alone, to train on), or a path
    Raises ValueRangeError if the file's network has a different input size.
    """
    settings = SSD300_SETTINGS if pretrained_model in _ONLY_VGG16 else None
    model = SSD(n_fg_class, pretrained_model, label_names=label_names, settings=settings, records=SSD300_WEIGHTS)
    return _of_size(model, 300)


def SSD512(
    n_fg_class: int | None = None,
    pretrained_model: str | os.PathLike | None = None,
    *,
    label_names: Sequence[str] | None = None,
) -> SSD:
    """SSD512, a one-stage detector for 512 x 512 pixels (Liu et al., 2016): an `SSD`; arguments as there.

    pretrained_model: "voc0712" (the authors'), "voc0712_chainercv" (trained anew), "voc0712_gluon", "coco_gluon"
        (gluon-cv's), "imagenet" (VGG16 alone, to train on), or a path
    Raises ValueRangeError if the file's network has a different input size.
    """
    settings = SSD512_SETTINGS if pretrained_model in _ONLY_VGG16 else None
    model = SSD(n_fg_class, pretrained_model, label_names=label_names, settings=settings, records=SSD512_WEIGHTS)
    return _of_size(model, 512)


def _of_size(model: SSD, insize: int) -> SSD:
    if model.insize != insize:
        raise ValueRangeError(
            f"SSD{insize}: the file holds an SSD of a different input size",
            expected=insize,
            got=model.insize,
            hint="SSD(pretrained_model=...) takes any",
        )
    return model
