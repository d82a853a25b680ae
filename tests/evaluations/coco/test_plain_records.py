"""Files read by our own kernels, against the same files read without them."""

import json
from unittest import mock

import numpy as np
import pytest

from cvzoo.backends.native import records
from cvzoo.backends.native.library import why_no_native
from cvzoo.evaluations.coco import COCOParameters, read_coco_detections, read_coco_ground_truth
from cvzoo.evaluations.coco.plain_records import plain_columns, plain_masks
from cvzoo.evaluations.coco.read_detections import _Masked
from cvzoo.geometry.rle import RLEs

pytestmark = pytest.mark.skipif(why_no_native() is not None, reason=str(why_no_native()))

N = 5000


def problem():
    rng = np.random.default_rng(0)
    images = [{"id": i, "height": 60, "width": 80, "file_name": f"{i}.jpg"} for i in range(9)]
    masks = RLEs.from_masks(rng.random((N, 8, 9)) < 0.3)
    objects, found = [], []
    for i, mask in enumerate(masks.to_coco()):
        outlines = [rng.uniform(0, 60, 2 * rng.integers(3, 9)).tolist() for _ in range(rng.integers(1, 3))]
        head = {"image_id": i % 9, "category_id": i % 4, "bbox": rng.uniform(0, 40, 4).tolist()}
        runs = {"size": [8, 9], "counts": masks.counts[masks.offsets[i] : masks.offsets[i + 1]].tolist()}
        more = {} if i % 3 else {"ignore": i % 2}
        shown = runs if i % 50 == 0 else mask if i % 51 == 0 else outlines
        objects.append({"id": i + 1, **head, "area": float(i), "iscrowd": i % 2, "segmentation": shown, **more})
        found.append({**head, "score": float(rng.random()), "segmentation": mask})
    return {"images": images, "categories": [{"id": k, "name": "é"} for k in range(4)], "annotations": objects}, found


GT, FOUND = problem()


def columns(read, *arguments):
    return {name: value for name, value in vars(read(*arguments)).items() if value is not None}


def assert_same(read, *arguments):
    got = columns(read, *arguments)
    with mock.patch.object(records, "native", return_value=None):
        want = columns(read, *arguments)
    assert got.keys() == want.keys()
    for name, value in want.items():
        if isinstance(value, np.ndarray):
            assert got[name].dtype == value.dtype
            np.testing.assert_array_equal(got[name], value)
        else:
            assert got[name] == value


@pytest.mark.parametrize("iou_type", ["bbox", "segm"])
def test_objects_are_those_that_are_read_without_kernels(iou_type):
    assert_same(read_coco_ground_truth, json.dumps(GT).encode(), COCOParameters(iou_type=iou_type))


@pytest.mark.parametrize("iou_type", ["bbox", "segm"])
@pytest.mark.parametrize("left_out", ["bbox", "segmentation", "nothing"])
def test_detections_are_those_that_are_read_without_kernels(iou_type, left_out, tmp_path):
    found = [{name: value for name, value in each.items() if name != left_out} for each in FOUND]
    path = tmp_path / "found.json"
    path.write_text(json.dumps(found))
    assert_same(read_coco_detections, path, COCOParameters(iou_type=iou_type))


def test_plain_results_are_read_by_the_kernel():
    text = json.dumps(FOUND).encode()
    masks = plain_masks(text, plain_columns(text, _Masked)["segmentation"])
    assert masks == RLEs.from_coco([each["segmentation"] for each in FOUND])
