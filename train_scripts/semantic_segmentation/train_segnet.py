"""Train a SegNet on street scenes. Copy this script and edit it: all settings are at its top.

    python train_scripts/semantic_segmentation/train_segnet.py --data camvid --out runs/segnet [--resume]

--data is camvid[:ROOT], cityscapes:ROOT, ade20k[:ROOT] or voc[:ROOT].
Source of the recipe: Badrinarayanan et al., "SegNet", 2017, and ChainerCV's script, which reached a mIoU of 0.494 on
CamVid's test frames (the paper: 0.463). Where we differ: ChainerCV recomputes the running statistics of batch
normalization after training, from all training frames; ours are those of training.
"""

import dataclasses
from typing import Any

from cvzoo import optimizers, training
from cvzoo.datasets import TransformDataset
from cvzoo.datasets.label_map_splits import label_map_splits
from cvzoo.datasets.median_frequency_weights import median_frequency_weights
from cvzoo.evaluations import SemanticSegmentationEvaluator
from cvzoo.iterators import SerialIterator
from cvzoo.links.model.label_map_transform import LabelMapTransform, ResizeExamples
from cvzoo.links.model.pixelwise_softmax_classifier import PixelwiseSoftmaxClassifier
from cvzoo.links.model.segnet.segnet_basic import SegNetBasic
from cvzoo.training import extensions


@dataclasses.dataclass(frozen=True)
class Recipe:
    data: str
    iterations: int = 16_000
    batch_size: int = 12
    lr: float = 0.1
    weight_decay: float = 5e-4
    channels: int = 64
    size: tuple[int, int] | None = None  # (H, W) that frames are resized to; None: not resized, all have one size
    x_flip: bool = True
    ends_at: float = 1.0  # final fraction of the learning rate; constant in the paper
    validate_every: int = 2_000
    log_every: int = 50


# A narrow network that overfits small frames
SMOKE: dict[str, Any] = {"iterations": 200, "batch_size": 1, "lr": 0.1, "weight_decay": 0.0, "channels": 24}
SMOKE |= {"size": (90, 120), "x_flip": False, "ends_at": 0.0, "validate_every": 200, "log_every": 40}


def main(data: str, out: str, resume: bool = False, smoke: bool = False) -> None:
    recipe = Recipe(data, **(SMOKE if smoke else {}))
    train, val, label_names = label_map_splits(data)
    train, val = (train.slice[:8], train.slice[:8]) if smoke else (train, val)
    run = training.Run(out, recipe, data={"train": train, "val": val}, resume=resume)
    train, val = (TransformDataset(each, ("img", "label"), ResizeExamples(recipe.size)) for each in (train, val))

    model = SegNetBasic(label_names=label_names, channels=recipe.channels)
    weights = median_frequency_weights(train.slice[:, "label"], len(label_names))
    loss = PixelwiseSoftmaxClassifier(model, class_weight=weights)
    optimizer = optimizers.MomentumSGD(recipe.lr).setup(loss)
    optimizer.add_hook(optimizers.WeightDecay(recipe.weight_decay))

    examples = TransformDataset(train, ("img", "label"), LabelMapTransform(model, None, x_flip=recipe.x_flip))
    trainer = run.trainer(optimizer, examples, recipe.batch_size, (recipe.iterations, "iteration"))
    shift = extensions.CosineShift("lr", recipe.iterations, target=recipe.lr * recipe.ends_at)
    trainer.extend(shift, trigger=(1, "iteration"))
    unseen = SerialIterator(val, recipe.batch_size, repeat=False, shuffle=False)
    evaluator = SemanticSegmentationEvaluator(unseen, model, label_names=label_names)
    trainer.extend(evaluator, name="validation", trigger=(recipe.validate_every, "iteration"))
    log, save = (recipe.log_every, "iteration"), (recipe.validate_every, "iteration")
    run.extend(trainer, model, best="validation/main/miou", log=log, save=save)
    trainer.run()


if __name__ == "__main__":
    parser = training.script_parser(__doc__, data="camvid[:ROOT], cityscapes:ROOT, ade20k[:ROOT] or voc[:ROOT]")
    main(**vars(parser.parse_args()))
