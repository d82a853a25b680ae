"""FCOS, a one-stage detector without anchors (Tian et al., 2019)."""

import dataclasses
import os
from collections.abc import Sequence
from typing import Literal

import cvzoo.functions as F
from cvzoo.autodiff.variable import Variable, as_variable
from cvzoo.initializers.normal import Normal
from cvzoo.labels.coco import coco_bbox_label_names
from cvzoo.links.chain import Chain, ChainList
from cvzoo.links.connection.convolution_2d import Convolution2D
from cvzoo.links.connection.group_normalization import GroupNormalization
from cvzoo.links.model.config import AbstractConfig, config_field, count_field, one_config
from cvzoo.links.model.decoding.point_levels import PointLevels
from cvzoo.links.model.dense_heads import flat_boxes, prior_bias
from cvzoo.links.model.detector import AbstractOneStageDetector, Preset
from cvzoo.links.model.fcos.weights import NAMES, WEIGHTS, count_classes
from cvzoo.links.model.fpn.fpn import FPN
from cvzoo.links.model.preparation.abstract import MEAN_OF_255, STD_OF_255
from cvzoo.links.model.preparation.resize_shortest_edge import ResizeShortestEdge, torchvision_detector_preparation
from cvzoo.links.model.pretrained.detector import DetectorFiles, detector_source
from cvzoo.links.model.pretrained.load import load_pretrained
from cvzoo.links.model.resnet.extractor import ResNetExtractor
from cvzoo.links.model.resnet.weights import WEIGHTS as RESNET_WEIGHTS
from cvzoo.typing.aliases import Array


@dataclasses.dataclass(frozen=True, kw_only=True)
class FCOSConfig(AbstractConfig):
    """What an FCOS is built from, and its preprocessing. Raises ValueRangeError."""

    n_layer: int = count_field(50, help="layers of the ResNet, see ResNetExtractor", group="backbone")
    base_channels: int = count_field(64, help="channels of the ResNet's first convolution", group="backbone")
    norm: Literal["batch", "frozen", "group"] = config_field(
        "frozen",
        help="normalization of the ResNet: batch (trained), frozen (few images a batch, trained weights) or group",
        group="backbone",
    )
    bn_eps: float = config_field(1e-5, help="epsilon of these normalizations", at_least=0, group="backbone")
    channels: int = count_field(256, help="channels of the pyramid and the heads", group="FPN")
    head_depth: int = count_field(4, help="convolutions in each head before the last", at_least=0, group="heads")
    head_groups: int = count_field(32, help="groups of the group normalizations in the heads", group="heads")
    prior: float = config_field(
        0.01, help="probability that every class starts from in training", above=0, below=1, group="heads"
    )
    radius: float = config_field(
        1.5,
        help="a point may belong to an object if it is nearer to its center than this, see match_places",
        unit="strides",
        above=0,
        group="heads",
    )
    min_size: int = count_field(
        800, help="length of the resized image's short side", unit="pixels", group="preparation"
    )
    max_size: int = count_field(
        1333, help="most that the resized image's long side may have", unit="pixels", group="preparation"
    )
    antialias: bool = config_field(
        False,
        help="images are shrunk as Pillow does; False: by four pixels' bilinear mean, as torchvision's networks expect",
        group="preparation",
    )

    def check_together(self) -> None:
        """Raises ValueRangeError unless groups divide the channels and the sides are in order."""
        self.require(self.channels % self.head_groups == 0, "channels", "divided by head_groups")
        self.require(self.min_size <= self.max_size, "min_size", "positive, and not over max_size")


FCOSSettings = FCOSConfig  # its name before configs were files' headers, too


class Tower(Chain):
    """`depth` 3 x 3 convolutions of constant width, each with group normalization and relu."""

    def __init__(self, channels: int, *, depth: int, groups: int):
        with self.init_scope():
            self.convs, self.norms = ChainList(), ChainList()
            for _ in range(depth):
                self.convs.append(Convolution2D(channels, channels, 3, 1, 1, initialW=Normal(0.01)))
                self.norms.append(GroupNormalization(groups, channels))

    def forward(self, x: Variable | Array) -> Variable:
        """x's shape (B, channels, H, W)."""
        h = as_variable(x)
        for conv, norm in zip(self.convs, self.norms):
            h = F.relu(norm(conv(h)))
        return h


