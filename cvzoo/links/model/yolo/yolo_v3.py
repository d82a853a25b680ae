"""YOLOv3, a one-stage detector (Redmon and Farhadi, 2018)."""

import dataclasses
import os
from collections.abc import Sequence

import cvzoo.functions as F
from cvzoo.autodiff.variable import Variable
from cvzoo.errors.exceptions import ValueRangeError
from cvzoo.labels.voc import voc_bbox_label_names
from cvzoo.links.chain import Chain
from cvzoo.links.connection.convolution_2d import Convolution2D
from cvzoo.links.link import InitialValue
from cvzoo.links.model.config import AbstractConfig, classes_field, config_field, count_field
from cvzoo.links.model.darknet.resampling import enlarge
from cvzoo.links.model.decoding.grid_cells import GridCells, YoloHead
from cvzoo.links.model.detector import AbstractOneStageDetector
from cvzoo.links.model.preparation.letterbox import Letterbox
from cvzoo.links.model.pretrained.source import decided_classes
from cvzoo.links.model.yolo.darknet import Darknet53Extractor, block, load_darknet
from cvzoo.links.model.yolo.preparation import checked_insize, darknet_letterbox, insize_field
from cvzoo.links.model.yolo.pretrained import PretrainedYOLO
from cvzoo.links.model.yolo.weights import DARKNET53_IMAGENET, YOLO_V3_WEIGHTS
from cvzoo.typing.aliases import Array
from cvzoo.weights.download import fetch_weights, pin_weights

# (height, width) in pixels of the 416 x 416 input, three for each head, the coarsest grid first
ANCHORS = (
    ((90, 116), (198, 156), (326, 373)),
    ((61, 30), (45, 62), (119, 59)),
    ((13, 10), (30, 16), (23, 33)),
)


class Branch(Chain):
    """Convolutions before one head: five whose output the next branch reads, one more, and the output layer.

    `finish` adds the last convolution, `out`, when the number of classes is known.
    """

    def __init__(self, in_channels: int, channels: int, *, initialW: InitialValue = None):
        with self.init_scope():
            self.conv1 = block(in_channels, channels, 1, initialW=initialW)
            self.conv2 = block(channels, 2 * channels, 3, initialW=initialW)
            self.conv3 = block(2 * channels, channels, 1, initialW=initialW)
            self.conv4 = block(channels, 2 * channels, 3, initialW=initialW)
            self.conv5 = block(2 * channels, channels, 1, initialW=initialW)
            self.conv6 = block(channels, 2 * channels, 3, initialW=initialW)
        self.channels = 2 * channels

    def finish(self, n_out: int) -> None:
        """Add the head of n_out channels."""
        with self.init_scope():
            self.out = Convolution2D(self.channels, n_out, 1)

    def forward(self, x: Variable | Array) -> tuple[Variable, Variable]:
        """(B, channels, H, W) for the next branch and (B, n_out, H, W) for the head."""
        h = self.conv5(self.conv4(self.conv3(self.conv2(self.conv1(x)))))
        return h, self.out(self.conv6(h))


@dataclasses.dataclass(frozen=True, kw_only=True)
class YOLOv3Config(AbstractConfig):
    """What a YOLOv3 is built from; its fields are the constructor's arguments."""

    n_fg_class: int = classes_field()
    anchors: tuple[tuple[tuple[float, float], ...], ...] = config_field(
        help="(height, width) each, of three heads, the coarsest grid first", unit="pixels", above=0
    )
    insize: int = insize_field()
    base_channels: int = count_field(help="channels of the first convolution; the others in proportion")
    blocks: tuple[int, int, int, int, int] = count_field(help="residual blocks of Darknet-53's stages", at_least=0)


