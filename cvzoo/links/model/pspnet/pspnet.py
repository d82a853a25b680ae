"""PSPNet, a semantic segmentation network (Zhao et al., 2017)."""

import dataclasses
import math
import os
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np

import cvzoo.functions as F
from cvzoo.autodiff.variable import Variable
from cvzoo.backends.arrays import to_numpy
from cvzoo.backends.device import device_of
from cvzoo.backends.dispatch import backend_of
from cvzoo.errors.exceptions import ValueRangeError
from cvzoo.labels.ade20k import ade20k_semantic_segmentation_label_names
from cvzoo.labels.cityscapes import cityscapes_semantic_segmentation_label_names
from cvzoo.labels.voc import voc_semantic_segmentation_label_names
from cvzoo.links.chain import ChainList
from cvzoo.links.connection.conv_2d_bn_activ import Conv2DBNActiv
from cvzoo.links.connection.convolution_2d import Convolution2D
from cvzoo.links.model.class_maps import ClassMap, mean_of_views
from cvzoo.links.model.config import AbstractConfig, classes_field, config_field, count_field, flip_field, scales_field
from cvzoo.links.model.preparation.as_is import AsIs
from cvzoo.links.model.pretrained.classifier import segmenter_source
from cvzoo.links.model.pretrained.load import load_pretrained
from cvzoo.links.model.pretrained.source import read_pretrained
from cvzoo.links.model.pspnet.weights import (
    BACKBONE_NAMES,
    BACKBONE_RECORDS,
    INPUT_SIZES,
    LAYOUTS,
    NAMES,
    RECORDS,
    Layout,
)
from cvzoo.links.model.resnet.extractor import ResNetExtractor
from cvzoo.links.model.segmenter import AbstractSegmenter
from cvzoo.links.model.variant import variant
from cvzoo.transforms.resize_contain import contain_frame, resize_contain
from cvzoo.typing.aliases import Array


class Tile(NamedTuple):
    """A tile: its slices in the image, and the slices of that part of the image in the tile.

    A tile that is larger than the image extends beyond it on both sides.
    """

    image: tuple[slice, slice]
    window: tuple[slice, slice]


def cover_with_tiles(size: Sequence[int], window: Sequence[int], stride: Sequence[int]) -> list[Tile]:
    """Tiles that cover an image, row by row: as many as the strides need, centered.

    size, window, stride: (H, W) each
    Source: PSPNet's sliding evaluation, as ChainerCV has it.
    """
    rows, columns = (_along(*each) for each in zip(size, window, stride))
    return [Tile((y, x), (wy, wx)) for y, wy in rows for x, wx in columns]


def _along(side: int, window: int, stride: int) -> list[tuple[slice, slice]]:
    n = max(1, math.ceil((side - window) / stride) + 1)
    start = (side - window - stride * (n - 1)) // 2
    spans = []
    for i in range(n):
        low = start + i * stride
        high = low + window
        spans.append((slice(max(low, 0), min(high, side)), slice(max(-low, 0), window - max(high - side, 0))))
    return spans


def convolution_crop(
    img: np.ndarray, size: Sequence[int], stride: Sequence[int], return_param: bool = False
) -> np.ndarray | tuple[np.ndarray, dict[str, list[slice]]]:
    """The windows of an image that `cover_with_tiles` gives, (N, C, *size), zero-padded beyond it.

    img: (C, H, W); size, stride: (H, W) each
    return_param: a pair, the second a dictionary of N slices each: "y_slices", "x_slices", of a window in the
        image, "crop_y_slices", "crop_x_slices", of that part of the image in the window
    Source: ChainerCV's function of this name.
    """
    tiles = cover_with_tiles(img.shape[1:], size, stride)
    windows = np.zeros((len(tiles), len(img), *size), img.dtype)
    for window, tile in zip(windows, tiles):
        window[(slice(None), *tile.window)] = img[(slice(None), *tile.image)]
    if not return_param:
        return windows
    names = ("y_slices", "x_slices"), ("crop_y_slices", "crop_x_slices")
    return windows, {
        name: [tile[which][axis] for tile in tiles] for which in (0, 1) for axis, name in enumerate(names[which])
    }


