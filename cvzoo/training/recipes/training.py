"""The training by a recipe: run, model, loss, optimizer, trainer and extensions, of any family."""

import pathlib
from collections.abc import Mapping
from typing import Any

from cvzoo.datasets.sliceable.sub_dataset import SubDataset
from cvzoo.errors.exceptions import ConfigError
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
from cvzoo.typing.aliases import FilePath

_EARLY = 10  # iterations
_LOSS_IMAGES = 200  # of the validation set, for its loss


class Training:
    """The run, the model and the trainer of a recipe; `training.trainer.run()` trains.

    recipe: the settings
    splits: the data; None: those that the recipe names, after `check_labels`
    out: the run's folder; resume: resume the run in it
    compile: compile the network, see `Link.compile`; sums may be in another order, which changes last bits
    data: fingerprints of the splits by name, if already computed
    command, resume_with: as for Run
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
            out, recipe, seed=recipe.seed, data=data, resume=resume, command=command, resume_with=resume_with
        )
        with self.run.removed_on_error():
            self._prepare(compile)

    def _prepare(self, compile: bool) -> None:
        recipe, splits = self.recipe, self.splits
        self.model = recipe.build_model(splits.label_names)
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
            converter=converter,
            n_processes=recipe.n_process,
            order_sampler=recipe.order_sampler(splits.train),
        )
        self._extend(loss)
        anchors = recipe.anchors(self.model)
        if anchors is not None and not self.run.resume:
            boxed = recipe.boxed_examples(splits.train, self.model)
            reach = anchor_reach(boxed, anchors, label_names=splits.label_names)
            write_anchor_reach(self.run.out, reach)

    def _extend(self, loss: Link) -> None:
        recipe, trainer = self.recipe, self.trainer
        trainer.extend(recipe.shift(len(self.splits.train)), trigger=(1, "iteration"))
        every = (recipe.validation_interval, "epoch")
        trainer.extend(
            Averaged(recipe.evaluator(self.model, self.splits), self.average), name="validation", trigger=every
        )
        trainer.extend(Averaged(self._validation_loss(loss), self.average), name="validation_loss", trigger=every)
        predictions = PredictionImages(
            self.splits.val,
            pathlib.Path(self.run.out, IMAGES, "predictions.jpg"),
            lambda example: recipe.draw_prediction(self.model, example, self.splits.label_names),
            trigger=every,
        )
        trainer.extend(Averaged(predictions, self.average), trigger=every)
        # the first epoch may take an hour: the report has predictions within a minute
        early = Averaged(predictions, self.average)
        trainer.extend(early, name="early_prediction_images", trigger=lambda trainer: _is_early(trainer, every[0]))
        plot_keys = ("main/loss", "validation_loss/main/loss")
        self.run.extend(
            trainer,
            self.model,
            best=recipe.best,
            print_keys=recipe.columns,
            plot_keys=plot_keys,
            average=self.average,
        )

    def _validation_loss(self, loss: Link) -> Evaluator:
        """The loss by component on validation images, augmented as the training's are, and alike in each validation."""
        examples = self.recipe.unmixed().examples(self.splits.val, self.model)
        some = SubDataset(examples, 0, min(len(examples), _LOSS_IMAGES))
        iterator = SerialIterator(some, self.recipe.batch_size, repeat=False, shuffle=False, seed=0)
        return Evaluator(iterator, loss, converter=self.recipe.converter)


def _is_early(trainer: Trainer, n_epoch: int) -> bool:
    """After ten iterations, unless the validation comes sooner."""
    updater = trainer.updater
    return updater.iteration == _EARLY and updater.epoch < n_epoch


RetinaNetTraining = Training  # its name when only RetinaNet had a recipe
