"""What a training will do, before it is started: its first images with augmentation, learning rates, anchors."""

import dataclasses
from typing import Any, NamedTuple

import numpy as np

from cvzoo.config.randomness import set_seed
from cvzoo.iterators.serial_iterator import SerialIterator
from cvzoo.training.recipes.images import example_sheet
from cvzoo.training.recipes.recipe import AbstractRecipe, Splits
from cvzoo.training.run.anchor_reach import anchor_reach
from cvzoo.typing.aliases import Array

_N_IMAGE = 8
_N_RATE = 200


class Preview(NamedTuple):
    """See `preview`.

    sheet: (3, H, W), eight images as the training reads them first
    rates: (update, learning rate), at most 200 of them
    reach: of `anchor_reach`; None: the network has no anchors
    """

    sheet: Array
    rates: list[tuple[int, float]]
    reach: dict[str, Any] | None


def preview(recipe: AbstractRecipe, splits: Splits) -> Preview:
    """The preview of a training, which neither trains nor loads pretrained weights.

    Raises the errors of the network and of the data sets.
    """
    recipe = recipe.with_splits(splits).resolved(len(splits.train))
    n = recipe.n_update(len(splits.train))
    updates = np.unique(np.linspace(0, n - 1, min(n, _N_RATE)).round().astype(int)).tolist()
    rates = list(zip(updates, recipe.learning_rates(len(splits.train), updates)))
    set_seed(recipe.seed)
    model = dataclasses.replace(recipe, pretrained=None).build_model(splits.label_names)
    examples = recipe.examples(splits.train, model)
    order = recipe.order_sampler(splits.train)
    iterator: SerialIterator = SerialIterator(
        examples, min(_N_IMAGE, len(examples)), order_sampler=order, seed=recipe.seed
    )
    drawn = [recipe.draw_example(each, model, splits.label_names) for each in next(iterator)]
    anchors = recipe.anchors(model)
    if anchors is None:
        return Preview(example_sheet(drawn), rates, None)
    boxed = recipe.boxed_examples(splits.train, model)
    return Preview(example_sheet(drawn), rates, anchor_reach(boxed, anchors, label_names=splits.label_names))
