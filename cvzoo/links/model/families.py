"""The zoo's families of networks: each one's `listing` says which files exist and how a file describes a model."""

from cvzoo.links.model.alexnet import listing as alexnet
from cvzoo.links.model.cifar_resnet import listing as cifar_resnet
from cvzoo.links.model.convnext import listing as convnext
from cvzoo.links.model.darknet import listing as darknet
from cvzoo.links.model.deeplab import listing as deeplab
from cvzoo.links.model.densenet import listing as densenet
from cvzoo.links.model.efficientnet import listing as efficientnet
from cvzoo.links.model.espnet import listing as espnet
from cvzoo.links.model.faster_rcnn import listing as faster_rcnn
from cvzoo.links.model.faster_rcnn_fpn import listing as faster_rcnn_fpn
from cvzoo.links.model.fcis import listing as fcis
from cvzoo.links.model.fcn import listing as fcn
from cvzoo.links.model.fcos import listing as fcos
from cvzoo.links.model.googlenet import listing as googlenet
from cvzoo.links.model.keypoint_rcnn import listing as keypoint_rcnn
from cvzoo.links.model.light_head_rcnn import listing as light_head_rcnn
from cvzoo.links.model.lraspp import listing as lraspp
from cvzoo.links.model.mask_rcnn import listing as mask_rcnn
from cvzoo.links.model.mnasnet import listing as mnasnet
from cvzoo.links.model.mobilenet_v2 import listing as mobilenet_v2
from cvzoo.links.model.mobilenet_v3 import listing as mobilenet_v3
from cvzoo.links.model.pspnet import listing as pspnet
from cvzoo.links.model.regnet import listing as regnet
from cvzoo.links.model.resnet import listing as resnet
from cvzoo.links.model.retinanet import listing as retinanet
from cvzoo.links.model.segnet import listing as segnet
from cvzoo.links.model.shufflenet_v2 import listing as shufflenet_v2
from cvzoo.links.model.squeezenet import listing as squeezenet
from cvzoo.links.model.ssd import listing as ssd
from cvzoo.links.model.ssdlite import listing as ssdlite
from cvzoo.links.model.swin import listing as swin
from cvzoo.links.model.ultra_light_face import listing as ultra_light_face
from cvzoo.links.model.vgg import listing as vgg
from cvzoo.links.model.vit import listing as vit
from cvzoo.links.model.yolo import listing as yolo

FAMILIES = (
    alexnet,
    cifar_resnet,
    convnext,
    darknet,
    deeplab,
    densenet,
    efficientnet,
    espnet,
    faster_rcnn,
    faster_rcnn_fpn,
    fcis,
    fcn,
    fcos,
    googlenet,
    keypoint_rcnn,
    light_head_rcnn,
    lraspp,
    mask_rcnn,
    mnasnet,
    mobilenet_v2,
    mobilenet_v3,
    pspnet,
    regnet,
    resnet,
    retinanet,
    segnet,
    shufflenet_v2,
    squeezenet,
    ssd,
    ssdlite,
    swin,
    ultra_light_face,
    vgg,
    vit,
    yolo,
)
