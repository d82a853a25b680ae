"""Adapter of `cvzoo.evaluations`' evaluators to a trainer."""

from typing import TYPE_CHECKING

from cvzoo.evaluations.evaluators.abstract import AbstractEvaluator
from cvzoo.iterators.abstract import AbstractIterator
from cvzoo.training.extension import AbstractExtension

if TYPE_CHECKING:
    from cvzoo.training.trainer import Trainer


class EvaluatorExtension(AbstractExtension):
    """Runs the evaluator; its scores are reported as "validation/main/map" and so on. See `Trainer.extend`.

    The evaluator's iterator is finalized at the end of training.
    """

    def __init__(self, evaluator: AbstractEvaluator):
        self.evaluator = evaluator
        self.trigger = evaluator.trigger
        self.priority = evaluator.priority
        self.default_name = evaluator.name or evaluator.default_name

    def __call__(self, trainer: "Trainer") -> dict[str, float]:
        before, self.evaluator.name = self.evaluator.name, self.name
        try:
            return self.evaluator(trainer)
        finally:
            self.evaluator.name = before  # so that a call outside of the trainer has its usual keys

    def finalize(self) -> None:
        if isinstance(self.evaluator.iterator, AbstractIterator):
            self.evaluator.iterator.finalize()
