"""How an image is prepared, for the headers of files."""

from typing import Any


def region_network_preprocessing(model: Any) -> dict[str, Any]:
    """How a photo is prepared, for readers other than cvzoo."""
    s = model.settings
    return {
        "channels": "RGB",
        "mean": list(s.mean),
        "std": list(s.std),
        "short_side": s.min_size,
        "long_side_at_most": s.max_size,
        "interpolation": "bilinear, antialiased" if s.antialias else "bilinear",
        "padded_to_multiples_of": 32,
    }
