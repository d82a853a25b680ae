"""The array class: memory of a device, which NumPy cannot read."""

import functools
import operator
import warnings
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from fake_gpu.indexing import resolve
from fake_gpu.machine import FakeGpuError, machine
from fake_gpu.memory import MemoryPointer, UnownedMemory, touched

SCALARS = (bool, int, float, complex, np.generic)


class CudaArray:
    """Stands for cupy.ndarray."""

    __array_priority__ = 100
    __hash__ = None  # type: ignore[assignment]

    def __init__(
        self,
        shape: Any,
        dtype: Any = float,
        memptr: MemoryPointer | None = None,
        strides: Sequence[int] | None = None,
        order: str = "C",
    ):
        shape = (int(shape),) if isinstance(shape, int | np.integer) else tuple(int(n) for n in shape)
        if min(shape, default=0) < 0:
            raise ValueError("Negative dimensions are not allowed")
        dtype = supported(dtype)
        if strides is None:
            strides = np.empty(shape, dtype, order=order).strides
        size = dtype.itemsize
        for n, step in zip(shape, strides):
            size += (n - 1) * abs(step) if n else 0
        if 0 in shape:
            size = 0
        if memptr is None:
            memptr = machine().memories.alloc(size)
        offset = memptr.offset
        if size == 0:
            host = np.empty(shape, dtype)
        else:
            host = np.ndarray(shape, dtype, buffer=memptr.mem.raw, offset=offset, strides=strides)
        self._setup(host, memptr.mem, offset)

    def _setup(self, host: np.ndarray, mem: Any, offset: int) -> None:
        self._host = host
        self._mem = mem
        self._offset = offset

    def _view(self, host: np.ndarray) -> "CudaArray":
        """An array of the same memory."""
        made = object.__new__(CudaArray)
        made._setup(host, self._mem, host.__array_interface__["data"][0] - self._mem.ptr if host.size else self._offset)
        return made

    # --- what it says of itself -------------------------------------------------------------------------------------
    shape = property(lambda self: self._host.shape)
    strides = property(lambda self: self._host.strides)
    dtype = property(lambda self: self._host.dtype)
    ndim = property(lambda self: self._host.ndim)
    size = property(lambda self: self._host.size)
    itemsize = property(lambda self: self._host.itemsize)
    nbytes = property(lambda self: self._host.nbytes)
    T = property(lambda self: self._view(self._host.T))

    @shape.setter  # type: ignore[no-redef]
    def shape(self, shape: Any) -> None:
        self._host = self._host.view()
        self._host.shape = shape

    @property
    def data(self) -> MemoryPointer:
        return MemoryPointer(self._mem, self._offset)

    @property
    def device(self) -> Any:
        return self._mem.device

    @property
    def base(self) -> None:
        return None

    @property
    def flags(self) -> Any:
        return Flags(self._host.flags)

    @property
    def flat(self) -> Any:
        raise NotImplementedError("the fake has no flat iterator")

    @property
    def real(self) -> "CudaArray":
        return self

    def __len__(self) -> int:
        if not self.ndim:
            raise TypeError("len() of unsized object")
        return self.shape[0]

    def __iter__(self) -> Any:
        if not self.ndim:
            raise TypeError("iteration over a 0-d array")
        return (self[k] for k in range(self.shape[0]))

    @property
    def __cuda_array_interface__(self) -> dict:
        return {
            "shape": self.shape,
            "typestr": self.dtype.str,
            "descr": self.dtype.descr,
            "strides": None if self.flags.c_contiguous else self.strides,
            "data": (self.data.ptr, False),
            "version": 3,
            "stream": 1,
        }

    # --- to and from the host ---------------------------------------------------------------------------------------
    def __array__(self, dtype: Any = None, copy: Any = None) -> np.ndarray:
        raise TypeError(
            "Implicit conversion to a NumPy array is not allowed. Please use `.get()` to construct a NumPy array "
            "explicitly."
        )

    def get(
        self, stream: Any = None, order: str = "C", out: np.ndarray | None = None, blocking: bool = True
    ) -> np.ndarray:
        ptr = None if stream is None else stream.ptr
        here = machine()
        if out is not None:
            if not isinstance(out, np.ndarray):
                raise TypeError("Only numpy.ndarray can be obtained from cupy.ndarray")
            if out.dtype != self.dtype:
                raise TypeError(f"{out.dtype} array cannot be obtained from {self.dtype} array")
            if out.shape != self.shape:
                raise ValueError(f"Shape mismatch. Expected shape: {self.shape}, actual shape: {out.shape}")
            if not (out.flags.c_contiguous or out.flags.f_contiguous):
                raise RuntimeError("`out` cannot be specified when copying to non-contiguous ndarray")
        else:
            order = ("F" if self._host.flags.fnc else "C") if order == "A" else order
            out = np.empty(self.shape, self.dtype, order)
        if not self.size:
            return out
        here.refuse_in_capture("a copy to the host by CuPy", ptr)
        if blocking:
            here._check_allowed("ndarray.get")
        host, to = self._host, out
        with self.device:
            here.run("get", lambda: np.copyto(to, host), kind="d2h", size=self.nbytes, stream=ptr)
            if blocking:
                here.sync("ndarray.get", ptr)
        return out

    def set(self, arr: np.ndarray, stream: Any = None) -> None:
        if not isinstance(arr, np.ndarray):
            raise TypeError("Only numpy.ndarray can be set to cupy.ndarray")
        if arr.dtype != self.dtype:
            raise TypeError(f"{arr.dtype} array cannot be set to {self.dtype} array")
        if arr.shape != self.shape:
            raise ValueError(f"Shape mismatch. Old shape: {self.shape}, new shape: {arr.shape}")
        if not (self.flags.c_contiguous or self.flags.f_contiguous):
            raise RuntimeError("Cannot set to non-contiguous array")
        upload(self, arr, stream)

    def item(self) -> Any:
        return self.get().item()

    def tolist(self) -> Any:
        return self.get().tolist()

    def tobytes(self, order: str = "C") -> bytes:
        return self.get().tobytes(order)

    def __bool__(self) -> bool:
        if not self.size:
            warnings.warn("The truth value of an empty array is ambiguous.", DeprecationWarning, stacklevel=2)
            return False
        if self.size > 1:
            raise ValueError(
                "The truth value of an array with more than one element is ambiguous. Use a.any() or a.all()"
            )
        return bool(self.get())

    def __int__(self) -> int:
        return int(self.get())

    def __float__(self) -> float:
        return float(self.get())

    def __repr__(self) -> str:
        return repr(self.get())

    def __str__(self) -> str:
        return str(self.get())

    def __format__(self, how: str) -> str:
        return format(self.get(), how)

    def __reduce__(self) -> tuple:
        from fake_gpu.functions import array

        return array, (self.get(order="A"),)

    def __copy__(self) -> "CudaArray":
        return self.copy()

    def __deepcopy__(self, memo: dict) -> "CudaArray":
        with self.device:
            return self.copy()

    def __dlpack__(
        self, *, stream: Any = None, max_version: Any = None, dl_device: Any = None, copy: Any = None
    ) -> Any:
        return self._host.__dlpack__()

    def __dlpack_device__(self) -> tuple[int, int]:
        return self._host.__dlpack_device__()  # what it is: memory of the host

    # --- shapes -----------------------------------------------------------------------------------------------------
    def reshape(self, *shape: Any, order: str = "C", copy: bool | None = None) -> "CudaArray":
        shape = shape[0] if len(shape) == 1 and not isinstance(shape[0], int | np.integer) else shape
        wanted = tuple(map(operator.index, shape)) if isinstance(shape, Sequence) else (operator.index(shape),)
        return self._reshaped(wanted, order, copy)

    def _reshaped(self, shape: tuple[int, ...], order: str, copy: bool | None) -> "CudaArray":
        try:
            host = self._host.reshape(shape, order=order, copy=False)
        except ValueError:
            if order != "C":
                raise NotImplementedError("the fake reshapes in C order") from None
            if -1 in shape or int(np.prod(shape)) == self.size:
                return self._view(self._host) if copy is False else self.copy()._reshaped(shape, order, None)
            raise
        made = self._view(host)
        return made.copy() if copy else made

    def transpose(self, *axes: Any) -> "CudaArray":
        return self._view(self._host.transpose(*axes))

    def swapaxes(self, axis1: int, axis2: int) -> "CudaArray":
        return self._view(self._host.swapaxes(axis1, axis2))

    def squeeze(self, axis: Any = None) -> "CudaArray":
        return self._view(self._host.squeeze(axis))

    def ravel(self, order: str = "C") -> "CudaArray":
        return self._reshaped((-1,), order, None)

    def flatten(self, order: str = "C") -> "CudaArray":
        return self._reshaped((-1,), order, None).copy()

    def view(self, dtype: Any = None, type: Any = None) -> "CudaArray":
        if dtype is None or dtype is CudaArray:
            return self._view(self._host.view())
        return self._view(self._host.view(dtype))

    def diagonal(self, offset: int = 0, axis1: int = 0, axis2: int = 1) -> "CudaArray":
        return self._view(self._host.diagonal(offset, axis1, axis2))

    def astype(
        self, dtype: Any, order: str = "K", casting: Any = None, subok: Any = None, copy: bool = True
    ) -> "CudaArray":
        if casting is not None or subok is not None:
            raise TypeError("casting and subok are not supported yet")
        dtype = supported(dtype)
        flags = self._host.flags
        fits = order == "K" or (order == "C" and flags.c_contiguous) or (order == "F" and flags.f_contiguous)
        if not copy and dtype == self.dtype and (fits or (order == "A" and (flags.c_contiguous or flags.f_contiguous))):
            return self
        made = empty_like_host(self._host, dtype, order or "K")
        launch("astype", lambda a: a, [self], out=made, cast="unsafe")
        return made

    def copy(self, order: str = "C") -> "CudaArray":
        here = machine()
        if not self.size or self.device.id == here.here.device:
            return self.astype(self.dtype, order)
        with self.device:
            source = self.astype(self.dtype, order, copy=False)
        if not (source.flags.c_contiguous or source.flags.f_contiguous):
            raise NotImplementedError("CuPy cannot copy non-contiguous array between devices.")
        made = CudaArray(source.shape, source.dtype, order="C" if source.flags.c_contiguous else "F")
        made.data.copy_from_device_async(source.data, source.nbytes)
        return made

    def fill(self, value: Any) -> None:
        if isinstance(value, CudaArray):
            if value.ndim:
                raise ValueError("non-scalar cupy.ndarray cannot be used for fill")
            launch("fill", lambda a: a, [value], out=self, cast="unsafe")
            return
        number = np.asarray(value, self.dtype)
        if number.ndim:
            raise ValueError("non-scalar numpy.ndarray cannot be used for fill")
        kind = "memset" if number == 0 and self.flags.c_contiguous else "launch"
        launch("fill", lambda: number, [], out=self, kind=kind)

    # --- indices ----------------------------------------------------------------------------------------------------
    def __getitem__(self, key: Any) -> "CudaArray":
        index = resolve(key, self.shape)
        if index.basic is not None:
            return self._view(self._host[index.basic])
        if index.counts:
            machine().sync("indexing by a mask")
        return launch("take", lambda a, *rest: a[index.key(rest)], [self, *index.arrays])

    def __setitem__(self, key: Any, value: Any) -> None:
        if type(key) is slice and key == slice(None) and isinstance(value, np.ndarray):
            if value.dtype != self.dtype or value.shape != self.shape:
                raise ValueError(
                    "copying a numpy.ndarray to a cupy.ndarray by empty slice assignment must ensure arrays have same "
                    "shape and dtype"
                )
            upload(self, value, None)
            return
        index = resolve(key, self.shape)
        if index.basic is not None:
            target = self._view(self._host[index.basic])
            if isinstance(value, CudaArray):
                while value.ndim > target.ndim and value.shape[0] == 1:
                    value = value[0]
                same = value.shape == target.shape and value.strides == target.strides
                if same and value.data.ptr == target.data.ptr and target.size:
                    return
                if same and target.flags.c_contiguous and value.dtype == target.dtype and target.size:
                    target.data.copy_from_device_async(value.data, value.nbytes)
                else:
                    launch("copy", lambda a: a, [value], out=target, cast="unsafe")
            else:
                target.fill(value)
            return
        if index.counts:
            machine().sync("assigning by a mask")
        scatter(self, index, value, "update")

    def take(self, indices: Any, axis: int | None = None, out: Any = None) -> "CudaArray":
        from fake_gpu.functions import take

        return take(self, indices, axis, out)

    # --- NumPy's functions called with it ---------------------------------------------------------------------------
    def __array_ufunc__(self, ufunc: Any, method: str, *inputs: Any, **kwargs: Any) -> Any:
        from fake_gpu.ufuncs import UFUNCS

        found = UFUNCS.get(ufunc.__name__)
        if found is None or method not in ("__call__", "at", "reduce", "accumulate", "outer"):
            return NotImplemented
        if "out" in kwargs:
            if len(kwargs["out"]) != 1:
                raise ValueError("The 'out' parameter must have exactly one array value")
            kwargs["out"] = kwargs["out"][0]
        for x in (*inputs, kwargs.get("out")):
            if x is not None and not isinstance(x, (*SCALARS, CudaArray, np.ndarray)):
                return NotImplemented
        if found.is_comparison:
            inputs = tuple(x.item() if isinstance(x, np.ndarray) and not x.ndim else x for x in inputs)
        return (found if method == "__call__" else getattr(found, method))(*inputs, **kwargs)

    def __array_function__(self, function: Any, types: Any, args: Any, kwargs: Any) -> Any:
        from fake_gpu.functions import FUNCTIONS

        found = FUNCTIONS.get(function.__name__)
        if found is None or function.__module__ not in ("numpy", None):
            return NotImplemented
        if not all(issubclass(kind, CudaArray | np.ndarray) for kind in types):
            return NotImplemented
        return found(*args, **kwargs)


