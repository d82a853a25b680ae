"""YOLOv2 and YOLOv2-tiny, one-stage detectors (Redmon and Farhadi, 2017)."""

import dataclasses
import os
from collections.abc import Sequence

import cvzoo.functions as F
from cvzoo.autodiff.variable import Variable
from cvzoo.labels.coco import coco_bbox_label_names
from cvzoo.labels.voc import voc_bbox_label_names
from cvzoo.links.connection.convolution_2d import Convolution2D
from cvzoo.links.model.config import AbstractConfig, classes_field, config_field, count_field
from cvzoo.links.model.darknet.resampling import reorg
from cvzoo.links.model.decoding.grid_cells import GridCells, RegionHead
from cvzoo.links.model.detector import AbstractOneStageDetector
from cvzoo.links.model.preparation.letterbox import Letterbox
from cvzoo.links.model.pretrained.source import decided_classes
from cvzoo.links.model.yolo.darknet import Darknet19Extractor, block, pool
from cvzoo.links.model.yolo.preparation import checked_insize, darknet_letterbox, insize_field
from cvzoo.links.model.yolo.pretrained import PretrainedYOLO
from cvzoo.links.model.yolo.weights import YOLO_V2_TINY_WEIGHTS, YOLO_V2_WEIGHTS
from cvzoo.typing.aliases import Array

# (height, width) in cells of 32 pixels; k-means of each data set's boxes; COCO's are those of yolov2-tiny, too
VOC_ANCHORS = (
    (1.73145, 1.3221),
    (4.00944, 3.19275),
    (8.09892, 5.05587),
    (4.84053, 9.47112),
    (10.0071, 11.2364),
)
COCO_ANCHORS = (
    (0.677385, 0.57273),
    (2.06253, 1.87446),
    (5.47434, 3.33843),
    (3.52778, 7.88282),
    (9.16828, 9.77052),
)


@dataclasses.dataclass(frozen=True, kw_only=True)
class YOLOv2Config(AbstractConfig):
    """What a YOLOv2 is built from; its fields are the constructor's arguments."""

    n_fg_class: int = classes_field()
    anchors: tuple[tuple[float, float], ...] = config_field(help="(height, width) each", unit="cells", above=0)
    insize: int = insize_field()
    base_channels: int = count_field(help="channels of the first convolution; the others in proportion")


