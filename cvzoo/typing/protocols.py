"""Interfaces of arguments that users pass, such as data sets."""

from typing import ParamSpec, Protocol, TypeVar

Example = TypeVar("Example", covariant=True)
P = ParamSpec("P")
R = TypeVar("R", covariant=True)


class IndexableDataset(Protocol[Example]):
    """Any sequence of examples: `len(dataset)` and `dataset[index]`, such as a list or an AbstractSliceableDataset."""

    def __len__(self) -> int: ...
    def __getitem__(self, index: int, /) -> Example: ...


class Forward(Protocol[P, R]):
    """Anything with a `forward`, such as a link: from the one of its class type checkers infer what a call takes and
    returns."""

    def forward(self, *args: P.args, **kwargs: P.kwargs) -> R: ...
