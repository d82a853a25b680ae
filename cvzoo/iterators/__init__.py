"""Iterators over data sets in batches, serial or with data-loading workers, and `apply_to_iterator` for inference."""

from typing import TYPE_CHECKING

from cvzoo.lazy_imports.on_demand import import_on_demand

if TYPE_CHECKING:
    from cvzoo.iterators.abstract import AbstractIterator
    from cvzoo.iterators.apply_to_iterator import apply_to_iterator
    from cvzoo.iterators.balanced_samplers import (
        ClassBalancedOrderSampler,
        GroupedOrderSampler,
        RepeatFactorOrderSampler,
        aspect_ratio_groups,
    )
    from cvzoo.iterators.multiprocess_iterator import MultiprocessIterator
    from cvzoo.iterators.multithread_iterator import MultithreadIterator
    from cvzoo.iterators.order_samplers import OrderSampler, ShuffleOrderSampler
    from cvzoo.iterators.progress_hook import ProgressHook
    from cvzoo.iterators.serial_iterator import SerialIterator
    from cvzoo.iterators.unzip import unzip

__all__ = [
    "AbstractIterator",
    "apply_to_iterator",
    "aspect_ratio_groups",
    "ClassBalancedOrderSampler",
    "GroupedOrderSampler",
    "MultiprocessIterator",
    "MultithreadIterator",
    "OrderSampler",
    "ProgressHook",
    "RepeatFactorOrderSampler",
    "SerialIterator",
    "ShuffleOrderSampler",
    "unzip",
]

import_on_demand(__name__)
