"""Export of a model of the zoo to an ONNX file."""

import operator
import os
from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

from cvzoo.errors.exceptions import CvzooError, DtypeError, UnsupportedError, ValueRangeError
from cvzoo.export.onnx.boxes.add_boxes import add_boxes
from cvzoo.export.onnx.contents import Contents, contents_of
from cvzoo.export.onnx.exported import Exported
from cvzoo.export.onnx.metadata import box_metadata, cvzoo_version, joined_metadata, weights_metadata
from cvzoo.export.onnx.model_proto import OPSET, Node, Port, model_message
from cvzoo.export.onnx.network import add_network
from cvzoo.export.onnx.onnx_graph import OnnxGraph, Shape
from cvzoo.export.onnx.save import save
from cvzoo.links.chain import Chain
from cvzoo.links.file_then_model import check_file_then_model
from cvzoo.shapes.check import pair
from cvzoo.weights.record import Weights

Size = tuple[int, int]
# far apart and with various remainders, so that formulas from heights and from widths differ, and padding that depends
# on a remainder occurs with and without; small maps are avoided, as their sizes agree by coincidence
_ANY = ((173, 241), (192, 352), (167, 178), (262, 325))
_MULTIPLES = ((192, 352), (256, 160), (320, 224))


class ExportPlan(NamedTuple):
    """Which sizes of a file are dynamic, and the shapes of the probes that check it.

    batch, size: None: dynamic
    step: sizes must be a multiple of it
    shapes: of the probes; at least two, so that values computed from the images do not become constants
    """

    batch: int | None
    size: Size | None
    step: int
    shapes: tuple[tuple[int, ...], ...]

    @property
    def freedom(self) -> str:
        """What is dynamic in this plan but fixed in the next."""
        if self.size is not None:
            return "any batch"
        return "any size" if self.step == 1 else f"any size of multiples of {self.step}"


def export_plans(channels: int, size: Size, *, batch: int | None, free_size: bool) -> Iterator[ExportPlan]:
    """The plans to try, the most dynamic first.

    batch: the fixed batch size, or None for a dynamic one where possible
    """
    h, w = size
    n = 2 if batch is None else batch
    if free_size:
        yield ExportPlan(batch, None, 1, _shapes(channels, n, batch, [size, size, *_ANY]))
        usual_size = [size] if h % 32 == 0 and w % 32 == 0 else []
        yield ExportPlan(batch, None, 32, _shapes(channels, n, batch, [*usual_size, _MULTIPLES[0], *_MULTIPLES]))
    yield ExportPlan(batch, size, 1, _shapes(channels, n, batch, [size, size]))
    if batch is None:
        yield ExportPlan(1, size, 1, ((1, channels, h, w),) * 2)


def _shapes(channels: int, n: int, batch: int | None, sizes: list[Size]) -> tuple[tuple[int, ...], ...]:
    """The probes' shapes; the second has another batch size if the batch is dynamic."""
    return tuple([(3 if k == 1 and batch is None else n, channels, *each) for k, each in enumerate(sizes)])


_MOST_PIXELS = 1 << 24  # in a recorded pass, which takes 6 GB for ResNet-50
INPUT = "x"


