"""Detectors of darknet's cfgs in listings and in files."""

from collections.abc import Mapping, Sequence
from typing import Any

from cvzoo.errors.exceptions import FileFormatError
from cvzoo.links.model.architecture import HandWritten
from cvzoo.links.model.darknet.detector import DarknetDetector
from cvzoo.links.model.darknet.published import mobilenet_v2_yolo_v3_nano, yolo_fastest
from cvzoo.links.model.darknet.weights import MOBILENET_V2_YOLO_V3_NANO_VOC, YOLO_FASTEST_COCO
from cvzoo.links.model.zoo_member import ZooMember


def _settings(model: DarknetDetector) -> dict[str, Any]:
    sections = (model.network.net, *model.network.sections)
    return {
        "cfg": [[section.name, dict(section.options)] for section in sections],
        "resize": model.resize,
        "size": list(model.network.input_size),
        "clip": model.clip,
    }


def _build(settings: Mapping[str, Any], label_names: Sequence[str] | None) -> DarknetDetector:
    lines = []
    for name, options in settings["cfg"]:
        lines += [f"[{name}]", *(f"{option}={text}" for option, text in options.items())]
    if not lines:
        raise FileFormatError("the file's cfg has no sections")
    height, width = settings["size"]
    names = None if label_names is None else tuple(label_names)
    # with its last line break it is a text, which is never taken for a path
    text = "\n".join(lines) + "\n"
    clip = bool(settings.get("clip", False))  # older files do not say
    return DarknetDetector(text, label_names=names, resize=settings["resize"], size=(height, width), clip=clip)


def _preprocessing(model: DarknetDetector) -> dict[str, Any]:
    height, width = model.network.input_size
    return {
        "channels": "RGB",
        "mean": [0.0] * 3,
        "std": [1.0] * 3,
        "fit": model.resize,
        "height": height,
        "width": width,
    }


ARCHITECTURES = (HandWritten("DarknetDetector", DarknetDetector, _settings, _preprocessing, _build).with_thresholds(),)


def members() -> list[ZooMember]:
    """The trained ones."""
    return [
        ZooMember("yolo_fastest", yolo_fastest, YOLO_FASTEST_COCO.weights, tuple(YOLO_FASTEST_COCO)),
        ZooMember(
            "mobilenet_v2_yolo_v3_nano",
            mobilenet_v2_yolo_v3_nano,
            MOBILENET_V2_YOLO_V3_NANO_VOC.weights,
            tuple(MOBILENET_V2_YOLO_V3_NANO_VOC),
        ),
    ]
