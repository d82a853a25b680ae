"""A model's message as a file, or as two where one would be too large."""

import os
import pathlib
from collections.abc import Callable, Mapping

import numpy as np

from cvzoo.export.onnx.message import Message
from cvzoo.export.onnx.model_proto import Outside, array_bytes
from cvzoo.files.atomic_write import atomic_write

_LARGEST = (1 << 31) - 1  # what readers of protocol buffers take
_SMALL = 1024  # bytes; what is smaller stays inside, where runtimes look for shapes
_ALIGNED = 4096  # so that readers can map the file into memory


def save(
    file: str | os.PathLike, constants: Mapping[str, np.ndarray], message_of: Callable[[Outside | None], Message]
) -> str | None:
    """None, or the name of the second file, beside the first, in which the constants lie.

    message_of: the model's message; where its constants lie may be told
    Both files are whole or not there. Raises OSError where they cannot be written.
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
    message = message_of(Outside(beside.name, offsets))
    with atomic_write(beside) as data:
        for name, offset in offsets.items():
            data.seek(offset)
            data.write(array_bytes(constants[name]))
        data.flush()
        os.fsync(data.fileno())  # a full disk is noticed before the model's file takes its place
        with atomic_write(path) as out:
            message.write_to(out)
    return beside.name
