"""Devices: the CPU, and the GPUs that cvzoo finds."""

import sys
from typing import IO

from cvzoo.autodiff.hooks.timer_hook import TimerHook
from cvzoo.backends.device import Device as Place
from cvzoo.backends.device import get_device, gpu_count
from cvzoo.config.randomness import set_seed
from cvzoo.errors.exceptions import BackendError, ValueRangeError


class Device:
    """The CPU or a GPU, with the method names of SINGA.

    index: the GPU's number, -1 for the CPU
    verbosity: profiling level of `SetVerbosity`: 0 none, 1 forward and backward, 2 also each function
    seconds: the measured times, a list for each of "forward" and "backward"
    timer: measures each function at verbosity 2
    """

    def __init__(self, index: int = -1) -> None:
        self.index = index
        self.verbosity = 0
        self.seconds: dict[str, list[float]] = {}
        self.timer = TimerHook()
        self._skip = 0
        self._graph_enabled = False

    # --- time -------------------------------------------------------------------------------------------------------
    def SetVerbosity(self, verbosity: int) -> None:
        """Set the profiling level: 0 nothing, 1 forward and backward propagation of training batches, 2 also each
        function. At 2 graphs are not replayed, so that each function can be timed.
        """
        if verbosity not in (0, 1, 2):
            raise ValueRangeError(f"SetVerbosity: unknown verbosity {verbosity!r}", expected="0, 1 or 2")
        self.verbosity = verbosity
        self.seconds = {}
        self.timer = TimerHook()

    def SetSkipIteration(self, skip_iteration: int) -> None:
        """Exclude the first `skip_iteration` batches from the times."""
        if skip_iteration < 0:
            raise ValueRangeError("SetSkipIteration: the number of batches must be 0 or more", got=skip_iteration)
        self._skip = skip_iteration

    def add_seconds(self, way: str, seconds: float) -> None:
        """Record the duration of one batch's `way`, "forward" or "backward"."""
        self.seconds.setdefault(way, []).append(seconds)
        if len(self.seconds[way]) == self._skip:
            self.timer = TimerHook()  # restarted after the skipped batches

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

    # --- for compatibility with SINGA's programs ---------------------------------------------------------------------
    def SetRandSeed(self, seed: int) -> None:
        """Seed this thread's random numbers (initial values, dropout)."""
        set_seed(seed)

    @property
    def place(self) -> Place:
        """The device as the other packages of cvzoo represent it."""
        return Place(self.index)

    def Sync(self) -> None:
        """Synchronize with the GPU; a no-op on the CPU."""
        self.place.synchronize()

    def EnableGraph(self, enable: bool) -> None:
        """Set the flag that `graph_enabled` returns. `Model.compile` and `Model.graph` decide whether a model is
        replayed."""
        self._graph_enabled = bool(enable)

    def graph_enabled(self) -> bool:
        """The flag set by `EnableGraph`."""
        return self._graph_enabled

    def ResetGraph(self) -> None:
        """No-op: graphs belong to models, and are recorded again after a change."""

    def id(self) -> int:
        """The GPU's number; -1 for the CPU, as in SINGA."""
        return self.index

    def __repr__(self) -> str:
        return f"Device({self.place.name})"


_devices: dict[int, Device] = {}  # one object per device, since it holds the measured times


def device_at(index: int) -> Device:
    """The GPU with that index, which must exist; -1: the CPU."""
    if index not in _devices:
        _devices[index] = Device(index)
    return _devices[index]


def get_default_device() -> Device:
    """The CPU."""
    return device_at(-1)


def create_cpu_device() -> Device:
    """The CPU, the same as `get_default_device()`."""
    return device_at(-1)


def enable_lazy_alloc(enable: bool) -> None:
    """No-op: the memory plan of a replayed graph covers each array from first write to last read anyway."""


def get_num_gpus() -> int:
    """The number of usable NVIDIA GPUs."""
    return gpu_count()


def create_cuda_gpu() -> Device:
    """The first GPU. Raises BackendError, saying why, if none can be used here."""
    return create_cuda_gpu_on(0)


def create_cuda_gpu_on(device_id: int) -> Device:
    """The GPU of that number. Raises BackendError, saying why, if it cannot be used here."""
    if isinstance(device_id, bool) or not isinstance(device_id, int) or device_id < 0:
        raise ValueRangeError("create_cuda_gpu_on: the index of a GPU must be 0 or more", got=repr(device_id))
    return device_at(get_device(f"gpu:{device_id}").index)


def create_cuda_gpus(num: int) -> list[Device]:
    """The first `num` GPUs. Raises BackendError if there are fewer."""
    return create_cuda_gpus_on(list(range(num)))


def create_cuda_gpus_on(device_ids: list[int]) -> list[Device]:
    """The GPUs of these numbers. Raises BackendError if one of them cannot be used here."""
    return [create_cuda_gpu_on(device_id) for device_id in device_ids]


def create_opencl_device() -> Device:
    """Raises BackendError: cvzoo computes on CPUs and NVIDIA GPUs."""
    raise BackendError(
        "create_opencl_device: OpenCL is not supported", hint="device.create_cuda_gpu(), or get_default_device()"
    )
