"""ChainerCV's `chainercv.chainer_experimental.datasets.sliceable`: its names, which other rooms define."""

from typing import TYPE_CHECKING

from cvzoo.lazy_imports.on_demand import import_on_demand

if TYPE_CHECKING:
    from cvzoo.datasets.sliceable.abstract import AbstractSliceableDataset as SliceableDataset
    from cvzoo.datasets.sliceable.concatenated_dataset import ConcatenatedDataset
    from cvzoo.datasets.sliceable.getter_dataset import GetterDataset
    from cvzoo.datasets.sliceable.transform_dataset import TransformDataset
    from cvzoo.datasets.sliceable.tuple_dataset import TupleDataset

__all__ = [
    "ConcatenatedDataset",
    "GetterDataset",
    "SliceableDataset",
    "TransformDataset",
    "TupleDataset",
]

import_on_demand(__name__)
