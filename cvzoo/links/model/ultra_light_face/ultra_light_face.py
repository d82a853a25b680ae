"""Ultra-Light face detector, a one-stage detector of 300,000 parameters (Linzaer, 2019)."""

import dataclasses
import math
import os
from collections.abc import Sequence

import numpy as np

import cvzoo.functions as F
from cvzoo.autodiff.variable import Variable
from cvzoo.errors.exceptions import ValueRangeError
from cvzoo.links.chain import Chain, ChainList, Sequential
from cvzoo.links.connection.conv_2d_bn_activ import Conv2DActiv, Conv2DBNActiv, SeparableConv2DBNActiv
from cvzoo.links.connection.convolution_2d import Convolution2D
from cvzoo.links.model.config import AbstractConfig, config_field
from cvzoo.links.model.decoding.anchor_levels import AnchorLevels
from cvzoo.links.model.detector import AbstractOneStageDetector, Preset
from cvzoo.links.model.pretrained.load import load_pretrained
from cvzoo.links.model.pretrained.source import read_pretrained
from cvzoo.links.model.ultra_light_face.weights import FACE_LABELS, PREPARATION, WEIGHTS, face_names
from cvzoo.typing.aliases import Array


def _conv(n_in: int, n_out: int, ksize: int, dilate: int = 1, *, has_relu: bool = True) -> Conv2DBNActiv:
    pad = dilate * (ksize // 2)
    return Conv2DBNActiv(n_in, n_out, ksize, 1, pad, dilate=dilate, activ=F.relu if has_relu else None, bn_eps=1e-5)


class ReceptiveFieldBlock(Chain):
    """Receptive field block (Liu et al., 2018): relu(join(branches of x) + shortcut(x)), dilations of 2, 3 and 5.

    Source: Liu, Huang and Wang, Receptive Field Block Net, ECCV 2018, in the shape of the published face detector.
    """

    def __init__(self, n_channel: int):
        n = n_channel // 8
        with self.init_scope():
            self.branch0 = Sequential(
                _conv(n_channel, n, 1, has_relu=False), _conv(n, 2 * n, 3), _conv(2 * n, 2 * n, 3, 2, has_relu=False)
            )
            self.branch1 = Sequential(
                _conv(n_channel, n, 1, has_relu=False), _conv(n, 2 * n, 3), _conv(2 * n, 2 * n, 3, 3, has_relu=False)
            )
            self.branch2 = Sequential(
                _conv(n_channel, n, 1, has_relu=False),
                _conv(n, n // 2 * 3, 3),
                _conv(n // 2 * 3, 2 * n, 3),
                _conv(2 * n, 2 * n, 3, 5, has_relu=False),
            )
            self.join = _conv(6 * n, n_channel, 1, has_relu=False)
            self.shortcut = _conv(n_channel, n_channel, 1, has_relu=False)

    def forward(self, x: Variable | Array) -> Variable:
        """x's shape; x is (B, n_channel, H, W)."""
        h = F.concat([self.branch0(x), self.branch1(x), self.branch2(x)], axis=1)
        return F.relu(self.join(h) + self.shortcut(x))


# sides of the square anchors in pixels of the network's input, map by map
SIDES = ((10, 16, 24), (32, 48), (64, 96), (128, 192, 256))
STRIDES = (8, 16, 32, 64)


@dataclasses.dataclass(frozen=True)
class FacePriors:
    """Anchors of the face detector in relative coordinates; see `face_priors`.

    sides: of the square anchors of each map, pixels of the network's input; strides: of the maps
    """

    sides: tuple[tuple[int, ...], ...] = SIDES
    strides: tuple[int, ...] = STRIDES

    def boxes(self, size: Sequence[int]) -> np.ndarray:
        """(A, 4) float32 for a network's input of `size` (H, W)."""
        return face_priors(size, self.sides, self.strides)

    def counts(self, size: Sequence[int]) -> list[int]:
        """The number of anchors of each map."""
        h, w = size
        return [math.ceil(h / s) * math.ceil(w / s) * len(sides) for s, sides in zip(self.strides, self.sides)]


def face_priors(
    size: Sequence[int], sides: Sequence[Sequence[int]] = SIDES, strides: Sequence[int] = STRIDES
) -> np.ndarray:
    """(R, 4) float32, the anchors, y_min x_min y_max x_max relative to the image; 4,420 for (240, 320).

    size: (H, W) of the network's input; sides, strides: as in `FacePriors`
    Ordered by map, the finest first, then by row, column and side. Sides are clipped to the image's size, but not the
    boxes: an anchor may extend beyond the image.

    Source: the publisher's generate_priors (facts).
    """
    h, w = size
    maps = []
    for stride, squares in zip(strides, sides):
        rows, columns = math.ceil(h / stride), math.ceil(w / stride)
        # cells divide the image evenly, even where the last one extends beyond it
        y = (np.arange(rows) + 0.5) / rows
        x = (np.arange(columns) + 0.5) / columns
        center = np.stack(np.meshgrid(y, x, indexing="ij"), axis=-1)[:, :, None]  # (rows, columns, 1, 2)
        half = np.minimum(np.array(squares)[:, None] / (h, w), 1) / 2  # (K, 2)
        maps.append(np.concatenate([center - half, center + half], axis=-1).reshape(-1, 4))
    return np.concatenate(maps).astype(np.float32)


# output channels and stride of the separable convolutions after the first one
_WIDTHS = (32, 32, 32, 64, 64, 64, 64, 128, 128, 128, 256, 256)
_STRIDES = (1, 2, 1, 2, 1, 1, 1, 2, 1, 1, 2, 1)
_ENDS = (8, 11, 13)  # numbers of links of the base after which the first three heads are
_SIZE = (240, 320)


@dataclasses.dataclass(frozen=True, kw_only=True)
class UltraLightFaceConfig(AbstractConfig):
    """What an UltraLightFace is built from; its field is the constructor's argument."""

    variant: str = config_field(help="rfb_320, with a receptive field block, or slim_320, without")


class UltraLightFace(AbstractOneStageDetector):
    """A one-stage face detector of 13 small convolutions and four heads, for 240 x 320 pixels (Linzaer, 2019).

    pretrained_model: "wider_face", or a path of a torch file or one that cvzoo saved
    variant: "rfb_320", with a receptive field block, or "slim_320", without: faster, less accurate on small faces

    Raises ValueRangeError for an unknown variant or weights.
    Source: Linzaer, Ultra-Light-Fast-Generic-Face-Detector-1MB, 2019, after Liu et al., SSD, ECCV 2016. Where we
    differ: images are shrunk with antialiasing.
    """

    presets = {"visualize": Preset(0.3, 0.6), "evaluate": Preset(0.3, 0.01)}
    label_names = FACE_LABELS
    n_fg_class = 1
    score_thresh = 0.6
    nms_thresh = 0.3
    # an attribute, as the base class allows
    preparation = PREPARATION  # pyright: ignore[reportIncompatibleMethodOverride, reportAssignmentType]

    def __init__(self, pretrained_model: str | os.PathLike | None = None, variant: str = "rfb_320"):
        if variant not in WEIGHTS:
            raise ValueRangeError(
                "UltraLightFace: the variant is unknown", expected=" or ".join(map(repr, WEIGHTS)), got=repr(variant)
            )
        self.config = UltraLightFaceConfig(variant=variant)
        with self.init_scope():
            self.base = ChainList(Conv2DBNActiv(3, 16, 3, 2, 1, bn_eps=1e-5))
            n = 16
            for i, (n_out, stride) in enumerate(zip(_WIDTHS, _STRIDES)):
                if i == 6 and variant == "rfb_320":
                    self.base.append(ReceptiveFieldBlock(64))
                else:
                    self.base.append(SeparableConv2DBNActiv(n, n_out, 3, stride, 1, bn_eps=1e-5))
                n = n_out
            self.extra = Sequential(
                Conv2DActiv(256, 64, 1), Conv2DActiv(64, 64, 3, 2, 1, groups=64), Conv2DActiv(64, 256, 1)
            )
            widths = (64, 128, 256, 256)
            self.score_heads = ChainList(*(_head(i, c, 2 * len(SIDES[i])) for i, c in enumerate(widths)))
            self.box_heads = ChainList(*(_head(i, c, 4 * len(SIDES[i])) for i, c in enumerate(widths)))
        if pretrained_model is not None:
            file = read_pretrained(pretrained_model, WEIGHTS[variant], face_names(variant == "rfb_320"))
            load_pretrained(self, file)

    def forward(self, x: Variable | Array) -> tuple[Variable, Variable]:
        """Probabilities (B, R, 2) of no face and face, and offsets (B, R, 4) dx dy dw dh, for x (B, 3, 240, 320)."""
        maps = []
        for i, link in enumerate(self.base):
            x = link(x)
            if i + 1 in _ENDS:
                maps.append(x)
        maps.append(self.extra(x))
        scores = [_rows(head(h), 2) for head, h in zip(self.score_heads, maps)]
        offsets = [_rows(head(h), 4) for head, h in zip(self.box_heads, maps)]
        return F.softmax(F.concat(scores, axis=1), axis=2), F.concat(offsets, axis=1)

    @property
    def decoding(self) -> AnchorLevels:
        """As in `AbstractOneStageDetector`."""
        return AnchorLevels(
            anchors=FacePriors(),
            n_class=1,
            scores="probability",
            std=(0.1, 0.1, 0.2, 0.2),
            order="xy",
            scores_first=True,
            relative=True,
        )


def _head(i: int, n_in: int, n_out: int) -> Sequential | Convolution2D:
    if i == 3:
        return Convolution2D(n_in, n_out, 3, pad=1)
    return Sequential(Conv2DActiv(n_in, n_in, 3, 1, 1, groups=n_in), Convolution2D(n_in, n_out, 1))


def _rows(h: Variable, n: int) -> Variable:
    """(B, H * W * K, n) of a head's output (B, K * n, H, W)."""
    return F.reshape(F.transpose(h, (0, 2, 3, 1)), (h.shape[0], -1, n))
