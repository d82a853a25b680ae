"""The RetinaNets in listings and in files."""

import functools

from cvzoo.links.model.architecture import Architecture
from cvzoo.links.model.retinanet.config import RetinaNetConfig
from cvzoo.links.model.retinanet.published import retinanet_resnet50_fpn, retinanet_resnet50_fpn_v2
from cvzoo.links.model.retinanet.retinanet import RetinaNet
from cvzoo.links.model.retinanet.text import RETINANET_TEXT, retinanet_text
from cvzoo.links.model.retinanet.weights import WEIGHTS
from cvzoo.links.model.zoo_member import ZooMember

ARCHITECTURES = (Architecture("RetinaNet", RetinaNet, RetinaNetConfig, key="settings"),)


def members() -> list[ZooMember]:
    """The trained ones."""
    found = [ZooMember(RETINANET_TEXT.name, retinanet_text, RETINANET_TEXT, ())]
    for make, key in ((retinanet_resnet50_fpn, "coco"), (retinanet_resnet50_fpn_v2, "coco_v2")):
        record, _ = WEIGHTS[key]
        whole = functools.partial(make, pretrained_model=key)
        found.append(ZooMember(record.name.removesuffix("_coco"), whole, record, (record,)))
    return found
