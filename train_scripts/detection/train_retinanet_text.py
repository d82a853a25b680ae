"""Train retinanet_text, the detector of lines of text that ships in the package, on rendered documents alone.

    python train_scripts/detection/train_retinanet_text.py --data rendered --out runs/text [--resume] [KEY=VALUE ...]
    cvzoo predict --model runs/text/best.safetensors receipt.jpg

--data rendered:N takes N documents, 16,000 by default; each is trained on once.
"""

from rendered_documents import RenderedDocuments

from cvzoo import training
from cvzoo.datasets import BboxSplits, TransformDataset
from cvzoo.distributed import create_communicator
from cvzoo.links import RetinaNetLoss, RetinaNetTransform, collate_images
from cvzoo.training.extensions import Averaged
from cvzoo.training.recipes import RetinaNetRecipe, apply_layers, script_options


def main(recipe: RetinaNetRecipe, out: str, resume: bool) -> None:
    n = int(recipe.data.partition(":")[2] or 16_000)
    documents, unseen = RenderedDocuments(n, seed=0), RenderedDocuments(min(n, 100), seed=1)
    keys = ("img", "bbox", "label")
    splits = BboxSplits(documents.slice[:, keys], unseen.slice[:, keys], documents.label_names)
    train, val, label_names = splits
    comm = create_communicator()
    run = training.Run(out, recipe, seed=recipe.seed, data={"train": train, "val": val}, resume=resume, comm=comm)

    model = recipe.build_model(label_names).to_device(comm.device)
    recipe.for_validation(model)  # scores count down to 0.05
    loss = RetinaNetLoss(model, alpha=recipe.alpha, gamma=recipe.gamma, box_loss=recipe.box_loss)
    optimizer = recipe.build_optimizer(loss)
    average = apply_layers(recipe, optimizer, model)  # frozen parts, moving average of the weights

    transform = RetinaNetTransform(
        recipe.shorts, recipe.model.max_size, flip=recipe.flip, part=recipe.part, jitter=recipe.jitter
    )
    examples = TransformDataset(recipe.mixed(train, recipe.mosaic_size), ("img", "bbox", "label", "ignored"), transform)
    trainer = run.trainer(
        optimizer, examples, recipe.batch_size, recipe.stop, converter=collate_images, n_processes=recipe.n_process
    )
    steps = recipe.n_update(n)
    trainer.extend(recipe.shift(n), trigger=(1, "iteration"))
    evaluator = Averaged(recipe.evaluator(model, splits), average)
    trainer.extend(evaluator, name="validation", trigger=(max(steps // 8, 1), "iteration"))
    every = (max(steps // 40, 1), "iteration")
    run.extend(
        trainer,
        model,
        best=recipe.best,
        print_keys=recipe.columns,
        log=every,
        save=every,
        half=True,
        average=average,
    )
    trainer.run()


if __name__ == "__main__":
    main(*script_options(__doc__, RetinaNetRecipe, "retinanet_text", {"epochs": 1}))
