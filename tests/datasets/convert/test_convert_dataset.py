"""From layout to layout and back: what both can hold comes back as it was, the rest is listed."""

import json
import pathlib
import re

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from PIL import Image

from cvzoo.datasets.coco.json_datasets import COCOJSONBboxDataset, COCOJSONInstanceSegmentationDataset
from cvzoo.datasets.convert.convert_dataset import convert_dataset
from cvzoo.datasets.layouts.data_spec import DataSpec, parse_data_spec
from cvzoo.datasets.layouts.read import read_annotated_set
from cvzoo.datasets.layouts.write_voc import box_in_voc
from cvzoo.datasets.voc.bbox_dataset import VOCFolderBboxDataset
from cvzoo.datasets.voc.segmentation_datasets import VOCInstanceSegmentationDataset
from cvzoo.datasets.yolo_bbox_dataset import YOLOBboxDataset
from cvzoo.errors.exceptions import ConfigError
from cvzoo.geometry.rle import RLEs

KINDS = ("voc", "coco", "yolo", "labelme")


def content(found):
    """All that the three layouts can carry."""
    photos = {
        photo.name: (photo.size, sorted(photo.splits), [(each.name, each.bbox) for each in photo.objects])
        for photo in found.images
    }
    return photos, sorted(found.splits), found.used_names()


def in_voc(found):
    """The content without what VOC's files cannot hold: the last pixel of boxes that end with their image."""
    photos, splits, names = found
    held = {
        name: (
            size,
            lists,
            [(each, box) for each, box in ((each, box_in_voc(box, size)) for each, box in boxes) if box],
        )
        for name, (size, lists, boxes) in photos.items()
    }
    return held, splits, names


def read(kind, path):
    return read_annotated_set(DataSpec(kind, pathlib.Path(path)))


@pytest.fixture
def coco(tmp_path):
    """Two images in train, one of them in val as well; boxes with decimals, a mask, a crowd, class ids with a hole."""
    root = tmp_path / "coco"
    (root / "images").mkdir(parents=True)
    (root / "annotations").mkdir()
    images = []
    for i, size in enumerate([(60, 81), (47, 33), (100, 70)]):
        pixels = np.random.default_rng(i).integers(0, 256, (*size, 3), dtype=np.uint8)
        Image.fromarray(pixels).save(root / f"images/{i}.png")
        images.append({"id": 10 + i, "file_name": f"{i}.png", "height": size[0], "width": size[1], "license": 2})
    boxes = [(10, [1.25, 2.5, 30.13, 40.07], 7), (10, [0, 0, 81, 60], 3), (11, [3.1, 4.2, 5.3, 6.4], 3)]
    annotations = [
        {"id": 5 + i, "image_id": image, "category_id": label, "bbox": box, "area": box[2] * box[3], "iscrowd": 0}
        for i, (image, box, label) in enumerate(boxes)
    ]
    annotations[0] |= {"segmentation": [[1.25, 2.5, 31.38, 2.5, 31.38, 42.57]], "area": 600.5}
    annotations[1] |= {"segmentation": {"size": [60, 81], "counts": [0, 60 * 81]}, "iscrowd": 1}
    categories = [{"id": 7, "name": "zebra"}, {"id": 3, "name": "ant", "supercategory": "insect"}]
    for split, chosen in (("train", (10, 11)), ("val", (11, 12))):
        file = {
            "images": [each for each in images if each["id"] in chosen],
            "annotations": [each for each in annotations if each["image_id"] in chosen],
            "categories": categories,
            "licenses": [{"id": 2}],
        }
        (root / f"annotations/instances_{split}.json").write_text(json.dumps(file))
    return root


def convert(kind, path, out, to, **settings):
    return convert_dataset(parse_data_spec(f"{kind}:{path}"), out, kind=to, **settings)


@pytest.mark.parametrize("first", KINDS)
@pytest.mark.parametrize("second", KINDS)
def test_every_way_there_and_back_changes_nothing_that_both_can_hold(coco, tmp_path, first, second):
    before = content(read("coco", coco))
    convert("coco", coco, tmp_path / "1", first, keep_crowds=True)
    convert(first, tmp_path / "1", tmp_path / "2", second, keep_crowds=True)
    convert(second, tmp_path / "2", tmp_path / "3", "coco")
    for kind, place in ((first, "1"), (second, "2"), ("coco", "3")):
        before = in_voc(before) if kind == "voc" else before
        assert content(read(kind, tmp_path / place)) == before, (kind, place)
    assert before[0]["1.png"][1] == ["train", "val"]


