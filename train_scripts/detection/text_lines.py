"""The network of the text detectors, and its trainer."""

from cvzoo import optimizers
from cvzoo.datasets import TransformDataset
from cvzoo.links import RandomPart, RetinaNetLoss, RetinaNetSettings, RetinaNetTransform, collate_images
from cvzoo.training import Run, Trainer, extensions

# wide anchors as in the BK.Synapse thesis on receipts, down to 1:8 there; 1:16 for long lines here
ANCHOR_SIZES = tuple((2.5 * 2**level, 3.5 * 2**level) for level in range(3, 7))
NETWORK = RetinaNetSettings(
    n_layer=18,
    base_channels=32,
    channels=64,
    head_depth=2,
    last_level=6,
    min_size=704,
    max_size=1024,
    anchor_sizes=ANCHOR_SIZES,
    anchor_ratios=(1, 1 / 2, 1 / 4, 1 / 8, 1 / 16),
)


def text_trainer(run: Run, recipe, loss: RetinaNetLoss, train, *, epochs: int) -> Trainer:
    """The trainer of a text detector: AdamW with cosine decay, random crops without flips.

    recipe: has batch_size, lr, weight_decay, warmup (updates), share, shorts and long
    """
    adam = optimizers.AdamW(recipe.lr, weight_decay_rate=recipe.weight_decay, exempt=optimizers.is_vector)
    optimizer = adam.setup(loss)
    optimizer.add_hook(optimizers.GradientClipping(10))
    transform = RetinaNetTransform(recipe.shorts, recipe.long, part=RandomPart(recipe.share), flip=False, jitter=0.2)
    examples = TransformDataset(train, ("img", "bbox", "label", "ignored"), transform)
    trainer = run.trainer(optimizer, examples, recipe.batch_size, (epochs, "epoch"), converter=collate_images)
    steps = epochs * len(train) // recipe.batch_size
    cosine = extensions.CosineShift("eta", steps, target=0.01)
    schedule = extensions.WarmupShift("eta", 0.01, min(recipe.warmup, steps), then=cosine)
    trainer.extend(schedule, trigger=(1, "iteration"))
    return trainer
