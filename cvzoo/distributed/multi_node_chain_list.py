"""Networks whose links are on several ranks."""

from collections.abc import Sequence

from cvzoo.autodiff.variable import Variable
from cvzoo.distributed.communicator import AbstractCommunicator
from cvzoo.distributed.functions.point_to_point import pseudo_connect, recv, send
from cvzoo.errors.exceptions import GraphError
from cvzoo.links.chain import ChainList
from cvzoo.links.link import Link
from cvzoo.typing.aliases import Array

Ranks = int | Sequence[int] | None


class MultiNodeChainList(ChainList):
    """The links of a network that are on this rank, with the ranks from which and to which their values go.

    comm: the communicator

    >>> class FirstHalf(MultiNodeChainList):  # on rank 0
    ...     def __init__(self, comm):
    ...         super().__init__(comm)
    ...         self.add_link(L.Linear(4, 8), rank_in=None, rank_out=1)

    A call returns the value of the link without `rank_out`, on other ranks a delegate variable; `backward()` of both
    exchanges the gradients. Source: ChainerMN's class.
    """

    def __init__(self, comm: AbstractCommunicator):
        super().__init__()
        self._comm = comm
        self._ranks: list[tuple[list[int], list[int]]] = []

    def add_link(self, link: Link, rank_in: Ranks = None, rank_out: Ranks = None) -> None:  # type: ignore[override]
        """Adds a link, called in the order of the calls of this method.

        rank_in: ranks from which its arguments come; None: it is called with those of the network
        rank_out: ranks to which its value is sent; None: it is the network's output
        """
        self._ranks.append((_as_list(rank_in), _as_list(rank_out)))
        super().add_link(link)

    def forward(self, *inputs: Variable | Array) -> Variable | tuple[Variable, ...]:
        """The output, or a delegate variable. Raises GraphError if several links have no `rank_out`."""
        output: Variable | tuple[Variable, ...] | None = None
        delegate: Variable | None = None
        for link, (sources, targets) in zip(self.children(), self._ranks):
            xs: list[Variable | Array] = []
            if not sources:
                xs = list(inputs if delegate is None else _tuple(pseudo_connect(delegate, *inputs)))
            for source in sources:
                received = _tuple(recv(self._comm, source, delegate, force_tuple=True))
                xs += received
                delegate = None  # the received values are connected to it
            y = link(*xs)
            delegate = None
            for target in targets:
                y = y if delegate is None else pseudo_connect(delegate, *_tuple(y))
                delegate = send(y, self._comm, target)
            if not targets:
                if output is not None:
                    raise GraphError("MultiNodeChainList: two links have no rank_out", hint="rank_out of all but one")
                output = y
        if output is None:
            if delegate is None:
                raise GraphError(
                    "MultiNodeChainList: there are no links", hint="self.add_link(link, rank_in, rank_out)"
                )
            return delegate
        return output if delegate is None else pseudo_connect(delegate, *_tuple(output))


def _as_list(ranks: Ranks) -> list[int]:
    return [] if ranks is None else [ranks] if isinstance(ranks, int) else list(ranks)


def _tuple(values: Variable | tuple[Variable, ...]) -> tuple[Variable, ...]:
    return values if isinstance(values, tuple) else (values,)