def test_the_photos_are_copied_bit_for_bit(coco, tmp_path):
    convert("coco", coco, tmp_path / "out", "voc")
    for path in (coco / "images").iterdir():
        assert (tmp_path / "out/JPEGImages" / path.name).read_bytes() == path.read_bytes()


def test_coco_to_coco_keeps_every_record(coco, tmp_path):
    assert convert("coco", coco, tmp_path / "out", "coco").losses == ()
    for split in ("train", "val"):
        old, new = (
            json.loads((root / f"annotations/instances_{split}.json").read_text()) for root in (coco, tmp_path / "out")
        )
        assert old["images"] == new["images"]
        assert old["annotations"] == new["annotations"]
        assert sorted(old["categories"], key=lambda each: each["id"]) == new["categories"]
        assert old["licenses"] == new["licenses"]


def test_marks_of_voc_survive_a_stay_in_coco(tmp_path):
    for folder in ("JPEGImages", "Annotations"):
        (tmp_path / "voc" / folder).mkdir(parents=True)
    Image.new("RGB", (30, 20), (9, 8, 7)).save(tmp_path / "voc/JPEGImages/a.jpg")
    text = """<annotation><folder>VOC2007</folder><filename>a.jpg</filename>
    <source><database>D</database></source><size><width>30</width><height>20</height><depth>3</depth></size>
    <segmented>1</segmented><object><name>dog</name><pose>Rear</pose><truncated>1</truncated><difficult>1</difficult>
    <bndbox><xmin>1</xmin><ymin>2</ymin><xmax>30</xmax><ymax>20</ymax></bndbox>
    <part><name>head</name><bndbox><xmin>1</xmin><ymin>2</ymin><xmax>3</xmax><ymax>4</ymax></bndbox></part>
    </object></annotation>"""
    (tmp_path / "voc/Annotations/a.xml").write_text(text)
    assert convert("voc", tmp_path / "voc", tmp_path / "coco", "coco").losses == ()
    convert("coco", tmp_path / "coco", tmp_path / "back", "voc")
    before, after = read("voc", tmp_path / "voc").images[0], read("voc", tmp_path / "back").images[0]
    flags = {"pose": "Rear", "truncated": 1, "difficult": 1}
    assert flags.items() <= after.objects[0].extra.items()
    assert "<part><name>head</name>" in after.objects[0].extra["voc_xml"][0].replace("\n", "").replace(" ", "")
    assert before.objects[0].bbox == after.objects[0].bbox == (1, 0, 19, 29)
    assert after.extra["segmented"] == 1
    assert after.extra["folder"] == "VOC2007"


def test_the_text_of_an_object_survives_a_stay_in_voc(coco, tmp_path):
    path = coco / "annotations/instances_train.json"
    tree = json.loads(path.read_text())
    tree["annotations"][0]["text"] = "12"  # no number
    path.write_text(json.dumps(tree))
    convert("coco", coco, tmp_path / "voc", "voc")
    convert("voc", tmp_path / "voc", tmp_path / "back", "coco")
    back = [each.extra.get("text") for image in read("coco", tmp_path / "back").images for each in image.objects]
    assert [text for text in back if text is not None] == ["12"]


def test_the_area_of_a_polygon_without_one_is_that_of_the_polygon(coco, tmp_path):
    path = coco / "annotations/instances_train.json"
    tree = json.loads(path.read_text())
    tree["annotations"][0] |= {"segmentation": [[0, 0, 10, 0, 10, 5], [20, 20, 24, 20, 24, 22, 20, 22]]}
    del tree["annotations"][0]["area"]
    path.write_text(json.dumps(tree))
    convert("coco", coco, tmp_path / "out", "coco")
    new = json.loads((tmp_path / "out/annotations/instances_train.json").read_text())["annotations"][0]
    assert new["area"] == 33


def test_what_cannot_be_carried_is_listed_and_logged(coco, tmp_path):
    done = convert("coco", coco, tmp_path / "out", "yolo")
    lost = {each.what: each.count for each in done.losses}
    expected = {"crowds, which are dropped": 1, "license of images": 3}
    assert expected.items() <= lost.items()
    assert not any("mask" in what for what in lost if what != "areas of masks")
    log = (tmp_path / "out/conversion-log.txt").read_text()
    assert all(str(each) in log for each in done.losses)


