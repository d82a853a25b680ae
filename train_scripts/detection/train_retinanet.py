"""Train a RetinaNet on boxes of your own. Copy this script and edit it: all settings are at its top.

    python train_scripts/detection/train_retinanet.py --data voc:ROOT --out runs/mine [--resume] [--smoke]
    cvzoo predict --model runs/mine/best.safetensors image.jpg

Source of the method: Lin et al., "Focal Loss for Dense Object Detection", 2017. Where we differ: a ResNet-18 of half
the width from random weights with trained batch normalization, AdamW with cosine decay, the GIoU loss for boxes.
"""

import dataclasses
from typing import Any

from cvzoo import optimizers, training
from cvzoo.datasets import TransformDataset, bbox_splits
from cvzoo.evaluations import DetectionVOCEvaluator
from cvzoo.iterators import SerialIterator
from cvzoo.links import RetinaNet, RetinaNetLoss, RetinaNetSettings, RetinaNetTransform, collate_images
from cvzoo.training import extensions

NETWORK = RetinaNetSettings(n_layer=18, base_channels=32, channels=64, head_depth=2, min_size=480, max_size=672)


@dataclasses.dataclass(frozen=True)
class Recipe:
    data: str
    epochs: int = 60
    batch_size: int = 4
    lr: float = 1e-3
    weight_decay: float = 5e-5
    warmup: int = 200  # updates
    shorts: tuple[int, ...] = (384, 416, 448, 480)  # short sides in training; the last one is for inference
    long: int = 672
    model: RetinaNetSettings = NETWORK


SMOKE: dict[str, Any] = {"epochs": 1, "shorts": (96,), "long": 128}


def main(data: str, out: str, resume: bool = False, smoke: bool = False) -> None:
    recipe = Recipe(data, **(SMOKE if smoke else {}))
    train, val, label_names = bbox_splits(data)
    train, val = (train.slice[:16], val.slice[:8]) if smoke else (train, val)
    run = training.Run(out, recipe, data={"train": train, "val": val}, resume=resume)

    model = RetinaNet(label_names=label_names, settings=recipe.model)
    model.use_preset("evaluate")  # validation uses scores above 0.05
    loss = RetinaNetLoss(model, box_loss="giou")
    adam = optimizers.AdamW(recipe.lr, weight_decay_rate=recipe.weight_decay, exempt=optimizers.is_vector)
    optimizer = adam.setup(loss)
    optimizer.add_hook(optimizers.GradientClipping(10))

    transform = RetinaNetTransform(recipe.shorts, recipe.long, jitter=0.2)
    examples = TransformDataset(train, ("img", "bbox", "label", "ignored"), transform)
    trainer = run.trainer(optimizer, examples, recipe.batch_size, (recipe.epochs, "epoch"), converter=collate_images)
    steps = recipe.epochs * len(train) // recipe.batch_size
    cosine = extensions.CosineShift("eta", steps, target=0.01)
    schedule = extensions.WarmupShift("eta", 0.01, min(recipe.warmup, steps), then=cosine)
    trainer.extend(schedule, trigger=(1, "iteration"))
    unseen = SerialIterator(val, 4, repeat=False, shuffle=False)
    evaluator = DetectionVOCEvaluator(unseen, model, label_names=label_names)
    trainer.extend(evaluator, name="validation", trigger=(1 if smoke else 5, "epoch"))
    run.extend(trainer, model, best="validation/main/map")
    trainer.run()


if __name__ == "__main__":
    parser = training.script_parser(__doc__, data="voc:ROOT, coco:TRAIN.json,VAL.json, yolo:ROOT or sroie:ROOT")
    main(**vars(parser.parse_args()))
