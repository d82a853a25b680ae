"""Whole trainings as data: what `cvzoo train` runs for people who only bring photos."""

from cvzoo.training.recipes.retinanet_recipe import RetinaNetRecipe
from cvzoo.training.recipes.retinanet_training import RetinaNetTraining

__all__ = ["RetinaNetRecipe", "RetinaNetTraining"]
