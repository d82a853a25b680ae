"""Assertions of the conventions of models and data sets, for tests of your own."""

from typing import TYPE_CHECKING

from cvzoo.lazy_imports.on_demand import import_on_demand

if TYPE_CHECKING:
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
    from cvzoo.testing.classification_link import assert_is_classification_link
    from cvzoo.testing.constant_stub_link import ConstantStubLink
    from cvzoo.testing.detection_link import assert_is_detection_link
    from cvzoo.testing.function_test_case import FunctionTestCase
    from cvzoo.testing.instance_segmentation_link import assert_is_instance_segmentation_link
    from cvzoo.testing.link_test_case import InitializerArgument, LinkInitializersTestCase, LinkTestCase
    from cvzoo.testing.point_link import assert_is_point_link
    from cvzoo.testing.random_bbox import generate_random_bbox
    from cvzoo.testing.semantic_segmentation_link import assert_is_semantic_segmentation_link

__all__ = [
    "assert_is_bbox",
    "assert_is_bbox_dataset",
    "assert_is_classification_link",
    "assert_is_detection_link",
    "assert_is_image",
    "assert_is_instance_segmentation_dataset",
    "assert_is_instance_segmentation_link",
    "assert_is_label_dataset",
    "assert_is_point",
    "assert_is_point_dataset",
    "assert_is_point_link",
    "assert_is_semantic_segmentation_dataset",
    "assert_is_semantic_segmentation_link",
    "ConstantStubLink",
    "FunctionTestCase",
    "generate_random_bbox",
    "InitializerArgument",
    "LinkInitializersTestCase",
    "LinkTestCase",
]

import_on_demand(__name__)
