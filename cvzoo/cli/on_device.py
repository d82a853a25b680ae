"""The option `--device`, and what runs where it says."""

import argparse
import contextlib
import os
from collections.abc import Iterator

from cvzoo.backends.device import get_device
from cvzoo.config.switches import using_config


def add_device_argument(group: argparse._ActionsContainer) -> None:
    """`--device`; without it the environment's CVZOO_DEVICE decides."""
    group.add_argument(
        "--device",
        default=os.environ.get("CVZOO_DEVICE") or "cpu",
        metavar="NAME",
        help="what to compute on: cpu, gpu:0 (default: CVZOO_DEVICE, else cpu)",
    )


@contextlib.contextmanager
def on_device(args: argparse.Namespace) -> Iterator[None]:
    """A block in which models are made on the device of the options; verbs without `--device` compute on the CPU.

    Raises ValueRangeError if it is no device's name, BackendError if it cannot be used here.
    """
    device = get_device(vars(args).get("device", "cpu"))
    with using_config("device", device.name), device:
        yield
