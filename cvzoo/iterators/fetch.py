"""One example read, with random numbers of its own, and errors that name its photo."""

from typing import Protocol, runtime_checkable

from cvzoo.config.randomness import using_random_state
from cvzoo.errors.exceptions import ExampleError
from cvzoo.transforms.sample_generator import sample_generator


@runtime_checkable
class _Naming(Protocol):
    def name(self, index): ...


def example_name(dataset, index):
    """What errors call an example: its number, and its photo's path if the data set knows one."""
    plain = f"example {index}"
    if not isinstance(dataset, _Naming):
        return plain
    try:
        name = str(dataset.name(index))
    except Exception:  # a name is for an error's text: it must not hide that error
        return plain
    return plain if name == plain else f"{plain} ({name})"


def fetch(dataset, seed, epoch, index):
    """dataset[index]; while it is read, cvzoo's generator depends on (seed, epoch, index) and nothing else.

    Raises ExampleError that names the example, from whatever the data set raised.
    """
    with using_random_state(sample_generator(seed, epoch, index).bit_generator.state):
        try:
            return dataset[index]
        except ExampleError:
            raise  # it names its photo already, and what failed on it
        except Exception as error:
            raise ExampleError(
                f"{example_name(dataset, index)} cannot be read: {type(error).__name__}: {error}"
            ) from error
