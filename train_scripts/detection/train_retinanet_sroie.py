"""Train a RetinaNet on SROIE's receipts with a focal loss of your choice: one run of docs/results/retinanet_sroie.md.

    python train_scripts/detection/train_retinanet_sroie.py --data sroie:ROOT --gamma 2 --out runs/gamma-2

ROOT has the images and texts that the challenge provides for research, and the lists train.txt and val.txt.
The network and its trainer are in text_lines.py next to this script.
"""

import dataclasses
from typing import Any

from text_lines import NETWORK, text_trainer

from cvzoo import training
from cvzoo.datasets import bbox_splits
from cvzoo.evaluations import DetectionVOCEvaluator
from cvzoo.iterators import SerialIterator
from cvzoo.links import RetinaNet, RetinaNetLoss, RetinaNetSettings


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
    share: tuple[float, float] = (0.5, 1.0)  # range of the sides of random crops, relative to the image's
    shorts: tuple[int, ...] = (320, 384, 448, 512)
    long: int = 768
    model: RetinaNetSettings = NETWORK


SMOKE: dict[str, Any] = {"epochs": 1, "shorts": (96,), "long": 160}


def main(data: str, gamma: float, out: str, resume: bool = False, smoke: bool = False) -> None:
    recipe = Recipe(data, gamma, **(SMOKE if smoke else {}))
    train, val, label_names = bbox_splits(data)
    train, val = (train.slice[:8], val.slice[:2]) if smoke else (train, val)
    run = training.Run(out, recipe, data={"train": train, "val": val}, resume=resume)

    model = RetinaNet(label_names=label_names, settings=recipe.model)
    model.use_preset("evaluate")  # validation uses scores above 0.05
    loss = RetinaNetLoss(model, alpha=recipe.alpha, gamma=recipe.gamma, box_loss="giou")
    trainer = text_trainer(run, recipe, loss, train, epochs=recipe.epochs)
    unseen = SerialIterator(val, 4, repeat=False, shuffle=False)
    evaluator = DetectionVOCEvaluator(unseen, model, label_names=label_names)
    trainer.extend(evaluator, name="validation", trigger=(1, "epoch"))
    run.extend(trainer, model, best="validation/main/map")
    trainer.run()


if __name__ == "__main__":
    parser = training.script_parser(__doc__, data="sroie:ROOT")
    parser.add_argument("--gamma", type=float, default=2.0, help="of the focal loss (default: %(default)s)")
    main(**vars(parser.parse_args()))
