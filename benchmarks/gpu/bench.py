"""What the benchmarks of a GPU share: its clock, its description, rivals in turn, results kept as they come.

Milliseconds are those of events on CUDA's default stream, which both CuPy and PyTorch compute on, so that one clock
measures both. PyTorch and torchvision may be missing: then ours is measured alone. On a GPU that tests make up
everything runs and no number means anything; such results are refused.
"""

import argparse
import dataclasses
import datetime
import importlib
import json
import os
import pathlib
import platform
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from types import ModuleType
from typing import Any

import numpy as np

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))

from predict import seeded

from cvzoo.backends.cupy.library import cupy, why_no_cupy
from cvzoo.backends.float_types import bfloat16

MADE_UP = "Fake GPU"
# what is allowed between ours and PyTorch's float32: ||a - b|| / ||b||
PARITY = {"float32": 1e-5, "tf32": 3e-4, "mixed_fp16": 3e-3, "mixed_bf16": 1e-2}


def gpu() -> ModuleType:
    """CuPy, or the end of the script with the reason."""
    reason = why_no_cupy()
    if reason is not None:
        raise SystemExit(f"{pathlib.Path(sys.argv[0]).name}: no GPU can be used here: {reason}")
    return cupy()


def optional(name: str) -> ModuleType | None:
    """torch or torchvision if it is there and sees a GPU.

    With CVZOO_TORCH_DEVICE=cpu it computes there: to see that a script runs, no number means anything.
    """
    try:
        torch = importlib.import_module("torch")
        module = importlib.import_module(name)
    except ImportError as error:
        print(f"without {name}: {error}", flush=True)
        return None
    if torch_device() == "cuda" and not torch.cuda.is_available():
        print(f"without {name}: it sees no GPU", flush=True)
        return None
    return module


def torch_device() -> str:
    """Where PyTorch computes."""
    return os.environ.get("CVZOO_TORCH_DEVICE", "cuda")


# --- the clock --------------------------------------------------------------------------------------------------------
def milliseconds(calls: Sequence[Callable[[], object]], count: int) -> float:
    """One call's time on the device: `count` of them in a row, each with the next one's arrays, between two events."""
    cuda = gpu().cuda
    start, end = cuda.Event(), cuda.Event()
    start.record()
    for k in range(count):
        calls[k % len(calls)]()
    end.record()
    end.synchronize()
    return cuda.get_elapsed_time(start, end) / count


def wall_milliseconds(calls: Sequence[Callable[[], object]], count: int) -> float:
    """One call's time as who waits for each one's result sees it."""
    synchronize = gpu().cuda.Device().synchronize
    times = []
    for k in range(count):
        synchronize()
        start = time.perf_counter()
        calls[k % len(calls)]()
        synchronize()
        times.append(time.perf_counter() - start)
    return 1e3 * statistics.median(times)


def in_turn(
    rivals: Mapping[str, Sequence[Callable[[], object]]],
    *,
    rounds: int,
    count: int,
    clock: Callable[[Sequence[Callable[[], object]], int], float] = milliseconds,
    warmup: int = 1,
) -> dict[str, dict[str, float]]:
    """Each rival's milliseconds a call: A B A B ..., `rounds` times; the spread is that of the rounds.

    `first_over_this` is the median of the ratios round by round, so that a clock that falls falls for both.
    """
    times: dict[str, list[float]] = {name: [] for name in rivals}
    for number in range(warmup + rounds):
        for name, calls in rivals.items():
            spent = clock(calls, count)
            if number >= warmup:
                times[name].append(spent)
    first = times[next(iter(times))]
    return {
        name: {
            "median_ms": round(statistics.median(own), 4),
            "min_ms": round(min(own), 4),
            "max_ms": round(max(own), 4),
            "first_over_this": round(statistics.median(a / b for a, b in zip(first, own)), 3),
        }
        for name, own in times.items()
    }


# --- numbers ----------------------------------------------------------------------------------------------------------
def relative_error(got: Any, want: Any) -> float:
    """||got - want|| / ||want||, in float64; infinite where a number is missing or is none."""
    got, want = (np.asarray(each, np.float64) for each in (got, want))
    if got.shape != want.shape or not np.isfinite(got).all():
        return float("inf")
    return float(np.linalg.norm(got - want) / max(np.linalg.norm(want), 1e-300))


def poison(nbytes: int = 1 << 28) -> None:
    """Fill memory that CuPy has left over with NaN: what a kernel does not write is seen."""
    xp = gpu()
    held = [xp.full((nbytes >> 4,), np.nan, np.float32) for _ in range(4)]
    del held
    for size in (1 << 9, 1 << 12, 1 << 16, 1 << 20):
        small = [xp.full((size >> 2,), np.nan, np.float32) for _ in range(16)]
        del small


def host(array: Any) -> np.ndarray:
    """An array of CuPy, PyTorch or NumPy, or a Variable, as float64 on the host."""
    from cvzoo import Variable

    if isinstance(array, Variable):
        array = array.array
    if type(array).__module__.partition(".")[0] == "torch":
        return array.detach().double().cpu().numpy()
    return (array if isinstance(array, np.ndarray) else array.get()).astype(np.float64)


def photos(batch: int, size: tuple[int, int], dtype: Any, count: int, seed: int = 0) -> list[Any]:
    """`count` random batches (batch, 3, H, W) on the GPU, channels-last; the numbers of NumPy's generator."""
    rng, xp = np.random.default_rng(seed), gpu()
    made = []
    for _ in range(count):
        few = rng.standard_normal((min(batch, 8), *size, 3), np.float32)
        light = rng.uniform(0.5, 1.5, (batch, 1, 1, 1)).astype(np.float32)
        x = xp.asarray(few)[xp.arange(batch) % len(few)] * xp.asarray(light)
        made.append(x.astype(dtype).transpose(0, 3, 1, 2))
    return made


