"""A log that is written for months: its beginning and its end are kept."""

import os

HEAD, TAIL, SLACK = 16 << 20, 48 << 20, 16 << 20  # bytes
_CHUNK = 1 << 20


def cut(descriptor: int, *, head: int = HEAD, tail: int = TAIL, slack: int = SLACK) -> bool:
    """Removes the middle of a file that others append to, if it is longer than all three; whether it did.

    descriptor: opened for reading and writing, and not for appending
    What is appended within the milliseconds of the copy may be lost.
    """
    size = os.fstat(descriptor).st_size
    if size <= head + tail + slack:
        return False
    note = f"\n[{size - head - tail} bytes were removed here]\n".encode()
    end = head + _pwrite(descriptor, note, head)
    start, stop = size - tail, os.fstat(descriptor).st_size
    while start < stop:
        block = os.pread(descriptor, min(_CHUNK, stop - start), start)
        if not block:
            break
        start += len(block)
        end += _pwrite(descriptor, block, end)
        stop = os.fstat(descriptor).st_size  # with what was appended meanwhile
    os.ftruncate(descriptor, end)
    return True


def _pwrite(descriptor: int, data: bytes, at: int) -> int:
    done = 0
    while done < len(data):
        done += os.pwrite(descriptor, data[done:], at + done)
    return done
