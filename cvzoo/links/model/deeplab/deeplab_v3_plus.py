"""DeepLabV3+, a semantic segmentation network (Chen et al., 2018)."""

import dataclasses
import os
from collections.abc import Iterator, Sequence

import numpy as np

import cvzoo.functions as F
from cvzoo.autodiff.variable import Variable
from cvzoo.backends.dispatch import backend_of
from cvzoo.errors.exceptions import ValueRangeError
from cvzoo.links.chain import Chain, ChainList
from cvzoo.links.connection.conv_2d_bn_activ import BNSettings, Conv2DBNActiv, SeparableConv2DBNActiv
from cvzoo.links.connection.convolution_2d import Convolution2D
from cvzoo.links.model.class_maps import ClassMap, mean_of_views
from cvzoo.links.model.config import AbstractConfig, classes_field, count_field, flip_field, scales_field, width_field
from cvzoo.links.model.deeplab.weights import IN_ONE, MIN_INPUT_SIZES, USUAL_NAMES, V3_PLUS_NAMES, V3_PLUS_RECORDS
from cvzoo.links.model.deeplab.xception import Xception65
from cvzoo.links.model.preparation.as_is import AsIs
from cvzoo.links.model.pretrained.classifier import segmenter_source
from cvzoo.links.model.pretrained.load import load_pretrained
from cvzoo.links.model.segmenter import AbstractSegmenter
from cvzoo.typing.aliases import Array

# of TensorFlow's DeepLab, whose epsilon outside of the backbone is not Xception's 1e-3
_NORM: BNSettings = {"bn_decay": 0.9997, "bn_eps": 1e-5}


class SeparableASPP(Chain):
    """Atrous spatial pyramid pooling of separable convolutions.

    dilations: of the 3 x 3 convolutions
    dropout: dropout ratio of the result, in training
    Source: Chen et al., Encoder-Decoder with Atrous Separable Convolution, ECCV 2018.
    """

    def __init__(
        self, in_channels: int, out_channels: int, *, dilations: Sequence[int] = (12, 24, 36), dropout: float = 0.5
    ):
        self.dropout = dropout
        with self.init_scope():
            self.image_pooling_conv = Conv2DBNActiv(in_channels, out_channels, 1, **_NORM)
            self.conv1x1 = Conv2DBNActiv(in_channels, out_channels, 1, **_NORM)
            self.atrous = ChainList(
                *(SeparableConv2DBNActiv(in_channels, out_channels, 3, 1, d, dilate=d, **_NORM) for d in dilations)
            )
            self.proj = Conv2DBNActiv((2 + len(dilations)) * out_channels, out_channels, 1, **_NORM)

    def forward(self, x: Variable | Array) -> Variable:
        """(B, out_channels, H, W) of x (B, in_channels, H, W)."""
        near = self.conv1x1(x)
        mean = self.image_pooling_conv(F.reshape(F.global_average_pooling_2d(x), (*x.shape[:2], 1, 1)))
        branches = [F.broadcast_to(mean, near.shape), near, *(branch(x) for branch in self.atrous)]
        return F.dropout(self.proj(F.concat(branches, axis=1)), self.dropout)


class Decoder(Chain):
    """Decoder of DeepLabV3+: logits at the size of the fine map, from it and the coarse output of ASPP.

    fine_channels, coarse_channels: of the maps
    projected: channels that the fine map is reduced to
    middle: channels of the convolutions
    """

    def __init__(self, fine_channels: int, coarse_channels: int, n_class: int, *, projected: int, middle: int):
        with self.init_scope():
            # ChainerCV's eps, with which the published scores were measured
            self.feature_proj = Conv2DBNActiv(fine_channels, projected, 1, bn_eps=2e-5)
            self.conv1 = SeparableConv2DBNActiv(coarse_channels + projected, middle, 3, 1, 1, **_NORM)
            self.conv2 = SeparableConv2DBNActiv(middle, middle, 3, 1, 1, **_NORM)
            self.conv_logits = Convolution2D(middle, n_class, 1)

    def forward(self, fine: Variable | Array, coarse: Variable | Array) -> Variable:
        """(B, n_class, H, W) of fine (B, fine_channels, H, W) and coarse (B, coarse_channels, H', W')."""
        large = F.resize_images(coarse, fine.shape[2:], align_corners=True)
        h = F.concat([large, self.feature_proj(fine)], axis=1)
        return self.conv_logits(self.conv2(self.conv1(h)))


@dataclasses.dataclass(frozen=True, kw_only=True)
class DeepLabV3plusConfig(AbstractConfig):
    """What a DeepLabV3+ is built from; its fields are the constructor's arguments."""

    n_class: int = classes_field()
    min_input_size: tuple[int, int] = count_field(help="smaller images are padded to this (H, W)", unit="pixels")
    scales: tuple[float, ...] = scales_field()
    flip: bool = flip_field()
    width: float = width_field()
    middle_blocks: int = count_field(help="blocks of Xception's middle flow")


