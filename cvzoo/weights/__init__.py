"""Records of published weights, the cache they are fetched into, and readers of foreign files."""

from cvzoo.weights.darknet import DarknetSection, DarknetWeightsFile, read_darknet_cfg

__all__ = [
    "DarknetSection",
    "DarknetWeightsFile",
    "read_darknet_cfg",
]
