"""The command line: `cvzoo predict`, `cvzoo models`, `cvzoo doctor`, a file a verb."""

from typing import TYPE_CHECKING

from cvzoo.lazy_imports.on_demand import import_on_demand

if TYPE_CHECKING:
    from cvzoo.cli.main import main

__all__ = ["main"]

import_on_demand(__name__)
