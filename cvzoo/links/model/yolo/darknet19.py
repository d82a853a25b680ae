"""Darknet-19, the backbone of YOLOv2."""

from typing import Any

from cvzoo.autodiff.variable import Variable
from cvzoo.links.chain import Chain
from cvzoo.links.model.yolo.block import block, pool


class Darknet19Extractor(Chain):
    """The 18 convolutions of Darknet-19 before its classifier.

    initialW: what the convolutions start from
    Source: Redmon and Farhadi, YOLO9000, CVPR 2017, table 6.
    """

    def __init__(self, *, initialW: Any = None):
        with self.init_scope():
            self.conv1 = block(3, 32, 3, initialW=initialW)
            self.conv2 = block(32, 64, 3, initialW=initialW)
            self.conv3 = block(64, 128, 3, initialW=initialW)
            self.conv4 = block(128, 64, 1, initialW=initialW)
            self.conv5 = block(64, 128, 3, initialW=initialW)
            self.conv6 = block(128, 256, 3, initialW=initialW)
            self.conv7 = block(256, 128, 1, initialW=initialW)
            self.conv8 = block(128, 256, 3, initialW=initialW)
            self.conv9 = block(256, 512, 3, initialW=initialW)
            self.conv10 = block(512, 256, 1, initialW=initialW)
            self.conv11 = block(256, 512, 3, initialW=initialW)
            self.conv12 = block(512, 256, 1, initialW=initialW)
            self.conv13 = block(256, 512, 3, initialW=initialW)
            self.conv14 = block(512, 1024, 3, initialW=initialW)
            self.conv15 = block(1024, 512, 1, initialW=initialW)
            self.conv16 = block(512, 1024, 3, initialW=initialW)
            self.conv17 = block(1024, 512, 1, initialW=initialW)
            self.conv18 = block(512, 1024, 3, initialW=initialW)

    def forward(self, x: Any) -> tuple[Variable, Variable]:
        """(B, 512, H / 16, W / 16) and (B, 1024, H / 32, W / 32) of x (B, 3, H, W), RGB in [0, 1]."""
        h = pool(self.conv1(x))
        h = pool(self.conv2(h))
        h = pool(self.conv5(self.conv4(self.conv3(h))))
        h = pool(self.conv8(self.conv7(self.conv6(h))))
        h = self.conv11(self.conv10(self.conv9(h)))
        fine = self.conv13(self.conv12(h))
        h = self.conv16(self.conv15(self.conv14(pool(fine))))
        return fine, self.conv18(self.conv17(h))
