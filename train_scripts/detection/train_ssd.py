"""Train an SSD300 or SSD512 by the paper's recipe. All settings are at the top: copy the script and edit it.

    python train_scripts/detection/train_ssd.py --data voc:ROOT --out runs/ssd300 [--size 512] [--resume] [--smoke]
    cvzoo predict --model runs/ssd300/best.safetensors image.jpg

Source: Liu et al., "SSD: Single Shot MultiBox Detector", 2016, section 3. Data: the trainval images of Pascal VOC 2007
and 2012; the paper's 11-point mAP at IoU 0.5 on VOC 2007 test: 77.5 (SSD300) and 79.5 (SSD512); ChainerCV's: 77.5 and
80.1. We have not run it in full. --smoke overfits eight images with a small network and Adam.
"""

import dataclasses
from typing import Any

from cvzoo import optimizers, training
from cvzoo.datasets import TransformDataset, bbox_splits
from cvzoo.evaluations import DetectionVOCEvaluator
from cvzoo.iterators import SerialIterator
from cvzoo.links import SSD, SSDLoss, SSDSettings, SSDTransform, collate_multibox
from cvzoo.training import extensions

NETWORKS = {
    300: SSDSettings(),
    512: SSDSettings(
        insize=512,
        extras=("halve", "halve", "halve", "halve", "valid4"),
        sizes=(35.84, 76.8, 153.6, 230.4, 307.2, 384.0, 460.8, 537.6),
        aspect_ratios=((2,), (2, 3), (2, 3), (2, 3), (2, 3), (2,), (2,)),
        steps=(8, 16, 32, 64, 128, 256, 512),
    ),
}
RATIOS = ((2,), (2, 3), (2, 3), (2,), (2,))
SIZES = (10, 24, 44, 68, 92, 116)
SMALL = SSDSettings(insize=128, base_channels=8, extras=("halve",) * 3, sizes=SIZES, aspect_ratios=RATIOS, steps=None)


@dataclasses.dataclass(frozen=True)
class Recipe:
    data: str
    model: SSDSettings
    weights: str | None = "imagenet"  # VGG16 without its last layers
    iterations: int = 120_000
    batch_size: int = 32
    lr: float = 1e-3
    steps: tuple[int, ...] = (80_000, 100_000)  # the learning rate is divided by ten after these
    momentum: float = 0.9
    weight_decay: float = 5e-4  # not of biases, which have twice the learning rate
    negatives: float = 3.0  # background boxes for each box with an object
    augment: bool = True


SMOKE: dict[str, Any] = {"model": SMALL, "weights": None, "iterations": 220, "batch_size": 8, "steps": (150, 200)}
SMOKE |= {"augment": False}


def main(data: str, out: str, size: int = 300, resume: bool = False, smoke: bool = False) -> None:
    recipe = Recipe(data, **SMOKE) if smoke else Recipe(data, NETWORKS[size])
    train, val, label_names = bbox_splits(data)
    if smoke:
        few = [i for i, bbox in enumerate(train.slice[:, "bbox"]) if 0 < len(bbox) < 5]
        train = val = train.slice[few[:8]]
    run = training.Run(out, recipe, data={"train": train, "val": val}, resume=resume)

    model = SSD(None, recipe.weights, label_names=label_names, settings=recipe.model)
    model.use_preset("evaluate")  # validation uses scores above 0.01
    loss = SSDLoss(model, k=recipe.negatives)
    sgd = optimizers.MomentumSGD(recipe.lr, recipe.momentum)
    optimizer = (optimizers.Adam(recipe.lr) if smoke else sgd).setup(loss)
    optimizer.add_hook(optimizers.GradientScaling(2, only=optimizers.named("b")))
    optimizer.add_hook(optimizers.WeightDecay(recipe.weight_decay, exempt=optimizers.named("b")))

    transform = SSDTransform(model.coder, (model.insize, model.insize), mean=model.mean, augment=recipe.augment)
    examples = TransformDataset(train, ("img", "mb_loc", "mb_label"), transform)
    end = (recipe.iterations, "iteration")
    trainer = run.trainer(optimizer, examples, recipe.batch_size, end, converter=collate_multibox)
    trainer.extend(extensions.MultistepShift("alpha" if smoke else "lr", 0.1, recipe.steps), trigger=(1, "iteration"))
    unseen = SerialIterator(val, 8, repeat=False, shuffle=False)
    evaluator = DetectionVOCEvaluator(unseen, model, use_07_metric=True, label_names=label_names)
    trainer.extend(evaluator, name="validation", trigger=(recipe.iterations // (1 if smoke else 10), "iteration"))
    run.extend(trainer, model, best="validation/main/map")
    trainer.run()


if __name__ == "__main__":
    parser = training.script_parser(__doc__, data="voc:ROOT, coco:TRAIN.json,VAL.json or yolo:ROOT")
    parser.add_argument("--size", type=int, default=300, choices=(300, 512), help="of the network's input")
    main(**vars(parser.parse_args()))
