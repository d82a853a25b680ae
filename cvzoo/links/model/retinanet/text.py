"""Text line detector that ships with the package."""

import pathlib

from cvzoo.links.model.preparation.resize_shortest_edge import torchvision_detector_preparation
from cvzoo.links.model.retinanet.retinanet import RetinaNet
from cvzoo.weights.record import Weights

TEXT_FILE = pathlib.Path(__file__).with_name("retinanet_text.safetensors")

RETINANET_TEXT = Weights(
    name="retinanet_text",
    url=TEXT_FILE.as_uri(),
    sha256="bd9e2760628a2618c7f612ac0ad5a553cd342ecc06a7541c787b2a4f232f96bc",
    size=6349920,
    licence="MIT, as cvzoo",
    data="16,000 documents drawn by train_scripts/detection/rendered_documents (seed 0), each seen once; no image",
    data_licence="ours, MIT; drawn with fonts under the Bitstream Vera, SIL Open Font and CC0 licences",
    score={"AP50, 500 unseen rendered documents": 0.936, "AP50, SROIE validation": 0.851},
    source="trained by train_scripts/detection/train_retinanet_text.py, seed 0, in 0.8 hours on 3 threads of a 4-core "
    "Intel Xeon, 2026-11-21; docs/results/retinanet_text.md",
    label_names=("text",),
    preprocessing=torchvision_detector_preparation(704, 1024, antialias=True).describe(),
)


def retinanet_text() -> RetinaNet:
    """Text line detector, a small `RetinaNet` for scans and images of documents; its weights ship with the package.

    There is one box per run of words, and one label, 0 ("text").

    >>> bboxes, labels, scores = retinanet_text().predict(["receipt.jpg"])
    """
    return RetinaNet(None, TEXT_FILE)
