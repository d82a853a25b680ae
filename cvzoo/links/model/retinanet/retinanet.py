"""RetinaNet, a one-stage detector (Lin et al., 2017)."""

import functools
import os
from collections.abc import Sequence

import numpy as np

import cvzoo.functions as F
from cvzoo.autodiff.variable import Variable
from cvzoo.config.switches import switches
from cvzoo.geometry.anchors import cell_anchors
from cvzoo.initializers.normal import Normal
from cvzoo.links.chain import Chain, ChainList
from cvzoo.links.connection.convolution_2d import Convolution2D
from cvzoo.links.connection.fused_convolution import fused_convolution
from cvzoo.links.connection.group_normalization import GroupNormalization
from cvzoo.links.model.config import one_config
from cvzoo.links.model.decoding.anchor_levels import AnchorLevels, LevelAnchors, as_cell
from cvzoo.links.model.dense_heads import flat_boxes, prior_bias
from cvzoo.links.model.detector import AbstractOneStageDetector, Preset
from cvzoo.links.model.fpn.fpn import FPN
from cvzoo.links.model.preparation.abstract import MEAN_OF_255, STD_OF_255
from cvzoo.links.model.preparation.resize_shortest_edge import ResizeShortestEdge, torchvision_detector_preparation
from cvzoo.links.model.pretrained.detector import detector_source, networks_of_file
from cvzoo.links.model.pretrained.load import load_pretrained
from cvzoo.links.model.resnet.extractor import ResNetExtractor
from cvzoo.links.model.resnet.weights import WEIGHTS as RESNET_WEIGHTS
from cvzoo.links.model.retinanet.config import RetinaNetConfig, with_n_anchor
from cvzoo.links.model.retinanet.weights import FILES, RESNET50_FPN, RESNET50_FPN_V2, WEIGHTS
from cvzoo.typing.aliases import Array


class RetinaNetHead(Chain):
    """Head of RetinaNet: `depth` 3 x 3 convolutions with ReLU, then one to `n_out` channels per anchor.

    channels: of the maps, and of the convolutions
    n_anchor: anchors per position
    groups: of group normalization between convolution and ReLU; None: no normalization
    bias: initial bias of the last convolution
    """

    def __init__(
        self,
        channels: int,
        n_anchor: int,
        n_out: int,
        *,
        depth: int = 4,
        groups: int | None = None,
        bias: float = 0.0,
    ):
        self.n_out = n_out
        with self.init_scope():
            self.convs = ChainList()
            self.norms = ChainList()
            for _ in range(depth):
                nobias = groups is not None
                self.convs.append(Convolution2D(channels, channels, 3, 1, 1, nobias, Normal(0.01)))
                if groups is not None:
                    self.norms.append(GroupNormalization(groups, channels))
            self.out = Convolution2D(channels, n_anchor * n_out, 3, 1, 1, initialW=Normal(0.01), initial_bias=bias)

    def forward(self, maps: Sequence[Variable | Array]) -> Variable:
        """(B, A, n_out): A over all maps one after another, in a map by row, column and anchor.

        maps: (B, channels, H, W) each
        """
        rows = []
        for h in maps:
            for i, conv in enumerate(self.convs):
                if len(self.norms):
                    h = F.relu(self.norms[i](conv(h)))
                elif isinstance(conv, Convolution2D) and not switches.enable_backprop:
                    h = fused_convolution(conv)(h, activation="relu")
                else:
                    h = F.relu(conv(h))
            rows.append(flat_boxes(self.out(h), self.n_out))
        return F.concat(rows, axis=1)


