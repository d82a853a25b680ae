"""ChainerCV's `chainercv.chainer_experimental.training.extensions`: its names, which other rooms define."""

from typing import TYPE_CHECKING

from cvzoo.lazy_imports.on_demand import import_on_demand

if TYPE_CHECKING:
    from cvzoo.training.extensions.shifts.make_shift import make_shift

__all__ = [
    "make_shift",
]

import_on_demand(__name__)
