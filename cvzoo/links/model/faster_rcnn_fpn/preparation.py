"""An image as the networks with regions of a pyramid see it."""

from cvzoo.backends.resampling import Resampling
from cvzoo.links.model.faster_rcnn_fpn.config import FasterRCNNFPNConfig
from cvzoo.links.model.preparation.resize_shortest_edge import ResizeShortestEdge


def pyramid_preparation(config: FasterRCNNFPNConfig) -> ResizeShortestEdge:
    """As Detectron2 has it, of 8 bits and with rounded sides, if images are antialiased; else as torchvision has it."""
    return ResizeShortestEdge(
        config.min_size,
        config.max_size,
        sides="detectron2" if config.antialias else "torchvision",
        multiple=32,
        mean=config.mean,
        std=config.std,
        resampling=Resampling.PILLOW if config.antialias else Resampling.BILINEAR,
        normalize_first=not config.antialias,
    )
