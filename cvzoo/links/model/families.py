"""The zoo's families of networks: each one's `listing` says which files exist and how a file describes a model."""

from cvzoo.links.model.cifar_resnet import listing as cifar_resnet
from cvzoo.links.model.convnext import listing as convnext
from cvzoo.links.model.darknet import listing as darknet
from cvzoo.links.model.espnet import listing as espnet
from cvzoo.links.model.mobilenet_v2 import listing as mobilenet_v2
from cvzoo.links.model.mobilenet_v3 import listing as mobilenet_v3
from cvzoo.links.model.resnet import listing as resnet
from cvzoo.links.model.retinanet import listing as retinanet
from cvzoo.links.model.ssd import listing as ssd
from cvzoo.links.model.ultra_light_face import listing as ultra_light_face
from cvzoo.links.model.vit import listing as vit
from cvzoo.links.model.yolo import listing as yolo

FAMILIES = (
    cifar_resnet,
    convnext,
    darknet,
    espnet,
    mobilenet_v2,
    mobilenet_v3,
    resnet,
    retinanet,
    ssd,
    ultra_light_face,
    vit,
    yolo,
)
