"""PSPNet in listings and in files."""

import functools
from typing import Any

from cvzoo.links.model.architecture import Architecture
from cvzoo.links.model.pspnet.layouts import LAYOUTS
from cvzoo.links.model.pspnet.pspnet import PSPNet, PSPNetConfig
from cvzoo.links.model.pspnet.weights import RECORDS
from cvzoo.links.model.trained_members import trained_members
from cvzoo.links.model.zoo_member import ZooMember


def _preprocessing(model: PSPNet) -> dict[str, Any]:
    return {
        "channels": "RGB",
        "mean": list(LAYOUTS[model.layout].mean),
        "std": list(LAYOUTS[model.layout].std),
        "windows": list(model.input_size),
        "stride": "two thirds of a window",
    }


ARCHITECTURES = (Architecture("PSPNet", PSPNet, PSPNetConfig, _preprocessing),)


def members() -> list[ZooMember]:
    """The trained ones."""
    makers = ((functools.partial(PSPNet, n_layer), records) for n_layer, records in RECORDS.items())
    return trained_members(makers, "segmentation")
