"""ESPNet, a semantic segmentation network (Mehta et al., 2018)."""

import dataclasses
import os
from collections.abc import Sequence

import cvzoo.functions as F
from cvzoo.autodiff.variable import Variable
from cvzoo.functions.array.dtypes import for_product
from cvzoo.initializers.normal import HeNormal
from cvzoo.links.chain import Chain, ChainList
from cvzoo.links.connection.batch_normalization import BatchNormalization
from cvzoo.links.connection.convolution_2d import Convolution2D
from cvzoo.links.connection.deconvolution_2d import Deconvolution2D
from cvzoo.links.connection.fused_convolution import can_fold, fused_convolution
from cvzoo.links.connection.prelu import PReLU
from cvzoo.links.model.config import AbstractConfig, config_field, count_field, preparation_field
from cvzoo.links.model.espnet.frame_preparation import FramePreparation
from cvzoo.links.model.espnet.weights import (
    CAMVID_FRAME,
    CAMVID_NAMES,
    CITYSCAPES_FRAME,
    CITYSCAPES_NAMES,
    NAMES,
    RECORDS,
    depths_of,
    mixes_colors,
)
from cvzoo.links.model.pretrained.classifier import segmenter_source
from cvzoo.links.model.pretrained.load import load_pretrained
from cvzoo.links.model.segmenter import AbstractImageSegmenter
from cvzoo.typing.aliases import Array

EPS = 1e-3  # of the authors' code
DILATIONS = (1, 2, 4, 8, 16)


class NormPReLU(Chain):
    """prelu(bn(x)), one slope per channel."""

    def __init__(self, channels: int):
        with self.init_scope():
            self.bn = BatchNormalization(channels, eps=EPS)
            self.act = PReLU((channels,))

    def forward(self, x: Variable | Array) -> Variable:
        """x's shape; x is (B, channels, H, W)."""
        return self.act(self.bn(x))


class ConvNormPReLU(Chain):
    """prelu(bn(conv(x))), 3 x 3."""

    def __init__(self, in_channels: int, out_channels: int, stride: int = 1):
        with self.init_scope():
            self.conv = Convolution2D(in_channels, out_channels, 3, stride, 1, nobias=True, initialW=HeNormal())
            self.bn = BatchNormalization(out_channels, eps=EPS)
            self.act = PReLU((out_channels,))

    def forward(self, x: Variable | Array) -> Variable:
        """(B, out_channels, H / stride, W / stride), sides rounded up, of x (B, in_channels, H, W)."""
        if can_fold(self.conv, self.bn):
            return self.act(fused_convolution(self.conv, self.bn)(x))
        return self.act(self.bn(self.conv(x)))


class ESPBlock(Chain):
    """ESP module: five dilated convolutions, summed hierarchically: (B, out_channels, H / stride, W / stride).

    stride: 2: the reducing convolution is 3 x 3 and halves the sides, which are rounded up; 1: it is 1 x 1
    add: whether x is added to the concatenated branches (for out_channels = in_channels and stride 1)
    """

    def __init__(self, in_channels: int, out_channels: int, *, stride: int = 1, add: bool = True):
        n = out_channels // len(DILATIONS)
        first = out_channels - (len(DILATIONS) - 1) * n  # the undilated branch has the remainder of the channels
        ksize = 3 if stride == 2 else 1
        self.add = add
        with self.init_scope():
            self.reduce = _conv(in_channels, n, ksize, stride)
            self.d1 = _conv(n, first, 3, dilate=1)
            self.d2 = _conv(n, n, 3, dilate=2)
            self.d4 = _conv(n, n, 3, dilate=4)
            self.d8 = _conv(n, n, 3, dilate=8)
            self.d16 = _conv(n, n, 3, dilate=16)
            self.norm = NormPReLU(out_channels)

    def forward(self, x: Variable | Array) -> Variable:
        """(B, out_channels, H / stride, W / stride) of x (B, in_channels, H, W)."""
        h = self.reduce(x)
        branches = [self.d1(h), self.d2(h)]
        for far in (self.d4, self.d8, self.d16):
            branches.append(branches[-1] + far(h))  # hierarchical feature fusion, against gridding artifacts
        joined = F.concat(branches, axis=1)
        return self.norm(joined + x if self.add else joined)


def _conv(in_channels: int, out_channels: int, ksize: int, stride: int = 1, *, dilate: int = 1) -> Convolution2D:
    pad = ksize // 2 * dilate
    return Convolution2D(in_channels, out_channels, ksize, stride, pad, nobias=True, initialW=HeNormal(), dilate=dilate)


_COLORS = 3  # the image itself, shrunk, is an input of each level
# the shapes of all arrays of the decoder depend on the number of classes
_DECODER = ("score3", "norm_up3", "up3", "score2", "norm_join", "join", "up2", "norm_up2", "mix", "up1")


@dataclasses.dataclass(frozen=True, kw_only=True)
class ESPNetConfig(AbstractConfig):
    """What an ESPNet is built from; its fields are the constructor's arguments."""

    # blocks divide their channels among five dilations, and the decoder's last block has one channel per class
    n_class: int = count_field(help="number of classes", at_least=5)
    depths: tuple[int, int] = count_field(help="blocks of the second and the third stage", at_least=0)
    channels: tuple[int, int, int] = count_field(help="channels of the three stages")
    mix_colors: bool = config_field(help="whether the last convolution reads the downsampled image, too")
    preparation: FramePreparation = preparation_field(stored="frame")

    def check_together(self) -> None:
        """Raises ValueRangeError for fewer channels than a block has dilations."""
        self.require(min(self.channels[1:]) >= 5, "channels", "at least 5 in the second and the third stage")


