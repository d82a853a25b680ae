"""Train retinanet_text, the detector of lines of text that ships in the package, on rendered documents alone.

    python train_scripts/detection/train_retinanet_text.py --out runs/text [--resume] [--smoke]
    cvzoo predict --model runs/text/best.safetensors receipt.jpg

Wide anchors as the BK.Synapse thesis chose for receipts, there down to 1:8; we go on to 1:16 for long lines.
"""

import argparse
import dataclasses

from rendered_documents import RenderedDocuments

from cvzoo import optimizers, training
from cvzoo.datasets import TransformDataset
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
    documents: int = 16_000  # each is seen once
    batch_size: int = 4
    lr: float = 1e-3
    weight_decay: float = 5e-5
    warmup: int = 300  # updates
    share: tuple[float, float] = (0.5, 1.0)  # of a document's sides that training looks at
    shorts: tuple[int, ...] = (320, 384, 448, 512)
    long: int = 768
    model: RetinaNetSettings = NETWORK


def main(out: str, resume: bool = False, smoke: bool = False) -> None:
    recipe = Recipe(**({"documents": 16, "shorts": (96,), "long": 160} if smoke else {}))
    train, val = RenderedDocuments(recipe.documents, seed=0), RenderedDocuments(4 if smoke else 100, seed=1)
    label_names, keys = train.label_names, ("img", "bbox", "label")
    train, val = train.slice[:, keys], val.slice[:, keys]
    run = training.Run(out, recipe, data={"train": train, "val": val}, resume=resume)

    model = RetinaNet(label_names=label_names, settings=recipe.model)
    model.use_preset("evaluate")  # scores count down to 0.05 in the validation
    loss = RetinaNetLoss(model, box_loss="giou")
    decay = {"weight_decay_rate": recipe.weight_decay, "exempt": optimizers.is_vector}
    optimizer = optimizers.AdamW(recipe.lr, **decay).setup(loss)
    optimizer.add_hook(optimizers.GradientClipping(10))

    transform = RetinaNetTransform(recipe.shorts, recipe.long, part=RandomPart(recipe.share), flip=False, jitter=0.2)
    examples = TransformDataset(train, ("img", "bbox", "label", "ignored"), transform)
    iterator = MultiprocessIterator(examples, recipe.batch_size, n_processes=2, seed=run.seed)
    updater = training.StandardUpdater(iterator, optimizer, converter=collate_photos)
    trainer = training.Trainer(updater, (1, "epoch"), out=run.out)
    steps = recipe.documents // recipe.batch_size
    cosine = extensions.CosineShift("eta", steps, target=0.01)
    schedule = extensions.WarmupShift("eta", 0.01, min(recipe.warmup, steps), then=cosine)
    trainer.extend(schedule, trigger=(1, "iteration"))
    unseen = SerialIterator(val, 4, repeat=False, shuffle=False)
    evaluator = DetectionVOCEvaluator(unseen, model, label_names=label_names)
    trainer.extend(evaluator, name="validation", trigger=(max(steps // 8, 1), "iteration"))
    every = (max(steps // 40, 1), "iteration")
    run.extend(trainer, model, best="validation/main/map", log=every, save=every, half=True)
    trainer.run()


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", required=True, help="the run's folder")
    parser.add_argument("--resume", action="store_true", help="go on with the run in the folder")
    parser.add_argument("--smoke", action="store_true", help="a minute's try with few and small photos")
    main(**vars(parser.parse_args()))
