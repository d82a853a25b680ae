"""Train a Faster R-CNN on boxes of your own. Copy this script and edit it: all settings are at its top.

    python train_scripts/detection/train_faster_rcnn.py --data voc:ROOT --out runs/mine [--resume]
    python train_scripts/detection/train_faster_rcnn.py --data coco:TINY.json,TINY.json --out runs/try --smoke

Source of the recipe: Ren et al., "Faster R-CNN", 2015, and ChainerCV's script, which reached a mAP of 0.747 on VOC 2007
test (11-point) from VOC 2007 and 2012 trainval. Where we differ: two images per batch, for the same number of epochs.
"""

import dataclasses
from typing import Any

from cvzoo import optimizers, training
from cvzoo.datasets import TransformDataset, bbox_splits
from cvzoo.evaluations import DetectionVOCEvaluator
from cvzoo.iterators import SerialIterator
from cvzoo.links import (
    AnchorTargetCreator,
    FasterRCNNTrainChain,
    FasterRCNNTransform,
    FasterRCNNVGG16,
    ProposalCreator,
    ProposalTargetCreator,
    collate_images,
)
from cvzoo.training import extensions

NETWORK: dict[str, Any] = {"min_size": 600, "max_size": 1000, "anchor_scales": (8, 16, 32)}


@dataclasses.dataclass(frozen=True)
class Recipe:
    data: str
    weights: str | None = "imagenet"
    iterations: int = 55_000
    steps: tuple[int, ...] = (40_000,)  # the learning rate is divided by ten after these
    batch_size: int = 2
    lr: float = 2e-3
    weight_decay: float = 5e-4
    anchors: AnchorTargetCreator = AnchorTargetCreator()  # noqa: RUF009, it is frozen
    regions: ProposalTargetCreator = ProposalTargetCreator()  # noqa: RUF009
    network: dict[str, Any] = dataclasses.field(default_factory=lambda: NETWORK)
    x_flip: bool = True
    every: int = 5_000  # iterations between validations


# A narrow network that overfits eight images of large objects
SMOKE_IMAGES = [1, 6, 10, 12, 14, 22, 30, 35]
NARROW: dict[str, Any] = {"min_size": 96, "max_size": 160, "anchor_scales": (2, 4, 8)}
NARROW |= {"base_channels": 8, "rpn_channels": 64, "fc_channels": 256}
NARROW |= {"proposal_creator": ProposalCreator(min_size=8, n_train_post_nms=300, n_test_post_nms=50)}
SMOKE: dict[str, Any] = {"weights": None, "iterations": 300, "steps": (200, 260), "batch_size": 4, "lr": 1e-3}
SMOKE |= {"anchors": AnchorTargetCreator(64, 0.5), "regions": ProposalTargetCreator(32, 0.5)}
SMOKE |= {"network": NARROW, "x_flip": False, "every": 100}


def main(data: str, out: str, resume: bool = False, smoke: bool = False) -> None:
    recipe = Recipe(data, **(SMOKE if smoke else {}))
    train, val, label_names = bbox_splits(data)
    train, val = [train.slice[SMOKE_IMAGES]] * 2 if smoke else (train, val)
    run = training.Run(out, recipe, data={"train": train, "val": val}, resume=resume)

    model = FasterRCNNVGG16(None, recipe.weights, label_names=label_names, **recipe.network)
    model.use_preset("evaluate")
    loss = FasterRCNNTrainChain(model, anchor_target_creator=recipe.anchors, proposal_target_creator=recipe.regions)
    optimizer = (optimizers.Adam(recipe.lr) if smoke else optimizers.MomentumSGD(recipe.lr)).setup(loss)
    optimizer.add_hook(optimizers.WeightDecay(0 if smoke else recipe.weight_decay))

    transform = FasterRCNNTransform(model, x_flip=recipe.x_flip)
    examples = TransformDataset(train, ("img", "bbox", "label", "scale", "size"), transform)
    end = (recipe.iterations, "iteration")
    trainer = run.trainer(optimizer, examples, recipe.batch_size, end, converter=collate_images)
    shift = extensions.MultistepShift("alpha" if smoke else "lr", 0.1, list(recipe.steps), recipe.lr)
    trainer.extend(shift, trigger=(1, "iteration"))
    unseen = SerialIterator(val, 4, repeat=False, shuffle=False)
    evaluator = DetectionVOCEvaluator(unseen, model, label_names=label_names, use_07_metric=True)
    trainer.extend(evaluator, name="validation", trigger=(recipe.every, "iteration"))
    run.extend(trainer, model, best="validation/main/map", log=(recipe.every // 2, "iteration"))
    trainer.run()


if __name__ == "__main__":
    parser = training.script_parser(__doc__, data="voc:ROOT, coco:TRAIN.json,VAL.json or yolo:ROOT")
    main(**vars(parser.parse_args()))
