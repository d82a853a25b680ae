"""What the corrected boxes are."""

import json

import pytest
from PIL import Image

from cvzoo.datasets.doctor.examine_dataset import examine_dataset
from cvzoo.datasets.doctor.fix import fix
from cvzoo.datasets.doctor.write_fixed_dataset import write_fixed_dataset
from cvzoo.datasets.layouts.data_spec import parse_data_spec
from cvzoo.datasets.layouts.read import read_annotated_set
from cvzoo.datasets.voc.bbox_dataset import VOCFolderBboxDataset
from cvzoo.errors.exceptions import ConfigError


def boxes(annotated, name):
    return [each.bbox for photo in annotated.images if photo.name == name for each in photo.objects]


@pytest.mark.parametrize(
    ("objects", "expected"),
    [
        ([(5, 40, 50, 78), (10, 30, 20, 70)], [(4, 39, 49, 77), (9, 29, 19, 69)]),  # x and y swapped
        ([(0.125, 0.25, 0.5, 0.75)], [(15, 10, 45, 40)]),  # fractions of 60 x 80
        ([(50, 10, 20, 30)], [(9, 19, 29, 49)]),  # upside down
        ([(50, 10, 83, 30)], [(9, 49, 29, 79)]),  # cut at the edge: the last pixel is number 80
        ([(-5, 10, 20, 30)], [(9, 0, 29, 19)]),
        ([(90, 70, 120, 99), (11, 11, 40, 40)], [(10, 10, 39, 39)]),  # outside altogether
    ],
)
def test_boxes_of_a_voc_folder_are_corrected(voc, objects, expected):
    voc.add("x", [("cat", *each) for each in objects])
    assert boxes(fix(examine_dataset(parse_data_spec(f"voc:{voc.root}"))).annotated, "x.jpg") == expected


@pytest.mark.parametrize(
    ("bboxes", "expected"),
    [
        ([(30, 20, 70, 55), (50, 40, 78, 58)], [(20, 30, 55, 70), (40, 50, 58, 78)]),  # corners for sizes
        ([(0.25, 0.5, 0.5, 0.25)], [(30, 20, 45, 60)]),  # fractions
        ([(70, 10, 30, 20)], [(10, 70, 30, 80)]),
    ],
)
def test_boxes_of_a_coco_file_are_corrected(coco, bboxes, expected):
    coco.add("x.jpg", *bboxes)
    assert boxes(fix(examine_dataset(parse_data_spec(f"coco:{coco.save()}"))).annotated, "x.jpg") == expected


def test_a_box_with_a_text_and_no_corners_is_cut_at_the_edge(coco):
    coco.add("x.jpg", (70, 10, 30, 20))
    path = coco.save()
    tree = json.loads(path.read_text())
    tree["annotations"][0]["text"] = "TOTAL"
    path.write_text(json.dumps(tree))
    assert boxes(fix(examine_dataset(parse_data_spec(f"coco:{path}"))).annotated, "x.jpg") == [(10, 70, 30, 80)]


def test_pixels_in_yolos_labels_are_corrected(yolo):
    yolo.add("x", "0 40 30 20 10\n")
    assert boxes(fix(examine_dataset(parse_data_spec(f"yolo:{yolo.root}"))).annotated, "x.jpg") == [(25, 30, 35, 50)]


def test_boxes_that_count_from_0_are_read_so(voc):
    (voc.root / "Annotations/sound_b.xml").unlink()
    (voc.root / "JPEGImages/sound_b.jpg").unlink()
    path = voc.root / "Annotations/sound_a.xml"
    path.write_text(path.read_text().replace("min>1<", "min>0<"))
    assert boxes(fix(examine_dataset(parse_data_spec(f"voc:{voc.root}"))).annotated, "sound_a.jpg")[0][:2] == (0, 0)


def test_the_copy_of_a_turned_photo_is_upright_and_its_pixels_are_the_same(voc, tmp_path):
    voc.add("x", [("cat", 40, 5, 80, 50)], exif=6)
    write_fixed_dataset(examine_dataset(parse_data_spec(f"voc:{voc.root}")), tmp_path / "out")
    with Image.open(voc.root / "JPEGImages/x.jpg") as old, Image.open(tmp_path / "out/JPEGImages/x.jpg") as new:
        assert new.getexif().get(0x0112) == 1
        assert old.tobytes() == new.tobytes()
    img, bbox, _ = VOCFolderBboxDataset(tmp_path / "out", label_names=("cat", "dog"))[2]
    assert img.shape == (3, 60, 80)
    assert bbox.tolist() == [[4, 39, 49, 79]]


def test_what_is_sound_is_copied_as_it_is(voc, coco, yolo, sroie, tmp_path):
    for kind, place in (("voc", voc.root), ("coco", coco.save()), ("yolo", yolo.root), ("sroie", sroie)):
        fixed = write_fixed_dataset(examine_dataset(parse_data_spec(f"{kind}:{place}")), tmp_path / f"out_{kind}")
        assert fixed.changes == ()
        before, after = (
            read_annotated_set(parse_data_spec(f"{kind}:{each}")) for each in (place, tmp_path / f"out_{kind}")
        )
        assert [(each.name, each.size, each.objects) for each in before.images] == [
            (each.name, each.size, each.objects) for each in after.images
        ]
        assert before.names == after.names


def test_the_copy_may_not_lie_in_the_original_nor_replace_anything(voc, tmp_path):
    checkup = examine_dataset(parse_data_spec(f"voc:{voc.root}"))
    (tmp_path / "full").mkdir()
    (tmp_path / "full/mine.txt").write_text("mine")
    for out in (voc.root, voc.root / "fixed", tmp_path / "full", voc.root / "JPEGImages"):
        with pytest.raises(ConfigError):
            write_fixed_dataset(checkup, out)
    assert (tmp_path / "full/mine.txt").read_text() == "mine"


def test_nothing_is_left_after_an_interruption(voc, tmp_path):
    checkup = examine_dataset(parse_data_spec(f"voc:{voc.root}"))

    def interrupt():
        raise KeyboardInterrupt

    (tmp_path / "place").mkdir()
    with pytest.raises(KeyboardInterrupt):
        write_fixed_dataset(checkup, tmp_path / "place/out", step=interrupt)
    assert list((tmp_path / "place").iterdir()) == []
