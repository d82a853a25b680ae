"""A corpus of planted faults: each is found, named, and found at its place; sound data has none."""

import hashlib
import json
import shutil

import numpy as np
import pytest
from PIL import Image

from cvzoo.datasets.doctor.examine_dataset import examine_dataset
from cvzoo.datasets.doctor.fault import Fault, Severity
from cvzoo.datasets.doctor.write_fixed_dataset import write_fixed_dataset
from cvzoo.datasets.layouts.data_spec import parse_data_spec
from cvzoo.errors.exceptions import DatasetError

BOX = ("cat", 11, 11, 40, 40)


def xml(folder, name):
    return folder.root / f"Annotations/{name}.xml"


def photo(folder, name):
    return folder.root / f"JPEGImages/{name}.jpg"


def edit(path, old, new):
    text = path.read_text()
    assert old in text
    path.write_text(text.replace(old, new, 1))


def recoded(path, target, **how):
    with Image.open(path) as pil:
        pil.load()
        pil.resize((pil.width // 2, pil.height // 2)).resize(pil.size).save(target, **how)


# VOC: kind of fault -> what plants it, and (image, object) where it is to be found
def missing_photo(v):
    v.add("x")
    photo(v, "x").unlink()
    return "x.jpg", None


def empty_photo(v):
    v.add("x")
    photo(v, "x").write_bytes(b"")
    return "x.jpg", None


def unreadable_photo(v):
    v.add("x")
    photo(v, "x").write_bytes(b"<html>not found</html>")
    return "x.jpg", None


def truncated_photo(v):
    v.add("x")
    photo(v, "x").write_bytes(photo(v, "x").read_bytes()[:-400])
    return "x.jpg", None


def wrong_ending(v):
    v.add("x")
    with Image.open(photo(v, "x")) as pil:
        pil.save(photo(v, "x"), format="PNG")
    return "x.jpg", None


def blank_photo(v):
    v.add("x")
    Image.new("RGB", (80, 60), (255, 255, 255)).save(photo(v, "x"))
    return "x.jpg", None


def wrong_size(v):
    v.add("x", stated=(600, 800))
    return "x.jpg", None


def swapped_size(v):
    v.add("x", stated=(80, 60))
    return "x.jpg", None


def missing_size(v):
    v.add("x")
    edit(xml(v, "x"), "<size><width>80</width><height>60</height><depth>3</depth></size>", "")
    return "x.jpg", None


def exif_rotation(v):
    v.add("x", [("cat", 40, 5, 80, 50)], exif=6)
    return "x.jpg", None


def exif_turned(v):
    v.add("x", [("cat", 5, 40, 50, 80)], exif=8, stated=(80, 60))
    return "x.jpg", None


def missing_annotation(v):
    v.add("x")
    xml(v, "x").unlink()
    return "x.jpg", None


def broken_xml(v):
    v.add("x")
    edit(xml(v, "x"), "</annotation>", "")
    return "x.jpg", None


def two_photos_of_one_stem(v):
    v.add("x")
    save = Image.fromarray(np.random.default_rng(3).integers(0, 256, (60, 80, 3), dtype=np.uint8)).save
    save(v.root / "JPEGImages/x.png")
    return "x.png", None


def listed_missing(v):
    v.list("sound_a", "train")
    v.list("ghost", "train")
    return "ghost", None


def listed_twice(v):
    v.list("sound_a", "train")
    v.list("sound_a", "train")
    return "sound_a.jpg", None


def not_listed(v):
    v.list("sound_a", "train")
    return "sound_b.jpg", None


def in_two_splits(v):
    v.add("x", split="train")
    v.list("x", "val")
    return "x.jpg", None


def name_case(v):
    v.add("x")
    v.add("X")
    return "x.jpg", None


def name_encoding(v):
    v.add("x")
    photo(v, "x").rename(photo(v, "cafe\u0301"))
    xml(v, "x").rename(xml(v, "cafe\u0301"))
    edit(xml(v, "cafe\u0301"), "x.jpg", "cafe\u0301.jpg")
    return "cafe\u0301.jpg", None


def text_encoding(v):
    v.add("x")
    xml(v, "x").write_bytes(xml(v, "x").read_bytes().replace(b"Left", b"\xe0 gauche"))
    return "x.jpg", None


def file_name_differs(v):
    v.add("x")
    edit(xml(v, "x"), "x.jpg", "IMG_0001.jpg")
    return "x.jpg", None


def unknown_class(v):
    v.add("x", [BOX, ("cow", 2, 2, 30, 30)])
    return "x.jpg", 1


def missing_class(v):
    v.add("x", [("", 2, 2, 30, 30)])
    return "x.jpg", 0


def classes_alike(v):
    (v.root / "classes.txt").unlink()
    v.add("x", [("Cat ", 2, 2, 30, 30), ("CAT", 22, 22, 33, 33)])
    return None, None


def class_twice(v):
    (v.root / "classes.txt").write_text("cat\ndog\ncat\n")
    return None, None


def class_unused(v):
    (v.root / "classes.txt").write_text("cat\ndog\nunicorn\n")
    return None, None


def malformed_number(v):
    v.add("x", [("cat", "1l", 2, 30, 30)])
    return "x.jpg", 0


def missing_box(v):
    v.add("x", [BOX, BOX])
    text = xml(v, "x").read_text()
    xml(v, "x").write_text(text[: text.index("<bndbox>")] + text[text.index("</bndbox>") + 9 :])
    return "x.jpg", 0


def not_finite(v):
    v.add("x", [BOX, ("cat", 2, "nan", 30, 30)])
    return "x.jpg", 1


def negative(v):
    v.add("x", [BOX, ("cat", 50, 10, 20, 30)])
    return "x.jpg", 1


def empty_box(v):
    v.add("x", [BOX, ("cat", 50, 10, 50, 30)])
    return "x.jpg", 1


def sliver(v):
    v.add("x", [BOX, ("cat", 50, 10, 50.4, 30)])
    return "x.jpg", 1


def outside(v):
    v.add("x", [BOX, ("cat", 50, 10, 83, 30)])
    return "x.jpg", 1


def beyond(v):
    v.add("x", [("cat", 90, 70, 120, 99), ("dog", 10, 50, 30, 59)])
    return "x.jpg", 0


def same_box(v):
    v.add("x", [BOX, ("dog", 1, 1, 9, 9), BOX])
    return "x.jpg", 2


def two_classes(v):
    v.add("x", [BOX, ("dog", *BOX[1:])])
    return "x.jpg", 1


def swapped_axes(v):
    v.add("x", [("cat", 5, 40, 50, 78), ("dog", 10, 30, 20, 70)])
    return "x.jpg", None


def swapped_axes_of_single_boxes(v):
    for i in range(3):
        v.add(f"x{i}", [("cat", 5 + i, 40, 50, 78)])
    return "x2.jpg", 0


def fractions(v):
    v.add("x", [("cat", 0.125, 0.25, 0.5, 0.75), ("dog", 0.5, 0.5, 0.75, 1)])
    return "x.jpg", None


def zero_based(v):
    edit(xml(v, "sound_a"), "<xmin>1<", "<xmin>0<")
    edit(xml(v, "sound_a"), "<ymin>1<", "<ymin>0<")
    return None, None


def no_objects(v):
    v.add("x", [])
    return "x.jpg", None


def same_photo(v):
    v.add("x")
    shutil.copy(photo(v, "sound_a"), photo(v, "x"))
    return "x.jpg", None


def same_photo_across(v):
    v.add("x", split="val")
    v.add("y", split="train")
    shutil.copy(photo(v, "x"), photo(v, "y"))
    return "y.jpg", None


def similar_photo(v):
    v.add("x")
    recoded(photo(v, "sound_a"), photo(v, "x"), quality=60)
    return "x.jpg", None


def similar_photo_across(v):
    v.add("x", split="val")
    v.add("y", split="train")
    recoded(photo(v, "x"), photo(v, "y"), quality=60)
    return "y.jpg", None


VOC = {
    Fault.PHOTO_MISSING: missing_photo,
    Fault.PHOTO_EMPTY: empty_photo,
    Fault.PHOTO_UNREADABLE: unreadable_photo,
    Fault.PHOTO_TRUNCATED: truncated_photo,
    Fault.PHOTO_WRONG_ENDING: wrong_ending,
    Fault.PHOTO_BLANK: blank_photo,
    Fault.SIZE_WRONG: wrong_size,
    Fault.SIZE_SWAPPED: swapped_size,
    Fault.SIZE_MISSING: missing_size,
    Fault.EXIF_ROTATION: exif_rotation,
    Fault.EXIF_TURNED: exif_turned,
    Fault.ANNOTATION_MISSING: missing_annotation,
    Fault.PHOTO_AMBIGUOUS: two_photos_of_one_stem,
    Fault.ANNOTATION_UNREADABLE: broken_xml,
    Fault.LISTED_MISSING: listed_missing,
    Fault.LISTED_TWICE: listed_twice,
    Fault.NOT_LISTED: not_listed,
    Fault.IN_TWO_SPLITS: in_two_splits,
    Fault.NAME_CASE: name_case,
    Fault.NAME_ENCODING: name_encoding,
    Fault.TEXT_ENCODING: text_encoding,
    Fault.FILE_NAME_DIFFERS: file_name_differs,
    Fault.CLASS_UNKNOWN: unknown_class,
    Fault.CLASS_MISSING: missing_class,
    Fault.CLASS_NAMES_ALIKE: classes_alike,
    Fault.CLASS_DUPLICATE: class_twice,
    Fault.CLASS_UNUSED: class_unused,
    Fault.FIELD_MALFORMED: malformed_number,
    Fault.BOX_MISSING: missing_box,
    Fault.BOX_NOT_FINITE: not_finite,
    Fault.BOX_NEGATIVE: negative,
    Fault.BOX_EMPTY: empty_box,
    Fault.BOX_SLIVER: sliver,
    Fault.BOX_OUTSIDE: outside,
    Fault.BOX_BEYOND: beyond,
    Fault.BOX_DUPLICATE: same_box,
    Fault.BOX_CONFLICT: two_classes,
    Fault.XY_SWAPPED: swapped_axes,
    Fault.NORMALIZED: fractions,
    Fault.ZERO_BASED: zero_based,
    Fault.NO_OBJECTS: no_objects,
    Fault.PHOTO_DUPLICATE: same_photo,
    Fault.PHOTO_DUPLICATE_SPLIT: same_photo_across,
    Fault.PHOTO_NEAR_DUPLICATE: similar_photo,
    Fault.PHOTO_NEAR_DUPLICATE_SPLIT: similar_photo_across,
}


# COCO
def coco_set(**values):
    def plant(c):
        each = c.add("x.jpg", (10, 10, 20, 20))
        each.update(values)
        return "x.jpg", c.file["annotations"].index(each)

    return plant


def image_id_twice(c):
    c.add("x.jpg", (10, 10, 20, 20))
    c.file["images"][-1]["id"] = 1
    c.file["annotations"].pop()
    return "x.jpg", None


def file_name_twice(c):
    c.file["images"].append({**c.file["images"][0], "id": 77})
    return "sound_a.jpg", None


def unknown_image(c):
    c.add("x.jpg", (10, 10, 20, 20))
    c.file["annotations"][-1]["image_id"] = 999
    return None, len(c.file["annotations"]) - 1


def no_file_name(c):
    c.file["images"].append({"id": 50})
    return None, None


def unsafe_name(c):
    c.add("x.jpg", (10, 10, 20, 20))
    c.file["images"][-1]["file_name"] = "../val2017/x.jpg"
    return "../val2017/x.jpg", None


def category_without_name(c):
    c.file["categories"].append({"id": 3})
    return None, None


def category_gap(c):
    c.file["categories"].append({"id": 7, "name": "cow"})
    return None, None


def category_twice(c):
    c.file["categories"].append({"id": 2, "name": "wolf"})
    return None, None


def one_based(c):
    c.file["annotations"] = []
    for name in ("x.jpg", "y.jpg"):
        c.add(name, (1, 1, 40, 40), (41, 21, 40, 40))
    return None, None


def corners(c):
    c.add("x.jpg", (30, 20, 70, 55), (50, 40, 78, 58))
    return "x.jpg", None


def malformed_rle(c):
    return coco_set(segmentation={"size": [60, 80], "counts": [1, 2, 3]})(c)


COCO = {
    Fault.CLASS_UNKNOWN: coco_set(category_id=55),
    Fault.CLASS_MISSING: coco_set(category_id=None),
    Fault.FIELD_MALFORMED: coco_set(bbox=[1, 2, "3", 4]),
    Fault.BOX_MISSING: coco_set(bbox=None),
    Fault.BOX_NEGATIVE: coco_set(bbox=[30, 30, -10, 5], area=50),
    Fault.BOX_NOT_FINITE: coco_set(bbox=[float("nan"), 1, 2, 3]),
    Fault.BOX_OUTSIDE: coco_set(bbox=[70, 10, 11, 20]),
    Fault.ANNOTATION_ID_DUPLICATE: coco_set(id=1),
    Fault.ANNOTATION_ID_ZERO: coco_set(id=0),
    Fault.MASK_MALFORMED: malformed_rle,
    Fault.MASK_OFF_BOX: coco_set(segmentation=[[40, 40, 70, 40, 70, 55]]),
    Fault.AREA_WRONG: coco_set(area=-4),
    Fault.CROWD_MALFORMED: coco_set(iscrowd=2),
    Fault.POINTS_MALFORMED: coco_set(keypoints=[1, 2]),
    Fault.POINT_OUTSIDE: coco_set(keypoints=[1, 2, 2, 300, 4, 1], num_keypoints=2),
    Fault.IMAGE_ID_DUPLICATE: image_id_twice,
    Fault.IMAGE_ID_UNKNOWN: unknown_image,
    Fault.FILE_NAME_DUPLICATE: file_name_twice,
    Fault.FIELD_MISSING: no_file_name,
    Fault.NAME_UNSAFE: unsafe_name,
    Fault.CLASS_NAME_MISSING: category_without_name,
    Fault.CLASS_GAP: category_gap,
    Fault.CLASS_DUPLICATE: category_twice,
    Fault.ONE_BASED: one_based,
    Fault.CORNERS_FOR_SIZES: corners,
}


# YOLO
def label(text):
    def plant(y):
        y.add("x", text)
        return "x.jpg", 0

    return plant


def in_pixels(y):
    y.add("x", "0 40 30 20 20\n1 20 20 10 10\n")
    return "x.jpg", None


def unnamed(y):
    (y.root / "classes.txt").unlink()
    return None, None


def gap(y):
    (y.root / "classes.txt").unlink()
    y.add("x", "5 0.5 0.5 0.2 0.2\n")
    return None, None


def orphan(y):
    y.add("x")
    (y.root / "labels/x.txt").unlink()
    return "x.jpg", None


def binary_label(y):
    y.add("x")
    (y.root / "labels/x.txt").write_bytes(b"\0\1\2")
    return "x.jpg", None


YOLO = {
    Fault.CLASS_UNKNOWN: label("2 0.5 0.5 0.2 0.2\n"),
    Fault.FIELD_MALFORMED: label("0 0.5 0.5 0.2\n"),
    Fault.BOX_NOT_FINITE: label("0 nan 0.5 0.2 0.2\n"),
    Fault.BOX_NEGATIVE: label("0 0.5 0.5 -0.2 0.2\n"),
    Fault.BOX_OUTSIDE: label("0 0.95 0.5 0.2 0.2\n"),
    Fault.BOX_EMPTY: label("0 0.5 0.5 0 0.2\n"),
    Fault.NOT_NORMALIZED: in_pixels,
    Fault.CLASS_NAME_MISSING: unnamed,
    Fault.CLASS_GAP: gap,
    Fault.ANNOTATION_MISSING: orphan,
    Fault.ANNOTATION_UNREADABLE: binary_label,
}

# SROIE: the lines of a second receipt's file
SROIE = {
    Fault.TEXT_EMPTY: "5,5,60,5,60,15,5,15,\n",
    Fault.TEXT_UPRIGHT: "5,5,9,5,9,60,5,60,CASHIER\n",
    Fault.BOX_SLIVER: "5,5,5.5,5,5.5,10,5,10,A\n",
    Fault.QUAD_CROSSED: "5,5,5,15,60,15,60,5,TOTAL\n",
    Fault.BOX_OUTSIDE: "5,5,90,5,90,15,5,15,TOTAL\n",
    Fault.FIELD_MALFORMED: "5,5,60,5,60,TOTAL\n",
    Fault.XY_SWAPPED: "100,5,100,60,110,60,110,5,TOTAL\n20,5,20,70,110,70,110,5,SUM\n",
}


def found_at(checkup, kind):
    return [(each.image, each.annotation) for each in checkup.findings if each.kind is kind]


@pytest.mark.parametrize("kind", VOC, ids=lambda kind: kind.slug)
def test_a_fault_planted_into_a_voc_folder_is_named_at_its_place(voc, kind):
    where = VOC[kind](voc)
    checkup = examine_dataset(parse_data_spec(f"voc:{voc.root}"))
    assert where in found_at(checkup, kind), checkup.findings
    assert {each.kind for each in checkup.findings if each.severity is Severity.ERROR} <= {kind}


@pytest.mark.parametrize("kind", COCO, ids=lambda kind: kind.slug)
def test_a_fault_planted_into_a_coco_file_is_named_at_its_place(coco, kind):
    where = COCO[kind](coco)
    checkup = examine_dataset(parse_data_spec(f"coco:{coco.save()}"))
    assert where in found_at(checkup, kind), checkup.findings
    assert {each.kind for each in checkup.findings if each.severity is Severity.ERROR} <= {kind}


@pytest.mark.parametrize("kind", YOLO, ids=lambda kind: kind.slug)
def test_a_fault_planted_into_yolos_labels_is_named_at_its_place(yolo, kind):
    where = YOLO[kind](yolo)
    checkup = examine_dataset(parse_data_spec(f"yolo:{yolo.root}"))
    assert where in found_at(checkup, kind), checkup.findings
    assert {each.kind for each in checkup.findings if each.severity is Severity.ERROR} <= {kind}


@pytest.mark.parametrize("kind", SROIE, ids=lambda kind: kind.slug)
def test_a_fault_planted_into_receipts_is_named(sroie, kind):
    (sroie / "box/001.csv").write_text(SROIE[kind])
    checkup = examine_dataset(parse_data_spec(f"sroie:{sroie}"))
    assert "001.jpg" in [name for name, _ in found_at(checkup, kind)], checkup.findings


def tree(root):
    return {
        path.relative_to(root).as_posix(): hashlib.sha256(path.read_bytes()).hexdigest()
        for path in sorted(root.rglob("*"))
        if path.is_file()
    }


def mend(spec, root, out):
    """The kinds of faults in the corrected copy, and the slugs in its log."""
    before = tree(root)
    first = examine_dataset(parse_data_spec(spec))
    write_fixed_dataset(first, out)
    assert tree(root) == before, "the original was touched"
    log = json.loads((out / "fix-log.json").read_text())["changes"]
    text = (out / "fix-log.txt").read_text()
    assert all(f"{each['kind']}: " in text for each in log)
    again = examine_dataset(parse_data_spec(f"{spec.partition(':')[0]}:{out}"))
    new = {each.kind for each in again.findings} - {each.kind for each in first.findings}
    # what left the set may leave a class or an image with nothing, or a number that nobody uses
    assert new <= {Fault.NO_OBJECTS, Fault.CLASS_UNUSED, Fault.PHOTO_DUPLICATE}, new
    return {each.kind for each in again.findings}, {each["kind"] for each in log}


@pytest.mark.parametrize("kind", VOC, ids=lambda kind: kind.slug)
def test_the_corrected_copy_of_a_voc_folder_lacks_the_fault(voc, tmp_path, kind):
    VOC[kind](voc)
    left, logged = mend(f"voc:{voc.root}", voc.root, tmp_path / "out")
    if kind.fix is not None:
        assert kind not in left
        assert kind.slug in logged
    assert not {each for each in left if each.severity is Severity.ERROR}


@pytest.mark.parametrize("kind", COCO, ids=lambda kind: kind.slug)
def test_the_corrected_copy_of_a_coco_file_lacks_the_fault(coco, tmp_path, kind):
    COCO[kind](coco)
    left, logged = mend(f"coco:{coco.save()}", coco.root, tmp_path / "out")
    if kind.fix is not None:
        assert kind not in left
        assert kind.slug in logged
    assert not {each for each in left if each.severity is Severity.ERROR}


@pytest.mark.parametrize("kind", YOLO, ids=lambda kind: kind.slug)
def test_the_corrected_copy_of_yolos_labels_lacks_the_fault(yolo, tmp_path, kind):
    YOLO[kind](yolo)
    left, logged = mend(f"yolo:{yolo.root}", yolo.root, tmp_path / "out")
    if kind.fix is not None and kind is not Fault.ANNOTATION_MISSING:
        assert kind not in left
        assert kind.slug in logged
    assert not {each for each in left if each.severity is Severity.ERROR}


@pytest.mark.parametrize("kind", SROIE, ids=lambda kind: kind.slug)
def test_the_corrected_copy_of_receipts_lacks_the_fault(sroie, tmp_path, kind):
    (sroie / "box/001.csv").write_text(SROIE[kind])
    left, logged = mend(f"sroie:{sroie}", sroie, tmp_path / "out")
    if kind.fix is not None:
        assert kind not in left
        assert kind.slug in logged


def test_single_boxes_with_swapped_axes_are_a_habit_if_there_are_several(voc):
    assert swapped_axes_of_single_boxes(voc) in found_at(
        examine_dataset(parse_data_spec(f"voc:{voc.root}")), Fault.XY_SWAPPED
    )


def test_a_single_box_that_sticks_out_is_not_called_swapped(voc):
    voc.add("x", [("cat", 5, 40, 50, 78)])
    kinds = {each.kind for each in examine_dataset(parse_data_spec(f"voc:{voc.root}")).findings}
    assert kinds == {Fault.BOX_OUTSIDE}


def test_every_kind_of_fault_is_planted_somewhere():
    planted = {*VOC, *COCO, *YOLO, *SROIE}
    assert set(Fault) - planted == {Fault.NO_PHOTOS}
    assert len(planted) >= 25


def test_sound_data_has_no_findings(voc, coco, yolo, sroie):
    for spec in (f"voc:{voc.root}", f"coco:{coco.save()}", f"yolo:{yolo.root}", f"sroie:{sroie}"):
        checkup = examine_dataset(parse_data_spec(spec))
        assert checkup.findings == (), spec
        assert checkup.is_clean


def test_an_empty_folder_has_no_photos(tmp_path):
    for name in ("JPEGImages", "Annotations"):
        (tmp_path / name).mkdir()
    assert [each.kind for each in examine_dataset(parse_data_spec(f"voc:{tmp_path}")).findings] == [Fault.NO_PHOTOS]


@pytest.mark.parametrize(
    "text", ["", "[]", "{}", '{"images": 3}', "{'images': []}", '{"images": [', "\0\0", "[" * 100_000]
)
def test_what_is_no_coco_file_is_refused_in_words(tmp_path, text):
    path = tmp_path / "instances_x.json"
    path.write_text(text)
    with pytest.raises(DatasetError, match="instances_x"):
        examine_dataset(parse_data_spec(f"coco:{path}"))


JUNK = [
    None,
    True,
    -1,
    0,
    2**70,
    1e400,
    "",
    "x",
    [],
    [[]],
    [None],
    {},
    {"counts": 1},
    [[1, 2]],
    "\ud800",
    [1, 2, 3, 4, 5, 6],
]


@pytest.mark.parametrize(
    "field", ["id", "image_id", "category_id", "bbox", "area", "iscrowd", "segmentation", "keypoints"]
)
def test_no_junk_in_an_annotation_stops_the_doctor(coco, tmp_path, field):
    for junk in JUNK:
        coco.add(f"x{len(coco.file['images'])}.jpg", (10, 10, 20, 20))[field] = junk
    checkup = examine_dataset(parse_data_spec(f"coco:{coco.save()}"))
    assert len(checkup.annotated.images) == len(coco.file["images"])
    write_fixed_dataset(checkup, tmp_path / f"fixed_{field}")


@pytest.mark.parametrize("field", ["id", "file_name", "height", "width"])
def test_no_junk_in_an_image_record_stops_the_doctor(coco, tmp_path, field):
    for junk in JUNK:
        coco.add(f"x{len(coco.file['images'])}.jpg", (10, 10, 20, 20))
        coco.file["images"][-1][field] = junk
    write_fixed_dataset(examine_dataset(parse_data_spec(f"coco:{coco.save()}")), tmp_path / "fixed")


@pytest.mark.parametrize("junk", [None, 3, "x", [], {}, {"id": "a", "name": "b"}, {"id": 1}, {"id": 9, "name": 7}])
def test_no_junk_among_records_stops_the_doctor(coco, junk):
    for key in ("images", "annotations", "categories"):
        coco.file[key].append(junk)
    assert not examine_dataset(parse_data_spec(f"coco:{coco.save()}")).is_clean


@pytest.mark.parametrize("seed", range(20))
def test_no_damage_of_bytes_stops_the_doctor(voc, yolo, seed):
    rng = np.random.default_rng(seed)
    for root in (voc.root, yolo.root):
        for path in sorted(root.rglob("*")):
            if path.is_file() and path.stat().st_size:
                data = bytearray(path.read_bytes())
                for at in rng.integers(0, len(data), 3):
                    data[at] = rng.integers(0, 256)
                path.write_bytes(data[: rng.integers(1, len(data) + 1)] if rng.random() < 0.3 else data)
    for spec in (f"voc:{voc.root}", f"yolo:{yolo.root}"):
        json.dumps(examine_dataset(parse_data_spec(spec)).to_record())


@pytest.mark.slow
def test_the_two_boxes_without_area_of_bccd_are_found(shared):
    checkup = examine_dataset(parse_data_spec(f"voc:{shared / 'data/bccd/BCCD'}"))
    assert found_at(checkup, Fault.BOX_EMPTY) == [("BloodImage_00338.jpg", 12), ("BloodImage_00343.jpg", 3)]
    assert len(checkup.findings) == 2
    # 4,886 sound boxes are no reason to refuse training
    assert not any(each.severity is Severity.ERROR for each in checkup.findings)


@pytest.mark.slow
def test_the_odd_region_of_sroie_is_found(shared):
    checkup = examine_dataset(parse_data_spec(f"sroie:{shared / 'data/sroie'}"))
    assert found_at(checkup, Fault.BOX_SLIVER) == found_at(checkup, Fault.TEXT_UPRIGHT) == [("178.jpg", 18)]
    assert len(checkup.findings) == 2


def test_tiny_coco_has_notes_only(shared):
    checkup = examine_dataset(parse_data_spec(f"coco:{shared / 'data/tiny_coco/annotations/instances_train2017.json'}"))
    assert checkup.is_clean
    assert {each.kind for each in checkup.findings} == {Fault.CLASS_UNUSED, Fault.NO_OBJECTS}


def test_a_text_without_corners_is_no_crossed_quadrilateral(coco):
    for each in coco.file["annotations"]:
        each.pop("segmentation", None)
        each["text"] = "TOTAL"
    checkup = examine_dataset(parse_data_spec(f"coco:{coco.save()}"))
    assert Fault.QUAD_CROSSED not in checkup.counts()
