"""What is fuzzed: a reader, or anything else that is told by bytes what to do."""

import dataclasses
import pathlib
import random
from collections.abc import Callable, Sequence

from cvzoo.errors.exceptions import CvzooError

Mutation = Callable[[random.Random, bytes], bytes]
MB = 1 << 20


class WrongResultError(AssertionError):
    """Something was computed, and it is wrong."""


@dataclasses.dataclass(frozen=True, kw_only=True)
class Target:
    """One thing that is fuzzed.

    name: what `scripts/fuzz` is told
    seeds: makes small valid examples
    run: is given an empty folder and one case; raises what is wrong with it
    mutations: of which some are applied to an example
    allowed: what may be raised
    bombs: makes hostile cases that are too large to be kept in the corpus, and belong to it
    ending: of the files in which findings are kept
    memory: bytes that one case may take beside 100 for each of its own
    seconds, seconds_per_mb: of the processor that one case may take, and for each megabyte of its own
    """

    name: str
    seeds: Callable[[], Sequence[bytes]]
    run: Callable[[pathlib.Path, bytes], object]
    mutations: Sequence[Mutation]
    allowed: tuple[type[BaseException], ...] = (CvzooError,)
    bombs: Callable[[], Sequence[bytes]] = tuple
    ending: str = ".bin"
    memory: int = 256 * MB
    seconds: float = 3.0
    seconds_per_mb: float = 10.0

    def memory_for(self, size: int) -> int:
        """Bytes that a case of this size may take."""
        return self.memory + 100 * size

    def seconds_for(self, size: int) -> float:
        """Seconds of the processor that a case of this size may take."""
        return self.seconds + self.seconds_per_mb * size / MB


def reads(name: str, *readers: Callable[[pathlib.Path], object], allowed: tuple = (CvzooError,)) -> Callable:
    """A `run` that gives a file of that name to each reader in turn; what one of them may raise does not spare the
    next."""

    def run(folder: pathlib.Path, data: bytes) -> None:
        path = folder / name
        path.write_bytes(data)
        for reader in readers:
            try:
                reader(path)
            except allowed:
                continue

    return run
