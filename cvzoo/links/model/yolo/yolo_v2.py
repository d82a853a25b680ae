"""YOLOv2."""

import os
from collections.abc import Sequence
from typing import Any

import numpy as np

import cvzoo.functions as F
from cvzoo.autodiff.variable import Variable
from cvzoo.links.connection.convolution_2d import Convolution2D
from cvzoo.links.model.darknet.resampling import reorg
from cvzoo.links.model.detector import AbstractOneStageDetector
from cvzoo.links.model.yolo.block import block, load_pretrained
from cvzoo.links.model.yolo.classes import checked_insize, choose_classes
from cvzoo.links.model.yolo.darknet19 import Darknet19Extractor
from cvzoo.links.model.yolo.decode import Found, RegionHead
from cvzoo.links.model.yolo.frame import decode_heads, to_input
from cvzoo.links.model.yolo.weights import YOLO_V2_WEIGHTS

# (height, width) in cells of 32 pixels; k-means of each data set's boxes
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


class YOLOv2(AbstractOneStageDetector):
    """YOLOv2, by default at 416 x 416 (letterbox), on Darknet-19.

    n_fg_class: number of classes; None: as many as the pretrained model has, else 20
    pretrained_model: "voc0712", "voc0712_chainercv" or "coco", or the path of a `.weights`, `.npz` or
        `.safetensors` file; None: random
    label_names: names of the classes; None: the pretrained model's, or Pascal VOC's if there are 20
    anchors: (height, width) each, in cells; None: those of COCO for "coco", else those of Pascal VOC
    insize: height and width that a photo is seen in, a multiple of 32
    base_channels: of Darknet-19's first convolution; all others in proportion
    Raises as `load_pretrained`; ValueRangeError if the names are not as many as the classes.

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
        self.base_channels = n = base_channels
        self.n_fg_class, self.label_names = choose_classes(n_fg_class, pretrained_model, label_names, YOLO_V2_WEIGHTS)
        if anchors is None:
            anchors = COCO_ANCHORS if pretrained_model == "coco" else VOC_ANCHORS
        self.heads = (RegionHead(tuple(map(tuple, anchors)), self.n_fg_class),)
        # random numbers would only be drawn to be overwritten
        initialW = None if pretrained_model is None else 0
        with self.init_scope():
            self.extractor = Darknet19Extractor(base_channels=n, initialW=initialW)
            self.conv19 = block(32 * n, 32 * n, 3, initialW=initialW)
            self.conv20 = block(32 * n, 32 * n, 3, initialW=initialW)
            self.passthrough = block(16 * n, 2 * n, 1, initialW=initialW)
            self.conv21 = block((8 + 32) * n, 32 * n, 3, initialW=initialW)
            self.out = Convolution2D(32 * n, self.heads[0].n_channel, 1, initialW=initialW)
        if pretrained_model is not None:
            load_pretrained(self, pretrained_model, YOLO_V2_WEIGHTS)
        self.use_preset("visualize")

    def prepare(self, img: np.ndarray) -> np.ndarray:
        return to_input(img, (self.insize, self.insize), "letterbox")

    def forward(self, x: Any) -> Variable:
        """(B, A * (5 + L), H / 32, W / 32) of x (B, 3, H, W), RGB in [0, 1]."""
        fine, coarse = self.extractor(x)
        coarse = self.conv20(self.conv19(coarse))
        h = F.concat([reorg(self.passthrough(fine)), coarse], axis=1)
        return self.out(self.conv21(h))

    def decode(self, outputs: tuple[np.ndarray, ...], size: tuple[int, int]) -> Found:
        return decode_heads(
            self.heads,
            outputs,
            input_size=(self.insize, self.insize),
            size=size,
            fit="letterbox",
            score_thresh=self.score_thresh,
        )