def test_crowds_are_left_out_unless_they_are_asked_for(coco, tmp_path):
    assert convert("coco", coco, tmp_path / "yolo", "yolo").n_object == 2
    assert convert("coco", coco, tmp_path / "voc", "voc").n_object == 2
    assert convert("coco", coco, tmp_path / "coco2", "coco").n_object == 3
    kept = convert("coco", coco, tmp_path / "kept", "yolo", keep_crowds=True)
    assert kept.n_object == 3
    lost = {each.what: each.count for each in kept.losses}
    assert {"the mark of a crowd": 1, "masks (run-length encoded)": 1}.items() <= lost.items()
    convert("coco", coco, tmp_path / "difficult", "voc", keep_crowds=True)
    (photo,) = (each for each in read("voc", tmp_path / "difficult").images if each.name == "0.png")
    assert [each.extra["difficult"] for each in photo.objects] == [0, 1]


def test_masks_become_vocs_label_maps_and_are_read_again(coco, tmp_path):
    path = coco / "annotations/instances_train.json"
    file = json.loads(path.read_text())
    # one below the other, the smaller one on top, and a third without a mask
    square, part = np.zeros((2, 60, 81), bool)
    square[10:40, 10:50], part[20:30, 20:30] = True, True
    rles = RLEs.from_masks(np.stack([part, square])).to_coco()
    objects = [(3, {"segmentation": rles[0]}), (7, {}), (7, {"segmentation": rles[1]})]
    file["annotations"] = [
        {"id": i, "image_id": 10, "category_id": label, "bbox": [5, 5, 50, 50], "area": 9, "iscrowd": 0, **more}
        for i, (label, more) in enumerate(objects, 1)
    ]
    path.write_text(json.dumps(file))
    done = convert("coco", path, tmp_path / "out", "voc")
    lost = {each.what: each.count for each in done.losses}
    assert lost["overlaps of masks, if there are any: such a pixel is the smaller object's"] == 1
    assert not any(what.startswith("masks") for what in lost)
    pixels = np.asarray(Image.open(tmp_path / "out/SegmentationObject/0.png"))
    np.testing.assert_array_equal(pixels, np.where(part, 1, 3 * square))  # the second object of the XML has no mask
    dataset = VOCInstanceSegmentationDataset(tmp_path / "out", "train")
    assert len(dataset) == 1
    img, mask, label = dataset[0]
    assert img.shape == (3, 60, 81)
    np.testing.assert_array_equal(mask, [part, square & ~part])
    assert [dataset.label_names[each] for each in label] == ["ant", "zebra"]
    objects = next(photo for photo in read("voc", tmp_path / "out").images if photo.name == "0.png").objects
    assert [each.rle is None for each in objects] == [False, True, False]
    back = RLEs.from_coco([objects[0].rle, objects[2].rle]).to_masks()
    np.testing.assert_array_equal(back, [part, square & ~part])


def test_label_maps_that_do_not_fit_the_xml_are_findings(coco, tmp_path):
    square = np.zeros((60, 81), np.uint8)
    square[10:40, 10:50], square[20:30, 20:30], square[9:10] = 1, 7, 255
    convert("coco", coco, tmp_path / "voc", "voc")
    folder = tmp_path / "voc/SegmentationObject"
    folder.mkdir(exist_ok=True)
    Image.fromarray(square).save(folder / "0.png")
    (folder / "1.png").write_bytes(b"no image")
    Image.fromarray(np.zeros((60, 81, 3), np.uint8)).save(folder / "2.png")
    found = read("voc", tmp_path / "voc")
    said = {each.photo: each.message for each in found.findings if each.kind.slug == "mask-malformed"}
    assert "has an object 7, and the .xml file 1 objects" in said["0.png"]
    assert said["1.png"].startswith("SegmentationObject/1.png: ")
    assert "this file has colors" in said["2.png"]
    (mask,) = RLEs.from_coco([found.images[0].objects[0].rle]).to_masks()
    np.testing.assert_array_equal(mask, square == 1)


