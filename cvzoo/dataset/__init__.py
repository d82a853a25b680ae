"""Chainer's `chainer.dataset`: its names, which other rooms define."""

from typing import TYPE_CHECKING

from cvzoo.lazy_imports.on_demand import import_on_demand

if TYPE_CHECKING:
    from cvzoo.datasets.dataset_mixin import DatasetMixin
    from cvzoo.iterators.abstract import AbstractIterator as Iterator
    from cvzoo.training.concat_examples import concat_examples, to_device

__all__ = ["concat_examples", "DatasetMixin", "Iterator", "to_device"]

_FETCHED = (
    "cvzoo.weights.fetch_weights, or a data set of cvzoo.datasets with data_dir='auto', which check what they fetch"
)
_REPLACED = {
    "cache_or_load_file": _FETCHED,
    "cached_download": _FETCHED,
    "ConcatWithAsyncTransfer": "concat_examples; updaters upload a batch while the last one is learned",
    "Converter": "any function of a batch and a device",
    "converter": "any function of a batch and a device",
    "get_dataset_directory": "cvzoo.datasets.dataset_home()",
    "get_dataset_root": "cvzoo.datasets.dataset_home()",
    "set_dataset_root": "the environment variable CVZOO_HOME",
    "TabularDataset": "cvzoo.datasets.TupleDataset or GetterDataset, which have slice",
}

import_on_demand(__name__, replaced=_REPLACED)