CudaArray.__name__ = "ndarray"


class Flags:
    """How an array lies."""

    def __init__(self, flags: Any):
        self.c_contiguous = flags.c_contiguous
        self.f_contiguous = flags.f_contiguous
        self.owndata = flags.owndata
        self.forc = flags.forc
        self.fnc = flags.fnc

    def __getitem__(self, name: str) -> bool:
        names = {"C_CONTIGUOUS": "c_contiguous", "F_CONTIGUOUS": "f_contiguous", "OWNDATA": "owndata"}
        return getattr(self, names[name])


# --- how work is done -----------------------------------------------------------------------------------------------
def supported(dtype: Any) -> np.dtype:
    """The dtype, if kernels know it. Raises ValueError otherwise."""
    dtype = np.dtype(dtype)
    if dtype.kind not in "biufcV" or dtype.char in "gG" or dtype.hasobject:
        raise ValueError(f"Unsupported dtype {dtype}")
    return dtype


def check_operand(x: Any) -> None:
    """Raise as CuPy does for what a kernel cannot take: TypeError for the host's arrays."""
    if isinstance(x, CudaArray):
        if x.device.id != machine().here.device:
            raise ValueError(
                f"The device where the array resides ({x.device.id}) is different from the current device "
                f"({machine().here.device}). Peer access is unavailable between these devices."
            )
    elif not isinstance(x, SCALARS):
        raise TypeError(f"Unsupported type {type(x)}")


