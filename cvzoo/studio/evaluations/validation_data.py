"""On what a run was validated, as `cvzoo evaluate` names it."""

from typing import NamedTuple

_TESTED = ("cifar10", "cifar100", "mnist")  # whose test set is the usual split, and validated on


class ValidationData(NamedTuple):
    """data, split: as of `cvzoo evaluate`; "" if the run's data are not known, and for the usual split"""

    data: str
    split: str


def validation_data(data: str) -> ValidationData:
    """The data and the split on which a run with these data was validated. data: as of `cvzoo train`"""
    _, comma, second = data.partition(".json,")
    if comma and second.partition(",")[0].endswith(".json"):  # two files of COCO
        return ValidationData(f"coco:{second}", "")
    has_split = data and not comma and not data.endswith(".json") and data.partition(":")[0] not in _TESTED
    return ValidationData(data, "val" if has_split else "")