def dtype_of(mode: str) -> np.dtype:
    """What activations are made of."""
    return bfloat16() if mode == "mixed_bf16" else np.dtype(np.float16 if mode == "mixed_fp16" else np.float32)


def seeded_file(folder: pathlib.Path, name: str, torch_model: Any) -> pathlib.Path:
    """A file with numbers for each tensor, seeded by PyTorch's name for it, and the same in `torch_model`.

    Whole numbers, such as tables of indices, stay.
    """
    torch = importlib.import_module("torch")
    arrays = {
        key: seeded(key, tuple(value.shape)) if value.is_floating_point() else value.numpy()
        for key, value in torch_model.state_dict().items()
    }
    torch_model.load_state_dict({key: torch.from_numpy(np.asarray(array)) for key, array in arrays.items()})
    path = folder / f"{name}.npz"
    np.savez(path, **arrays)
    return path


# --- the machine ------------------------------------------------------------------------------------------------------
def _asked(*command: str) -> str | None:
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=30, check=True)
    except (OSError, subprocess.SubprocessError):
        return None
    return done.stdout.strip()


def cudnn_description() -> bytes | None:
    """The device as cuDNN describes it, JSON, or None: what plans are made for where there is no device."""
    from cvzoo.backends.cudnn.descriptor import Descriptor
    from cvzoo.backends.cudnn.library import why_no_cudnn
    from cvzoo.backends.cudnn.names import Attribute, Kind, Type
    from cvzoo.backends.cudnn.session import current_session

    if why_no_cudnn() is not None:
        return None
    described = Descriptor(Kind.DEVICE_PROPERTIES)
    described.set(Attribute.DEVICE_HANDLE, Type.HANDLE, current_session().handle)
    return described.finalize().text(Attribute.DEVICE_JSON).rstrip(b"\0")


def clocks() -> str | None:
    """Clocks, temperature and power as read at this moment; nothing is set."""
    return _asked("nvidia-smi", "--query-gpu=clocks.sm,clocks.mem,temperature.gpu,power.draw", "--format=csv,noheader")


def device_facts() -> dict[str, Any]:
    """What the numbers were measured on."""
    from cvzoo import __version__
    from cvzoo.backends.facts import gpu_facts

    versions = {"cvzoo": __version__, "numpy": np.__version__, "python": platform.python_version()}
    for name in ("torch", "torchvision", "triton"):
        module = sys.modules.get(name)
        if module is not None:
            versions[name] = str(vars(module).get("__version__"))
    return {
        "date": datetime.date.today().isoformat(),
        "gpu": gpu_facts(),
        "driver": _asked("nvidia-smi", "--query-gpu=driver_version", "--format=csv,noheader"),
        "clocks, temperature, power": clocks(),
        "versions": versions,
    }


def is_made_up() -> bool:
    """Whether the GPU is the stand-in that tests use."""
    name = gpu().cuda.runtime.getDeviceProperties(0)["name"]
    return (name.decode() if isinstance(name, bytes) else name) == MADE_UP


# --- a script ---------------------------------------------------------------------------------------------------------
@dataclasses.dataclass
class Report:
    """Rows that are printed and written as they come, so that a script that is stopped leaves what it has.

    deadline: time.monotonic() after which nothing new is begun
    """

    title: str
    out: pathlib.Path | None
    deadline: float
    rows: list[dict[str, Any]] = dataclasses.field(default_factory=list)

    def add(self, row: dict[str, Any]) -> None:
        """One more row."""
        self.rows.append(row)
        print(json.dumps(row), flush=True)
        if self.out is not None and not is_made_up():
            content = {"title": self.title, "machine": device_facts(), "rows": self.rows}
            self.out.parent.mkdir(parents=True, exist_ok=True)
            self.out.write_text(json.dumps(content, indent=1) + "\n")

    def try_each(self, cases: Iterable[Any], measure: Callable[[Any], None]) -> None:
        """`measure(case)` for each while there is time; one that raises is a row with its error."""
        for case in cases:
            if time.monotonic() > self.deadline:
                self.add({"case": str(case), "left out": "no time"})
                continue
            try:
                measure(case)
            except Exception as error:
                if is_made_up():
                    raise
                self.add({"case": str(case), "error": f"{type(error).__name__}: {error}"[:2000]})
            finally:
                gpu().get_default_memory_pool().free_all_blocks()
                if sys.modules.get("torch") is not None and sys.modules["torch"].cuda.is_available():
                    sys.modules["torch"].cuda.empty_cache()


def parser(doc: str | None) -> argparse.ArgumentParser:
    """What all scripts can be told."""
    made = argparse.ArgumentParser(description=doc, formatter_class=argparse.RawDescriptionHelpFormatter)
    made.add_argument("--quick", action="store_true", help="tiny sizes, to see that the script runs")
    made.add_argument("--seconds", type=float, default=540, help="nothing new is begun after so many")
    made.add_argument("--out", type=pathlib.Path, help="write a JSON file of results")
    return made


def begin(title: str, arguments: argparse.Namespace) -> Report:
    """The report of a script; says first what it runs on."""
    gpu()
    report = Report(title, arguments.out, time.monotonic() + arguments.seconds)
    print(json.dumps(device_facts()), flush=True)
    return report


def scratch() -> tempfile.TemporaryDirectory:
    """A folder for weights that both sides read."""
    return tempfile.TemporaryDirectory()
