"""Hooks that watch functions: time, memory, values."""

from cvzoo.autodiff.hooks.memory_hook import FunctionMemory, MemoryHook
from cvzoo.autodiff.hooks.print_hook import PrintHook
from cvzoo.autodiff.hooks.timer_hook import FunctionTime, TimerHook

__all__ = ["FunctionMemory", "FunctionTime", "MemoryHook", "PrintHook", "TimerHook"]
