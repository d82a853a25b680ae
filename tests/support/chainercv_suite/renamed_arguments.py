"""What ChainerCV names otherwise than cvzoo in a call: the table of docs/from_chainercv.md, carried out."""

import functools

import numpy as np
import pytest

import cvzoo
import cvzoo.links as L
from cvzoo import transforms, utils
from cvzoo.experimental.links.model import fcis
from cvzoo.geometry import classwise_nms
from cvzoo.links.model.mobilenet import ExpandedConv2D, TFConv2DBNActiv

# ChainerCV's switches; cvzoo has an argument of each call
BACKENDS = {"cv_read_image_backend": None, "cv_resize_backend": None, "cv_rotate_backend": None}
_OURS = {None: "pillow", "PIL": "pillow", "cv2": "opencv"}
_WHITE, _BLACK = (255, 255, 255), (0, 0, 0)
_BACKGROUNDS = {None: _WHITE, "ignore": None, "blend_with_white": _WHITE, "blend_with_black": _BLACK}


def _backend(name):
    value = BACKENDS[name]
    return _OURS.get(value, value)


def _read_image(file, dtype=np.float32, color=True, alpha=None):
    # read_image gives uint8 or float32
    decoder = _backend("cv_read_image_backend")
    return utils.read_image(file, color=color, background=_BACKGROUNDS[alpha], decoder=decoder).astype(dtype)


def _resize(img, size, interpolation="bilinear"):
    return transforms.resize(img, size, interpolation, backend=_backend("cv_resize_backend"))


def _rotate(*args, **settings):
    if _backend("cv_rotate_backend") == "opencv":
        pytest.xfail("rotate has no OpenCV backend")
    return transforms.rotate(*args, **settings)


def _bn_settings(bn_kwargs):
    return {f"bn_{name}": value for name, value in bn_kwargs.items()}


class _Conv2DBNActiv(L.Conv2DBNActiv):
    def __init__(self, *args, bn_kwargs=None, **settings):
        super().__init__(*args, **settings, **_bn_settings(bn_kwargs or {}))


class _TFConv2DBNActiv(TFConv2DBNActiv):
    def __init__(self, *args, bn_kwargs=None, **settings):
        super().__init__(*args, **settings, **_bn_settings(bn_kwargs or {}))


class _ExpandedConv2D(ExpandedConv2D):
    def __init__(self, *args, bn_kwargs=None, **settings):
        super().__init__(*args, **settings, **_bn_settings(bn_kwargs or {}))


class _SeparableConv2DBNActiv(L.SeparableConv2DBNActiv):
    def __init__(self, *args, bn_kwargs=None, nobias=False, **settings):
        renamed = {"dw_": "depthwise_", "pw_": "pointwise_"}
        settings = {renamed.get(name[:3], name[:3]) + name[3:]: value for name, value in settings.items()}
        super().__init__(*args, nobias=nobias, **settings, **_bn_settings(bn_kwargs or {}))


class _FeaturePredictor(L.FeaturePredictor):
    def _prepare(self, img):
        return self.prepare(img)


class _MultiboxCoder(L.MultiboxCoder):
    xp = np

    @property
    def _default_bbox(self):
        return self.default

    def decode(self, mb_loc, mb_conf, nms_thresh=0.45, score_thresh=0.6):
        bbox, label, score = super().decode(mb_loc, mb_conf, score_thresh=score_thresh)
        if nms_thresh is not None:
            keep = classwise_nms(bbox, label, score, iou_thresh=nms_thresh)
            bbox, label, score = bbox[keep], label[keep], score[keep]
        return bbox, label, score


def _with_proposal_creator(make):
    @functools.wraps(make)
    def made(*args, proposal_creator_params=None, **settings):
        return make(*args, proposal_creator=L.ProposalCreator(**(proposal_creator_params or {})), **settings)

    return made


def _with_arch(make):
    @functools.wraps(make)
    def made(*args, arch="fb", **settings):
        return make(*args, arch={"fb": "v1.5"}.get(arch, arch), **settings)

    return made


def _mask_voting(*args, bg_label=0, **settings):
    assert bg_label == 0
    return tuple(fcis.mask_voting(*args, **settings))


def check_backward(func, x_data, y_grad, params=(), eps=1e-5, **settings):
    """`cvzoo.gradient_check.check_backward`, by steps that are smaller than those between the tests' numbers."""
    cvzoo.gradient_check.check_backward(func, x_data, y_grad, params, eps=eps, **settings)


RENAMED = {
    "Conv2DBNActiv": _Conv2DBNActiv,
    "ExpandedConv2D": _ExpandedConv2D,
    "FeaturePredictor": _FeaturePredictor,
    "FasterRCNNVGG16": _with_proposal_creator(L.FasterRCNNVGG16),
    "FCISResNet101": _with_proposal_creator(L.FCISResNet101),
    "LightHeadRCNNResNet101": _with_proposal_creator(L.LightHeadRCNNResNet101),
    "mask_voting": _mask_voting,
    "MultiboxCoder": _MultiboxCoder,
    "read_image": _read_image,
    "RegionProposalNetwork": _with_proposal_creator(L.RegionProposalNetwork),
    "resize": _resize,
    "ResNet101": _with_arch(L.ResNet101),
    "ResNet152": _with_arch(L.ResNet152),
    "ResNet50": _with_arch(L.ResNet50),
    "rotate": _rotate,
    "SeparableConv2DBNActiv": _SeparableConv2DBNActiv,
    "TFConv2DBNActiv": _TFConv2DBNActiv,
}
