"""Links: layers that own parameters (`connection`), and the zoo of models made of them (`model`)."""

from typing import TYPE_CHECKING

from cvzoo.lazy_imports.on_demand import import_on_demand

if TYPE_CHECKING:
    from cvzoo.links.chain import Chain, ChainList, Sequential
    from cvzoo.links.classifier import Classifier
    from cvzoo.links.connection.batch_normalization import BatchNormalization, FrozenBatchNormalization
    from cvzoo.links.connection.conv_2d_bn_activ import Conv2DActiv, Conv2DBNActiv, SeparableConv2DBNActiv
    from cvzoo.links.connection.convolution_2d import Convolution2D, DepthwiseConvolution2D
    from cvzoo.links.connection.convolution_nd import (
        Convolution1D,
        Convolution3D,
        ConvolutionND,
        Deconvolution1D,
        Deconvolution3D,
        DeconvolutionND,
    )
    from cvzoo.links.connection.deconvolution_2d import Deconvolution2D
    from cvzoo.links.connection.deformable_convolution_2d import DeformableConvolution2D
    from cvzoo.links.connection.embed_id import EmbedID
    from cvzoo.links.connection.group_normalization import GroupNormalization
    from cvzoo.links.connection.highway import Highway
    from cvzoo.links.connection.inception import Inception, InceptionBN
    from cvzoo.links.connection.layer_normalization import LayerNormalization, LayerNormalization2D
    from cvzoo.links.connection.linear import Bilinear, Linear
    from cvzoo.links.connection.lstm import LSTM
    from cvzoo.links.connection.maxout import Maxout
    from cvzoo.links.connection.mlp_convolution_2d import MLPConvolution2D
    from cvzoo.links.connection.multi_head_attention import MultiHeadAttention
    from cvzoo.links.connection.parameter import Parameter
    from cvzoo.links.connection.prelu import PReLU
    from cvzoo.links.connection.scale import Bias, Scale
    from cvzoo.links.connection.se_block import SEBlock
    from cvzoo.links.freeze import freeze, unfreeze
    from cvzoo.links.link import Link
    from cvzoo.links.loss.binary_hierarchical_softmax import BinaryHierarchicalSoftmax
    from cvzoo.links.loss.negative_sampling import NegativeSampling
    from cvzoo.links.model.alexnet.alexnet import AlexNet
    from cvzoo.links.model.architectures import Architecture, architecture_of, architectures
    from cvzoo.links.model.augmented_predictor import AugmentedPredictor
    from cvzoo.links.model.caffe.caffe_function import CaffeFunction
    from cvzoo.links.model.cifar_resnet.cifar_resnet import CIFARResNet
    from cvzoo.links.model.classifications import Classifications
    from cvzoo.links.model.classifier import AbstractClassifier
    from cvzoo.links.model.config import AbstractConfig, config_field, count_field
    from cvzoo.links.model.convnext.convnext import (
        ConvNeXt,
        ConvNeXtBase,
        ConvNeXtExtractor,
        ConvNeXtLarge,
        ConvNeXtSmall,
        ConvNeXtTiny,
    )
    from cvzoo.links.model.darknet.detector import DarknetDetector, mobilenet_v2_yolo_v3_nano, yolo_fastest
    from cvzoo.links.model.darknet.network import DarknetNetwork
    from cvzoo.links.model.decoding.abstract import Found
    from cvzoo.links.model.decoding.anchor_levels import AnchorLevels, LevelAnchors
    from cvzoo.links.model.decoding.grid_cells import GridCells, RegionHead, YoloHead
    from cvzoo.links.model.decoding.point_levels import PointLevels
    from cvzoo.links.model.deeplab.deeplab_v3 import (
        DeepLabV3,
        DeepLabV3MobileNetV3Large,
        DeepLabV3ResNet50,
        DeepLabV3ResNet101,
    )
    from cvzoo.links.model.deeplab.deeplab_v3_plus import DeepLabV3plusXception65
    from cvzoo.links.model.dense_backbone import DenseBackbone
    from cvzoo.links.model.densenet.densenet import DenseNet, DenseNet121, DenseNet161, DenseNet169, DenseNet201
    from cvzoo.links.model.detections import Detections
    from cvzoo.links.model.detector import AbstractDetector, AbstractOneStageDetector, Preset
    from cvzoo.links.model.efficientnet.efficientnet import (
        EfficientNet,
        EfficientNetB0,
        EfficientNetB1,
        EfficientNetB2,
        EfficientNetB3,
        EfficientNetB4,
        EfficientNetB5,
        EfficientNetB6,
        EfficientNetB7,
        EfficientNetV2L,
        EfficientNetV2M,
        EfficientNetV2S,
    )
    from cvzoo.links.model.efficientnet.extractor import EfficientNetExtractor
    from cvzoo.links.model.espnet.espnet import ESPNet
    from cvzoo.links.model.families import zoo_members
    from cvzoo.links.model.faster_rcnn.abstract_faster_rcnn import AbstractFasterRCNN
    from cvzoo.links.model.faster_rcnn.faster_rcnn_vgg16 import FasterRCNNVGG16, VGG16RoIHead
    from cvzoo.links.model.faster_rcnn.region_proposal_network import (
        ProposalCreator,
        RegionProposalNetwork,
        generate_anchor_base,
    )
    from cvzoo.links.model.faster_rcnn.targets import AnchorTargetCreator, ProposalTargetCreator, bbox2loc, loc2bbox
    from cvzoo.links.model.faster_rcnn.train_chain import FasterRCNNTrainChain
    from cvzoo.links.model.faster_rcnn.transform import FasterRCNNTransform
    from cvzoo.links.model.faster_rcnn_fpn.config import FasterRCNNFPNConfig, FasterRCNNFPNSettings
    from cvzoo.links.model.faster_rcnn_fpn.faster_rcnn_fpn import (
        FasterRCNNFPN,
        FasterRCNNFPNMobileNetV3Large,
        FasterRCNNFPNMobileNetV3Large320,
        FasterRCNNFPNResNet50,
        FasterRCNNFPNResNet101,
        FasterRCNNFPNResNeXt101,
    )
    from cvzoo.links.model.faster_rcnn_fpn.loss import FasterRCNNFPNLoss, RegionSampling
    from cvzoo.links.model.faster_rcnn_fpn.region_network import FPNBoxHead, FPNRegionProposalNetwork
    from cvzoo.links.model.fcis.fcis_resnet101 import FCISResNet101
    from cvzoo.links.model.fcis.mask_voting import mask_voting
    from cvzoo.links.model.fcis.train_chain import FCISTrainChain
    from cvzoo.links.model.fcis.transform import FCISTransform
    from cvzoo.links.model.fcn.fcn import FCN, FCNResNet50, FCNResNet101
    from cvzoo.links.model.fcos.fcos import FCOS, FCOSConfig, FCOSResNet50FPN, FCOSSettings
    from cvzoo.links.model.fcos.loss import FCOSLoss
    from cvzoo.links.model.feature_predictor import FeaturePredictor
    from cvzoo.links.model.fpn.fpn import FPN
    from cvzoo.links.model.googlenet.googlenet import GoogLeNet
    from cvzoo.links.model.googlenet.inception_v3 import InceptionV3
    from cvzoo.links.model.image_transform import ImageTransform, PhotoTransform
    from cvzoo.links.model.instance_segmentations import InstanceSegmentations
    from cvzoo.links.model.instance_segmenter import AbstractInstanceSegmenter
    from cvzoo.links.model.keypoint_detections import KeyPointDetections, KeypointDetections
    from cvzoo.links.model.keypoint_detector import AbstractKeyPointDetector, AbstractKeypointDetector
    from cvzoo.links.model.keypoint_rcnn.augmentation import KeypointRCNNTransform
    from cvzoo.links.model.keypoint_rcnn.keypoint_rcnn_fpn import (
        KeypointRCNNFPN,
        KeypointRCNNFPNResNet50,
        KeypointRCNNFPNResNet101,
        KeypointRCNNFPNResNeXt101,
        PointHeadConfig,
        PointHeadSettings,
    )
    from cvzoo.links.model.keypoint_rcnn.loss import KeypointRCNNFPNLoss
    from cvzoo.links.model.label_map_transform import LabelMapTransform, ResizeExamples
    from cvzoo.links.model.label_maps import LabelMaps
    from cvzoo.links.model.light_head_rcnn.light_head_rcnn_resnet101 import LightHeadRCNNResNet101
    from cvzoo.links.model.light_head_rcnn.train_chain import LightHeadRCNNTrainChain
    from cvzoo.links.model.lraspp.lraspp import LRASPPMobileNetV3Large
    from cvzoo.links.model.mask_rcnn.augmentation import MaskRCNNTransform
    from cvzoo.links.model.mask_rcnn.loss import MaskRCNNFPNLoss
    from cvzoo.links.model.mask_rcnn.mask_rcnn_fpn import (
        MaskHead,
        MaskHeadConfig,
        MaskHeadSettings,
        MaskRCNNFPN,
        MaskRCNNFPNResNet50,
        MaskRCNNFPNResNet101,
        MaskRCNNFPNResNeXt101,
    )
    from cvzoo.links.model.mnasnet.extractor import MNASNetExtractor
    from cvzoo.links.model.mnasnet.mnasnet import MNASNet, MNASNet0_5, MNASNet0_75, MNASNet1_0, MNASNet1_3
    from cvzoo.links.model.mobilenet_v2.extractor import MobileNetV2Extractor
    from cvzoo.links.model.mobilenet_v2.mobilenet_v2 import MobileNetV2
    from cvzoo.links.model.mobilenet_v3.extractor import MobileNetV3Extractor
    from cvzoo.links.model.mobilenet_v3.mobilenet_v3 import MobileNetV3, MobileNetV3Large, MobileNetV3Small
    from cvzoo.links.model.pickable_sequential_chain import PickableSequentialChain
    from cvzoo.links.model.pixelwise_softmax_classifier import PixelwiseSoftmaxClassifier
    from cvzoo.links.model.predict_ten_crops import predict_ten_crops
    from cvzoo.links.model.preparation.abstract import AbstractPreparation
    from cvzoo.links.model.preparation.as_is import AsIs
    from cvzoo.links.model.preparation.center_crop import CenterCrop, PhotoPreparation
    from cvzoo.links.model.preparation.letterbox import Letterbox
    from cvzoo.links.model.preparation.resize_shortest_edge import ResizeShortestEdge
    from cvzoo.links.model.preparation.short_side import ShortSide
    from cvzoo.links.model.preparation.stretch import Stretch
    from cvzoo.links.model.pspnet.pspnet import PSPNet, PSPNetResNet50, PSPNetResNet101, PyramidPoolingModule
    from cvzoo.links.model.recognition import recognise
    from cvzoo.links.model.regnet.regnet import (
        RegNet,
        RegNetExtractor,
        RegNetX1_6GF,
        RegNetX3_2GF,
        RegNetX8GF,
        RegNetX16GF,
        RegNetX32GF,
        RegNetX400MF,
        RegNetX800MF,
        RegNetY1_6GF,
        RegNetY3_2GF,
        RegNetY8GF,
        RegNetY16GF,
        RegNetY32GF,
        RegNetY128GF,
        RegNetY400MF,
        RegNetY800MF,
    )
    from cvzoo.links.model.resnet.extractor import ResNetExtractor, zero_last_gamma
    from cvzoo.links.model.resnet.resnet import (
        ResNet,
        ResNet18,
        ResNet34,
        ResNet50,
        ResNet101,
        ResNet152,
        ResNeXt50_32x4d,
        ResNeXt101_32x4d,
        ResNeXt101_32x8d,
        ResNeXt101_64x4d,
        SEResNet50,
        SEResNet101,
        SEResNet152,
        SEResNeXt50,
        SEResNeXt101,
        WideResNet50_2,
        WideResNet101_2,
    )
    from cvzoo.links.model.retinanet.augmentation import RandomPart, RetinaNetTransform, collate_images, collate_photos
    from cvzoo.links.model.retinanet.config import RetinaNetConfig, RetinaNetSettings
    from cvzoo.links.model.retinanet.loss import RetinaNetLoss
    from cvzoo.links.model.retinanet.retinanet import (
        RetinaNet,
        retinanet_resnet18,
        retinanet_resnet50_fpn,
        retinanet_resnet50_fpn_v2,
    )
    from cvzoo.links.model.retinanet.text import retinanet_text
    from cvzoo.links.model.segmenter import AbstractImageSegmenter, AbstractPhotoSegmenter, AbstractSegmenter
    from cvzoo.links.model.segnet.segnet_basic import SegNetBasic
    from cvzoo.links.model.shufflenet_v2.shufflenet_v2 import (
        ShuffleNetV2,
        ShuffleNetV2Extractor,
        ShuffleNetV2X0_5,
        ShuffleNetV2X1_0,
        ShuffleNetV2X1_5,
        ShuffleNetV2X2_0,
    )
    from cvzoo.links.model.squeezenet.squeezenet import SqueezeNet, SqueezeNet1_0, SqueezeNet1_1
    from cvzoo.links.model.ssd.augmentation import SSDTransform
    from cvzoo.links.model.ssd.config import SSDConfig, SSDSettings
    from cvzoo.links.model.ssd.loss import SSDLoss, collate_multibox, multibox_loss
    from cvzoo.links.model.ssd.multibox_coder import MultiboxCoder
    from cvzoo.links.model.ssd.ssd import SSD, SSD300, SSD512, Multibox, Normalize, SSDVGG16Extractor
    from cvzoo.links.model.ssdlite.config import SSDLiteConfig, SSDLiteSettings
    from cvzoo.links.model.ssdlite.ssdlite import SSDLite, SSDLite320MobileNetV3Large
    from cvzoo.links.model.swin.extractor import SwinExtractor
    from cvzoo.links.model.swin.swin import SwinB, SwinS, SwinT, SwinTransformer, SwinV2B, SwinV2S, SwinV2T
    from cvzoo.links.model.thresholds import AbstractThresholds
    from cvzoo.links.model.tiled_predictor import TiledPredictor
    from cvzoo.links.model.ultra_light_face.ultra_light_face import UltraLightFace
    from cvzoo.links.model.vgg.extractor import VGGExtractor
    from cvzoo.links.model.vgg.vgg import VGG, VGG11, VGG11BN, VGG13, VGG13BN, VGG16, VGG16BN, VGG19, VGG19BN
    from cvzoo.links.model.vit.vit import ViT, ViTB16, ViTB32, ViTH14, ViTL16, ViTL32
    from cvzoo.links.model.yolo.augmentation import YOLOTransform
    from cvzoo.links.model.yolo.loss import YOLOLoss
    from cvzoo.links.model.yolo.yolo_v2 import YOLOv2, YOLOv2Tiny
    from cvzoo.links.model.yolo.yolo_v3 import YOLOv3
    from cvzoo.links.model.zoo_member import ZooMember