class DeepLabV3plusXception65(AbstractSegmenter):
    """DeepLabV3+, a semantic segmentation network (Chen et al., 2018).

    n_class: number of classes; None: those of the file, or of label_names, else VOC's 21 (0 is the background)
    pretrained_model: "voc", "cityscapes", "ade20k", or the path of a ChainerCV `.npz` or of a file that cvzoo saved
    min_input_size: a number or (H, W); smaller images are padded with gray at the bottom and right; None: the training
        size of the weights, else 513
    scales, flip: the views of an image whose predictions are averaged, see `AbstractSegmenter`
    label_names: class names
    width, middle_blocks: of the network, see `Xception65`
    Raises ValueRangeError if names and classes differ in number, or for unknown weights or settings;
    WeightsMismatchError if the file does not fit.

    Source: Chen et al., Encoder-Decoder with Atrous Separable Convolution for Semantic Image Segmentation, ECCV 2018;
    the network as in ChainerCV, whose mean over scales has a wrong divisor, which does not change the labels.
    """

    align_corners = True

    def __init__(
        self,
        n_class: int | None = None,
        pretrained_model: str | os.PathLike | None = None,
        min_input_size: int | tuple[int, int] | None = None,
        scales: Sequence[float] = (1.0,),
        flip: bool = False,
        *,
        label_names: Sequence[str] | None = None,
        width: float = 1.0,
        middle_blocks: int = 16,
    ):
        source = segmenter_source(
            pretrained_model,
            V3_PLUS_RECORDS,
            V3_PLUS_NAMES,
            heads=("decoder/conv_logits",),
            n_class=n_class,
            label_names=label_names,
            usual_names=USUAL_NAMES,
        )
        self.n_class, self.label_names = source.n_class, source.label_names
        if min_input_size is None:
            min_input_size = MIN_INPUT_SIZES.get(pretrained_model, 513) if isinstance(pretrained_model, str) else 513
        self.min_input_size = _size(min_input_size)
        self.scales, self.flip = tuple(scales), flip
        self.config = DeepLabV3plusConfig(
            n_class=self.n_class,
            min_input_size=self.min_input_size,
            scales=self.scales,
            flip=flip,
            width=width,
            middle_blocks=middle_blocks,
        )
        middle = max(1, int(256 * width))
        with self.init_scope():
            self.feature_extractor = Xception65(width=width, middle_blocks=middle_blocks)
            fine, coarse = self.feature_extractor.channels
            self.aspp = SeparableASPP(coarse, middle)
            # 48: the paper's best number of channels of the low-level features (section 4.1)
            self.decoder = Decoder(fine, middle, self.n_class, projected=max(1, int(48 * width)), middle=middle)
        self.load_report = load_pretrained(self, source.file, may_start_anew=source.may_start_anew)

    @property
    def preparation(self) -> AsIs:
        """Without a resize, in [-1, 1]."""
        header = ("channels", ("formula", "x / 127.5 - 1"), ("padded_to_at_least", self.min_input_size))
        return dataclasses.replace(IN_ONE, header=header)

    def training_scores(self, x: Variable | Array) -> tuple[Variable, ...]:
        """The logits, in a tuple of one."""
        return (self.forward(x),)

    def forward(self, x: Variable | Array) -> Variable:
        """Logits (B, n_class, H / 4, W / 4), sides rounded up, for x (B, 3, H, W)."""
        fine, coarse = self.feature_extractor(x)
        return self.decoder(fine, self.aspp(coarse))

    def class_maps(self, x: np.ndarray, sizes: Sequence[tuple[int, int]]) -> Iterator[ClassMap]:
        """As in `AbstractSegmenter`; the softmax precedes the upsampling."""
        probs = mean_of_views(x, self._probs, scales=self.scales, flip=self.flip)
        for each in probs:
            yield ClassMap(each, True)

    def _probs(self, x: np.ndarray) -> np.ndarray:
        height, width = x.shape[2:]
        below = max(0, self.min_input_size[0] - height)
        right = max(0, self.min_input_size[1] - width)
        if below or right:  # 0 is gray after the normalization to [-1, 1]
            x = backend_of(x).xp.pad(x, ((0, 0), (0, 0), (0, below), (0, right)))
        probs = F.softmax(self.forward(x), axis=1)
        return F.resize_images(probs, x.shape[2:], align_corners=True).array[:, :, :height, :width]


def _size(value: int | Sequence[int]) -> tuple[int, int]:
    size = (value, value) if isinstance(value, int) else tuple(value)
    if len(size) != 2 or any(type(side) is not int or side < 1 for side in size):
        raise ValueRangeError("min_input_size must be a positive number or (H, W)", got=repr(value))
    return size
