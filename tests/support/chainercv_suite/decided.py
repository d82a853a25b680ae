"""Where cvzoo decided otherwise: what a test of ChainerCV fails with then, and why."""

import re
from typing import NamedTuple


class Decided(NamedTuple):
    """A decision: its reason; regular expressions of the tests that it concerns, and of the message they fail with."""

    why: str
    test: str
    message: str


DECIDED = (
    Decided("a name that has another in cvzoo", "", r"ReplacedNameError|cannot import name '_random_array'"),
    Decided("assertions are stricter: images are float32 in [0, 255]", "", r"BrokenRuleError"),
    Decided("assertions are stricter: best first, the same again", "assert_is_.*_link", r"AssertionError"),
    Decided("arrays of a photo must fit together", "eval|evaluator", r"ShapeError|DtypeError"),
    Decided("an error of shapes is a ShapeError", "test_bbox_iou", r"ShapeError"),
    Decided("errors list what there is", "test_pick_setter", r"does not match"),
    Decided("float64 becomes float32", "test_resize_contain", r"not equal"),
    Decided("transforms give a new array", "test_scale_no_resize", r""),
    Decided("booleans are black and white", "test_write_image", r"not equal"),
    Decided("an open file is read from where it stands", "test_read_image", r"ImageError"),
    Decided("a label map is of its image's size", "test_vis_semantic", r"ShapeError"),
    Decided("values without a name are called value_0, value_1 ...", "Dataset", r"value(_\d)?'"),
    Decided("evaluate() says main/, whatever the reporter", "test_evaluate", r"KeyError: 'target/"),
    Decided("FPN and SSD are built of settings", "test_fpn|test_ssd", r"unexpected keyword .*'(base|extractor)'"),
    Decided("a region proposal network of one's own writes propose", "rcnn", r"no attribute 'propose'"),
    Decided(
        "classifiers give logits, and MobileNetV2 numbers its blocks", "resn|senet|vgg|mobilenet", r"ValueRangeError"
    ),
    Decided("classifiers give logits, and MobileNetV2 numbers its blocks", "test_mobilenet.py", r"Tuples differ"),
    Decided("a YOLO called gives the maps of its last layers", "test_yolo", r"Tuples differ|not enough values"),
    Decided("None, not False, where there are no weights", "test_faster_rcnn_vgg", r"not bool"),
    Decided("means, sides, initializers are no arguments", "", r"unexpected keyword .*'(mean|min_size|\w*initialW)'"),
    Decided("parts of a model have other names", "", r"has no attribute '(dw_bn|_prepare|y)'"),
    Decided("SAME counts a dilated window with its gaps, as TensorFlow does", "test_tf_conv", r"[Ss]hape"),
    Decided("a loss does not keep scores and itself", "test_pixelwise", r"False is not true"),
    Decided("names that begin with an underscore, or were not shown", "test_cityscapes", r"not iterable"),
    Decided("tests that NumPy of today refuses", "test_mask_iou", r"inhomogeneous shape"),
)


def decision_on(test: str, message: str) -> Decided | None:
    """The first decision that a failure comes from."""
    for each in DECIDED:
        if re.search(each.test, test) and re.search(each.message, message):
            return each
    return None
