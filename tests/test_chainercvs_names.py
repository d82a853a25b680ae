"""Every public name of ChainerCV 0.13 is where its users look for it, or says what to use."""

import importlib
import inspect
import re

import numpy as np
import pytest

import cvzoo
from cvzoo.datasets import TupleDataset
from cvzoo.errors.exceptions import DownloadError, ReplacedNameError
from cvzoo.utils import assert_is_image

# package below `chainercv` -> the names that its `__init__` shows
NAMES = {
    "chainer_experimental": "datasets training",
    "chainer_experimental.datasets": "sliceable",
    "chainer_experimental.datasets.sliceable": (
        "ConcatenatedDataset GetterDataset SliceableDataset TransformDataset TupleDataset"
    ),
    "chainer_experimental.training": "extensions",
    "chainer_experimental.training.extensions": "make_shift",
    "datasets": (
        "ade20k_semantic_segmentation_label_colors ade20k_semantic_segmentation_label_names "
        "ADE20KSemanticSegmentationDataset ADE20KTestImageDataset camvid_ignore_label_color "
        "camvid_label_colors camvid_label_names CamVidDataset cityscapes_semantic_segmentation_label_colors "
        "cityscapes_semantic_segmentation_label_names CityscapesSemanticSegmentationDataset "
        "CityscapesTestImageDataset coco_bbox_label_names coco_instance_segmentation_label_names "
        "coco_semantic_segmentation_label_colors coco_semantic_segmentation_label_names COCOBboxDataset "
        "COCOInstanceSegmentationDataset COCOSemanticSegmentationDataset cub_label_names CUBKeypointDataset "
        "CUBLabelDataset directory_parsing_label_names DirectoryParsingLabelDataset MixUpSoftLabelDataset "
        "online_products_super_label_names OnlineProductsDataset sbd_instance_segmentation_label_names "
        "SBDInstanceSegmentationDataset SiameseDataset voc_bbox_label_names "
        "voc_instance_segmentation_label_names voc_semantic_segmentation_ignore_label_color "
        "voc_semantic_segmentation_label_colors voc_semantic_segmentation_label_names VOCBboxDataset "
        "VOCInstanceSegmentationDataset VOCSemanticSegmentationDataset"
    ),
    "evaluations": (
        "calc_detection_voc_ap calc_detection_voc_prec_rec calc_instance_segmentation_voc_prec_rec "
        "calc_semantic_segmentation_confusion calc_semantic_segmentation_iou eval_detection_coco "
        "eval_detection_voc eval_instance_segmentation_coco eval_instance_segmentation_voc "
        "eval_semantic_segmentation"
    ),
    "experimental": "links",
    "experimental.links": "FCISResNet101 FCISTrainChain PSPNetResNet101 PSPNetResNet50 YOLOv2Tiny",
    "experimental.links.model.fcis": (
        "FCIS FCISResNet101 FCISResNet101Head FCISTrainChain mask_voting ProposalTargetCreator ResNet101Extractor"
    ),
    "experimental.links.model.pspnet": "convolution_crop PSPNet PSPNetResNet101 PSPNetResNet50",
    "experimental.links.model.yolo": "DarknetExtractor YOLOv2Tiny",
    "extensions": (
        "DetectionCOCOEvaluator DetectionVisReport DetectionVOCEvaluator InstanceSegmentationCOCOEvaluator "
        "InstanceSegmentationVOCEvaluator SemanticSegmentationEvaluator"
    ),
    "functions": "ps_roi_average_align_2d ps_roi_average_pooling_2d ps_roi_max_align_2d ps_roi_max_pooling_2d",
    "links": (
        "Conv2DActiv Conv2DBNActiv DeepLabV3plusXception65 FasterRCNNFPNResNet101 FasterRCNNFPNResNet50 "
        "FasterRCNNVGG16 FeaturePredictor LightHeadRCNNResNet101 MaskRCNNFPNResNet101 MaskRCNNFPNResNet50 "
        "MobileNetV2 PickableSequentialChain PixelwiseSoftmaxClassifier ResNet101 ResNet152 ResNet50 SEBlock "
        "SegNetBasic SeparableConv2DBNActiv SEResNet101 SEResNet152 SEResNet50 SEResNeXt101 SEResNeXt50 "
        "SSD300 SSD512 VGG16 YOLOv2 YOLOv3"
    ),
    "links.connection": "Conv2DActiv Conv2DBNActiv SEBlock SeparableConv2DBNActiv",
    "links.model.deeplab": "Decoder DeepLabV3plus DeepLabV3plusXception65 SeparableASPP Xception65 XceptionBlock",
    "links.model.faster_rcnn": (
        "AnchorTargetCreator bbox2loc FasterRCNN FasterRCNNTrainChain FasterRCNNVGG16 generate_anchor_base "
        "loc2bbox ProposalCreator ProposalTargetCreator RegionProposalNetwork VGG16RoIHead"
    ),
    "links.model.fpn": (
        "bbox_head_loss_post bbox_head_loss_pre BboxHead FasterRCNN FasterRCNNFPNResNet "
        "FasterRCNNFPNResNet101 FasterRCNNFPNResNet50 FPN mask_head_loss_post mask_head_loss_pre mask_to_segm "
        "MaskHead MaskRCNNFPNResNet101 MaskRCNNFPNResNet50 RPN rpn_loss segm_to_mask"
    ),
    "links.model.light_head_rcnn": "GlobalContextModule LightHeadRCNN LightHeadRCNNResNet101 LightHeadRCNNTrainChain",
    "links.model.mobilenet": "ExpandedConv2D MobileNetV2 TFConv2DBNActiv TFConvolution2D",
    "links.model.resnet": "Bottleneck ResBlock ResNet ResNet101 ResNet152 ResNet50",
    "links.model.segnet": "SegNetBasic",
    "links.model.senet": "SEResNet SEResNet101 SEResNet152 SEResNet50 SEResNeXt SEResNeXt101 SEResNeXt50",
    "links.model.ssd": (
        "GradientScaling Multibox multibox_loss MultiboxCoder Normalize random_crop_with_bbox_constraints "
        "random_distort resize_with_random_interpolation SSD SSD300 SSD512 VGG16 VGG16Extractor300 "
        "VGG16Extractor512"
    ),
    "links.model.vgg": "VGG16",
    "links.model.yolo": "Darknet19Extractor Darknet53Extractor ResidualBlock YOLOBase YOLOv2 YOLOv2Base YOLOv3",
    "transforms": (
        "center_crop crop_bbox flip flip_bbox flip_point pca_lighting random_crop random_expand random_flip "
        "random_rotate random_sized_crop resize resize_bbox resize_contain resize_point rotate rotate_bbox "
        "scale ten_crop translate_bbox translate_point"
    ),
    "utils": (
        "apply_to_iterator assert_is_bbox assert_is_bbox_dataset assert_is_detection_link assert_is_image "
        "assert_is_instance_segmentation_dataset assert_is_instance_segmentation_link assert_is_label_dataset "
        "assert_is_point assert_is_point_dataset assert_is_semantic_segmentation_dataset "
        "assert_is_semantic_segmentation_link bbox_iou cached_download ConstantStubLink download_model "
        "extractall generate_random_bbox mask_iou mask_to_bbox non_maximum_suppression "
        "prepare_pretrained_model ProgressHook read_image read_label scale_mask tile_images unzip write_image"
    ),
    "utils.image": "read_image read_label tile_images write_image",
    "utils.iterator": "apply_to_iterator ProgressHook unzip",
    "utils.testing": (
        "assert_is_bbox assert_is_bbox_dataset assert_is_detection_link assert_is_image "
        "assert_is_instance_segmentation_dataset assert_is_instance_segmentation_link assert_is_label_dataset "
        "assert_is_point assert_is_point_dataset assert_is_semantic_segmentation_dataset "
        "assert_is_semantic_segmentation_link ConstantStubLink generate_random_bbox parameterize product "
        "product_dict run_module"
    ),
    "utils.testing.assertions": (
        "assert_is_bbox assert_is_bbox_dataset assert_is_detection_link assert_is_image "
        "assert_is_instance_segmentation_dataset assert_is_instance_segmentation_link assert_is_label_dataset "
        "assert_is_point assert_is_point_dataset assert_is_semantic_segmentation_dataset "
        "assert_is_semantic_segmentation_link"
    ),
    "visualizations": "vis_bbox vis_image vis_instance_segmentation vis_point vis_semantic_segmentation",
}
# names that are not there: asking for one says what to use
REPLACED = {
    "experimental.links.model.fcis": "FCIS ProposalTargetCreator ResNet101Extractor",
    "experimental.links.model.yolo": "DarknetExtractor",
    "links.model.deeplab": "DeepLabV3plus",
    "links.model.fpn": (
        "bbox_head_loss_post bbox_head_loss_pre BboxHead FasterRCNN FasterRCNNFPNResNet mask_head_loss_post "
        "mask_head_loss_pre MaskHead RPN rpn_loss"
    ),
    "links.model.resnet": "Bottleneck ResBlock",
    "links.model.ssd": "GradientScaling VGG16",
    "links.model.yolo": "ResidualBlock YOLOBase YOLOv2Base",
    "utils": "cached_download download_model extractall prepare_pretrained_model",
    "utils.testing": "parameterize product product_dict run_module",
}


