"""ESPNet in listings and in files."""

from collections.abc import Mapping, Sequence
from typing import Any

from cvzoo.links.model.architecture import HandWritten
from cvzoo.links.model.espnet.espnet import ESPNet
from cvzoo.links.model.espnet.frame_preparation import FramePreparation
from cvzoo.links.model.espnet.weights import RECORDS
from cvzoo.links.model.trained_members import trained_members
from cvzoo.links.model.zoo_member import ZooMember


def _settings(model: ESPNet) -> dict[str, Any]:
    return {
        "n_class": model.n_class,
        "depths": list(model.depths),
        "channels": list(model.channels),
        "mix_colors": model.mix_colors,
        "frame": model.preparation.to_json(),
    }


def _build(settings: Mapping[str, Any], label_names: Sequence[str] | None) -> ESPNet:
    return ESPNet(
        settings["n_class"],
        label_names=label_names,
        depths=tuple(settings["depths"]),
        channels=tuple(settings["channels"]),
        mix_colors=settings["mix_colors"],
        preparation=FramePreparation.from_json(settings["frame"]),
    )


def _preprocessing(model: ESPNet) -> dict[str, Any]:
    return {"channels": "BGR", **model.preparation.to_json()}


ARCHITECTURES = (HandWritten("ESPNet", ESPNet, _settings, _preprocessing, _build),)


def members() -> list[ZooMember]:
    """The trained ones."""
    return trained_members([(ESPNet, RECORDS)], "segmentation")