class YOLOv2(AbstractOneStageDetector):
    """YOLOv2, a one-stage detector on Darknet-19 (Redmon and Farhadi, 2017); by default at 416 x 416 (letterbox).

    n_fg_class: number of classes; None: those of label_names, else of the file, else 20
    pretrained_model: "voc0712", "voc0712_chainercv" or "coco", or the path of a `.weights`, `.npz` or
        `.safetensors` file; None: random. What fits is loaded; where the classes differ the head is
        initialized anew, as a warning and `load_report` say
    label_names: class names; None: the file's, if it has as many classes, or Pascal VOC's if there are 20
    anchors: (height, width) each, in cells; None: the file's if it has any, those of COCO if it is darknet's and has 80
        classes, else those of Pascal VOC
    insize: height and width of the network's input, a multiple of 32
    base_channels: of Darknet-19's first convolution; all others in proportion
    Raises ValueRangeError if names and classes differ in number, or for an unknown name or missing file;
    WeightsMismatchError or FileFormatError if the file holds a different network; what reading it raises.

    Source: Redmon and Farhadi, YOLO9000: Better, Faster, Stronger, CVPR 2017; the layers of yolov2-voc.cfg.
    """

    def __init__(
        self,
        n_fg_class: int | None = None,
        pretrained_model: str | os.PathLike | None = None,
        *,
        label_names: Sequence[str] | None = None,
        anchors: Sequence[tuple[float, float]] | None = None,
        insize: int = 416,
        base_channels: int = 32,
    ):
        self.insize = checked_insize(insize)
        n = base_channels
        file = source = None
        if pretrained_model is not None:
            file = PretrainedYOLO(pretrained_model, YOLO_V2_WEIGHTS, architecture="YOLOv2")
            anchors = file.anchors() if anchors is None else anchors
        # random values would only be drawn to be overwritten
        initialW = None if file is None else 0
        with self.init_scope():
            self.extractor = Darknet19Extractor(base_channels=n, initialW=initialW)
            self.conv19 = block(32 * n, 32 * n, 3, initialW=initialW)
            self.conv20 = block(32 * n, 32 * n, 3, initialW=initialW)
            self.passthrough = block(16 * n, 2 * n, 1, initialW=initialW)
            self.conv21 = block((8 + 32) * n, 32 * n, 3, initialW=initialW)
        outs = {"out": (32 * n, len(VOC_ANCHORS if anchors is None else anchors))}
        if file is not None:
            source = file.counted(self, outs)
            if anchors is None and file.is_darknet and source.n_class == len(coco_bbox_label_names):
                anchors = COCO_ANCHORS
        anchors = VOC_ANCHORS if anchors is None else anchors
        self.n_fg_class, self.label_names = decided_classes(
            n_fg_class,
            label_names,
            source,
            name="YOLOv2: n_fg_class",
            default=len(voc_bbox_label_names),
            known_names=(voc_bbox_label_names,),
        )
        self.heads = (RegionHead(tuple([(height, width) for height, width in anchors]), self.n_fg_class),)
        with self.init_scope():
            self.out = Convolution2D(32 * n, self.heads[0].n_channel, 1)
        self.config = YOLOv2Config(
            n_fg_class=self.n_fg_class,
            anchors=self.heads[0].anchors,
            insize=insize,
            base_channels=base_channels,
        )
        self.load_report = None if file is None else file.load(self, outs, n_fg_class=self.n_fg_class)
        self.use_preset("visualize")

    @property
    def preparation(self) -> Letterbox:
        """A letterbox padded with gray, in [0, 1], as in darknet."""
        return darknet_letterbox((self.insize, self.insize))

    def forward(self, x: Variable | Array) -> Variable:
        """(B, A * (5 + L), H / 32, W / 32) of x (B, 3, H, W), RGB in [0, 1]."""
        fine, coarse = self.extractor(x)
        coarse = self.conv20(self.conv19(coarse))
        h = F.concat([reorg(self.passthrough(fine)), coarse], axis=1)
        return self.out(self.conv21(h))

    @property
    def decoding(self) -> GridCells:
        """As in `AbstractOneStageDetector`."""
        return GridCells(heads=self.heads, letterbox=True)


# (height, width) in cells of 32 pixels
TINY_VOC_ANCHORS = ((1.19, 1.08), (4.41, 3.42), (11.38, 6.63), (5.11, 9.42), (10.52, 16.62))


@dataclasses.dataclass(frozen=True, kw_only=True)
class YOLOv2TinyConfig(AbstractConfig):
    """What a YOLOv2Tiny is built from; its fields are the constructor's arguments."""

    n_fg_class: int = classes_field()
    anchors: tuple[tuple[float, float], ...] = config_field(help="(height, width) each", unit="cells", above=0)
    insize: int = insize_field()
    base_channels: int = count_field(help="channels of the first convolution; the others in proportion")
    mid_channels: int = count_field(help="channels of the penultimate convolution")


