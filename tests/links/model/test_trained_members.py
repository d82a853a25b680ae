"""Tables of records as members of the zoo."""

import dataclasses
import functools

from cvzoo.links.model.cifar_resnet.cifar_resnet import CIFARResNet
from cvzoo.links.model.cifar_resnet.weights import WEIGHTS
from cvzoo.links.model.families import classifier_members, trained_members
from cvzoo.links.model.preparation.center_crop import PhotoPreparation
from cvzoo.links.model.pretrained.classifier import ClassWeights

RECORD = WEIGHTS[20]["cifar10"]
OTHER = dataclasses.replace(RECORD, name="other")


def _small(n, *, pretrained_model=None):
    return n, pretrained_model


def test_a_member_a_record_in_the_order_of_the_tables():
    members = trained_members([(functools.partial(_small, 3), {"b": RECORD, "a": OTHER}), (CIFARResNet, {"c": OTHER})])
    assert [(each.name, each.weights, each.files, each.task) for each in members] == [
        (record.name, record, (record,), "detection") for record in (RECORD, OTHER, OTHER)
    ]
    assert [each.make() for each in members[:2]] == [(3, "b"), (3, "a")]
    assert trained_members([]) == trained_members([(_small, {})]) == []


def test_classifiers_are_listed_with_their_task():
    seen = PhotoPreparation(36, 32)
    (member,) = classifier_members([(functools.partial(_small, 3), {"imagenet": ClassWeights(RECORD, seen)})])
    assert (member.weights, member.files, member.task) == (RECORD, (RECORD,), "classification")
    assert member.make() == (3, "imagenet")
