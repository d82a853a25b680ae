"""Large batches in micro-batches: replays compute a few images at a time where maps of all would leave the cache."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from cvzoo.backends.onednn.pool import pool
from cvzoo.backends.threads import thread_count
from cvzoo.functions.array.axes import Reshape, Transpose
from cvzoo.functions.array.concat import Concat, SplitAxis
from cvzoo.functions.array.depth2space import ChannelShuffle
from cvzoo.functions.array.resize_images import ResizeImages
from cvzoo.functions.connection.convolution_2d import Convolution2D, FusedConvolution2D
from cvzoo.functions.connection.linear import Linear
from cvzoo.functions.math.arithmetic import Add, Multiply
from cvzoo.functions.math.elementwise import AbstractElementwise, AbstractElementwiseOfOutput
from cvzoo.functions.normalization.fixed_batch_normalization import FixedBatchNormalization
from cvzoo.functions.pooling.pooling_2d import AveragePooling2D, MaxPooling2D
from cvzoo.graph.program import Program
from cvzoo.graph.records import Graph, Record
from cvzoo.graph.steps import Block, Lowered

# an image's result depends on that image alone if axis 0 of everything that varies is the batch
_OF_EACH_IMAGE = (
    AbstractElementwise,
    AbstractElementwiseOfOutput,
    AveragePooling2D,
    ChannelShuffle,
    Convolution2D,
    FixedBatchNormalization,
    FusedConvolution2D,
    Linear,
    MaxPooling2D,
    Reshape,
    ResizeImages,
)
_ALONG_AN_AXIS = (Concat, SplitAxis)
_LARGEST = 10 << 20  # bytes of a micro-batch's largest map: with the one that it is made of it stays in most caches


def images_at_once(graph: Graph) -> int:
    """How many images of a batch to compute at a time: a divisor of it, or all.

    All of them where an image's result may depend on other images, and where the network has more bytes of weights,
    which each micro-batch reads again, than an image has of maps. Each thread has an image.
    """
    values = graph.values
    batch = _batch_of(graph)
    if batch < 2:
        return batch
    varying = set(graph.inputs)
    for record in graph.records:
        if varying.isdisjoint(record.all_reads):
            continue
        if not _is_of_each_image(record, graph, varying, batch):
            return batch
        varying.update(record.writes)
    if not varying.issuperset(graph.outputs):
        return batch
    maps = [values[value].nbytes // batch for value in varying]
    if sum(maps) < sum([array.nbytes for array in graph.constants.values()]):
        return batch
    divisors = [n for n in range(1, batch + 1) if batch % n == 0]
    enough = next((n for n in divisors if n >= thread_count()[0]), batch)
    return max([n for n in divisors if n * max(maps) <= _LARGEST] + [enough])


def _batch_of(graph: Graph) -> int:
    """The length of axis 0 of all inputs; 0 if they differ."""
    shapes = {graph.values[value].shape[:1] for value in graph.inputs}
    return shapes.pop()[0] if len(shapes) == 1 and shapes != {()} else 0


def _is_of_each_image(record: Record, graph: Graph, varying: set[int], batch: int) -> bool:
    function, values = record.function, graph.values
    if record.hidden_reads or record.hidden_writes:
        return False
    reads = [value for value in record.reads if value in varying]
    if any(values[value].shape[:1] != (batch,) for value in (*reads, *record.writes)):
        return False
    if isinstance(function, _ALONG_AN_AXIS):
        return len(reads) == len(record.reads) and function.axis != 0
    if isinstance(function, Transpose):
        return function.axes is not None and function.axes[0] == 0
    shape = values[record.writes[0]].shape
    if isinstance(function, Add | Multiply):  # broadcast, where a constant may have a row of its own for each image
        shapes = [(value in varying, values[value].shape) for value in record.reads]
        return all(
            len(each) == len(shape) if varies else len(each) < len(shape) or each[0] == 1 for varies, each in shapes
        )
    # the images come first; weights do not vary, but what a convolution adds to its result may
    first, *others = record.reads
    is_of_images = first in varying and varying.isdisjoint(others[:1])
    is_added = all(values[value].shape == shape for value in others if value in varying)
    return isinstance(function, _OF_EACH_IMAGE) and is_of_images and is_added


class Layout(NamedTuple):
    """An array's metadata; strides: in bytes."""

    shape: tuple[int, ...]
    strides: tuple[int, ...]
    dtype: str
    nbytes: int

    @property
    def is_dense(self) -> bool:
        """Whether its memory has no gaps, axis 0 outermost."""
        order = sorted(range(1, len(self.shape)), key=self.strides.__getitem__)
        size = np.dtype(self.dtype).itemsize
        for axis in (*order, *range(min(len(self.shape), 1))):
            if self.shape[axis] > 1 and self.strides[axis] != size:
                return False
            size *= self.shape[axis]
        return True


class MicroBatches(Program):
    """The program of a micro-batch, which is called with whole batches.

    n: how many micro-batches a batch has; results: of the whole batch
    """

    def __init__(self, lowered: Lowered, n: int, results: Sequence[Layout]):
        super().__init__(lowered)
        self.n = n
        self._whole = [(y.shape, y.strides, np.dtype(y.dtype), y.nbytes) for y in results]
        self.inputs = [
            Block((n * block.shape[0], *block.shape[1:]), block.strides, block.dtype, n * block.nbytes, block.kind)
            for block in self.inputs
        ]
        self.result_nbytes += sum([y.nbytes for y in results])

    def __call__(self, inputs: Sequence[np.ndarray]) -> list[np.ndarray]:
        results = [pool.take(*each) for each in self._whole]
        size = self.inputs[0].shape[0] // self.n
        for k in range(self.n):
            images = slice(k * size, (k + 1) * size)
            for y, part in zip(results, super().__call__([x[images] for x in inputs])):
                y[images] = part
        return results
