"""Applies the options `--device` and `--dtype`."""

import argparse
import contextlib
import os
import warnings
from collections.abc import Iterator

from cvzoo.backends.device import get_device
from cvzoo.backends.float_types import product_dtype
from cvzoo.backends.threads import why_too_busy
from cvzoo.config.switches import using_config


@contextlib.contextmanager
def on_device(args: argparse.Namespace) -> Iterator[None]:
    """A context in which models are created on the device of the options and compute in their dtype; verbs without
    these options use the CPU and float32. Warns if the CPU is too busy for several threads.

    Raises ValueRangeError for an unknown device, ConfigError for an unknown dtype, BackendError if one of them is not
    available.
    """
    known = "device" in vars(args)
    device = get_device(vars(args).get("device") or (known and os.environ.get("CVZOO_DEVICE")) or "cpu")
    dtype = vars(args).get("dtype") or (known and os.environ.get("CVZOO_DTYPE")) or "float32"
    with using_config("device", device.name), using_config("dtype", dtype), device:
        product_dtype()  # raises at once if something is not installed
        busy = why_too_busy() if vars(args).get("device") == "cpu" else None
        if busy is not None:
            warnings.warn(busy, stacklevel=2)
        yield
