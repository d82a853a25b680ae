"""Train a ResNet on images with a class each, by the schedule for ImageNet. Copy this script and edit it.

    python train_scripts/classification/train_resnet.py --data folder:ROOT --out runs/resnet50
    cvzoo launch -n 4 train_scripts/classification/train_resnet.py --data folder:ROOT --out runs/resnet50
    cvzoo predict --model runs/resnet50/best.safetensors IMAGE.jpg

Further options: --resume, KEY=VALUE of any setting of the recipe.
ROOT has the folders train and val, with a folder a class in each. To fine-tune ImageNet's weights:
`cvzoo train --recipe resnet50 --data folder:ROOT --out runs/mine frozen=extractor/conv1,extractor/res2`.
Source: Goyal et al., "Accurate, Large Minibatch SGD: Training ImageNet in 1 Hour", 2017, and ChainerCV's script, which
reached a top-1 error of 23.5 % on ImageNet's validation images with 50 layers, 22.1 % with 101 and 21.7 % with 152.
Where we differ: colors are jittered as in the paper and not as in the script; the batch is that of one machine, and the
learning rate in proportion. Not run to the end here.
"""

from typing import Any

from cvzoo import training
from cvzoo.datasets import TransformDataset
from cvzoo.distributed import create_communicator, create_mnbn_model
from cvzoo.links import Classifier, PhotoTransform, zero_last_gamma
from cvzoo.training.extensions import Averaged
from cvzoo.training.recipes import ClassifierRecipe, apply_layers, script_options

# where the paper's training differs from `cvzoo train --recipe resnet50 --show-config`
PAPER: dict[str, Any] = {"pretrained": None, "epochs": 90, "batch_size": 32, "optimizer": "sgd", "lr": 0.1 * 32 / 256}
PAPER |= {"steps": (30 / 90, 60 / 90, 80 / 90), "schedule": "step", "warmup": 0, "clip": None}
PAPER |= {"crop_area": (0.08, 1.0), "jitter": 0.4, "lighting": 25.5}


def main(recipe: ClassifierRecipe, out: str, resume: bool) -> None:
    splits = recipe.splits()
    train, val, label_names = splits
    comm = create_communicator()
    run = training.Run(out, recipe, seed=recipe.seed, data={"train": train, "val": val}, resume=resume, comm=comm)

    network = recipe.build_model(label_names)  # or ResNet(50, label_names=label_names)
    model = create_mnbn_model(network, comm).to_device(comm.device)
    if recipe.pretrained is None:
        zero_last_gamma(model)
    optimizer = recipe.build_optimizer(Classifier(model))
    average = apply_layers(recipe, optimizer, model)  # frozen parts, moving average of the weights

    preparation: Any = model.preparation  # a crop of the resized image, normalized
    transform = PhotoTransform(
        preparation, scale_ratio_range=recipe.crop_area, jitter=recipe.jitter, lighting=recipe.lighting
    )
    examples = TransformDataset(train, ("img", "label"), transform)
    order = recipe.order_sampler(train)
    trainer = run.trainer(
        optimizer, examples, recipe.batch_size, recipe.stop, n_processes=recipe.n_process, order_sampler=order
    )
    trainer.extend(recipe.shift(len(train)), trigger=(1, "iteration"))
    every = (recipe.validation_interval, "epoch")
    trainer.extend(Averaged(recipe.evaluator(model, splits), average), name="validation", trigger=every)
    run.extend(trainer, model, best=recipe.best, print_keys=recipe.columns, average=average)
    trainer.run()


if __name__ == "__main__":
    main(*script_options(__doc__, ClassifierRecipe, "resnet50", PAPER))
