"""Train a PSPNet on label maps. Copy this script and edit it: all settings are at its top.

    python train_scripts/semantic_segmentation/train_pspnet.py --data cityscapes:ROOT --out runs/pspnet [--resume]

--data is cityscapes:ROOT, ade20k[:ROOT] (with iterations 150,000 and windows of 473), camvid[:ROOT] or voc[:ROOT].
Source of the recipe: Zhao et al., "Pyramid Scene Parsing Network", 2017, and ChainerCV's script, which reached a mIoU
of 0.740 on Cityscapes' validation frames (0.760 with 101 layers; the paper: 0.769 and 0.779). Where we differ: batches
of 2 on one machine instead of 8 times 2 with synchronized statistics; the learning rate is scaled accordingly.
"""

import dataclasses
from typing import Any

from cvzoo import optimizers, training
from cvzoo.datasets import TransformDataset
from cvzoo.datasets.label_map_splits import label_map_splits
from cvzoo.evaluations import SemanticSegmentationEvaluator
from cvzoo.iterators import SerialIterator
from cvzoo.links.model.label_map_transform import LabelMapTransform, ResizeExamples
from cvzoo.links.model.pixelwise_softmax_classifier import PixelwiseSoftmaxClassifier
from cvzoo.links.model.pspnet.pspnet import PSPNet
from cvzoo.training import extensions

HEADS = ("/predictor/ppm", "/predictor/head_conv", "/predictor/aux_conv")  # ten times the learning rate


@dataclasses.dataclass(frozen=True)
class Recipe:
    data: str
    n_layer: int = 50
    weights: str | None = "imagenet"  # of the backbone
    iterations: int = 8 * 90_000
    batch_size: int = 2
    lr: float = 1e-2 / 8
    heads: float = 10.0
    power: float = 0.9  # of the polynomial learning rate decay
    weight_decay: float = 1e-4
    aux_weight: float = 0.4
    base_channels: int = 64
    window: tuple[int, int] = (713, 713)
    scale_range: tuple[float, float] = (0.5, 2.0)
    angle: float = 10.0
    size: tuple[int, int] | None = None  # (H, W) that images are resized to; None: not resized
    validate_every: int = 20_000
    log_every: int = 100


# A narrow network that overfits small frames
SMOKE: dict[str, Any] = {"n_layer": 10, "weights": None, "iterations": 200, "batch_size": 2, "lr": 0.05}
SMOKE |= {"weight_decay": 0.0, "base_channels": 16, "window": (161, 209), "scale_range": (1.0, 1.0), "angle": 0.0}
SMOKE |= {"heads": 1.0, "size": (161, 209), "validate_every": 200, "log_every": 20}


def main(data: str, out: str, resume: bool = False, smoke: bool = False) -> None:
    recipe = Recipe(data, **(SMOKE if smoke else {}))
    train, val, label_names = label_map_splits(data)
    train, val = (train.slice[:8], train.slice[:8]) if smoke else (train, val)
    run = training.Run(out, recipe, data={"train": train, "val": val}, resume=resume)
    train, val = (TransformDataset(each, ("img", "label"), ResizeExamples(recipe.size)) for each in (train, val))

    model = PSPNet(
        recipe.n_layer,
        None,
        recipe.weights,
        label_names=label_names,
        input_size=recipe.window,
        base_channels=recipe.base_channels,
        aux=True,
    )
    loss = PixelwiseSoftmaxClassifier(model, aux_weight=recipe.aux_weight)
    optimizer = optimizers.MomentumSGD(recipe.lr).setup(loss)
    optimizer.add_hook(optimizers.GradientScaling(recipe.heads, only=lambda path, _: path.startswith(HEADS)))
    optimizer.add_hook(optimizers.WeightDecay(recipe.weight_decay, exempt=optimizers.named("gamma", "beta")))

    transform = LabelMapTransform(model, recipe.window, scale_range=recipe.scale_range, angle=recipe.angle)
    examples = TransformDataset(train, ("img", "label"), transform)
    trainer = run.trainer(optimizer, examples, recipe.batch_size, (recipe.iterations, "iteration"))
    shift = extensions.PolynomialShift("lr", recipe.power, recipe.iterations)
    trainer.extend(shift, trigger=(1, "iteration"))
    unseen = SerialIterator(val, 1, repeat=False, shuffle=False)
    evaluator = SemanticSegmentationEvaluator(unseen, model, label_names=label_names)
    trainer.extend(evaluator, name="validation", trigger=(recipe.validate_every, "iteration"))
    log, save = (recipe.log_every, "iteration"), (recipe.validate_every, "iteration")
    run.extend(trainer, model, best="validation/main/miou", log=log, save=save)
    trainer.run()


if __name__ == "__main__":
    parser = training.script_parser(__doc__, data="cityscapes:ROOT, ade20k[:ROOT], camvid[:ROOT] or voc[:ROOT]")
    main(**vars(parser.parse_args()))
