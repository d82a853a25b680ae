"""ChainerCV's `chainercv.chainer_experimental`: its names, which other rooms define."""

from typing import TYPE_CHECKING

from cvzoo.lazy_imports.on_demand import import_on_demand

if TYPE_CHECKING:
    from cvzoo.chainer_experimental import datasets, training

__all__ = [
    "datasets",
    "training",
]

import_on_demand(__name__)
