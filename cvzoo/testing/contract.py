"""Checks a link against the rules of a task; errors name the violated rule."""

import dataclasses
from collections.abc import Callable, Iterable, Sequence
from typing import Any

import numpy as np

from cvzoo.images.read_image import ImageSource
from cvzoo.links.link import Link

Arrays = list[np.ndarray]
Rule = Callable[["Contract"], None]


@dataclasses.dataclass(frozen=True)
class Contract:
    """A link under test, and how its predictions are compared.

    link: any object with `predict(imgs)`
    n_class: number of classes
    per_image: converts a result to the arrays of each image
    atol: absolute tolerance; 0: bitwise equality. On a GPU it is at least 0.01, a hundredth of a pixel, since its
        libraries choose kernels by batch size
    options: arguments of `predict`
    """

    link: Any
    n_class: int
    per_image: Callable[[Any], list[Arrays]]
    atol: float = 0.0
    options: dict[str, Any] = dataclasses.field(default_factory=dict)

    @property
    def tolerance(self) -> float:
        """The tolerance on the link's current device."""
        on_gpu = isinstance(self.link, Link) and self.link.device.name != "cpu"
        return max(self.atol, 0.01) if on_gpu else self.atol

    def predict(self, imgs: Iterable[ImageSource], link: Any = None, batch_size: int | None = None) -> list[Arrays]:
        """The arrays of each image, predicted by `link` or the contract's own."""
        options = self.options if batch_size is None else {**self.options, "batch_size": batch_size}
        return self.per_image((self.link if link is None else link).predict(imgs, **options))

    def assert_same(self, got: Sequence[Arrays], expected: Sequence[Arrays], what: str) -> None:
        """Asserts that two predictions agree."""
        require(len(got) == len(expected), what, len(expected), len(got))
        for i, (ours, theirs) in enumerate(zip(got, expected)):
            for a, b in zip(ours, theirs, strict=True):
                require(a.shape == b.shape, f"{what} (image {i})", b.shape, a.shape)
                atol = self.tolerance
                near = np.array_equal(a, b) or (atol > 0 and np.allclose(a, b, rtol=1e-4, atol=atol))
                difference = np.abs(a.astype(np.float64) - b).max() if a.size and not near else 0.0
                require(near, f"{what} (image {i})", f"a difference of at most {atol}", difference)


def require(condition: object, what: str, expected: object = None, got: object = None) -> None:
    """Asserts that the condition holds; the message is `what` with the expected and the actual value."""
    if not condition:
        lines = [f"expected: {expected}"] * (expected is not None) + [f"got: {got}"] * (got is not None)
        raise AssertionError("\n  ".join([what, *lines]))


def require_raises(
    errors: type[Exception] | tuple[type[Exception], ...], function: Callable[[], object], what: str, match: str = ""
) -> None:
    """Asserts that the function raises one of the errors, with `match` in its message."""
    try:
        function()
    except errors as error:
        require(match in str(error), f"{what}: the error message lacks a name", match, str(error))
        return
    names = [each.__name__ for each in (errors if isinstance(errors, tuple) else (errors,))]
    raise AssertionError(f"{what} raises no error\n  expected: {' or '.join(names)}")


def keep(contract: Contract, rules: Iterable[Rule]) -> None:
    """Asserts that the link obeys the rules; the message has the sentence of a violated rule."""
    for rule in rules:
        sentence = (rule.__doc__ or rule.__name__).partition("\n")[0]
        try:
            rule(contract)
        except AssertionError as error:
            raise AssertionError(f"{type(contract.link).__name__} violates a rule: {sentence}\n  {error}") from error
        except Exception as error:
            text = f"{type(contract.link).__name__} raised an error: {sentence}\n  {type(error).__name__}: {error}"
            raise AssertionError(text) from error
