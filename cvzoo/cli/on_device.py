"""The options `--device` and `--dtype`, and what runs as they say."""

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
    """A block in which models are made on the device of the options and compute in their dtype; verbs without the
    options compute on the CPU in float32. Warns where the processors are too busy for several threads.

    Raises ValueRangeError if it is no device's name, ConfigError if it is no dtype, BackendError if one of them cannot
    be used here.
    """
    known = "device" in vars(args)
    device = get_device(vars(args).get("device") or (known and os.environ.get("CVZOO_DEVICE")) or "cpu")
    dtype = vars(args).get("dtype") or (known and os.environ.get("CVZOO_DTYPE")) or "float32"
    with using_config("device", device.name), using_config("dtype", dtype), device:
        product_dtype()  # says at once what is not installed
        busy = why_too_busy() if vars(args).get("device") == "cpu" else None
        if busy is not None:
            warnings.warn(busy, stacklevel=2)
        yield
