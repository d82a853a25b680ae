"""Photos and boxes changed together: resize, flip, letterbox, crop, normalize. Pure functions of arrays."""

from cvzoo.transforms.center_crop import center_crop
from cvzoo.transforms.flip import flip, flip_bbox
from cvzoo.transforms.letterbox import Frame, letterbox, letterbox_bbox, letterbox_frame, unletterbox_bbox
from cvzoo.transforms.normalize import normalize
from cvzoo.transforms.resize import Interpolation, resize
from cvzoo.transforms.resize_align_corners import resize_align_corners
from cvzoo.transforms.resize_bbox import resize_bbox
from cvzoo.transforms.scale import scale, scaled_size

__all__ = [
    "center_crop",
    "flip",
    "flip_bbox",
    "Frame",
    "Interpolation",
    "letterbox",
    "letterbox_bbox",
    "letterbox_frame",
    "normalize",
    "resize",
    "resize_align_corners",
    "resize_bbox",
    "scale",
    "scaled_size",
    "unletterbox_bbox",
]
