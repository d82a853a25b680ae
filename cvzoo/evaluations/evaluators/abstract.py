"""The base class of evaluators, with their loop over an iterator's batches and a model's predictions."""

import abc
import math
from collections.abc import Callable, Iterable, Mapping, MutableMapping, Sequence
from typing import Any, Protocol, runtime_checkable

from cvzoo.errors.exceptions import ShapeError, ValueRangeError
from cvzoo.reporting.reporter import report
from cvzoo.typing.aliases import Array

Hook = Callable[[tuple[list, ...], tuple, tuple[list, ...]], None]


class Predicting(Protocol):
    """A model with `predict`, which takes images and returns a list or a tuple of lists with one element per image."""

    def predict(self, imgs: list) -> Any: ...


@runtime_checkable
class Resettable(Protocol):
    """An iterator that can be reset."""

    def reset(self) -> None: ...


class Observing(Protocol):
    """The part of a trainer that evaluators use."""

    @property
    def observation(self) -> MutableMapping[str, Any]: ...


class AbstractEvaluator(abc.ABC):
    """Scores of a model on the examples of an iterator: `result = evaluator()`, a dictionary of floats by key.

    iterator: yields batches, lists of examples; an example is a tuple of the image and its ground truth. It must be
        finite (repeat=False); if it has `reset()`, that is called before every evaluation
    target: the model; predictions are kept for one batch only, besides some numbers per object
    label_names: names of the classes in order of label, for the keys of the classes; None: no such keys
    hook: None, or called after each batch with (images,), predictions and ground truths, tuples of lists:
        ProgressHook(len(dataset)) shows the rate and the remaining time

    The thresholds of the model are not changed: published scores are measured `with model.using_preset("evaluate")`.
    Workers that share a data set call `accumulate` each; their accumulators merge, and `report` of the merged one gives
    the same scores as one worker alone.
    Keys begin with "main/", in a trainer preceded by the name of the extension ("validation/main/map").
    """

    trigger = (1, "epoch")
    default_name = "validation"
    priority = 300  # runs before the extensions that read what it reports

    def __init__(
        self,
        iterator: Iterable[list],
        target: Predicting,
        label_names: Sequence[str] | None = None,
        *,
        hook: Hook | None = None,
    ) -> None:
        self.iterator = iterator
        self.target = target
        self.label_names = None if label_names is None else tuple(label_names)
        self.hook = hook
        self.name: str | None = None  # a trainer that extends itself with an evaluator names it
        self.result: Any = None
        # how parts of the data on several processes are evaluated together, see `create_multi_node_evaluator`
        self.over_ranks: Callable[[Any], dict[str, float]] | None = None

    # --- what an evaluator writes -----------------------------------------------------------------------------------
    @property
    @abc.abstractmethod
    def example(self) -> tuple[str, ...]:
        """Names of the values of an example, optional ones in brackets: ("img", "bbox", "label", "[difficult]")."""

    @abc.abstractmethod
    def new_accumulator(self) -> Any:
        """An empty accumulator."""

    @abc.abstractmethod
    def update(self, accumulator: Any, predicted: tuple, truths: tuple[list, ...]) -> None:
        """Count a batch. predicted: what `predict` gave, as a tuple; truths: the ground truths, one list per value."""

    @abc.abstractmethod
    def result_of(self, accumulator: Any) -> Any:
        """The structured result of an accumulator."""

    @abc.abstractmethod
    def scores_of(self, result: Any) -> Mapping[str, float]:
        """The scores to report, by key without "main/"; NaN if undefined."""

    # --- running ----------------------------------------------------------------------------------------------------
    def __call__(self, trainer: Observing | None = None) -> dict[str, float]:
        """The scores by key, also reported to a trainer's observation, or else to the current reporter.

        Afterwards `result` is the structured result.
        """
        name = self.default_name if self.name is None and trainer is not None else self.name
        scores = self.evaluate()
        if name is not None:
            scores = {f"{name}/{key}": value for key, value in scores.items()}
        if trainer is not None:
            trainer.observation.update(scores)
        else:
            report(scores)
        return scores

    def evaluate(self) -> dict[str, float]:
        """The scores by key, "main/..."."""
        return self.report(self.accumulate()) if self.over_ranks is None else self.over_ranks(self)

    def report(self, accumulator: Any) -> dict[str, float]:
        """The scores of an accumulator by key, "main/..."."""
        self.result = self.result_of(accumulator)
        return {f"main/{key}": float(value) for key, value in self.scores_of(self.result).items()}

    def accumulate(self) -> Any:
        """The accumulator of all examples. Raises ShapeError for a malformed example or prediction."""
        if isinstance(self.iterator, Resettable):
            self.iterator.reset()
        accumulator, n_done = self.new_accumulator(), 0
        for batch in self.iterator:
            imgs, *truths = self._columns(batch, n_done)
            predicted = self.target.predict(imgs)
            predicted = tuple(predicted) if isinstance(predicted, tuple) else (predicted,)
            wrong = [len(values) for values in predicted if len(values) != len(imgs)]
            if wrong:
                raise ShapeError("predict must return one element per image", expected=len(imgs), got=wrong[0])
            self.update(accumulator, predicted, tuple(truths))
            n_done += len(imgs)
            if self.hook is not None:
                self.hook((imgs,), predicted, tuple(truths))
            # before the next batch is read, so that at most one is in memory
            del batch, imgs, truths, predicted
        return accumulator

    def _columns(self, batch: list[Any], n_done: int) -> list[list[Any]]:
        """Lists of the images and of each ground truth."""
        names = self.example
        lengths = {len(example) if isinstance(example, tuple) else -1 for example in batch}
        least = sum(not name.startswith("[") for name in names)
        allowed = {least, len(names)}
        if len(lengths) != 1 or not lengths <= allowed:
            raise ShapeError(
                f"{type(self).__name__}: examples {n_done} .. {n_done + len(batch) - 1}",
                expected=f"tuples ({', '.join(names)})",
                got="no examples" if not batch else f"{sorted(lengths)} values" if -1 not in lengths else "no tuples",
            )
        return [list(column) for column in zip(*batch)]

    def by_class(self, key: str, values: Sequence[float] | Array) -> dict[str, float]:
        """`key/name` for each class name; NaN for classes beyond the values."""
        if self.label_names is None:
            return {}
        if len(values) > len(self.label_names):
            raise ValueRangeError(
                "a label has no name", expected=f"0 .. {len(self.label_names) - 1}", got=len(values) - 1
            )
        return {
            f"{key}/{name}": float(values[l]) if l < len(values) else math.nan
            for l, name in enumerate(self.label_names)
        }
