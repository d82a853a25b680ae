"""How the names of kernels say which numbers they take."""

from typing import Any

SUFFIXES = {
    "float32": "f32",
    "float64": "f64",
    "float16": "f16",
    "bfloat16": "bf16",
    "int32": "i32",
    "int64": "i64",
}


def suffix(dtype: Any) -> str:
    """What the name of a kernel for `dtype` ends in. Raises KeyError if there is none."""
    return SUFFIXES[dtype.name]
