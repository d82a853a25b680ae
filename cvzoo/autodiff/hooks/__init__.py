"""Function hooks that profile time and memory or print values."""

from typing import TYPE_CHECKING

from cvzoo.lazy_imports.on_demand import import_on_demand

if TYPE_CHECKING:
    from cvzoo.autodiff.hooks.memory_hook import FunctionMemory, MemoryHook
    from cvzoo.autodiff.hooks.print_hook import PrintHook
    from cvzoo.autodiff.hooks.timer_hook import FunctionTime, TimerHook

__all__ = ["FunctionMemory", "FunctionTime", "MemoryHook", "PrintHook", "TimerHook"]

import_on_demand(__name__)
