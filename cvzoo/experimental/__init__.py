"""ChainerCV's `chainercv.experimental`: its names, which other rooms define."""

from typing import TYPE_CHECKING

from cvzoo.lazy_imports.on_demand import import_on_demand

if TYPE_CHECKING:
    from cvzoo.experimental import links

__all__ = [
    "links",
]

import_on_demand(__name__)
