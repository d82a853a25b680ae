"""torchvision's names in a DeepLabV3 or an FCN, and ours."""

from collections.abc import Mapping

import numpy as np

from cvzoo.links.model.mobilenet_v3.rows import network_plan
from cvzoo.links.model.mobilenet_v3.torchvision_names import extractor_places
from cvzoo.links.model.resnet.torchvision_names import resnet_place
from cvzoo.links.model.torch_names import own_names

_FCN_HEAD = {"0": "conv/conv", "1": "conv/bn", "4": "out"}
_DEEPLAB_HEAD = {
    "0.convs.0.0": "aspp/near/conv",
    "0.convs.0.1": "aspp/near/bn",
    **{f"0.convs.{i}.0": f"aspp/atrous/{i - 1}/conv" for i in (1, 2, 3)},
    **{f"0.convs.{i}.1": f"aspp/atrous/{i - 1}/bn" for i in (1, 2, 3)},
    "0.convs.4.1": "aspp/whole/conv",
    "0.convs.4.2": "aspp/whole/bn",
    "0.project.0": "aspp/project/conv",
    "0.project.1": "aspp/project/bn",
    "1": "conv/conv",
    "2": "conv/bn",
    "4": "out",
}


def from_torchvision(arrays: Mapping[str, np.ndarray]) -> dict[str, np.ndarray]:
    """The arrays by our names; those of another file keep theirs."""
    head = _DEEPLAB_HEAD if "classifier.0.convs.0.0.weight" in arrays else _FCN_HEAD
    places = {f"classifier.{theirs}": f"head/{ours}" for theirs, ours in head.items()}
    places.update({f"aux_classifier.{theirs}": f"aux/{ours}" for theirs, ours in _FCN_HEAD.items()})
    if "backbone.0.0.weight" in arrays:
        places.update(extractor_places(network_plan("large", dilated=True), theirs="backbone", ours="backbone/layers"))
        return own_names(arrays, places.get)

    def place_of(module: str) -> str | None:
        if module in places or not module.startswith("backbone."):
            return places.get(module)
        place = resnet_place(module.removeprefix("backbone."))
        return None if place is None else place.replace("extractor/", "backbone/layers/", 1)

    return own_names(arrays, place_of)
