"""The training by a recipe: run, model, loss, optimizer, trainer and extensions, of any family."""

import math
import pathlib
from collections.abc import Mapping
from typing import Any, NamedTuple

from cvzoo.datasets.sliceable.abstract import AbstractSliceableDataset
from cvzoo.datasets.sliceable.sub_dataset import SubDataset
from cvzoo.distributed.batch_normalization import create_mnbn_model
from cvzoo.distributed.communicator import AbstractCommunicator
from cvzoo.distributed.create_multi_node_evaluator import create_multi_node_evaluator
from cvzoo.distributed.scatter_dataset import scatter_dataset
from cvzoo.errors.exceptions import ConfigError
from cvzoo.evaluations.evaluators.abstract import AbstractEvaluator
from cvzoo.iterators.serial_iterator import SerialIterator
from cvzoo.links.link import Link
from cvzoo.training.extensions.averaged import Averaged
from cvzoo.training.extensions.evaluator import Evaluator
from cvzoo.training.recipes.check_labels import check_labels
from cvzoo.training.recipes.images import FirstBatchImage, PredictionImages
from cvzoo.training.recipes.layers import apply_layers
from cvzoo.training.recipes.recipe import AbstractRecipe, Splits
from cvzoo.training.run.anchor_reach import anchor_reach, write_anchor_reach
from cvzoo.training.run.command import Command
from cvzoo.training.run.run import Run
from cvzoo.training.run.run_report import IMAGES
from cvzoo.training.trainer import Trainer
from cvzoo.training.triggers.abstract import AbstractTrigger, TriggerLike
from cvzoo.typing.aliases import FilePath

SAMPLES = "samples"  # the folder of predictions by epoch
_EARLY = 10  # iterations
_EARLY_SECONDS = 15.0  # of iterations that take longer, and for the images that are drawn then
_LOSS_IMAGES = 200  # of the validation set, for its loss


class _Part(NamedTuple):
    """Splits of which a rank validates a part."""

    train: AbstractSliceableDataset
    val: AbstractSliceableDataset
    label_names: tuple[str, ...]


