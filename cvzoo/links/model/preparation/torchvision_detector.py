"""An image as torchvision's one-stage detectors on a pyramid see it."""

from cvzoo.backends.resampling import Resampling
from cvzoo.links.model.preparation.resize_shortest_edge import RESIZED_FACTS, ResizeShortestEdge
from cvzoo.links.model.preparation.statistics import FACTS_OF_255, MEAN_OF_255, STD_OF_255


def torchvision_detector_preparation(min_size: int, max_size: int, *, antialias: bool) -> ResizeShortestEdge:
    """The short side min_size, normalized by ImageNet's statistics, sides padded to multiples of 32.

    antialias: shrunk as Pillow does, then normalized; else normalized, then resized by four pixels' bilinear mean
    """
    return ResizeShortestEdge(
        min_size,
        max_size,
        multiple=32,  # the stride of C5: the maps' sides then halve without a rest
        mean=MEAN_OF_255,
        std=STD_OF_255,
        resampling=Resampling.PILLOW_FLOATS if antialias else Resampling.BILINEAR,
        normalize_first=not antialias,
        header=("channels", *FACTS_OF_255, *RESIZED_FACTS),
    )
