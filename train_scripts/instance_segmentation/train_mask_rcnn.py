"""Train a Mask R-CNN by Detectron's schedule. Copy this script and edit it.

    python train_scripts/instance_segmentation/train_mask_rcnn.py --data coco:TRAIN.json,VAL.json --out runs/mine
    cvzoo predict --model runs/mine/best.safetensors IMAGE.jpg

Further options: --resume, KEY=VALUE of any setting of the recipe.
Source: He et al., "Mask R-CNN", 2017, with Detectron's schedule of 90,000 batches of 16 (a mask AP of 0.337 to 0.352 on
COCO val2017). Where we differ: batches of two, as many images, and the learning rate in proportion. Not run to the end
here.
"""

from cvzoo import training
from cvzoo.datasets import TransformDataset
from cvzoo.distributed import create_communicator
from cvzoo.links import MaskRCNNFPNLoss, MaskRCNNTransform, RegionSampling, collate_images
from cvzoo.training.extensions import Averaged
from cvzoo.training.recipes import MaskRCNNRecipe, apply_layers, script_options

# where Detectron's training differs from `cvzoo train --recipe mask_rcnn_fpn_resnet50 --show-config`
DETECTRON = {"epochs": 12, "batch_size": 2, "optimizer": "sgd", "lr": 2.5e-3, "weight_decay": 1e-4, "clip": None}
DETECTRON |= {"schedule": "step", "steps": (2 / 3, 8 / 9), "warmup": 4000, "scales": (1.0,), "regions": 512}
DETECTRON |= {"frozen": ("regions/extractor/conv1", "regions/extractor/res2")}


def main(recipe: MaskRCNNRecipe, out: str, resume: bool) -> None:
    splits = recipe.splits()
    train, val, label_names = splits
    comm = create_communicator()
    run = training.Run(out, recipe, seed=recipe.seed, data={"train": train, "val": val}, resume=resume, comm=comm)

    model = recipe.build_model(label_names).to_device(comm.device)  # or MaskRCNNFPN(None, "imagenet", config=...)
    recipe.for_validation(model)  # scores count down to 0.05
    loss = MaskRCNNFPNLoss(model, sampling=RegionSampling(n_region=recipe.regions))
    optimizer = recipe.build_optimizer(loss)
    average = apply_layers(recipe, optimizer, model)  # freezes conv1 and res2; moving average, if wanted

    m, keys = recipe.model, ("img", "bbox", "label", "mask", "crowded")
    data = recipe.mixed(train.slice[:, keys], recipe.mosaic_size)
    transform = MaskRCNNTransform(
        recipe.shorts, m.max_size, flip=recipe.flip, part=recipe.part, jitter=recipe.jitter, mean=m.mean, std=m.std
    )
    examples = TransformDataset(data, (*keys[:4], "ignored"), transform)
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
    main(*script_options(__doc__, MaskRCNNRecipe, "mask_rcnn_fpn_resnet50", DETECTRON))
