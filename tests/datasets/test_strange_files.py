"""Data sets with FIFOs, devices, odd encodings, and names and links that lead elsewhere."""

import json
import os
import pathlib

import pytest
from PIL import Image

from cvzoo.cli.main import main
from cvzoo.datasets.bbox_splits import bbox_splits
from cvzoo.datasets.coco.json_columns import read_columns
from cvzoo.datasets.coco.json_datasets import COCOJSONBboxDataset
from cvzoo.datasets.convert.convert_dataset import convert_dataset
from cvzoo.datasets.doctor.examine_dataset import examine_dataset
from cvzoo.datasets.doctor.fault import Fault
from cvzoo.datasets.doctor.write_fixed_dataset import write_fixed_dataset
from cvzoo.datasets.layouts.data_spec import parse_data_spec
from cvzoo.datasets.mat_file import read_mat
from cvzoo.datasets.text_files import read_lines
from cvzoo.datasets.voc.annotation import read_voc_objects
from cvzoo.datasets.yolo_bbox_dataset import YOLOBboxDataset
from cvzoo.errors.exceptions import CvzooError, DatasetError, FileError, ImageError
from cvzoo.images.read_image import read_image
from cvzoo.images.read_image_size import read_image_size
from cvzoo.images.read_label import read_label

BOX = "<object><name>cat</name><bndbox><xmin>2</xmin><ymin>2</ymin><xmax>9</xmax><ymax>9</ymax></bndbox></object>"


def save(path, color=(9, 8, 7)):
    path.parent.mkdir(parents=True, exist_ok=True)
    Image.new("RGB", (16, 12), color).save(path)
    return path


def write(path, text=""):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    return path


@pytest.fixture
def voc(tmp_path):
    root = tmp_path / "voc"
    save(root / "JPEGImages/a.png")
    write(root / "Annotations/a.xml", f"<annotation>{BOX}</annotation>")
    for split in ("train", "val"):
        write(root / f"ImageSets/Main/{split}.txt", "a\n")
    return root


@pytest.fixture
def yolo(tmp_path):
    root = tmp_path / "yolo"
    save(root / "images/a.png")
    write(root / "labels/a.txt", "0 0.5 0.5 0.5 0.5\n")
    write(root / "classes.txt", "cat\n")
    return root


@pytest.fixture
def coco(tmp_path):
    """A function that writes a COCO file of one image of this name, and a private image outside of the data set."""
    root = tmp_path / "coco"
    save(tmp_path / "elsewhere/private.png", (200, 0, 0))
    (root / "images").mkdir(parents=True)

    def coco(file_name):
        if file_name == "a.png":
            save(root / "images/a.png")
        box = {"id": 1, "image_id": 1, "category_id": 1, "bbox": [1, 1, 7, 7], "area": 49, "iscrowd": 0}
        file = {
            "images": [{"id": 1, "file_name": file_name, "height": 12, "width": 16}],
            "annotations": [box],
            "categories": [{"id": 1, "name": "cat"}],
        }
        return write(root / "annotations/instances_all.json", json.dumps(file))

    return coco


def findings(spec, kind):
    return [each for each in examine_dataset(parse_data_spec(spec)).findings if each.kind is kind]


def replace(path, *, by):
    path.unlink(missing_ok=True)
    if by == "fifo":
        os.mkfifo(path)
    else:
        path.symlink_to("/dev/zero")


@pytest.mark.parametrize("by", ["fifo", "device"])
def test_no_fifo_and_no_device_stops_the_doctor(voc, yolo, by):
    replace(voc / "Annotations/a.xml", by=by)
    replace(voc / "ImageSets/Main/extra.txt", by=by)
    replace(yolo / "labels/a.txt", by=by)
    replace(yolo / "more.txt", by=by)
    replace(yolo / "train.names", by=by)
    for spec in (f"voc:{voc}", f"yolo:{yolo}"):
        assert any("a device, not a file" in each.message for each in findings(spec, Fault.ANNOTATION_UNREADABLE))


