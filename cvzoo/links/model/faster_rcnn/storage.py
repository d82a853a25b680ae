"""How an image is prepared, for the headers of files."""

from typing import Any

from cvzoo.links.model.faster_rcnn.abstract_faster_rcnn import AbstractFasterRCNN


def mean_preprocessing(model: AbstractFasterRCNN) -> dict[str, Any]:
    """How a photo is prepared, for readers other than cvzoo."""
    return {
        "channels": "RGB",
        "mean": list(model.mean),
        "std": [1.0, 1.0, 1.0],
        "short_side": model.min_size,
        "long_side_at_most": model.max_size,
        "interpolation": "bilinear, antialiased",
    }
