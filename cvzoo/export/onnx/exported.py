"""What an export wrote, in words."""

from typing import NamedTuple


class Exported(NamedTuple):
    """A written ONNX file.

    batch, size: the input's first axis and its (H, W); None where any will do
    reasons: for each axis that was wanted free and is not, why
    inputs, outputs: names and shapes; a text in a shape is a size that may be any
    n_operator: how many operators the graph has
    size_step: sizes must be a multiple of it
    data_file: the name of a second file beside it, with its numbers, where one would be over 2 GiB; else None
    """

    batch: int | None
    size: tuple[int, int] | None
    reasons: tuple[str, ...]
    inputs: tuple[tuple[str, tuple[int | str, ...]], ...]
    outputs: tuple[tuple[str, tuple[int | str, ...]], ...]
    n_operator: int
    opset: int
    size_step: int = 1
    data_file: str | None = None
