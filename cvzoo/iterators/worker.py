"""The main function of a data-loading worker process, which reads examples and writes their arrays to shared memory."""

import ctypes
import os
import pickle
import random
import re
import signal
import sys
import traceback
from collections.abc import Sequence
from multiprocessing.connection import Connection
from typing import Any, cast

import numpy as np

from cvzoo.errors.exceptions import ExampleError
from cvzoo.iterators.fetch import Task, fetch
from cvzoo.iterators.shared_block import SharedBlock
from cvzoo.typing.protocols import IndexableDataset

ALIGNMENT = 64  # a cache line
LARGE = 32 << 10  # bytes; smaller arrays are copied, so that a retained bounding box does not occupy an image's slot
# Terminals and batch systems send these to all processes of a program, which has to save its work first; workers end
# when their connection closes, however the program ends
ENDING_SIGNALS = tuple(getattr(signal, name) for name in ("SIGINT", "SIGTERM", "SIGHUP") if hasattr(signal, name))
_TRIM_THRESHOLD, _MMAP_THRESHOLD = -1, -3  # of glibc's malloc.h
_THREAD_VARIABLES = (
    "OMP_NUM_THREADS",
    "OPENBLAS_NUM_THREADS",
    "MKL_NUM_THREADS",
    "CVZOO_NUM_THREADS",
    "OPENCV_FOR_THREADS_NUM",
)


def work(
    connection: Connection,
    block: SharedBlock,
    slot_size: int,
    dataset: IndexableDataset[Any] | None,
    inherited: Sequence[Connection],
) -> None:
    """Reads the requested examples until the connection is closed.

    connection: receives (ticket, slot, task), sends results (ticket, kind, payload)
    dataset: the data set, or None: it is received first, pickled
    inherited: ends of other workers' connections that a forked process inherits and must close; otherwise those workers
        would not notice the end of the program
    """
    for number in ENDING_SIGNALS:
        signal.signal(number, signal.SIG_IGN)
    for other in inherited:
        other.close()
    _use_one_thread()
    _reuse_memory()
    try:
        if dataset is None:
            try:
                dataset = cast(IndexableDataset[Any], pickle.loads(connection.recv_bytes()))
            except EOFError:
                return
            except Exception as error:
                connection.send((-1, "broken", f"{type(error).__name__}: {error}\n{traceback.format_exc()}"))
                return
        while (request := connection.recv()) is not None:
            ticket, slot, task = request
            start = slot * slot_size
            connection.send((ticket, *_result(dataset, task, block.view[start : start + slot_size])))
    except (EOFError, BrokenPipeError, ConnectionResetError):
        return  # the program has gone


def _result(dataset: IndexableDataset[Any], task: Task, slot: memoryview) -> tuple[str, Any]:
    # transforms that use these global generators at least do not draw the same numbers in all workers
    seed, epoch, index, _ = task
    random.seed(hash((seed, epoch, index)))
    np.random.seed([seed & 0xFFFFFFFF, epoch & 0xFFFFFFFF, index & 0xFFFFFFFF])
    try:
        return pack(fetch(dataset, task), slot)
    except ExampleError as error:
        cause = error.__cause__
        return "error", (str(error), _pickled(cause), "".join(traceback.format_exception(cause)))
    except Exception as error:  # an example that cannot be pickled
        text = f"example {index} cannot be pickled in a worker: {type(error).__name__}: {error}"
        return "error", (text, None, traceback.format_exc())


def _pickled(error: BaseException | None) -> bytes | None:
    """The error as bytes, or None if it cannot be pickled and unpickled."""
    try:
        data = pickle.dumps(error)
        pickle.loads(data)
    except Exception:
        return None
    return data


def pack(example: object, slot: memoryview) -> tuple[str, Any]:
    """("shared", (pickle, spans of the arrays in the slot)), or ("plain", pickle) if the arrays do not fit."""
    buffers: list[pickle.PickleBuffer] = []
    data = pickle.dumps(example, protocol=5, buffer_callback=buffers.append)
    parts = [buffer.raw() for buffer in buffers]
    spans: list[tuple[int, int]] = []
    end = 0
    for part in parts:
        spans.append((end, part.nbytes))
        end += -(-part.nbytes // ALIGNMENT) * ALIGNMENT
    if end > len(slot):
        return "plain", pickle.dumps(example, protocol=5)
    for part, (start, size) in zip(parts, spans):
        slot[start : start + size] = part
    return "shared", (data, spans)


def unpack(kind: str, payload: Any, slot: memoryview, *, lent: bool = False) -> Any:
    """The example; its arrays are writable.

    slot: what `pack` wrote to
    lent: large arrays are views of the slot; otherwise all are copies
    """
    if kind == "plain":
        return pickle.loads(payload)
    data, spans = payload
    buffers: list[memoryview | bytearray] = []
    for start, size in spans:
        part = slot[start : start + size]
        buffers.append(part if lent and size >= LARGE else bytearray(part))
    return pickle.loads(data, buffers=buffers)


def is_worth_lending(kind: str, payload: Any) -> bool:
    """Whether any array of the example is large enough to be a view instead of a copy."""
    return kind == "shared" and any(size >= LARGE for _, size in payload[1])


def _use_one_thread() -> None:
    """Limits libraries to one thread each: a forked process must not use a thread pool, whose threads do not exist."""
    for name in _THREAD_VARIABLES:
        os.environ[name] = "1"
    # a library that a forked process has inherited read these variables when it was loaded, and needs a call
    try:
        with open("/proc/self/maps", encoding="utf-8", errors="replace") as file:
            loaded = set(re.findall(r"/\S*/lib[gi]omp\S*\.so\S*", file.read()))
    except OSError:
        loaded = set()
    for path in loaded:
        try:
            ctypes.CDLL(path).omp_set_num_threads(1)
        except (OSError, AttributeError):
            continue
    opencv = sys.modules.get("cv2")
    if opencv is not None:
        opencv.setNumThreads(0)  # 0 runs without its thread pool


def _reuse_memory() -> None:
    """Makes malloc retain freed memory: a worker allocates arrays of the size of an image again and again."""
    try:
        mallopt = ctypes.CDLL(None).mallopt
    except (OSError, AttributeError):  # another C library
        return
    for parameter, size in ((_TRIM_THRESHOLD, 256 << 20), (_MMAP_THRESHOLD, 32 << 20)):
        mallopt(parameter, size)
