"""Which shapes of the input a network is probed with, from the freest file to the most fixed one."""

from collections.abc import Iterator
from typing import NamedTuple

Size = tuple[int, int]
# far from each other and with all kinds of remainders, so that what follows rows is told from what follows columns, and
# padding that depends on what is left over is seen with and without; in maps of few pixels sizes agree by chance
_ANY = ((173, 241), (192, 352), (167, 178), (262, 325))
_MULTIPLES = ((192, 352), (256, 160), (320, 224))


class Plan(NamedTuple):
    """What a file leaves open, and the probes that tell whether it can.

    batch, size: None where it is left open
    step: sizes must be a multiple of it
    shapes: of the probes; at least two, as numbers that a network computes from images must not become constants
    """

    batch: int | None
    size: Size | None
    step: int
    shapes: tuple[tuple[int, ...], ...]

    @property
    def freedom(self) -> str:
        """What such a file takes that the next plan's does not."""
        if self.size is not None:
            return "any batch"
        return "any size" if self.step == 1 else f"any size of multiples of {self.step}"


def plans(channels: int, size: Size, *, batch: int | None, free_size: bool) -> Iterator[Plan]:
    """The files to try, the freest first.

    batch: a number to fix it at, or None to leave it open if possible
    """
    h, w = size
    n = 2 if batch is None else batch
    if free_size:
        yield Plan(batch, None, 1, _shapes(channels, n, batch, [size, size, *_ANY]))
        own = [size] if h % 32 == 0 and w % 32 == 0 else []
        yield Plan(batch, None, 32, _shapes(channels, n, batch, [*own, _MULTIPLES[0], *_MULTIPLES]))
    yield Plan(batch, size, 1, _shapes(channels, n, batch, [size, size]))
    if batch is None:
        yield Plan(1, size, 1, ((1, channels, h, w),) * 2)


def _shapes(channels: int, n: int, batch: int | None, sizes: list[Size]) -> tuple[tuple[int, ...], ...]:
    """The second probe is of another batch, if the batch is open."""
    return tuple([(3 if k == 1 and batch is None else n, channels, *each) for k, each in enumerate(sizes)])
