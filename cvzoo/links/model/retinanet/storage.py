"""How an image is prepared, for the headers of files."""

from typing import Any

from cvzoo.links.model.retinanet.fit import MEAN, MULTIPLE, STD
from cvzoo.links.model.retinanet.retinanet import RetinaNet


def retinanet_preprocessing(model: RetinaNet) -> dict[str, Any]:
    """How a photo is prepared, for readers other than cvzoo."""
    s = model.settings
    return {
        "channels": "RGB",
        "mean": [round(float(v), 4) for v in MEAN],
        "std": [round(float(v), 4) for v in STD],
        "short_side": s.min_size,
        "long_side_at_most": s.max_size,
        "interpolation": "bilinear, antialiased" if s.antialias else "bilinear",
        "padded_to_multiples_of": MULTIPLE,
    }
