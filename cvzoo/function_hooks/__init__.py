"""Chainer's `chainer.function_hooks`: its names, which other rooms define."""

from typing import TYPE_CHECKING

from cvzoo.lazy_imports.on_demand import import_on_demand

if TYPE_CHECKING:
    from cvzoo.autodiff.hooks.memory_hook import MemoryHook
    from cvzoo.autodiff.hooks.print_hook import PrintHook
    from cvzoo.autodiff.hooks.timer_hook import TimerHook

__all__ = ["MemoryHook", "PrintHook", "TimerHook"]

import_on_demand(__name__)
