"""What a worker process does: it reads examples and lays their arrays into shared memory."""

import ctypes
import os
import pickle
import random
import re
import signal
import sys
import traceback

import numpy as np

from cvzoo.errors.exceptions import ExampleError
from cvzoo.iterators.fetch import fetch

ALIGNMENT = 64  # a cache line
LARGE = 32 << 10  # bytes of an array; smaller ones are copied: a box that somebody keeps must not keep a photo's place
# Terminals and queueing systems send them to all processes of a program, which ends its workers itself: closed
# connections tell them, however it ends
ENDING_SIGNALS = tuple(getattr(signal, name) for name in ("SIGINT", "SIGTERM", "SIGHUP") if hasattr(signal, name))
_TRIM_THRESHOLD, _MMAP_THRESHOLD = -1, -3  # of glibc's malloc.h
_QUIET = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "CVZOO_NUM_THREADS", "OPENCV_FOR_THREADS_NUM")


def work(connection, block, slot_size, dataset, strangers):
    """Read what is asked for until the connection ends.

    connection: tasks (ticket, slot, seed, epoch, index) come, answers (ticket, kind, payload) go
    dataset: the data set, or None: it comes first through the connection, as bytes
    strangers: ends of other workers' connections that a forked process inherits; as long as it held them, those
        workers would not notice the end of the program
    """
    for number in ENDING_SIGNALS:
        signal.signal(number, signal.SIG_IGN)
    for stranger in strangers:
        stranger.close()
    _use_one_thread()
    _keep_memory()
    try:
        if dataset is None:
            try:
                dataset = pickle.loads(connection.recv_bytes())
            except EOFError:
                return
            except Exception as error:
                connection.send((-1, "broken", f"{type(error).__name__}: {error}\n{traceback.format_exc()}"))
                return
        while (task := connection.recv()) is not None:
            ticket, slot, seed, epoch, index = task
            start = slot * slot_size
            connection.send((ticket, *_answer(dataset, seed, epoch, index, block.view[start : start + slot_size])))
    except (EOFError, BrokenPipeError, ConnectionResetError):
        return  # the program has gone


def _answer(dataset, seed, epoch, index, room):
    # what draws from these two is at least not the same in all workers
    random.seed(hash((seed, epoch, index)))
    np.random.seed([seed & 0xFFFFFFFF, epoch & 0xFFFFFFFF, index & 0xFFFFFFFF])
    try:
        return pack(fetch(dataset, seed, epoch, index), room)
    except ExampleError as error:
        cause = error.__cause__
        return "error", (str(error), _portable(cause), "".join(traceback.format_exception(cause)))
    except Exception as error:  # an example that cannot be pickled
        text = f"example {index} cannot be sent from a worker: {type(error).__name__}: {error}"
        return "error", (text, None, traceback.format_exc())


def _portable(error):
    """The error as bytes, or None if it does not survive the way."""
    try:
        data = pickle.dumps(error)
        pickle.loads(data)
    except Exception:
        return None
    return data


def pack(example, room):
    """("shared", (bytes, spans of the arrays in room)), or ("plain", bytes) if the arrays do not fit."""
    buffers = []
    data = pickle.dumps(example, protocol=5, buffer_callback=buffers.append)
    parts = [buffer.raw() for buffer in buffers]
    spans, end = [], 0
    for part in parts:
        spans.append((end, part.nbytes))
        end += -(-part.nbytes // ALIGNMENT) * ALIGNMENT
    if end > len(room):
        return "plain", pickle.dumps(example, protocol=5)
    for part, (start, size) in zip(parts, spans):
        room[start : start + size] = part
    return "shared", (data, spans)


def unpack(kind, payload, room, *, lent=False):
    """The example; its arrays may be written to.

    room: what `pack` wrote into
    lent: large arrays are views of room; otherwise all are copies
    """
    if kind == "plain":
        return pickle.loads(payload)
    data, spans = payload
    buffers = []
    for start, size in spans:
        part = room[start : start + size]
        buffers.append(part if lent and size >= LARGE else bytearray(part))
    return pickle.loads(data, buffers=buffers)


def is_worth_lending(kind, payload):
    """Whether the example has arrays so large that views of them are worth it."""
    return kind == "shared" and any(size >= LARGE for _, size in payload[1])


def _use_one_thread():
    """One thread a library: workers are many, and a forked process must not use a pool whose threads stayed behind."""
    for name in _QUIET:
        os.environ[name] = "1"
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
        opencv.setNumThreads(0)


def _keep_memory():
    """Photos' memory, of which a worker needs the same again and again, does not go back to the system in between."""
    try:
        mallopt = ctypes.CDLL(None).mallopt
    except (OSError, AttributeError):  # another C library
        return
    for parameter, size in ((_TRIM_THRESHOLD, 256 << 20), (_MMAP_THRESHOLD, 32 << 20)):
        mallopt(parameter, size)
