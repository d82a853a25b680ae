"""Types of C by their names, and how C makes two numbers one type."""

import numpy as np

from cvzoo.errors.exceptions import DtypeError

_INTEGERS = {
    "bool": "bool",
    "char": "int8",
    "signed char": "int8",
    "unsigned char": "uint8",
    "short": "int16",
    "unsigned short": "uint16",
    "int": "int32",
    "unsigned": "uint32",
    "unsigned int": "uint32",
    "long": "int64",
    "unsigned long": "uint64",
    "long long": "int64",
    "unsigned long long": "uint64",
    "size_t": "uint64",
    "ptrdiff_t": "int64",
}
_SIZED = [f"{sign}int{bits}" for sign in ("", "u") for bits in (8, 16, 32, 64)]
C_TYPES = {
    **_INTEGERS,
    **{name: name for name in _SIZED},
    **{f"{name}_t": name for name in _SIZED},
    "float": "float32",
    "double": "float64",
    "float16": "float16",
    "float32": "float32",
    "float64": "float64",
}
TYPE_WORDS = {word for name in C_TYPES for word in name.split()}


def type_of(name: str) -> np.dtype | None:
    """The dtype that a name of C's or NumPy's means, or None if it means none."""
    known = C_TYPES.get(name)
    return None if known is None else np.dtype(known)


def common_type(a: np.dtype, b: np.dtype) -> np.dtype:
    """The type in which C computes with one number of each: its usual arithmetic conversions.

    Half precision is computed in float, as in CUDA's headers of CuPy. Source: C17, 6.3.1.8.
    """
    if "f" in (a.kind, b.kind):
        wide = any(t.kind == "f" and t.itemsize > 4 for t in (a, b))
        return np.dtype("float64" if wide else "float32")
    if not {a.kind, b.kind} <= set("iub"):
        raise DtypeError("kernels compute with real numbers", got=f"{a} and {b}")
    a, b = promoted(a), promoted(b)
    if a.itemsize != b.itemsize:
        return a if a.itemsize > b.itemsize else b
    return a if a.kind == "u" else b


def promoted(t: np.dtype) -> np.dtype:
    """The type of one operand: nothing is computed in less than an int or a float."""
    if t.kind == "f":
        return np.dtype("float32") if t.itemsize < 4 else t
    return np.dtype("int32") if t.itemsize < 4 else t
