"""Thread-local switches, changed only inside `with using_config(...)`."""

import contextlib
import os
import re
import threading
from collections.abc import Iterator

from cvzoo.errors.exceptions import ConfigError

_DTYPES = ("float32", "float64", "tf32", "mixed_bf16", "mixed_fp16")
_BACKENDS = ("auto", "onednn", "numpy", "cudnn", "cupy")
_DEVICE = re.compile(r"cpu|gpu(:\d+)?")
_BOOLEANS = ("train", "enable_backprop", "deterministic", "autotune", "in_recomputing")


class Switches(threading.local):
    """What a thread's computations look at.

    train: layers such as dropout and batch normalization behave as in training
    enable_backprop: functions remember what they were applied to
    dtype: what parameters are made of, and products of them and of activations: "float32"; "float64"; "tf32", float32
        of which a GPU's convolutions and matrix products may look at 19 bits; "mixed_bf16" and "mixed_fp16", float32
        parameters with activations and products of 16 bits. The environment's CVZOO_DTYPE, or "float32"
    deterministic: the same seed gives the same bits, at the price of speed where there is a choice
    autotune: vendors' libraries may measure several kernels and keep the fastest
    in_recomputing: True while `functions.forget` runs a block for the second time
    backend: "auto", "onednn" or "numpy" on the CPU, "cudnn" or "cupy" on a GPU; what runs the heavy kernels
    device: "cpu" or "gpu:0"; where parameters are made, and where batches go that are not sent elsewhere. The
        environment's CVZOO_DEVICE, or "cpu"
    """

    def __init__(self) -> None:
        self.train = True
        self.enable_backprop = True
        self.dtype = os.environ.get("CVZOO_DTYPE", "float32") or "float32"
        self.deterministic = True
        self.autotune = False
        self.in_recomputing = False
        self.backend = os.environ.get("CVZOO_BACKEND", "auto") or "auto"
        self.device = os.environ.get("CVZOO_DEVICE", "cpu") or "cpu"


class _Open(threading.local):
    """The blocks that this thread is inside of: of each switch its values before, outermost first."""

    def __init__(self) -> None:
        self.blocks: dict[str, dict[object, object]] = {}


switches = Switches()
_open = _Open()


def _check(name: str, value: object) -> None:
    if name in _BOOLEANS:
        if not isinstance(value, bool):
            raise ConfigError(f"config.{name} is a switch", expected="True or False", got=repr(value))
    elif name in ("dtype", "backend"):
        allowed = _DTYPES if name == "dtype" else _BACKENDS
        if value not in allowed:
            raise ConfigError(f"config.{name} has no such value", expected=" or ".join(allowed), got=repr(value))
    elif name == "device":
        if not isinstance(value, str) or not _DEVICE.fullmatch(value):
            raise ConfigError("config.device has no such value", expected='"cpu" or "gpu:0"', got=repr(value))
    else:
        raise ConfigError(
            f"config has no switch {name!r}", expected=", ".join(sorted((*_BOOLEANS, "dtype", "backend", "device")))
        )


@contextlib.contextmanager
def using_config(name: str, value: object) -> Iterator[None]:
    """Set one switch for the block, in this thread only.

    Raises ConfigError if there is no such switch or it cannot have this value.
    """
    _check(name, value)
    state, blocks, block = switches.__dict__, _open.blocks.setdefault(name, {}), object()
    try:
        blocks[block] = state[name]
        state[name] = value
        yield
    except GeneratorExit:
        # Ctrl-C kept the block from ending, and its traceback is forgotten now: blocks begun since keep their values
        later = list(blocks)[list(blocks).index(block) + 1 :] if block in blocks else []
        if later:
            blocks[later[0]] = blocks.pop(block)
        raise
    finally:
        if block in blocks:  # else one around it has ended before it
            state[name] = blocks[block]
            while blocks.popitem()[0] is not block:
                pass


def no_backprop_mode() -> contextlib.AbstractContextManager[None]:
    """A block in which functions remember nothing: less memory, no gradients."""
    return using_config("enable_backprop", False)


def force_backprop_mode() -> contextlib.AbstractContextManager[None]:
    """A block in which functions remember, also inside a `no_backprop_mode()` block."""
    return using_config("enable_backprop", True)
