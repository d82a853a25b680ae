"""Links: layers that own parameters (`connection`), and the zoo of models made of them (`model`)."""

from cvzoo.links.chain import Chain, ChainList, Sequential
from cvzoo.links.connection.batch_normalization import BatchNormalization
from cvzoo.links.connection.conv_2d_bn_activ import Conv2DBNActiv
from cvzoo.links.connection.convolution_2d import Convolution2D
from cvzoo.links.connection.linear import Linear
from cvzoo.links.link import Link
from cvzoo.links.model.darknet.detector import DarknetDetector
from cvzoo.links.model.darknet.network import DarknetNetwork
from cvzoo.links.model.detections import Detections
from cvzoo.links.model.detector import AbstractDetector, Preset

__all__ = [
    "AbstractDetector",
    "BatchNormalization",
    "Chain",
    "ChainList",
    "Conv2DBNActiv",
    "Convolution2D",
    "DarknetDetector",
    "DarknetNetwork",
    "Detections",
    "Linear",
    "Link",
    "Preset",
    "Sequential",
]
