"""Division of an array into rows along one axis, and the thread, warp or block that computes each."""

from typing import Any, NamedTuple

from cvzoo.backends.cuda.kernel_module import suffix
from cvzoo.backends.cuda.layout import order_of

_THREADS = 256
_LONG = 1024  # elements of a row from which on it gets a block


class Rows(NamedTuple):
    """count rows of `length` elements with the stride `inner`, see kernels/softmax.cu."""

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
    """Contiguous x as rows along `axis`."""
    axis %= x.ndim
    order = order_of(x.shape, x.strides)
    length = x.shape[axis]
    inner = 1
    for other in order[order.index(axis) + 1 :]:
        inner *= x.shape[other]
    return make_rows(x.size // length, length, inner)


def make_rows(count: int, length: int, inner: int) -> Rows:
    """Rows with contiguous elements are computed by a warp or a block each, others by a thread."""
    return Rows(count, length, inner, "thread" if inner > 1 else "block" if length >= _LONG else "warp")
