"""Vision Transformers in listings and in files."""

import functools
from collections.abc import Mapping, Sequence
from typing import Any

from cvzoo.links.model.architecture import HandWritten
from cvzoo.links.model.classifier_listing import classifier_members, classifier_preprocessing
from cvzoo.links.model.photo_preparation import PhotoPreparation
from cvzoo.links.model.vit.plan import Plan
from cvzoo.links.model.vit.vit import ViT
from cvzoo.links.model.vit.weights import WEIGHTS
from cvzoo.links.model.zoo_member import ZooMember


def _settings(model: ViT) -> dict[str, Any]:
    return {
        "size": model.size,
        "n_class": model.n_class,
        "insize": model.insize,
        "plan": model.plan._asdict(),
        "preparation": model.preparation.to_json(),
    }


def _build(settings: Mapping[str, Any], label_names: Sequence[str] | None) -> ViT:
    plan = settings["plan"]
    return ViT(
        settings["size"],
        settings["n_class"],
        label_names=label_names,
        insize=settings["insize"],
        plan=Plan(plan["patch"], plan["n_layer"], plan["n_head"], plan["n_unit"], plan["n_hidden"]),
        preparation=PhotoPreparation.from_json(settings["preparation"]),
    )


ARCHITECTURES = (HandWritten("ViT", ViT, _settings, classifier_preprocessing, _build),)


def members() -> list[ZooMember]:
    """The trained ones."""
    return classifier_members((functools.partial(ViT, size), records) for size, records in WEIGHTS.items())