def test_a_fifo_is_refused_by_every_reader_of_a_data_sets_files(voc, yolo, tmp_path):
    for path in (tmp_path / "f.json", voc / "Annotations/a.xml", yolo / "labels/a.txt"):
        replace(path, by="fifo")
    for read in (
        lambda: examine_dataset(parse_data_spec(f"coco:{tmp_path}/f.json")),
        lambda: read_columns(tmp_path / "f.json"),
        lambda: read_voc_objects(voc / "Annotations/a.xml", one_based=True),
        lambda: YOLOBboxDataset(yolo / "images", ["cat"])[0],
        lambda: read_lines(tmp_path / "f.json"),
        lambda: read_mat(tmp_path / "f.json"),
    ):
        with pytest.raises(CvzooError, match="a device, not a file"):
            read()


def test_a_fifo_where_a_photo_should_be_is_refused(coco):
    path = coco("pipe.png")
    os.mkfifo(path.parents[1] / "images/pipe.png")
    with pytest.raises(DatasetError, match="not an image"):
        COCOJSONBboxDataset(path, path.parents[1] / "images")[0]


@pytest.mark.parametrize("encoding", ["nope", "utf-7", "shift_jis", "idna"])
def test_xml_of_an_odd_encoding_is_a_data_set_error(tmp_path, encoding):
    path = write(tmp_path / "a.xml", f'<?xml version="1.0" encoding="{encoding}"?><annotation>{BOX}</annotation>')
    with pytest.raises(DatasetError, match="not well-formed"):
        read_voc_objects(path, one_based=True)


def test_a_zero_byte_in_a_photos_name_is_named(coco, tmp_path):
    path = coco("a\0.png")
    with pytest.raises(DatasetError, match="null byte"):
        COCOJSONBboxDataset(path, tmp_path / "coco/images")
    for read in (read_image, read_image_size, read_label):
        with pytest.raises(ImageError, match="name"):
            read("a\0.png")


def test_a_class_name_of_half_letters_is_told_and_mended(coco, tmp_path):
    path = coco("a.png")
    path.write_text(path.read_text().replace('"cat"', '"\\udce9"'))
    assert len(findings(f"coco:{path}", Fault.TEXT_ENCODING)) == 1
    convert_dataset(parse_data_spec(f"coco:{path}"), tmp_path / "out", kind="yolo")
    assert (tmp_path / "out/classes.txt").read_text() == "?\n"


@pytest.fixture(params=["climbing", "absolute", "link", "linked folder"])
def stray(request, coco, tmp_path):
    """A COCO file whose image is the private one."""
    images, private = tmp_path / "coco/images", tmp_path / "elsewhere/private.png"
    if request.param == "climbing":
        return coco("../../elsewhere/private.png")
    if request.param == "absolute":
        return coco(str(private))
    if request.param == "link":
        (images / "b.png").symlink_to(private)
        return coco("b.png")
    images.rmdir()
    images.symlink_to(private.parent, target_is_directory=True)
    return coco("private.png")


def pixels(folder):
    return [read_image(path)[:, 0, 0].tolist() for path in sorted(pathlib.Path(folder).rglob("*.png"))]


def test_photos_outside_of_the_data_set_are_left_out(stray, tmp_path):
    (found,) = findings(f"coco:{stray}", Fault.NAME_UNSAFE)
    assert found.image.endswith("private.png") or "private.png" in found.message
    assert findings(f"coco:{stray}", Fault.PHOTO_MISSING) == []
    done = convert_dataset(parse_data_spec(f"coco:{stray}"), tmp_path / "out", kind="yolo")
    assert done.n_image == 0
    assert [each.kind for each in done.findings] == [Fault.NAME_UNSAFE]
    for ignore in ((), (Fault.NAME_UNSAFE,)):
        checkup = examine_dataset(parse_data_spec(f"coco:{stray}"), ignore=ignore)
        write_fixed_dataset(checkup, tmp_path / f"fixed{len(ignore)}")
    assert pixels(tmp_path / "out") == pixels(tmp_path / "fixed0") == pixels(tmp_path / "fixed1") == []
    with pytest.raises(DatasetError, match=r"outside|leads out"):
        COCOJSONBboxDataset(stray)[0]


