"""Trained models of the zoo, by name."""

from collections.abc import Callable
from typing import TYPE_CHECKING, Literal, NamedTuple

if TYPE_CHECKING:  # `cvzoo models --help` needs only the tasks
    from cvzoo.links.chain import Chain
    from cvzoo.weights.record import Weights

Task = Literal["classification", "detection", "segmentation", "instance segmentation", "keypoints"]


class ZooMember(NamedTuple):
    """A trained model of the zoo.

    name: for `cvzoo` commands and `load_model`
    make: a function without arguments that returns the model; it downloads its files if necessary
    weights: its main record
    files: all records that `make` downloads; none for weights that ship with the package
    task: kind of the results of its `predict`
    """

    name: str
    make: "Callable[[], Chain]"
    weights: "Weights"
    files: "tuple[Weights, ...]"
    task: Task = "detection"
