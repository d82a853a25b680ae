"""Train a Mask R-CNN on masks of your own. Copy this script and edit it: all settings are at its top.

    python train_scripts/instance_segmentation/train_mask_rcnn.py --train A.json --val B.json --out runs/mine [--resume]
    python train_scripts/instance_segmentation/train_mask_rcnn.py --train A.json --val A.json --out runs/try --smoke

Source of the recipe: He et al., "Mask R-CNN", 2017, with Detectron's schedule of 90,000 batches of 16 (a mask AP of
0.337 to 0.352 on COCO val2017). Where we differ: two images per batch, as many examples, and a
scaled learning rate.
"""

import dataclasses
from typing import Any

from cvzoo import optimizers, training
from cvzoo.datasets import COCOJSONInstanceSegmentationDataset, TransformDataset
from cvzoo.evaluations import InstanceSegmentationVOCEvaluator
from cvzoo.iterators import SerialIterator
from cvzoo.links import (
    FasterRCNNFPNSettings,
    MaskHeadSettings,
    MaskRCNNFPN,
    MaskRCNNFPNLoss,
    MaskRCNNTransform,
    RegionSampling,
    collate_images,
)
from cvzoo.training import extensions


@dataclasses.dataclass(frozen=True)
class Recipe:
    train: str
    val: str
    weights: str | None = "imagenet"
    iterations: int = 720_000
    steps: tuple[int, ...] = (480_000, 640_000)  # the learning rate is divided by ten after these
    warmup: int = 4_000
    batch_size: int = 2
    lr: float = 2.5e-3
    weight_decay: float = 1e-4
    frozen: tuple[str, ...] = ("/model/regions/extractor/conv1", "/model/regions/extractor/res2")  # as ImageNet's
    model: FasterRCNNFPNSettings = FasterRCNNFPNSettings(norm="frozen", bn_eps=1e-5)  # noqa: RUF009, it is frozen
    head: MaskHeadSettings = MaskHeadSettings()  # noqa: RUF009
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
SMOKE |= {"head": MaskHeadSettings(depth=2, channels=32, roi_size=7)}
SMOKE |= {"sampling": RegionSampling(n_anchor=128, n_region=64, region_share=0.5, n_proposal=200)}


def main(train: str, val: str, out: str, resume: bool = False, smoke: bool = False) -> None:
    recipe = Recipe(train, val, **(SMOKE if smoke else {}))
    flags: dict[str, Any] = {"use_crowded": True, "return_crowded": True, "return_bbox": True}
    labelled, to_score = (COCOJSONInstanceSegmentationDataset(each, **flags) for each in (train, val))
    label_names = labelled.label_names
    learned, unseen = (labelled.slice[SMOKE_IMAGES], labelled.slice[SMOKE_IMAGES]) if smoke else (labelled, to_score)
    run = training.Run(out, recipe, data={"train": learned, "val": unseen}, resume=resume)

    s = recipe.model
    model = MaskRCNNFPN(None, recipe.weights, label_names=label_names, settings=s, mask_settings=recipe.head)
    model.use_preset("evaluate")
    loss = MaskRCNNFPNLoss(model, sampling=recipe.sampling)
    optimizer = (optimizers.Adam(recipe.lr) if smoke else optimizers.MomentumSGD(recipe.lr)).setup(loss)
    optimizer.add_hook(optimizers.WeightDecay(0 if smoke else recipe.weight_decay))
    optimizer.add_hook(optimizers.Freeze(optimizers.named(*recipe.frozen)))

    transform = MaskRCNNTransform((s.min_size,), s.max_size, flip=recipe.flip, mean=s.mean, std=s.std)
    keys = ("img", "bbox", "label", "mask", "crowded")
    examples = TransformDataset(learned.slice[:, keys], (*keys[:4], "ignored"), transform)
    end = (recipe.iterations, "iteration")
    trainer = run.trainer(optimizer, examples, recipe.batch_size, end, converter=collate_images)
    steps = extensions.MultistepShift(rate := "alpha" if smoke else "lr", 0.1, list(recipe.steps), recipe.lr)
    trainer.extend(extensions.WarmupShift(rate, recipe.lr / 3, recipe.warmup, then=steps), trigger=(1, "iteration"))
    photos = SerialIterator(unseen.slice[:, ("img", "mask", "label")], 4, repeat=False, shuffle=False)
    evaluator = InstanceSegmentationVOCEvaluator(photos, model, label_names=label_names)
    trainer.extend(evaluator, name="validation", trigger=(recipe.validate_every, "iteration"))
    log, save = (recipe.log_every, "iteration"), (recipe.validate_every, "iteration")
    run.extend(trainer, model, best="validation/main/map", log=log, save=save)
    trainer.run()


if __name__ == "__main__":
    parser = training.script_parser(__doc__)
    parser.add_argument(
        "--train", required=True, help="annotations in COCO's format (see COCOJSONInstanceSegmentationDataset)"
    )
    parser.add_argument("--val", required=True, help="the same, for the evaluation set")
    main(**vars(parser.parse_args()))