def is_replaced(package, name):
    return name in REPLACED.get(package, "").split()


@pytest.mark.parametrize("package", NAMES)
def test_a_public_name_of_chainercv_is_there_or_says_what_to_use(package):
    module = importlib.import_module(f"cvzoo.{package}")
    for name in NAMES[package].split():
        if is_replaced(package, name):
            with pytest.raises(ReplacedNameError, match=f"has no {name}: use "):
                getattr(module, name)
        else:
            assert getattr(module, name) is not None


def test_what_replaces_a_name_is_there():
    for package, names in REPLACED.items():
        for name in names.split():
            with pytest.raises(ReplacedNameError) as caught:
                getattr(importlib.import_module(f"cvzoo.{package}"), name)
            for word in re.findall(r"cvzoo(?:\.\w+)+", str(caught.value).partition(": use ")[2]):
                *path, last = word.split(".")
                assert hasattr(importlib.import_module(".".join(path)), last), word


# name -> ChainerCV's arguments that may be given by position, in order
BY_POSITION = {
    "extensions.DetectionCOCOEvaluator": "iterator target label_names",
    "extensions.DetectionVOCEvaluator": "iterator target use_07_metric label_names",
    "extensions.InstanceSegmentationCOCOEvaluator": "iterator target label_names",
    "extensions.InstanceSegmentationVOCEvaluator": "iterator target iou_thresh use_07_metric label_names",
    "extensions.SemanticSegmentationEvaluator": "iterator target label_names",
    "links.Conv2DActiv": "in_channels out_channels ksize stride pad dilate nobias initialW initial_bias activ",
    "links.Conv2DBNActiv": "in_channels out_channels ksize stride pad dilate groups nobias initialW initial_bias activ",
    "links.FeaturePredictor": "extractor crop_size scale_size crop mean",
    "links.model.faster_rcnn.FasterRCNN": (
        "extractor rpn head mean min_size max_size loc_normalize_mean loc_normalize_std"
    ),
    "links.model.faster_rcnn.FasterRCNNTrainChain": (
        "faster_rcnn rpn_sigma roi_sigma anchor_target_creator proposal_target_creator"
    ),
    "links.model.faster_rcnn.RegionProposalNetwork": (
        "in_channels mid_channels ratios anchor_scales feat_stride initialW"
    ),
    "links.model.light_head_rcnn.LightHeadRCNNTrainChain": (
        "light_head_rcnn rpn_sigma roi_sigma n_ohem_sample anchor_target_creator proposal_target_creator"
    ),
    "links.model.ssd.random_crop_with_bbox_constraints": (
        "img bbox min_scale max_scale max_aspect_ratio constraints max_trial return_param"
    ),
    "links.model.ssd.random_distort": (
        "img brightness_delta contrast_low contrast_high saturation_low saturation_high hue_delta"
    ),
    "links.model.ssd.resize_with_random_interpolation": "img size return_param",
    "transforms.center_crop": "img size return_param",
    "transforms.crop_bbox": "bbox y_slice x_slice allow_outside_center return_param",
    "transforms.flip": "img y_flip x_flip",
    "transforms.flip_bbox": "bbox size y_flip x_flip",
    "transforms.flip_point": "point size y_flip x_flip",
    "transforms.pca_lighting": "img sigma eigen_value eigen_vector",
    "transforms.random_crop": "img size return_param",
    "transforms.random_expand": "img max_ratio fill return_param",
    "transforms.random_flip": "img y_random x_random return_param",
    "transforms.random_rotate": "img return_param",
    "transforms.random_sized_crop": "img scale_ratio_range aspect_ratio_range return_param",
    "transforms.resize": "img size interpolation",
    "transforms.resize_contain": "img size fill interpolation return_param",
    "transforms.rotate": "img angle expand fill interpolation",
    "transforms.scale": "img size fit_short interpolation",
    "transforms.translate_bbox": "bbox y_offset x_offset",
    "transforms.translate_point": "point y_offset x_offset",
    "utils.non_maximum_suppression": "bbox thresh score limit",
    "utils.write_image": "img file format",
}