def test_classes_of_voc_keep_vocs_numbers(coco, tmp_path):
    path = coco / "annotations/instances_train.json"
    path.write_text(path.read_text().replace("zebra", "cat").replace("ant", "dog"))
    convert("coco", path, tmp_path / "out", "voc")
    assert (tmp_path / "out/ImageSets/Segmentation/train.txt").read_text() == "0\n"
    (classes,) = (np.asarray(Image.open(file)) for file in (tmp_path / "out/SegmentationClass").iterdir())
    assert np.unique(classes).tolist() == [0, 8]
    (_, _, label) = VOCInstanceSegmentationDataset(tmp_path / "out", "train")[0]
    assert label.tolist() == [7]


def test_polygons_stay_polygons_in_yolos_files_and_come_back(coco, tmp_path):
    path = coco / "annotations/instances_train.json"
    file = json.loads(path.read_text())
    rings = [[1.5, 1, 9, 1, 9, 8.25], [20, 3, 30.75, 3, 30, 12, 20, 12], [2, 40, 12, 40, 7, 45.5]]
    file["annotations"][2] |= {"segmentation": rings, "bbox": [1.5, 1, 29.25, 44.5]}
    path.write_text(json.dumps(file))
    convert("coco", coco, tmp_path / "yolo", "yolo")
    convert("yolo", tmp_path / "yolo", tmp_path / "back", "coco")
    objects = {photo.name: photo.objects for photo in read("coco", tmp_path / "back").images}
    assert objects["0.png"][0].polygons == ((1.25, 2.5, 31.38, 2.5, 31.38, 42.57),)
    assert objects["1.png"][0].polygons == tuple(map(tuple, rings))
    assert objects["1.png"][0].bbox == (1, 1.5, 45.5, 30.75)
    convert("coco", coco, tmp_path / "boxes", "yolo", keep_polygons=False)
    lines = [path.read_text().split() for path in (tmp_path / "boxes/labels").iterdir()]
    assert {len(line) for line in lines} == {0, 5}


def test_a_box_that_its_polygon_does_not_fill_is_told(coco, tmp_path):
    path = coco / "annotations/instances_train.json"
    file = json.loads(path.read_text())
    file["annotations"][0]["bbox"] = [1, 2, 40, 50]
    path.write_text(json.dumps(file))
    done = convert("coco", coco, tmp_path / "yolo", "yolo")
    assert [each.count for each in done.losses if "around their polygons" in each.what] == [1]


def test_the_library_reads_the_same_boxes_from_all_three(coco, tmp_path):
    out = tmp_path / "out"
    for kind in KINDS:
        convert("coco", coco, out / kind, kind, keep_crowds=True)
    from_coco = COCOJSONBboxDataset(out / "coco/annotations/instances_train.json", use_crowded=True)
    from_voc = VOCFolderBboxDataset(out / "voc", "train", label_names=("ant", "zebra"), use_difficult=True)
    from_yolo = YOLOBboxDataset(out / "yolo/train.txt", out / "yolo/classes.txt")
    assert from_coco.label_names == from_voc.label_names == from_yolo.label_names == ("ant", "zebra")
    for one, two, three in zip(from_coco, from_voc, from_yolo, strict=True):
        for other, end in ((two, 1), (three, 0)):
            assert np.array_equal(one[0], other[0])
            bbox = np.minimum(one[1], np.tile(one[0].shape[1:], 2) - end)  # VOC's coordinates end with the image
            np.testing.assert_allclose(bbox, other[1], atol=2e-5)
            assert one[2].tolist() == other[2].tolist()


def test_vocs_coordinates_end_with_the_image(coco, tmp_path):
    file = json.loads((path := coco / "annotations/instances_train.json").read_text())
    file["annotations"][0] |= {"bbox": [70.5, 50, 10.5, 10], "segmentation": []}  # of 81 x 60 pixels
    file["annotations"][1] |= {"bbox": [80.5, 3, 0.5, 7], "iscrowd": 0, "segmentation": []}  # in the last column only
    path.write_text(json.dumps(file))
    done = convert("coco", coco, tmp_path / "voc", "voc")
    text = (tmp_path / "voc/Annotations/0.xml").read_text()
    corners = re.findall(r"<(xmin|ymin|xmax|ymax)>([^<]*)", text)
    assert corners == [("xmin", "71.5"), ("ymin", "51"), ("xmax", "81"), ("ymax", "60")]
    lost = {each.what: each.count for each in done.losses}
    assert lost["last pixels of boxes that end with the image, where VOC's coordinates end"] == 1
    assert lost["boxes in an image's last row or column only"] == 1
    assert done.n_object == 2


