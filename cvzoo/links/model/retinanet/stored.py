"""What a file says of the RetinaNet in it, checked."""

from collections.abc import Mapping
from typing import Any, NamedTuple

from cvzoo.links.model.detector import Preset
from cvzoo.links.model.retinanet.settings import RetinaNetSettings


class StoredRetinaNet(NamedTuple):
    """n_fg_class; settings: how it is built; presets and limit: its thresholds."""

    n_fg_class: int
    settings: RetinaNetSettings
    presets: Mapping[str, Preset]
    limit: int | None


def stored_retinanet(settings: Mapping[str, Any]) -> StoredRetinaNet:
    """What a file's settings say. Raises what is wrong with it: KeyError, TypeError, ValueRangeError ..."""
    return StoredRetinaNet(
        int(settings["n_fg_class"]),
        RetinaNetSettings(**settings["settings"]),
        {str(name): Preset(*map(float, pair)) for name, pair in settings["presets"].items()},
        None if settings["limit"] is None else int(settings["limit"]),
    )
