"""Properties of every model of the zoo, checked on images: the rows of `cvzoo verify`'s table."""

import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from cvzoo.cli.load_predictor import Predictor
from cvzoo.config.switches import switches
from cvzoo.errors.exceptions import UnsupportedError
from cvzoo.evaluations.evaluators.abstract import AbstractEvaluator
from cvzoo.evaluations.evaluators.classification_evaluator import ClassificationEvaluator
from cvzoo.evaluations.evaluators.detection_voc_evaluator import DetectionVOCEvaluator
from cvzoo.evaluations.evaluators.instance_segmentation_voc_evaluator import InstanceSegmentationVOCEvaluator
from cvzoo.evaluations.evaluators.semantic_segmentation_evaluator import SemanticSegmentationEvaluator
from cvzoo.geometry.rle import RLEs
from cvzoo.images.write_image import write_image
from cvzoo.iterators.serial_iterator import SerialIterator
from cvzoo.links.chain import Chain
from cvzoo.links.model.classifier import AbstractClassifier
from cvzoo.links.model.detector import AbstractDetector
from cvzoo.links.model.instance_segmentations import InstanceSegmentations
from cvzoo.links.model.instance_segmenter import AbstractInstanceSegmenter
from cvzoo.links.model.raw_outputs import Finder, greatest_difference, named_results, same_bits
from cvzoo.links.model.segmenter import AbstractSegmenter
from cvzoo.links.quantization.quantizable import AbstractQuantizable
from cvzoo.links.quantization.stored import is_quantized, stored_quantization
from cvzoo.reporting.counted import counted
from cvzoo.serializers.convert_weights import normalization_eps
from cvzoo.serializers.model_file import load_model, save_model
from cvzoo.typing.aliases import ArrayLike, Image

CLOSE = 1e-5  # tolerance of results from batches, files and evaluators


class Check(NamedTuple):
    """what was checked; is_right: None if it does not apply; detail: a short description."""

    what: str
    is_right: bool | None
    detail: str


def check_numbers(model: Chain) -> Check:
    """All parameters are initialized and finite."""
    if isinstance(model, AbstractQuantizable) and is_quantized(model):
        arrays = stored_quantization(model)[0]
    else:
        arrays = model.state_arrays()
    wrong = [name for name, array in arrays.items() if not np.isfinite(array).all()]
    if wrong:
        return Check(
            "numbers",
            False,
            f"{counted(len(wrong), 'array contains', 'arrays contain')} NaN or infinity: {', '.join(wrong[:3])}",
        )
    eps = ", ".join(f"{value:g}" for value in normalization_eps(model))
    normalization = f"; batch normalization with eps {eps}" if eps else ""
    return Check(
        "numbers",
        True,
        f"{counted(len(arrays), 'array')}, {counted(model.count_params(), 'parameter', spec=',')}{normalization}",
    )


def check_predictions(model: Predictor, images: Sequence[Image]) -> list[Check]:
    """Checks determinism, batch invariance, and that files, evaluators and a saved checkpoint give the same results.

    photos: (3, H, W) float32 RGB, integers in [0, 255], at least two of them of the same size
    """
    before = [image.copy() for image in images]
    train = switches.train
    first = named_results(model.predict(images))
    unchanged = all(map(np.array_equal, images, before)) and switches.train == train
    return [
        Check("predict", True, _summary(first)),
        Check("leaves all as it was", unchanged, "images and switches" if unchanged else "images or switches changed"),
        _compare("deterministic", first, named_results(model.predict(images)), exact=True),
        _compare("batch invariance", first, [named_results(model.predict([image]))[0] for image in images]),
        _check_files(model, images, first),
        _check_evaluate(model, images),
        _check_file_of_model(model, images, first),
    ]


def _check_files(model: Predictor, images: Sequence[Image], first: list) -> Check:
    with tempfile.TemporaryDirectory() as folder:
        paths = [Path(folder) / f"{i}.png" for i in range(len(images))]
        for path, image in zip(paths, images):
            write_image(image, path)
        return _compare("from files", first, named_results(model.predict(paths)))


