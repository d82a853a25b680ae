"""Train a YOLOv3 by its authors' schedule. Copy this script and edit it.

    python train_scripts/detection/train_yolov3.py --data coco:A.json,B.json --out runs/yolo [--resume] [KEY=VALUE ...]
    cvzoo predict --model runs/yolo/best.safetensors IMAGE.jpg

Source: Redmon and Farhadi, "YOLOv3: An Incremental Improvement", 2018, and darknet's yolov3.cfg: 500,200 batches of 64
of COCO 2014 trainval without 5,000 images; its score there: AP50 55.3 at 416, AP 33.0 and AP50 57.9 at 608. Not run to
the end here. Where we differ: augmentation (see `YOLOTransform`); batches are resized from the largest size.
"""

from cvzoo import training
from cvzoo.datasets import TransformDataset
from cvzoo.distributed import create_communicator
from cvzoo.links import YOLOLoss, YOLOTransform, collate_images
from cvzoo.training.extensions import Averaged
from cvzoo.training.recipes import YOLOv3Recipe, apply_layers, script_options

# where their training differs from `cvzoo train --recipe yolo_v3 --show-config`
PAPER = {"pretrained": "imagenet", "epochs": 273, "batch_size": 64, "optimizer": "sgd", "lr": 1e-3, "warmup": 1000}
PAPER |= {"weight_decay": 5e-4, "schedule": "step", "steps": (0.8, 0.9), "clip": None}
PAPER |= {"sizes": tuple(range(320, 609, 32))}


def main(recipe: YOLOv3Recipe, out: str, resume: bool) -> None:
    splits = recipe.splits()
    train, val, label_names = splits
    comm = create_communicator()
    run = training.Run(out, recipe, seed=recipe.seed, data={"train": train, "val": val}, resume=resume, comm=comm)

    model = recipe.build_model(label_names).to_device(comm.device)  # or YOLOv3(anchors=..., label_names=label_names)
    recipe.for_validation(model)  # scores count down to 0.005
    loss = YOLOLoss(model, ignore_thresh=recipe.ignore_thresh, sizes=recipe.sizes, seed=recipe.seed)
    optimizer = recipe.build_optimizer(loss)
    average = apply_layers(recipe, optimizer, model)  # frozen parts, moving average of the weights

    side = max(recipe.sizes or (recipe.model.insize,))
    transform = YOLOTransform((side, side), augment=recipe.augment)
    examples = TransformDataset(recipe.mixed(train, (side, side)), ("img", "bbox", "label", "ignored"), transform)
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
    main(*script_options(__doc__, YOLOv3Recipe, "yolo_v3", PAPER))
