"""Evaluators whose ranks evaluate parts of the data, and report the scores of the whole."""

from collections.abc import Callable
from typing import Any, Protocol, TypeVar

from cvzoo.datasets.sliceable.abstract import AbstractSliceableDataset
from cvzoo.distributed.communicator import AbstractCommunicator
from cvzoo.distributed.scattered_dataset import ScatteredDataset
from cvzoo.distributed.structures import from_plain, to_plain
from cvzoo.evaluations.coco.accumulator import AbstractCOCOAccumulator
from cvzoo.evaluations.evaluators.abstract import AbstractEvaluator
from cvzoo.iterators.abstract import AbstractIterator
from cvzoo.reporting.summary import DictSummary


class _MeansEvaluator(Protocol):
    """`cvzoo.training.extensions.Evaluator`, which is in a room above."""

    iterators: dict[str, AbstractIterator[Any]]
    over_ranks: Callable[[DictSummary], dict[str, float]] | None


Evaluator = TypeVar("Evaluator", AbstractEvaluator, _MeansEvaluator)


def create_multi_node_evaluator(evaluator: Evaluator, comm: AbstractCommunicator) -> Evaluator:
    """The same evaluator, evaluating this rank's part of the data and returning the scores of all on every rank.

    evaluator: one of `cvzoo.evaluations`, or `cvzoo.training.extensions.Evaluator`, over a part that `scatter_dataset`
        returned; its padding is left out

    The scores are those of one process, to the bit for `cvzoo.evaluations` (with shuffle=False, which keeps the order
    of equal confidence scores); rank 0 computes them from the accumulators of all ranks, and has `evaluator.result`.
    Source: ChainerMN's function. Where we differ: it averages the ranks' scores, which is not the score of the whole.
    """
    if isinstance(evaluator, AbstractEvaluator):
        scored: AbstractEvaluator = evaluator
        _leave_out_padding(scored.iterator)
        scored.over_ranks = _Scores(comm)
    else:
        for iterator in evaluator.iterators.values():
            _leave_out_padding(iterator)
        evaluator.over_ranks = _Means(comm)
    return evaluator


class _Scores:
    """The scores of the merged accumulators."""

    def __init__(self, comm: AbstractCommunicator):
        self._comm = comm

    def __call__(self, evaluator: AbstractEvaluator) -> dict[str, float]:
        mine = evaluator.accumulate()
        if isinstance(mine, AbstractCOCOAccumulator):  # its images are numbered, and merged by number
            mine.shift_ids(sum(self._comm.allgather_obj(len(mine))[: self._comm.rank]))
        everyone = self._comm.gather_obj(to_plain(mine))
        scores = None
        if everyone is not None:
            first, *others = [from_plain(each) for each in everyone]
            for other in others:
                first.merge(other)
            scores = evaluator.report(first)
        return self._comm.bcast_obj(scores)


class _Means:
    """The means over the examples of all ranks."""

    def __init__(self, comm: AbstractCommunicator):
        self._comm = comm

    def __call__(self, summary: DictSummary) -> dict[str, float]:
        total = DictSummary()
        for state in self._comm.allgather_obj(summary.state()):
            total.add({key: (each["mean"], each["n"]) for key, each in state.items()})
        return total.compute_mean()


def _leave_out_padding(iterator: object) -> None:
    if not isinstance(iterator, AbstractIterator):
        return
    dataset: Any = iterator.dataset
    while isinstance(dataset, AbstractSliceableDataset) and not isinstance(dataset, ScatteredDataset):
        dataset = vars(dataset).get("_dataset")  # of a TransformDataset and others of as many examples
    if isinstance(dataset, ScatteredDataset) and len(dataset) == len(iterator.dataset):
        iterator.take_first(dataset.n_own)
