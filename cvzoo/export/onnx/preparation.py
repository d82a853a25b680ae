"""How a photo becomes a model's input, in words that a program follows: what a reader without cvzoo needs."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from cvzoo.links.chain import Chain
from cvzoo.links.model.cifar_resnet import cifar_resnet
from cvzoo.links.model.cifar_resnet.cifar_resnet import CIFARResNet
from cvzoo.links.model.classifier import AbstractClassifier
from cvzoo.links.model.darknet.detector import DarknetDetector
from cvzoo.links.model.deeplab.deeplab_v3 import DeepLabV3
from cvzoo.links.model.deeplab.deeplab_v3_plus import DeepLabV3plusXception65
from cvzoo.links.model.espnet.espnet import ESPNet
from cvzoo.links.model.faster_rcnn.abstract_faster_rcnn import AbstractFasterRCNN
from cvzoo.links.model.faster_rcnn_fpn.faster_rcnn_fpn import FasterRCNNFPN
from cvzoo.links.model.fcis.fcis_resnet101 import FCISResNet101
from cvzoo.links.model.fcn.fcn import FCN
from cvzoo.links.model.fcos.fcos import FCOS
from cvzoo.links.model.keypoint_rcnn.keypoint_rcnn_fpn import KeypointRCNNFPN
from cvzoo.links.model.lraspp.lraspp import LRASPPMobileNetV3Large
from cvzoo.links.model.mask_rcnn.mask_rcnn_fpn import MaskRCNNFPN
from cvzoo.links.model.pspnet.layouts import LAYOUTS
from cvzoo.links.model.pspnet.pspnet import PSPNet
from cvzoo.links.model.resnet.resnet import ResNet
from cvzoo.links.model.retinanet.fit import MEAN, MULTIPLE, STD
from cvzoo.links.model.retinanet.retinanet import RetinaNet
from cvzoo.links.model.segnet.segnet_basic import SegNetBasic
from cvzoo.links.model.short_side_preparation import short_side_preprocessing
from cvzoo.links.model.ssd.ssd import SSD
from cvzoo.links.model.ssdlite.ssdlite import SSDLite
from cvzoo.links.model.ultra_light_face.ultra_light_face import UltraLightFace
from cvzoo.links.model.yolo.yolo_v2 import YOLOv2
from cvzoo.links.model.yolo.yolo_v2_tiny import YOLOv2Tiny
from cvzoo.links.model.yolo.yolo_v3 import YOLOv3

_PILLOW, _PLAIN, _CORNERS = "bilinear, antialiased", "bilinear", "bilinear, corners on corners"
_LEAST = 8  # as FCIS pads


def preparation_of(model: Chain) -> dict[str, Any] | None:
    """What `prepare` does with a photo, as JSON has it; None for a model that nobody wrote it down for.

    fit: "none", "stretch" (to `size`), "letterbox" (in `size`, around it `fill`), "short side" (to `short`; the long
        one follows in proportion), "sides" (the short one to `short` unless the long one would pass `long`; both `cut
        off` or `rounded`)
    filter: how it is resized; of: "bytes" or "floats"
    crop: side of the square that is cut out of the middle, or None
    channels: in which order; mean, std: of [0, 255], in that order
    pad: zeros below and at the right, to sides that are multiples of it, and at_least so long
    """
    if isinstance(model, AbstractClassifier):
        return _of_classifier(model)
    if isinstance(model, FCN | LRASPPMobileNetV3Large | DeepLabV3):
        how = short_side_preprocessing(model)
        mean, std = (255 * np.array(how[name], np.float32) for name in ("mean", "std"))
        return _how("short side", mean, std, short=how["short_side"], of="bytes")
    if isinstance(model, PSPNet):
        return _how("none", LAYOUTS[model.layout].mean, LAYOUTS[model.layout].std)
    if isinstance(model, DeepLabV3plusXception65):
        return _how("none", (127.5,) * 3, (127.5,) * 3)
    if isinstance(model, SegNetBasic):
        return _how("none", (0,) * 3, (1,) * 3)
    if isinstance(model, ESPNet):
        p = model.preparation
        std = [255 * value for value in p.std]
        return _how("stretch", p.mean, std, size=p.insize, filter=_PLAIN, channels="BGR")
    return _of_detector(model)


def _of_classifier(model: AbstractClassifier) -> dict[str, Any] | None:
    if isinstance(model, CIFARResNet):
        return _how("stretch", cifar_resnet.MEAN, cifar_resnet.STD, size=(32, 32))
    p = model.preparation
    if p is None:
        return None
    mean, std = (255 * np.array(three, np.float32) for three in (p.mean, p.std))
    if isinstance(model, ResNet) and model.stem == "cifar":
        return _how("stretch", mean, std, size=(p.crop, p.crop))
    how = f"{p.interpolation}, antialiased"
    return _how("short side", mean, std, short=p.short, crop=p.crop, of="bytes", filter=how)


def _of_detector(model: Chain) -> dict[str, Any] | None:
    if isinstance(model, SSD):
        size = (model.insize, model.insize)
        return _how("stretch", model.settings.mean, (1,) * 3, size=size, filter=_filter(model.settings.antialias))
    if isinstance(model, SSDLite):
        return _how("stretch", (127.5,) * 3, (127.5,) * 3, size=(model.insize, model.insize), filter=_PLAIN)
    if isinstance(model, UltraLightFace):
        return _how("stretch", (127,) * 3, (128,) * 3, size=(240, 320))
    if isinstance(model, YOLOv2 | YOLOv2Tiny | YOLOv3):
        return _letterbox((model.insize, model.insize))
    if isinstance(model, DarknetDetector):
        size = model.network.input_size
        return _letterbox(size) if model.resize == "letterbox" else _how("stretch", (0,) * 3, (255,) * 3, size=size)
    if isinstance(model, AbstractFasterRCNN | FCISResNet101):
        least = _LEAST if isinstance(model, FCISResNet101) else 1
        sides = {"short": model.min_size, "long": model.max_size, "sides": "cut off", "at_least": least}
        return _how("sides", model.mean, (1,) * 3, **sides)
    if isinstance(model, RetinaNet | FCOS):
        s = model.settings
        sides = {"short": s.min_size, "long": s.max_size, "sides": "cut off", "pad": MULTIPLE}
        return _how("sides", MEAN, STD, filter=_filter(s.antialias), **sides)
    if isinstance(model, FasterRCNNFPN | MaskRCNNFPN | KeypointRCNNFPN):
        s = model.settings
        sides = {"short": s.min_size, "long": s.max_size, "pad": MULTIPLE}
        if s.antialias:
            return _how("sides", s.mean, s.std, sides="rounded", of="bytes", **sides)
        return _how("sides", s.mean, s.std, sides="cut off", filter=_PLAIN, **sides)
    return None


def _letterbox(size: Sequence[int]) -> dict[str, Any]:
    return _how("letterbox", (0,) * 3, (255,) * 3, size=size, fill=127.5, filter=_CORNERS)


def _filter(antialias: bool) -> str:
    return _PILLOW if antialias else _PLAIN


def _how(
    fit: str,
    mean: Sequence[float] | np.ndarray,
    std: Sequence[float] | np.ndarray,
    *,
    size: Sequence[int] | None = None,
    short: int | None = None,
    long: int | None = None,
    sides: str = "cut off",
    fill: float = 0.0,
    crop: int | None = None,
    of: str = "floats",
    filter: str = _PILLOW,
    channels: str = "RGB",
    pad: int = 1,
    at_least: int = 1,
) -> dict[str, Any]:
    how = {
        "fit": fit,
        "size": None if size is None else [int(side) for side in size],
        "short": short,
        "long": long,
        "sides": sides,
        "fill": fill,
        "filter": filter,
        "of": of,
        "crop": crop,
        "channels": channels,
        "mean": [float(value) for value in mean],
        "std": [float(value) for value in std],
        "pad": pad,
        "at_least": at_least,
    }
    return {name: value for name, value in how.items() if value is not None}
