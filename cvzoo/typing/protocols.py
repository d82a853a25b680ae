"""Interfaces of arguments that users pass, such as data sets."""

from typing import Protocol, TypeVar

Example = TypeVar("Example", covariant=True)


class IndexableDataset(Protocol[Example]):
    """Any sequence of examples: `len(dataset)` and `dataset[index]`, such as a list or an AbstractSliceableDataset."""

    def __len__(self) -> int: ...
    def __getitem__(self, index: int, /) -> Example: ...
