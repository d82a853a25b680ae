"""How an image is prepared, for the headers of files."""

from typing import Any

from cvzoo.links.model.ssd.ssd import SSD


def ssd_preprocessing(model: SSD) -> dict[str, Any]:
    """How a photo is prepared, for readers other than cvzoo."""
    return {
        "channels": "RGB",
        "mean": list(model.settings.mean),
        "std": [1.0, 1.0, 1.0],
        "size": [model.insize, model.insize],
        "interpolation": "bilinear",
    }