def test_masks_stay_what_they_are_from_coco_to_coco(coco, tmp_path):
    convert("coco", coco, tmp_path / "out", "coco")
    old, new = (
        COCOJSONInstanceSegmentationDataset(root / "annotations/instances_train.json", use_crowded=True)
        for root in (coco, tmp_path / "out")
    )
    assert np.array_equal(old[0][1], new[0][1])
    assert old[0][1].any()


@settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    st.lists(st.tuples(*[st.integers(0, 50_000)] * 4, st.sampled_from("abc")), max_size=6),
    st.integers(20, 900),
    st.integers(20, 900),
)
def test_any_boxes_come_back(tmp_path_factory, rows, height, width):
    root = tmp_path_factory.mktemp("any")
    (root / "coco/images").mkdir(parents=True)
    (root / "coco/annotations").mkdir()
    Image.new("L", (width, height)).save(root / "coco/images/x.png")
    annotations = [
        {"id": i + 1, "image_id": 1, "category_id": "abc".index(c) + 1, "bbox": [x / 100, y / 1000, w / 100, h / 1000]}
        for i, (x, y, w, h, c) in enumerate(rows)
    ]
    file = {
        "images": [{"id": 1, "file_name": "x.png", "height": height, "width": width}],
        "annotations": annotations,
        "categories": [{"id": i + 1, "name": c} for i, c in enumerate("abc")],
    }
    (root / "coco/annotations/instances_all.json").write_text(json.dumps(file))
    before = content(read("coco", root / "coco"))
    convert("coco", root / "coco", root / "yolo", "yolo")
    convert("yolo", root / "yolo", root / "voc", "voc")
    assert content(read("yolo", root / "yolo")) == before
    assert content(read("voc", root / "voc")) == in_voc(before)


def test_broken_records_are_left_out_and_told(coco, tmp_path):
    path = coco / "annotations/instances_train.json"
    file = json.loads(path.read_text())
    file["annotations"] += [{"id": 90, "image_id": 10, "category_id": 99, "bbox": [1, 2, 3, 4]}, None]
    file["images"].append({"id": 77, "file_name": "absent.png", "height": 3, "width": 3})
    path.write_text(json.dumps(file))
    done = convert("coco", coco, tmp_path / "out", "voc")
    assert done.n_image == 3
    assert done.n_object == 2
    assert len(done.findings) == 2
    assert "is null" in " ".join(each.message for each in done.findings)
    assert "not carried" in (tmp_path / "out/conversion-log.txt").read_text()
    assert any("missing" in each.what for each in done.losses)


def test_a_folder_that_is_taken_is_told_before_anything_is_read(coco, tmp_path, monkeypatch):
    (tmp_path / "out").mkdir()
    (tmp_path / "out/kept.txt").write_text("mine")
    (tmp_path / "file").write_text("")
    monkeypatch.setattr(pathlib.Path, "read_bytes", lambda path: pytest.fail(f"{path} was read"))
    for out in (tmp_path / "out", tmp_path / "file/below"):
        with pytest.raises(ConfigError, match=r"already exists|is a file"):
            convert("coco", coco, out, "voc")


def test_bad_places_and_layouts_are_refused(coco, tmp_path):
    new = tmp_path / "out"
    for out, kind in ((coco, "voc"), (coco / "images/new", "voc"), (new, "sroie"), (new, "tfrecord")):
        with pytest.raises(ConfigError):
            convert("coco", coco, out, kind)
    assert not (tmp_path / "out").exists()


@pytest.mark.slow
def test_real_data_goes_round(shared, tmp_path):
    for kind, place in (("voc", shared / "data/bccd/BCCD"), ("coco", shared / "data/tiny_coco")):
        before = content(read(kind, place))
        for other in KINDS:
            convert(kind, place, tmp_path / f"{kind}-{other}", other, keep_crowds=True)
            convert(other, tmp_path / f"{kind}-{other}", tmp_path / f"{kind}-{other}-back", kind)
            there = in_voc(before) if kind != "voc" == other else before
            back = in_voc(there) if other != "voc" == kind else there
            assert content(read(other, tmp_path / f"{kind}-{other}")) == there
            assert content(read(kind, tmp_path / f"{kind}-{other}-back")) == back
