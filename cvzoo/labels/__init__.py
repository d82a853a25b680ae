"""Names and colors of the classes of public data sets, in the order of their labels."""

from typing import TYPE_CHECKING

from cvzoo.lazy_imports.on_demand import import_on_demand

if TYPE_CHECKING:
    from cvzoo.labels.ade20k import ade20k_semantic_segmentation_label_colors, ade20k_semantic_segmentation_label_names
    from cvzoo.labels.camvid import camvid_ignore_label_color, camvid_label_colors, camvid_label_names
    from cvzoo.labels.cityscapes import (
        cityscapes_file_label_colors,
        cityscapes_file_label_names,
        cityscapes_label_ids,
        cityscapes_semantic_segmentation_label_colors,
        cityscapes_semantic_segmentation_label_names,
    )
    from cvzoo.labels.class_colors import class_colors
    from cvzoo.labels.coco import (
        coco_bbox_label_names,
        coco_instance_segmentation_label_names,
        coco_keypoint_names,
        coco_keypoint_skeleton,
    )
    from cvzoo.labels.coco_categories import torchvision_label_names, unused_coco_categories
    from cvzoo.labels.coco_panoptic import (
        coco_semantic_segmentation_label_colors,
        coco_semantic_segmentation_label_names,
    )
    from cvzoo.labels.cub import cub_keypoint_names, cub_label_names
    from cvzoo.labels.digits_and_cifar import (
        cifar10_label_names,
        cifar100_label_names,
        cifar100_super_label_names,
        mnist_label_names,
    )
    from cvzoo.labels.imagenet import imagenet_label_names
    from cvzoo.labels.online_products import online_products_super_label_names
    from cvzoo.labels.voc import (
        sbd_instance_segmentation_label_names,
        voc_bbox_label_names,
        voc_instance_segmentation_label_names,
        voc_semantic_segmentation_ignore_label_color,
        voc_semantic_segmentation_label_colors,
        voc_semantic_segmentation_label_names,
    )

__all__ = [
    "ade20k_semantic_segmentation_label_colors",
    "ade20k_semantic_segmentation_label_names",
    "camvid_ignore_label_color",
    "camvid_label_colors",
    "camvid_label_names",
    "cifar100_label_names",
    "cifar100_super_label_names",
    "cifar10_label_names",
    "cityscapes_file_label_colors",
    "cityscapes_file_label_names",
    "cityscapes_label_ids",
    "cityscapes_semantic_segmentation_label_colors",
    "cityscapes_semantic_segmentation_label_names",
    "class_colors",
    "coco_bbox_label_names",
    "coco_instance_segmentation_label_names",
    "coco_keypoint_names",
    "coco_keypoint_skeleton",
    "coco_semantic_segmentation_label_colors",
    "coco_semantic_segmentation_label_names",
    "cub_keypoint_names",
    "cub_label_names",
    "imagenet_label_names",
    "mnist_label_names",
    "online_products_super_label_names",
    "sbd_instance_segmentation_label_names",
    "torchvision_label_names",
    "unused_coco_categories",
    "voc_bbox_label_names",
    "voc_instance_segmentation_label_names",
    "voc_semantic_segmentation_ignore_label_color",
    "voc_semantic_segmentation_label_colors",
    "voc_semantic_segmentation_label_names",
]

import_on_demand(__name__)
