"""Training recipes of `cvzoo train`."""

from typing import TYPE_CHECKING

from cvzoo.lazy_imports.on_demand import import_on_demand

if TYPE_CHECKING:
    from cvzoo.training.recipes.retinanet_recipe import RetinaNetRecipe
    from cvzoo.training.recipes.retinanet_training import RetinaNetTraining

__all__ = ["RetinaNetRecipe", "RetinaNetTraining"]

import_on_demand(__name__)