def launch(
    name: str,
    compute: Callable,
    operands: Sequence[Any],
    *,
    out: CudaArray | None = None,
    cast: str = "same_kind",
    kind: str = "launch",
    order: str = "C",
) -> Any:
    """compute(*operands as the host's arrays) as one kernel; its result in a new array in C order, or in `out`."""
    here = machine()
    for x in operands:
        check_operand(x)
    hosts = [x._host if isinstance(x, CudaArray) else x for x in operands]
    result: Any = None
    state = here.stream()
    at_once = state.capture is None and not (here.late and state.ptr)
    if out is None or at_once:
        with np.errstate(all="ignore"), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            result = np.asanyarray(compute(*hosts))
    if out is None:
        out = empty_like_host(result, result.dtype, order)
    else:
        check_operand(out)
    host = out._host
    if result is not None:
        if not np.can_cast(result.dtype, host.dtype, cast):
            raise TypeError(f"output (typecode '{result.dtype.char}') could not be coerced to '{host.dtype.char}'")
        if np.broadcast_shapes(result.shape, host.shape) != host.shape:
            raise ValueError(f"{name}: Out shape is mismatched: {result.shape} into {host.shape}")

    def work(known: Any = None) -> None:
        with np.errstate(all="ignore"), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            np.copyto(host, np.asanyarray(compute(*hosts)) if known is None else known, casting="unsafe")

    first = functools.partial(work, result) if at_once else work
    mems = [x._mem for x in (*operands, out) if isinstance(x, CudaArray)]
    here.run(name, first, kind=kind, size=out.nbytes, touches=sum((touched(mem) for mem in mems), ()))
    return out


