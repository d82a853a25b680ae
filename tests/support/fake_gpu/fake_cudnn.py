"""libcudnn's graph interface at the level of its C calls, on the host's memory.

Arguments go through ctypes with the types of the real functions. Rules that the real library holds are held: a
descriptor is finalized once and not changed any more, what refers to another wants it finalized, sizes must fit,
pointers must be aligned, a plan's workspace is there and is written to. Plans are computed by NumPy in float32 and
rounded once; an engine with tensor cores rounds float32 as they do.
"""

import contextlib
import ctypes
import gc
import json
import pathlib
import sys
import tempfile
from collections.abc import Callable, Iterator
from typing import Any

import ml_dtypes
import numpy as np

from cvzoo.backends.cudnn.library import FUNCTIONS, TYPES, Library
from cvzoo.backends.cudnn.names import (
    HEURISTICS_A,
    HEURISTICS_FALLBACK,
    POINTWISE_MODES,
    RUNTIME_COMPILATION,
    Attribute,
    Kind,
    Note,
    Type,
)
from fake_gpu import direct_conv

OK, BAD_PARAM, NOT_FINALIZED, NOT_SUPPORTED, FAILED = 0, 2000, 2004, 3000, 5000
VERSION = 91900
_DTYPES = {0: np.dtype(np.float32), 2: np.dtype(np.float16), 9: np.dtype(ml_dtypes.bfloat16)}
_C = {
    Type.INT64: ctypes.c_int64,
    Type.FLOAT: ctypes.c_float,
    Type.BOOLEAN: ctypes.c_bool,
    Type.POINTER: ctypes.c_void_p,
    Type.HANDLE: ctypes.c_void_p,
    Type.DESCRIPTOR: ctypes.c_void_p,
    Type.CHAR: ctypes.c_char,
}
_ENDS = {
    # of each operation: geometry, beta, x, w, y
    Kind.CONV_FORWARD: ("forward", 702, 701, 704, 703, 705),
    Kind.CONV_WEIGHT_GRAD: ("weight_grad", 714, 713, 716, 715, 717),
    Kind.CONV_INPUT_GRAD: ("input_grad", 708, 707, 710, 709, 711),
}
_MODES = {number: name for name, number in POINTWISE_MODES.items()}


class RefusedError(Exception):
    """What a call answers instead of 0."""

    def __init__(self, status: int, text: str):
        super().__init__(text)
        self.status = status


class Engine:
    """A kernel that the heuristics offer."""

    def __init__(self, index: int, notes: tuple[int, ...] = (), *, workspace: int = 0, compiled: bool = False):
        self.index, self.notes, self.workspace, self.compiled = index, notes, workspace, compiled


# first those of the heuristics, then those of the fallback
TENSOR_CORES = Engine(60, (Note.TENSOR_CORE,), workspace=131)
PLAIN = Engine(70, (), workspace=4096)
COMPILED = Engine(4, (Note.TENSOR_CORE,), compiled=True)
ATOMIC = Engine(20, (Note.NOT_DETERMINISTIC,))
ENGINES = {HEURISTICS_A: [COMPILED, ATOMIC, TENSOR_CORES, PLAIN], HEURISTICS_FALLBACK: [Engine(0)]}


class _Object:
    def __init__(self, kind: Kind):
        self.kind = kind
        self.values: dict[int, list] = {}
        self.final = False
        self.what: Any = None  # what it means, once it is finalized