class Training:
    """The run, the model and the trainer of a recipe; `training.trainer.run()` trains.

    recipe: the settings
    splits: the data; None: those that the recipe names, after `check_labels`
    out: the run's folder; resume: resume the run in it
    compile: compile the network, see `Link.compile`; sums may be in another order, which changes last bits
    data: fingerprints of the splits by name, if already computed
    command, resume_with, comm: as for Run; on several ranks, batch normalization is over the whole batch, too
    Raises the errors of Run, of the network and of the data sets.
    """

    def __init__(
        self,
        recipe: AbstractRecipe,
        splits: Splits | None,
        out: FilePath,
        *,
        resume: bool = False,
        compile: bool = False,
        data: Mapping[str, Any] | None = None,
        command: Command | None = None,
        resume_with: str | None = None,
        comm: AbstractCommunicator | None = None,
    ):
        if splits is None and not recipe.data:
            raise ConfigError("the recipe names no data", hint='data="voc:ROOT", or what its task reads')
        if splits is None:
            splits = recipe.splits()
            check_labels(splits)
        recipe = recipe.with_splits(splits).resolved(len(splits.train))
        self.recipe, self.splits = recipe, splits
        data = {"train": splits.train, "val": splits.val} if data is None else data
        self.run = Run(
            out, recipe, seed=recipe.seed, data=data, resume=resume, command=command, resume_with=resume_with, comm=comm
        )
        with self.run.removed_on_error():
            self._prepare(compile)

    def _prepare(self, compile: bool) -> None:
        recipe, splits = self.recipe, self.splits
        comm = self.run.comm
        self.model = recipe.build_model(splits.label_names)
        if comm.size > 1:
            self.model = create_mnbn_model(self.model, comm)
        recipe.for_validation(self.model)
        loss = recipe.build_loss(self.model, splits)
        if compile:
            loss.compile(train=True)
        optimizer = recipe.build_optimizer(loss)
        self.average = apply_layers(recipe, optimizer, self.model)
        examples = recipe.examples(splits.train, self.model)
        converter = FirstBatchImage(
            recipe.converter,
            pathlib.Path(self.run.out, IMAGES, "first_batch.jpg"),
            lambda example: recipe.draw_example(example, self.model, splits.label_names),
        )
        self.trainer = self.run.trainer(
            optimizer,
            examples,
            recipe.batch_size,
            recipe.stop,
            converter=converter if comm.rank == 0 else recipe.converter,
            n_processes=recipe.n_process,
            order_sampler=recipe.order_sampler(splits.train),
        )
        self._extend(loss)
        anchors = recipe.anchors(self.model)
        if anchors is not None and not self.run.resume and comm.rank == 0:
            boxed = recipe.boxed_examples(splits.train, self.model)
            reach = anchor_reach(boxed, anchors, label_names=splits.label_names)
            write_anchor_reach(self.run.out, reach)

    def _extend(self, loss: Link) -> None:
        recipe, trainer = self.recipe, self.trainer
        trainer.extend(recipe.shift(len(self.splits.train)), trigger=(1, "iteration"))
        every = (recipe.validation_interval, "epoch")
        trainer.extend(Averaged(self._scores(), self.average), name="validation", trigger=every)
        trainer.extend(Averaged(self._validation_loss(loss), self.average), name="validation_loss", trigger=every)
        if self.run.comm.rank == 0:
            trainer.extend(Averaged(self._predictions(every), self.average), trigger=every)
            # the first epoch may take an hour: the report has predictions within a minute
            early = self._predictions(_Early(every[0]), _EARLY_SECONDS)
            trainer.extend(Averaged(early, self.average), name="early_prediction_images", trigger=early.trigger)
        plot_keys = ("main/loss", "validation_loss/main/loss")
        self.run.extend(
            trainer,
            self.model,
            best=recipe.best,
            print_keys=recipe.columns,
            plot_keys=plot_keys,
            average=self.average,
        )

    def _scores(self) -> AbstractEvaluator:
        """The evaluator of the validation set, of which each rank predicts a part."""
        comm = self.run.comm
        if comm.size == 1:
            return self.recipe.evaluator(self.model, self.splits)
        val = scatter_dataset(self.splits.val, comm, force_equal_length=False)
        part = _Part(self.splits.train, val, self.splits.label_names)
        return create_multi_node_evaluator(self.recipe.evaluator(self.model, part), comm)

    def _predictions(self, trigger: TriggerLike, seconds: float = math.inf) -> PredictionImages:
        """Draws what the model predicts on images of the validation set, within about that time."""
        names = self.splits.label_names
        return PredictionImages(
            self.splits.val,
            pathlib.Path(self.run.out, IMAGES, "predictions.jpg"),
            lambda example: self.recipe.draw_prediction(self.model, example, names),
            trigger=trigger,
            seconds=seconds,
            samples=pathlib.Path(self.run.out, SAMPLES),
        )

    def _validation_loss(self, loss: Link) -> Evaluator:
        """The loss by component on validation images, augmented as the training's are, and alike in each validation."""
        examples = self.recipe.unmixed().examples(self.splits.val, self.model)
        some: AbstractSliceableDataset = SubDataset(examples, 0, min(len(examples), _LOSS_IMAGES))
        comm = self.run.comm
        if comm.size > 1:
            some = scatter_dataset(some, comm, force_equal_length=False)
        batch_size = max(1, self.recipe.batch_size // comm.size)
        iterator = SerialIterator(some, batch_size, repeat=False, shuffle=False, seed=0)
        evaluator = Evaluator(iterator, loss, converter=self.recipe.converter)
        if comm.size > 1:
            create_multi_node_evaluator(evaluator, comm)
        return evaluator


class _Early(AbstractTrigger):
    """Fires once: after ten iterations, or fewer slow ones, unless the validation of epoch `n_epoch` comes sooner."""

    def __init__(self, n_epoch: int):
        self._n_epoch = n_epoch
        self._is_over = False

    def __call__(self, trainer: Trainer) -> bool:
        if self._is_over:
            return False
        updater = trainer.updater
        is_late = updater.iteration > _EARLY or updater.epoch >= self._n_epoch
        is_due = updater.iteration == _EARLY or trainer.elapsed_time > _EARLY_SECONDS
        self._is_over = is_late or is_due
        return is_due and not is_late


RetinaNetTraining = Training  # its name when only RetinaNet had a recipe