class RetinaNet(AbstractOneStageDetector):
    """RetinaNet, a one-stage detector with a feature pyramid and focal loss (Lin et al., 2017).

    n_fg_class: number of classes; None: those of label_names, else of the file
    pretrained_model: "coco", "coco_v2" (torchvision's detectors), "imagenet", "imagenet_v2" (torchvision's backbones),
        or the path of such a file or of one that cvzoo saved. A detector's file is loaded whole; where the classes,
        anchors or settings differ, a warning and `load_report` list what is initialized anew
    label_names: class names; None: the file's, if it has as many classes
    config: architecture and preprocessing; None: the file's, else default_settings
    settings: the former name of config
    default_settings: None: `RetinaNetConfig()`
    Raises ValueRangeError if names and classes differ in number, or for an unknown name or missing file;
    WeightsMismatchError for a missing or unknown array, or one of a wrong shape; what reading the file raises.

    mean, std: (3,) float32, normalization of images in [0, 255]
    Source: Lin et al., Focal Loss for Dense Object Detection, ICCV 2017.
    """

    presets = {"visualize": Preset(0.5, 0.5), "evaluate": Preset(0.5, 0.05)}
    limit = 300
    nms_thresh = 0.5
    n_candidate = 1000  # of each level, at most this many enter NMS
    mean = MEAN_OF_255
    std = STD_OF_255

    def __init__(
        self,
        n_fg_class: int | None = None,
        pretrained_model: str | os.PathLike | None = None,
        *,
        label_names: Sequence[str] | None = None,
        config: RetinaNetConfig | None = None,
        settings: RetinaNetConfig | None = None,
        default_settings: RetinaNetConfig | None = None,
    ):
        config = one_config(config, settings)
        chosen = default_settings if config is None else config
        source = detector_source(
            pretrained_model,
            {name: record for name, (record, _) in WEIGHTS.items()}
            | RESNET_WEIGHTS.get(50 if chosen is None else chosen.n_layer, {}),
            FILES,
            n_fg_class=n_fg_class,
            label_names=label_names,
            config=config,
            base=default_settings,
        )
        self.n_fg_class, self.label_names = source.n_fg_class, source.label_names
        s = next(each for each in (source.config, default_settings, RetinaNetConfig()) if each is not None)
        self.config = self.settings = s
        with self.init_scope():
            self.extractor = ResNetExtractor(
                s.n_layer, base_channels=s.base_channels, arch=s.arch, norm=s.norm, eps=s.bn_eps
            )
            self.fpn = FPN(
                self.extractor.channels[s.first_level - 2 :],
                s.channels,
                n_extra=s.last_level - 5,
                extra_from=s.extra_from,
            )
            self.loc_head = RetinaNetHead(s.channels, s.n_anchor, 4, depth=s.head_depth, groups=s.head_groups)
            self.conf_head = RetinaNetHead(
                s.channels,
                s.n_anchor,
                self.n_fg_class,
                depth=s.head_depth,
                groups=s.head_groups,
                bias=prior_bias(s.prior),
            )
        self.load_report = load_pretrained(
            self,
            source.file,
            as_written=networks_of_file(
                source,
                s,
                lambda n, own: RetinaNet(n, config=own),
                lambda own, arrays: with_n_anchor(own, max(np.size(arrays["loc_head/out/b"]) // 4, 1)),
            ),
        )
        source.use_thresholds(self)

    @property
    def preparation(self) -> ResizeShortestEdge:
        """See `torchvision_detector_preparation`."""
        s = self.settings
        return torchvision_detector_preparation(s.min_size, s.max_size, antialias=s.antialias)

    def forward(self, x: Variable | Array) -> tuple[Variable, Variable]:
        """loc (B, A, 4): dy dx dh dw against `anchors`; conf (B, A, L): logits.

        x: (B, 3, H, W), normalized
        A runs over the levels, the finest first, in a level by row, column and anchor.
        """
        maps = self.fpn(self.extractor(x)[self.settings.first_level - 2 :])
        return self.loc_head(maps), self.conf_head(maps)

    def grids(self, size: Sequence[int]) -> tuple[tuple[int, int], ...]:
        """(H, W) of each level's map, the finest first, for an input of `size` (H, W)."""
        return tuple(_level_anchors(self.settings).grids(size))

    def anchors(self, size: Sequence[int]) -> np.ndarray:
        """(A, 4) float32, y_min x_min y_max x_max, in pixels of the network's input of `size` (H, W)."""
        return self.decoding.anchors.boxes(size)

    @property
    def decoding(self) -> AnchorLevels:
        """As in `AbstractOneStageDetector`; at most `n_candidate` per level, clipped to the image."""
        return AnchorLevels(
            anchors=_level_anchors(self.config),
            n_class=self.n_fg_class,
            scores="sigmoid",
            n_candidate=self.n_candidate,
            clip=True,
        )


@functools.lru_cache(maxsize=32)
def _level_anchors(config: RetinaNetConfig) -> LevelAnchors:
    cells = [
        as_cell(cell_anchors(sizes, config.anchor_ratios, rounded=config.anchor_rounded))
        for sizes in config.anchor_sizes
    ]
    # steps of whole pixels, as in the published networks
    return LevelAnchors(tuple(cells), tuple(1 << level for level in range(config.first_level, config.last_level + 1)))


def retinanet_resnet18(
    n_fg_class: int | None = None,
    pretrained_model: str | os.PathLike | None = None,
    *,
    label_names: Sequence[str] | None = None,
) -> RetinaNet:
    """RetinaNet, a one-stage detector, on a ResNet-18; arguments as in `RetinaNet`."""
    settings = RetinaNetConfig(n_layer=18) if pretrained_model is None else None
    if pretrained_model in ("imagenet", "imagenet_v2"):
        settings = RetinaNetConfig(n_layer=18, norm="frozen")
    return RetinaNet(n_fg_class, pretrained_model, label_names=label_names, settings=settings)


def retinanet_resnet50_fpn(
    n_fg_class: int | None = None,
    pretrained_model: str | os.PathLike | None = None,
    *,
    label_names: Sequence[str] | None = None,
) -> RetinaNet:
    """A `RetinaNet` as torchvision's `retinanet_resnet50_fpn`; arguments as there, COCO's weights are "coco".

    A detector's file determines the config.
    """
    return RetinaNet(n_fg_class, pretrained_model, label_names=label_names, default_settings=RESNET50_FPN)


def retinanet_resnet50_fpn_v2(
    n_fg_class: int | None = None,
    pretrained_model: str | os.PathLike | None = None,
    *,
    label_names: Sequence[str] | None = None,
) -> RetinaNet:
    """A `RetinaNet` as torchvision's `retinanet_resnet50_fpn_v2`; arguments as there, COCO's weights are "coco_v2".

    A detector's file determines the config.
    """
    return RetinaNet(n_fg_class, pretrained_model, label_names=label_names, default_settings=RESNET50_FPN_V2)
