"""ChainerCV's `chainercv.utils`: its names, which other rooms define."""

from typing import TYPE_CHECKING

from cvzoo.lazy_imports.on_demand import import_on_demand

if TYPE_CHECKING:
    from cvzoo.autodiff import type_check
    from cvzoo.datasets.conformance import (
        assert_is_bbox,
        assert_is_bbox_dataset,
        assert_is_image,
        assert_is_instance_segmentation_dataset,
        assert_is_label_dataset,
        assert_is_point,
        assert_is_point_dataset,
        assert_is_semantic_segmentation_dataset,
    )
    from cvzoo.functions.noise.draws import WalkerAlias
    from cvzoo.geometry.bbox_iou import bbox_iou
    from cvzoo.geometry.mask_to_bbox import mask_to_bbox
    from cvzoo.geometry.nms import non_maximum_suppression
    from cvzoo.geometry.rle_iou import mask_iou
    from cvzoo.images.read_image import read_image
    from cvzoo.images.read_label import read_label
    from cvzoo.images.write_image import write_image
    from cvzoo.iterators.apply_to_iterator import apply_to_iterator
    from cvzoo.iterators.progress_hook import ProgressHook
    from cvzoo.iterators.unzip import unzip
    from cvzoo.testing.constant_stub_link import ConstantStubLink
    from cvzoo.testing.detection_link import assert_is_detection_link
    from cvzoo.testing.instance_segmentation_link import assert_is_instance_segmentation_link
    from cvzoo.testing.random_bbox import generate_random_bbox
    from cvzoo.testing.semantic_segmentation_link import assert_is_semantic_segmentation_link
    from cvzoo.transforms.masks import scale_mask
    from cvzoo.utils import image, iterator, testing
    from cvzoo.visualizations.tile_images import tile_images

__all__ = [
    "apply_to_iterator",
    "assert_is_bbox",
    "assert_is_bbox_dataset",
    "assert_is_detection_link",
    "assert_is_image",
    "assert_is_instance_segmentation_dataset",
    "assert_is_instance_segmentation_link",
    "assert_is_label_dataset",
    "assert_is_point",
    "assert_is_point_dataset",
    "assert_is_semantic_segmentation_dataset",
    "assert_is_semantic_segmentation_link",
    "bbox_iou",
    "ConstantStubLink",
    "generate_random_bbox",
    "image",
    "iterator",
    "mask_iou",
    "mask_to_bbox",
    "non_maximum_suppression",
    "ProgressHook",
    "read_image",
    "read_label",
    "scale_mask",
    "testing",
    "tile_images",
    "type_check",
    "unzip",
    "WalkerAlias",
    "write_image",
]

import_on_demand(__name__)
