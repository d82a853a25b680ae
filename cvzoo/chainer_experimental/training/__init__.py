"""ChainerCV's `chainercv.chainer_experimental.training`: its names, which other rooms define."""

from typing import TYPE_CHECKING

from cvzoo.lazy_imports.on_demand import import_on_demand

if TYPE_CHECKING:
    from cvzoo.chainer_experimental.training import extensions

__all__ = [
    "extensions",
]

import_on_demand(__name__)
