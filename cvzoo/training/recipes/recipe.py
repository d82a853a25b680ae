"""Base class of training recipes: all settings of a training, and how its parts are built from them."""

import abc
import dataclasses
import os
from collections.abc import Callable, Mapping, Sequence
from typing import Any, ClassVar, Literal, NamedTuple, Protocol, TypeAlias

from cvzoo.datasets.layouts.data_spec import DataSpec
from cvzoo.datasets.sliceable.abstract import AbstractSliceableDataset
from cvzoo.errors.exceptions import ConfigError, ValueRangeError
from cvzoo.evaluations.evaluators.abstract import AbstractEvaluator
from cvzoo.iterators.balanced_samplers import ClassBalancedOrderSampler, RepeatFactorOrderSampler
from cvzoo.iterators.order_samplers import Sampler
from cvzoo.links.chain import Chain
from cvzoo.links.link import Link
from cvzoo.links.model.config import AbstractConfig, config_field
from cvzoo.links.model.zoo_member import Task
from cvzoo.optimizers.adam import Adam
from cvzoo.optimizers.adam_w import AdamW
from cvzoo.optimizers.hooks.gradient_clipping import GradientClipping
from cvzoo.optimizers.hooks.weight_decay import WeightDecay
from cvzoo.optimizers.momentum_sgd import MomentumSGD
from cvzoo.optimizers.nesterov_ag import NesterovAG
from cvzoo.optimizers.optimizer import AbstractOptimizer
from cvzoo.optimizers.selectors import is_vector
from cvzoo.reporting.counted import counted
from cvzoo.training.concat_examples import concat_examples
from cvzoo.training.extensions.shifts.abstract import AbstractShift
from cvzoo.training.extensions.shifts.cosine_shift import CosineShift
from cvzoo.training.extensions.shifts.polynomial_shift import PolynomialShift
from cvzoo.training.extensions.shifts.step_shift import MultistepShift
from cvzoo.training.extensions.shifts.warmup_shift import WarmupShift
from cvzoo.training.run.anchor_reach import Anchors
from cvzoo.training.triggers.early_stopping_trigger import EarlyStoppingTrigger
from cvzoo.typing.aliases import Array, Image

USUAL_WARMUP = 300  # updates
_MOST_REPEATS = 100  # of an image in a batch: what is beyond is a mistake, and a batch that may never be complete
MOST_EPOCHS = 1_000_000
_MIXING = ("mosaic", "mix_up", "cut_mix", "copy_paste")  # fields of probabilities or strengths, of those that have them


RecipeModel: TypeAlias = Any  # the network of a recipe, of the class that its `build_model` returns


class Splits(Protocol):
    """A training set and a validation set with the same classes, such as BboxSplits, ClassSplits, LabelMapSplits."""

    @property
    def train(self) -> AbstractSliceableDataset: ...
    @property
    def val(self) -> AbstractSliceableDataset: ...
    @property
    def label_names(self) -> tuple[str, ...]: ...


class ClassTable(NamedTuple):
    """Scores by class, for a terminal.

    rows: name, n_<counted> and the columns of each class
    columns: the scores' names; counted: what is counted, as in n_<counted>
    """

    rows: list[dict[str, Any]]
    columns: tuple[str, ...]
    counted: str


