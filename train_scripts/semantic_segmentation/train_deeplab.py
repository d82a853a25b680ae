"""Train a DeepLab v3 on label maps. Copy this script and edit it: all settings are at its top.

    python train_scripts/semantic_segmentation/train_deeplab.py --data voc:ROOT --out runs/deeplab [--resume]

--data is voc[:ROOT], cityscapes:ROOT, ade20k[:ROOT] or camvid[:ROOT].
Source of the recipe: Chen et al., "Rethinking Atrous Convolution for Semantic Image Segmentation", 2017, which reached
a mIoU of 0.772 on VOC 2012 val with 101 layers and 10,582 images (VOC's own are 1,464). Where we differ: stride 8
instead of 16 while training, dilations of 12, 24 and 36, and an auxiliary head, as torchvision's network has them.
"""

import dataclasses
from typing import Any

from cvzoo import optimizers, training
from cvzoo.datasets import TransformDataset
from cvzoo.datasets.label_map_splits import label_map_splits
from cvzoo.evaluations import SemanticSegmentationEvaluator
from cvzoo.iterators import SerialIterator
from cvzoo.links.model.deeplab.deeplab_v3 import DeepLabV3
from cvzoo.links.model.dense_backbone import Backbone
from cvzoo.links.model.label_map_transform import LabelMapTransform, ResizeExamples
from cvzoo.links.model.pixelwise_softmax_classifier import PixelwiseSoftmaxClassifier
from cvzoo.training import extensions


@dataclasses.dataclass(frozen=True)
class Recipe:
    data: str
    backbone: Backbone = "resnet101"
    weights: str | None = "imagenet"  # of the backbone
    iterations: int = 30_000
    batch_size: int = 16
    lr: float = 7e-3
    power: float = 0.9  # of the polynomial learning rate decay
    weight_decay: float = 1e-4
    aux_weight: float = 0.4
    width: float = 1.0
    crop: tuple[int, int] = (513, 513)
    scale_range: tuple[float, float] = (0.5, 2.0)
    size: tuple[int, int] | None = None  # (H, W) that images are resized to; None: not resized
    validate_every: int = 2_000
    log_every: int = 50


# A narrow network that overfits small frames
SMOKE: dict[str, Any] = {"backbone": "resnet18", "weights": None, "iterations": 200, "batch_size": 2, "lr": 0.1}
SMOKE |= {"width": 0.25, "crop": (161, 209), "scale_range": (1.0, 1.0), "size": (161, 209), "validate_every": 200}
SMOKE |= {"weight_decay": 0.0, "log_every": 20}


def main(data: str, out: str, resume: bool = False, smoke: bool = False) -> None:
    recipe = Recipe(data, **(SMOKE if smoke else {}))
    train, val, label_names = label_map_splits(data)
    train, val = (train.slice[:8], train.slice[:8]) if smoke else (train, val)
    run = training.Run(out, recipe, data={"train": train, "val": val}, resume=resume)
    train, val = (TransformDataset(each, ("img", "label"), ResizeExamples(recipe.size)) for each in (train, val))

    short = min(recipe.crop)
    model = DeepLabV3(recipe.backbone, None, recipe.weights, label_names=label_names, width=recipe.width, short=short)
    loss = PixelwiseSoftmaxClassifier(model, aux_weight=recipe.aux_weight)
    optimizer = optimizers.MomentumSGD(recipe.lr).setup(loss)
    optimizer.add_hook(optimizers.WeightDecay(recipe.weight_decay))

    transform = LabelMapTransform(model, recipe.crop, scale_range=recipe.scale_range)
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
    parser = training.script_parser(__doc__, data="voc[:ROOT], cityscapes:ROOT, ade20k[:ROOT] or camvid[:ROOT]")
    main(**vars(parser.parse_args()))
