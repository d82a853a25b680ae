"""FCOS in listings and in files."""

from typing import Any

from cvzoo.links.model.architecture import Architecture
from cvzoo.links.model.fcos.config import FCOSConfig
from cvzoo.links.model.fcos.fcos import FCOS
from cvzoo.links.model.fcos.published import FCOSResNet50FPN
from cvzoo.links.model.fcos.weights import WEIGHTS
from cvzoo.links.model.retinanet.fit import MEAN, MULTIPLE, STD
from cvzoo.links.model.trained_members import trained_members
from cvzoo.links.model.zoo_member import ZooMember


def _preprocessing(model: FCOS) -> dict[str, Any]:
    s = model.settings
    return {
        "channels": "RGB",
        "mean": [round(float(v), 4) for v in MEAN],
        "std": [round(float(v), 4) for v in STD],
        "short_side": s.min_size,
        "long_side_at_most": s.max_size,
        "interpolation": "bilinear, antialiased" if s.antialias else "bilinear",
        "padded_to_multiples_of": MULTIPLE,
    }


ARCHITECTURES = (Architecture("FCOS", FCOS, FCOSConfig, _preprocessing, key="settings"),)


def members() -> list[ZooMember]:
    """The trained ones."""
    return trained_members([(FCOSResNet50FPN, WEIGHTS)])
