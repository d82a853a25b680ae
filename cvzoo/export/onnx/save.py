"""Writing of a model's message to a file, or to two where one would exceed protocol buffers' 2 GiB."""

import os
import pathlib
from collections.abc import Callable, Mapping

import numpy as np

from cvzoo.export.onnx.message import Message
from cvzoo.export.onnx.model_proto import ExternalData, array_bytes
from cvzoo.files.atomic_write import atomic_write

_LARGEST = (1 << 31) - 1  # protocol buffers' limit
_SMALL = 1024  # bytes; smaller constants stay in the model's file, as runtimes read shapes only from there
_ALIGNED = 4096  # so that readers can map the file into memory


def save(
    file: str | os.PathLike, constants: Mapping[str, np.ndarray], message_of: Callable[[ExternalData | None], Message]
) -> str | None:
    """Write the file atomically; the name of the external data file next to it, or None if there is none.

    message_of: the model's message, given the external data, or None to embed all constants
    Raises OSError if a file cannot be written.
    """
    message = message_of(None)
    if message.size <= _LARGEST:
        with atomic_write(file) as out:
            message.write_to(out)
        return None
    path = pathlib.Path(file)
    offsets, end = {}, 0
    for name, array in constants.items():
        if array.nbytes >= _SMALL:
            offsets[name] = end
            end = -(-(end + array.nbytes) // _ALIGNED) * _ALIGNED
    beside = path.with_name(path.name + ".data")
    message = message_of(ExternalData(beside.name, offsets))
    with atomic_write(beside) as data:
        for name, offset in offsets.items():
            data.seek(offset)
            data.write(array_bytes(constants[name]))
        data.flush()
        os.fsync(data.fileno())  # a full disk is detected before the model's file is replaced
        with atomic_write(path) as out:
            message.write_to(out)
    return beside.name
