"""The listing of recipes: what can be trained by name."""

import difflib
from collections.abc import Mapping
from types import MappingProxyType

from cvzoo.errors.exceptions import ConfigError
from cvzoo.training.recipes.classifier_recipe import CLASSIFIER_RECIPES
from cvzoo.training.recipes.darknet_recipe import DARKNET_RECIPES
from cvzoo.training.recipes.deeplab_recipe import DEEPLAB_RECIPES
from cvzoo.training.recipes.espnet_recipe import ESPNET_RECIPES
from cvzoo.training.recipes.faster_rcnn_fpn_recipe import FASTER_RCNN_FPN_RECIPES
from cvzoo.training.recipes.faster_rcnn_recipe import FASTER_RCNN_RECIPES
from cvzoo.training.recipes.fcis_recipe import FCIS_RECIPES
from cvzoo.training.recipes.fcos_recipe import FCOS_RECIPES
from cvzoo.training.recipes.keypoint_rcnn_recipe import KEYPOINT_RCNN_RECIPES
from cvzoo.training.recipes.mask_rcnn_recipe import MASK_RCNN_RECIPES
from cvzoo.training.recipes.pspnet_recipe import PSPNET_RECIPES
from cvzoo.training.recipes.recipe import AbstractRecipe
from cvzoo.training.recipes.retinanet_recipe import RETINANET_RECIPES
from cvzoo.training.recipes.segnet_recipe import SEGNET_RECIPES
from cvzoo.training.recipes.ssd_recipe import SSD_RECIPES
from cvzoo.training.recipes.yolo_v3_recipe import YOLO_V3_RECIPES

# a family adds its table
RECIPES: Mapping[str, AbstractRecipe] = MappingProxyType(
    {
        **RETINANET_RECIPES,
        **FCOS_RECIPES,
        **SSD_RECIPES,
        **FASTER_RCNN_FPN_RECIPES,
        **FASTER_RCNN_RECIPES,
        **MASK_RCNN_RECIPES,
        **FCIS_RECIPES,
        **KEYPOINT_RCNN_RECIPES,
        **YOLO_V3_RECIPES,
        **DARKNET_RECIPES,
        **CLASSIFIER_RECIPES,
        **SEGNET_RECIPES,
        **PSPNET_RECIPES,
        **DEEPLAB_RECIPES,
        **ESPNET_RECIPES,
    }
)


def named_recipe(name: str) -> AbstractRecipe:
    """The listed recipe of this name. Raises ConfigError for an unknown one, with the nearest."""
    if name in RECIPES:
        return RECIPES[name]
    near = difflib.get_close_matches(name, RECIPES, n=1, cutoff=0.5)
    hint = f"did you mean {near[0]}?" if near else "cvzoo train --list shows all"
    raise ConfigError(f"there is no recipe {name!r}", hint=hint)
