"""The FCIS networks in listings and in files."""

import functools

from cvzoo.links.model.architecture import Architecture
from cvzoo.links.model.fcis.fcis_resnet101 import FCISResNet101
from cvzoo.links.model.fcis.storage import fcis_from_settings, fcis_preprocessing, fcis_settings
from cvzoo.links.model.fcis.weights import WEIGHTS
from cvzoo.links.model.zoo_member import ZooMember

ARCHITECTURES = (Architecture("FCISResNet101", FCISResNet101, fcis_settings, fcis_preprocessing, fcis_from_settings),)


def members() -> list[ZooMember]:
    """The trained ones."""
    found = []
    for key, record in WEIGHTS.items():
        if key != "imagenet":
            make = functools.partial(FCISResNet101, pretrained_model=key)
            found.append(ZooMember(record.name, make, record, (record,), "instance segmentation"))
    return found
