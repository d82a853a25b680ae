"""Image transforms and data augmentation, with boxes, masks, points and label maps: functions of arrays or samples."""

from typing import TYPE_CHECKING

from cvzoo.lazy_imports.on_demand import import_on_demand

if TYPE_CHECKING:
    from cvzoo.transforms.center_crop import center_crop
    from cvzoo.transforms.color import adjust_brightness, adjust_contrast, adjust_hue, adjust_saturation
    from cvzoo.transforms.color_jitter import ColorBackend, color_jitter
    from cvzoo.transforms.crop import crop
    from cvzoo.transforms.crop_bbox import crop_bbox
    from cvzoo.transforms.flip import flip, flip_bbox, flip_point
    from cvzoo.transforms.label_maps import crop_label_map, flip_label_map, resize_label_map, rotate_label_map
    from cvzoo.transforms.letterbox import Frame, letterbox, letterbox_bbox, letterbox_frame, unletterbox_bbox
    from cvzoo.transforms.masks import crop_mask, flip_mask, resize_mask, rotate_mask, scale_mask
    from cvzoo.transforms.normalize import normalize
    from cvzoo.transforms.pca_lighting import pca_lighting
    from cvzoo.transforms.random_crop import random_crop
    from cvzoo.transforms.random_crop_with_bbox_constraints import random_crop_with_bbox_constraints
    from cvzoo.transforms.random_distort import random_distort
    from cvzoo.transforms.random_erasing import random_erasing
    from cvzoo.transforms.random_expand import random_expand
    from cvzoo.transforms.random_flip import random_flip
    from cvzoo.transforms.random_rotate import random_rotate
    from cvzoo.transforms.random_sized_crop import random_sized_crop
    from cvzoo.transforms.resize import Backend, Interpolation, resize
    from cvzoo.transforms.resize_align_corners import resize_align_corners
    from cvzoo.transforms.resize_bbox import resize_bbox, resize_point
    from cvzoo.transforms.resize_contain import resize_contain
    from cvzoo.transforms.resize_with_random_interpolation import resize_with_random_interpolation
    from cvzoo.transforms.rle import crop_rle, flip_rle, resize_rle, rotate_rle
    from cvzoo.transforms.rotate import rotate, rotate_bbox, rotate_point, rotated_size
    from cvzoo.transforms.rotated_bbox import (
        flip_rbbox,
        quad_to_rbbox,
        rbbox_to_quad,
        resize_rbbox,
        rotate_rbbox,
        translate_rbbox,
    )
    from cvzoo.transforms.sample.auto_augment import RandAugment, TrivialAugment
    from cvzoo.transforms.sample.colors import (
        ColorJitter,
        Normalize,
        PCALighting,
        RandomDistort,
        RandomErasing,
        ToFloat,
    )
    from cvzoo.transforms.sample.copy_paste import copy_paste
    from cvzoo.transforms.sample.crops import (
        CenterCrop,
        RandomCrop,
        RandomCropWithBboxConstraints,
        RandomExpand,
        RandomSizedCrop,
    )
    from cvzoo.transforms.sample.flips_and_rotations import RandomFlip, RandomRotate, RandomTilt
    from cvzoo.transforms.sample.geometric import crop_sample, flip_sample, resize_sample, rotate_sample
    from cvzoo.transforms.sample.mix_up import cut_mix, mix_up
    from cvzoo.transforms.sample.mixes import AbstractMix, CopyPaste, MixUp, Mosaic
    from cvzoo.transforms.sample.mosaic import mosaic
    from cvzoo.transforms.sample.resizes import Letterbox, Resize, ResizeContain, ResizeWithRandomInterpolation, Scale
    from cvzoo.transforms.sample.sample import Sample
    from cvzoo.transforms.sample.transform import AbstractTransform, Compose, OneOf, PerBatch, Sometimes
    from cvzoo.transforms.sample_generator import sample_generator
    from cvzoo.transforms.scale import scale, scaled_size
    from cvzoo.transforms.ten_crop import ten_crop
    from cvzoo.transforms.translate import translate_bbox, translate_point

__all__ = [
    "AbstractMix",
    "AbstractTransform",
    "adjust_brightness",
    "adjust_contrast",
    "adjust_hue",
    "adjust_saturation",
    "Backend",
    "center_crop",
    "CenterCrop",
    "color_jitter",
    "ColorBackend",
    "ColorJitter",
    "Compose",
    "copy_paste",
    "CopyPaste",
    "crop",
    "crop_bbox",
    "crop_label_map",
    "crop_mask",
    "crop_rle",
    "crop_sample",
    "cut_mix",
    "flip",
    "flip_bbox",
    "flip_label_map",
    "flip_mask",
    "flip_point",
    "flip_rbbox",
    "flip_rle",
    "flip_sample",
    "Frame",
    "Interpolation",
    "letterbox",
    "Letterbox",
    "letterbox_bbox",
    "letterbox_frame",
    "mix_up",
    "MixUp",
    "mosaic",
    "Mosaic",
    "normalize",
    "Normalize",
    "OneOf",
    "pca_lighting",
    "PCALighting",
    "PerBatch",
    "quad_to_rbbox",
    "RandAugment",
    "random_crop",
    "random_crop_with_bbox_constraints",
    "random_distort",
    "random_erasing",
    "random_expand",
    "random_flip",
    "random_rotate",
    "random_sized_crop",
    "RandomCrop",
    "RandomCropWithBboxConstraints",
    "RandomDistort",
    "RandomErasing",
    "RandomExpand",
    "RandomFlip",
    "RandomRotate",
    "RandomSizedCrop",
    "RandomTilt",
    "rbbox_to_quad",
    "resize",
    "Resize",
    "resize_align_corners",
    "resize_bbox",
    "resize_contain",
    "resize_label_map",
    "resize_mask",
    "resize_point",
    "resize_rbbox",
    "resize_rle",
    "resize_sample",
    "resize_with_random_interpolation",
    "ResizeContain",
    "ResizeWithRandomInterpolation",
    "rotate",
    "rotate_bbox",
    "rotate_label_map",
    "rotate_mask",
    "rotate_point",
    "rotate_rbbox",
    "rotate_rle",
    "rotate_sample",
    "rotated_size",
    "Sample",
    "sample_generator",
    "scale",
    "Scale",
    "scale_mask",
    "scaled_size",
    "Sometimes",
    "ten_crop",
    "ToFloat",
    "translate_bbox",
    "translate_point",
    "translate_rbbox",
    "TrivialAugment",
    "unletterbox_bbox",
]

import_on_demand(__name__)