__all__ = [
    "AbstractClassifier",
    "AbstractConfig",
    "AbstractDetector",
    "AbstractFasterRCNN",
    "AbstractImageSegmenter",
    "AbstractInstanceSegmenter",
    "AbstractKeypointDetector",
    "AbstractKeyPointDetector",
    "AbstractOneStageDetector",
    "AbstractPhotoSegmenter",
    "AbstractPreparation",
    "AbstractSegmenter",
    "AbstractThresholds",
    "AlexNet",
    "AnchorLevels",
    "AnchorTargetCreator",
    "Architecture",
    "architecture_of",
    "architectures",
    "AsIs",
    "AugmentedPredictor",
    "BatchNormalization",
    "bbox2loc",
    "Bias",
    "Bilinear",
    "BinaryHierarchicalSoftmax",
    "CaffeFunction",
    "CenterCrop",
    "Chain",
    "ChainList",
    "CIFARResNet",
    "Classifications",
    "Classifier",
    "collate_images",
    "collate_multibox",
    "collate_photos",
    "config_field",
    "Conv2DActiv",
    "Conv2DBNActiv",
    "ConvNeXt",
    "ConvNeXtBase",
    "ConvNeXtExtractor",
    "ConvNeXtLarge",
    "ConvNeXtSmall",
    "ConvNeXtTiny",
    "Convolution1D",
    "Convolution2D",
    "Convolution3D",
    "ConvolutionND",
    "count_field",
    "DarknetDetector",
    "DarknetNetwork",
    "Deconvolution1D",
    "Deconvolution2D",
    "Deconvolution3D",
    "DeconvolutionND",
    "DeepLabV3",
    "DeepLabV3MobileNetV3Large",
    "DeepLabV3plusXception65",
    "DeepLabV3ResNet101",
    "DeepLabV3ResNet50",
    "DeformableConvolution2D",
    "DenseBackbone",
    "DenseNet",
    "DenseNet121",
    "DenseNet161",
    "DenseNet169",
    "DenseNet201",
    "DepthwiseConvolution2D",
    "Detections",
    "EfficientNet",
    "EfficientNetB0",
    "EfficientNetB1",
    "EfficientNetB2",
    "EfficientNetB3",
    "EfficientNetB4",
    "EfficientNetB5",
    "EfficientNetB6",
    "EfficientNetB7",
    "EfficientNetExtractor",
    "EfficientNetV2L",
    "EfficientNetV2M",
    "EfficientNetV2S",
    "EmbedID",
    "ESPNet",
    "FasterRCNNFPN",
    "FasterRCNNFPNConfig",
    "FasterRCNNFPNLoss",
    "FasterRCNNFPNMobileNetV3Large",
    "FasterRCNNFPNMobileNetV3Large320",
    "FasterRCNNFPNResNet101",
    "FasterRCNNFPNResNet50",
    "FasterRCNNFPNResNeXt101",
    "FasterRCNNFPNSettings",
    "FasterRCNNTrainChain",
    "FasterRCNNTransform",
    "FasterRCNNVGG16",
    "FCISResNet101",
    "FCISTrainChain",
    "FCISTransform",
    "FCN",
    "FCNResNet101",
    "FCNResNet50",
    "FCOS",
    "FCOSConfig",
    "FCOSLoss",
    "FCOSResNet50FPN",
    "FCOSSettings",
    "FeaturePredictor",
    "Found",
    "FPN",
    "FPNBoxHead",
    "FPNRegionProposalNetwork",
    "freeze",
    "FrozenBatchNormalization",
    "generate_anchor_base",
    "GoogLeNet",
    "GridCells",
    "GroupNormalization",
    "Highway",
    "ImageTransform",
    "Inception",
    "InceptionBN",
    "InceptionV3",
    "InstanceSegmentations",
    "KeypointDetections",
    "KeyPointDetections",
    "KeypointRCNNFPN",
    "KeypointRCNNFPNLoss",
    "KeypointRCNNFPNResNet101",
    "KeypointRCNNFPNResNet50",
    "KeypointRCNNFPNResNeXt101",
    "KeypointRCNNTransform",
    "LabelMaps",
    "LabelMapTransform",
    "LayerNormalization",
    "LayerNormalization2D",
    "Letterbox",
    "LevelAnchors",
    "LightHeadRCNNResNet101",
    "LightHeadRCNNTrainChain",
    "Linear",
    "Link",
    "loc2bbox",
    "LRASPPMobileNetV3Large",
    "LSTM",
    "mask_voting",
    "MaskHead",
    "MaskHeadConfig",
    "MaskHeadSettings",
    "MaskRCNNFPN",
    "MaskRCNNFPNLoss",
    "MaskRCNNFPNResNet101",
    "MaskRCNNFPNResNet50",
    "MaskRCNNFPNResNeXt101",
    "MaskRCNNTransform",
    "Maxout",
    "MLPConvolution2D",
    "MNASNet",
    "MNASNet0_5",
    "MNASNet0_75",
    "MNASNet1_0",
    "MNASNet1_3",
    "MNASNetExtractor",
    "mobilenet_v2_yolo_v3_nano",
    "MobileNetV2",
    "MobileNetV2Extractor",
    "MobileNetV3",
    "MobileNetV3Extractor",
    "MobileNetV3Large",
    "MobileNetV3Small",
    "Multibox",
    "multibox_loss",
    "MultiboxCoder",
    "MultiHeadAttention",
    "NegativeSampling",
    "Normalize",
    "Parameter",
    "PhotoPreparation",
    "PhotoTransform",
    "PickableSequentialChain",
    "PixelwiseSoftmaxClassifier",
    "PointHeadConfig",
    "PointHeadSettings",
    "PointLevels",
    "predict_ten_crops",
    "PReLU",
    "Preset",
    "ProposalCreator",
    "ProposalTargetCreator",
    "PSPNet",
    "PSPNetResNet101",
    "PSPNetResNet50",
    "PyramidPoolingModule",
    "RandomPart",
    "recognise",
    "RegionHead",
    "RegionProposalNetwork",
    "RegionSampling",
    "RegNet",
    "RegNetExtractor",
    "RegNetX16GF",
    "RegNetX1_6GF",
    "RegNetX32GF",
    "RegNetX3_2GF",
    "RegNetX400MF",
    "RegNetX800MF",
    "RegNetX8GF",
    "RegNetY128GF",
    "RegNetY16GF",
    "RegNetY1_6GF",
    "RegNetY32GF",
    "RegNetY3_2GF",
    "RegNetY400MF",
    "RegNetY800MF",
    "RegNetY8GF",
    "ResizeExamples",
    "ResizeShortestEdge",
    "ResNet",
    "ResNet101",
    "ResNet152",
    "ResNet18",
    "ResNet34",
    "ResNet50",
    "ResNetExtractor",
    "ResNeXt101_32x4d",
    "ResNeXt101_32x8d",
    "ResNeXt101_64x4d",
    "ResNeXt50_32x4d",
    "RetinaNet",
    "retinanet_resnet18",
    "retinanet_resnet50_fpn",
    "retinanet_resnet50_fpn_v2",
    "retinanet_text",
    "RetinaNetConfig",
    "RetinaNetLoss",
    "RetinaNetSettings",
    "RetinaNetTransform",
    "Scale",
    "SEBlock",
    "SegNetBasic",
    "SeparableConv2DBNActiv",
    "Sequential",
    "SEResNet101",
    "SEResNet152",
    "SEResNet50",
    "SEResNeXt101",
    "SEResNeXt50",
    "ShortSide",
    "ShuffleNetV2",
    "ShuffleNetV2Extractor",
    "ShuffleNetV2X0_5",
    "ShuffleNetV2X1_0",
    "ShuffleNetV2X1_5",
    "ShuffleNetV2X2_0",
    "SqueezeNet",
    "SqueezeNet1_0",
    "SqueezeNet1_1",
    "SSD",
    "SSD300",
    "SSD512",
    "SSDConfig",
    "SSDLite",
    "SSDLite320MobileNetV3Large",
    "SSDLiteConfig",
    "SSDLiteSettings",
    "SSDLoss",
    "SSDSettings",
    "SSDTransform",
    "SSDVGG16Extractor",
    "Stretch",
    "SwinB",
    "SwinExtractor",
    "SwinS",
    "SwinT",
    "SwinTransformer",
    "SwinV2B",
    "SwinV2S",
    "SwinV2T",
    "TiledPredictor",
    "UltraLightFace",
    "unfreeze",
    "VGG",
    "VGG11",
    "VGG11BN",
    "VGG13",
    "VGG13BN",
    "VGG16",
    "VGG16BN",
    "VGG16RoIHead",
    "VGG19",
    "VGG19BN",
    "VGGExtractor",
    "ViT",
    "ViTB16",
    "ViTB32",
    "ViTH14",
    "ViTL16",
    "ViTL32",
    "WideResNet101_2",
    "WideResNet50_2",
    "yolo_fastest",
    "YoloHead",
    "YOLOLoss",
    "YOLOTransform",
    "YOLOv2",
    "YOLOv2Tiny",
    "YOLOv3",
    "zero_last_gamma",
    "zoo_members",
    "ZooMember",
]

# the module that gives Link its `repeat`
import_on_demand(__name__, after="cvzoo.links.chain")
