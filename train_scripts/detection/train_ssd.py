"""Train an SSD300 or SSD512 by the paper's schedule. Copy this script and edit it.

    python train_scripts/detection/train_ssd.py --data voc:ROOT --out runs/ssd300 [--resume] [KEY=VALUE ...]
    python train_scripts/detection/train_ssd.py --data voc:ROOT --out runs/ssd512 --recipe ssd512
    cvzoo predict --model runs/ssd300/best.safetensors IMAGE.jpg

Source: Liu et al., "SSD: Single Shot MultiBox Detector", 2016, section 3: 120,000 batches of 32 of the 16,551 trainval
images of Pascal VOC 2007 and 2012; its score on VOC 2007's test images, 11-point mAP at IoU 0.5: 77.5 (SSD300) and 79.5
(SSD512); ChainerCV reached 77.5 and 80.1 so. Not run to the end here.
"""

from cvzoo import training
from cvzoo.datasets import TransformDataset
from cvzoo.distributed import create_communicator
from cvzoo.links import SSDLoss, SSDTransform, collate_multibox
from cvzoo.training.extensions import Averaged
from cvzoo.training.recipes import SSDRecipe, apply_layers, script_options

# where the paper's training differs from `cvzoo train --recipe ssd300 --show-config`
PAPER = {"pretrained": "imagenet", "epochs": 232, "batch_size": 32, "lr": 1e-3, "warmup": 0, "clip": None}
PAPER |= {"schedule": "step", "steps": (2 / 3, 5 / 6)}  # the learning rate is divided by ten


def main(recipe: SSDRecipe, out: str, resume: bool) -> None:
    splits = recipe.splits()
    train, val, label_names = splits
    comm = create_communicator()
    run = training.Run(out, recipe, seed=recipe.seed, data={"train": train, "val": val}, resume=resume, comm=comm)

    model = recipe.build_model(label_names).to_device(comm.device)  # or SSD(config=SSDConfig(...), ...)
    recipe.for_validation(model)  # scores count down to 0.01
    loss = SSDLoss(model, k=recipe.negatives)
    optimizer = recipe.build_optimizer(loss)  # SGD with momentum; biases learn twice as fast
    average = apply_layers(recipe, optimizer, model)  # frozen parts, moving average of the weights

    size = (recipe.model.insize, recipe.model.insize)
    transform = SSDTransform(model.coder, size, mean=model.mean, augment=recipe.augment)
    examples = TransformDataset(recipe.mixed(train, size), ("img", "mb_loc", "mb_label"), transform)
    trainer = run.trainer(
        optimizer,
        examples,
        recipe.batch_size,
        recipe.stop,
        converter=collate_multibox,
        n_processes=recipe.n_process,
        order_sampler=recipe.order_sampler(train),
    )
    trainer.extend(recipe.shift(len(train)), trigger=(1, "iteration"))
    every = (recipe.validation_interval, "epoch")
    trainer.extend(Averaged(recipe.evaluator(model, splits), average), name="validation", trigger=every)
    run.extend(trainer, model, best=recipe.best, print_keys=recipe.columns, average=average)
    trainer.run()


if __name__ == "__main__":
    main(*script_options(__doc__, SSDRecipe, "ssd300", PAPER))
