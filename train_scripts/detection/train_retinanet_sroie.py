"""Train a RetinaNet on SROIE's receipts with a focal loss of your choice: one run of docs/results/retinanet_sroie.md.

    python train_scripts/detection/train_retinanet_sroie.py --data sroie:ROOT --gamma 2 --out runs/gamma-2

ROOT holds the photos and texts that the challenge gives out for research, and the lists train.txt and val.txt.
"""

import argparse
import dataclasses

from cvzoo import optimizers, training
from cvzoo.datasets import TransformDataset, bbox_splits
from cvzoo.evaluations import DetectionVOCEvaluator
from cvzoo.iterators import MultiprocessIterator, SerialIterator
from cvzoo.links import RandomPart, RetinaNet, RetinaNetLoss, RetinaNetSettings, RetinaNetTransform, collate_photos
from cvzoo.training import extensions

ANCHORS = {
    "anchor_sizes": tuple((2.5 * 2**level, 3.5 * 2**level) for level in range(3, 7)),
    "anchor_ratios": (1, 1 / 2, 1 / 4, 1 / 8, 1 / 16),
}
NETWORK = RetinaNetSettings(
    n_layer=18, base_channels=32, channels=64, head_depth=2, last_level=6, min_size=704, max_size=1024, **ANCHORS
)


@dataclasses.dataclass(frozen=True)
class Recipe:
    data: str
    gamma: float
    alpha: float = 0.25
    epochs: int = 5
    batch_size: int = 4
    lr: float = 1e-3
    weight_decay: float = 5e-5
    warmup: int = 100  # updates
    share: tuple[float, float] = (0.5, 1.0)  # of a photo's sides that training looks at
    shorts: tuple[int, ...] = (320, 384, 448, 512)
    long: int = 768
    model: RetinaNetSettings = NETWORK


def main(data: str, gamma: float, out: str, resume: bool = False, smoke: bool = False) -> None:
    recipe = Recipe(data, gamma, **({"epochs": 1, "shorts": (96,), "long": 160} if smoke else {}))
    train, val, label_names = bbox_splits(data)
    train, val = (train.slice[:8], val.slice[:2]) if smoke else (train, val)
    run = training.Run(out, recipe, data={"train": train, "val": val}, resume=resume)

    model = RetinaNet(label_names=label_names, settings=recipe.model)
    model.use_preset("evaluate")  # scores count down to 0.05 in the validation
    loss = RetinaNetLoss(model, alpha=recipe.alpha, gamma=recipe.gamma, box_loss="giou")
    decay = {"weight_decay_rate": recipe.weight_decay, "exempt": optimizers.is_vector}
    optimizer = optimizers.AdamW(recipe.lr, **decay).setup(loss)
    optimizer.add_hook(optimizers.GradientClipping(10))

    transform = RetinaNetTransform(recipe.shorts, recipe.long, part=RandomPart(recipe.share), flip=False, jitter=0.2)
    examples = TransformDataset(train, ("img", "bbox", "label", "ignored"), transform)
    iterator = MultiprocessIterator(examples, recipe.batch_size, n_processes=2, seed=run.seed)
    updater = training.StandardUpdater(iterator, optimizer, converter=collate_photos)
    trainer = training.Trainer(updater, (recipe.epochs, "epoch"), out=run.out)
    steps = recipe.epochs * len(train) // recipe.batch_size
    cosine = extensions.CosineShift("eta", steps, target=0.01)
    schedule = extensions.WarmupShift("eta", 0.01, min(recipe.warmup, steps), then=cosine)
    trainer.extend(schedule, trigger=(1, "iteration"))
    unseen = SerialIterator(val, 4, repeat=False, shuffle=False)
    evaluator = DetectionVOCEvaluator(unseen, model, label_names=label_names)
    trainer.extend(evaluator, name="validation", trigger=(1, "epoch"))
    run.extend(trainer, model, best="validation/main/map")
    trainer.run()


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", required=True, help="sroie:ROOT")
    parser.add_argument("--gamma", type=float, default=2.0, help="of the focal loss (default: %(default)s)")
    parser.add_argument("--out", required=True, help="the run's folder")
    parser.add_argument("--resume", action="store_true", help="go on with the run in the folder")
    parser.add_argument("--smoke", action="store_true", help="a minute's try with few and small photos")
    main(**vars(parser.parse_args()))
