"""Records of published weights, the cache they are fetched into, and readers of foreign files."""

from cvzoo.weights.darknet import DarknetSection, DarknetWeightsFile, read_darknet_cfg
from cvzoo.weights.torch_pickle import read_torch

__all__ = [
    "DarknetSection",
    "DarknetWeightsFile",
    "read_darknet_cfg",
    "read_torch",
]