class YOLOv2Tiny(AbstractOneStageDetector):
    """YOLOv2-tiny, a small one-stage detector, as in yolov2-tiny-voc; by default at 416 x 416 (letterbox).

    n_fg_class: number of classes; None: those of label_names, else of the file, else 20
    pretrained_model: "voc0712" or "voc0712_chainercv", or the path of a `.weights`, `.npz` or `.safetensors`
        file; None: random. What fits is loaded; where the classes differ the head is
        initialized anew, as a warning and `load_report` say
    label_names: class names; None: the file's, if it has as many classes, or Pascal VOC's if there are 20
    anchors: (height, width) each, in cells; None: the file's if it has any, those of yolov2-tiny if it is darknet's and
        has 80 classes, else those of yolov2-tiny-voc
    mid_channels: width of the penultimate convolution; yolov2-tiny for COCO has 512
    insize: height and width of the network's input, a multiple of 32
    base_channels: of the first convolution; the others but the penultimate in proportion
    Raises ValueRangeError if names and classes differ in number, or for an unknown name or missing file;
    WeightsMismatchError or FileFormatError if the file holds a different network; what reading it raises.

    Source: darknet's yolov2-tiny-voc.cfg; no paper describes it.
    """

    def __init__(
        self,
        n_fg_class: int | None = None,
        pretrained_model: str | os.PathLike | None = None,
        *,
        label_names: Sequence[str] | None = None,
        anchors: Sequence[tuple[float, float]] | None = None,
        mid_channels: int = 1024,
        insize: int = 416,
        base_channels: int = 16,
    ):
        self.insize = checked_insize(insize)
        n = base_channels
        file = source = None
        if pretrained_model is not None:
            file = PretrainedYOLO(pretrained_model, YOLO_V2_TINY_WEIGHTS, architecture="YOLOv2Tiny")
            anchors = file.anchors() if anchors is None else anchors
        # random values would only be drawn to be overwritten
        initialW = None if file is None else 0
        with self.init_scope():
            self.conv1 = block(3, n, 3, initialW=initialW)
            self.conv2 = block(n, 2 * n, 3, initialW=initialW)
            self.conv3 = block(2 * n, 4 * n, 3, initialW=initialW)
            self.conv4 = block(4 * n, 8 * n, 3, initialW=initialW)
            self.conv5 = block(8 * n, 16 * n, 3, initialW=initialW)
            self.conv6 = block(16 * n, 32 * n, 3, initialW=initialW)
            self.conv7 = block(32 * n, 64 * n, 3, initialW=initialW)
            self.conv8 = block(64 * n, mid_channels, 3, initialW=initialW)
        outs = {"out": (mid_channels, len(TINY_VOC_ANCHORS if anchors is None else anchors))}
        if file is not None:
            source = file.counted(self, outs)
            if anchors is None and file.is_darknet and source.n_class == len(coco_bbox_label_names):
                anchors = COCO_ANCHORS
        anchors = TINY_VOC_ANCHORS if anchors is None else anchors
        self.n_fg_class, self.label_names = decided_classes(
            n_fg_class,
            label_names,
            source,
            name="YOLOv2Tiny: n_fg_class",
            default=len(voc_bbox_label_names),
            known_names=(voc_bbox_label_names,),
        )
        self.heads = (RegionHead(tuple([(height, width) for height, width in anchors]), self.n_fg_class),)
        with self.init_scope():
            self.out = Convolution2D(mid_channels, self.heads[0].n_channel, 1)
        self.config = YOLOv2TinyConfig(
            n_fg_class=self.n_fg_class,
            anchors=self.heads[0].anchors,
            insize=insize,
            base_channels=base_channels,
            mid_channels=mid_channels,
        )
        self.load_report = None if file is None else file.load(self, outs, n_fg_class=self.n_fg_class)
        self.use_preset("visualize")

    @property
    def preparation(self) -> Letterbox:
        """A letterbox padded with gray, in [0, 1], as in darknet."""
        return darknet_letterbox((self.insize, self.insize))

    def forward(self, x: Variable | Array) -> Variable:
        """(B, A * (5 + L), H / 32, W / 32) of x (B, 3, H, W), RGB in [0, 1]."""
        h = x
        for conv in (self.conv1, self.conv2, self.conv3, self.conv4, self.conv5):
            h = pool(conv(h))
        # darknet's pooling of size 2 and stride 1 pads below and to the right only
        h = F.max_pooling_2d(self.conv6(h), 2, 1, (0, 1, 0, 1), cover_all=False)
        return self.out(self.conv8(self.conv7(h)))

    @property
    def decoding(self) -> GridCells:
        """As in `AbstractOneStageDetector`."""
        return GridCells(heads=self.heads, letterbox=True)
