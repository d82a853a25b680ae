"""Devices: there is one, the processor; asking for a GPU says so."""

import sys
from typing import IO

from cvzoo.autodiff.hooks.timer_hook import TimerHook
from cvzoo.config.randomness import set_seed
from cvzoo.errors.exceptions import BackendError, ValueRangeError


class Device:
    """The processor. Its methods have SINGA's names.

    verbosity: what `SetVerbosity` said: 0 measures nothing, 1 how long forward and backward take, 2 each function too
    seconds: what was measured, a list of times for each of "forward" and "backward"
    timer: measures each function while verbosity is 2
    """

    def __init__(self) -> None:
        self.verbosity = 0
        self.seconds: dict[str, list[float]] = {}
        self.timer = TimerHook()
        self._skip = 0
        self._graph_enabled = False

    # --- time -------------------------------------------------------------------------------------------------------
    def SetVerbosity(self, verbosity: int) -> None:
        """Measure nothing (0), forward and backward propagation of trained batches (1), or each function too (2), from
        now on. At 2 nothing is replayed: the functions are called one by one, so that each can be timed.
        """
        if verbosity not in (0, 1, 2):
            raise ValueRangeError("SetVerbosity", expected="0, 1 or 2", got=repr(verbosity))
        self.verbosity = verbosity
        self.seconds = {}
        self.timer = TimerHook()

    def SetSkipIteration(self, skip_iteration: int) -> None:
        """Leave the first so many batches out of the times."""
        if skip_iteration < 0:
            raise ValueRangeError("SetSkipIteration: a number of batches", expected="0 or more", got=skip_iteration)
        self._skip = skip_iteration

    def add_seconds(self, way: str, seconds: float) -> None:
        """Note how long the `way` "forward" or "backward" of one batch took."""
        self.seconds.setdefault(way, []).append(seconds)
        if len(self.seconds[way]) == self._skip:
            self.timer = TimerHook()  # what comes after the batches to leave out

    def PrintTimeProfiling(self, file: IO[str] | None = None) -> None:
        """Print the mean times; a table of functions at verbosity 2."""
        file = sys.stdout if file is None else file
        print("Time Profiling:", file=file)
        for way, seconds in self.seconds.items():
            counted = seconds[self._skip :]
            if counted:
                print(f"{way.capitalize()} Propagation Time : {sum(counted) / len(counted):.6g} sec", file=file)
        if self.verbosity == 2:
            self.timer.print_report(file)

    # --- what is here for programs that call it ---------------------------------------------------------------------
    def SetRandSeed(self, seed: int) -> None:
        """Start this thread's random numbers (initial values, dropout) anew."""
        set_seed(seed)

    def Sync(self) -> None:
        """Nothing: when a function returns, its numbers are there."""

    def EnableGraph(self, enable: bool) -> None:
        """Remember what was said, for `graph_enabled`. Whether a model is replayed says `Model.compile` or
        `Model.graph`."""
        self._graph_enabled = bool(enable)

    def graph_enabled(self) -> bool:
        """What `EnableGraph` was told."""
        return self._graph_enabled

    def ResetGraph(self) -> None:
        """Nothing: graphs belong to models, and are made anew when something changed."""

    def id(self) -> int:
        """-1, as SINGA's processor has."""
        return -1

    def __repr__(self) -> str:
        return "Device(cpu)"


_default = Device()


def get_default_device() -> Device:
    """The processor."""
    return _default


def create_cpu_device() -> Device:
    """The processor, the same as `get_default_device()`."""
    return _default


def enable_lazy_alloc(enable: bool) -> None:
    """Nothing: a replayed graph's memory is planned from first write to last read either way."""


def get_num_gpus() -> int:
    """0: this version computes on the processor only."""
    return 0


def _absent(name: str) -> BackendError:
    return BackendError(
        f"{name}: this version of cvzoo computes on the CPU only", hint="device.get_default_device(), with no device id"
    )


def create_cuda_gpu() -> Device:
    """Raises BackendError: this version computes on the processor only."""
    raise _absent("create_cuda_gpu")


def create_cuda_gpu_on(device_id: int) -> Device:
    """Raises BackendError: this version computes on the processor only."""
    raise _absent("create_cuda_gpu_on")


def create_cuda_gpus(num: int) -> list[Device]:
    """Raises BackendError: this version computes on the processor only."""
    raise _absent("create_cuda_gpus")


def create_cuda_gpus_on(device_ids: list[int]) -> list[Device]:
    """Raises BackendError: this version computes on the processor only."""
    raise _absent("create_cuda_gpus_on")


def create_opencl_device() -> Device:
    """Raises BackendError: this version computes on the processor only."""
    raise _absent("create_opencl_device")
