"""Swin Transformers in listings and in files."""

import functools
from collections.abc import Mapping, Sequence
from typing import Any

from cvzoo.links.model.architecture import HandWritten
from cvzoo.links.model.classifier_listing import classifier_members, classifier_preprocessing
from cvzoo.links.model.photo_preparation import PhotoPreparation
from cvzoo.links.model.swin.plan import Plan
from cvzoo.links.model.swin.swin import SwinTransformer
from cvzoo.links.model.swin.weights import WEIGHTS
from cvzoo.links.model.zoo_member import ZooMember


def _settings(model: SwinTransformer) -> dict[str, Any]:
    plan = {name: list(v) if isinstance(v, tuple) else v for name, v in model.plan._asdict().items()}
    return {
        "size": model.size,
        "n_class": model.n_class,
        "plan": plan,
        "preparation": model.preparation.to_json(),
    }


def _build(settings: Mapping[str, Any], label_names: Sequence[str] | None) -> SwinTransformer:
    plan = settings["plan"]
    return SwinTransformer(
        settings["size"],
        settings["n_class"],
        label_names=label_names,
        plan=Plan(
            plan["n_channel"],
            tuple(plan["depths"]),
            tuple(plan["heads"]),
            plan["window"],
            plan["drop_path"],
            plan["version"],
        ),
        preparation=PhotoPreparation.from_json(settings["preparation"]),
    )


ARCHITECTURES = (HandWritten("SwinTransformer", SwinTransformer, _settings, classifier_preprocessing, _build),)


def members() -> list[ZooMember]:
    """The trained ones."""
    return classifier_members((functools.partial(SwinTransformer, size), records) for size, records in WEIGHTS.items())
