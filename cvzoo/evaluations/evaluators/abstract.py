"""The only loop of the evaluators: batches from an iterator, predictions of a model, a state that grows by numbers."""

import abc
import math
from collections.abc import Callable, Iterable, Mapping, MutableMapping, Sequence
from typing import Any, Protocol, runtime_checkable

from cvzoo.errors.exceptions import ShapeError, ValueRangeError
from cvzoo.reporting.reporter import report

Hook = Callable[[tuple[list, ...], tuple, tuple[list, ...]], None]


class Predicting(Protocol):
    """Anything with `predict`: photos in, one list or a tuple of lists out, with one element a photo."""

    def predict(self, imgs: list) -> Any: ...


@runtime_checkable
class Resettable(Protocol):
    """An iterator that can start anew."""

    def reset(self) -> None: ...


class Observing(Protocol):
    """What an evaluator needs to know of a trainer."""

    observation: MutableMapping[str, Any]


class AbstractEvaluator(abc.ABC):
    """Scores of a model on the examples of an iterator: `result = evaluator()`, a dictionary of floats by key.

    iterator: gives batches, lists of examples; an example is a tuple of the photo and its ground truth. It must end
        (repeat=False); one with `reset()` is reset before every run
    target: the model; what it found is forgotten batch by batch: memory holds a batch, and some numbers an object
    label_names: names of the classes in order of label, for the keys of the classes; None: no such keys
    hook: None, or called after each batch with (photos,), predictions and ground truths, tuples of lists:
        ProgressHook(len(dataset)) tells the rate and the time that is left

    A model keeps the thresholds it has: published scores are measured `with model.using_preset("evaluate")`.
    Where workers share a data set, each calls `accumulate`; their states merge, and `report` of the merged state gives
    the same numbers as one worker alone.
    Keys begin with "main/"; inside of a trainer with the extension's name, too ("validation/main/map").
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
    ):
        self.iterator = iterator
        self.target = target
        self.label_names = None if label_names is None else tuple(label_names)
        self.hook = hook
        self.name: str | None = None  # a trainer that extends itself with an evaluator names it
        self.result: Any = None

    # --- what an evaluator writes -----------------------------------------------------------------------------------
    @property
    @abc.abstractmethod
    def example(self) -> tuple[str, ...]:
        """Names of an example's values, in brackets what may be missing: ("img", "bbox", "label", "[difficult]")."""

    @abc.abstractmethod
    def new_accumulator(self) -> Any:
        """A state that has seen nothing."""

    @abc.abstractmethod
    def update(self, accumulator: Any, predicted: tuple, truths: tuple[list, ...]) -> None:
        """Count a batch. predicted: what `predict` gave, as a tuple; truths: the ground truths, a list a value."""

    @abc.abstractmethod
    def result_of(self, accumulator: Any) -> Any:
        """The structured result of a state."""

    @abc.abstractmethod
    def scores_of(self, result: Any) -> Mapping[str, float]:
        """The numbers to report, by key without "main/"; NaN where there is none."""

    # --- running ----------------------------------------------------------------------------------------------------
    def __call__(self, trainer: Observing | None = None) -> dict[str, float]:
        """The scores by key; a trainer's observation, or else the current reporter, gets them as well.

        Afterwards `result` is the structured one.
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
        return self.report(self.accumulate())

    def report(self, accumulator: Any) -> dict[str, float]:
        """The scores of a state by key, "main/..."."""
        self.result = self.result_of(accumulator)
        return {f"main/{key}": float(value) for key, value in self.scores_of(self.result).items()}

    def accumulate(self) -> Any:
        """The state after all examples. Raises ShapeError if an example or a prediction does not fit."""
        if isinstance(self.iterator, Resettable):
            self.iterator.reset()
        accumulator, n_done = self.new_accumulator(), 0
        for batch in self.iterator:
            imgs, *truths = self._columns(batch, n_done)
            predicted = self.target.predict(imgs)
            predicted = tuple(predicted) if isinstance(predicted, tuple) else (predicted,)
            wrong = [len(values) for values in predicted if len(values) != len(imgs)]
            if wrong:
                raise ShapeError("predict: one element a photo", expected=len(imgs), got=wrong[0])
            self.update(accumulator, predicted, tuple(truths))
            n_done += len(imgs)
            if self.hook is not None:
                self.hook((imgs,), predicted, tuple(truths))
            # before the next batch is read, so that no two are held
            del batch, imgs, truths, predicted
        return accumulator

    def _columns(self, batch, n_done):
        """Lists of the photos and of each ground truth."""
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

    def by_class(self, key: str, values: Sequence[float]) -> dict[str, float]:
        """`key/name` for each class that has a name; NaN for those beyond the values."""
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
