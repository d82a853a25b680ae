"""Published weights of LRASPP.

torchvision's names in an LRASPP, and cvzoo's.
"""

from cvzoo.links.model.mobilenet_v3.extractor import network_plan
from cvzoo.links.model.mobilenet_v3.weights import extractor_places
from cvzoo.links.model.pretrained.names import Names
from cvzoo.links.model.publishers.torchvision import torchvision_segmenter
from cvzoo.weights.record import Signature

_HEAD = {
    "classifier.cbr.0": "head/conv/conv",
    "classifier.cbr.1": "head/conv/bn",
    "classifier.scale.1": "head/gate",
    "classifier.low_classifier": "head/low",
    "classifier.high_classifier": "head/high",
}
_BACKBONE = extractor_places(network_plan("large", dilated=True), theirs="backbone", ours="backbone")
NAMES = {"torchvision": Names(marks=(), modules={**_BACKBONE, **_HEAD})}


RECORDS = {
    "coco_voc": torchvision_segmenter(
        "lraspp_mobilenet_v3_large",
        "d234d4ea",
        "LRASPP_MobileNet_V3_Large",
        0.579,
        0.912,
        mib=12.49,
        signature=Signature(272, "backbone.16.0.weight", (960, 160, 1, 1)),
    )
}
