"""Darknet-19, the backbone of YOLOv2."""

from typing import Any

from cvzoo.autodiff.variable import Variable
from cvzoo.links.chain import Chain
from cvzoo.links.model.yolo.block import block, pool


class Darknet19Extractor(Chain):
    """The 18 convolutions of Darknet-19 before its classifier.

    base_channels: of the first convolution; 32 in the paper, and all others in proportion
    initialW: what the convolutions start from

    `channels` are the maps' channels.
    Source: Redmon and Farhadi, YOLO9000, CVPR 2017, table 6.
    """

    def __init__(self, *, base_channels: int = 32, initialW: Any = None):
        n = base_channels
        self.channels = (16 * n, 32 * n)
        with self.init_scope():
            self.conv1 = block(3, n, 3, initialW=initialW)
            self.conv2 = block(n, 2 * n, 3, initialW=initialW)
            self.conv3 = block(2 * n, 4 * n, 3, initialW=initialW)
            self.conv4 = block(4 * n, 2 * n, 1, initialW=initialW)
            self.conv5 = block(2 * n, 4 * n, 3, initialW=initialW)
            self.conv6 = block(4 * n, 8 * n, 3, initialW=initialW)
            self.conv7 = block(8 * n, 4 * n, 1, initialW=initialW)
            self.conv8 = block(4 * n, 8 * n, 3, initialW=initialW)
            self.conv9 = block(8 * n, 16 * n, 3, initialW=initialW)
            self.conv10 = block(16 * n, 8 * n, 1, initialW=initialW)
            self.conv11 = block(8 * n, 16 * n, 3, initialW=initialW)
            self.conv12 = block(16 * n, 8 * n, 1, initialW=initialW)
            self.conv13 = block(8 * n, 16 * n, 3, initialW=initialW)
            self.conv14 = block(16 * n, 32 * n, 3, initialW=initialW)
            self.conv15 = block(32 * n, 16 * n, 1, initialW=initialW)
            self.conv16 = block(16 * n, 32 * n, 3, initialW=initialW)
            self.conv17 = block(32 * n, 16 * n, 1, initialW=initialW)
            self.conv18 = block(16 * n, 32 * n, 3, initialW=initialW)

    def forward(self, x: Any) -> tuple[Variable, Variable]:
        """(B, channels[i], H / s, W / s) for s = 16, 32, of x (B, 3, H, W), RGB in [0, 1]."""
        h = pool(self.conv1(x))
        h = pool(self.conv2(h))
        h = pool(self.conv5(self.conv4(self.conv3(h))))
        h = pool(self.conv8(self.conv7(self.conv6(h))))
        h = self.conv11(self.conv10(self.conv9(h)))
        fine = self.conv13(self.conv12(h))
        h = self.conv16(self.conv15(self.conv14(pool(fine))))
        return fine, self.conv18(self.conv17(h))
