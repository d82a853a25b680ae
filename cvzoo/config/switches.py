"""Thread-local switches, changed only inside `with using_config(...)`."""

import contextlib
import os
import re
import threading
from collections.abc import Iterator

from cvzoo.errors.exceptions import ConfigError

_DTYPES = ("float32", "float64", "tf32", "mixed_bf16", "mixed_fp16")
_WINOGRAD = ("auto", "never")
_BACKENDS = ("auto", "onednn", "numpy", "cudnn", "cupy")
_CHOICES = {"dtype": _DTYPES, "backend": _BACKENDS, "winograd": _WINOGRAD}
_DEVICE = re.compile(r"cpu|gpu(:\d+)?")
_BOOLEANS = ("train", "enable_backprop", "deterministic", "autotune", "in_recomputing")


class Switches(threading.local):
    """The configuration of a thread.

    train: layers such as dropout and batch normalization behave as in training
    enable_backprop: functions record the graph for backpropagation
    dtype: of parameters, activations and products: "float32"; "float64"; "tf32": float32, with 19 bits in a GPU's
        convolutions and matrix products; "mixed_bf16" and "mixed_fp16": float32 parameters, with activations and
        products of 16 bits. By default the environment's CVZOO_DTYPE, or "float32"
    deterministic: the same seed gives the same bits, possibly with slower kernels
    autotune: vendors' libraries may time several kernels and use the fastest
    in_recomputing: True during the recomputation of `functions.forget`
    backend: of the heavy kernels: "auto", "onednn" or "numpy" on the CPU, "cudnn" or "cupy" on a GPU
    winograd: "auto": inference computes 3x3 convolutions of many channels by Winograd's algorithm on the CPU, which is
        two to three times as fast, as exact, and gives other last bits; "never". By default the environment's
        CVZOO_WINOGRAD, or "auto"
    device: "cpu" or "gpu:0": of new parameters, and the default of batches. By default the environment's CVZOO_DEVICE,
        or "cpu"
    """

    def __init__(self) -> None:
        self.train = True
        self.enable_backprop = True
        self.dtype = os.environ.get("CVZOO_DTYPE", "float32") or "float32"
        self.deterministic = True
        self.autotune = False
        self.in_recomputing = False
        self.backend = os.environ.get("CVZOO_BACKEND", "auto") or "auto"
        self.winograd = os.environ.get("CVZOO_WINOGRAD", "auto") or "auto"
        self.device = os.environ.get("CVZOO_DEVICE", "cpu") or "cpu"

    @property
    def allows_winograd(self) -> bool:
        """Whether convolutions may be computed by Winograd's algorithm: in inference, unless `winograd` is "never".

        Raises ConfigError if the environment's CVZOO_WINOGRAD is neither.
        """
        if self.train or self.enable_backprop or self.winograd == "never":
            return False
        if self.winograd != "auto":
            expected, got = " or ".join(_WINOGRAD), repr(self.winograd)
            raise ConfigError("the environment's CVZOO_WINOGRAD has no such value", expected=expected, got=got)
        return True


class _Open(threading.local):
    """The active blocks of this thread: for each switch the previous values, outermost first."""

    def __init__(self) -> None:
        self.blocks: dict[str, dict[object, object]] = {}


switches = Switches()
_open = _Open()


def _check(name: str, value: object) -> None:
    if name in _BOOLEANS:
        if not isinstance(value, bool):
            raise ConfigError(f"config.{name} is a switch", expected="True or False", got=repr(value))
    elif name in _CHOICES:
        allowed = _CHOICES[name]
        if value not in allowed:
            raise ConfigError(f"config.{name} has no such value", expected=" or ".join(allowed), got=repr(value))
    elif name == "device":
        if not isinstance(value, str) or not _DEVICE.fullmatch(value):
            raise ConfigError("config.device has no such value", expected='"cpu" or "gpu:0"', got=repr(value))
    else:
        raise ConfigError(
            f"config has no switch {name!r}", expected=", ".join(sorted((*_BOOLEANS, *_CHOICES, "device")))
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
        # Ctrl-C kept the block from ending, which happens now, with its traceback's release: later blocks keep values
        later = list(blocks)[list(blocks).index(block) + 1 :] if block in blocks else []
        if later:
            blocks[later[0]] = blocks.pop(block)
        raise
    finally:
        if block in blocks:  # false if an outer block has ended before
            state[name] = blocks[block]
            while blocks.popitem()[0] is not block:
                pass


def no_backprop_mode() -> contextlib.AbstractContextManager[None]:
    """A block in which functions record no graph: less memory, no gradients."""
    return using_config("enable_backprop", False)


def force_backprop_mode() -> contextlib.AbstractContextManager[None]:
    """A block in which functions record the graph, also inside a `no_backprop_mode()` block."""
    return using_config("enable_backprop", True)