class ESPNet(AbstractImageSegmenter):
    """ESPNetv1, a semantic segmentation network for street scenes with 0.35 million parameters (Mehta et al., 2018).

    n_class: number of classes; None: those of the file, or of label_names, else CamVid's 12 ("Void" is the last)
    pretrained_model: "camvid", "cityscapes" (its blocks are 2 and 8), "cityscapes_q5", "cityscapes_q3", or the path of
        a file of the authors or one that cvzoo saved
    label_names: class names
    depths: numbers of blocks of the second and the third stage (the paper's alpha); a file determines them
    channels: of the three stages
    mix_colors: whether the input of the last convolution includes the downsampled image (as in the CamVid file), or is
        the stem's map alone (as in those of Cityscapes); a file determines it
    preparation: how an image is preprocessed; None: as for the weights, which the number of classes identifies
    Raises ValueRangeError if names and classes differ in number, for fewer than 5 classes, or for unknown weights;
    WeightsMismatchError if the file does not fit.

    Source: Mehta et al., ESPNet: Efficient Spatial Pyramid of Dilated Convolutions, ECCV 2018, and the authors' code.
    """

    preparation: FramePreparation
    multiple = 8

    def __init__(
        self,
        n_class: int | None = None,
        pretrained_model: str | os.PathLike | None = None,
        *,
        label_names: Sequence[str] | None = None,
        depths: tuple[int, int] = (2, 8),
        channels: tuple[int, int, int] = (16, 64, 128),
        mix_colors: bool = True,
        preparation: FramePreparation | None = None,
    ):
        source = segmenter_source(
            pretrained_model,
            RECORDS,
            NAMES,
            heads=_DECODER,
            class_array="norm_up3/beta",
            n_class=n_class,
            label_names=label_names,
            usual_names=(CAMVID_NAMES, CITYSCAPES_NAMES),
        )
        if source.file is not None:
            depths = depths_of(source.file.arrays)
            mix_colors = mixes_colors(source.file.arrays)
        if preparation is None:
            in_file = source.n_class if source.file is None else source.file.n_class
            preparation = CITYSCAPES_FRAME if in_file == len(CITYSCAPES_NAMES) else CAMVID_FRAME
        self.n_class, self.label_names = source.n_class, source.label_names
        self.config = ESPNetConfig(
            n_class=self.n_class, depths=depths, channels=channels, mix_colors=mix_colors, preparation=preparation
        )
        self.depths, self.channels = tuple(depths), tuple(channels)
        self.preparation = preparation  # pyright: ignore[reportIncompatibleMethodOverride]  # an attribute, as the base class allows
        self.mix_colors = mix_colors
        first, second, third = channels
        n = self.n_class
        with self.init_scope():
            self.stem = ConvNormPReLU(_COLORS, first, 2)
            self.norm1 = NormPReLU(first + _COLORS)
            self.down2 = ESPBlock(first + _COLORS, second, stride=2, add=False)
            self.stage2 = ChainList(*(ESPBlock(second, second) for _ in range(depths[0])))
            self.norm2 = NormPReLU(2 * second + _COLORS)
            self.down3 = ESPBlock(2 * second + _COLORS, third, stride=2, add=False)
            self.stage3 = ChainList(*(ESPBlock(third, third) for _ in range(depths[1])))
            self.norm3 = NormPReLU(2 * third)
            self.score3 = Convolution2D(2 * third, n, 1, nobias=True, initialW=HeNormal())
            self.norm_up3 = BatchNormalization(n, eps=EPS)
            self.up3 = Deconvolution2D(n, n, 2, 2, nobias=True)
            self.score2 = Convolution2D(2 * second + _COLORS, n, 1, nobias=True, initialW=HeNormal())
            self.norm_join = NormPReLU(2 * n)
            self.join = ESPBlock(2 * n, n, add=False)
            self.up2 = Deconvolution2D(n, n, 2, 2, nobias=True)
            self.norm_up2 = NormPReLU(n)
            self.mix = ConvNormPReLU(n + first + (_COLORS if mix_colors else 0), n)
            self.up1 = Deconvolution2D(n, n, 2, 2, nobias=True)
        self.load_report = load_pretrained(self, source.file, may_start_anew=source.may_start_anew)

    def training_scores(self, x: Variable | Array) -> tuple[Variable, ...]:
        """The logits, in a tuple of one."""
        return (self.coarse_scores(x),)

    def coarse_scores(self, x: Variable | Array) -> Variable:
        """Logits (B, n_class, H, W) for x (B, 3, H, W), sides multiples of 8."""
        half = F.average_pooling_2d(for_product(x), 3, 2, 1)  # in mixed precision 16 bits, like the maps
        quarter = F.average_pooling_2d(half, 3, 2, 1)
        stem = self.stem(x)
        map1 = self.norm1(F.concat([stem, half], axis=1))
        first2 = h = self.down2(map1)
        for block in self.stage2:
            h = block(h)
        map2 = self.norm2(F.concat([h, first2, quarter], axis=1))
        first3 = h = self.down3(map2)
        for block in self.stage3:
            h = block(h)
        map3 = self.norm3(F.concat([first3, h], axis=1))
        h = self.up3(self.norm_up3(self.score3(map3)))
        h = self.join(self.norm_join(F.concat([self.score2(map2), h], axis=1)))
        h = self.norm_up2(self.up2(h))
        return self.up1(self.mix(F.concat([h, map1 if self.mix_colors else stem], axis=1)))
