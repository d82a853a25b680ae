"""Records of published weights, the cache they are fetched into, and readers of other libraries' files."""

from typing import TYPE_CHECKING

from cvzoo.lazy_imports.on_demand import import_on_demand

if TYPE_CHECKING:
    from cvzoo.weights.cache import cached_path, cvzoo_home, is_cached
    from cvzoo.weights.download import fetch_weights
    from cvzoo.weights.formats.caffe.net import CaffeLayer, CaffeNet, read_caffe
    from cvzoo.weights.formats.caffe.prototxt import read_prototxt
    from cvzoo.weights.formats.darknet import DarknetSection, DarknetWeightsFile, read_darknet_cfg
    from cvzoo.weights.formats.detectron2_pickle import read_detectron2
    from cvzoo.weights.formats.mxnet_params import read_mxnet_params
    from cvzoo.weights.formats.npz import read_npz, write_npz
    from cvzoo.weights.formats.safetensors import read_safetensors, read_safetensors_metadata, write_safetensors
    from cvzoo.weights.formats.torch_pickle import read_torch
    from cvzoo.weights.model_header import ModelHeader, read_model_header
    from cvzoo.weights.provenance import WeightsRow, describe_weights, list_weights
    from cvzoo.weights.record import Weights
    from cvzoo.weights.report import LoadReport, match_arrays
    from cvzoo.weights.sniff import read_arrays, sniff

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
