"""What a file says of the two-stage detector in it, checked."""

from collections.abc import Mapping
from typing import Any, NamedTuple

from cvzoo.links.model.detector import Preset
from cvzoo.links.model.faster_rcnn_fpn.settings import FasterRCNNFPNSettings


class StoredRegionNetwork(NamedTuple):
    """n_fg_class; settings: how it is built; presets and limit: its thresholds."""

    n_fg_class: int
    settings: FasterRCNNFPNSettings
    presets: Mapping[str, Preset]
    limit: int | None


def stored_region_network(settings: Mapping[str, Any]) -> StoredRegionNetwork:
    """What a file's settings say. Raises what is wrong with it: KeyError, TypeError, ValueRangeError ..."""
    return StoredRegionNetwork(
        int(settings["n_fg_class"]),
        FasterRCNNFPNSettings(**settings["settings"]),
        {str(name): Preset(*map(float, pair)) for name, pair in settings["presets"].items()},
        None if settings["limit"] is None else int(settings["limit"]),
    )
