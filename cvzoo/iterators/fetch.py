"""Reads one example, with random numbers of its own and errors that name its image."""

from typing import NamedTuple, Protocol, TypeVar, runtime_checkable

from cvzoo.config.batch_context import BatchContext, using_batch
from cvzoo.config.randomness import using_random_state
from cvzoo.errors.exceptions import ExampleError
from cvzoo.transforms.sample_generator import sample_generator
from cvzoo.typing.protocols import IndexableDataset

Example = TypeVar("Example")


@runtime_checkable
class _HasNames(Protocol):
    def name(self, index: int) -> str: ...


def example_name(dataset: object, index: int) -> str:
    """An example's name in error messages: its index, and the path of its image if `dataset.name` gives it."""
    plain = f"example {index}"
    if not isinstance(dataset, _HasNames):
        return plain
    try:
        name = str(dataset.name(index))
    except Exception:  # the name is for the text of another error, which a failure here must not hide
        return plain
    return plain if name == plain else f"{plain} ({name})"


class Task(NamedTuple):
    """An example to read, and the batch that it belongs to.

    seed: of the iterator; epoch, example_index: of the example; batch: epoch and position at which its batch begins
    """

    seed: int
    epoch: int
    example_index: int
    batch: tuple[int, int]


def fetch(dataset: IndexableDataset[Example], task: Task) -> Example:
    """dataset[index], read while cvzoo's generator is seeded with (seed, epoch, index).

    Raises ExampleError that names the example, with the data set's exception as its cause.
    """
    seed, epoch, index, batch = task
    state = sample_generator(seed, epoch, index).bit_generator.state
    with using_random_state(state), using_batch(BatchContext(seed, *batch), epoch):
        try:
            return dataset[index]
        except ExampleError:
            raise  # it names the image already, and what failed
        except Exception as error:
            raise ExampleError(
                f"{example_name(dataset, index)} cannot be read: {type(error).__name__}: {error}"
            ) from error
