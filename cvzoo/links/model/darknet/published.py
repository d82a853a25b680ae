"""Public darknet networks as members of the zoo: their files are fetched, since a cfg is its author's text."""

from collections.abc import Callable

from cvzoo.links.model.darknet.detector import DarknetDetector
from cvzoo.links.model.darknet.weights import MOBILENET_V2_YOLO_V3_NANO_VOC, YOLO_FASTEST_COCO, DarknetFiles
from cvzoo.weights.download import fetch_weights


def yolo_fastest(*, progress: Callable[[int, int | None], object] | None = None) -> DarknetDetector:
    """Yolo-Fastest 1.1 for the 80 classes of COCO: 0.35 million parameters, 320 x 320. Fetches 1.4 MB the first time.

    progress: called with (bytes so far, bytes in all or None) while a file is fetched
    Raises DownloadError if a file cannot be had.
    """
    return fetch_detector(YOLO_FASTEST_COCO, progress=progress)


def mobilenet_v2_yolo_v3_nano(*, progress: Callable[[int, int | None], object] | None = None) -> DarknetDetector:
    """MobileNetV2-YOLOv3-Nano for the 20 classes of Pascal VOC, 320 x 320. Fetches 3.1 MB the first time.

    progress: called with (bytes so far, bytes in all or None) while a file is fetched
    Raises DownloadError if a file cannot be had.
    """
    return fetch_detector(MOBILENET_V2_YOLO_V3_NANO_VOC, progress=progress)


def fetch_detector(
    files: DarknetFiles, *, progress: Callable[[int, int | None], object] | None = None
) -> DarknetDetector:
    """The detector that the three records describe. Raises DownloadError if a file cannot be had."""
    cfg, weights, names = (fetch_weights(record, progress=progress) for record in files)
    return DarknetDetector(cfg, weights, label_names=names)
