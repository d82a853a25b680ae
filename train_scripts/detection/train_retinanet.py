"""Train a RetinaNet on bounding boxes of your own. Copy this script and edit it.

    python train_scripts/detection/train_retinanet.py --data voc:ROOT --out runs/mine [--resume] [KEY=VALUE ...]
    cvzoo predict --model runs/mine/best.safetensors IMAGE.jpg

Source of the method: Lin et al., "Focal Loss for Dense Object Detection", 2017. Where we differ: a ResNet-18 of half
the width from random weights with its batch normalization trained, AdamW with a cosine, the GIoU loss for boxes.
"""

from cvzoo import training
from cvzoo.datasets import TransformDataset
from cvzoo.distributed import create_communicator
from cvzoo.links import RetinaNet, RetinaNetLoss, RetinaNetTransform, collate_images
from cvzoo.training.extensions import Averaged
from cvzoo.training.recipes import RetinaNetRecipe, apply_layers, script_options

# where this training differs from `cvzoo train --recipe retinanet_resnet18_small --show-config`
OWN = {"epochs": 60, "warmup": 200, "validate_every": 5, "model.max_size": 672, "scales": (0.8, 0.87, 0.93, 1.0)}


def main(recipe: RetinaNetRecipe, out: str, resume: bool) -> None:
    splits = recipe.splits()
    train, val, label_names = splits
    comm = create_communicator()
    run = training.Run(out, recipe, seed=recipe.seed, data={"train": train, "val": val}, resume=resume, comm=comm)

    model = RetinaNet(None, recipe.pretrained, label_names=label_names, config=recipe.model).to_device(comm.device)
    recipe.for_validation(model)  # scores count down to 0.05
    loss = RetinaNetLoss(model, alpha=recipe.alpha, gamma=recipe.gamma, box_loss=recipe.box_loss)
    optimizer = recipe.build_optimizer(loss)  # AdamW with gradient clipping
    average = apply_layers(recipe, optimizer, model)  # frozen parts, moving average of the weights

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
    main(*script_options(__doc__, RetinaNetRecipe, "retinanet_resnet18_small", OWN))
