"""Malformed ground truth and results: an error that names the record, never a number."""

import copy
import json

import numpy as np
import pytest

from cvzoo.errors.exceptions import CvzooError, FileFormatError, ValueRangeError
from cvzoo.evaluations.coco import (
    COCODetections,
    COCOGroundTruth,
    COCOParameters,
    evaluate_coco,
    read_coco_detections,
    read_coco_ground_truth,
)
from cvzoo.evaluations.coco.json_records import json_blocks

N = 9000  # more than a block of records, and of bytes


def good():
    images = [{"id": i, "height": 10, "width": 10} for i in range(1, 4)]
    gt = {
        "images": images,
        "categories": [{"id": 7, "name": "cat"}],
        "annotations": [
            {"id": i + 1, "image_id": i % 3 + 1, "category_id": 7, "bbox": [1, 2, 3, 4], "area": 12, "iscrowd": 0}
            for i in range(N)
        ],
    }
    dt = [{"image_id": i % 3 + 1, "category_id": 7, "bbox": [1, 2, 3, 4.5], "score": 0.5} for i in range(N)]
    return gt, dt


GT, DT = good()


def changed(records, index, field, value):
    records = list(records)
    records[index] = dict(records[index])
    if value is None:
        del records[index][field]
    else:
        records[index][field] = value
    return records


FAULTS_OF_RESULTS = [
    ("image_id", 99),  # unknown
    ("image_id", "1"),
    ("image_id", None),  # None: the field is missing
    ("category_id", 8),
    ("category_id", None),
    ("score", float("nan")),
    ("score", float("inf")),
    ("score", "high"),
    ("score", None),
    ("bbox", [1, 2, -3, 4]),
    ("bbox", [1, 2, 3, -4]),
    ("bbox", [1, 2, 3]),
    ("bbox", [1, 2, 3, 4, 5]),
    ("bbox", [1, 2, 3, float("nan")]),
    ("bbox", "1 2 3 4"),
    ("bbox", None),
]
FAULTS_OF_OBJECTS = [
    ("id", 1),  # the first one's
    ("id", None),
    ("image_id", 99),
    ("image_id", None),
    ("category_id", 8),
    ("category_id", None),
    ("bbox", [1, 2, -3, 4]),
    ("bbox", [1, 2, 3]),
    ("bbox", [1, 2, float("inf"), 4]),
    ("bbox", None),
    ("area", float("nan")),
    ("area", "large"),
    ("area", None),
    ("iscrowd", "yes"),
    ("iscrowd", None),
]


@pytest.mark.slow
@pytest.mark.parametrize("index", [0, N - 3])
@pytest.mark.parametrize("as_text", [True, False], ids=["text", "list"])
@pytest.mark.parametrize(("field", "value"), FAULTS_OF_RESULTS)
def test_results_at_fault_are_named(field, value, as_text, index):
    dt = changed(DT, index, field, value)
    with pytest.raises(ValueRangeError, match=rf"detections\[{index}\]") as caught:
        evaluate_coco(GT, json.dumps(dt).encode() if as_text else dt)
    assert field in str(caught.value)


@pytest.mark.parametrize("as_text", [True, False], ids=["text", "dictionary"])
@pytest.mark.parametrize(("field", "value"), FAULTS_OF_OBJECTS)
def test_objects_at_fault_are_named(field, value, as_text):
    index = N - 3
    gt = GT | {"annotations": changed(GT["annotations"], index, field, value)}
    with pytest.raises(ValueRangeError, match=rf"annotations\[{index}\]") as caught:
        evaluate_coco(json.dumps(gt).encode() if as_text else gt, DT)
    assert field in str(caught.value)


@pytest.mark.parametrize("part", ["images", "categories"])
def test_ids_of_photos_and_classes_stand_once(part):
    gt = copy.deepcopy({**GT, "annotations": []})
    gt[part].append(gt[part][0])
    with pytest.raises(ValueRangeError, match=rf"{part}\[{len(gt[part]) - 1}\].id"):
        read_coco_ground_truth(gt)


