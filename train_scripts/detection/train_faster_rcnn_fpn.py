"""Train a Faster R-CNN with a feature pyramid by Detectron's schedule. Copy this script and edit it.

    python train_scripts/detection/train_faster_rcnn_fpn.py --data voc:ROOT --out runs/mine [--resume] [KEY=VALUE ...]
    cvzoo predict --model runs/mine/best.safetensors IMAGE.jpg

Source: Lin et al., "Feature Pyramid Networks", 2017, with Detectron's schedule of 90,000 batches of 16 (an AP of 0.367
to 0.379 on COCO val2017). Where we differ: batches of two, as many images, and the learning rate in proportion. Not run
to the end here.
"""

from cvzoo import training
from cvzoo.datasets import TransformDataset
from cvzoo.distributed import create_communicator
from cvzoo.links import FasterRCNNFPNLoss, RegionSampling, RetinaNetTransform, collate_images
from cvzoo.training.extensions import Averaged
from cvzoo.training.recipes import FasterRCNNFPNRecipe, apply_layers, script_options

# where Detectron's training differs from `cvzoo train --recipe faster_rcnn_fpn_resnet50 --show-config`
DETECTRON = {"epochs": 12, "batch_size": 2, "optimizer": "sgd", "lr": 2.5e-3, "weight_decay": 1e-4, "clip": None}
DETECTRON |= {"schedule": "step", "steps": (2 / 3, 8 / 9), "warmup": 4000, "scales": (1.0,), "jitter": 0.0}
DETECTRON |= {"regions": 512, "frozen": ("regions/extractor/conv1", "regions/extractor/res2")}


def main(recipe: FasterRCNNFPNRecipe, out: str, resume: bool) -> None:
    splits = recipe.splits()
    train, val, label_names = splits
    comm = create_communicator()
    run = training.Run(out, recipe, seed=recipe.seed, data={"train": train, "val": val}, resume=resume, comm=comm)

    model = recipe.build_model(label_names).to_device(comm.device)  # or FasterRCNNFPN(None, "imagenet", config=...)
    recipe.for_validation(model)  # scores count down to 0.05
    loss = FasterRCNNFPNLoss(model, sampling=RegionSampling(n_region=recipe.regions))
    optimizer = recipe.build_optimizer(loss)
    average = apply_layers(recipe, optimizer, model)  # freezes conv1 and res2; moving average, if wanted

    transform = RetinaNetTransform(
        recipe.shorts, recipe.model.max_size, flip=recipe.flip, part=recipe.part, jitter=recipe.jitter
    )
    examples = TransformDataset(recipe.mixed(train, recipe.mosaic_size), ("img", "bbox", "label", "ignored"), transform)
    trainer = run.trainer(
        optimizer,
        examples,
        recipe.batch_size,
        recipe.stop,
        converter=collate_images,
        n_processes=recipe.n_process,
        order_sampler=recipe.order_sampler(train),
    )
    trainer.extend(recipe.shift(len(train)), trigger=(1, "iteration"))
    every = (recipe.validation_interval, "epoch")
    trainer.extend(Averaged(recipe.evaluator(model, splits), average), name="validation", trigger=every)
    run.extend(trainer, model, best=recipe.best, print_keys=recipe.columns, average=average)
    trainer.run()


if __name__ == "__main__":
    main(*script_options(__doc__, FasterRCNNFPNRecipe, "faster_rcnn_fpn_resnet50", DETECTRON))
