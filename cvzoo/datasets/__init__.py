"""Data sets that can be cut without reading what is cut away, public ones and your own, and rules they keep."""

from typing import TYPE_CHECKING

from cvzoo.lazy_imports.on_demand import import_on_demand

if TYPE_CHECKING:
    from cvzoo.datasets.ade20k_datasets import ADE20KSemanticSegmentationDataset, ADE20KTestImageDataset
    from cvzoo.datasets.archive import dataset_home
    from cvzoo.datasets.bbox_splits import BboxSplits, bbox_splits
    from cvzoo.datasets.camvid_dataset import CamVidDataset
    from cvzoo.datasets.cifar_datasets import CIFAR10Dataset, CIFAR100Dataset
    from cvzoo.datasets.cityscapes_datasets import CityscapesSemanticSegmentationDataset, CityscapesTestImageDataset
    from cvzoo.datasets.class_splits import ClassSplits, class_splits
    from cvzoo.datasets.coco.json_datasets import (
        COCOJSONBboxDataset,
        COCOJSONInstanceSegmentationDataset,
        COCOJSONKeypointDataset,
    )
    from cvzoo.datasets.coco.official_datasets import (
        COCOBboxDataset,
        COCOInstanceSegmentationDataset,
        COCOKeypointDataset,
    )
    from cvzoo.datasets.coco.semantic_dataset import COCOSemanticSegmentationDataset
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
    from cvzoo.datasets.convert.convert_dataset import Conversion, convert_dataset
    from cvzoo.datasets.convert.losses import Loss
    from cvzoo.datasets.cub.datasets import CUBInstanceSegmentationDataset, CUBKeypointDataset, CUBLabelDataset
    from cvzoo.datasets.dataset_mixin import DatasetMixin
    from cvzoo.datasets.directory_parsing_label_dataset import (
        DirectoryParsingLabelDataset,
        directory_parsing_label_names,
    )
    from cvzoo.datasets.doctor.examine_dataset import Checkup, examine_dataset
    from cvzoo.datasets.doctor.fault import Fault, Severity
    from cvzoo.datasets.doctor.finding import Finding
    from cvzoo.datasets.doctor.write_fixed_dataset import write_fixed_dataset
    from cvzoo.datasets.image_dataset import ImageDataset
    from cvzoo.datasets.label_map_folder_dataset import LabelMapFolderDataset
    from cvzoo.datasets.label_map_splits import label_map_splits
    from cvzoo.datasets.labeled_image_dataset import LabeledImageDataset
    from cvzoo.datasets.layouts.annotated_set import AnnotatedImage, AnnotatedObject, AnnotatedPhoto, AnnotatedSet
    from cvzoo.datasets.layouts.data_spec import DataSpec, parse_data_spec
    from cvzoo.datasets.layouts.read import read_annotated_set
    from cvzoo.datasets.median_frequency_weights import median_frequency_weights
    from cvzoo.datasets.mixed_dataset import MixedDataset
    from cvzoo.datasets.mixup_soft_label_dataset import MixUpSoftLabelDataset
    from cvzoo.datasets.mnist_dataset import MNISTDataset
    from cvzoo.datasets.online_products_dataset import OnlineProductsDataset
    from cvzoo.datasets.siamese_dataset import SiameseDataset
    from cvzoo.datasets.sliceable.abstract import AbstractSliceableDataset
    from cvzoo.datasets.sliceable.concatenated_dataset import ConcatenatedDataset
    from cvzoo.datasets.sliceable.getter_dataset import GetterDataset
    from cvzoo.datasets.sliceable.sequence_dataset import SequenceDataset, as_sliceable
    from cvzoo.datasets.sliceable.sub_dataset import (
        SubDataset,
        get_cross_validation_datasets,
        get_cross_validation_datasets_random,
        split_dataset,
        split_dataset_n,
        split_dataset_n_random,
        split_dataset_random,
        split_dataset_stratified,
    )
    from cvzoo.datasets.sliceable.transform_dataset import TransformDataset
    from cvzoo.datasets.sliceable.tuple_dataset import TupleDataset
    from cvzoo.datasets.soft_label_mix_dataset import SoftLabelMixDataset
    from cvzoo.datasets.split.write_split import Split, write_split
    from cvzoo.datasets.sroie_dataset import SROIETextDataset
    from cvzoo.datasets.voc.bbox_dataset import VOCBboxDataset, VOCFolderBboxDataset
    from cvzoo.datasets.voc.sbd_dataset import SBDInstanceSegmentationDataset
    from cvzoo.datasets.voc.segmentation_datasets import VOCInstanceSegmentationDataset, VOCSemanticSegmentationDataset
    from cvzoo.datasets.yolo_bbox_dataset import YOLOBboxDataset
    from cvzoo.labels.ade20k import (
        ade20k_semantic_segmentation_label_colors,
        ade20k_semantic_segmentation_label_names,
    )
    from cvzoo.labels.camvid import camvid_ignore_label_color, camvid_label_colors, camvid_label_names
    from cvzoo.labels.cityscapes import (
        cityscapes_semantic_segmentation_label_colors,
        cityscapes_semantic_segmentation_label_names,
    )
    from cvzoo.labels.coco import (
        coco_bbox_label_names,
        coco_instance_segmentation_label_names,
        coco_keypoint_names,
        coco_keypoint_skeleton,
    )
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
    "AbstractSliceableDataset",
    "ade20k_semantic_segmentation_label_colors",
    "ade20k_semantic_segmentation_label_names",
    "ADE20KSemanticSegmentationDataset",
    "ADE20KTestImageDataset",
    "AnnotatedImage",
    "AnnotatedObject",
    "AnnotatedPhoto",
    "AnnotatedSet",
    "as_sliceable",
    "assert_is_bbox",
    "assert_is_bbox_dataset",
    "assert_is_image",
    "assert_is_instance_segmentation_dataset",
    "assert_is_label_dataset",
    "assert_is_point",
    "assert_is_point_dataset",
    "assert_is_semantic_segmentation_dataset",
    "bbox_splits",
    "BboxSplits",
    "camvid_ignore_label_color",
    "camvid_label_colors",
    "camvid_label_names",
    "CamVidDataset",
    "Checkup",
    "cifar100_label_names",
    "cifar100_super_label_names",
    "CIFAR100Dataset",
    "cifar10_label_names",
    "CIFAR10Dataset",
    "cityscapes_semantic_segmentation_label_colors",
    "cityscapes_semantic_segmentation_label_names",
    "CityscapesSemanticSegmentationDataset",
    "CityscapesTestImageDataset",
    "class_splits",
    "ClassSplits",
    "coco_bbox_label_names",
    "coco_instance_segmentation_label_names",
    "coco_keypoint_names",
    "coco_keypoint_skeleton",
    "coco_semantic_segmentation_label_colors",
    "coco_semantic_segmentation_label_names",
    "COCOBboxDataset",
    "COCOInstanceSegmentationDataset",
    "COCOJSONBboxDataset",
    "COCOJSONInstanceSegmentationDataset",
    "COCOJSONKeypointDataset",
    "COCOKeypointDataset",
    "COCOSemanticSegmentationDataset",
    "ConcatenatedDataset",
    "Conversion",
    "convert_dataset",
    "cub_keypoint_names",
    "cub_label_names",
    "CUBInstanceSegmentationDataset",
    "CUBKeypointDataset",
    "CUBLabelDataset",
    "dataset_home",
    "DatasetMixin",
    "DataSpec",
    "directory_parsing_label_names",
    "DirectoryParsingLabelDataset",
    "examine_dataset",
    "Fault",
    "Finding",
    "get_cross_validation_datasets",
    "get_cross_validation_datasets_random",
    "GetterDataset",
    "ImageDataset",
    "label_map_splits",
    "LabeledImageDataset",
    "LabelMapFolderDataset",
    "Loss",
    "median_frequency_weights",
    "MixedDataset",
    "MixUpSoftLabelDataset",
    "mnist_label_names",
    "MNISTDataset",
    "online_products_super_label_names",
    "OnlineProductsDataset",
    "parse_data_spec",
    "read_annotated_set",
    "sbd_instance_segmentation_label_names",
    "SBDInstanceSegmentationDataset",
    "SequenceDataset",
    "Severity",
    "SiameseDataset",
    "SoftLabelMixDataset",
    "Split",
    "split_dataset",
    "split_dataset_n",
    "split_dataset_n_random",
    "split_dataset_random",
    "split_dataset_stratified",
    "SROIETextDataset",
    "SubDataset",
    "TransformDataset",
    "TupleDataset",
    "voc_bbox_label_names",
    "voc_instance_segmentation_label_names",
    "voc_semantic_segmentation_ignore_label_color",
    "voc_semantic_segmentation_label_colors",
    "voc_semantic_segmentation_label_names",
    "VOCBboxDataset",
    "VOCFolderBboxDataset",
    "VOCInstanceSegmentationDataset",
    "VOCSemanticSegmentationDataset",
    "write_fixed_dataset",
    "write_split",
    "YOLOBboxDataset",
]

import_on_demand(__name__)
