"""Saving and loading of weights, models and training states."""

from typing import TYPE_CHECKING

from cvzoo.lazy_imports.on_demand import import_on_demand

if TYPE_CHECKING:
    from cvzoo.serializers.convert_weights import convert_weights
    from cvzoo.serializers.load_weights import load_weights
    from cvzoo.serializers.model_file import load_model, save_model
    from cvzoo.serializers.npz import load_npz, save_npz
    from cvzoo.serializers.safetensors import load_safetensors, save_safetensors

__all__ = [
    "convert_weights",
    "load_model",
    "load_npz",
    "load_safetensors",
    "load_weights",
    "save_model",
    "save_npz",
    "save_safetensors",
]

_REPLACED = {
    "DictionarySerializer": "Link.state_arrays, a dictionary of arrays",
    "HDF5Deserializer": "cvzoo.serializers.load_npz",
    "HDF5Serializer": "cvzoo.serializers.save_npz",
    "load_hdf5": "cvzoo.serializers.load_npz",
    "NpzDeserializer": "cvzoo.serializers.load_npz",
    "save_hdf5": "cvzoo.serializers.save_npz",
}

import_on_demand(__name__, replaced=_REPLACED)
