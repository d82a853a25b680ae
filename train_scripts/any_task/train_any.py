"""Train a network by any recipe: FCOS, Light-Head R-CNN, FCIS, Keypoint R-CNN ... Copy this script and edit it.

    python train_scripts/any_task/train_any.py --recipe keypoint_rcnn_fpn_resnet18_small \
        --data coco:TRAIN.json,VAL.json --out runs/mine [--resume] [KEY=VALUE ...]
    cvzoo predict --model runs/mine/best.safetensors IMAGE.jpg

The recipe builds the parts; each line may be replaced by your own. The scripts of the other folders write out the
parts of one family. Further options: KEY=VALUE of any setting of the recipe.
"""

from cvzoo import training
from cvzoo.distributed import create_communicator
from cvzoo.training.extensions import Averaged
from cvzoo.training.recipes import AbstractRecipe, apply_layers, script_options


def main(recipe: AbstractRecipe, out: str, resume: bool) -> None:
    splits = recipe.splits()
    recipe = recipe.with_splits(splits)  # what the data decide, such as the keypoints
    train, val = splits.train, splits.val
    comm = create_communicator()
    run = training.Run(out, recipe, seed=recipe.seed, data={"train": train, "val": val}, resume=resume, comm=comm)

    model = recipe.build_model(splits.label_names).to_device(comm.device)
    recipe.for_validation(model)  # scores of detectors count down to 0.05
    loss = recipe.build_loss(model, splits)  # a link that is called with a batch of the converter
    optimizer = recipe.build_optimizer(loss)
    average = apply_layers(recipe, optimizer, model)  # frozen parts, moving average of the weights

    trainer = run.trainer(
        optimizer,
        recipe.examples(train, model),  # with data augmentation
        recipe.batch_size,
        recipe.stop,
        converter=recipe.converter,
        n_processes=recipe.n_process,
        order_sampler=recipe.order_sampler(train),
    )
    trainer.extend(recipe.shift(len(train)), trigger=(1, "iteration"))
    every = (recipe.validation_interval, "epoch")
    trainer.extend(Averaged(recipe.evaluator(model, splits), average), name="validation", trigger=every)
    run.extend(trainer, model, best=recipe.best, print_keys=recipe.columns, average=average)
    trainer.run()


if __name__ == "__main__":
    main(*script_options(__doc__, AbstractRecipe, "fcos_resnet18"))
