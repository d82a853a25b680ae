"""A trained model that can be had by name."""

from collections.abc import Callable
from typing import TYPE_CHECKING, Literal, NamedTuple

if TYPE_CHECKING:  # `cvzoo models --help` reads the tasks alone
    from cvzoo.links.chain import Chain
    from cvzoo.weights.record import Weights

Task = Literal["classification", "detection", "segmentation", "instance segmentation", "keypoints"]


class ZooMember(NamedTuple):
    """A trained model that can be had by name.

    name: what a user types
    make: called without arguments it gives the model, its files fetched first if need be
    weights: the record that says most about it
    files: all records that `make` fetches; none for what ships in the package
    task: what its `predict` gives
    """

    name: str
    make: "Callable[[], Chain]"
    weights: "Weights"
    files: "tuple[Weights, ...]"
    task: Task = "detection"