def export_onnx(
    file: str | os.PathLike,
    model: Chain,
    *,
    batch: int | None = None,
    size: int | Sequence[int] | None = None,
    boxes: bool = False,
    weights: Weights | None = None,
    metadata: Mapping[str, object] | None = None,
) -> Exported:
    """Export the model as an ONNX file of opset 17, written atomically; returns a description of the file.

    Weights beyond ONNX's limit of 2 GiB go into a second file next to it, `file` with `.data` appended.
    batch: the batch size; None: dynamic where the model allows it
    size: (H, W) of the preprocessed images, or one number for both; None: dynamic where the model allows it
    boxes: for detectors: export final detections after non-maximum suppression (NMS) at the current thresholds instead
        of raw outputs: `boxes` (K, 4) y_min x_min y_max x_max in pixels of x, `scores` (K,), `labels` (K,) and `photos`
        (K,) int64, the index in the batch, by descending score; `masks` (K, M, M), the foreground probability of each
        cell of a box; `points` (K, P, 2) y x in pixels of x, and `point_scores` (K, P). Where images are padded in x, a
        second input `photo` (B, 4) gives their extent, see `image_extent`; where thresholds are in pixels of the
        original images, `photo_size` (B, 2) float32 is their height and width
    weights: the record of the pretrained weights, for the file's metadata: source, licence
    metadata: more metadata by name; values that are not text are stored as JSON
    The input is `x` (B, C, H, W) float32, preprocessed as the file's metadata describe.
    Raises UnsupportedError for operations without a converter, for quantized models, and for a size that the network
    does not take; DtypeError for swapped arguments, a batch or size that is not an integer and metadata that JSON
    cannot hold; ValueRangeError if they are below 1 or make more than 16 million pixels, and for reserved names in the
    metadata; OSError if the file cannot be written.
    """
    check_file_then_model("export_onnx", file, model)
    batch = None if batch is None else _batch_size(batch)
    size = None if size is None else pair(size, name="size", function="export_onnx")
    if (batch is not None and batch < 1) or (size is not None and min(size) < 1):
        raise ValueRangeError("export_onnx: batch and size must be at least 1", got=f"batch {batch}, size {size}")
    contents = contents_of(model)
    about = contents.metadata if weights is None else contents.metadata | weights_metadata(weights)
    contents = contents._replace(metadata=joined_metadata(about, metadata))
    here = contents.size if size is None else size
    if (batch or 1) * here[0] * here[1] > _MOST_PIXELS:
        raise ValueRangeError(
            "export_onnx: recording a pass of such images would exceed the machine's memory",
            expected=f"at most {_MOST_PIXELS} pixels",
            got=f"batch {batch or 1}, size {here}",
            hint="leave the size or the batch dynamic: omit the argument",
        )
    reasons: list[str] = []
    tries = list(export_plans(contents.channels, here, batch=batch, free_size=size is None))
    for plan in tries:
        try:
            return _write(file, contents, plan, tuple(reasons), model if boxes else None)
        except (CvzooError, ValueError) as error:  # at sizes it does not support, a network may raise either
            why = str(error).splitlines()[0]
            if plan is tries[-1]:
                if size is None or isinstance(error, UnsupportedError):
                    raise
                raise UnsupportedError(
                    f"ONNX: the network takes no images of size {size}: {why}",
                    hint="use multiples of 32, or omit the size: the file's metadata then give the supported sizes",
                ) from error
            reasons.append(f"{plan.freedom}: {why}")
    raise AssertionError("there is always a plan")


def _batch_size(batch: int) -> int:
    try:
        return operator.index(batch)
    except TypeError:
        raise DtypeError("export_onnx: batch must be an integer, or None for a dynamic one", got=repr(batch)) from None


def _write(
    file: str | os.PathLike, contents: Contents, plan: ExportPlan, reasons: tuple[str, ...], detector: Chain | None
) -> Exported:
    g = OnnxGraph()
    values = add_network(g, INPUT, contents.call, plan.shapes, names=contents.constants)
    x_shape = tuple(zip(*plan.shapes))
    inputs = [Port(INPUT, "float32", _named(x_shape, x_shape))]
    if detector is None:
        names = contents.outputs or tuple([f"output{i}" for i in range(len(values))])
        outputs = [Port(name, "float32", _named(g.shape_of(value), x_shape)) for value, name in zip(values, names)]
    else:
        detections = add_boxes(g, detector, INPUT, values, contents.constants)
        inputs += detections.inputs
        outputs, values = list(detections.outputs), detections.values
    for value, port in zip(values, outputs, strict=True):
        g.nodes.append(Node("Identity", (value,), (port.name,), {}))
    texts = {**contents.metadata, "size_step": str(plan.step)}
    if detector is not None:
        texts |= box_metadata(detector)
    data_file = save(
        file,
        g.constants,
        lambda external: model_message(
            contents.name,
            g.nodes,
            inputs,
            outputs,
            g.constants,
            producer_version=cvzoo_version(),
            metadata=texts,
            external=external,
        ),
    )
    return Exported(
        batch=plan.batch,
        size=plan.size,
        reasons=reasons,
        inputs=tuple([(port.name, port.shape or ()) for port in inputs]),
        outputs=tuple([(port.name, port.shape or ()) for port in outputs]),
        n_operator=len(g.nodes),
        opset=OPSET,
        size_step=plan.step,
        data_file=data_file,
    )


def _named(shape: Shape, x_shape: Shape) -> tuple[int | str, ...]:
    """Fixed sizes as integers; dynamic ones by the input's names for them, others by `size` and the axis."""
    names = dict(zip(x_shape, ("batch", "channels", "height", "width")))
    sizes: list[int | str] = []
    for axis, each in enumerate(shape):
        sizes.append(each[0] if len(set(each)) == 1 else names.get(each, f"size{axis}"))
    return tuple(sizes)
