"""Train a YOLOv3 by its authors' recipe. All settings are at the top: copy the script and edit it.

    python train_scripts/detection/train_yolov3.py --data coco:TRAIN.json,VAL.json --out runs/yolo [--resume] [--smoke]
    cvzoo predict --model runs/yolo/best.safetensors image.jpg

Source: Redmon and Farhadi, "YOLOv3: An Incremental Improvement", 2018, and darknet's yolov3.cfg. Data: COCO 2014
trainval without 5,000 images, which reached AP50 55.3 at 416, AP 33.0 and AP50 57.9 at 608. Not run in full by us.
Where we differ: augmentation (see `YOLOTransform`); batches are resized from the largest size. --smoke overfits
eight images with a small network and Adam.
"""

import dataclasses
from typing import Any

from cvzoo import optimizers, training
from cvzoo.datasets import TransformDataset, bbox_splits
from cvzoo.evaluations import DetectionVOCEvaluator
from cvzoo.iterators import SerialIterator
from cvzoo.links import YOLOLoss, YOLOTransform, YOLOv3, collate_images
from cvzoo.training import extensions

# (height, width) of anchors, pixels, the coarsest grid first: for 416 x 416, and for 128 x 128 of --smoke
ANCHORS = (((90, 116), (198, 156), (326, 373)), ((61, 30), (45, 62), (119, 59)), ((13, 10), (30, 16), (23, 33)))
SMALL = (((60, 70), (110, 60), (110, 110)), ((30, 20), (30, 50), (60, 35)), ((6, 6), (14, 10), (14, 20)))


@dataclasses.dataclass(frozen=True)
class Recipe:
    data: str
    weights: str | None = "imagenet"  # Darknet-53
    iterations: int = 500_200
    batch_size: int = 64
    lr: float = 1e-3
    warmup: int = 1000
    steps: tuple[int, ...] = (400_000, 450_000)  # the learning rate is divided by ten after these
    momentum: float = 0.9
    weight_decay: float = 5e-4
    sizes: tuple[int, ...] | None = tuple(range(320, 609, 32))
    ignore_thresh: float = 0.7
    insize: int = 416  # for inference
    base_channels: int = 32
    blocks: tuple[int, int, int, int, int] = (1, 2, 8, 8, 4)
    anchors: tuple = ANCHORS
    augment: bool = True


NETWORK: dict[str, Any] = {
    "insize": 128,
    "base_channels": 8,
    "blocks": (1, 1, 1, 1, 1),
    "anchors": SMALL,
    "weights": None,
}
STEPS: dict[str, Any] = {"iterations": 200, "batch_size": 8, "lr": 1e-2, "warmup": 10, "steps": (150, 180)}
SMOKE = {**NETWORK, **STEPS, "sizes": None, "augment": False}


def main(data: str, out: str, resume: bool = False, smoke: bool = False) -> None:
    recipe = Recipe(data, **(SMOKE if smoke else {}))
    train, val, label_names = bbox_splits(data)
    if smoke:
        few = [i for i, bbox in enumerate(train.slice[:, "bbox"]) if 0 < len(bbox) < 5]
        train = val = train.slice[few[:8]]
    run = training.Run(out, recipe, data={"train": train, "val": val}, resume=resume)

    shape: dict[str, Any] = {"base_channels": recipe.base_channels, "blocks": recipe.blocks, "anchors": recipe.anchors}
    model = YOLOv3(None, recipe.weights, label_names=label_names, insize=recipe.insize, **shape)
    model.use_preset("evaluate")  # validation uses scores above 0.005
    loss = YOLOLoss(model, ignore_thresh=recipe.ignore_thresh, sizes=recipe.sizes, seed=run.seed)
    sgd = optimizers.MomentumSGD(recipe.lr, recipe.momentum)
    optimizer = (optimizers.Adam(recipe.lr) if smoke else sgd).setup(loss)
    optimizer.add_hook(optimizers.WeightDecay(recipe.weight_decay, exempt=optimizers.is_vector))

    side = max(recipe.sizes or (recipe.insize,))
    transform = YOLOTransform((side, side), augment=recipe.augment)
    examples = TransformDataset(train, ("img", "bbox", "label", "ignored"), transform)
    end = (recipe.iterations, "iteration")
    trainer = run.trainer(optimizer, examples, recipe.batch_size, end, converter=collate_images)
    steps = extensions.MultistepShift("alpha" if smoke else "lr", 0.1, recipe.steps)
    trainer.extend(extensions.WarmupShift(steps.attr, 0.01, recipe.warmup, then=steps), trigger=(1, "iteration"))
    unseen = SerialIterator(val, 8, repeat=False, shuffle=False)
    evaluator = DetectionVOCEvaluator(unseen, model, label_names=label_names)
    trainer.extend(evaluator, name="validation", trigger=(recipe.iterations // (1 if smoke else 10), "iteration"))
    run.extend(trainer, model, best="validation/main/map")
    trainer.run()


if __name__ == "__main__":
    parser = training.script_parser(__doc__, data="coco:TRAIN.json,VAL.json, voc:ROOT or yolo:ROOT")
    main(**vars(parser.parse_args()))
