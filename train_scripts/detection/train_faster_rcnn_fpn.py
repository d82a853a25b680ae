"""Train a Faster R-CNN on a pyramid on boxes of your own. Copy this script and edit it: all settings are at its top.

    python train_scripts/detection/train_faster_rcnn_fpn.py --data coco:TRAIN.json,VAL.json --out runs/mine [--resume]
    python train_scripts/detection/train_faster_rcnn_fpn.py --data coco:TINY.json,TINY.json --out runs/try --smoke

Source of the recipe: Lin et al., "Feature Pyramid Networks", 2017, with Detectron's schedule of 90,000 batches of 16
(an AP of 0.367 to 0.379 on COCO val2017). Where we differ: two images per batch, as many examples,
and a scaled learning rate.
"""

import dataclasses
from typing import Any

from cvzoo import optimizers, training
from cvzoo.datasets import TransformDataset, bbox_splits
from cvzoo.evaluations import DetectionVOCEvaluator
from cvzoo.iterators import SerialIterator
from cvzoo.links import (
    FasterRCNNFPN,
    FasterRCNNFPNLoss,
    FasterRCNNFPNSettings,
    RegionSampling,
    RetinaNetTransform,
    collate_images,
)
from cvzoo.training import extensions


@dataclasses.dataclass(frozen=True)
class Recipe:
    data: str
    weights: str | None = "imagenet"
    iterations: int = 720_000
    steps: tuple[int, ...] = (480_000, 640_000)  # the learning rate is divided by ten after these
    warmup: int = 4_000
    batch_size: int = 2
    lr: float = 2.5e-3
    weight_decay: float = 1e-4
    frozen: tuple[str, ...] = ("/model/regions/extractor/conv1", "/model/regions/extractor/res2")  # as ImageNet's
    model: FasterRCNNFPNSettings = FasterRCNNFPNSettings(norm="frozen", bn_eps=1e-5)  # noqa: RUF009, it is frozen
    sampling: RegionSampling = RegionSampling()  # noqa: RUF009
    flip: bool = True
    validate_every: int = 40_000
    log_every: int = 100


# A narrow network that overfits eight images of large objects
SMOKE_IMAGES = [1, 6, 10, 12, 14, 22, 30, 35]
TINY: dict[str, Any] = {"n_layer": 10, "base_channels": 16, "channels": 32, "head_width": 64, "n_proposal": 100}
TINY |= {"min_size": 96, "max_size": 160, "antialias": True, "anchor_sizes": ((16,), (32,), (64,), (128,), (256,))}
SMOKE: dict[str, Any] = {"weights": None, "iterations": 240, "steps": (190,), "warmup": 10, "batch_size": 4}
SMOKE |= {"lr": 2e-3, "frozen": ()}
SMOKE |= {"model": FasterRCNNFPNSettings(**TINY), "flip": False, "validate_every": 240, "log_every": 20}
SMOKE |= {"sampling": RegionSampling(n_anchor=128, n_region=64, region_share=0.5, n_proposal=200)}


def main(data: str, out: str, resume: bool = False, smoke: bool = False) -> None:
    recipe = Recipe(data, **(SMOKE if smoke else {}))
    train, val, label_names = bbox_splits(data)
    train, val = (train.slice[SMOKE_IMAGES], train.slice[SMOKE_IMAGES]) if smoke else (train, val)
    run = training.Run(out, recipe, data={"train": train, "val": val}, resume=resume)

    s = recipe.model
    model = FasterRCNNFPN(None, recipe.weights, label_names=label_names, settings=s)
    model.use_preset("evaluate")
    loss = FasterRCNNFPNLoss(model, sampling=recipe.sampling)
    optimizer = (optimizers.Adam(recipe.lr) if smoke else optimizers.MomentumSGD(recipe.lr)).setup(loss)
    optimizer.add_hook(optimizers.WeightDecay(0 if smoke else recipe.weight_decay))
    optimizer.add_hook(optimizers.Freeze(optimizers.named(*recipe.frozen)))

    transform = RetinaNetTransform((s.min_size,), s.max_size, flip=recipe.flip, mean=s.mean, std=s.std)
    examples = TransformDataset(train, ("img", "bbox", "label", "ignored"), transform)
    end = (recipe.iterations, "iteration")
    trainer = run.trainer(optimizer, examples, recipe.batch_size, end, converter=collate_images)
    steps = extensions.MultistepShift(rate := "alpha" if smoke else "lr", 0.1, list(recipe.steps), recipe.lr)
    trainer.extend(extensions.WarmupShift(rate, recipe.lr / 3, recipe.warmup, then=steps), trigger=(1, "iteration"))
    unseen = SerialIterator(val, 4, repeat=False, shuffle=False)
    evaluator = DetectionVOCEvaluator(unseen, model, label_names=label_names)
    trainer.extend(evaluator, name="validation", trigger=(recipe.validate_every, "iteration"))
    log, save = (recipe.log_every, "iteration"), (recipe.validate_every, "iteration")
    run.extend(trainer, model, best="validation/main/map", log=log, save=save)
    trainer.run()


if __name__ == "__main__":
    parser = training.script_parser(__doc__, data="voc:ROOT, coco:TRAIN.json,VAL.json or yolo:ROOT")
    main(**vars(parser.parse_args()))
