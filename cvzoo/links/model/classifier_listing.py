"""What the listings of classifiers have in common."""

from collections.abc import Callable, Iterable, Mapping

from cvzoo.links.model.classifier import AbstractClassifier
from cvzoo.links.model.pretrained.classifier import ClassWeights
from cvzoo.links.model.trained_members import trained_members
from cvzoo.links.model.zoo_member import ZooMember


def classifier_members(
    makers: Iterable[tuple[Callable[..., AbstractClassifier], Mapping[str, ClassWeights]]],
) -> list[ZooMember]:
    """`trained_members` of tables that say, too, how photos are prepared."""
    return trained_members(
        ((make, {key: each.record for key, each in records.items()}) for make, records in makers), "classification"
    )