class PyramidPoolingModule(ChainList):
    """Pyramid pooling module: x and, for each level, its means over a grid, convolved and upsampled.

    feat_size: (H, W) of the maps that the network is made for; a level's pooling windows have the size that divides it
        into `pyramids` parts, rounded down to whole pixels, for any size of x
    eps: of the normalizations
    Source: Zhao et al., Pyramid Scene Parsing Network, CVPR 2017.
    """

    def __init__(
        self, in_channels: int, feat_size: Sequence[int], pyramids: Sequence[int] = (6, 3, 2, 1), *, eps: float = 2e-5
    ):
        out_channels = in_channels // len(pyramids)
        super().__init__(*(Conv2DBNActiv(in_channels, out_channels, 1, bn_eps=eps) for _ in pyramids))
        self.ksizes = [tuple(max(1, side // parts) for side in feat_size) for parts in pyramids]

    def forward(self, x: Variable | Array) -> Variable:
        """(B, 2 * in_channels, H, W) of x (B, in_channels, H, W)."""
        size = x.shape[2:]
        maps = [x]
        for conv, ksize in zip(self, self.ksizes):
            ksize = tuple(min(k, side) for k, side in zip(ksize, size))  # a smaller map is one pooling window
            maps.append(F.resize_images(conv(F.average_pooling_2d(x, ksize, ksize)), size, align_corners=True))
        return F.concat(maps, axis=1)


_STRIDE = 8  # of the dilated ResNet


_USUAL_NAMES = (
    cityscapes_semantic_segmentation_label_names,
    ade20k_semantic_segmentation_label_names,
    voc_semantic_segmentation_label_names,
)


@dataclasses.dataclass(frozen=True, kw_only=True)
class PSPNetConfig(AbstractConfig):
    """What a PSPNet is built from; its fields are the constructor's arguments, and attributes."""

    n_layer: int = count_field(help="depth of the ResNet: 50, 101 or 10")
    n_class: int = classes_field()
    input_size: tuple[int, int] = count_field(help="(H, W) of the windows", unit="pixels", at_least=8)
    base_channels: int = count_field(help="channels of the backbone's first convolution")
    aux: bool = config_field(help="whether there is an auxiliary head on the third stage, for training")
    layout: Layout = config_field(help="whose details")
    scales: tuple[float, ...] = scales_field()
    flip: bool = flip_field()


class PSPNet(AbstractSegmenter):
    """PSPNet, a semantic segmentation network (Zhao et al., 2017); large images are segmented in windows of one size.

    n_layer: depth of the ResNet: 50 or 101; also 10
    n_class: number of classes; None: those of the file, or of label_names, else Cityscapes' 19
    pretrained_model: "cityscapes", "ade20k", "imagenet" (the backbone alone), with 101 layers "cityscapes_converted",
        from ChainerCV; "ade20k_gluon", with 101 layers "voc", "coco_voc", "cityscapes_gluon", from gluon-cv; or the
        path of a file of theirs or one that cvzoo saved
    input_size: side or (H, W) of the windows; None: the training size of the weights, else 713
    label_names: class names
    base_channels: of the backbone, see `ResNetExtractor`
    aux: whether there is an auxiliary head on the backbone's third stage, for training; gluon-cv's files have one
    layout: "chainercv" or "gluon", whose details; their own files determine it
    Raises ValueRangeError if names and classes differ in number, or for unknown weights or settings;
    WeightsMismatchError if the file does not fit.

    `flip` is True by default. Windows overlap by a third.
    Source: Zhao et al., Pyramid Scene Parsing Network, CVPR 2017; the network and its windows as ChainerCV has them,
    the auxiliary head as its training script. gluon-cv's pyramid has grids of any size; ours are the same where
    `input_size` is a multiple of 48.
    """

    align_corners = True

    def __init__(
        self,
        n_layer: int,
        n_class: int | None = None,
        pretrained_model: str | os.PathLike | None = None,
        input_size: int | tuple[int, int] | None = None,
        *,
        label_names: Sequence[str] | None = None,
        base_channels: int = 64,
        aux: bool = False,
        layout: Layout = "chainercv",
    ):
        backbone = None
        if isinstance(pretrained_model, str) and pretrained_model in BACKBONE_RECORDS.get(n_layer, {}):
            backbone = read_pretrained(pretrained_model, BACKBONE_RECORDS[n_layer], BACKBONE_NAMES)
        source = segmenter_source(
            pretrained_model if backbone is None else None,
            RECORDS.get(n_layer, {}),
            NAMES,
            heads=("head_conv2", "aux_conv2"),
            n_class=n_class,
            label_names=label_names,
            usual_names=_USUAL_NAMES,
        )
        if input_size is None:
            input_size = INPUT_SIZES.get(pretrained_model, 713) if isinstance(pretrained_model, str) else 713
        is_gluon = source.file is not None and source.file.publisher == "gluon"
        self.config = PSPNetConfig(
            n_layer=n_layer,
            n_class=source.n_class,
            input_size=_size(input_size),
            base_channels=base_channels,
            aux=aux or is_gluon,
            layout="gluon" if is_gluon else layout,
            scales=self.scales,
            flip=True,
        )
        self.label_names = source.label_names
        self._build(self.config)
        load_pretrained(self, backbone)
        self.load_report = load_pretrained(self, source.file, may_start_anew=source.may_start_anew)

    def _build(self, c: PSPNetConfig) -> None:
        self.n_class, self.input_size = c.n_class, c.input_size
        self.aux, self.layout, self.flip = c.aux, c.layout, c.flip
        kind = LAYOUTS[c.layout]
        with self.init_scope():
            self.extractor = ResNetExtractor(
                c.n_layer,
                base_channels=c.base_channels,
                stem="deep",
                dilations=(1, 1, 2, 4),
                dilate_first=kind.dilate_first,
                eps=kind.eps,
            )
            middle, last = self.extractor.channels[2:]
            self.ppm = PyramidPoolingModule(
                last, [side // _STRIDE for side in c.input_size], kind.pyramids, eps=kind.eps
            )
            self.head_conv1 = Conv2DBNActiv(2 * last, last // 4, 3, 1, 1, bn_eps=kind.eps)
            self.head_conv2 = Convolution2D(last // 4, c.n_class, 1)
            self.aux_conv1 = self.aux_conv2 = None
            if c.aux:
                wide, ksize = int(middle * kind.aux_channels), kind.aux_ksize
                self.aux_conv1 = Conv2DBNActiv(middle, wide, 3, 1, 1, bn_eps=kind.eps)
                self.aux_conv2 = Convolution2D(wide, c.n_class, ksize, 1, ksize // 2)

    @property
    def preparation(self) -> AsIs:
        """Without a resize, normalized."""
        windows = ("windows", self.input_size), ("stride", "two thirds of a window")
        layout = LAYOUTS[self.layout]
        return AsIs(mean=layout.mean, std=layout.std, header=("channels", "mean", "std", *windows))

    def training_scores(self, x: Variable | Array) -> tuple[Variable, ...]:
        """The logits, and the auxiliary head's if there is one, of stride 8."""
        _, _, middle, last = self.extractor(x)
        scores = self.head_conv2(F.dropout(self.head_conv1(self.ppm(last)), 0.1))
        if self.aux_conv1 is None or self.aux_conv2 is None:
            return (scores,)
        return scores, self.aux_conv2(F.dropout(self.aux_conv1(middle), 0.1))

    def forward(self, x: Variable | Array) -> Variable:
        """Logits (B, n_class, H, W) for x (B, 3, H, W), of the size `input_size`."""
        scores = self.head_conv2(self.head_conv1(self.ppm(self.extractor(x)[3])))
        return F.resize_images(scores, x.shape[2:], align_corners=True)

    def class_maps(self, x: np.ndarray, sizes: Sequence[tuple[int, int]]) -> Iterator[ClassMap]:
        """As in `AbstractSegmenter`: the mean probabilities of all windows that cover a pixel."""
        for img in x:
            # each window is flipped by itself, in `_window_probs`
            probs = mean_of_views(img[None], self._mean_of_windows, scales=self.scales, flip=False, align_corners=True)
            yield ClassMap(probs[0], True)

    def _mean_of_windows(self, x: np.ndarray) -> np.ndarray:
        size, xp = x.shape[2:], backend_of(x).xp
        if max(size) <= max(self.input_size):
            framed, frame = _framed(x[0], self.input_size)
            y, left, (height, width) = frame["y_offset"], frame["x_offset"], frame["scaled_size"]
            probs = self._window_probs(framed)[:, y : y + height, left : left + width]
            return F.resize_images(probs[None], size, align_corners=True).array
        stride = [math.ceil(side * 2 / 3) for side in self.input_size]
        total = xp.zeros((1, self.n_class, *size), np.float32)
        count = xp.zeros(size, np.float32)
        for (y, left), (wy, wx) in cover_with_tiles(size, self.input_size, stride):
            window = xp.zeros((3, *self.input_size), np.float32)
            window[:, wy, wx] = x[0, :, y, left]
            total[0, :, y, left] += self._window_probs(window)[:, wy, wx]
            count[y, left] += 1
        return total / count

    def _window_probs(self, window: np.ndarray) -> np.ndarray:
        views = backend_of(window).xp.stack([window, window[..., ::-1]] if self.flip else [window])
        probs = F.softmax(self.forward(views), axis=1).array
        return (probs[0] + probs[1][..., ::-1]) / 2 if self.flip else probs[0]


def _framed(img: Array, size: tuple[int, int]) -> tuple[Array, dict[str, Any]]:
    """`resize_contain` with its parameters, for an image on any device."""
    frame = contain_frame(img.shape[1:], size)
    if frame["scaled_size"] != img.shape[1:]:  # Pillow has it
        framed, frame = resize_contain(to_numpy(img), size, return_param=True)
        return device_of(img).asarray(framed), frame
    framed = backend_of(img).xp.zeros((img.shape[0], *size), img.dtype)
    (y, x), (height, width) = (frame["y_offset"], frame["x_offset"]), img.shape[1:]
    framed[:, y : y + height, x : x + width] = img
    return framed, frame


def _size(value: int | Sequence[int]) -> tuple[int, int]:
    size = (value, value) if isinstance(value, int) else tuple(value)
    if len(size) != 2 or any(type(side) is not int or side < 8 for side in size):
        raise ValueRangeError("PSPNet: input_size must be an integer of at least 8, or (H, W)", got=repr(value))
    return size


def _pspnet(
    n_layer: int,
    n_class: int | None = None,
    pretrained_model: str | os.PathLike | None = None,
    input_size: int | tuple[int, int] | None = None,
    *,
    label_names: Sequence[str] | None = None,
    aux: bool = False,
) -> PSPNet:
    return PSPNet(n_layer, n_class, pretrained_model, input_size, label_names=label_names, aux=aux)


PSPNetResNet50 = variant("PSPNetResNet50", _pspnet, 50, "A `PSPNet` on a ResNet of 50 layers")
PSPNetResNet101 = variant("PSPNetResNet101", _pspnet, 101, "A `PSPNet` on a ResNet of 101 layers")
