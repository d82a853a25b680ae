"""Detection of NaN and infinity, and of the function that they come from."""

from typing import TYPE_CHECKING

from cvzoo.lazy_imports.on_demand import import_on_demand

if TYPE_CHECKING:
    from cvzoo.training.non_number.first_non_number import FirstNonNumber, NonNumberFound

__all__ = ["FirstNonNumber", "NonNumberFound"]

import_on_demand(__name__)
