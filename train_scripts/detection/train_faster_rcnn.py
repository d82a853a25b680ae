"""Train a Faster R-CNN on VGG16 by the paper's schedule. Copy this script and edit it.

    python train_scripts/detection/train_faster_rcnn.py --data voc:ROOT --out runs/mine [--resume] [KEY=VALUE ...]
    cvzoo predict --model runs/mine/best.safetensors IMAGE.jpg

Source: Ren et al., "Faster R-CNN", 2015, and ChainerCV's script, which reached an 11-point mAP of 0.747 on VOC 2007
test from 110,000 images of VOC 2007 and 2012 trainval. Where we differ: batches of two. Not run to the end here.
"""

from cvzoo import training
from cvzoo.datasets import TransformDataset
from cvzoo.distributed import create_communicator
from cvzoo.links import (
    AnchorTargetCreator,
    FasterRCNNTrainChain,
    FasterRCNNTransform,
    ProposalTargetCreator,
    collate_images,
)
from cvzoo.training.extensions import Averaged
from cvzoo.training.recipes import FasterRCNNVGG16Recipe, apply_layers, script_options

# where ChainerCV's training differs from `cvzoo train --recipe faster_rcnn_vgg16 --show-config`
CHAINERCV = {"epochs": 7, "warmup": 0, "clip": None, "steps": (0.73,)}  # then the learning rate is divided by ten
ANCHORS = AnchorTargetCreator(n_sample=256, pos_iou_thresh=0.7, neg_iou_thresh=0.3)
REGIONS = ProposalTargetCreator(n_sample=128, pos_ratio=0.25)


def main(recipe: FasterRCNNVGG16Recipe, out: str, resume: bool) -> None:
    train, val, label_names = splits = recipe.splits()
    comm = create_communicator()
    run = training.Run(out, recipe, seed=recipe.seed, data={"train": train, "val": val}, resume=resume, comm=comm)

    model = recipe.build_model(label_names).to_device(comm.device)  # or FasterRCNNVGG16(None, "imagenet", ...)
    recipe.for_validation(model)  # scores count down to 0.05
    loss = FasterRCNNTrainChain(model, anchor_target_creator=ANCHORS, proposal_target_creator=REGIONS)
    optimizer = recipe.build_optimizer(loss)
    average = apply_layers(recipe, optimizer, model)  # frozen parts, moving average of the weights

    transform = FasterRCNNTransform(model, x_flip=recipe.flip, scales=recipe.scales)
    examples = TransformDataset(
        recipe.mixed(train, recipe.mosaic_size), ("img", "bbox", "label", "scale", "size"), transform
    )
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
    main(*script_options(__doc__, FasterRCNNVGG16Recipe, "faster_rcnn_vgg16", CHAINERCV))
