"""Description of an exported file."""

from typing import NamedTuple


class Exported(NamedTuple):
    """A written ONNX file.

    batch, size: batch size and (H, W) of the input; None: dynamic
    reasons: why the batch or size that was requested to be dynamic is not
    inputs, outputs: names and shapes; a str in a shape names a dynamic size
    n_operator: number of operators in the graph
    size_step: sizes must be a multiple of it
    data_file: the name of the external data file next to it, where one file would exceed 2 GiB; else None
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
