"""An array as many short rows along one axis, and who works on each."""

from typing import Any, NamedTuple

from cvzoo.backends.cuda.kernel_module import suffix
from cvzoo.backends.cuda.layout import order_of

_THREADS = 256
_LONG = 1024  # a row of so many numbers is worth a block


class Rows(NamedTuple):
    """count rows of `length` numbers, which lie `inner` apart, as kernels/softmax.cu counts them."""

    count: int  # type: ignore[assignment]  # hides tuple.count
    length: int
    inner: int
    team: str

    @property
    def grid(self) -> tuple[int, int, int]:
        """For `block` threads."""
        a_block = {"block": 1, "warp": _THREADS // 32, "thread": _THREADS}[self.team]
        return (-(-self.count // a_block), 1, 1)

    @property
    def block(self) -> tuple[int, int, int]:
        return (_THREADS, 1, 1)

    def kernel(self, name: str, dtype: Any) -> str:
        """The full name of the kernel for this team and dtype."""
        return f"{name}_{self.team}_{suffix(dtype)}"


def rows_along(x: Any, axis: int) -> Rows:
    """x, which has no gaps, as rows along `axis`."""
    axis %= x.ndim
    order = order_of(x.shape, x.strides)
    length = x.shape[axis]
    inner = 1
    for other in order[order.index(axis) + 1 :]:
        inner *= x.shape[other]
    return make_rows(x.size // length, length, inner)


def make_rows(count: int, length: int, inner: int) -> Rows:
    """Rows whose numbers lie next to each other are read by a warp or a block, others by a thread each."""
    return Rows(count, length, inner, "thread" if inner > 1 else "block" if length >= _LONG else "warp")
