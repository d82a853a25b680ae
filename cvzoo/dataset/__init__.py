"""Chainer's `chainer.dataset`: its names, which other rooms define."""

from typing import TYPE_CHECKING

from cvzoo.lazy_imports.on_demand import import_on_demand

if TYPE_CHECKING:
    from cvzoo.datasets.dataset_mixin import DatasetMixin
    from cvzoo.iterators.abstract import AbstractIterator as Iterator
    from cvzoo.training.concat_examples import concat_examples, to_device

__all__ = ["concat_examples", "DatasetMixin", "Iterator", "to_device"]

import_on_demand(__name__)
