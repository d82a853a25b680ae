"""Links: layers that own parameters (`connection`), and the zoo of models made of them (`model`)."""

from cvzoo.links.chain import Chain, ChainList, Sequential
from cvzoo.links.classifier import Classifier
from cvzoo.links.connection.batch_normalization import BatchNormalization
from cvzoo.links.connection.bias import Bias
from cvzoo.links.connection.conv_2d_activ import Conv2DActiv
from cvzoo.links.connection.conv_2d_bn_activ import Conv2DBNActiv
from cvzoo.links.connection.convolution_2d import Convolution2D
from cvzoo.links.connection.deconvolution_2d import Deconvolution2D
from cvzoo.links.connection.depthwise_convolution_2d import DepthwiseConvolution2D
from cvzoo.links.connection.embed_id import EmbedID
from cvzoo.links.connection.frozen_batch_normalization import FrozenBatchNormalization
from cvzoo.links.connection.group_normalization import GroupNormalization
from cvzoo.links.connection.layer_normalization import LayerNormalization
from cvzoo.links.connection.linear import Linear
from cvzoo.links.connection.lstm import LSTM
from cvzoo.links.connection.maxout import Maxout
from cvzoo.links.connection.prelu import PReLU
from cvzoo.links.connection.scale import Scale
from cvzoo.links.connection.se_block import SEBlock
from cvzoo.links.connection.separable_conv_2d_bn_activ import SeparableConv2DBNActiv
from cvzoo.links.link import Link
from cvzoo.links.model.architectures import Architecture, architectures
from cvzoo.links.model.caffe.caffe_function import CaffeFunction
from cvzoo.links.model.cifar_resnet.cifar_resnet import CIFARResNet
from cvzoo.links.model.classifications import Classifications
from cvzoo.links.model.classifier import AbstractClassifier
from cvzoo.links.model.darknet.detector import DarknetDetector
from cvzoo.links.model.darknet.network import DarknetNetwork
from cvzoo.links.model.darknet.published import mobilenet_v2_yolo_v3_nano, yolo_fastest
from cvzoo.links.model.detections import Detections
from cvzoo.links.model.detector import AbstractDetector, Preset
from cvzoo.links.model.fpn.fpn import FPN
from cvzoo.links.model.resnet.depths import ResNet18, ResNet34, ResNet50, ResNet101, ResNet152
from cvzoo.links.model.resnet.extractor import ResNetExtractor
from cvzoo.links.model.resnet.resnet import ResNet
from cvzoo.links.model.retinanet.augmentation import RandomPart, RetinaNetTransform
from cvzoo.links.model.retinanet.collate import collate_photos
from cvzoo.links.model.retinanet.loss import RetinaNetLoss
from cvzoo.links.model.retinanet.published import retinanet_resnet18, retinanet_resnet50_fpn, retinanet_resnet50_fpn_v2
from cvzoo.links.model.retinanet.retinanet import RetinaNet
from cvzoo.links.model.retinanet.settings import RetinaNetSettings
from cvzoo.links.model.retinanet.text import retinanet_text
from cvzoo.links.model.ultra_light_face.ultra_light_face import UltraLightFace
from cvzoo.links.model.yolo.yolo_v2 import YOLOv2
from cvzoo.links.model.yolo.yolo_v2_tiny import YOLOv2Tiny
from cvzoo.links.model.yolo.yolo_v3 import YOLOv3
from cvzoo.links.model.zoo import zoo_members
from cvzoo.links.model.zoo_member import ZooMember

__all__ = [
    "AbstractClassifier",
    "AbstractDetector",
    "Architecture",
    "architectures",
    "BatchNormalization",
    "Bias",
    "CaffeFunction",
    "Chain",
    "ChainList",
    "CIFARResNet",
    "Classifications",
    "Classifier",
    "collate_photos",
    "Conv2DActiv",
    "Conv2DBNActiv",
    "Convolution2D",
    "DarknetDetector",
    "DarknetNetwork",
    "Deconvolution2D",
    "DepthwiseConvolution2D",
    "Detections",
    "EmbedID",
    "FPN",
    "FrozenBatchNormalization",
    "GroupNormalization",
    "LayerNormalization",
    "Linear",
    "Link",
    "LSTM",
    "Maxout",
    "mobilenet_v2_yolo_v3_nano",
    "PReLU",
    "Preset",
    "RandomPart",
    "ResNet",
    "ResNet101",
    "ResNet152",
    "ResNet18",
    "ResNet34",
    "ResNet50",
    "ResNetExtractor",
    "RetinaNet",
    "retinanet_resnet18",
    "retinanet_resnet50_fpn",
    "retinanet_resnet50_fpn_v2",
    "retinanet_text",
    "RetinaNetLoss",
    "RetinaNetSettings",
    "RetinaNetTransform",
    "Scale",
    "SEBlock",
    "SeparableConv2DBNActiv",
    "Sequential",
    "UltraLightFace",
    "yolo_fastest",
    "YOLOv2",
    "YOLOv2Tiny",
    "YOLOv3",
    "zoo_members",
    "ZooMember",
]
