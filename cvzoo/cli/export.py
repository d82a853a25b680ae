"""`cvzoo export MODEL --format onnx --to OUT.onnx`: exports a model to ONNX."""

import argparse
import pathlib

import numpy as np

from cvzoo.cli.foreign_model import darknet_file
from cvzoo.cli.load_predictor import Predictor, darknet_detector, make_member, means_file, refuse_architecture
from cvzoo.cli.own_architecture import own_architecture
from cvzoo.cli.result_table import printable
from cvzoo.cli.zoo_member import zoo_member
from cvzoo.errors.exceptions import ConfigError, MissingExtraError
from cvzoo.export.onnx.agreement import compare_boxes_with_onnxruntime, compare_with_onnxruntime
from cvzoo.export.onnx.exported import Exported
from cvzoo.export.onnx.metadata import OWN_NAMES
from cvzoo.export.onnx.write import export_onnx
from cvzoo.images.read_image import read_image
from cvzoo.links.model.raw_outputs import seeded_photo
from cvzoo.links.model.thresholds import AbstractThresholds
from cvzoo.reporting.counted import counted
from cvzoo.serializers.model_file import load_model
from cvzoo.transforms.resize import resize
from cvzoo.typing.aliases import Array, Image
from cvzoo.weights.model_header import read_model_header

DISAGREES = 1  # exit status, so that a script can tell it from an error
_PHOTO = (480, 640)
_TOLERANCE = 0.02  # the share of numbers: maxima that are equal but for rounding may change places


def run(args: argparse.Namespace) -> int:
    """Returns 0, or 1 if the outputs differ. Raises UnsupportedError for what cannot be exported."""
    to = pathlib.Path(args.to)
    if to.suffix.lower() != ".onnx":
        raise ConfigError("--to must end in .onnx, the extension of ONNX files", got=args.to)
    if not to.parent.is_dir():
        raise ConfigError(f"--to {args.to}: the folder does not exist")
    model: Predictor
    weights, metadata = None, None
    if darknet_file(args, args.model) is not None:
        refuse_architecture(args.architecture, "--cfg")
        model = darknet_detector(args)
    elif means_file(args.model):
        model = load_model(args.model, architecture=own_architecture(args.architecture))
        header = read_model_header(args.model)
        if header is not None:  # the file may contain names that the exporter uses
            metadata = {f"file_{name}" if name in OWN_NAMES else name: text for name, text in header.metadata.items()}
    else:
        refuse_architecture(args.architecture, args.model)
        member = zoo_member(args.model)
        model, weights = make_member(member), member.weights
    image = resize(seeded_photo(), _PHOTO) if args.photo is None else read_image(args.photo)
    finds = isinstance(model, AbstractThresholds)
    boxes = finds if args.boxes is None else args.boxes
    if args.preset is not None:
        if not (finds and boxes):
            raise ConfigError("--preset applies to exports with boxes only, since others have no thresholds")
        model.use_preset(args.preset)
    exported = export_onnx(to, model, batch=args.batch, size=args.size, boxes=boxes, weights=weights, metadata=metadata)
    checked, agrees = _checked(to, model, image, exported, boxes=boxes)
    _print(to, exported, checked)
    return 0 if agrees else DISAGREES


def _checked(to: pathlib.Path, model: Predictor, image: Image, exported: Exported, *, boxes: bool) -> tuple[str, bool]:
    try:
        if boxes:
            if exported.size not in (None, model.prepare(image).shape[1:]):
                return "not checked: --photo makes no input of this size", True
            n = compare_boxes_with_onnxruntime(to, model, image)
            words = (
                f"of {counted(n.ours, 'box', 'boxes')} ONNX Runtime finds {n.same}, and "
                f"{counted(n.theirs - n.same, 'other')}"
            )
            return words, n.same == n.ours == n.theirs
        agreement = compare_with_onnxruntime(to, model, _input(model, image, exported))
    except MissingExtraError:
        return "not checked: ONNX Runtime is not installed (pip install onnxruntime)", True
    text = f"ONNX Runtime differs by at most {agreement.difference:.2g}, of numbers up to {agreement.scale:.3g}"
    if agreement.apart:
        text += f"; {100 * agreement.apart:.2g} % of them by more than rounding"
    return text, agreement.apart <= _TOLERANCE


def _input(model: Predictor, image: Image, exported: Exported) -> Array:
    x = model.prepare(image)
    size = exported.size or tuple([-(-side // exported.size_step) * exported.size_step for side in x.shape[1:]])
    if x.shape[1:] != size:
        x = resize(x, size)
    return np.repeat(x[None], exported.batch or 2, axis=0)


def _print(to: pathlib.Path, exported: Exported, checked: str) -> None:
    megabytes = to.stat().st_size / 1e6
    lines = [
        (
            "written",
            f"{printable(str(to))}, {megabytes:.1f} MB, opset {exported.opset}, {counted(exported.n_operator, 'node')}",
        )
    ]
    if exported.data_file is not None:
        lines.append(("numbers", f"{printable(exported.data_file)} beside it, which belongs to it"))
    lines += [("input", f"{name} {_shape(shape)}") for name, shape in exported.inputs]
    lines += [("output", f"{name} {_shape(shape)}") for name, shape in exported.outputs]
    if exported.size is None and exported.size_step > 1:
        lines.append(("sizes", f"multiples of {exported.size_step}"))
    lines += [("not free", reason) for reason in dict.fromkeys(exported.reasons)]
    for name, value in [*lines, ("checked", checked)]:
        print(f"{name:<8}  {value}")


def _shape(shape: tuple[int | str, ...]) -> str:
    return f"({', '.join(map(str, shape))})"