class FCOSHead(Chain):
    """Head of FCOS: distances to the sides, class logits and centerness.

    channels: of the maps; n_class: without a background; bias: initial bias of the class logits
    """

    def __init__(self, channels: int, n_class: int, *, depth: int = 4, groups: int = 32, bias: float = 0.0):
        self.n_class = n_class
        with self.init_scope():
            self.conf_tower = Tower(channels, depth=depth, groups=groups)
            self.conf = Convolution2D(channels, n_class, 3, 1, 1, initialW=Normal(0.01), initial_bias=bias)
            self.loc_tower = Tower(channels, depth=depth, groups=groups)
            self.loc = Convolution2D(channels, 4, 3, 1, 1, initialW=Normal(0.01))
            self.center = Convolution2D(channels, 1, 3, 1, 1, initialW=Normal(0.01))

    def forward(self, maps: Sequence[Variable]) -> tuple[Variable, Variable, Variable]:
        """loc (B, A, 4), conf (B, A, n_class), center (B, A, 1): A over all maps, within a map by row and column.

        maps: (B, channels, H, W) each, the finest first
        """
        locs, confs, centers = [], [], []
        for h in maps:
            confs.append(flat_boxes(self.conf(self.conf_tower(h)), self.n_class))
            tower = self.loc_tower(h)
            locs.append(flat_boxes(F.relu(self.loc(tower)), 4))
            centers.append(flat_boxes(self.center(tower), 1))
        return F.concat(locs, axis=1), F.concat(confs, axis=1), F.concat(centers, axis=1)


STRIDES = (8, 16, 32, 64, 128)


class FCOS(AbstractOneStageDetector):
    """FCOS, a one-stage detector without anchors (Tian et al., 2019): each location predicts distances to box sides.

    n_fg_class: number of classes; None: those of label_names, else of the file, else COCO's 80
    pretrained_model: "coco" (torchvision's detector), "imagenet", "imagenet_v2" (torchvision's backbones), or the path
        of such a file or of one that cvzoo saved. What fits is loaded; a warning and `load_report` list what is
        initialized anew in the class head
    label_names: class names; None: the file's, if it has as many classes, or COCO's if there are 80
    config: architecture and preprocessing; None: as the file has it, else `FCOSConfig()`
    settings: the former name of config
    Raises ValueRangeError if names and classes differ in number, or for an unknown name or missing file;
    WeightsMismatchError if the file holds a different network; what reading it raises.

    mean, std: (3,) float32, normalization of images in [0, 255]
    Source: Tian et al., FCOS: Fully Convolutional One-Stage Object Detection, ICCV 2019; with centerness on the box
    tower, and P6 from P5, as in torchvision.
    """

    presets = {"visualize": Preset(0.6, 0.5), "evaluate": Preset(0.6, 0.2)}
    limit = 100
    n_candidate = 1000  # of each level, at most this many enter NMS
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
            DetectorFiles("FCOS", NAMES, count_classes, FCOSConfig, default_names=coco_bbox_label_names),
            n_fg_class=n_fg_class,
            label_names=label_names,
            config=config,
            base=FCOSConfig() if config is None else config,
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
    def preparation(self) -> ResizeShortestEdge:
        """See `torchvision_detector_preparation`."""
        s = self.settings
        return torchvision_detector_preparation(s.min_size, s.max_size, antialias=s.antialias)

    def forward(self, x: Variable | Array) -> tuple[Variable, Variable, Variable]:
        """loc (B, A, 4): distances up, left, down, right in strides; conf (B, A, L) and center (B, A, 1): logits.

        x: (B, 3, H, W), normalized
        A is over all levels, the finest first, within a level by row and column.
        """
        return self.head(self.fpn(self.extractor(x)[1:]))

    @property
    def decoding(self) -> PointLevels:
        """As in `AbstractOneStageDetector`; at most `n_candidate` per level, clipped to the image."""
        return PointLevels(strides=STRIDES, n_class=self.n_fg_class, n_candidate=self.n_candidate)


def FCOSResNet50FPN(
    n_fg_class: int | None = None,
    pretrained_model: str | os.PathLike | None = None,
    *,
    label_names: Sequence[str] | None = None,
) -> FCOS:
    """An `FCOS` as torchvision's `fcos_resnet50_fpn`; arguments as there, COCO's weights are "coco"."""
    return FCOS(n_fg_class, pretrained_model, label_names=label_names, settings=FCOSConfig())
