"""Training recipes of `cvzoo train`."""

from typing import TYPE_CHECKING

from cvzoo.lazy_imports.on_demand import import_on_demand

if TYPE_CHECKING:
    from cvzoo.training.recipes.classifier_recipe import ClassifierRecipe
    from cvzoo.training.recipes.config_file import read_recipe, recipe_to_toml
    from cvzoo.training.recipes.darknet_recipe import DarknetRecipe
    from cvzoo.training.recipes.deeplab_recipe import DeepLabV3plusRecipe, DeepLabV3Recipe, FCNRecipe, LRASPPRecipe
    from cvzoo.training.recipes.detection_recipe import AbstractDetectionRecipe
    from cvzoo.training.recipes.espnet_recipe import ESPNetRecipe
    from cvzoo.training.recipes.faster_rcnn_fpn_recipe import FasterRCNNFPNRecipe
    from cvzoo.training.recipes.faster_rcnn_recipe import FasterRCNNVGG16Recipe, LightHeadRCNNRecipe
    from cvzoo.training.recipes.fcis_recipe import FCISRecipe
    from cvzoo.training.recipes.fcos_recipe import FCOSRecipe
    from cvzoo.training.recipes.keypoint_rcnn_recipe import KeypointRCNNRecipe
    from cvzoo.training.recipes.layers import apply_layers
    from cvzoo.training.recipes.listing import RECIPES
    from cvzoo.training.recipes.mask_rcnn_recipe import MaskRCNNRecipe
    from cvzoo.training.recipes.pspnet_recipe import PSPNetRecipe
    from cvzoo.training.recipes.recipe import AbstractRecipe
    from cvzoo.training.recipes.retinanet_recipe import RetinaNetRecipe
    from cvzoo.training.recipes.script_options import script_options
    from cvzoo.training.recipes.segmentation_recipe import AbstractSegmentationRecipe
    from cvzoo.training.recipes.segnet_recipe import SegNetRecipe
    from cvzoo.training.recipes.settings import with_settings
    from cvzoo.training.recipes.ssd_recipe import SSDRecipe
    from cvzoo.training.recipes.training import RetinaNetTraining, Training
    from cvzoo.training.recipes.yolo_v3_recipe import YOLOv3Recipe

__all__ = [
    "AbstractDetectionRecipe",
    "AbstractRecipe",
    "AbstractSegmentationRecipe",
    "apply_layers",
    "ClassifierRecipe",
    "DarknetRecipe",
    "DeepLabV3plusRecipe",
    "DeepLabV3Recipe",
    "ESPNetRecipe",
    "FasterRCNNFPNRecipe",
    "FasterRCNNVGG16Recipe",
    "FCISRecipe",
    "FCNRecipe",
    "FCOSRecipe",
    "KeypointRCNNRecipe",
    "LightHeadRCNNRecipe",
    "LRASPPRecipe",
    "MaskRCNNRecipe",
    "PSPNetRecipe",
    "read_recipe",
    "recipe_to_toml",
    "RECIPES",
    "RetinaNetRecipe",
    "RetinaNetTraining",
    "script_options",
    "SegNetRecipe",
    "SSDRecipe",
    "Training",
    "with_settings",
    "YOLOv3Recipe",
]

import_on_demand(__name__)