@pytest.mark.parametrize("part", ["images", "annotations", "categories"])
def test_ground_truth_has_three_parts(part):
    gt = {name: value for name, value in GT.items() if name != part}
    for source in (gt, json.dumps(gt).encode()):
        with pytest.raises(ValueRangeError, match=part):
            read_coco_ground_truth(source)


@pytest.mark.parametrize(
    "text",
    [
        b"",
        b"{",
        b"[{]",
        b'[{"image_id": 1,',
        b"\xff\xfe",
        b"[1, 2",
        b"nonsense",
        b'[{"a": "\xd0"}]',
        b'{"a": ' + b"[" * 200_000,
    ],
)
def test_what_is_no_json_is_refused(text):
    with pytest.raises(FileFormatError):
        read_coco_detections(text)
    with pytest.raises(FileFormatError):
        read_coco_ground_truth(text)


@pytest.mark.parametrize("text", [b"{}", b"3", b'"text"', b"null", b'{"annotations": []}', b"[1, 2]", b"[[]]"])
def test_json_of_another_shape_is_refused(text):
    with pytest.raises(CvzooError):
        read_coco_detections(text)
    with pytest.raises(CvzooError):
        read_coco_ground_truth(text)


def test_a_missing_file_is_the_systems_error(tmp_path):
    with pytest.raises(FileNotFoundError):
        evaluate_coco(tmp_path / "gt.json", tmp_path / "dt.json")


def test_files_are_read(tmp_path):
    (tmp_path / "gt.json").write_text(json.dumps(GT, indent=1))
    (tmp_path / "dt.json").write_text(json.dumps(DT, indent=1))
    result = evaluate_coco(str(tmp_path / "gt.json"), tmp_path / "dt.json")
    assert result.stats.tobytes() == evaluate_coco(GT, DT).stats.tobytes()


def test_classes_that_are_unknown_can_be_dropped_by_name():
    dt = changed(DT, 5, "category_id", 8)
    with pytest.raises(ValueRangeError, match="unknown_class"):
        evaluate_coco(GT, dt)
    result = evaluate_coco(GT, dt, COCOParameters(accept=("unknown_class",)))
    assert result.notes[0].startswith("unknown_class: 1 detection of")


@pytest.mark.parametrize("ids", [{"img_ids": [1, 99]}, {"cat_ids": [8]}])
def test_subsets_hold_what_there_is(ids):
    with pytest.raises(ValueRangeError, match=next(iter(ids))):
        evaluate_coco(GT, DT, COCOParameters(**ids))


@pytest.mark.parametrize(
    "segmentation",
    [
        {"size": [10, 10], "counts": [50]},  # too few pixels
        {"size": [10, 10], "counts": [60, -10, 50]},
        {"size": [10, 10], "counts": "\x01"},
        {"size": [10], "counts": "d3"},
        {"counts": "d3"},
        [[1, 1, 2, 2]],
        [[1, 1, 2, 2, 3]],
        [],
        5,
    ],
)
def test_masks_that_cannot_be_are_refused(segmentation):
    gt = {**GT, "annotations": [GT["annotations"][0] | {"segmentation": segmentation}]}
    dt = [DT[0] | {"segmentation": segmentation}]
    for source in (gt, json.dumps(gt).encode()):
        with pytest.raises(CvzooError):
            read_coco_ground_truth(source, COCOParameters(iou_type="segm"))
    if segmentation != [] and not isinstance(segmentation, list):
        with pytest.raises(CvzooError):
            read_coco_detections(dt, COCOParameters(iou_type="segm"))


