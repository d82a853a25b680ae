"""What is in the zoo: a list of real objects, for listings and for the command line."""

import functools

from cvzoo.links.model.cifar_resnet import listing as cifar_resnet
from cvzoo.links.model.darknet.published import mobilenet_v2_yolo_v3_nano, yolo_fastest
from cvzoo.links.model.darknet.weights import MOBILENET_V2_YOLO_V3_NANO_VOC, YOLO_FASTEST_COCO
from cvzoo.links.model.resnet import listing as resnet
from cvzoo.links.model.retinanet import listing as retinanet
from cvzoo.links.model.ultra_light_face.ultra_light_face import UltraLightFace
from cvzoo.links.model.ultra_light_face.weights import WEIGHTS as ULTRA_LIGHT_FACE_WEIGHTS
from cvzoo.links.model.yolo.weights import YOLO_V2_TINY_WEIGHTS, YOLO_V2_WEIGHTS, YOLO_V3_WEIGHTS
from cvzoo.links.model.yolo.yolo_v2 import YOLOv2
from cvzoo.links.model.yolo.yolo_v2_tiny import YOLOv2Tiny
from cvzoo.links.model.yolo.yolo_v3 import YOLOv3
from cvzoo.links.model.zoo_member import ZooMember


def zoo_members() -> tuple[ZooMember, ...]:
    """All trained models, sorted by name; nothing is fetched."""
    members = [
        ZooMember("yolo_fastest", yolo_fastest, YOLO_FASTEST_COCO.weights, tuple(YOLO_FASTEST_COCO)),
        ZooMember(
            "mobilenet_v2_yolo_v3_nano",
            mobilenet_v2_yolo_v3_nano,
            MOBILENET_V2_YOLO_V3_NANO_VOC.weights,
            tuple(MOBILENET_V2_YOLO_V3_NANO_VOC),
        ),
    ]
    for model, records in (
        (YOLOv2, YOLO_V2_WEIGHTS),
        (YOLOv2Tiny, YOLO_V2_TINY_WEIGHTS),
        (YOLOv3, YOLO_V3_WEIGHTS),
    ):
        for key, record in records.items():
            make = functools.partial(model, pretrained_model=key)
            members.append(ZooMember(record.name, make, record, (record,)))
    for variant, records in ULTRA_LIGHT_FACE_WEIGHTS.items():
        for key, record in records.items():
            make = functools.partial(UltraLightFace, key, variant)
            members.append(ZooMember(record.name, make, record, (record,)))
    for family in (cifar_resnet, resnet, retinanet):
        members += family.members()
    return tuple(sorted(members, key=lambda member: member.name))
