"""torchvision's names in an LRASPP, and ours."""

from cvzoo.links.model.mobilenet_v3.names import extractor_places
from cvzoo.links.model.mobilenet_v3.rows import network_plan
from cvzoo.links.model.pretrained.names import Names

_HEAD = {
    "classifier.cbr.0": "head/conv/conv",
    "classifier.cbr.1": "head/conv/bn",
    "classifier.scale.1": "head/gate",
    "classifier.low_classifier": "head/low",
    "classifier.high_classifier": "head/high",
}
_BACKBONE = extractor_places(network_plan("large", dilated=True), theirs="backbone", ours="backbone")
NAMES = {"torchvision": Names(marks=(), modules={**_BACKBONE, **_HEAD})}
