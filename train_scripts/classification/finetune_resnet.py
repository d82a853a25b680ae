"""Fine-tune a ResNet with ImageNet weights on your own images. Copy this script and edit it.

    python train_scripts/classification/finetune_resnet.py --data folder:ROOT --out runs/mine [--resume]

ROOT has the folders train and val, with one folder per class. The last layer is newly initialized unless the
file has as many classes; the first stages and all batch normalization are frozen, so small batches suffice.
Source of the recipe: Kornblith et al., "Do Better ImageNet Models Transfer Better?", 2019: SGD with Nesterov momentum
and cosine decay, crops and flips. Where we differ: the frozen layers, and smaller batches with a scaled learning rate.
"""

import dataclasses
from typing import Any

from cvzoo import optimizers, training
from cvzoo.datasets import TransformDataset, class_splits
from cvzoo.evaluations import ClassificationEvaluator
from cvzoo.iterators import SerialIterator
from cvzoo.links import Classifier, ImageTransform, ResNet
from cvzoo.training import extensions

COLUMNS = ("epoch", "iteration", "main/loss", "main/accuracy", "validation/main/top1_accuracy", "elapsed_time")


@dataclasses.dataclass(frozen=True)
class Recipe:
    data: str
    weights: str
    n_layer: int = 50
    base_channels: int = 64
    insize: int | None = None  # None: the size that the weights were trained with
    epochs: int = 30
    batch_size: int = 16
    lr: float = 2e-3
    weight_decay: float = 1e-4
    scales: tuple[float, float] = (0.25, 1.0)  # range of the area of random crops, relative to the image's
    jitter: float = 0.2
    validate_every: int = 1  # epochs


# The narrow network that `train_resnet.py --smoke` saves
SMOKE: dict[str, Any] = {"n_layer": 10, "base_channels": 8, "insize": 64, "epochs": 100, "batch_size": 4, "lr": 0.03}
SMOKE |= {"scales": (0.7, 1.0), "jitter": 0.1, "validate_every": 20}


def main(data: str, out: str, weights: str, resume: bool = False, smoke: bool = False) -> None:
    recipe = Recipe(data, weights, **(SMOKE if smoke else {}))
    train, val, label_names = class_splits(data)
    run = training.Run(out, recipe, data={"train": train, "val": val}, resume=resume)

    model = ResNet(
        recipe.n_layer,
        len(label_names),
        weights,
        label_names=label_names,
        base_channels=recipe.base_channels,
        insize=recipe.insize,
        norm="frozen",
    )
    model.extractor.conv1.disable_update()
    model.extractor.res2.disable_update()
    optimizer = optimizers.NesterovAG(recipe.lr, 0.9).setup(Classifier(model))
    optimizer.add_hook(optimizers.WeightDecay(recipe.weight_decay))

    transform = ImageTransform(model.preparation, scale_ratio_range=recipe.scales, jitter=recipe.jitter, lighting=0.0)
    examples = TransformDataset(train, ("img", "label"), transform)
    trainer = run.trainer(optimizer, examples, recipe.batch_size, (recipe.epochs, "epoch"))
    updates = recipe.epochs * len(train) / recipe.batch_size
    trainer.extend(extensions.CosineShift("lr", updates), trigger=(1, "iteration"))
    unseen = SerialIterator(val, recipe.batch_size, repeat=False, shuffle=False)
    evaluator = ClassificationEvaluator(unseen, model, label_names=label_names)
    trainer.extend(evaluator, name="validation", trigger=(recipe.validate_every, "epoch"))
    every = (recipe.validate_every, "epoch")
    run.extend(trainer, model, best="validation/main/top1_accuracy", print_keys=COLUMNS, log=every, save=every)
    trainer.run()


if __name__ == "__main__":
    parser = training.script_parser(__doc__, data="folder:ROOT, cifar10[:DIR], cifar100[:DIR] or mnist[:DIR]")
    parser.add_argument(
        "--weights", default="imagenet", help="pretrained weights: a name or a file (default: %(default)s)"
    )
    main(**vars(parser.parse_args()))