def empty_like_host(host: np.ndarray, dtype: Any, order: str) -> CudaArray:
    """A new array of the device, laid as NumPy's empty_like would."""
    if order == "K":
        return CudaArray(host.shape, dtype, strides=np.empty_like(host, dtype, subok=False).strides)
    if order == "A":
        order = "F" if host.flags.fnc else "C"
    return CudaArray(host.shape, dtype, order="F" if order == "F" else "C")


def upload(target: CudaArray, value: np.ndarray, stream: Any) -> None:
    """The host's numbers into an array of the device."""
    check = None if stream is None else stream.ptr
    machine().refuse_in_capture("a copy from the host by CuPy", check)
    from fake_gpu.memory import is_pinned

    host = target._host
    # unpinned memory is staged at once; pinned memory is read when the stream gets there
    source = value if is_pinned(value) else value.copy()
    with target.device:
        machine().run("set", lambda: np.copyto(host, source), kind="h2d", size=target.nbytes, stream=check)


def scatter(target: CudaArray, index: Any, value: Any, how: str) -> None:
    """target[index] = value, or added, or the maximum or minimum of both."""
    if not isinstance(value, CudaArray):
        if isinstance(value, np.ndarray) and value.ndim:
            value = from_host(value.astype(target.dtype))
        elif not isinstance(value, SCALARS):
            value = from_host(np.asarray(value, target.dtype))
    check_operand(target)
    operands = [value, *index.arrays]
    for x in operands:
        check_operand(x)
    host = target._host
    hosts = [x._host if isinstance(x, CudaArray) else x for x in operands]
    call = {"add": np.add.at, "max": np.maximum.at, "min": np.minimum.at}

    def work() -> None:
        with np.errstate(all="ignore"):
            key = index.key(hosts[1:])
            what = np.asarray(hosts[0]).astype(host.dtype)
            if how == "update":
                host[key] = what
            else:
                call[how](host, key, what)

    mems = [x._mem for x in (target, *operands) if isinstance(x, CudaArray)]
    machine().run(f"scatter_{how}", work, size=target.nbytes, touches=sum((touched(mem) for mem in mems), ()))


def from_host(value: np.ndarray) -> CudaArray:
    """A copy of the host's array on the device."""
    supported(value.dtype)
    made = CudaArray(value.shape, value.dtype, order="F" if value.flags.fnc else "C")
    if not value.ndim:
        made.fill(value)
    elif value.size:
        upload(made, value, None)
    return made


def unowned(host: np.ndarray) -> CudaArray:
    """An array over memory that `host` holds."""
    made = object.__new__(CudaArray)
    address = host.__array_interface__["data"][0]
    low, high = np.lib.array_utils.byte_bounds(host)
    made._setup(host, UnownedMemory(low, high - low, host), address - low)
    return made


def fail(*ignored: Any, **ignored_too: Any) -> Any:
    """What the fake does not do."""
    raise FakeGpuError("the fake GPU does not do this")
