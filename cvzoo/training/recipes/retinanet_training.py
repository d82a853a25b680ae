"""The training of RetinaNet by a recipe."""

import pathlib
from collections.abc import Mapping
from typing import Any, cast

import numpy as np

from cvzoo.datasets.bbox_splits import BboxSplits
from cvzoo.datasets.sliceable.transform_dataset import TransformDataset
from cvzoo.evaluations.evaluators.detection_coco_evaluator import DetectionCOCOEvaluator
from cvzoo.evaluations.evaluators.detection_voc_evaluator import DetectionVOCEvaluator
from cvzoo.geometry.bbox_area import bbox_area
from cvzoo.iterators.serial_iterator import SerialIterator
from cvzoo.links.model.preparation.abstract import MEAN_OF_255, STD_OF_255
from cvzoo.links.model.retinanet.augmentation import RetinaNetTransform, collate_photos
from cvzoo.links.model.retinanet.loss import RetinaNetLoss
from cvzoo.links.model.retinanet.retinanet import RetinaNet
from cvzoo.optimizers.adam_w import AdamW
from cvzoo.optimizers.hooks.gradient_clipping import GradientClipping
from cvzoo.optimizers.selectors import is_vector
from cvzoo.training.extensions.shifts.cosine_shift import CosineShift
from cvzoo.training.extensions.shifts.warmup_shift import WarmupShift
from cvzoo.training.recipes.detection_images import FirstBatchImage, PredictionImages
from cvzoo.training.recipes.retinanet_recipe import RetinaNetRecipe
from cvzoo.training.run.command import Command
from cvzoo.training.run.run import Run
from cvzoo.training.run.run_report import IMAGES
from cvzoo.typing.aliases import FilePath


class RetinaNetTraining:
    """The run, the model and the trainer of a recipe; `training.trainer.run()` trains.

    recipe: the hyperparameters
    splits: the data
    out: the run's folder; resume: resume the run in it
    compile: compile the network, see `Link.compile`; no value changes
    data: fingerprints of the splits by name, if already computed
    command, resume_with: as for Run
    Difficult and crowded objects are ignored in training and evaluation.
    Raises the errors of Run, RetinaNet and the data sets.
    """

    def __init__(
        self,
        recipe: RetinaNetRecipe,
        splits: BboxSplits,
        out: FilePath,
        *,
        resume: bool = False,
        compile: bool = False,
        data: Mapping[str, Any] | None = None,
        command: Command | None = None,
        resume_with: str | None = None,
    ):
        recipe = recipe.resolved(len(splits.train))
        self.recipe, self.splits = recipe, splits
        data = {"train": splits.train, "val": splits.val} if data is None else data
        self.run = Run(
            out, recipe, seed=recipe.seed, data=data, resume=resume, command=command, resume_with=resume_with
        )
        s = recipe.settings
        self.model = RetinaNet(None, recipe.pretrained, label_names=splits.label_names, settings=s)
        self.model.use_preset("evaluate")
        loss = RetinaNetLoss(self.model, box_loss="giou")
        if compile:
            loss.compile(train=True)
        optimizer = AdamW(recipe.lr, weight_decay_rate=recipe.weight_decay, exempt=is_vector).setup(loss)
        optimizer.add_hook(GradientClipping(recipe.clip))
        transform = RetinaNetTransform(recipe.shorts, s.max_size, jitter=recipe.jitter)
        examples = TransformDataset(splits.train, ("img", "bbox", "label", "ignored"), transform)
        images, names = pathlib.Path(self.run.out, IMAGES), splits.label_names
        first = images / "first_batch.jpg"
        converter = FirstBatchImage(collate_photos, first, label_names=names, mean=MEAN_OF_255, std=STD_OF_255)
        end, workers = (recipe.epochs, "epoch"), recipe.processes
        self.trainer = self.run.trainer(
            optimizer, examples, recipe.batch_size, end, converter=converter, n_processes=workers
        )
        cosine = CosineShift("eta", recipe.n_update(len(splits.train)), target=0.01)
        self.trainer.extend(WarmupShift("eta", 0.01, cast(int, recipe.warmup), then=cosine), trigger=(1, "iteration"))
        every = (max(recipe.epochs // 20, 1), "epoch")
        self.trainer.extend(self.evaluator(self.model), name="validation", trigger=every)
        found = images / "predictions.jpg"
        self.trainer.extend(PredictionImages(self.model, splits.val, found, label_names=names, trigger=every))
        print_keys = ("epoch", "iteration", "main/loss", recipe.best, "elapsed_time")
        self.run.extend(self.trainer, self.model, best=recipe.best, print_keys=print_keys)

    def evaluator(self, model: RetinaNet) -> DetectionCOCOEvaluator | DetectionVOCEvaluator:
        """The evaluator on the validation set by the recipe's metric; COCO's areas are those of the boxes."""
        val, label_names = self.splits.val, self.splits.label_names
        if self.recipe.metric == "voc":
            return DetectionVOCEvaluator(_in_order(val), model, label_names=label_names)
        val = TransformDataset(val, ("img", "bbox", "label", "area", "crowded"), _with_area)
        return DetectionCOCOEvaluator(_in_order(val), model, label_names=label_names)


def _in_order(dataset: Any) -> SerialIterator:
    return SerialIterator(dataset, 4, repeat=False, shuffle=False)


def _with_area(example: tuple) -> tuple:
    img, bbox, label, *flags = example
    return img, bbox, label, bbox_area(bbox), flags[0] if flags else np.zeros(len(bbox), bool)