@pytest.mark.parametrize("name", BY_POSITION)
def test_arguments_come_in_chainercvs_order(name):
    package, _, last = name.rpartition(".")
    function = getattr(importlib.import_module(f"cvzoo.{package}"), last)
    parameters = inspect.signature(function).parameters.values()
    names = [each.name for each in parameters if each.kind is each.POSITIONAL_OR_KEYWORD]
    assert names[: len(BY_POSITION[name].split())] == BY_POSITION[name].split()


def test_errors_are_those_that_chainercvs_programs_catch():
    dataset = TupleDataset(("img", [0]), ("label", [1]))
    with pytest.raises(KeyError, match="has no key"):
        dataset.slice[:, "bbox"]
    with pytest.raises(IndexError, match="has no key"):
        dataset.slice[:, 2]
    with pytest.raises(AssertionError, match="wrong dtype"):
        assert_is_image(np.zeros((3, 4, 4), np.int64))


# class -> the names that ChainerCV has for its weights
WEIGHTS = {
    **dict.fromkeys(("VGG16", "ResNet50", "ResNet101", "ResNet152", "MobileNetV2"), "imagenet"),
    **dict.fromkeys(("SEResNet50", "SEResNet101", "SEResNet152", "SEResNeXt50", "SEResNeXt101"), "imagenet"),
    **dict.fromkeys(("FasterRCNNFPNResNet50", "FasterRCNNFPNResNet101"), "coco imagenet"),
    **dict.fromkeys(("MaskRCNNFPNResNet50", "MaskRCNNFPNResNet101"), "coco imagenet"),
    **dict.fromkeys(("PSPNetResNet50", "PSPNetResNet101"), "cityscapes ade20k imagenet"),
    **dict.fromkeys(("SSD300", "SSD512"), "voc0712 imagenet"),
    **dict.fromkeys(("YOLOv2", "YOLOv2Tiny", "YOLOv3"), "voc0712"),
    "DeepLabV3plusXception65": "voc cityscapes ade20k",
    "FasterRCNNVGG16": "voc07 voc0712 imagenet",
    "FCISResNet101": "sbd sbd_converted coco coco_converted",
    "LightHeadRCNNResNet101": "coco imagenet",
    "SegNetBasic": "camvid",
}


@pytest.mark.parametrize(("name", "weights"), [(name, each) for name in WEIGHTS for each in WEIGHTS[name].split()])
def test_weights_have_chainercvs_names(name, weights, tmp_path, monkeypatch):
    monkeypatch.setenv("CVZOO_OFFLINE", "1")
    monkeypatch.setenv("CVZOO_HOME", str(tmp_path))
    with pytest.raises(DownloadError, match="not in the cache"):  # and not "no such name"
        getattr(cvzoo.links, name)(10 if weights == "imagenet" else None, weights)