def _check_file_of_model(model: Predictor, images: Sequence[Image], first: list) -> Check:
    with tempfile.TemporaryDirectory() as folder:
        try:
            save_model(Path(folder) / "model.safetensors", model)
        except UnsupportedError as error:
            return Check("saved and loaded", None, str(error).split("\n", 1)[0])
        twin: Predictor = load_model(Path(folder) / "model.safetensors", architecture=type(model))
        if isinstance(model, Finder):  # thresholds are not saved
            twin.score_thresh, twin.nms_thresh, twin.limit = model.score_thresh, model.nms_thresh, model.limit
        return _compare("saved and loaded", first, named_results(twin.predict(images)), exact=True)


def _check_evaluate(model: Chain, images: Sequence[np.ndarray]) -> Check:
    """An evaluator gets the predictions of predict(), and scores them as perfect if they are the ground truth."""
    what = "predict = evaluate"
    if isinstance(model, (AbstractDetector, AbstractInstanceSegmenter)):
        with model.using_preset("evaluate"):
            return _evaluate(what, model, images)
    if isinstance(model, (AbstractClassifier, AbstractSegmenter)):
        return _evaluate(what, model, images)
    return Check(what, None, "there is no evaluator that takes examples of this task")


def _evaluate(what: str, model: Predictor, images: Sequence[np.ndarray]) -> Check:
    predicted = model.predict(images)
    truths, make, key = _truths(model, predicted)
    told: list[tuple] = []

    def listen(imgs: tuple, values: tuple, _: tuple) -> None:
        told.extend(zip(*values))

    examples = [(image, *truth) for image, truth in zip(images, truths)]
    iterator = SerialIterator(examples, 2, repeat=False, shuffle=False)
    score = make(iterator, model, hook=listen)()[f"main/{key}"]
    columns = predicted if isinstance(predicted, tuple) else (predicted,)
    off = max((_off(a, b) for a, b in zip(zip(*columns), told)), default=0.0)
    if len(told) != len(images) or off > CLOSE:
        return Check(what, False, f"the evaluator got other predictions: a difference of {off:.3g}")
    if np.isnan(score):
        return Check(what, True, "the same; nothing to score")
    masks: Sequence[RLEs] = predicted.masks if isinstance(predicted, InstanceSegmentations) else ()
    if not all(mask.area().all() for mask in masks):
        return Check(what, True, "the same; not scored, since a mask is empty, which ground truth never is")
    # means over classes and thresholds round
    return Check(what, abs(score - 1) < 1e-6, f"the same; scored against itself, {key} is {score:.6g}")


def _truths(model: Predictor, predicted: Any) -> tuple[list[tuple], type[AbstractEvaluator], str]:
    """The predictions as ground truth, the evaluator of the task, and its key that must be 1."""
    if isinstance(model, AbstractClassifier):
        return [(np.int32(np.argmax(probs)),) for probs in predicted], ClassificationEvaluator, "accuracy"
    if isinstance(model, AbstractSegmenter):
        return [(label,) for label in predicted], SemanticSegmentationEvaluator, "miou"
    if isinstance(model, AbstractInstanceSegmenter):
        kept = [mask.area() > 0 for mask in predicted.masks]
        instances = zip(predicted.masks, predicted.labels, kept)
        return [(mask[k], label[k]) for mask, label, k in instances], InstanceSegmentationVOCEvaluator, "map"
    return list(zip(predicted.bboxes, predicted.labels)), DetectionVOCEvaluator, "map"


def _off(a: tuple, b: tuple) -> float:
    values = ({str(i): _plain(value) for i, value in enumerate(each)} for each in (a, b))
    return greatest_difference(*values)


def _plain(value: ArrayLike | RLEs) -> np.ndarray:
    return value.counts if isinstance(value, RLEs) else np.asarray(value)


def _compare(what: str, a: list, b: list, *, exact: bool = False) -> Check:
    if same_bits(a, b):
        return Check(what, True, "the same bits")
    off = max((greatest_difference(x, y) for x, y in zip(a, b)), default=0.0) if len(a) == len(b) else np.inf
    return Check(what, off <= CLOSE and not exact, f"differs by {off:.3g}")


def _summary(results: list) -> str:
    parts = [f"{name} {' x '.join(map(str, array.shape))}" for name, array in results[0].items()] if results else []
    return f"{counted(len(results), 'image')}; of the first: {', '.join(parts)}"
