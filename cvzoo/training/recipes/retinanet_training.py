"""A training of RetinaNet put together."""

import os
from typing import Any

import numpy as np

from cvzoo.datasets.bbox_splits import BboxSplits
from cvzoo.datasets.sliceable.transform_dataset import TransformDataset
from cvzoo.evaluations.evaluators.detection_coco_evaluator import DetectionCOCOEvaluator
from cvzoo.evaluations.evaluators.detection_voc_evaluator import DetectionVOCEvaluator
from cvzoo.geometry.bbox_area import bbox_area
from cvzoo.iterators.multiprocess_iterator import MultiprocessIterator
from cvzoo.iterators.serial_iterator import SerialIterator
from cvzoo.links.model.retinanet.augmentation import RetinaNetTransform
from cvzoo.links.model.retinanet.collate import collate_photos
from cvzoo.links.model.retinanet.loss import RetinaNetLoss
from cvzoo.links.model.retinanet.retinanet import RetinaNet
from cvzoo.optimizers.adam_w import AdamW
from cvzoo.optimizers.hooks.gradient_clipping import GradientClipping
from cvzoo.optimizers.selectors import is_vector
from cvzoo.training.extensions.shifts.cosine_shift import CosineShift
from cvzoo.training.extensions.shifts.warmup_shift import WarmupShift
from cvzoo.training.recipes.retinanet_recipe import RetinaNetRecipe
from cvzoo.training.run.run import Run
from cvzoo.training.trainer import Trainer
from cvzoo.training.updaters.standard_updater import StandardUpdater

BEST = "validation/main/map"


class RetinaNetTraining:
    """The run, the model and the trainer of a recipe; `training.trainer.run()` trains.

    recipe: the numbers
    splits: the data
    out: the run's folder; resume: go on with the run in it
    compile: replay the network's passes as graphs, see `Link.compile`; no number changes
    Objects flagged as difficult or crowded are neither learned nor counted.
    Raises what Run, RetinaNet and the data sets raise.
    """

    def __init__(
        self,
        recipe: RetinaNetRecipe,
        splits: BboxSplits,
        out: str | os.PathLike,
        *,
        resume: bool = False,
        compile: bool = False,
    ):
        self.recipe, self.splits = recipe, splits
        data = {"train": splits.train, "val": splits.val}
        self.run = Run(out, recipe, seed=recipe.seed, data=data, resume=resume)
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
        iterator = MultiprocessIterator(examples, recipe.batch_size, n_processes=recipe.processes, seed=recipe.seed)
        updater = StandardUpdater(iterator, optimizer, converter=collate_photos)
        self.trainer = Trainer(updater, (recipe.epochs, "epoch"), out=self.run.out)
        steps = -(-recipe.epochs * len(splits.train) // recipe.batch_size)
        shift = WarmupShift("eta", 0.01, min(recipe.warmup, steps), then=CosineShift("eta", steps, target=0.01))
        self.trainer.extend(shift, trigger=(1, "iteration"))
        evaluator = DetectionVOCEvaluator(_in_order(splits.val), self.model, label_names=splits.label_names)
        self.trainer.extend(evaluator, name="validation", trigger=(max(recipe.epochs // 20, 1), "epoch"))
        self.run.extend(
            self.trainer, self.model, best=BEST, print_keys=("epoch", "iteration", "main/loss", BEST, "elapsed_time")
        )

    def coco_evaluator(self, model: RetinaNet) -> DetectionCOCOEvaluator:
        """COCO's scores of a model on the validation photos, when called; areas are those of the boxes."""
        names = ("img", "bbox", "label", "area", "crowded")
        val = TransformDataset(self.splits.val, names, _with_area)
        return DetectionCOCOEvaluator(_in_order(val), model, label_names=self.splits.label_names)


def _in_order(dataset: Any) -> SerialIterator:
    return SerialIterator(dataset, 4, repeat=False, shuffle=False)


def _with_area(example: tuple) -> tuple:
    img, bbox, label, *flags = example
    return img, bbox, label, bbox_area(bbox), flags[0] if flags else np.zeros(len(bbox), bool)
