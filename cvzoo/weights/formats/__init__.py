"""Readers of the formats in which weights are published; they execute nothing that is in a file."""

from typing import TYPE_CHECKING

from cvzoo.lazy_imports.on_demand import import_on_demand

if TYPE_CHECKING:
    from cvzoo.weights.formats.caffe.net import read_caffe
    from cvzoo.weights.formats.detectron2_pickle import read_detectron2
    from cvzoo.weights.formats.mxnet_params import read_mxnet_params
    from cvzoo.weights.formats.npz import read_npz
    from cvzoo.weights.formats.safetensors import read_safetensors, read_safetensors_metadata
    from cvzoo.weights.formats.torch_pickle import read_torch

__all__ = [
    "read_caffe",
    "read_detectron2",
    "read_mxnet_params",
    "read_npz",
    "read_safetensors",
    "read_safetensors_metadata",
    "read_torch",
]

import_on_demand(__name__)
