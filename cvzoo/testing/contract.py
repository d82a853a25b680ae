"""Runs the rules of a task over a link, and says which one is broken."""

import dataclasses
from collections.abc import Callable, Iterable, Sequence
from typing import Any

import numpy as np

from cvzoo.links.link import Link

Arrays = list[np.ndarray]
Rule = Callable[["Contract"], None]


@dataclasses.dataclass(frozen=True)
class Contract:
    """A link and how its predictions are read.

    link: anything with `predict(imgs)`
    n_class: how many classes it knows
    per_image: from a result, the arrays of each image
    atol: by how much equal predictions may differ; 0: not by a bit. On a GPU that is at least 0.01, a hundredth of a
        pixel: its libraries choose other kernels for other batches
    options: of `predict`
    """

    link: Any
    n_class: int
    per_image: Callable[[Any], list[Arrays]]
    atol: float = 0.0
    options: dict[str, Any] = dataclasses.field(default_factory=dict)

    @property
    def tolerance(self) -> float:
        """`atol`, where the link lies now."""
        on_gpu = isinstance(self.link, Link) and self.link.device.name != "cpu"
        return max(self.atol, 0.01) if on_gpu else self.atol

    def predict(self, imgs: Any, link: Any = None, batch_size: int | None = None) -> list[Arrays]:
        """The arrays of each image, predicted by `link` or the contract's own."""
        options = self.options if batch_size is None else {**self.options, "batch_size": batch_size}
        return self.per_image((self.link if link is None else link).predict(imgs, **options))

    def assert_same(self, got: Sequence[Arrays], expected: Sequence[Arrays], what: str) -> None:
        """Raises AssertionError if two predictions differ."""
        require(len(got) == len(expected), what, len(expected), len(got))
        for i, (ours, theirs) in enumerate(zip(got, expected)):
            for a, b in zip(ours, theirs, strict=True):
                require(a.shape == b.shape, f"{what} (image {i})", b.shape, a.shape)
                atol = self.tolerance
                near = np.array_equal(a, b) or (atol > 0 and np.allclose(a, b, rtol=1e-4, atol=atol))
                difference = np.abs(a.astype(np.float64) - b).max() if a.size and not near else 0.0
                require(near, f"{what} (image {i})", f"a difference of at most {atol}", difference)


def require(condition: Any, what: str, expected: Any = None, got: Any = None) -> None:
    """Raises AssertionError with `what`, what was expected and what came, unless the condition holds."""
    if not condition:
        lines = [f"expected: {expected}"] * (expected is not None) + [f"got: {got}"] * (got is not None)
        raise AssertionError("\n  ".join([what, *lines]))


def require_raises(
    errors: type[Exception] | tuple[type[Exception], ...], function: Callable[[], Any], what: str, match: str = ""
) -> None:
    """Raises AssertionError unless the function raises one of the errors, with `match` in its text."""
    try:
        function()
    except errors as error:
        require(match in str(error), f"{what}: the error does not name it", match, str(error))
        return
    names = [each.__name__ for each in (errors if isinstance(errors, tuple) else (errors,))]
    raise AssertionError(f"{what} is not refused\n  expected: {' or '.join(names)}")


def keep(contract: Contract, rules: Iterable[Rule]) -> None:
    """Raises AssertionError with the rule's sentence if the link breaks one of the rules, or an error stops it."""
    for rule in rules:
        sentence = (rule.__doc__ or rule.__name__).partition("\n")[0]
        try:
            rule(contract)
        except AssertionError as error:
            raise AssertionError(f"{type(contract.link).__name__} breaks a rule: {sentence}\n  {error}") from error
        except Exception as error:
            text = f"{type(contract.link).__name__} cannot be tried: {sentence}\n  {type(error).__name__}: {error}"
            raise AssertionError(text) from error