@pytest.mark.slow
@pytest.mark.parametrize("as_text", [False, True])
@pytest.mark.parametrize(
    "segmentation",
    [{"size": [9, 9], "counts": [0, 3, 7]}, {"size": [9, 9], "counts": "zzz"}, [[1, 2, 3]], [[1, 2, 3, 4, 5, "7"]]],
)
def test_a_mask_at_fault_is_named_among_many(segmentation, as_text):
    ring, runs, n, at = [[1, 1, 5, 1, 5, 5]], {"size": [9, 9], "counts": [0, 3, 78]}, 7000, 5001
    images = [{"id": i, "height": 9, "width": 9} for i in range(n)]
    records = [
        {"id": i + 1, "image_id": i, "category_id": 1, "bbox": [0, 0, 1, 1], "area": 1, "iscrowd": 0, "score": 0.5}
        for i in range(n)
    ]
    gt = [record | {"segmentation": runs if i % 3 else ring} for i, record in enumerate(records)]
    gt[at]["segmentation"] = segmentation
    gt = {"images": images, "annotations": gt, "categories": [{"id": 1}]}
    parameters = COCOParameters(iou_type="segm")
    with pytest.raises(ValueRangeError, match=rf"annotations\[{at}\].segmentation"):
        read_coco_ground_truth(json.dumps(gt).encode() if as_text else gt, parameters)
    if isinstance(segmentation, dict):
        dt = [record | {"segmentation": runs} for record in records]
        dt[at]["segmentation"] = segmentation
        with pytest.raises(ValueRangeError, match=rf"detections\[{at}\].segmentation"):
            read_coco_detections(json.dumps(dt).encode() if as_text else dt, parameters)


def test_polygons_need_the_size_of_their_photo():
    gt = {**GT, "images": [{"id": 1}], "annotations": [GT["annotations"][0] | {"segmentation": [[1, 1, 5, 1, 5, 5]]}]}
    with pytest.raises(ValueRangeError, match=r"annotations\[0\].segmentation"):
        read_coco_ground_truth(gt, COCOParameters(iou_type="segm"))


@pytest.mark.parametrize("iou_type", ["segm", "keypoints"])
def test_results_lack_what_is_compared(iou_type):
    with pytest.raises(ValueRangeError):
        evaluate_coco(GT, DT, COCOParameters(iou_type=iou_type))


@pytest.mark.parametrize(("at", "length"), [(1, 2), (5000, 2), (4096, 6)])
def test_poses_have_one_number_of_points(at, length):
    record = {"image_id": 1, "category_id": 7, "score": 0.5}
    records = [record | {"keypoints": [1, 2, 2]}] * at + [record | {"keypoints": [1] * length}] * 2
    for source in (records, json.dumps(records).encode()):
        with pytest.raises(ValueRangeError, match=rf"detections\[{at}\].keypoints"):
            read_coco_detections(source, COCOParameters(iou_type="keypoints"))


def test_columns_of_a_wrong_shape_are_refused():
    column = np.ones(3, np.int64)
    for settings in (
        {"bbox": np.zeros((3, 5))},
        {"bbox": np.zeros((2, 4))},
        {"bbox": np.zeros((3, 4), complex)},
        {"bbox": None},
        {"bbox": np.full((3, 4), np.nan)},
    ):
        with pytest.raises(CvzooError):
            COCODetections(image_id=column, category_id=column, score=np.ones(3), **settings)
    with pytest.raises(CvzooError):
        COCOGroundTruth(
            img_ids=[1],
            cat_ids=[1],
            image_id=column,
            category_id=column,
            bbox=np.zeros((3, 4)),
            area=np.zeros(2),
            crowd=np.zeros(3, bool),
        )


@pytest.mark.parametrize("array", [np.zeros((2, 6)), np.zeros(7)])
def test_an_array_of_results_has_seven_columns(array):
    with pytest.raises(ValueRangeError, match="7"):
        read_coco_detections(array)


def test_an_array_of_results_is_read_as_pycocotools_does():
    rows = np.array([[d["image_id"], *d["bbox"], d["score"], d["category_id"]] for d in DT])
    assert evaluate_coco(GT, rows).stats.tobytes() == evaluate_coco(GT, DT).stats.tobytes()