def test_photos_outside_of_the_data_set_are_taken_when_asked_for(stray, tmp_path, capsys):
    assert COCOJSONBboxDataset(stray, allow_outside=True)[0][0][:, 0, 0].tolist() == [200, 0, 0]
    convert_dataset(parse_data_spec(f"coco:{stray},outside=1"), tmp_path / "by_word", kind="yolo")
    assert main(["data", "convert", f"coco:{stray}", f"{tmp_path}/by_flag", "--to", "yolo", "--allow-outside"]) == 0
    assert main(["data", "check", f"coco:{stray}", "--allow-outside", "--quiet", "--ignore", "photo-blank"]) == 0
    assert pixels(tmp_path / "by_word") == pixels(tmp_path / "by_flag") == [[200, 0, 0]]
    capsys.readouterr()


def test_a_report_of_scores_shows_no_photo_from_outside(stray, tmp_path, capsys):
    results = [{"image_id": 1, "category_id": 1, "bbox": [1, 1, 7, 7], "score": 0.5}]
    words = ["evaluate", "--data", f"coco:{stray}", "--results", str(write(tmp_path / "r.json", json.dumps(results)))]
    assert main(words) == 2
    assert "outside" in capsys.readouterr().err
    assert main([*words, "--allow-outside", "--quiet"]) == 0


def test_links_in_folders_and_lists_of_the_other_layouts_are_refused_too(voc, yolo, tmp_path):
    private = save(tmp_path / "private.png", (200, 0, 0))
    for path in (voc / "JPEGImages/a.png", yolo / "images/a.png"):
        path.unlink()
        path.symlink_to(private)
    for spec in (f"voc:{voc}", f"yolo:{yolo}"):
        assert [each.image for each in findings(spec, Fault.NAME_UNSAFE)] == ["a.png"]
    with pytest.raises(DatasetError, match="outside"):
        bbox_splits(f"voc:{voc}").train[0]
    assert bbox_splits(f"voc:{voc},outside=1").train[0][0][0, 0, 0] == 200
    listed = write(yolo / "train.txt", f"{private}\n")
    with pytest.raises(DatasetError, match="outside"):
        YOLOBboxDataset(listed, ["cat"])[0]
    assert YOLOBboxDataset(listed, ["cat"], allow_outside=True)[0][0][0, 0, 0] == 200


def test_links_within_the_data_set_and_to_it_are_fine(voc, tmp_path):
    (voc / "JPEGImages/a.png").rename(voc / "kept.png")
    (voc / "JPEGImages/a.png").symlink_to(voc / "kept.png")
    (tmp_path / "link").symlink_to(voc)
    assert findings(f"voc:{tmp_path}/link", Fault.NAME_UNSAFE) == []
    assert len(bbox_splits(f"voc:{tmp_path}/link").train[0]) == 4


def test_a_results_file_with_half_letters_is_refused_in_words(coco, tmp_path, capsys):
    results = write(
        tmp_path / "r.json", '[{"image_id": 1, "category_id": "\\udce9", "bbox": [1, 1, 7, 7], "score": 1}]'
    )
    assert main(["evaluate", "--gt", str(coco("a.png")), "--results", str(results)]) == 2
    assert "detections[0]" in capsys.readouterr().err


def test_a_missing_file_keeps_its_error(tmp_path):
    with pytest.raises(DatasetError, match="no such file"):
        read_lines(tmp_path / "nowhere.txt")
    with pytest.raises(FileError, match="no such file"):
        read_mat(tmp_path / "nowhere.mat")
