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


def add_device_argument(group: argparse._ActionsContainer) -> None:
    """`--device` and `--dtype`; without them the environment's CVZOO_DEVICE and CVZOO_DTYPE decide."""
    group.add_argument(
        "--device",
        default=os.environ.get("CVZOO_DEVICE") or "cpu",
        metavar="NAME",
        help="what to compute on: cpu, gpu:0 (default: CVZOO_DEVICE, else cpu)",
    )
    group.add_argument(
        "--dtype",
        choices=("float32", "tf32", "mixed_bf16", "mixed_fp16"),
        default=os.environ.get("CVZOO_DTYPE") or "float32",
        help="what to compute in; mixed: convolutions and products of matrices in 16 bits (default: CVZOO_DTYPE, else "
        "float32)",
    )


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
