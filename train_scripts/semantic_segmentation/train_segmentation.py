"""Train a SegNet, a PSPNet, a DeepLab or another semantic segmentation network. Copy this script and edit it.

    python train_scripts/semantic_segmentation/train_segmentation.py --data camvid:ROOT --out runs/segnet
    python train_scripts/semantic_segmentation/train_segmentation.py --data cityscapes:ROOT --out runs/pspnet \
        --recipe pspnet_resnet50 model.window=713,713 batch_size=2 lr=0.00125
    cvzoo predict --model runs/segnet/best.safetensors IMAGE.jpg

Further options: --recipe of any such network, --resume, KEY=VALUE of any setting of the recipe.
mIoU of the papers, and of ChainerCV's scripts: SegNet on CamVid's test frames 0.463, 0.494 (16,000 batches of 12);
PSPNet with 50 layers on Cityscapes' validation frames 0.769, 0.740 (90,000 batches of 16); DeepLab v3 with 101 layers
on VOC 2012 val 0.772 (30,000 batches of 16 of 10,582 images). Not run to the end here.
"""

from cvzoo import training
from cvzoo.datasets import TransformDataset
from cvzoo.distributed import create_communicator
from cvzoo.links import LabelMapTransform
from cvzoo.training.extensions import Averaged
from cvzoo.training.recipes import AbstractSegmentationRecipe, apply_layers, script_options


def main(recipe: AbstractSegmentationRecipe, out: str, resume: bool) -> None:
    splits = recipe.splits()
    train, val, label_names = splits
    comm = create_communicator()
    run = training.Run(out, recipe, seed=recipe.seed, data={"train": train, "val": val}, resume=resume, comm=comm)

    model = recipe.build_model(label_names).to_device(comm.device)  # or SegNetBasic(...), PSPNet(50, ...)
    loss = recipe.build_loss(model, splits)  # PixelwiseSoftmaxClassifier, with weights of classes and auxiliary heads
    optimizer = recipe.build_optimizer(loss)  # SGD with momentum; PSPNet's heads learn ten times as fast
    average = apply_layers(recipe, optimizer, model)  # frozen parts, moving average of the weights

    resized = TransformDataset(train, ("img", "label"), recipe.resized())
    transform = LabelMapTransform(
        model, recipe.crop_size, scale_range=recipe.scale_range, angle=recipe.angle, x_flip=recipe.flip
    )
    examples = TransformDataset(resized, ("img", "label"), transform)
    trainer = run.trainer(
        optimizer,
        examples,
        recipe.batch_size,
        recipe.stop,
        n_processes=recipe.n_process,
        order_sampler=recipe.order_sampler(train),
    )
    trainer.extend(recipe.shift(len(train)), trigger=(1, "iteration"))
    every = (recipe.validation_interval, "epoch")
    trainer.extend(Averaged(recipe.evaluator(model, splits), average), name="validation", trigger=every)
    run.extend(trainer, model, best=recipe.best, print_keys=recipe.columns, average=average)
    trainer.run()


if __name__ == "__main__":
    main(*script_options(__doc__, AbstractSegmentationRecipe, "segnet"))
