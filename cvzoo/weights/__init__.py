"""Records of published weights, the cache they are fetched into, and readers of foreign files."""

from typing import TYPE_CHECKING

from cvzoo.lazy_imports.on_demand import import_on_demand

if TYPE_CHECKING:
    from cvzoo.weights.cache import cached_path, cvzoo_home, is_cached
    from cvzoo.weights.caffe.net import CaffeLayer, CaffeNet, read_caffe
    from cvzoo.weights.caffe.prototxt import read_prototxt
    from cvzoo.weights.darknet import DarknetSection, DarknetWeightsFile, read_darknet_cfg
    from cvzoo.weights.detectron2_pickle import read_detectron2
    from cvzoo.weights.download import fetch_weights
    from cvzoo.weights.model_header import ModelHeader, read_model_header
    from cvzoo.weights.mxnet_params import read_mxnet_params
    from cvzoo.weights.npz import read_npz, write_npz
    from cvzoo.weights.provenance import WeightsRow, describe_weights, list_weights
    from cvzoo.weights.record import Weights
    from cvzoo.weights.report import LoadReport, match_arrays
    from cvzoo.weights.safetensors import read_safetensors, read_safetensors_metadata, write_safetensors
    from cvzoo.weights.sniff import read_arrays, sniff
    from cvzoo.weights.torch_pickle import read_torch

__all__ = [
    "cached_path",
    "CaffeLayer",
    "CaffeNet",
    "cvzoo_home",
    "DarknetSection",
    "DarknetWeightsFile",
    "describe_weights",
    "fetch_weights",
    "is_cached",
    "list_weights",
    "LoadReport",
    "match_arrays",
    "ModelHeader",
    "read_arrays",
    "read_caffe",
    "read_darknet_cfg",
    "read_detectron2",
    "read_model_header",
    "read_mxnet_params",
    "read_npz",
    "read_prototxt",
    "read_safetensors",
    "read_safetensors_metadata",
    "read_torch",
    "sniff",
    "Weights",
    "WeightsRow",
    "write_npz",
    "write_safetensors",
]

import_on_demand(__name__)
