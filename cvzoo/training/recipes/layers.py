"""Settings of recipes for layers and for updates: learning rates, freezing, moving averages."""

import difflib
from collections.abc import Iterable
from typing import Any

from cvzoo.errors.exceptions import ConfigError
from cvzoo.links.freeze import freeze
from cvzoo.links.link import Link
from cvzoo.optimizers.hooks.exponential_moving_average import ExponentialMovingAverage
from cvzoo.optimizers.learning_rate_factors import scale_learning_rate
from cvzoo.optimizers.optimizer import AbstractOptimizer
from cvzoo.optimizers.selectors import named
from cvzoo.training.recipes.recipe import AbstractRecipe


def apply_layers(recipe: AbstractRecipe, optimizer: AbstractOptimizer, model: Link) -> ExponentialMovingAverage | None:
    """Gives the optimizer the recipe's learning rates of parts, freezing and accumulation; returns the average, if any.

    model: a part of the optimizer's link
    Raises ConfigError for a path that the network has not, with the nearest one.
    """
    loss: Link | Any = optimizer.target
    prefix = next(path for path, link in loss.namedlinks() if link is model)
    for name in recipe.frozen:
        freeze(_part(model, name))
    for name, rate in (recipe.layer_lr or {}).items():
        _part(model, name)
        scale_learning_rate(optimizer, rate, named(f"{prefix.rstrip('/')}/{name.strip('/')}"))
    if recipe.accumulate > 1:
        optimizer.accumulate(recipe.accumulate)
    if recipe.ema is None:
        return None
    average = ExponentialMovingAverage(recipe.ema, persistent=True)
    optimizer.add_hook(average)
    return average


def _part(model: Link, name: str) -> Link:
    """The link at a path such as "extractor/conv1"."""
    links = {path.strip("/"): link for path, link in model.namedlinks(skipself=True)}
    if name.strip("/") not in links:
        raise ConfigError(f"the network has no part {name!r}", hint=_nearest(name, links))
    return links[name.strip("/")]


def _nearest(name: str, known: Iterable[str]) -> str:
    known = list(known)
    near = difflib.get_close_matches(name, known, n=1, cutoff=0.6)
    return f"did you mean {near[0]}?" if near else "parts: " + ", ".join(each for each in known if "/" not in each)
