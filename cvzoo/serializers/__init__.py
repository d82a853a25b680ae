"""Links' values in files and back."""

from cvzoo.serializers.load_weights import load_weights
from cvzoo.serializers.npz import load_npz, save_npz
from cvzoo.serializers.safetensors import load_safetensors, save_safetensors

__all__ = ["load_npz", "load_safetensors", "load_weights", "save_npz", "save_safetensors"]
