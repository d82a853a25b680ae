"""ChainerCV's `chainercv.utils.iterator`: its names, which other rooms define."""

from typing import TYPE_CHECKING

from cvzoo.lazy_imports.on_demand import import_on_demand

if TYPE_CHECKING:
    from cvzoo.iterators.apply_to_iterator import apply_to_iterator
    from cvzoo.iterators.progress_hook import ProgressHook
    from cvzoo.iterators.unzip import unzip

__all__ = [
    "apply_to_iterator",
    "ProgressHook",
    "unzip",
]

import_on_demand(__name__)
