"""What the scores of evaluations mean, in few words."""

from collections.abc import Mapping
from types import MappingProxyType

MEANINGS: Mapping[str, str] = MappingProxyType(
    {
        "AP": "mean over classes and overlaps 0.50 .. 0.95",
        "AP50": "at overlap 0.50",
        "AP75": "at overlap 0.75",
        "APs": "small objects (area up to 32 x 32)",
        "APm": "medium objects",
        "APl": "large objects (from 96 x 96)",
        "AR1": "recall with 1 detection an image and class",
        "AR10": "recall with 10",
        "AR100": "recall with 100",
        "ARs": "recall, small objects",
        "ARm": "recall, medium objects",
        "ARl": "recall, large objects",
        "APr": "rare classes (in up to 10 training images)",
        "APc": "common classes (in up to 100)",
        "APf": "frequent classes",
        "AR@300": "recall with 300 detections an image",
        "ARs@300": "recall, small objects",
        "ARm@300": "recall, medium objects",
        "ARl@300": "recall, large objects",
        "AR": "recall, mean over overlaps 0.50 .. 0.95",
        "AR50": "recall at overlap 0.50",
        "AR75": "recall at overlap 0.75",
        "map": "mean AP of the classes",
        "accuracy": "fraction of images whose most probable class is right",
        "top1_accuracy": "the same",
        "top5_accuracy": "fraction of images whose class is among the five most probable",
        "mean_class_accuracy": "mean over classes",
        "macro_precision": "mean precision over classes",
        "macro_f1": "mean F1 score over classes",
        "macro_auc": "mean area under the ROC curve, each class against the others",
        "expected_calibration_error": "mean gap between score and accuracy",
        "brier_score": "mean squared distance of probabilities to the true class",
        "negative_log_likelihood": "of the true class, in nats",
        "miou": "mean IoU of the classes",
        "pixel_accuracy": "fraction of pixels with the right class",
        "fwiou": "mean IoU, classes weighted by their pixels",
        "pq": "panoptic quality, mean over classes",
        "sq": "segmentation quality, mean IoU of matched segments",
        "rq": "recognition quality, F1 score of segments",
    }
)
