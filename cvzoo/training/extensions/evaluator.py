"""Evaluation of a model on a validation set during training."""

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from cvzoo.config.switches import no_backprop_mode, using_config
from cvzoo.errors.exceptions import ValueRangeError
from cvzoo.iterators.abstract import AbstractIterator
from cvzoo.links.link import Link
from cvzoo.reporting.reporter import Reporter, report, report_scope
from cvzoo.reporting.summary import DictSummary
from cvzoo.training.concat_examples import batch_device, concat_examples
from cvzoo.training.extension import PRIORITY_WRITER, AbstractExtension

if TYPE_CHECKING:
    from cvzoo.training.trainer import Trainer


class Evaluator(AbstractExtension):
    """Calls a model on every batch and reports the means of the values that it reports: "validation/main/loss".

    iterator: a finite one (repeat=False), or several by name, of which "main" is read
    target: a link, or several by name, each of which reports under its name
    converter, device: as for StandardUpdater
    eval_hook: called with this extension before every evaluation
    eval_func: called with each batch; None: the main target

    The model is in inference mode, and no graph is built. For detectors and other models with `predict`, see
    `cvzoo.evaluations`, whose evaluators extend a trainer as well.
    Source: Chainer's extension. Where we differ: every example has the same weight, also in a smaller last batch.
    """

    trigger = (1, "epoch")
    priority = PRIORITY_WRITER
    default_name = "validation"

    def __init__(
        self,
        iterator: AbstractIterator[Any] | Mapping[str, AbstractIterator[Any]],
        target: Link | Mapping[str, Link],
        converter: Callable[[list, str | int | None], Any] = concat_examples,
        device: str | int | None = None,
        eval_hook: Callable[["Evaluator"], None] | None = None,
        eval_func: Callable[..., object] | None = None,
    ):
        self.iterators = dict(iterator) if isinstance(iterator, Mapping) else {"main": iterator}
        self.targets = dict(target) if isinstance(target, Mapping) else {"main": target}
        for what, given in (("iterator", self.iterators), ("target", self.targets)):
            if "main" not in given:
                raise ValueRangeError(f"Evaluator: one {what} must be called 'main'", got=sorted(given))
        if self.iterators["main"].repeat:
            raise ValueRangeError("Evaluator: the iterator must be finite", hint="repeat=False")
        self.converter = converter
        self.device = device
        self.eval_hook = eval_hook
        self.eval_func = eval_func
        # means over the parts of the data on several processes, see `create_multi_node_evaluator`
        self.over_ranks: Callable[[DictSummary], dict[str, float]] | None = None

    def __call__(self, trainer: "Trainer | None" = None) -> dict[str, float]:
        """The means by name, which are also reported to the current reporter, if any."""
        reporter = Reporter()
        prefix = f"{self.name}/" if self.name is not None else ""
        for name, target in self.targets.items():
            reporter.add_observer(prefix + name, target)
            reporter.add_observers(prefix + name, target.namedlinks(skipself=True))
        with reporter:
            means = self.evaluate()
        report(means)
        return means

    def evaluate(self) -> dict[str, float]:
        """The means of the values reported to the current reporter, over all batches."""
        iterator = self.iterators["main"]
        eval_func = self.targets["main"] if self.eval_func is None else self.eval_func
        if self.eval_hook is not None:
            self.eval_hook(self)
        iterator.reset()
        device = batch_device(self.device, self.targets["main"])
        summary = DictSummary()
        with using_config("train", False), no_backprop_mode():
            for batch in iterator:
                values = self.converter(batch, device)
                observation: dict[str, Any] = {}
                with report_scope(observation):
                    if isinstance(values, tuple):
                        eval_func(*values)
                    elif isinstance(values, dict):
                        eval_func(**values)
                    else:
                        eval_func(values)
                # weighted, since the last batch may be smaller
                summary.add({key: _weighted(value, len(batch)) for key, value in observation.items()})
        return summary.compute_mean() if self.over_ranks is None else self.over_ranks(summary)

    def get_iterator(self, name: str) -> AbstractIterator[Any]:
        """The iterator of that name."""
        return self.iterators[name]

    def get_target(self, name: str) -> Link:
        """The target of that name."""
        return self.targets[name]

    def finalize(self) -> None:
        for iterator in self.iterators.values():
            iterator.finalize()


def _weighted(value: Any, n_example: int) -> Any:
    return value if isinstance(value, tuple) else (value, n_example)