@dataclasses.dataclass(frozen=True, kw_only=True)
class AbstractRecipe(AbstractConfig, abc.ABC):
    """All settings of a training; they are saved in the run's folder. A family subclasses the recipe of its task.

    Each field has help, unit, range and group in its metadata (`config_field`), which also check its values.
    Raises ValueRangeError for a value of another type or out of range.

    task: what the model's `predict` returns
    metrics: metric -> its key in the log
    usage: how `predict` of the trained model is called, `{image}` is a path
    """

    task: ClassVar[Task]
    metrics: ClassVar[Mapping[str, str]]
    usage: ClassVar[str]

    data: str = config_field(
        "", help="specification of the training and validation sets, such as voc:ROOT", group="data"
    )
    model: AbstractConfig = config_field(help="the network", group="model")
    pretrained: str | None = config_field(
        None, help="pretrained weights: a name of the network's, or a file; None: random initialization", group="model"
    )
    epochs: int = config_field(
        50, help="number of epochs", unit="epochs", group="schedule", at_least=1, at_most=MOST_EPOCHS
    )
    batch_size: int = config_field(4, help="images in a batch", unit="images", group="schedule", at_least=1)
    optimizer: Literal["adamw", "adam", "sgd", "nesterov"] = config_field(
        "adamw", help="optimizer; sgd has momentum, and so has nesterov", group="optimizer"
    )
    lr: float = config_field(1e-3, help="learning rate after the warm-up", group="optimizer", above=0)
    weight_decay: float = config_field(5e-5, help="weight decay, not of vectors", group="optimizer", at_least=0)
    momentum: float = config_field(0.9, help="momentum of sgd and nesterov", group="optimizer", at_least=0, below=1)
    clip: float | None = config_field(
        10.0, help="maximum norm of all gradients; None: gradients are not clipped", group="optimizer", above=0
    )
    layer_lr: Mapping[str, float] | None = config_field(
        None,
        help="learning rates of parts of the network as multiples of lr, by path, such as layer_lr.extractor=0.1",
        group="optimizer",
        at_least=0,
    )
    frozen: tuple[str, ...] = config_field(
        (), help="parts of the network that are not trained, by path, such as extractor/conv1", group="optimizer"
    )
    accumulate: int = config_field(
        1, help="batches whose mean gradient makes an update", unit="batches", group="optimizer", at_least=1
    )
    ema: float | None = config_field(
        None,
        help="decay of the moving average of the weights that is validated and saved, such as 0.9998; None: no average",
        group="optimizer",
        above=0,
        below=1,
    )
    warmup: int | None = config_field(
        None,
        help="updates in which the learning rate rises; None: 300, or a third of a run of fewer than 900 updates",
        unit="updates",
        group="schedule",
        at_least=0,
    )
    schedule: Literal["cosine", "step", "poly", "constant"] = config_field(
        "cosine", help="course of the learning rate after the warm-up", group="schedule"
    )
    final_lr: float = config_field(
        0.01, help="last value of cosine, as a fraction of lr", group="schedule", at_least=0, at_most=1
    )
    steps: tuple[float, ...] = config_field(
        (0.67, 0.89),
        help="when step divides the learning rate by ten, as fractions of the training",
        group="schedule",
        above=0,
        below=1,
    )
    validate_every: int | None = config_field(
        None, help="epochs between validations; None: a twentieth of all", unit="epochs", group="schedule", at_least=1
    )
    patience: int | None = config_field(
        None,
        help="validations without a better score after which training stops early; None: it does not",
        group="validation",
        at_least=1,
    )
    metric: str = config_field(help="metric that selects the best model", group="validation")
    sampling: Literal["random", "balanced", "repeat"] = config_field(
        "random",
        help="order of an epoch: random; balanced: all classes equally often; repeat: images of rare classes repeated",
        group="data",
    )
    repeat_thresh: float = config_field(
        0.1,
        help="for repeat: classes in a smaller fraction of the images are repeated",
        group="data",
        above=0,
        at_most=1,
    )
    seed: int = config_field(0, help="random seed", group="run", at_least=0)
    processes: int | Literal["auto"] = config_field(
        2,
        help="data-loading workers; auto: one per core, at most 8; 0: the training process loads",
        group="run",
        at_least=0,
        at_most=256,
    )

    # --- what a family says ---

    @abc.abstractmethod
    def summary(self) -> str:
        """The network in a line, for `cvzoo train --list`."""

    @abc.abstractmethod
    def build_model(self, label_names: Sequence[str]) -> Chain:
        """The network for these classes, with its pretrained weights; random values come from the run's seed."""

    @abc.abstractmethod
    def build_loss(self, model: RecipeModel, splits: Splits) -> Link:
        """The loss around the model: what the optimizer updates, called with what the converter returns."""

    @abc.abstractmethod
    def examples(self, train: AbstractSliceableDataset, model: RecipeModel) -> AbstractSliceableDataset:
        """The training set with data augmentation, in the order of values that the converter takes."""

    @abc.abstractmethod
    def draw_example(
        self, example: tuple[Array, ...], model: RecipeModel, label_names: Sequence[str]
    ) -> tuple[Image, str]:
        """An augmented example as an image (3, H, W) in [0, 255] and its caption."""

    def anchors(self, model: RecipeModel) -> Anchors | None:
        """The anchors, whose reach the report says; None: the network has none."""
        return None

    def boxed_examples(self, train: AbstractSliceableDataset, model: RecipeModel) -> AbstractSliceableDataset:
        """The augmented training set as (img, bbox, label) or (img, bbox, label, ignored), for the reach of anchors."""
        examples = self.examples(train, model)
        return examples.slice[:, tuple(key for key in ("img", "bbox", "label", "ignored") if key in examples.keys)]

    def converter(self, batch: Sequence[Any], device: str | int | None = None) -> Any:
        """A batch of examples as arguments of the loss: `concat_examples`, unless the family says otherwise."""
        return concat_examples(batch, device)

    def build_optimizer(self, loss: Link) -> AbstractOptimizer:
        """The optimizer set up with the loss, with weight decay and clipping."""
        optimizer: AbstractOptimizer
        if self.optimizer == "adamw":
            optimizer = AdamW(self.lr, weight_decay_rate=self.weight_decay, exempt=is_vector).setup(loss)
        else:
            makers: dict[str, Callable[[], AbstractOptimizer]] = {
                "adam": lambda: Adam(self.lr),
                "sgd": lambda: MomentumSGD(self.lr, self.momentum),
                "nesterov": lambda: NesterovAG(self.lr, self.momentum),
            }
            optimizer = makers[self.optimizer]().setup(loss)
            if self.weight_decay:
                optimizer.add_hook(WeightDecay(self.weight_decay, exempt=is_vector))
        if self.clip is not None:
            optimizer.add_hook(GradientClipping(self.clip))
        return optimizer

    def with_pretrained(self, pretrained: str | None) -> "AbstractRecipe":
        """The recipe with other pretrained weights, and what follows from them: nothing, unless the family says so."""
        return dataclasses.replace(self, pretrained=pretrained)

    def with_size(self, side: int) -> "AbstractRecipe":
        """The recipe with another size of images, pixels. Raises ConfigError: unless the family says otherwise."""
        raise ConfigError(f"{type(self).__name__} has no setting for one size of images")

    # --- what a task says ---

    @abc.abstractmethod
    def splits(self) -> Splits:
        """The data. Raises ConfigError for a malformed specification, DatasetError if a part is missing or empty."""

    def checked_parts(self) -> tuple[DataSpec, ...]:
        """The data that `cvzoo data check` examines before training; by default none."""
        return ()

    @abc.abstractmethod
    def evaluator(self, model: RecipeModel, splits: Splits) -> AbstractEvaluator:
        """The evaluator on the validation set by the recipe's metric."""

    @abc.abstractmethod
    def draw_prediction(
        self, model: RecipeModel, example: tuple[Array, ...], label_names: Sequence[str]
    ) -> tuple[Image, str]:
        """The image (3, H, W) of a validation example, in [0, 255], with what the model predicts, and a caption."""

    @abc.abstractmethod
    def class_table(self, result: Any, label_names: Sequence[str]) -> ClassTable:
        """The scores by class of the evaluator's result."""

    def for_validation(self, model: RecipeModel) -> None:
        """Sets the model's thresholds to those of the validation: nothing, unless the task says otherwise."""

    def with_data(self, data: str) -> "AbstractRecipe":
        """The recipe with other data, and what follows from them: nothing, unless the task says otherwise."""
        return dataclasses.replace(self, data=data)

    def with_splits(self, splits: Splits) -> "AbstractRecipe":
        """The recipe with what the content of its data decides, such as keypoints: nothing, unless the task says so."""
        return self

    # --- common to all ---

    def order_sampler(self, train: AbstractSliceableDataset) -> Sampler | None:
        """The order of the training set in each epoch, by the labels of its examples; None: at random."""
        if self.sampling == "random":
            return None
        labels = [train.get_example_by_keys(i, (train.keys.index("label"),))[0] for i in range(len(train))]
        if self.sampling == "balanced":
            return ClassBalancedOrderSampler(labels)
        return RepeatFactorOrderSampler(labels, self.repeat_thresh)

    def unmixed(self) -> "AbstractRecipe":
        """The recipe without augmentations that mix images: for the loss on the validation set."""
        names = [field.name for field in dataclasses.fields(self)]
        off: dict[str, Any] = {name: 0.0 for name in names if name in _MIXING}
        if "batch_scales" in names:
            off["batch_scales"] = (1.0,)
        return dataclasses.replace(self, **off)

    def check_together(self) -> None:
        """Raises ValueRangeError for an unknown metric."""
        self.require(self.metric in self.metrics, "metric", " or ".join(self.metrics))

    @property
    def best(self) -> str:
        """The key of the metric in the log, which selects the best model."""
        return self.metrics[self.metric]

    @property
    def columns(self) -> tuple[str, ...]:
        """What is printed of each interval."""
        return "epoch", "iteration", "main/loss", self.best, "elapsed_time"

    def n_update(self, n_example: int) -> int:
        """The number of updates of a training on n_example images."""
        return -(-self.epochs * n_example // self.batch_size)

    def resolved(self, n_example: int) -> "AbstractRecipe":
        """The recipe with an explicit warm-up.

        Raises ValueRangeError if that is not shorter than the training, or if a batch is far larger than the training
        set.
        """
        if self.batch_size > _MOST_REPEATS * n_example:
            raise ValueRangeError(
                f"a batch would have each image of the training set more than {_MOST_REPEATS} times",
                expected=f"batch_size of at most {_MOST_REPEATS * n_example}",
                got=self.batch_size,
            )
        n = self.n_update(n_example)
        if self.warmup is None:
            return dataclasses.replace(self, warmup=max(min(USUAL_WARMUP, n // 3), 1) if n > 1 else 0)
        if self.warmup >= n:
            raise ValueRangeError(
                "the warm-up is not shorter than the training: the learning rate would never be reached",
                expected=f"fewer than its {counted(n, 'update')}",
                got=self.warmup,
            )
        return self

    def shift(self, n_example: int) -> AbstractShift:
        """The schedule of the learning rate, an extension that is called at each update."""
        attr, base = self._shifted
        n = self.n_update(n_example)
        after: AbstractShift = MultistepShift(attr, 0.1, [])  # constant
        if self.schedule == "cosine":
            after = CosineShift(attr, n, target=base * self.final_lr)
        elif self.schedule == "step":
            after = MultistepShift(attr, 0.1, [round(each * n) for each in self.steps])
        elif self.schedule == "poly":
            after = PolynomialShift(attr, 0.9, n)
        warmup = self.resolved(n_example).warmup
        return WarmupShift(attr, 0.01 * base, warmup, then=after) if warmup else after

    @property
    def _shifted(self) -> tuple[str, float]:
        """The hyperparameter that the schedule changes, and its value without one."""
        # AdamW multiplies its steps and its weight decay by eta; the others have a learning rate alone
        return {"adamw": ("eta", 1.0), "adam": ("alpha", self.lr)}.get(self.optimizer, ("lr", self.lr))

    def learning_rates(self, n_example: int, updates: Sequence[int]) -> list[float]:
        """The learning rates of these updates, counted from 0, of a training on n_example images."""
        shift = self.shift(n_example)
        _, base = self._shifted
        shift.init = base
        if isinstance(shift, WarmupShift) and shift.then is not None:
            shift.then.init = base
        return [shift.value(t) / base * self.lr for t in updates]

    @property
    def stop(self) -> tuple[float, str] | EarlyStoppingTrigger:
        """When the training ends, as `Trainer` takes it: after the epochs, or early by `patience`."""
        end = (self.epochs, "epoch")
        if self.patience is None:
            return end
        return EarlyStoppingTrigger((1, "epoch"), self.best, self.patience, "max", max_trigger=end)

    @property
    def n_process(self) -> int:
        """The number of data-loading workers."""
        return min(len(os.sched_getaffinity(0)), 8) if self.processes == "auto" else self.processes

    @property
    def validation_interval(self) -> int:
        """Epochs between validations."""
        return self.validate_every or max(self.epochs // 20, 1)

    def lines(self) -> list[tuple[str, Any]]:
        """(name, value) of all settings, the network's last, for printing."""
        own = [(field.name, getattr(self, field.name)) for field in dataclasses.fields(self)]
        nested = [(name, value) for name, value in own if dataclasses.is_dataclass(value)]
        return [(name, value) for name, value in own if not dataclasses.is_dataclass(value)] + [
            (f"{name}.{field.name}", getattr(value, field.name))
            for name, value in nested
            for field in dataclasses.fields(value)
        ]
