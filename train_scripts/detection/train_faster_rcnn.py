"""Train a Faster R-CNN on boxes of your own. Copy this script and edit it: all that was decided stands at its top.

    python train_scripts/detection/train_faster_rcnn.py --data voc:ROOT --out runs/mine [--resume]
    python train_scripts/detection/train_faster_rcnn.py --data coco:TINY.json,TINY.json --out runs/try --smoke

Source of the recipe: Ren et al., "Faster R-CNN", 2015, and ChainerCV's script, which reached a mAP of 0.747 on VOC 2007
test (11-point) from VOC 2007 and 2012 trainval. Where we differ: two photos a batch at the same steps an example.
"""

import argparse
import dataclasses

from cvzoo import optimizers, training
from cvzoo.datasets import TransformDataset, bbox_splits
from cvzoo.evaluations import DetectionVOCEvaluator
from cvzoo.iterators import MultiprocessIterator, SerialIterator
from cvzoo.links.model.faster_rcnn.anchor_target_creator import AnchorTargetCreator
from cvzoo.links.model.faster_rcnn.faster_rcnn_vgg16 import FasterRCNNVGG16
from cvzoo.links.model.faster_rcnn.proposal_creator import ProposalCreator
from cvzoo.links.model.faster_rcnn.proposal_target_creator import ProposalTargetCreator
from cvzoo.links.model.faster_rcnn.train_chain import FasterRCNNTrainChain
from cvzoo.links.model.faster_rcnn.transform import FasterRCNNTransform
from cvzoo.links.model.retinanet.collate import collate_photos
from cvzoo.training import extensions


@dataclasses.dataclass(frozen=True)
class Recipe:
    data: str
    weights: str | None = "imagenet"
    iterations: int = 55_000
    steps: tuple[int, ...] = (40_000,)  # the rate is then divided by ten
    batch_size: int = 2
    lr: float = 2e-3
    weight_decay: float = 5e-4
    min_size: int = 600
    max_size: int = 1000
    widths: tuple[int, int, int] = (64, 512, 4096)  # VGG16's first stage, the proposals' layer, fc6 and fc7
    anchor_scales: tuple[float, ...] = (8, 16, 32)
    proposals: ProposalCreator = ProposalCreator()  # noqa: RUF009, it is frozen
    anchors_learned: AnchorTargetCreator = AnchorTargetCreator()  # noqa: RUF009
    regions_learned: ProposalTargetCreator = ProposalTargetCreator()  # noqa: RUF009
    x_flip: bool = True
    validate_every: int = 5_000
    log_every: int = 100


# A narrow network that learns eight photos of large objects by heart
SMOKE_PHOTOS = (1, 6, 10, 12, 14, 22, 30, 35)
SMOKE = {
    "weights": None,
    "iterations": 320,
    "steps": (200, 280),
    "batch_size": 4,
    "min_size": 96,
    "max_size": 160,
    "widths": (8, 64, 128),
    "anchor_scales": (2, 4, 8),
    "proposals": ProposalCreator(min_size=8, n_train_post_nms=300, n_test_post_nms=50),
    "anchors_learned": AnchorTargetCreator(64),
    "regions_learned": ProposalTargetCreator(32, 0.5),
    "x_flip": False,
    "validate_every": 320,
    "log_every": 20,
}


def main(data: str, out: str, resume: bool = False, smoke: bool = False) -> None:
    recipe = Recipe(data, **(SMOKE if smoke else {}))
    train, val, label_names = bbox_splits(data)
    train, val = (train.slice[list(SMOKE_PHOTOS)], train.slice[list(SMOKE_PHOTOS)]) if smoke else (train, val)
    run = training.Run(out, recipe, data={"train": train, "val": val}, resume=resume)

    sizes = {"min_size": recipe.min_size, "max_size": recipe.max_size, "anchor_scales": recipe.anchor_scales}
    widths = dict(zip(("base_channels", "rpn_channels", "fc_channels"), recipe.widths))
    model = FasterRCNNVGG16(
        None, recipe.weights, label_names=label_names, proposal_creator=recipe.proposals, **sizes, **widths
    )
    model.use_preset("evaluate")
    learned = {"anchor_target_creator": recipe.anchors_learned, "proposal_target_creator": recipe.regions_learned}
    loss = FasterRCNNTrainChain(model, **learned)
    optimizer = (optimizers.Adam(recipe.lr) if smoke else optimizers.MomentumSGD(recipe.lr)).setup(loss)
    optimizer.add_hook(optimizers.WeightDecay(0 if smoke else recipe.weight_decay))

    transform = FasterRCNNTransform(model, x_flip=recipe.x_flip)
    examples = TransformDataset(train, ("img", "bbox", "label", "scale", "size"), transform)
    iterator = MultiprocessIterator(examples, recipe.batch_size, n_processes=2, seed=run.seed)
    updater = training.StandardUpdater(iterator, optimizer, converter=collate_photos)
    trainer = training.Trainer(updater, (recipe.iterations, "iteration"), out=run.out)
    shift = extensions.MultistepShift("alpha" if smoke else "lr", 0.1, list(recipe.steps), recipe.lr)
    trainer.extend(shift, trigger=(1, "iteration"))
    unseen = SerialIterator(val, 4, repeat=False, shuffle=False)
    evaluator = DetectionVOCEvaluator(unseen, model, label_names=label_names, use_07_metric=True)
    trainer.extend(evaluator, name="validation", trigger=(recipe.validate_every, "iteration"))
    every = {"log": (recipe.log_every, "iteration"), "save": (recipe.validate_every, "iteration")}
    run.extend(trainer, model, best="validation/main/map", **every)
    trainer.run()


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", required=True, help="voc:ROOT, coco:TRAIN.json,VAL.json or yolo:ROOT")
    parser.add_argument("--out", required=True, help="the run's folder")
    parser.add_argument("--resume", action="store_true", help="go on with the run in the folder")
    parser.add_argument("--smoke", action="store_true", help="a minute's try: eight photos learned by heart")
    main(**vars(parser.parse_args()))