class FakeCudnn:
    """The library.

    launch: called as launch(stream, name, work) for what would run on the GPU; the default runs it at once
    is_capturing: called with a stream's address
    calls: names of the C functions in order, without those that set and get attributes one by one
    engines: what the heuristics offer: {mode: [Engine]}; whoever tests choices changes it
    """

    def __init__(
        self,
        launch: Callable[[int, str, Callable[[], None]], None] | None = None,
        is_capturing: Callable[[int], bool] | None = None,
    ):
        self.launch = launch or (lambda stream, name, work: work())
        self.is_capturing = is_capturing or (lambda stream: False)
        self.calls: list[tuple] = []
        self.engines = ENGINES
        self.handles: dict[int, int] = {}
        self.objects: dict[int, _Object] = {}
        self._count = 4096
        self._error = b""
        for name, letters in FUNCTIONS.items():
            kept = ctypes.CFUNCTYPE(ctypes.c_int, *[TYPES[letter] for letter in letters])(self._guarded(name))
            setattr(self, name, kept)

    def as_library(self) -> Library:
        """What `cvzoo.backends.cudnn.library` finds."""
        return Library(self, VERSION, "fake")

    def planned(self) -> int:
        """How often a plan has been made or read so far."""
        return sum(call[:2] == ("cudnnBackendFinalize", "PLAN") for call in self.calls)

    def _guarded(self, name: str) -> Callable[..., int]:
        function = getattr(self, f"_{name}")

        def call(*arguments: Any) -> int:
            try:
                function(*[0 if each is None else each for each in arguments])
            except RefusedError as error:
                self._error = str(error).encode()
                return error.status
            except Exception as error:  # an exception in a callback would only be printed
                self.calls.append(("failed", name, repr(error)))
                self._error = repr(error).encode()
                return FAILED
            return OK

        return call

    def _new(self, place: int) -> int:
        self._count += 16
        ctypes.c_void_p.from_address(place).value = self._count
        return self._count

    def _cudnnCreate(self, place: int) -> None:
        self.calls.append(("cudnnCreate",))
        self.handles[self._new(place)] = 0

    def _cudnnDestroy(self, handle: int) -> None:
        del self.handles[handle]

    def _cudnnSetStream(self, handle: int, stream: int) -> None:
        self.calls.append(("cudnnSetStream", stream))
        if handle not in self.handles:
            raise RefusedError(BAD_PARAM, "no such handle")
        self.handles[handle] = stream

    def _cudnnGetLastErrorString(self, place: int, size: int) -> None:
        text = self._error[: size - 1] + b"\0"
        ctypes.memmove(place, text, len(text))

    # --- descriptors ------------------------------------------------------------------------------------------------
    def _cudnnBackendCreateDescriptor(self, kind: int, place: int) -> None:
        self.objects[self._new(place)] = _Object(Kind(kind))

    def _cudnnBackendDestroyDescriptor(self, address: int) -> None:
        del self.objects[address]

    def _cudnnBackendSetAttribute(self, address: int, name: int, kind: int, count: int, place: int) -> None:
        made = self.objects[address]
        if made.final:
            raise RefusedError(BAD_PARAM, f"{made.kind.name} is finalized")
        array = (_C.get(kind, ctypes.c_int) * count).from_address(place)
        values = array.raw if kind == Type.CHAR else list(array)
        if kind == Type.DESCRIPTOR and not all(self.objects[each].final for each in values):
            raise RefusedError(NOT_FINALIZED, f"{made.kind.name} refers to what is not finalized")
        made.values[Attribute(name)] = values

    def _cudnnBackendGetAttribute(self, address: int, name: int, kind: int, count: int, got: int, place: int) -> None:
        values = self._asked(self.objects[address], name, count, place)
        if values is None:  # descriptors were filled
            return
        if place:
            array = (_C.get(kind, ctypes.c_int) * count).from_address(place)
            if kind == Type.CHAR:
                array.raw = values[:count]
            else:
                array[: len(values)] = values
        ctypes.c_int64.from_address(got).value = len(values)

    def _asked(self, made: _Object, name: int, count: int, place: int) -> Any:
        filled = list((ctypes.c_void_p * count).from_address(place)) if place and name in (202, 300) else []
        if made.kind is Kind.HEURISTICS and name == Attribute.HEURISTICS_RESULTS:
            offered = self._offered(made)
            for address, engine in zip(filled, offered):
                config = self.objects[address]
                config.final, config.what = True, (engine, self.objects[made.values[201][0]].what)
            return filled if place else [0] * len(offered)
        if not made.final:
            raise RefusedError(NOT_FINALIZED, f"{made.kind.name} is asked and not finalized")
        if name == Attribute.CONFIG_ENGINE:
            engine = self.objects[filled[0]]
            engine.final, engine.what = True, made.what[0]
            return filled
        if name == Attribute.PLAN_WORKSPACE:
            return [made.what["workspace"]]
        if name == Attribute.PLAN_JSON:
            return json.dumps(made.what).encode()
        return {
            Attribute.ENGINE_INDEX: lambda: [made.what.index],
            Attribute.ENGINE_NUMERICAL_NOTES: lambda: [int(note) for note in made.what.notes],
            Attribute.ENGINE_BEHAVIOR_NOTES: lambda: [RUNTIME_COMPILATION] if made.what.compiled else [],
        }[name]()

    def _offered(self, asked: _Object) -> list[Engine]:
        nodes = self.objects[asked.values[201][0]].what
        kinds = [node.get("mode", "conv") for node in nodes]
        offered = self.engines[asked.values[200][0]]
        has_kernel = len(kinds) == 1 or kinds[1:] in (
            ["add"], ["add", "relu"], ["add", "add"], ["add", "add", "relu"]
        )  # fmt: skip
        # a bias alone, or last of two: an added array without a bias has to be compiled
        biased = len(kinds) == 1 or [node for node in nodes if node.get("mode") == "add"][-1]["b"]["dims"][0] == 1
        return [engine for engine in offered if engine.compiled or (has_kernel and biased)]

    def _cudnnBackendFinalize(self, address: int) -> None:
        made = self.objects[address]
        self.calls.append(("cudnnBackendFinalize", made.kind.name))
        get = made.values
        if made.final:
            raise RefusedError(BAD_PARAM, "finalized twice")
        if made.kind is Kind.TENSOR:
            kind = _DTYPES[get[901][0]].name
            made.what = {"uid": get[906][0], "dims": get[902], "strides": get[903], "dtype": kind}
            made.what["virtual"] = bool(get.get(907, [0])[0])
            if len(get[902]) != 4 or len(get[903]) != 4 or min(get[902]) < 1 or get[900] != [16]:
                raise RefusedError(BAD_PARAM, "a tensor without sizes")
        elif made.kind is Kind.CONVOLUTION:
            if get[101] != [1] or get[106] != [2] or min(*get[104], *get[105]) < 0 or min(*get[102], *get[103]) < 1:
                raise RefusedError(BAD_PARAM, "a window that cannot be")
        elif made.kind in _ENDS:
            made.what = self._convolution(made)
        elif made.kind is Kind.OPERATION_POINTWISE:
            mode = _MODES[self.objects[get[750][0]].values[0][0]]
            made.what = {"mode": mode, "x": self.objects[get[751][0]].what, "y": self.objects[get[753][0]].what}
            if mode == "add":
                made.what["b"] = self.objects[get[752][0]].what
        elif made.kind is Kind.OPERATION_GRAPH:
            made.what = [self.objects[each].what for each in get[801]]
        elif made.kind is Kind.HEURISTICS:
            self.objects[get[201][0]]  # there must be a graph
        elif made.kind is Kind.PLAN:
            self._finalize_plan(made)
        elif made.kind is Kind.VARIANT_PACK:
            if len(get[1000]) != len(get[1001]):
                raise RefusedError(BAD_PARAM, "as many pointers as uids")
            made.what = (dict(zip(get[1000], get[1001])), get[1003][0] or 0)
        made.final = True

    def _convolution(self, made: _Object) -> dict:
        name, where, beta, *ends = _ENDS[made.kind]
        window = self.objects[made.values[where][0]].values
        x, w, y = (self.objects[made.values[end][0]].what for end in ends)
        pre, post, stride, dilate = window[105], window[104], window[103], window[102]
        (b, c, *size), (o, c_group, *ksize), out = x["dims"], w["dims"], y["dims"]
        want = [(size[k] + pre[k] + post[k] - dilate[k] * (ksize[k] - 1) - 1) // stride[k] + 1 for k in (0, 1)]
        if out != [b, o, *want] or c % c_group or o % (c // c_group):
            raise RefusedError(BAD_PARAM, f"{name}: x {x['dims']}, w {w['dims']} give {[b, o, *want]}, not {out}")
        told = {"pad": [pre[0], post[0], pre[1], post[1]], "stride": stride, "dilate": dilate, "groups": c // c_group}
        return {"op": name, "x": x, "w": w, "y": y, "beta": made.values[beta][0], **told}

    def _finalize_plan(self, made: _Object) -> None:
        get = made.values
        if Attribute.PLAN_HANDLE not in get and Attribute.PLAN_DEVICE not in get:
            raise RefusedError(FAILED, "the real library may end the process here")
        if Attribute.PLAN_JSON in get:
            try:
                made.what = json.loads(get[Attribute.PLAN_JSON])
                made.what["nodes"]
            except (ValueError, KeyError, TypeError):
                raise RefusedError(BAD_PARAM, "no plan") from None
            return
        engine, nodes = self.objects[get[Attribute.PLAN_CONFIG][0]].what
        made.what = {
            "engine": engine.index,
            "workspace": engine.workspace,
            "tensor_cores": Note.TENSOR_CORE in engine.notes,
            "nodes": nodes,
        }

    # --- computing --------------------------------------------------------------------------------------------------
    def _cudnnBackendExecute(self, handle: int, plan: int, pack: int) -> None:
        what = self.objects[plan].what
        pointers, workspace = self.objects[pack].what
        name = "-".join(node.get("op", node.get("mode")) for node in what["nodes"])
        self.calls.append(("cudnnBackendExecute", name))
        tensors = {each["uid"]: each for node in what["nodes"] for key in "xwyb" if (each := node.get(key))}
        wanted = {uid for uid, each in tensors.items() if not each["virtual"]}
        if wanted != set(pointers) or any(not p or p % 16 for p in pointers.values()):
            raise RefusedError(BAD_PARAM, f"pointers of {sorted(wanted)}, each at a multiple of 16")
        if what["workspace"] and not workspace:
            raise RefusedError(BAD_PARAM, "no workspace")
        self.launch(self.handles[handle], f"cudnn {name}", lambda: _compute(what, pointers, workspace))


def _compute(what: dict, pointers: dict[int, int], workspace: int) -> None:
    if what["workspace"]:
        ctypes.memset(workspace, 0xFF, what["workspace"])
    inner: dict[int, np.ndarray] = {}

    def read(tensor: dict) -> np.ndarray:
        if tensor["virtual"]:
            return inner[tensor["uid"]]
        array = _memory(tensor, pointers).astype(np.float32)
        return tf32(array) if what["tensor_cores"] and tensor["dtype"] == "float32" else array

    with np.errstate(all="ignore"):
        for node in what["nodes"]:
            result, value = _computed(node, read, pointers)
            if result["virtual"]:
                inner[result["uid"]] = value
            else:
                _memory(result, pointers)[...] = value


def _computed(node: dict, read: Callable[[dict], np.ndarray], pointers: dict[int, int]) -> tuple[dict, np.ndarray]:
    """The tensor that a node writes, and what it writes, in float32."""
    if "mode" in node:
        x = read(node["x"])
        # only products are rounded by tensor cores
        value = np.maximum(x, 0) if node["mode"] == "relu" else x + _exact(node["b"], read, pointers)
        return node["y"], value
    settings = {key: tuple(node[key]) for key in ("stride", "pad", "dilate")} | {"groups": node["groups"]}
    if node["op"] == "forward":
        result, value = node["y"], direct_conv.forward(read(node["x"]), read(node["w"]), **settings)
    elif node["op"] == "input_grad":
        size = tuple(node["x"]["dims"][2:])
        result, value = node["x"], direct_conv.input_grad(read(node["y"]), read(node["w"]), size, **settings)
    else:
        size = tuple(node["w"]["dims"][2:])
        result, value = node["w"], direct_conv.weight_grad(read(node["x"]), read(node["y"]), size, **settings)
    if node["beta"]:
        value = value + np.float32(node["beta"]) * _exact(result, read, pointers)
    return result, value


def _exact(tensor: dict, read: Callable[[dict], np.ndarray], pointers: dict[int, int]) -> np.ndarray:
    return read(tensor) if tensor["virtual"] else _memory(tensor, pointers).astype(np.float32)


def _memory(tensor: dict, pointers: dict[int, int]) -> np.ndarray:
    """The array as it lies in memory."""
    dtype = next(each for each in _DTYPES.values() if each.name == tensor["dtype"])
    count = sum((n - 1) * stride for n, stride in zip(tensor["dims"], tensor["strides"])) + 1
    flat = np.frombuffer((ctypes.c_char * (count * dtype.itemsize)).from_address(pointers[tensor["uid"]]), dtype)
    return np.lib.stride_tricks.as_strided(flat, tensor["dims"], [each * dtype.itemsize for each in tensor["strides"]])


def tf32(x: np.ndarray) -> np.ndarray:
    """float32 with the 10 bits behind the point that tensor cores read."""
    return ((np.ascontiguousarray(x).view(np.uint32) + 0x1000) & np.uint32(0xFFFFE000)).view(np.float32)


@contextlib.contextmanager
def installed(machine: Any = None) -> Iterator[FakeCudnn]:
    """The stand-in where cvzoo looks for the library; plans are stored in a folder of its own.

    machine: what work is given to (fake_gpu.machine.Machine); None: it is done at once
    Raises AssertionError at the end if a call failed that should not have been made.
    """
    from cvzoo.backends.cudnn import library, plans

    if machine is None:
        fake = FakeCudnn()
    else:
        fake = FakeCudnn(lambda stream, name, work: machine.run(name, work, stream=stream), machine.is_capturing)
    before = library._search, plans.cvzoo_home
    with tempfile.TemporaryDirectory() as home:
        library._search = fake.as_library
        plans.cvzoo_home = lambda: pathlib.Path(home)
        _forget()
        try:
            yield fake
        finally:
            _forget()
            gc.collect()  # descriptors and handles belong to the library that made them
            library._search, plans.cvzoo_home = before
    failed = [call for call in fake.calls if call[0] == "failed"]
    assert not failed, failed


def _forget() -> None:
    """Drop what this thread keeps of the library; conv.py is imported by whoever has used it."""
    for name, forget in (("conv", "forget_calls"), ("plans", "forget_plans"), ("session", "forget_sessions")):
        module = sys.modules.get(f"cvzoo.backends.cudnn.{name}")
        if module is not None:
            vars(module)[forget]()
