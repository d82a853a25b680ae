"""ConvNeXt in listings and in files."""

import functools
from collections.abc import Mapping, Sequence
from typing import Any

from cvzoo.links.model.architecture import HandWritten
from cvzoo.links.model.classifier_listing import classifier_members, classifier_preprocessing
from cvzoo.links.model.convnext.convnext import ConvNeXt
from cvzoo.links.model.convnext.plan import Plan
from cvzoo.links.model.convnext.weights import WEIGHTS
from cvzoo.links.model.photo_preparation import PhotoPreparation
from cvzoo.links.model.zoo_member import ZooMember


def _settings(model: ConvNeXt) -> dict[str, Any]:
    return {
        "size": model.size,
        "n_class": model.n_class,
        "channels": list(model.plan.channels),
        "depths": list(model.plan.depths),
        "drop_path": model.plan.drop_path,
        "preparation": model.preparation.to_json(),
    }


def _build(settings: Mapping[str, Any], label_names: Sequence[str] | None) -> ConvNeXt:
    plan = Plan(tuple(settings["channels"]), tuple(settings["depths"]), settings["drop_path"])
    return ConvNeXt(
        settings["size"],
        settings["n_class"],
        label_names=label_names,
        plan=plan,
        preparation=PhotoPreparation.from_json(settings["preparation"]),
    )


ARCHITECTURES = (HandWritten("ConvNeXt", ConvNeXt, _settings, classifier_preprocessing, _build),)


def members() -> list[ZooMember]:
    """The trained ones."""
    return classifier_members((functools.partial(ConvNeXt, size), records) for size, records in WEIGHTS.items())
