"""The face detectors in listings and in files."""

import functools

from cvzoo.links.model.architecture import Architecture
from cvzoo.links.model.ultra_light_face.ultra_light_face import UltraLightFace, UltraLightFaceConfig
from cvzoo.links.model.ultra_light_face.weights import WEIGHTS
from cvzoo.links.model.zoo_member import ZooMember

ARCHITECTURES = (Architecture("UltraLightFace", UltraLightFace, UltraLightFaceConfig),)


def members() -> list[ZooMember]:
    """The trained ones."""
    return [
        ZooMember(record.name, functools.partial(UltraLightFace, key, variant), record, (record,))
        for variant, records in WEIGHTS.items()
        for key, record in records.items()
    ]
