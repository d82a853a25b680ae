"""Train a ResNet for image classification. Copy this script and edit it: all settings are at its top.

    python train_scripts/classification/train_resnet.py --data folder:ROOT --out runs/resnet50 [--resume]
    python train_scripts/classification/train_resnet.py --data folder:ROOT --out runs/try --smoke

ROOT has the folders train and val, with one folder per class, as ImageNet's.
Source of the recipe: Goyal et al., "Accurate, Large Minibatch SGD: Training ImageNet in 1 Hour", 2017, and ChainerCV's
script, which reached a top-1 error of 23.5 % on ImageNet's validation images with 50 layers, 22.1 % with 101 and 21.7 %
with 152. Where we differ: color jitter is the paper's, not the script's; the batch size is for one machine, and
the learning rate is scaled accordingly.
"""

import dataclasses
from typing import Any

from cvzoo import initializers, optimizers, training
from cvzoo.datasets import TransformDataset, class_splits
from cvzoo.evaluations import ClassificationEvaluator
from cvzoo.iterators import SerialIterator
from cvzoo.links import Classifier, ImageTransform, ResNet, zero_last_gamma
from cvzoo.training import extensions


@dataclasses.dataclass(frozen=True)
class Recipe:
    data: str
    n_layer: int = 50
    base_channels: int = 64
    insize: int = 224  # validation: center crop of an image whose short side is 8/7 of it
    epochs: int = 90
    steps: tuple[int, ...] = (30, 60, 80)  # epochs, after which the learning rate is divided by ten
    warmup: int = 5  # epochs, from a learning rate of 0.1, if that is lower
    batch_size: int = 32
    lr: float = 0.1  # for a batch of 256 images
    momentum: float = 0.9
    weight_decay: float = 1e-4
    scales: tuple[float, float] = (0.08, 1.0)  # range of the area of random crops, relative to the image's
    jitter: float = 0.4
    lighting: float = 25.5
    validate_every: int = 1  # epochs


# A narrow network that overfits eight images
SMOKE: dict[str, Any] = {"n_layer": 10, "base_channels": 8, "insize": 64, "epochs": 200, "steps": (150, 180)}
SMOKE |= {"batch_size": 8, "lr": 1.6, "scales": (0.7, 1.0), "jitter": 0.1, "lighting": 5.0, "validate_every": 40}


def main(data: str, out: str, resume: bool = False, smoke: bool = False) -> None:
    recipe = Recipe(data, **(SMOKE if smoke else {}))
    train, val, label_names = class_splits(data)
    train, val = [train.slice[:: max(1, len(train) // 8)].slice[:8]] * 2 if smoke else (train, val)
    run = training.Run(out, recipe, data={"train": train, "val": val}, resume=resume)

    width = recipe.base_channels
    model = ResNet(recipe.n_layer, label_names=label_names, base_channels=width, insize=recipe.insize)
    zero_last_gamma(model)
    initializers.Normal(0.01)(model.fc.W.array)
    lr = recipe.lr * recipe.batch_size / 256
    optimizer = optimizers.MomentumSGD(lr, recipe.momentum).setup(Classifier(model))
    optimizer.add_hook(optimizers.WeightDecay(recipe.weight_decay, exempt=optimizers.named("gamma", "beta")))

    transform = ImageTransform(
        model.preparation, scale_ratio_range=recipe.scales, jitter=recipe.jitter, lighting=recipe.lighting
    )
    examples = TransformDataset(train, ("img", "label"), transform)
    trainer = run.trainer(optimizer, examples, recipe.batch_size, (recipe.epochs, "epoch"))
    updates = len(train) / recipe.batch_size  # an epoch
    steps = extensions.MultistepShift("lr", 0.1, [round(epoch * updates) for epoch in recipe.steps], lr)
    schedule = extensions.WarmupShift("lr", min(0.1, lr), recipe.warmup * updates, then=steps)
    trainer.extend(schedule, trigger=(1, "iteration"))
    unseen = SerialIterator(val, recipe.batch_size, repeat=False, shuffle=False)
    evaluator = ClassificationEvaluator(unseen, model, n_class=len(label_names))
    trainer.extend(evaluator, name="validation", trigger=(recipe.validate_every, "epoch"))
    every = (recipe.validate_every, "epoch")
    run.extend(trainer, model, best="validation/main/top1_accuracy", log=every, save=every)
    trainer.run()


if __name__ == "__main__":
    parser = training.script_parser(__doc__, data="folder:ROOT, cifar10[:DIR], cifar100[:DIR] or mnist[:DIR]")
    main(**vars(parser.parse_args()))