class YOLOv3(AbstractOneStageDetector):
    """YOLOv3, a one-stage detector on Darknet-53 (Redmon and Farhadi, 2018); by default at 416 x 416 (letterbox).

    n_fg_class: number of classes; None: those of label_names, else of the file, else 20
    pretrained_model: "coco", "voc0712", "imagenet" (Darknet-53 alone, to train on), or the path of a `.weights`,
        `.npz` or `.safetensors` file; None: random. What fits is loaded; where the classes differ the heads are
        initialized anew, as a warning and `load_report` say
    label_names: class names; None: the file's, if it has as many classes, or Pascal VOC's if there are 20
    anchors: (height, width) each, in pixels, three heads of three, the coarsest grid first; None: the file's if it
        has any, else the paper's
    insize: height and width of the network's input, a multiple of 32
    base_channels, blocks: of Darknet-53, see `Darknet53Extractor`
    Raises ValueRangeError if names and classes differ in number, or for an unknown name or missing file;
    WeightsMismatchError or FileFormatError if the file holds a different network; what reading it raises.

    Source: Redmon and Farhadi, YOLOv3: An Incremental Improvement, 2018; the layers of yolov3.cfg.
    """

    def __init__(
        self,
        n_fg_class: int | None = None,
        pretrained_model: str | os.PathLike | None = None,
        *,
        label_names: Sequence[str] | None = None,
        anchors: Sequence[Sequence[tuple[float, float]]] | None = None,
        insize: int = 416,
        base_channels: int = 32,
        blocks: tuple[int, int, int, int, int] = (1, 2, 8, 8, 4),
    ):
        self.insize = checked_insize(insize)
        file = source = None
        if pretrained_model not in (None, "imagenet"):
            file = PretrainedYOLO(pretrained_model, YOLO_V3_WEIGHTS, architecture="YOLOv3")
            anchors = file.anchors(n_head=3) if anchors is None else anchors
        anchors = ANCHORS if anchors is None else anchors
        if len(anchors) != len(ANCHORS):
            raise ValueRangeError("YOLOv3: anchors must be those of three heads", got=len(anchors))
        n = base_channels
        # random values would only be drawn to be overwritten
        initialW = None if file is None else 0
        with self.init_scope():
            self.extractor = Darknet53Extractor(base_channels=n, blocks=blocks, initialW=initialW)
            self.branch32 = Branch(32 * n, 16 * n, initialW=initialW)
            self.lateral16 = block(16 * n, 8 * n, 1, initialW=initialW)
            self.branch16 = Branch((8 + 16) * n, 8 * n, initialW=initialW)
            self.lateral8 = block(8 * n, 4 * n, 1, initialW=initialW)
            self.branch8 = Branch((4 + 8) * n, 4 * n, initialW=initialW)
        branches = {"branch32": self.branch32, "branch16": self.branch16, "branch8": self.branch8}
        outs = {f"{name}/out": (each.channels, len(own)) for (name, each), own in zip(branches.items(), anchors)}
        if file is not None:
            source = file.counted(self, outs)
        self.n_fg_class, self.label_names = decided_classes(
            n_fg_class,
            label_names,
            source,
            name="YOLOv3: n_fg_class",
            default=len(voc_bbox_label_names),
            known_names=(voc_bbox_label_names,),
        )
        self.heads = tuple(
            YoloHead(tuple([(height, width) for height, width in each]), self.n_fg_class) for each in anchors
        )
        for branch, head in zip(branches.values(), self.heads):
            branch.finish(head.n_channel)
        if pretrained_model == "imagenet":
            path = fetch_weights(DARKNET53_IMAGENET, pin=False)
            load_darknet(self.extractor, path)
            pin_weights(path)
        self.config = YOLOv3Config(
            n_fg_class=self.n_fg_class,
            anchors=tuple(head.anchors for head in self.heads),
            insize=insize,
            base_channels=base_channels,
            blocks=(*blocks,),
        )
        self.load_report = None if file is None else file.load(self, outs, n_fg_class=self.n_fg_class)
        self.use_preset("visualize")

    @property
    def preparation(self) -> Letterbox:
        """A letterbox padded with gray, in [0, 1], as in darknet."""
        return darknet_letterbox((self.insize, self.insize))

    def forward(self, x: Variable | Array) -> tuple[Variable, Variable, Variable]:
        """(B, 3 * (5 + L), H / s, W / s) for s = 32, 16, 8, of x (B, 3, H, W), RGB in [0, 1]."""
        h8, h16, h32 = self.extractor(x)
        h, out32 = self.branch32(h32)
        h = F.concat([enlarge(self.lateral16(h), stride=2), h16], axis=1)
        h, out16 = self.branch16(h)
        h = F.concat([enlarge(self.lateral8(h), stride=2), h8], axis=1)
        _, out8 = self.branch8(h)
        return out32, out16, out8

    @property
    def decoding(self) -> GridCells:
        """As in `AbstractOneStageDetector`."""
        return GridCells(heads=self.heads, letterbox=True)
