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

import_on_demand(__name__)
