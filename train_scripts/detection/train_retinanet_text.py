"""Train retinanet_text, the text detector included in the package, on rendered documents only.

    python train_scripts/detection/train_retinanet_text.py --out runs/text [--resume] [--smoke]
    cvzoo predict --model runs/text/best.safetensors receipt.jpg

The network and its trainer are in text_lines.py next to this script.
"""

import dataclasses
from typing import Any

from rendered_documents import RenderedDocuments
from text_lines import NETWORK, text_trainer

from cvzoo import training
from cvzoo.evaluations import DetectionVOCEvaluator
from cvzoo.iterators import SerialIterator
from cvzoo.links import RetinaNet, RetinaNetLoss, RetinaNetSettings


@dataclasses.dataclass(frozen=True)
class Recipe:
    documents: int = 16_000  # each is used once
    batch_size: int = 4
    lr: float = 1e-3
    weight_decay: float = 5e-5
    warmup: int = 300  # updates
    share: tuple[float, float] = (0.5, 1.0)  # range of the sides of random crops, relative to the document's
    shorts: tuple[int, ...] = (320, 384, 448, 512)
    long: int = 768
    model: RetinaNetSettings = NETWORK


SMOKE: dict[str, Any] = {"documents": 16, "shorts": (96,), "long": 160}


def main(out: str, resume: bool = False, smoke: bool = False) -> None:
    recipe = Recipe(**(SMOKE if smoke else {}))
    documents, unseen_documents = (
        RenderedDocuments(recipe.documents, seed=0),
        RenderedDocuments(4 if smoke else 100, seed=1),
    )
    label_names, keys = documents.label_names, ("img", "bbox", "label")
    train, val = documents.slice[:, keys], unseen_documents.slice[:, keys]
    run = training.Run(out, recipe, data={"train": train, "val": val}, resume=resume)

    model = RetinaNet(label_names=label_names, settings=recipe.model)
    model.use_preset("evaluate")  # validation uses scores above 0.05
    loss = RetinaNetLoss(model, box_loss="giou")
    trainer = text_trainer(run, recipe, loss, train, epochs=1)
    steps = recipe.documents // recipe.batch_size
    unseen = SerialIterator(val, 4, repeat=False, shuffle=False)
    evaluator = DetectionVOCEvaluator(unseen, model, label_names=label_names)
    trainer.extend(evaluator, name="validation", trigger=(max(steps // 8, 1), "iteration"))
    every = (max(steps // 40, 1), "iteration")
    run.extend(trainer, model, best="validation/main/map", log=every, save=every, half=True)
    trainer.run()


if __name__ == "__main__":
    parser = training.script_parser(__doc__)
    main(**vars(parser.parse_args()))
