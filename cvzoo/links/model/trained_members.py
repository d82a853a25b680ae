"""A family's published files as members of the zoo."""

import functools
from collections.abc import Callable, Iterable, Mapping

from cvzoo.links.chain import Chain
from cvzoo.links.model.classifier import AbstractClassifier
from cvzoo.links.model.faster_rcnn_fpn.config import FasterRCNNFPNConfig
from cvzoo.links.model.pretrained.classifier import ClassWeights
from cvzoo.links.model.zoo_member import Task, ZooMember
from cvzoo.weights.record import Weights


def trained_members(
    makers: Iterable[tuple[Callable[..., Chain], Mapping[str, Weights]]], task: Task = "detection"
) -> list[ZooMember]:
    """One member a record, in the order of the tables.

    makers: constructors that take `pretrained_model`, each with its table, name -> record; what else a constructor
        needs is bound to it by `functools.partial`
    """
    return [
        ZooMember(record.name, functools.partial(make, pretrained_model=key), record, (record,), task)
        for make, records in makers
        for key, record in records.items()
    ]


def classifier_members(
    makers: Iterable[tuple[Callable[..., AbstractClassifier], Mapping[str, ClassWeights]]],
) -> list[ZooMember]:
    """`trained_members` of tables that say, too, how photos are prepared."""
    return trained_members(
        ((make, {key: each.record for key, each in records.items()}) for make, records in makers), "classification"
    )


def region_members(
    weights: Mapping[str, tuple[Weights, FasterRCNNFPNConfig]], makers: Mapping[str, Callable[..., Chain]], task: Task
) -> list[ZooMember]:
    """A member for each record. makers: variant, as names of records begin with it -> constructor."""
    found = []
    for name, (record, _) in weights.items():
        variant = next(variant for variant in makers if name.startswith(f"{variant}_"))
        make = functools.partial(makers[variant], pretrained_model=name.removeprefix(f"{variant}_"))
        found.append(ZooMember(record.name, make, record, (record,), task))
    return found