def test_numbers_of_numpy_are_numbers():
    dt = [
        {"image_id": np.int64(1), "category_id": np.int32(7), "bbox": np.float32([1, 2, 3, 4]), "score": np.float32(1)}
    ]
    assert evaluate_coco(GT, dt).n_detections == 1


@pytest.mark.parametrize("size", [1, 7, 50, 10000])
def test_blocks_hold_all_records_whatever_lies_within_them(size):
    records = [{"a": [{"b": 1}, {"c": {}}, {}], "d": "x"}, {"e": {}, "f": 2}, {"g": 3}] * 20
    for settings in ({}, {"indent": 2}, {"separators": (",", ":")}):
        blocks = list(json_blocks(json.dumps(records, **settings).encode(), size))
        assert json.loads(b"[" + b",".join(block[1:-1] for block in blocks) + b"]") == records
        assert len(blocks) > 1 or size == 10000


def test_strings_and_lists_that_look_like_the_end_of_a_record_do_no_harm():
    tricky = {"note": 'a "} , {" b', "parts": [{"x": 1}, {"y": 2}], "more": {}}
    dt = [tricky | each for each in DT]
    assert len(read_coco_detections(json.dumps(dt).encode())) == N


JUNK = [
    None, float("nan"), float("inf"), -1, 0, 1e308, 2**63, 2**70, -(2**70), "x", "5", [], [1], [None], [[]], {}, True,
    1.5, [1, 2, 3, 4], [1, 2, 3, float("nan")], [1, 2, -3, 4], [1e308, 0, 1e308, 1e308], [[1e300] * 6],
    {"size": [10**9, 10**9], "counts": [10**18]}, {"size": [2**70, 1], "counts": "a"},
    {"size": [9, 9], "counts": [2**40]},
]  # fmt: skip


@pytest.mark.parametrize("as_text", [False, True])
@pytest.mark.parametrize("iou_type", ["bbox", "segm", "keypoints"])
@pytest.mark.parametrize("part", ["images", "annotations", "categories", "detections"])
def test_no_junk_stops_an_evaluation_but_with_its_own_error(part, iou_type, as_text):
    record = {"id": 1, "image_id": 1, "category_id": 1, "bbox": [1, 1, 5, 5], "area": 25, "iscrowd": 0, "score": 0.5}
    record |= {"segmentation": [[1, 1, 5, 1, 5, 5]], "keypoints": [1, 1, 2] * 17, "num_keypoints": 17}
    sound = {
        "images": [{"id": 1, "height": 9, "width": 9}],
        "categories": [{"id": 1, "name": "cat"}],
        "annotations": [record],
        "detections": [record | {"segmentation": {"size": [9, 9], "counts": [10, 5, 66]}}],
    }
    first = sound[part][0]
    broken = [[first | {field: junk}] for field in first for junk in JUNK]
    broken += [[{name: value for name, value in first.items() if name != field}] for field in first]
    broken += [junk if part == "detections" else [junk] for junk in JUNK if not isinstance(junk, str | list)]
    broken += JUNK if part != "detections" else []
    for records in broken:
        data = sound | {part: records}
        gt, dt = {name: data[name] for name in ("images", "annotations", "categories")}, data["detections"]
        if as_text:
            gt, dt = json.dumps(gt).encode(), json.dumps(dt).encode()
        elif not isinstance(dt, list):
            continue
        try:
            result = evaluate_coco(gt, dt, COCOParameters(iou_type=iou_type))
        except CvzooError:
            continue
        assert np.isfinite(result.stats).all()


def test_a_results_file_is_named_in_its_errors(tmp_path):
    path = tmp_path / "found.json"
    path.write_text("{")
    with pytest.raises(FileFormatError) as not_json:
        read_coco_detections(path)
    assert str(not_json.value).startswith(f"{path}: detections is not JSON")
    path.write_text(json.dumps([{"image_id": 1, "category_id": 7, "bbox": [1, 2, 3], "score": 0.5}]))
    with pytest.raises(ValueRangeError) as short:
        read_coco_detections(path)
    assert str(short.value).startswith(f"{path}: detections[0].bbox")
