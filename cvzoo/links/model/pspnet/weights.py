"""Published weights of PSPNet, their layouts and array names."""

from functools import partial
from typing import Literal, NamedTuple

from cvzoo.labels.ade20k import ade20k_semantic_segmentation_label_names
from cvzoo.labels.cityscapes import cityscapes_semantic_segmentation_label_names
from cvzoo.links.model.deeplab.weights import gluon_place
from cvzoo.links.model.preparation.as_is import AsIs
from cvzoo.links.model.pretrained.names import Names, Rule
from cvzoo.links.model.publishers.chainercv import chainercv_weights
from cvzoo.links.model.publishers.gluon_cv import gluon_segmenter
from cvzoo.weights.record import Weights

Layout = Literal["chainercv", "gluon"]


class PSPLayout(NamedTuple):
    """Settings that the shapes of a file's arrays do not determine.

    dilate_first: as in `ResNetExtractor`
    eps: of the normalizations
    pyramids: number of bins per side at each level of the pyramid
    mean, std: of RGB in [0, 255]
    aux_ksize: of the auxiliary head's last convolution
    aux_channels: of its first, as a fraction of its input channels
    """

    dilate_first: bool
    eps: float
    pyramids: tuple[int, ...]
    mean: tuple[float, float, float]
    std: tuple[float, float, float]
    aux_ksize: int
    aux_channels: float


LAYOUTS: dict[str, PSPLayout] = {
    "chainercv": PSPLayout(True, 2e-5, (6, 3, 2, 1), (123.68, 116.779, 103.939), (1.0, 1.0, 1.0), 3, 1 / 2),
    "gluon": PSPLayout(False, 1e-5, (1, 2, 3, 6), (123.675, 116.28, 103.53), (58.395, 57.12, 57.375), 1, 1 / 4),
}


_CHAINERCV: tuple[Rule, ...] = (
    (r"^extractor/conv1_(\d)/", lambda match: f"extractor/conv1/{int(match[1]) - 1}/"),
    (r"^extractor/(res\d)/a/", r"extractor/\1/0/"),
    (r"^extractor/(res\d)/b(\d+)/", r"extractor/\1/\2/"),
    (r"/residual_conv/", "/shortcut/"),
)
# our names in a DeepLab -> those in a PSPNet
_OF_DEEPLAB: tuple[Rule, ...] = (
    (r"^backbone/layers/", "extractor/"),
    (r"^head/ppm/", "ppm/"),
    (r"^head/conv/", "head_conv1/"),
    (r"^head/out/", "head_conv2/"),
    (r"^aux/conv/", "aux_conv1/"),
    (r"^aux/out/", "aux_conv2/"),
)
NAMES = {
    "gluon": Names(marks=("head.psp.conv1.0.weight",), modules=gluon_place, rules=_OF_DEEPLAB),
    "chainercv": Names(marks=(), rules=_CHAINERCV),
}
# of a file of the backbone alone, whose classifier a segmenter has no use for
BACKBONE_NAMES = {
    "chainercv": Names(
        marks=(),
        rules=[(r"^(?!extractor/)", "extractor/"), *_CHAINERCV],
        drop=("extractor/fc6/",),
        only=("extractor/",),
    )
}


_CITYSCAPES = ("Cityscapes, finely labelled training frames", "Cityscapes terms: research, no commercial use")
_ADE20K = ("ADE20K, training images", "ADE20K terms: research, no commercial use")
_IMAGENET = ("ImageNet-1K, ILSVRC 2012 training images", "ImageNet terms of access: research, no commercial use")


def _words(layout: Layout) -> str:
    how = AsIs(mean=LAYOUTS[layout].mean, std=LAYOUTS[layout].std)
    return f"{how.describe()}; windows of the network's input size"


def _record(
    name: str, file: str, score: dict[str, float], data: tuple[str, str], label_names: tuple[str, ...] = ()
) -> Weights:
    return chainercv_weights(
        name,
        file,
        data=data[0],
        data_licence=data[1],
        score=score,  # on the validation images with sliding windows and flips, as the publisher says
        source="ChainerCV 0.12",
        label_names=label_names,
        preprocessing=_words("chainercv"),
    )


# layers -> name -> record
RECORDS: dict[int, dict[str, Weights]] = {
    n: {
        "cityscapes": _record(
            f"pspnet_resnet{n}_cityscapes",
            f"pspnet_resnet{n}_cityscapes_trained_2018_12_19.npz",
            {"miou": cityscapes},
            _CITYSCAPES,
            cityscapes_semantic_segmentation_label_names,
        ),
        "ade20k": _record(
            f"pspnet_resnet{n}_ade20k",
            f"pspnet_resnet{n}_ade20k_trained_2018_12_23.npz",
            {"miou": ade20k},
            _ADE20K,
            ade20k_semantic_segmentation_label_names,
        ),
    }
    for n, cityscapes, ade20k in ((50, 0.7399, 0.3497), (101, 0.7601, 0.3655))
}
# converted from the authors' Caffe model
RECORDS[101]["cityscapes_converted"] = _record(
    "pspnet_resnet101_cityscapes_converted",
    "pspnet_resnet101_cityscapes_converted_2018_05_22.npz",
    {"miou": 0.7903},
    _CITYSCAPES,
    cityscapes_semantic_segmentation_label_names,
)
_gluon = partial(gluon_segmenter, preprocessing=_words("gluon"))
RECORDS[50]["ade20k_gluon"] = _gluon("psp_resnet50", "ade20k", "3f220f537400dfa607c3d041ed3b172db39b0b01")
RECORDS[101] |= {
    "voc": _gluon("psp_resnet101", "voc", "2c2f4e1c2b11461b52598a4b2038bccbcfc166eb", 0.851),
    "coco_voc": _gluon("psp_resnet101", "coco_voc", "09f89cad0e107cb2bffdb1b07706ba31798096f2"),
    "ade20k_gluon": _gluon("psp_resnet101", "ade20k", "240a4758b506447faf7c55cd7a7837d66f5039a6", 0.433),
    "cityscapes_gluon": _gluon("psp_resnet101", "cityscapes", "d0e8603120ab02118a8973d52a26b8296d1b4078", 0.799),
}
# of the backbone alone
BACKBONE_RECORDS: dict[int, dict[str, Weights]] = {
    n: {
        "imagenet": _record(
            f"pspnet_resnet{n}_imagenet", f"pspnet_resnet{n}_imagenet_trained_2018_11_26.npz", {}, _IMAGENET
        )
    }
    for n in (50, 101)
}
INPUT_SIZES = {
    "cityscapes": (713, 713),
    "cityscapes_converted": (713, 713),
    "cityscapes_gluon": (768, 768),
    "ade20k": (473, 473),
    "ade20k_gluon": (480, 480),
    "voc": (480, 480),
    "coco_voc": (480, 480),
}
